//! The commands in this crate's README do what it says.

use crate::common::{Place, STAFF};

#[test]
fn the_commands_of_the_readme_run() {
    let place = Place::new();
    place.write("staff.csv", STAFF);
    let readme = include_str!("../../README.md");
    let (_, commands) = readme.split_once("```sh\n").unwrap();
    let (commands, _) = commands.split_once("```").unwrap();
    let commands: Vec<&str> = commands.lines().map(|line| line.strip_prefix("hearith ").unwrap()).collect();
    assert_eq!(commands.len(), 4);
    commands.iter().for_each(|command| drop(place.ok(command)));
    let totals = place.read("totals.csv");
    assert!(totals.contains("lab,1,") && totals.contains("1500"), "{totals}");
}
