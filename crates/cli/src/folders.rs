//! Folders of Parquet files, as Spark and other engines write them, and file name patterns.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{CliError, name};
use crate::input::is_called_parquet;

/// Expands folders and patterns among the inputs.
///
/// - A folder is replaced by the Parquet files in it, at any depth, in order of their names.
/// - A pattern such as `2024-*.parquet` is replaced by the matching files and folders, unless a
///   file has that very name.
///
/// Names that begin with `.` or `_` are skipped, because engines use them for notes and incomplete
/// output. Links to folders are not followed.
pub(crate) fn expanded(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    for input in matched(inputs)? {
        if !input.is_dir() {
            found.push(input);
            continue;
        }
        let before = found.len();
        collect(&input, &mut found).map_err(|error| CliError::reading(&name(&input), error))?;
        if found.len() == before {
            return Err(CliError::at(name(&input), "a folder without Parquet files (.parquet)"));
        }
    }
    Ok(found)
}

/// Replaces patterns by their matches.
fn matched(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    for input in inputs {
        let pattern = input.to_str().filter(|text| text.contains(['*', '?', '[']));
        match pattern.filter(|_| fs::symlink_metadata(input).is_err()) {
            None => found.push(input.clone()),
            Some(pattern) => {
                let before = found.len();
                for entry in glob::glob(pattern).map_err(|error| CliError::at(pattern, error))? {
                    found.push(entry.map_err(|error| CliError::at(pattern, error))?);
                }
                if found.len() == before {
                    return Err(CliError::at(pattern, "no file matches this pattern"));
                }
            }
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
