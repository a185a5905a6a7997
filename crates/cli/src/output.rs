//! Outputs that are complete or not there.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::failure::{Failure, name};
use crate::interrupt;

/// An output being written.
///
/// A file is written under a temporary name beside its target and renamed by
/// [`Output::commit`]; dropped or interrupted before that, it is removed. Standard output and
/// things that are no files (pipes, devices) are written directly.
pub struct Output {
    name: String,
    sink: Option<Sink>,
}

enum Sink {
    Direct(BufWriter<File>),
    Standard(BufWriter<io::Stdout>),
    File { temporary: BufWriter<NamedTempFile>, target: PathBuf, replace: bool },
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
            let sink = Some(Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout())));
            return Ok(Self { name: "standard output".to_owned(), sink });
        }
        check_not_input(path, inputs)?;
        Self::file(path, Access::Usual, true)
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
            Err(error) => Err(Failure::writing(&name, &error)),
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
            Some(Sink::File { temporary, .. }) => temporary.get_ref().as_file().sync_all(),
            _ => Ok(()),
        });
        synced.map_err(|error| Failure::writing(&self.name, &error))
    }

    /// Completes the output: everything on the disk, then the name.
    ///
    /// # Errors
    /// A failure to write; nothing is left then.
    pub fn commit(mut self) -> Result<(), Failure> {
        match self.sink.take() {
            None => Ok(()),
            Some(sink) => sink.commit().map_err(|error| Failure::writing(&self.name, &error)),
        }
    }
}

impl Sink {
    fn file(path: &Path, access: Access, replace: bool) -> io::Result<Self> {
        let exists = std::fs::metadata(path).ok();
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
            None => path.to_owned(),
        };
        let mode = match (access, &exists) {
            (Access::Owner, _) => 0o600,
            (Access::Usual, Some(metadata)) => metadata.mode() & 0o666,
            (Access::Usual, None) => 0o666,
        };
        let directory = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let prefix = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let temporary = interrupt::begin(|| {
            let made = Builder::new()
                .prefix(&format!(".{}.", prefix.chars().take(100).collect::<String>()))
                .suffix(".part")
                .permissions(Permissions::from_mode(mode))
                .tempfile_in(directory)?;
            let path = made.path().to_owned();
            Ok((made, path))
        });
        // What only the owner may see goes to the file at once: a buffer would keep a copy.
        let buffer = if access == Access::Owner { 0 } else { 1 << 16 };
        let temporary = BufWriter::with_capacity(buffer, temporary?);
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
        let (temporary, _) = temporary.into_parts();
        let path = temporary.path().to_owned();
        interrupt::end(&path, || {
            temporary.as_file().sync_all()?;
            match replace {
                true => temporary.persist(&target),
                false => temporary.persist_noclobber(&target),
            }?;
            // The name, too, shall survive a power cut; where directories cannot be synced, so be it.
            let directory = target.parent().filter(|parent| *parent != Path::new(""));
            let _ = File::open(directory.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
            Ok(())
        })
    }

    fn discard(self) {
        match self {
            Self::File { temporary, .. } => {
                let (temporary, _) = temporary.into_parts();
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

/// Refuses an output that would replace what is being read.
fn check_not_input(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let Ok(output) = std::fs::metadata(path) else { return Ok(()) };
    if !output.is_file() {
        return Ok(());
    }
    let output = identity(output);
    let same = |input: &&&Path| std::fs::metadata(input).map(identity).ok() == Some(output);
    match inputs.iter().find(same) {
        None => Ok(()),
        Some(input) if *input == path => Err(Failure::at(name(path), "the output would replace the input")),
        Some(input) => {
            let what = format!("the output would replace the input {}", name(input));
            Err(Failure::at(name(path), what))
        }
    }
}
