//! Outputs that are complete or do not exist.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::{Failure, name};
use crate::{closed, interrupt, temporary};

/// Symbolic links that are followed one after another, as many as Linux does.
const MOST_LINKS: usize = 40;
/// Endings of names that promise something else than Parquet.
const OTHER_FORMATS: [&str; 13] =
    ["csv", "tsv", "txt", "json", "jsonl", "ndjson", "xlsx", "xls", "arrow", "feather", "orc", "gz", "zst"];

/// An output being written.
///
/// A file is written under a temporary name beside its target and renamed by [`Output::commit`];
/// dropped or interrupted before that, it is removed. A symbolic link stays, and the file that it
/// names is written, whether or not that is there yet. Standard output and things that are no files
/// (pipes, devices) are written directly.
pub struct Output {
    name: String,
    sink: Option<Sink>,
}

enum Sink {
    Direct(BufWriter<File>),
    Standard(BufWriter<io::Stdout>),
    File { temporary: BufWriter<Temporary>, target: PathBuf, replace: bool },
}

/// A temporary file, whose name no error shows.
struct Temporary(NamedTempFile);

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_file_mut().flush()
    }
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever the user's umask lets.
    Usual,
    /// The user alone, from the first moment.
    Owner,
}

impl Output {
    /// Begins an output to `path`, or to standard output for `-`. It must not be one of `inputs`.
    ///
    /// # Errors
    /// An output that is an input or cannot be created.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let name = "standard output".to_owned();
            closed::check_standard_output().map_err(|error| Failure::writing(&name, error))?;
            let sink = Some(Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout())));
            return Ok(Self { name, sink });
        }
        check_not_input(path, inputs)?;
        Self::file(path, Access::Usual, true)
    }

    /// As [`Output::create`], for a table, which is written as Parquet whatever its name says.
    ///
    /// # Errors
    /// As there, and a name that ends as those of other formats do.
    pub fn table(path: &Path, inputs: &[&Path]) -> Result<Self, Failure> {
        check_not_input(path, inputs)?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.filter(|ending| OTHER_FORMATS.contains(&ending.as_str())) {
            None => Self::create(path, inputs),
            Some(ending) => {
                let what = format!("this table is written as Parquet, and its name ends in .{ending}");
                Err(Failure::at(name(path), what))
            }
        }
    }

    /// Begins a file, which must not be there yet unless `replace` is given.
    ///
    /// # Errors
    /// A file that cannot be created.
    pub fn file(path: &Path, access: Access, replace: bool) -> Result<Self, Failure> {
        let name = name(path);
        let made = Sink::file(path, access, replace);
        match made {
            Ok(sink) => Ok(Self { name, sink: Some(sink) }),
            Err(error) => Err(Failure::writing(&name, error)),
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

    /// Puts everything that was written on the disk; only the name is missing then.
    ///
    /// # Errors
    /// A failure to write.
    pub fn sync(&mut self) -> Result<(), Failure> {
        let synced = self.flush().and_then(|()| match &self.sink {
            Some(Sink::File { temporary, .. }) => temporary.get_ref().0.as_file().sync_all(),
            _ => Ok(()),
        });
        synced.map_err(|error| Failure::writing(&self.name, error))
    }

    /// Completes the output: everything on the disk, then the name.
    ///
    /// # Errors
    /// A failure to write; nothing is left then.
    pub fn commit(mut self) -> Result<(), Failure> {
        match self.sink.take() {
            None => Ok(()),
            Some(sink) => sink.commit().map_err(|error| Failure::writing(&self.name, error)),
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
        // Through a symbolic link the file that it names is replaced, not the link.
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
        // What only the owner may see goes to the file at once: a buffer would keep a copy.
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
            // The name, too, shall survive a power cut; where directories cannot be synced, so be
            // it.
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

/// The file that does not exist yet at the end of a symbolic link, or of links one after another;
/// the path itself where it is none.
fn missing_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&target) {
            // Relative to the directory that the link is in.
            Ok(next) => target = temporary::directory(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// What a file or stream is, under whichever name: its device and number there. None where there is
/// none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = match path == Path::new("-") {
        true => io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| File::from(stdin).metadata()),
        false => std::fs::metadata(path),
    };
    metadata.ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Refuses an output that would replace what is being read.
fn check_not_input(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let output = identity(path);
    match inputs.iter().find(|input| identity(input) == output) {
        None => Ok(()),
        Some(input) if *input == path => Err(Failure::at(name(path), "the output would replace the input")),
        Some(input) => {
            let what = format!("the output would replace the input {}", name(input));
            Err(Failure::at(name(path), what))
        }
    }
}
