//! Folders of Parquet files, as Spark and other engines write tables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, name};
use crate::input::is_called_parquet;

/// The inputs, with the Parquet files in each folder, at any depth and in order of their names, in
/// its place.
///
/// Names that begin with `.` or `_` are left out: engines keep notes there, and output that is not
/// complete. Links to folders are not followed.
pub(crate) fn expanded(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            found.push(input.clone());
            continue;
        }
        let before = found.len();
        collect(input, &mut found).map_err(|error| Failure::reading(&name(input), error))?;
        if found.len() == before {
            return Err(Failure::at(name(input), "a folder without Parquet files (.parquet)"));
        }
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if matches!(entry.file_name().as_encoded_bytes(), [b'.' | b'_', ..]) {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(&path, found)?;
        } else if is_called_parquet(&path) {
            found.push(path);
        }
    }
    Ok(())
}
