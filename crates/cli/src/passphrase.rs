//! Passphrases from the terminal, a file or a descriptor. Never from an argument or the
//! environment, which others can see.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_paillier::SecretText;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::failure::{CliError, eprint_line, name};
use crate::interrupt;

/// The source of passphrases.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Typed on the terminal.
    Terminal,
    /// The first line of a file or pipe.
    File(PathBuf),
    /// The first line of an open descriptor.
    Descriptor(u16),
}

impl Source {
    /// Returns the source that the options select.
    pub(crate) fn chosen(file: Option<PathBuf>, descriptor: Option<u16>) -> Self {
        match (file, descriptor) {
            (Some(file), _) => Self::File(file),
            (None, Some(number)) => Self::Descriptor(number),
            (None, None) => Self::Terminal,
        }
    }

    /// Whether the options name a source.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Terminal)
    }

    /// Asks for the passphrase of an existing key.
    pub(crate) fn ask(&self, key: &str) -> Result<SecretText, CliError> {
        match self {
            Self::Terminal => typed(&format!("Passphrase of {key}: ")).map_err(|error| no_terminal(key, &error)),
            Self::File(path) => of_file(path, &name(path)),
            Self::Descriptor(number) => {
                of_file(Path::new(&format!("/dev/fd/{number}")), &format!("descriptor {number}"))
            }
        }
    }

    /// Asks for a new passphrase of a key, twice on a terminal.
    pub(crate) fn choose(&self, key: &str) -> Result<SecretText, CliError> {
        let chosen = self.ask(key)?;
        if chosen.first_line().is_empty() {
            return Err(CliError::at(key, "the passphrase is empty"));
        }
        if let Self::Terminal = self {
            let again = typed("Repeat the passphrase: ").map_err(|error| no_terminal(key, &error))?;
            if again.first_line() != chosen.first_line() {
                return Err(CliError::at(key, "the two passphrases differ"));
            }
        }
        Ok(chosen)
    }
}

/// Reads the first line of a file. Warns if others can read the file.
fn of_file(path: &Path, file: &str) -> Result<SecretText, CliError> {
    let line = SecretText::open_line(path).map_err(|error| CliError::reading(file, error))?;
    if line.is_shared() {
        eprint_line(&format!("{file}: warning: other users can read this passphrase (chmod 600 fixes it)"));
    }
    Ok(line)
}

fn no_terminal(key: &str, error: &io::Error) -> CliError {
    let what = "its passphrase is needed, but there is no terminal to ask on (--passphrase-file, --passphrase-fd)";
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CliError::at(key, "no passphrase was typed"),
        _ => CliError::at(key, what),
    }
}

/// Reads a line from the terminal without echo.
fn typed(prompt: &str) -> io::Result<SecretText> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    silent.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
    interrupt::remember_silenced(terminal.try_clone()?, before);
    let line = tcsetattr(&terminal, OptionalActions::Drain, &silent).map_err(io::Error::from).and_then(|()| {
        terminal.write_all(prompt.as_bytes())?;
        SecretText::read_line(&terminal)
    });
    interrupt::restore_echo();
    match line? {
        // An empty result has no line end: the user ended the input.
        line if line.as_str().is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
        line => Ok(line),
    }
}
