//! The program `hearith-simulated`: the command line of Hearith with simulated devices among its
//! engines.

use std::process::ExitCode;

fn main() -> ExitCode {
    hearith_cli::main_with(hearith_simulated::KINDS)
}
