//! Parts of the program that a build may omit: the Cargo features `dghv`, `election` and `service`.

use crate::failure::CliError;

/// The failure for a command or option that this build omits.
pub(crate) fn absent(what: &str, feature: &str) -> CliError {
    CliError::new(format!(
        "{what} is not built in: `cargo install --path crates/cli --features {feature}` installs a hearith that has it"
    ))
}

/// Anything after the name of a command that is not built in.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Absent {
    /// Ignored
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<std::ffi::OsString>,
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_feature_is_named() {
        let text = super::absent("hearith serve", "service").to_string();
        assert!(text.starts_with("hearith serve is not built in: ") && text.contains("--features service"), "{text}");
    }
}
