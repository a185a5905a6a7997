//! `--parameters`: the name of a published set, or a file in the format of the published program.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hearith_dghv::format::{MOST_PUBLISHED_BYTES, Published};
use hearith_dghv::{Parameters, Scheme, Size};

use crate::args::DghvKeygen;
use crate::failure::{CliError, name};

/// Returns the selected parameters of a new key.
pub(super) fn chosen(command: &DghvKeygen) -> Result<Parameters, CliError> {
    let scheme: Scheme = command.scheme.parse().map_err(CliError::new)?;
    let parameters = match command.parameters.parse::<Size>() {
        Ok(size) => Parameters::historical(scheme, size),
        Err(_) if Path::new(&command.parameters).is_file() => published(Path::new(&command.parameters), scheme)?,
        Err(error) => return Err(CliError::new(error).with_note("or a file in the published program's format")),
    };
    Ok(if command.short_coefficients { parameters.with_short_coefficients() } else { parameters })
}

fn published(path: &Path, scheme: Scheme) -> Result<Parameters, CliError> {
    let file = name(path);
    if scheme != Scheme::Cnt {
        return Err(CliError::at(&file, "parameters in the published program's format work only with --scheme cnt"));
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_PUBLISHED_BYTES as u64 + 1).read_to_string(&mut text));
    read.map_err(|error| CliError::reading(&file, error))?;
    let published = Published::parse(&text).map_err(|error| CliError::at(&file, error))?;
    published.parameters().map_err(|error| CliError::at(&file, error))
}
