//! Outputs that are either complete or absent.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::{CliError, name};
use crate::{interrupt, stdout_guard, temporary};

/// Maximum number of symbolic links followed in a row, as on Linux.
const MAX_LINKS: usize = 40;
/// File extensions that promise another format than Parquet.
const OTHER_FORMATS: [&str; 13] =
    ["csv", "tsv", "txt", "json", "jsonl", "ndjson", "xlsx", "xls", "arrow", "feather", "orc", "gz", "zst"];

/// An output being written.
///
/// A file is written under a temporary name next to its target, and [`Output::commit`] renames it.
/// If it is dropped or interrupted before that, it is removed. A symbolic link stays, and the
/// output goes to the file that it names, whether or not that file exists yet. Standard output and
/// non-files (pipes, devices) are written directly.
pub struct Output {
    name: String,
    sink: Option<Sink>,
}

enum Sink {
    Direct(BufWriter<File>),
    Standard(BufWriter<io::Stdout>),
    File { temporary: BufWriter<Temporary>, target: PathBuf, replace: bool },
}

/// A temporary file. Errors do not show its name.
struct Temporary(NamedTempFile);

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_file_mut().flush()
    }
}

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As permitted by the user's umask.
    Usual,
    /// Accessible only to the user, from the first moment.
    Owner,
}

impl Output {
    /// Begins an output to `path`, or to standard output for `-`. The output must not be one of
    /// `inputs`.
    ///
    /// # Errors
    /// The output is an input, or cannot be created.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self, CliError> {
        if path == Path::new("-") {
            let name = "standard output".to_owned();
            stdout_guard::check_standard_output().map_err(|error| CliError::writing(&name, error))?;
            let sink = Some(Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout())));
            return Ok(Self { name, sink });
        }
        check_not_input(path, inputs)?;
        Self::file(path, Access::Usual, true)
    }

    /// Like [`Output::create`], for a table, which is written as Parquet whatever its name.
    ///
    /// # Errors
    /// As for [`Output::create`], or the name has the extension of another format.
    pub fn table(path: &Path, inputs: &[&Path]) -> Result<Self, CliError> {
        check_not_input(path, inputs)?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.filter(|ending| OTHER_FORMATS.contains(&ending.as_str())) {
            None => Self::create(path, inputs),
            Some(ending) => {
                let what = format!("this table is written as Parquet, but its name ends in .{ending}: use .parquet");
                Err(CliError::at(name(path), what))
            }
        }
    }

    /// Begins a file. It must not exist yet, unless `replace` is `true`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn file(path: &Path, access: Access, replace: bool) -> Result<Self, CliError> {
        let name = name(path);
        let made = Sink::file(path, access, replace);
        match made {
            Ok(sink) => Ok(Self { name, sink: Some(sink) }),
            Err(error) => Err(CliError::writing(&name, error)),
        }
    }

    /// The output's name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        match &self.sink {
            Some(Sink::Standard(_)) => io::stdout().is_terminal(),
            Some(Sink::Direct(file)) => file.get_ref().is_terminal(),
            _ => false,
        }
    }

    /// Writes all data to the disk. Only the rename is then missing.
    ///
    /// # Errors
    /// Writing failed.
    pub fn sync(&mut self) -> Result<(), CliError> {
        let synced = self.flush().and_then(|()| match &self.sink {
            Some(Sink::File { temporary, .. }) => temporary.get_ref().0.as_file().sync_all(),
            _ => Ok(()),
        });
        synced.map_err(|error| CliError::writing(&self.name, error))
    }

    /// Completes the output: syncs all data to the disk, then renames the file.
    ///
    /// # Errors
    /// Writing failed. No output is left.
    pub fn commit(mut self) -> Result<(), CliError> {
        match self.sink.take() {
            None => Ok(()),
            Some(sink) => sink.commit().map_err(|error| CliError::writing(&self.name, error)),
        }
    }
}

impl Sink {
    fn file(path: &Path, access: Access, replace: bool) -> io::Result<Self> {
        let exists = match std::fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(metadata) = &exists {
            if metadata.is_dir() {
                return Err(io::Error::other("is a directory"));
            }
            if !metadata.is_file() {
                let file = File::options().write(true).open(path)?;
                return Ok(Self::Direct(BufWriter::with_capacity(1 << 16, file)));
            }
        }
        // A symbolic link stays, and its target is replaced.
        let target = match exists {
            Some(_) => path.canonicalize()?,
            None => missing_target(path)?,
        };
        let mode = match (access, &exists) {
            (Access::Owner, _) => 0o600,
            (Access::Usual, Some(metadata)) => metadata.mode() & 0o666,
            (Access::Usual, None) => 0o666,
        };
        let temporary = interrupt::begin(|| {
            let made = temporary::create(&target, mode)?;
            let path = made.path().to_owned();
            Ok((made, path))
        });
        // Data that only the owner may see is not buffered, since a buffer would keep a copy.
        let buffer = if access == Access::Owner { 0 } else { 1 << 16 };
        let temporary = BufWriter::with_capacity(buffer, Temporary(temporary?));
        Ok(Self::File { temporary, target, replace })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Direct(file) => file,
            Self::Standard(stdout) => stdout,
            Self::File { temporary, .. } => temporary,
        }
    }

    fn commit(mut self) -> io::Result<()> {
        if let Err(error) = self.writer().flush() {
            self.discard();
            return Err(error);
        }
        let Self::File { temporary, target, replace } = self else { return Ok(()) };
        let (Temporary(temporary), _) = temporary.into_parts();
        let path = temporary.path().to_owned();
        interrupt::end(&path, || {
            temporary.as_file().sync_all()?;
            match replace {
                true => temporary.persist(&target),
                false => temporary.persist_noclobber(&target),
            }?;
            // The rename should survive a power cut too. Not every file system can sync
            // directories.
            let _ = File::open(temporary::directory(&target)).and_then(|it| it.sync_all());
            Ok(())
        })
    }

    fn discard(self) {
        match self {
            Self::File { temporary, .. } => {
                let (Temporary(temporary), _) = temporary.into_parts();
                let path = temporary.path().to_owned();
                interrupt::end(&path, || drop(temporary));
            }
            Self::Direct(file) => drop(file.into_parts()),
            Self::Standard(stdout) => drop(stdout.into_parts()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(sink) = self.sink.take() {
            sink.discard();
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Some(sink) => sink.writer().write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Some(sink) => sink.writer().flush(),
            None => Ok(()),
        }
    }
}

/// Follows symbolic links to a file that does not exist yet. Returns the path itself if it is not a
/// link.
fn missing_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&target) {
            // Relative to the link's directory.
            Ok(next) => target = temporary::directory(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The device and inode numbers of a file or stream, which are the same under all its names. `None`
/// if it does not exist.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = match path == Path::new("-") {
        true => io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| File::from(stdin).metadata()),
        false => std::fs::metadata(path),
    };
    metadata.ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Rejects an output that would replace an input.
fn check_not_input(path: &Path, inputs: &[&Path]) -> Result<(), CliError> {
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let output = identity(path);
    match inputs.iter().find(|input| identity(input) == output) {
        None => Ok(()),
        Some(input) if *input == path => Err(CliError::at(name(path), "the output would replace the input")),
        Some(input) => {
            let what = format!("the output would replace the input {}", name(input));
            Err(CliError::at(name(path), what))
        }
    }
}
