//! Persistence of a machine: the content of its flash memory, saved in a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hearith_device::{Error, ErrorKind};

/// A file with the content of a memory. It is locked against use by another machine. A missing file
/// is created once there is something to save.
#[derive(Debug)]
pub(super) struct Memory {
    path: PathBuf,
    file: Option<File>,
    /// The content of the file.
    kept: Vec<u8>,
}

impl Memory {
    /// Reads the file into the content. If the file is missing, the content stays unchanged.
    pub(super) fn open(path: &Path, content: &mut [u8]) -> Result<Self, Error> {
        let mut memory = Self { path: path.to_owned(), file: None, kept: Vec::new() };
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => memory.take(file, content).map_err(|error| memory.failed(error))?,
            // Reports obstacles to creating the file before there is something to save.
            Err(error) if error.kind() == io::ErrorKind::NotFound && memory.directory_exists() => (),
            Err(error) => return Err(memory.failed(error)),
        }
        Ok(memory)
    }

    /// Whether the directory exists.
    fn directory_exists(&self) -> bool {
        self.path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir())
    }

    fn take(&mut self, mut file: File, content: &mut [u8]) -> io::Result<()> {
        locked(&file)?;
        let mut kept = Vec::with_capacity(content.len() + 1);
        (&mut file).take(content.len() as u64 + 1).read_to_end(&mut kept)?;
        if kept.len() != content.len() {
            let what = format!("not the memory of this machine, which has {} bytes", content.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        content.copy_from_slice(&kept);
        (self.file, self.kept) = (Some(file), kept);
        Ok(())
    }

    /// Writes changed content to the file.
    pub(super) fn keep(&mut self, content: &[u8]) -> Result<(), Error> {
        if self.kept == content || self.file.is_none() && content.iter().all(|&byte| byte == 0xff) {
            return Ok(());
        }
        self.write(content).map_err(|error| self.failed(error))
    }

    fn write(&mut self, content: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&self.path)?;
                locked(&made)?;
                none.insert(made)
            }
        };
        let changed = |&at: &usize| self.kept.get(at) != content.get(at);
        let (first, last) = ((0..content.len()).find(changed), (0..content.len()).rfind(changed));
        let (first, last) = (first.unwrap_or(0), last.map_or(0, |last| last + 1));
        file.write_all_at(&content[first..last], first as u64)?;
        file.sync_data()?;
        self.kept = content.to_vec();
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        ErrorKind::Io { what: self.path.display().to_string(), source: Arc::new(error) }.into()
    }
}

fn locked(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::new(io::ErrorKind::WouldBlock, "another machine has this memory"),
        TryLockError::Error(error) => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_there_again_and_in_one_machine() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("flash.bin");
        let mut content = vec![0xff; 64];
        let mut memory = Memory::open(&path, &mut content).unwrap();
        memory.keep(&content).unwrap();
        assert!(!path.exists(), "nothing was written yet");
        content[7..9].copy_from_slice(&[1, 2]);
        memory.keep(&content).unwrap();
        content[60] = 3;
        memory.keep(&content).unwrap();
        let second = Memory::open(&path, &mut [0xff; 64]).unwrap_err();
        assert!(second.to_string().ends_with("another machine has this memory"), "{second}");
        drop(memory);
        let mut again = vec![0xff; 64];
        Memory::open(&path, &mut again).unwrap();
        assert_eq!(again, content);
        let nowhere = Memory::open(&directory.path().join("none/flash.bin"), &mut again).unwrap_err();
        assert!(matches!(nowhere.kind(), ErrorKind::Io { .. }), "{nowhere}");
        for length in [63, 65] {
            let other = Memory::open(&path, &mut vec![0xff; length]).unwrap_err();
            let expected = format!("not the memory of this machine, which has {length} bytes");
            assert!(other.to_string().ends_with(&expected), "{other}");
        }
    }
}
