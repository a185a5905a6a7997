//! The `hearith` program. The library documents it.

fn main() -> std::process::ExitCode {
    hearith_cli::main()
}
