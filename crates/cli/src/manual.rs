//! `hearith completions` and `hearith man`: descriptions of the commands for shells and `man`.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::{Arguments, Completions, Man};
use crate::failure::{CliError, name};

/// Writes a shell's completions to standard output.
pub(crate) fn completions(command: &Completions) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Arguments::command(), "hearith", &mut script);
    io::stdout().write_all(&script).map_err(|error| CliError::writing("standard output", error))
}

/// Writes one manual page per command into a folder.
pub(crate) fn pages(command: &Man) -> Result<(), CliError> {
    let folder = name(&command.out);
    let written = std::fs::create_dir_all(&command.out)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), &command.out));
    written.map_err(|error| CliError::writing(&folder, error))
}
