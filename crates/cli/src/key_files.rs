//! The two files of a key pair, which are replaced together.
//!
//! No file system can rename two files in one step. But the file of the private key also contains
//! the public key, so the order of the steps suffices: remove the old public key, place the private
//! key, place the public key. After a crash at any point, the private file is complete and belongs
//! to the old pair or the new one, and any public file next to it belongs to the same pair. Nobody
//! can encrypt under a key whose private key is lost. `hearith key public` recreates a missing
//! public file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::{CliError, name};
use crate::interrupt;
use crate::output::{Access, Output};

/// The file names of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileNames {
    /// The public key, readable by everybody.
    pub(crate) public: &'static str,
    /// The private key, readable only by its owner.
    pub(crate) private: &'static str,
}

/// Keys of FHE over the integers.
#[cfg(feature = "dghv")]
pub(crate) const DGHV: FileNames = FileNames { public: "public.dghv", private: "private.dghv" };
/// Keys that sign tables. They may be in the same folder as keys that encrypt them.
pub(crate) const SIGNING: FileNames = FileNames { public: "signing-public.json", private: "signing-private.json" };
/// JSON Web Keys.
pub(crate) const JSON: FileNames = FileNames { public: "public.json", private: "private.json" };

/// A key pair being written to a directory. If dropped before it is committed, it leaves no file
/// and no directory behind.
pub(crate) struct Pair {
    private: Output,
    public: Output,
    public_path: PathBuf,
    created_directories: CreatedDirectories,
}

/// The steps of a commit, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    RemovePublic,
    PlacePrivate,
    PlacePublic,
    Done,
}

impl Pair {
    /// Begins a pair in a directory, which is created if it is missing.
    pub(crate) fn begin(directory: &Path, names: FileNames, replace: bool) -> Result<Self, CliError> {
        let (public, private) = (directory.join(names.public), directory.join(names.private));
        if !replace {
            check_absent(&private)?;
            check_absent(&public)?;
        }
        let created_directories = CreatedDirectories::make(directory);
        let created_directories = created_directories.map_err(|error| CliError::writing(&name(directory), error))?;
        Ok(Self {
            private: Output::file(&private, Access::Owner, replace)?,
            public: Output::file(&public, Access::Usual, replace)?,
            public_path: public,
            created_directories,
        })
    }

    /// Like `write`, with functions that write the keys piece by piece.
    #[cfg(feature = "dghv")]
    pub(crate) fn write_with(
        &mut self,
        private: impl FnOnce(&mut Output) -> io::Result<()>,
        public: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> Result<(), CliError> {
        private(&mut self.private).map_err(|error| CliError::writing(self.private.name(), error))?;
        self.private.sync()?;
        public(&mut self.public).map_err(|error| CliError::writing(self.public.name(), error))?;
        self.public.sync()
    }

    /// Writes both keys to the disk under temporary names.
    pub(crate) fn write(&mut self, private: &str, public: &str) -> Result<(), CliError> {
        write(&mut self.private, private)?;
        write(&mut self.public, public)
    }

    /// Replaces the previous pair, if any, by this one.
    ///
    /// # Errors
    /// Renaming failed. The old pair is then still there, unless only the new public file is
    /// missing.
    pub(crate) fn commit(self) -> Result<(), CliError> {
        interrupt::uninterrupted(|| self.commit_stepwise(|_| Ok(())))
    }

    /// Commits, and calls `before` before each step. Its error stops the commit.
    fn commit_stepwise(self, mut before: impl FnMut(Step) -> Result<(), CliError>) -> Result<(), CliError> {
        let Self { private, public, public_path, created_directories } = self;
        before(Step::RemovePublic)?;
        let old = RemovedFile::file(&public_path)?;
        let placed = before(Step::PlacePrivate).and_then(|()| private.commit());
        if let Err(failure) = placed {
            old.restore()?;
            return Err(failure);
        }
        // From here on the new pair exists, even if placing its public file fails.
        created_directories.keep();
        before(Step::PlacePublic)?;
        public.commit()?;
        before(Step::Done)
    }
}

/// The removed file of a public key, for restoring it if its pair is not replaced after all.
pub(crate) struct RemovedFile(Option<(PathBuf, Vec<u8>)>);

impl RemovedFile {
    /// Removes a file, or the target of a symbolic link. Leaves anything else alone.
    pub(crate) fn file(path: &Path) -> Result<Self, CliError> {
        let remove = || match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                let path = path.canonicalize()?;
                let content = fs::read(&path)?;
                fs::remove_file(&path)?;
                Ok(Self(Some((path, content))))
            }
            _ => Ok(Self(None)),
        };
        remove().map_err(|error: io::Error| CliError::writing(&name(path), error))
    }

    pub(crate) fn restore(self) -> Result<(), CliError> {
        let Some((path, content)) = self.0 else { return Ok(()) };
        let mut file = Output::file(&path, Access::Usual, false)?;
        file.write_all(&content).map_err(|error| CliError::writing(file.name(), error))?;
        file.commit()
    }
}

/// Directories that were created, outermost first. Dropping this removes those that are empty.
pub(crate) struct CreatedDirectories(Vec<PathBuf>);

impl CreatedDirectories {
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && fs::symlink_metadata(path).is_err();
        let missing: Vec<&Path> = path.ancestors().take_while(missing).collect();
        let mut directories = Self(Vec::new());
        for directory in missing.into_iter().rev() {
            let path = directory.to_owned();
            let created = interrupt::begin(|| fs::create_dir(directory).map(|()| (path.clone(), path)));
            match created {
                Ok(path) => directories.0.push(path),
                // Another process created it, so it is not ours.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(directories)
    }

    /// Keeps the directories.
    pub(crate) fn keep(mut self) {
        self.0.drain(..).for_each(|path| interrupt::end(&path, || ()));
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            interrupt::end(path, || drop(fs::remove_dir(path)));
        }
    }
}

/// Rejects a path where a key exists: data encrypted under a replaced key could not be decrypted
/// any more.
pub(crate) fn check_absent(path: &Path) -> Result<(), CliError> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(_) => Err(CliError::at(name(path), "there is a key already; --force would replace it")),
    }
}

/// Writes a line to the disk.
pub(crate) fn write(output: &mut Output, text: &str) -> Result<(), CliError> {
    let written = output.write_all(text.as_bytes()).and_then(|()| output.write_all(b"\n"));
    written.map_err(|error| CliError::writing(output.name(), error))?;
    output.sync()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};
    use tempfile::TempDir;

    use super::*;

    const STEPS: [Step; 4] = [Step::RemovePublic, Step::PlacePrivate, Step::PlacePublic, Step::Done];
    /// Environment variables that tell the killed process where to write and at which step to die.
    const DIRECTORY: &str = "HEARITH_TEST_PAIR";
    const LAST: &str = "HEARITH_TEST_STEP";

    fn key() -> PrivateKey {
        PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::Serial).unwrap()
    }

    fn pair(directory: &Path, replace: bool) -> Result<(Pair, PrivateKey), CliError> {
        let (mut pair, key) = (Pair::begin(directory, JSON, replace)?, key());
        pair.write(&key.to_jwk(), &key.public().to_jwk())?;
        Ok((pair, key))
    }

    fn old_pair() -> (TempDir, PublicKey) {
        let directory = tempfile::tempdir().unwrap();
        let (pair, key) = pair(directory.path(), false).unwrap();
        pair.commit().unwrap();
        (directory, key.public().clone())
    }

    /// Returns the key of a directory's private file, after comparing it with the public file.
    fn found(directory: &Path) -> PublicKey {
        let private = fs::read_to_string(directory.join(JSON.private)).unwrap();
        let private = PrivateKey::from_jwk(&private, KeyPolicy::AllowInsecure, Engine::Serial).unwrap();
        if let Ok(public) = fs::read_to_string(directory.join(JSON.public)) {
            let public = PublicKey::from_jwk(&public, KeyPolicy::AllowInsecure, Engine::Serial).unwrap();
            assert_eq!(&public, private.public(), "halves of two pairs");
        }
        private.public().clone()
    }

    fn files(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_kill_at_any_step_leaves_one_pair() {
        for (number, last) in STEPS.into_iter().enumerate() {
            let (directory, old) = old_pair();
            let killed = Command::new(std::env::current_exe().unwrap())
                .args(["key_files::tests::victim", "--exact", "--test-threads=1"])
                .env(DIRECTORY, directory.path())
                .env(LAST, number.to_string())
                .output()
                .unwrap();
            assert_eq!(killed.status.code(), None, "{killed:?}");
            let found = found(directory.path());
            // The old pair remains until the private file is renamed. From then on it is the new
            // pair.
            assert_eq!(found == old, matches!(last, Step::RemovePublic | Step::PlacePrivate), "{last:?}");
            let whole = matches!(last, Step::RemovePublic | Step::Done);
            assert_eq!(directory.path().join(JSON.public).exists(), whole, "{last:?}");
        }
    }

    /// The process started by [`a_kill_at_any_step_leaves_one_pair`]. Does nothing otherwise.
    #[test]
    fn victim() {
        let (Some(directory), Ok(last)) = (std::env::var_os(DIRECTORY), std::env::var(LAST)) else { return };
        let last = STEPS[last.parse::<usize>().unwrap()];
        let (pair, _) = pair(Path::new(&directory), true).unwrap();
        let die = |step| {
            if step == last {
                let _ = Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
                std::thread::sleep(std::time::Duration::from_secs(20));
            }
            Ok(())
        };
        pair.commit_stepwise(die).unwrap();
    }

    #[test]
    fn a_failure_before_the_private_file_is_placed_leaves_the_old_pair() {
        for last in [Step::RemovePublic, Step::PlacePrivate] {
            let (directory, old) = old_pair();
            let (pair, _) = pair(directory.path(), true).unwrap();
            let stop = |step| if step == last { Err(CliError::new("no")) } else { Ok(()) };
            pair.commit_stepwise(stop).unwrap_err();
            assert_eq!(found(directory.path()), old);
            assert!(directory.path().join(JSON.public).exists());
            assert_eq!(files(directory.path()), 2, "no temporary file stays");
        }
    }

    #[test]
    fn a_pair_replaces_another() {
        let (directory, old) = old_pair();
        let (pair, key) = pair(directory.path(), true).unwrap();
        pair.commit().unwrap();
        assert_eq!(&found(directory.path()), key.public());
        assert_ne!(found(directory.path()), old);
        assert_eq!(files(directory.path()), 2);
    }

    #[test]
    fn links_lead_to_the_new_pair() {
        let (directory, _) = old_pair();
        let elsewhere = directory.path().join("elsewhere.json");
        fs::rename(directory.path().join(JSON.public), &elsewhere).unwrap();
        std::os::unix::fs::symlink("elsewhere.json", directory.path().join(JSON.public)).unwrap();
        let (pair, key) = pair(directory.path(), true).unwrap();
        pair.commit().unwrap();
        assert_eq!(&found(directory.path()), key.public());
        assert!(fs::symlink_metadata(directory.path().join(JSON.public)).unwrap().is_symlink());
        assert_eq!(fs::read(elsewhere).unwrap(), fs::read(directory.path().join(JSON.public)).unwrap());
    }

    #[test]
    fn directories_made_for_nothing_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("a/b/c");
        fs::create_dir(directory.path().join("a")).unwrap();
        drop(Pair::begin(&deep, JSON, false).unwrap());
        assert!(directory.path().join("a").exists(), "it was there before");
        assert!(!directory.path().join("a/b").exists());
        pair(&deep, false).unwrap().0.commit().unwrap();
        assert_eq!(files(&deep), 2);
        assert!(Pair::begin(&deep, JSON, false).is_err());
        assert_eq!(files(&deep), 2);
    }
}
