//! The command line of Hearith: see the library for what it does.

fn main() -> std::process::ExitCode {
    hearith_cli::main()
}
