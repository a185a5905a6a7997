//! The folder with the files that trustees exchange: this trustee's for the others, and theirs for
//! it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hearith_threshold::distributed::offline::file_name;

use crate::failure::{CliError, name};
use crate::output::{Access, Output};

/// A folder of exchanged files.
pub(super) struct ExchangeFolder(PathBuf);

impl ExchangeFolder {
    /// Opens an existing folder.
    pub(super) fn at(folder: &Path) -> Result<Self, CliError> {
        match fs::metadata(folder) {
            Ok(metadata) if metadata.is_dir() => Ok(ExchangeFolder(folder.to_owned())),
            Ok(_) => Err(CliError::at(name(folder), "not a folder")),
            Err(error) => Err(CliError::reading(&name(folder), error)),
        }
    }

    /// The name of a file in messages.
    pub(super) fn name_of(&self, file: &str) -> String {
        name(&self.0.join(file))
    }

    /// Rejects a folder with files of an earlier run of this trustee.
    pub(super) fn check_unused(&self, trustee: u32, others: &[u32]) -> Result<(), CliError> {
        match others.iter().find(|&&other| self.0.join(file_name(1, trustee, other)).exists()) {
            None => Ok(()),
            Some(&other) => {
                let what = "belongs to another run of this trustee: use a separate folder for each run";
                Err(CliError::at(self.name_of(&file_name(1, trustee, other)), what))
            }
        }
    }

    /// Reads at most `longest` bytes of a file, plus one if it is longer. Returns `None` if it does
    /// not exist.
    pub(super) fn read(&self, file: &str, longest: usize) -> Result<Option<Vec<u8>>, CliError> {
        let path = self.0.join(file);
        let reading = |error| CliError::reading(&name(&path), error);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(reading(error)),
            Ok(metadata) if !metadata.is_file() => return Err(CliError::at(name(&path), "not a file")),
            Ok(_) => {}
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(reading)?;
        file.take(longest as u64 + 1).read_to_end(&mut bytes).map_err(reading)?;
        Ok(Some(bytes))
    }

    /// Writes a file of this trustee, unless it already exists.
    ///
    /// # Errors
    /// The existing file has other content. A trustee must not send two different messages in one
    /// exchange.
    pub(super) fn write(&self, file: &str, content: &[u8]) -> Result<(), CliError> {
        let path = self.0.join(file);
        match self.read(file, content.len())? {
            Some(found) if found == content => return Ok(()),
            Some(_) => {
                let what = "differs from what this trustee sends: \
                            remove it if nobody has it, otherwise begin a new run";
                return Err(CliError::at(name(&path), what));
            }
            None => {}
        }
        // Some memory sticks support only a rename that replaces.
        let mut output = Output::file(&path, Access::Usual, true)?;
        output.write_all(content).map_err(|error| CliError::writing(&name(&path), error))?;
        output.commit()
    }
}
