//! Passphrases: from the terminal, a file or a descriptor, never from an argument or the
//! environment, which others can see.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_paillier::SecretText;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::failure::{Failure, eprint_line, name};
use crate::interrupt;

/// Where passphrases come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Whoever sits at the terminal.
    Terminal,
    /// The first line of a file or pipe.
    File(PathBuf),
    /// The first line of what is open under a number.
    Descriptor(u16),
}

impl Source {
    /// What the options ask for.
    pub(crate) fn chosen(file: Option<PathBuf>, descriptor: Option<u16>) -> Self {
        match (file, descriptor) {
            (Some(file), _) => Self::File(file),
            (None, Some(number)) => Self::Descriptor(number),
            (None, None) => Self::Terminal,
        }
    }

    /// Whether the options name one.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Terminal)
    }

    /// The passphrase of a key that there is.
    pub(crate) fn ask(&self, key: &str) -> Result<SecretText, Failure> {
        match self {
            Self::Terminal => typed(&format!("Passphrase of {key}: ")).map_err(|error| no_terminal(key, &error)),
            Self::File(path) => of_file(path, &name(path)),
            Self::Descriptor(number) => {
                of_file(Path::new(&format!("/dev/fd/{number}")), &format!("descriptor {number}"))
            }
        }
    }

    /// A new passphrase for a key, typed twice.
    pub(crate) fn choose(&self, key: &str) -> Result<SecretText, Failure> {
        let chosen = self.ask(key)?;
        if chosen.first_line().is_empty() {
            return Err(Failure::at(key, "the passphrase is empty"));
        }
        if let Self::Terminal = self {
            let again = typed("The same again: ").map_err(|error| no_terminal(key, &error))?;
            if again.first_line() != chosen.first_line() {
                return Err(Failure::at(key, "the two passphrases differ"));
            }
        }
        Ok(chosen)
    }
}

/// The first line of a file, with a warning if others can read it.
fn of_file(path: &Path, file: &str) -> Result<SecretText, Failure> {
    let line = SecretText::open_line(path).map_err(|error| Failure::reading(file, error))?;
    if line.is_shared() {
        eprint_line(&format!("{file}: warning: others than its owner can read this passphrase (chmod 600 fixes it)"));
    }
    Ok(line)
}

fn no_terminal(key: &str, error: &io::Error) -> Failure {
    let what = "its passphrase is needed: there is no terminal to ask on (--passphrase-file, --passphrase-fd)";
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Failure::at(key, "no passphrase was typed"),
        _ => Failure::at(key, what),
    }
}

/// A line typed on the terminal, which does not show it.
fn typed(prompt: &str) -> io::Result<SecretText> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    silent.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
    interrupt::silenced(terminal.try_clone()?, before);
    let line = tcsetattr(&terminal, OptionalActions::Drain, &silent).map_err(io::Error::from).and_then(|()| {
        terminal.write_all(prompt.as_bytes())?;
        SecretText::read_line(&terminal)
    });
    interrupt::echo_again();
    match line? {
        // A line without an end is none: whoever typed it ended the input.
        line if line.as_str().is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
        line => Ok(line),
    }
}
