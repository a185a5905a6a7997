//! Generates the page of all commands and options, `docs/reference/command-line-options.md`, from
//! their definitions.
//!
//! `UPDATE=1 cargo test --package hearith --lib page_of_options` writes the page. Without `UPDATE`,
//! the test fails if the page differs.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Arguments;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/command-line-options.md");

const HEAD: &str = "\
# Commands and options

<!-- Written by `UPDATE=1 cargo test --package hearith --lib page_of_options`; do not edit. -->

All commands and options of `hearith`, as `hearith help COMMAND` prints them. Options in *italics*
are left out there. [The command line](command-line.md) has the rules that all commands follow.
";

const END: &str = "
Next: [the command line](command-line.md), or [limits](limits.md).
";

/// Generates the page.
fn page() -> String {
    // After `build`, commands have their usage and global options.
    let mut root = Arguments::command().term_width(0);
    root.build();
    let mut page = HEAD.to_owned();
    page.push_str("\n## Every command\n");
    options(&mut page, &root, |argument| argument.is_global_set() && !is_help(argument));
    commands(&mut page, &root, "");
    page.push_str(END);
    page
}

/// Writes the sections of a command's subcommands, in the order of the help text.
fn commands(page: &mut String, parent: &Command, path: &str) {
    for command in parent.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set()) {
        let path = format!("{path} {}", command.get_name());
        let level = "#".repeat(path.split_whitespace().count() + 1);
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(page, "\n{level} hearith{path}\n\n{}.", about.trim_end_matches('.')).unwrap();
        if command.has_subcommands() {
            commands(page, command, &path);
        } else {
            let usage = command.clone().render_usage().to_string();
            writeln!(page, "\n```text\n{}\n```", usage.trim_start_matches("Usage: ")).unwrap();
            options(page, command, |argument| !argument.is_global_set() && !is_help(argument));
        }
    }
}

/// Writes a table of a command's arguments, if it has any.
fn options(page: &mut String, command: &Command, is_shown: impl Fn(&Arg) -> bool) {
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_shown(argument)).collect();
    if arguments.is_empty() {
        return;
    }
    page.push_str("\n| option | meaning | default |\n| --- | --- | --- |\n");
    for argument in arguments {
        let name = name(argument);
        let name = if argument.is_hide_set() { format!("*{name}*") } else { name };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let (help, default) = with_default(&help, argument);
        writeln!(page, "| {name} | {} | {} |", cell(&help), cell(&default)).unwrap();
    }
}

fn is_help(argument: &Arg) -> bool {
    matches!(argument.get_id().as_str(), "help" | "version")
}

/// The form of an argument: `-k`, `--key FILE`, `--flag[=BOOL]` with an optional value, or the
/// value name of a positional argument.
fn name(argument: &Arg) -> String {
    let values: Vec<String> = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let value = if takes_value { values.join(" ") } else { String::new() };
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("`-{short}`, "));
    match long {
        Some(long) => {
            let is_optional = argument.get_num_args().is_some_and(|number| number.min_values() == 0);
            let with = if takes_value && is_optional { format!("{long}[={value}]") } else { format!("{long} {value}") };
            format!("{}`{}`", short.unwrap_or_default(), with.trim_end())
        }
        None => format!("`{value}`"),
    }
}

/// Splits a help text into the text without `[default: ...]` and the default.
fn with_default(help: &str, argument: &Arg) -> (String, String) {
    if let Some((text, default)) = help.split_once(" [default: ") {
        return (text.to_owned(), default.trim_end_matches(']').to_owned());
    }
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let text = if argument.is_required_set() && argument.get_long().is_some() {
        "required".to_owned()
    } else {
        defaults.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    (help.to_owned(), text)
}

/// Escapes a text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

#[test]
fn the_page_of_options_is_current() {
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let stored = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    let difference = page.lines().zip(stored.lines()).find(|(made, stored)| made != stored);
    assert!(
        page == stored,
        "docs/reference/command-line-options.md is stale at {difference:?}: \
         `UPDATE=1 cargo test --package hearith --lib page_of_options` writes it"
    );
}

#[test]
fn cells_and_names_are_plain() {
    assert_eq!(cell("a | b\nc"), "a \\| b c");
    let option = Arg::new("key").long("key").short('k').value_name("FILE").action(ArgAction::Set);
    assert_eq!(name(&option), "`-k`, `--key FILE`");
    assert_eq!(name(&Arg::new("json").long("json").action(ArgAction::SetTrue)), "`--json`");
    let optional = Arg::new("flag").long("flag").value_name("BOOL").num_args(0..=1).action(ArgAction::Set);
    assert_eq!(name(&optional), "`--flag[=BOOL]`");
    assert_eq!(name(&Arg::new("in").value_name("IN").action(ArgAction::Set)), "`IN`");
}
