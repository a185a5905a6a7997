//! A file of options: `--config FILE` sets options of its command in TOML.
//!
//! Options on the command line override those in the file.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use toml::{Spanned, Value};

use crate::failure::{CliError, name};

/// The option that names the file.
const OPTION: &str = "config";
const LONG: &[u8] = b"--config";

/// The options of a file, in order.
type Options = Vec<(Spanned<String>, Spanned<Value>)>;

/// Adds the options of a configuration file to the command line, if it names one.
///
/// # Errors
/// The file cannot be read, is not TOML, has an option that the command does not know, or has a
/// value of the wrong type.
pub(super) fn expanded(command: fn() -> Command, line: Vec<OsString>) -> Result<Vec<OsString>, CliError> {
    // Most command lines name no file, and need not be parsed twice.
    if !line.iter().any(|word| word.as_encoded_bytes().starts_with(LONG)) {
        return Ok(line);
    }
    let mut whole = command().ignore_errors(true);
    // Errors in the command line are reported later, when it is complete.
    let Ok(matches) = whole.try_get_matches_from_mut(&line) else { return Ok(line) };
    let Some((command, matches)) = innermost(&whole, &matches) else { return Ok(line) };
    if !command.get_arguments().any(|argument| argument.get_id() == OPTION) {
        return Ok(line);
    }
    let Some(path) = matches.get_one::<PathBuf>(OPTION) else { return Ok(line) };
    let text = fs::read_to_string(path).map_err(|error| CliError::reading(&name(path), error))?;
    let file = File { path, text: &text };
    let mut expanded = line;
    for (option, value) in file.options()? {
        let argument = file.argument(command, &option)?;
        if matches.value_source(argument.get_id().as_str()) != Some(ValueSource::CommandLine) {
            expanded.extend(file.to_arguments(argument, &option, value)?);
        }
    }
    Ok(expanded)
}

/// The innermost subcommand that is called, with its arguments.
fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> Option<(&'a Command, &'a ArgMatches)> {
    let (called, inner) = matches.subcommand()?;
    let command = command.find_subcommand(called)?;
    innermost(command, inner).or(Some((command, inner)))
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn options(&self) -> Result<Options, CliError> {
        let read = toml::from_str::<HashMap<Spanned<String>, Spanned<Value>>>(self.text);
        let wrong = |error: toml::de::Error| self.error(error.span().map_or(0, |span| span.start), error.message());
        let mut options: Options = read.map_err(wrong)?.into_iter().collect();
        options.sort_by_key(|(option, _)| option.span().start);
        Ok(options)
    }

    /// The option of a command that an entry sets.
    fn argument<'c>(&self, command: &'c Command, option: &Spanned<String>) -> Result<&'c Arg, CliError> {
        let long = option.get_ref().as_str();
        let mut known = command.get_arguments().filter(|argument| argument.get_id() != OPTION);
        let found = known.find(|argument| argument.get_long() == Some(long) && long != "help");
        found.ok_or_else(|| self.error(option.span().start, &format!("{} has no option {long:?}", command.get_name())))
    }

    /// Converts an option to command line form.
    fn to_arguments(
        &self,
        argument: &Arg,
        option: &Spanned<String>,
        value: Spanned<Value>,
    ) -> Result<Vec<OsString>, CliError> {
        let long = option.get_ref();
        let wrong = |what: &str| self.error(value.span().start, &format!("{long}: {what}"));
        let action = argument.get_action();
        if !action.takes_values() {
            return match value.get_ref() {
                Value::Boolean(true) => Ok(vec![format!("--{long}").into()]),
                Value::Boolean(false) => Ok(Vec::new()),
                _ => Err(wrong("expected true or false")),
            };
        }
        let one = |value: &Value| match value {
            Value::String(text) => Ok(format!("--{long}={text}").into()),
            Value::Integer(number) => Ok(format!("--{long}={number}").into()),
            _ => Err(wrong("expected a string or an integer")),
        };
        match value.get_ref() {
            Value::Array(_) if !matches!(action, clap::ArgAction::Append) => {
                Err(wrong("expected one value, not a list"))
            }
            Value::Array(values) => values.iter().map(one).collect(),
            value => one(value).map(|said| vec![said]),
        }
    }

    fn error(&self, at: usize, what: &str) -> CliError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        CliError::at(format!("{}:{line}", name(self.path)), what.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use clap::{Args as _, Parser};

    use super::*;
    use crate::args::Serve;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        command: Sub,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Sub {
        Serve(Serve),
    }

    fn command() -> Command {
        Command::new("hearith").subcommand(Serve::augment_args(Command::new("serve")))
    }

    fn parsed(text: &str, line: &[&str]) -> Result<Serve, String> {
        let mut file = tempfile::Builder::new().prefix("serve").suffix(".toml").tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap();
        let line = ["hearith", "serve", "--config", path].iter().chain(line).map(|&word| word.into()).collect();
        let all = expanded(command, line).map_err(|failure| {
            let text = failure.to_string();
            text.strip_prefix(path).unwrap_or(&text).to_owned()
        })?;
        match Line::try_parse_from(all) {
            Ok(Line { command: Sub::Serve(serve) }) => Ok(serve),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_file_says_what_the_line_does_not() {
        let text = "
            listen = \"0.0.0.0:7301\"
            key = [\"a.json\", \"b.json\"]
            tls-cert = \"cert.pem\" # with its key
            tls-key = \"key.pem\"
            metrics = \"127.0.0.1:2\"
            public-metrics = true
            max-clients = 9
            max-keys = 8
        ";
        let serve = parsed(text, &["--max-keys", "7", "--listen=127.0.0.1:1"]).unwrap();
        assert_eq!(serve.listen.to_string(), "127.0.0.1:1");
        assert_eq!((serve.limits.max_clients, serve.limits.max_keys), (9, 7));
        assert_eq!(serve.key, [PathBuf::from("a.json"), PathBuf::from("b.json")]);
        assert!(serve.public_metrics && serve.tls_cert.is_some() && serve.limits.max_streams == 2048);
        let serve = parsed(text, &["--key", "c.json"]).unwrap();
        assert_eq!(serve.key, [PathBuf::from("c.json")], "the line replaces a list");
        assert!(parsed("", &[]).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (text, what) in [
            ("\nlissten = \"x\"\n", ":2: serve has no option \"lissten\""),
            ("max-clients = 1\nconfig = \"x\"\n", ":2: serve has no option \"config\""),
            ("help = true", ":1: serve has no option \"help\""),
            ("listen = [\"127.0.0.1:1\"]", ":1: listen: expected one value, not a list"),
            ("max-clients = 1.5", ":1: max-clients: expected a string or an integer"),
            ("key = [[\"a\"]]", ":1: key: expected a string or an integer"),
            ("public-metrics = 1", ":1: public-metrics: expected true or false"),
        ] {
            assert_eq!(parsed(text, &[]).unwrap_err(), what, "{text}");
        }
        let error = parsed("a = 1\nb = = 2\n", &[]).unwrap_err();
        assert!(error.starts_with(":2: ") && error.lines().count() == 1, "{error}");
        let error = parsed("a = 1\na = 2\n", &[]).unwrap_err();
        assert!(error.starts_with(":2: ") && error.contains("duplicate key"), "{error}");
        // clap reports invalid values as if they were on the command line.
        assert!(parsed("max-clients = 0", &[]).unwrap_err().contains("--max-clients"));
        assert!(parsed("tls-cert = \"a\"", &[]).unwrap_err().contains("--tls-key"));
    }

    #[test]
    fn lines_without_a_file_stay_as_they_are() {
        for line in [&["hearith"][..], &["hearith", "serve", "--max-keys", "3"], &["hearith", "what"]] {
            let line: Vec<OsString> = line.iter().map(|&word| word.into()).collect();
            assert_eq!(expanded(command, line.clone()).unwrap(), line);
        }
        let line = ["hearith", "serve", "--config", "/missing"].map(Into::into).to_vec();
        assert!(expanded(command, line).unwrap_err().to_string().starts_with("/missing: cannot read"));
    }
}
