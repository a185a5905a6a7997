//! The newest head that readers may have seen, in a file next to the store. A store with fewer
//! entries is an older backup, and serving it would contradict a signed head.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_election::SignedTreeHead;
use tempfile::NamedTempFile;

/// A file with a head.
#[derive(Clone, Debug)]
pub(crate) struct LastHead(PathBuf);

impl LastHead {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The head in the file. `None` if the file is missing, or empty as after a power failure.
    ///
    /// # Errors
    /// The file cannot be read, or does not contain a head.
    pub(crate) fn read(&self) -> io::Result<Option<SignedTreeHead>> {
        let text = match std::fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        match text.trim_end_matches('\n') {
            "" => Ok(None),
            line => SignedTreeHead::from_line(line).map(Some).map_err(io::Error::other),
        }
    }

    /// Replaces the head in the file atomically. Does not wait until it is on disk: after a crash
    /// the previous head still suffices, since the store has no fewer entries.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, head: &SignedTreeHead) -> io::Result<()> {
        let folder = self.0.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        writeln!(file, "{}", head.to_line())?;
        file.persist(&self.0).map(drop).map_err(|error| error.error)
    }
}
