//! The program `hearith-simulated`: Hearith's command line with simulated devices among its
//! engines.

use std::process::ExitCode;

fn main() -> ExitCode {
    hearith_cli::main_with(hearith_simulated::PROVIDERS)
}
