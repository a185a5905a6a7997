//! The newest head that readers may have been shown, in a file beside the store. A store with fewer
//! entries is an older backup: with it the board would contradict what it signed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_election::Head;
use tempfile::NamedTempFile;

/// The file of a head.
#[derive(Clone, Debug)]
pub(crate) struct LastHead(PathBuf);

impl LastHead {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The head in the file; none if there is no file, or an empty one, as a failure of power can
    /// leave.
    ///
    /// # Errors
    /// The file cannot be read, or is no head.
    pub(crate) fn read(&self) -> io::Result<Option<Head>> {
        let text = match std::fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        match text.trim_end_matches('\n') {
            "" => Ok(None),
            line => Head::from_line(line).map(Some).map_err(io::Error::other),
        }
    }

    /// Puts a head into the file: all of it, or what was there stays. It is not waited for until it
    /// is on disk: the head before is good enough, as the store has no less.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, head: &Head) -> io::Result<()> {
        let folder = self.0.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        writeln!(file, "{}", head.to_line())?;
        file.persist(&self.0).map(drop).map_err(|error| error.error)
    }
}
