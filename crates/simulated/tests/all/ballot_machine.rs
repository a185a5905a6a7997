//! `hearith election vote --machine` and `decrypt-share --machine` on the simulated ballot machine,
//! for n of 256 bits. The record holds the machine's notices next to those of software, and
//! verifies.

use std::fs;

use crate::command_line::{TestDir, ceremony};
use hearith_simulated::designs::ENCRYPTOR_BOARDS;

/// Contests of two candidates, which a machine accepts.
const ONE: &str = r#"{ "title": "Chair", "candidates": ["Ada", "Bo"], "method": { "choose": { "exactly": 1 } } }"#;
const ROOF: &str = r#"{ "title": "Roof", "candidates": ["yes", "no"], "method": "yes_no" }"#;
const COLOURS: &str = r#"{ "title": "Colours", "candidates": ["red", "green"], "method": "approval" }"#;
const NONE: &str = r#"{ "title": "Deputy", "candidates": ["Cy", "Di"], "method": { "choose": { "at_most": 1 } } }"#;

const MACHINE: &str = "engine ballot-machine:";

/// An election that is open for voting, with numbered voters and one named voter.
fn open(contests: &[&str], ceremony: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("contests.json", format!("[{}]", contests.join(",")));
    dir.write("voters.csv", "voter\n00000000\n00000001\n00000002\n000003e7\n000003e8\nann\n");
    dir.ok("election init --title Club --contests contests.json --revoting --out club");
    dir.ok(&format!("election ceremony club {} --out secret", with_keys(&dir, ceremony)));
    dir.ok("election register club voters.csv --out credentials.jsonl --open");
    dir
}

fn vote(voter: &str, options: &str) -> String {
    format!("election vote club --credential credentials.jsonl --voter {voter} {options}")
}

/// The options of a ceremony. If the key is shared, three trustees also get keys for signing.
fn with_keys(dir: &TestDir, ceremony: &str) -> String {
    if !ceremony.contains("--shares") {
        return ceremony.to_owned();
    }
    if !dir.file("trustees.txt").exists() {
        let key = |trustee: u32| dir.ok(&format!("election trustee-key --out trustee-{trustee}.json")).text();
        dir.write("trustees.txt", (1..=3).map(key).collect::<String>());
    }
    format!("{ceremony} --trustee-keys trustees.txt")
}

/// Expects one line on standard error, and neither files nor entries written.
fn refused(dir: &TestDir, line: &str, expected: &str) {
    let record = || ["board/00000000.jsonl", "heads.jsonl"].map(|file| dir.read(&format!("club/record/{file}")));
    let before = record();
    dir.fails(line, expected);
    assert_eq!(record(), before, "{line}");
}

fn available() -> bool {
    ENCRYPTOR_BOARDS[0].is_available()
}

/// Two voters vote by machine, one of them after a challenge, and another votes without. Trustees
/// decrypt the total, one of them by machine, and the record is verified.
#[test]
fn ballots_of_the_machine_count_beside_those_of_software() {
    let dir = open(&[ONE], "--bits 256 --shares 2/3");
    if !available() {
        let line = vote("00000000", "--machine --choose Chair=Ada");
        return refused(&dir, &line, "engine ballot-machine: the design ");
    }
    let kept = vote("00000000", "--machine=flash=log.bin --choose Chair=Ada");
    let run = dir.ok(&format!("{kept} --receipt receipt.json"));
    let text = run.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0] == "cast: entry 3 of the board", "{text}");
    let receipt = lines[1].strip_prefix("machine's receipt ").unwrap();
    assert!(receipt.len() == 64 && receipt.bytes().all(|digit| digit.is_ascii_hexdigit()), "{text}");
    let tracker = lines[2].strip_prefix("tracker ").unwrap().replace(' ', "");
    // The voter may vote again, but not at this machine, because its memory holds the log.
    let log = fs::read(dir.file("log.bin")).unwrap();
    refused(
        &dir,
        &kept,
        &format!("{MACHINE} the machine rejects the vote: the voter's vote in this contest is already in the log"),
    );
    assert!(fs::read(dir.file("log.bin")).unwrap() == log, "nothing was written");
    let run = dir.ok(&vote("000003e7", "--machine=wire=1e-4 --challenge --choose Chair=Bo"));
    assert!(run.text().starts_with("challenged: this ballot never counts"), "{}", run.text());
    assert!(run.text().ends_with("Chair: Bo\n"), "{}", run.text());
    let json = dir.ok(&vote("000003e7", "--machine=wire=1e-4,flash=log.bin --choose Chair=Bo --json")).text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["cast"], json["machine"].as_array().map(Vec::len)), (&5.into(), Some(1)), "{json}");
    dir.ok(&vote("ann", "--choose Chair=Bo"));
    let run = dir.ok(&format!("election audit club --tracker {tracker} --receipt receipt.json"));
    assert!(run.text().contains("the ballot of '00000000' is entry 3: it counts"), "{}", run.text());
    dir.ok("election tally club");
    dir.ok(&share("1", "--out 1.json"));
    dir.ok(&share("3", "--machine=wire=1e-5 --out 3.json --engine ballot-machine"));
    let result = "Chair\n  Ada           1\n  Bo            2\n";
    assert_eq!(dir.ok("election finish club 1.json 3.json").text(), result);
    let verdict = dir.ok("election verify club/record").text();
    assert!(verdict.ends_with(result), "{verdict}");
    assert!(verdict.contains("ballots    good  3 ballots, all proofs\n"), "{verdict}");
    assert!(verdict.contains("challenges good  1 challenged ballots opened\n"), "{verdict}");
    refused(
        &dir,
        &vote("00000001", "--machine --choose Chair=Ada"),
        "club/record: an entry of kind 'ballot' is not allowed now",
    );
}

/// A faulty machine makes no ballot, and reports the reason.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn machines_that_fail_make_no_ballot() {
    let dir = open(&[ONE], "--bits 256");
    let with =
        |settings: &str| vote("00000000", &format!("--machine={settings} --choose Chair=Ada --receipt receipt.json"));
    for noise in ["stuck", "gone"] {
        let line = with(&format!("noise={noise},flash=log.bin"));
        refused(&dir, &line, &format!("{MACHINE} the machine rejects the vote: the noise source failed"));
    }
    for wire in ["cut", "0.3"] {
        refused(&dir, &with(&format!("wire={wire}")), &format!("{MACHINE} the machine does not answer"));
    }
    refused(&dir, &with("speed=1"), &format!("{MACHINE} the simulated machine has no setting 'speed=1'"));
    dir.write("short.bin", [0xff; 100]);
    refused(&dir, &with("flash=short.bin"), &format!("{MACHINE} short.bin: not the memory of this machine"));
    refused(&dir, &with("flash=none/log.bin"), &format!("{MACHINE} none/log.bin: No such file or directory"));
}

/// A trustee's share of the tally.
fn share(trustee: &str, options: &str) -> String {
    let keys = format!("--share secret/share-{trustee}.json --trustee-key trustee-{trustee}.json");
    format!("election decrypt-share club/record {keys} {options}")
}

/// Three trustees, each in its own process, generate and publish a key.
fn generate(dir: &TestDir) {
    with_keys(dir, "--shares 2/3");
    ceremony::run(dir, &ceremony::lines(256));
    let statements = "secret-1/statement-1.json secret-2/statement-2.json secret-3/statement-3.json";
    dir.ok(&format!("election ceremony club --trustee-keys trustees.txt --statements {statements}"));
}

/// Shares of a key that trustees generated together are half as long again as shares from a dealer.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_machine_makes_a_share_of_a_key_that_trustees_generated() {
    let dir = TestDir::new();
    dir.write("contests.json", format!("[{ONE}]"));
    dir.write("voters.csv", "voter\nann\nben\n");
    dir.ok("election init --title Club --contests contests.json --out club");
    generate(&dir);
    dir.ok("election register club voters.csv --out credentials.jsonl --open");
    dir.ok(&vote("ann", "--choose Chair=Bo"));
    dir.ok(&vote("ben", "--choose Chair=Bo"));
    dir.ok("election tally club");
    for (trustee, machine) in [(1, ""), (3, "--machine")] {
        dir.ok(&format!(
            "election decrypt-share club/record --share secret-{trustee}/share-{trustee}.json \
             --trustee-key trustee-{trustee}.json --out {trustee}.json {machine}"
        ));
    }
    let result = "Chair\n  Ada           0\n  Bo            2\n";
    assert_eq!(dir.ok("election finish club 1.json 3.json").text(), result);
    assert!(dir.ok("election verify club/record").text().ends_with(result));
}

/// A faulty tally board makes no share, and reports the reason.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn tally_boards_that_fail_make_no_share() {
    let dir = open(&[ONE, COLOURS], "--bits 256 --shares 2/3");
    let with = |settings: &str| share("2", &format!("--machine={settings} --out 2.json"));
    refused(&dir, &share("2", "--machine --out 2.json"), "club/record: there is no tally yet");
    dir.ok(&vote("ann", "--choose Chair=Bo --choose Colours=red"));
    dir.ok("election tally club");
    for noise in ["stuck", "gone"] {
        let why = "the tally board rejects the request: the noise source failed, or has not started";
        refused(&dir, &with(&format!("noise={noise}")), &format!("{MACHINE} {why}"));
    }
    for wire in ["cut", "0.3"] {
        refused(&dir, &with(&format!("wire={wire}")), &format!("{MACHINE} the machine does not answer"));
    }
    let no = "the simulated tally board has no memory, and no setting 'flash'";
    refused(&dir, &with("flash=log.bin"), &format!("{MACHINE} {no}"));
    refused(&dir, &with("speed=1"), &format!("{MACHINE} the simulated machine has no setting 'speed=1'"));
    let line = share("2", "--out 2.json --engine ballot-machine");
    refused(&dir, &line, "the engine 'ballot-machine' only makes and counts ballots");
    // A share of another key.
    dir.ok("election init --title Else --contests contests.json --out else");
    dir.ok(&format!("election ceremony else {} --out others", with_keys(&dir, "--bits 256 --shares 2/3")));
    let keys = "--share others/share-2.json --trustee-key trustee-2.json";
    let line = &format!("election decrypt-share club/record {keys} --machine --out 4.json");
    refused(&dir, line, "others/share-2.json: the share of the key does not belong to this election");
}

/// A tally that does not fit the board is refused before the board is asked.
#[test]
fn tallies_that_do_not_fit_are_refused() {
    let three = r#"{ "title": "C", "candidates": ["a", "b", "c"], "method": "approval" }"#;
    for (contests, bits, expected) in [
        (&[ONE, three][..], 256, "contest 1 does not fit: it has 3 marks, and the machine takes at most 2"),
        (&[ONE, ROOF, COLOURS, NONE], 256, "an election of 4 contests does not fit: the machine takes at most 3"),
        (&[ONE], 512, "a key of 512 bits does not fit: the device supports keys of 256 bits"),
    ] {
        let dir = open(contests, &format!("--bits {bits} --shares 2/3"));
        dir.ok("election tally club");
        refused(&dir, &share("2", "--machine --out 2.json"), &format!("{MACHINE} {expected}"));
    }
    let dir = TestDir::new();
    dir.write("contests.json", format!("[{ROOF},{COLOURS},{NONE}]"));
    let voters = |weight: u32| (0..22).map(|voter| format!("voter{voter},{weight}\n")).collect::<String>();
    let votes = (0..22).map(|voter| format!("voter{voter},yes,red,Cy\n")).collect::<String>();
    dir.write("votes.csv", format!("voter,Roof,Colours,Deputy\n{votes}"));
    for (weight, expected) in [
        (1, format!("{MACHINE} 66 ballots do not fit: the tally board counts at most 64")),
        (2, "club/record: a ballot has a weight other than 1, but a tally board counts each ballot once".into()),
    ] {
        dir.write("voters.csv", format!("voter,weight\n{}", voters(weight)));
        dir.ok("election init --title Club --contests contests.json --out club");
        dir.ok(&format!("election ceremony club {} --out secret", with_keys(&dir, "--bits 256 --shares 2/3")));
        dir.ok("election register club voters.csv --out credentials.jsonl --open");
        dir.ok("election vote club --credential credentials.jsonl --ballots votes.csv");
        dir.ok("election tally club");
        if available() || weight == 2 {
            refused(&dir, &share("2", "--machine --out 2.json"), &expected);
        }
        for folder in ["club", "secret"] {
            fs::remove_dir_all(dir.file(folder)).unwrap();
        }
        fs::remove_file(dir.file("credentials.jsonl")).unwrap();
    }
}

/// An election that does not fit the machine is refused before the machine is asked.
#[test]
fn elections_that_do_not_fit_are_refused() {
    let dir = open(&[ONE], "--bits 256");
    let ada = "--machine --choose Chair=Ada";
    let numbers =
        "the machine accepts only voters with a number of eight hexadecimal digits, from 00000000 to 000003e7";
    if available() {
        for voter in ["ann", "000003e8"] {
            refused(&dir, &vote(voter, ada), &format!("{MACHINE} {numbers}"));
        }
    }
    refused(&dir, &vote("eve", ada), "credentials.jsonl: no credential for voter 'eve'");
    let both = vote("00000000", "--machine --choose Chair=Ada --choose Chair=Bo");
    refused(&dir, &both, "contest 0: the contest does not allow this number of choices");
    refused(&dir, &vote("00000000", "--machine"), "contest 0: the contest does not allow this number of choices");
    let line = vote("00000000", "--machine --choose Chair=Zed");
    refused(&dir, &line, "--choose needs a CONTEST=CANDIDATE of this election");
    let line = vote("00000000", "--choose Chair=Ada --engine ballot-machine");
    refused(&dir, &line, "the engine 'ballot-machine' only makes and counts ballots");
    refused(&dir, &vote("00000000", &format!("{ada} --engine mesa")), "the engine 'mesa' ");

    let three = r#"{ "title": "C", "candidates": ["a", "b", "c"], "method": "approval" }"#;
    let two = r#"{ "title": "C", "candidates": ["a", "b"], "method": { "choose": { "at_most": 2 } } }"#;
    let digits = r#"{ "title": "C", "candidates": ["a", "b"], "method": "plurality" }"#;
    let methods = "ballot machines support only a fixed number of candidates";
    for (contests, expected) in [
        (
            &[ONE, three][..],
            format!("{MACHINE} contest 1 does not fit: it has 3 marks, and the machine takes at most 2"),
        ),
        (&[two], format!("contest 0: {methods}")),
        (&[digits], format!("contest 0: {methods}")),
        (
            &[ONE, ROOF, COLOURS, NONE],
            format!("{MACHINE} an election of 4 contests does not fit: the machine takes at most 3"),
        ),
    ] {
        let dir = open(contests, "--bits 256");
        let choices = [("Chair", "Ada"), ("Roof", "no"), ("C", "a")].into_iter();
        let choices = choices.filter(|(title, _)| contests.iter().any(|one| one.contains(&format!("\"{title}\""))));
        let choices: String = choices.map(|(title, name)| format!(" --choose {title}={name}")).collect();
        refused(&dir, &vote("00000000", &format!("--machine{choices}")), &expected);
    }
    let dir = open(&[ONE], "--bits 512");
    let expected = format!("{MACHINE} a key of 512 bits does not fit: the device supports keys of 256 bits");
    refused(&dir, &vote("00000000", ada), &expected);
}

/// Every type of contest that a machine accepts, several on a ballot, with all possible choices.
#[test]
#[ignore = "a long test: minutes of simulation"]
fn ballots_of_several_contests_hold() {
    let dir = open(&[ROOF, COLOURS, NONE], "--bits 256");
    for (voter, options) in [
        ("00000000", "--choose Roof=yes --choose Colours=red --choose Colours=green"),
        ("00000001", "--choose Roof=no --choose Colours=green --choose Deputy=Di"),
        ("00000002", "--choose Roof=no"),
    ] {
        let run = dir.ok(&vote(voter, &format!("--machine=wire=1e-5,flash=log.bin --challenge {options}")));
        assert!(run.text().contains(if voter == "00000000" { "Roof: yes\n" } else { "Roof: no\n" }), "{}", run.text());
        let run = dir.ok(&vote(voter, &format!("--machine=wire=1e-5,flash=log.bin {options}")));
        assert_eq!(run.text().matches("machine's receipt ").count(), 3, "{}", run.text());
    }
    dir.ok("election tally club");
    let result = "Roof\n  yes               1\n  no                2\nColours\n  red               1\n  green             2\n\
                  Deputy\n  Cy                0\n  Di                1\n";
    let finish = dir.ok("election finish club --key secret/private.json").text();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&finish), words(result));
    assert!(dir.ok("election verify club/record").text().contains("challenges good  3 challenged"));
}
