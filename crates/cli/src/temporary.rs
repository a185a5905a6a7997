//! Temporary files next to the outputs that they become. Distinguishes them from files that killed
//! runs left.
//!
//! A run holds a lock on its file from the start until the file is renamed or removed. After
//! SIGKILL only the unlocked file remains. The next run for the same output finds it by its name
//! and removes it.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use tempfile::{Builder, NamedTempFile};

/// The suffix of every temporary name.
const SUFFIX: &str = ".part";
/// Maximum bytes of the output's name in the temporary name. With the rest, this stays below the
/// 255 that file systems allow.
const NAME_BYTES: usize = 200;

/// Creates a temporary file next to `target` with this mode. Removes those that killed runs left
/// for the same target.
///
/// # Errors
/// The file cannot be created.
pub(crate) fn create(target: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let directory = directory(target);
    let prefix = prefix(target);
    remove_stale(directory, &prefix);
    loop {
        // Returns the system's own errors, because those of `tempfile_in` show the temporary name,
        // which means nothing to the user.
        let open = |path: &Path| File::options().write(true).create_new(true).mode(mode).open(path);
        let made = Builder::new().prefix(&prefix).suffix(SUFFIX).make_in(directory, open);
        let made = made.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), format!("there is no folder {}", directory.display()))
            }
            _ => error,
        })?;
        match made.as_file().try_lock() {
            // Between creation and locking, another run may have removed the file as stale.
            Ok(()) if is_at(made.as_file(), made.path()) => return Ok(made),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Without locks, no file here is ever considered stale.
            Err(TryLockError::Error(_)) => return Ok(made),
        }
    }
}

/// The directory of a file.
pub(crate) fn directory(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// `.NAME.hearith-`, to be followed by random letters.
fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.hearith-", &name[..name.floor_char_boundary(NAME_BYTES)])
}

/// Removes temporary files with this prefix that no run holds any more. Ignores errors, since they
/// must not prevent the output.
fn remove_stale(directory: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(prefix)?.strip_suffix(SUFFIX));
        let is_ours = random.is_some_and(|it| !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric()));
        if is_ours {
            let path = entry.path();
            // Locking needs no write permission. A file that cannot be opened belongs to another
            // user, and a non-file may be a trap.
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::open(&path, flags, Mode::empty()).map(File::from)
                && file.metadata().is_ok_and(|metadata| metadata.is_file())
                && file.try_lock().is_ok()
                && is_at(&file, &path)
            {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// Whether an open file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let named = std::fs::symlink_metadata(path).map(identity);
    named.is_ok_and(|named| file.metadata().map(identity).is_ok_and(|open| open == named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_held_stays_and_what_is_left_goes() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.csv");
        let held = create(&target, 0o600).unwrap();
        let left = create(&target, 0o600).unwrap();
        let (file, path) = left.keep().unwrap();
        let other = create(&target, 0o600).unwrap();
        assert!(path.exists(), "locked by this process");
        drop(file);
        let third = create(&target, 0o600).unwrap();
        assert!(!path.exists());
        assert!([&held, &other, &third].iter().all(|file| file.path().exists()));
    }

    #[test]
    fn nothing_else_is_taken_for_a_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let others =
            [".out.csv.hearith-.part", ".out.csv.hearith-a b.part", ".out.csv.x.part", "out.csv.hearith-a.part"];
        others.iter().for_each(|name| std::fs::write(directory.path().join(name), "").unwrap());
        std::fs::write(directory.path().join(".more.csv.hearith-aB3.part"), "").unwrap();
        // Opening the pipe would block forever, and opening the link would lock a file elsewhere.
        let pipe = directory.path().join(".out.csv.hearith-pipe.part");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", directory.path().join(".out.csv.hearith-link.part")).unwrap();
        let before = names(directory.path());
        drop(create(&directory.path().join("out.csv"), 0o600).unwrap());
        assert_eq!(names(directory.path()), before);
        drop(create(&directory.path().join("more.csv"), 0o600).unwrap());
        assert_eq!(names(directory.path()).len(), before.len() - 1);
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        let directory = tempfile::tempdir().unwrap();
        let name = "é".repeat(127);
        assert!(create(&directory.path().join(name), 0o600).is_ok());
        assert!(create(&directory.path().join("x".repeat(255)), 0o600).is_ok());
    }
}
