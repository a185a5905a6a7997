//! The commands in the crate's README and the project's README produce the output shown.

use crate::common::{STAFF, TestDir};

#[test]
fn the_commands_of_the_readme_run() {
    let dir = TestDir::new();
    dir.write("staff.csv", STAFF);
    let (commands, _) = run(&dir, block(include_str!("../../README.md"), "sh\n"));
    assert_eq!(commands, 4);
    let totals = dir.read("totals.csv");
    assert!(totals.contains("lab,1,") && totals.contains("1500"), "{totals}");
}

#[test]
fn the_quickstart_of_the_project_prints_what_it_shows() {
    let readme = include_str!("../../../../README.md");
    let dir = TestDir::new();
    dir.write("staff.csv", block(readme, "csv\n"));
    let (commands, printed) = run(&dir, block(readme, "sh\nhearith keygen"));
    assert_eq!(commands, 4);
    assert_eq!(printed, block(readme, "text\n"));
}

/// Returns the code block that begins with `begin`, starting with the line after the fence.
fn block<'a>(page: &'a str, begin: &str) -> &'a str {
    let fence = page.find(&format!("```{begin}")).expect("the block is there");
    let (_, after) = page[fence..].split_once('\n').expect("a fence ends its line");
    after.split_once("```").expect("it ends").0
}

/// Runs the commands of a block. Returns their number, and the output of the last one.
fn run(dir: &TestDir, block: &str) -> (usize, String) {
    let commands: Vec<&str> = block.lines().map(|line| line.strip_prefix("hearith ").unwrap()).collect();
    let mut printed = String::new();
    for command in &commands {
        printed = dir.ok(command).text();
    }
    (commands.len(), printed)
}
