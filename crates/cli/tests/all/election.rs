//! A complete election through the program.

use crate::common::{Run, TestDir, ceremony};
use crate::offline::lower_rounds;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const CONTESTS: &str = r#"[
  { "title": "Chair", "candidates": ["Ada", "Bo = B.", "Cy"], "method": { "choose": { "at_most": 1 } } },
  { "title": "A new roof?", "candidates": ["yes", "no"], "method": "yes_no" },
  { "title": "Colour", "candidates": ["red", "green"], "method": "plurality" }
]"#;

const VOTERS: &str = "voter,weight\nann,\nben,1\ncleo,2\ndan,1\n";

const VOTES: &str = "Colour,voter,Chair,A new roof?\nred,ann,Ada,yes\ngreen,ben,Bo = B.,no\nred,cleo,,yes\n";

const RESULT: &str = "Chair\n  Ada               1\n  Bo = B.           2\n  Cy                0\n\
                      A new roof?\n  yes           4\n  no            1\nColour\n  red             3\n  green           2\n";

/// An election whose voting is open.
fn open(sharing: &str) -> TestDir {
    let dir = begun();
    dir.ok(&format!("election ceremony club --bits 512 {} --out secret", with_keys(&dir, sharing)));
    dir.ok("election register club voters.csv --out credentials.jsonl --open");
    dir
}

/// An election without a key.
fn begun() -> TestDir {
    let dir = TestDir::new();
    dir.write("contests.json", CONTESTS);
    dir.write("voters.csv", VOTERS);
    dir.write("votes.csv", VOTES);
    words(
        &dir,
        &["election", "init", "--title", "The club", "--contests", "contests.json", "--revoting", "--out", "club"],
    );
    dir
}

/// Three trustees generate a key, each in its own process with its own signing key and folder.
/// Returns the three command lines.
fn generate(dir: &TestDir) -> Vec<String> {
    with_keys(dir, "--shares 2/3");
    let lines = ceremony::lines(512);
    let keys = ceremony::run(dir, &lines).into_iter().map(|output| {
        let said = String::from_utf8(output.stderr).unwrap();
        let own: Vec<&str> = said.lines().filter(|line| line.contains(", this one: key ")).collect();
        assert_eq!(own.len(), 1, "{said}");
        String::from_utf8(output.stdout).unwrap()
    });
    let keys: Vec<String> = keys.collect();
    assert!(keys[0].starts_with("key ") && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    lines
}

/// The same through files. The key is too short for an election, for speed.
#[test]
fn trustees_without_a_network_generate_a_key_by_files() {
    let dir = TestDir::new();
    with_keys(&dir, "--shares 2/3");
    dir.write("words.txt", "correct horse battery staple\n");
    fs::set_permissions(dir.file("words.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(dir.file("stick")).unwrap();
    let line = |number: u32| {
        format!(
            "election ceremony --distributed 2/3 --bits 128 --trustee {number} --trustee-key trustee-{number}.json \
             --trustee-keys trustees.txt --offline stick --out secret-{number} --passphrase-file words.txt"
        )
    };
    let mut keys: Vec<String> = Vec::new();
    let mut running = vec![1, 2, 3];
    while !running.is_empty() {
        running.retain(|&number| {
            let said = dir.ok(&line(number)).text();
            let state = dir.file(&format!("secret-{number}/offline-{number}/state.json"));
            lower_rounds(&state, "correct horse battery staple");
            let key = said.lines().find(|line| line.starts_with("key "));
            keys.extend(key.map(str::to_owned));
            key.is_none()
        });
    }
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    for number in 1..=3 {
        let folder = format!("secret-{number}");
        let mut files: Vec<_> = fs::read_dir(dir.file(&folder)).unwrap().map(|one| one.unwrap().file_name()).collect();
        files.sort();
        let (share, statement) = (format!("share-{number}.json"), format!("statement-{number}.json"));
        assert_eq!(files, ["public.json", &share, &statement, "verification.json"]);
        assert!(dir.read(&format!("{folder}/{share}")).contains("ciphertext"));
    }
    dir.fails(&line(1), "secret-1/statement-1.json: there is a key already");
}

/// The option for a shared key, with the signing keys of three trustees.
pub fn with_keys(dir: &TestDir, sharing: &str) -> String {
    if sharing.is_empty() {
        return String::new();
    }
    let key = |trustee: u32| dir.ok(&format!("election trustee-key --out trustee-{trustee}.json")).text();
    dir.write("trustees.txt", (1..=3).map(key).collect::<String>());
    format!("{sharing} --trustee-keys trustees.txt")
}

fn words(dir: &TestDir, words: &[&str]) -> Run {
    let run = Run::of(dir.command(words).output().unwrap());
    assert_eq!(run.status, Some(0), "{words:?}: {}", run.stderr);
    run
}

/// The same with the table's three votes, a challenged one, and one that was prepared and cast.
fn voted(sharing: &str) -> TestDir {
    let dir = open(sharing);
    vote(&dir);
    dir
}

fn vote(dir: &TestDir) {
    dir.ok("election vote club --credential credentials.jsonl --ballots votes.csv");
    let vote = ["election", "vote", "club", "--credential", "credentials.jsonl", "--voter", "dan"];
    let choose = ["--choose", "Chair=Bo = B.", "--choose", "A new roof?=yes", "--choose", "Colour=green"];
    for file in ["first", "second"] {
        let run = words(dir, &[&vote[..], &choose, &["--prepare", file]].concat());
        assert!(run.text().starts_with("NOT CAST YET"), "{}", run.text());
        assert_eq!(fs::metadata(dir.file(file)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let run = dir.ok("election challenge club first --credential credentials.jsonl");
    assert!(run.text().ends_with("Chair: Bo = B.\nA new roof?: yes\nColour: green\n"), "{}", run.text());
    let again = "election vote club --credential credentials.jsonl --cast first";
    dir.fails(again, "contest 0, mark 0: the ciphertext is already on the board");
    let run = dir.ok("election vote club --credential credentials.jsonl --cast second --receipt receipt.json");
    let tracker = run.text().lines().last().unwrap().strip_prefix("tracker ").unwrap().replace(' ', "");
    let run = dir.ok(&format!("election audit club --tracker {tracker} --receipt receipt.json --voters"));
    assert!(run.text().contains("the ballot of 'dan' is entry 7: it counts"), "{}", run.text());
    assert!(run.text().contains("the receipt is for entry 7"), "{}", run.text());
    assert!(run.text().contains("voted      ann\n"), "{}", run.text());
    dir.ok("election tally club");
}

#[test]
fn trustees_generate_a_key_that_nobody_ever_holds() {
    let dir = begun();
    let lines = generate(&dir);
    // No file is overwritten, and a signing key belongs to one trustee.
    dir.fails(&lines[0], "secret-1/statement-1.json: there is a key already");
    let foreign = lines[1].replace("--trustee-key trustee-2.json", "--trustee-key trustee-1.json");
    dir.fails(&foreign, "trustee-1.json: not the key of trustee 2 in trustees.txt");
    let both = format!("{} --statements secret-1/statement-1.json", lines[0]);
    let run = dir.run(&both);
    assert!(run.status == Some(2) && run.stderr.contains("cannot be used with"), "{}", run.stderr);
    let file = |number: u32| format!("secret-{number}/statement-{number}.json");
    let take = |files: &[String]| {
        format!("election ceremony club --trustee-keys trustees.txt --statements {}", files.join(" "))
    };
    let what = "the trustees' statements about the key: ";
    dir.fails(&take(&[file(1), file(3)]), &format!("{what}there must be one from each trustee"));
    dir.fails(&take(&[file(1), file(2), file(2)]), &format!("{what}there must be one from each trustee"));
    let spoiled = dir.read(&file(2)).replace("\"needed\":2", "\"needed\":3");
    dir.write("spoiled.json", &spoiled);
    let other = take(&[file(1), "spoiled.json".into(), file(3)]);
    dir.fails(&other, &format!("{what}they concern different keys, so they come from different runs"));
    let signature = dir.read(&file(1)).split_once("\"statement\"").unwrap().0.to_owned();
    let statement = dir.read(&file(2)).split_once("\"statement\"").unwrap().1.to_owned();
    dir.write("spoiled.json", format!("{signature}\"statement\"{statement}"));
    dir.fails(&other, &format!("{what}one is not signed by its trustee's key"));
    assert!(!dir.file("club/record").exists());

    // In any order.
    dir.ok(&take(&[file(3), file(1), file(2)]));
    dir.ok("election register club voters.csv --out credentials.jsonl --open");
    vote(&dir);
    for trustee in [1, 3] {
        dir.ok(&format!(
            "election decrypt-share club/record --share secret-{trustee}/share-{trustee}.json \
             --trustee-key trustee-{trustee}.json --out {trustee}.json"
        ));
    }
    assert_eq!(dir.ok("election finish club 3.json 1.json").text(), RESULT);
    let run = dir.ok("election verify club/record");
    assert!(run.text().ends_with(RESULT), "{}", run.text());
    assert_eq!(fs::metadata(dir.file("secret-1/share-1.json")).unwrap().permissions().mode() & 0o777, 0o600);
    // The second verifier agrees.
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../verifier/hearith_verify.py");
    let verifier = Command::new("python3").args([script, "--insecure-key"]).arg(dir.file("club/record")).output();
    let verifier = verifier.unwrap();
    assert!(verifier.status.success(), "{}", String::from_utf8_lossy(&verifier.stdout));
}

#[test]
fn trustees_decrypt_what_voters_cast() {
    let dir = voted("--shares 2/3");
    let foreign =
        "election decrypt-share club/record --share secret/share-1.json --trustee-key trustee-2.json --out 1.json";
    dir.fails(foreign, "trustee-2.json: not the signing key of the trustee who holds the share");
    for trustee in [1, 3] {
        dir.ok(&format!(
            "election decrypt-share club/record --share secret/share-{trustee}.json --trustee-key trustee-{trustee}.json \
             --out {trustee}.json"
        ));
    }
    // Too few shares at first, then the missing one.
    let run = dir.run("election finish club 3.json");
    run.failed("finish", "club: 1 shares, but 2 are needed");
    assert_eq!(dir.ok("election finish club 1.json").text(), RESULT);
    let run = dir.ok("election verify club/record");
    assert!(run.text().ends_with(RESULT), "{}", run.text());
    assert!(run.text().contains("ballots    good  4 ballots, all proofs\n"), "{}", run.text());
    assert!(run.text().contains("challenges good  1 challenged ballots opened\n"), "{}", run.text());
    let json = dir.ok("election verify club --json").text();
    assert!(json.contains("\"verified\":true") && json.contains("[[1,2,0],[4,1],[3,2]]"), "{json}");
    // A key of 512 bits needs explicit permission.
    let strict = Run::of(dir.strict(["election", "verify", "club/record"]).output().unwrap());
    assert_eq!(strict.status, Some(1), "{}", strict.stderr);
    for secret in
        ["club/organiser.json", "club/board.json", "credentials.jsonl", "secret/share-1.json", "trustee-1.json"]
    {
        assert_eq!(fs::metadata(dir.file(secret)).unwrap().permissions().mode() & 0o777, 0o600, "{secret}");
    }
}

#[test]
fn one_holder_decrypts_alone() {
    let dir = voted("");
    assert_eq!(dir.ok("election finish club --key secret/private.json").text(), RESULT);
    assert!(dir.ok("election verify club/record").text().ends_with(RESULT));
}

#[test]
fn spoiled_records_are_refuted_by_name() {
    let dir = voted("");
    let board = "club/record/board/00000000.jsonl";
    let lines = dir.read(board);
    let refuted = |text: &str, expected: &str| {
        dir.write(board, text);
        let run = dir.run("election verify club/record");
        assert_eq!(run.status, Some(1), "{}", run.stderr);
        let last = run.complaints().last().unwrap().to_string();
        assert!(last.starts_with(&format!("hearith: club/record: NOT VERIFIED, failed: {expected}")), "{last}");
    };
    refuted(&lines.replace("\"cleo\"", "\"chloe\""), "chain");
    let cut: String = lines.lines().take(6).map(|line| [line, "\n"].concat()).collect();
    refuted(&cut, "heads; first: the head of ");
    refuted("", "chain, heads; first: there is no record here");
    dir.write(board, &lines);
    // Copies and heads of another board.
    fs::create_dir_all(dir.file("copy/board")).unwrap();
    dir.write("copy/board/00000000.jsonl", &cut);
    let run = dir.ok("election audit club/record copy");
    assert!(run.text().contains("the copies have 6 entries in common, and the first has more"), "{}", run.text());
    dir.write("copy/board/00000000.jsonl", lines.replace("\"cleo\"", "\"chloe\""));
    let run = dir.run("election audit club/record copy");
    assert_eq!((run.status, run.complaints().len()), (Some(1), 1), "{}", run.stderr);
    assert!(run.stderr.contains("copy: differs from club/record at entry 1"), "{}", run.stderr);
    dir.ok("election audit club/record --heads club/record/heads.jsonl");
    let other = open("");
    let heads = other.read("club/record/heads.jsonl");
    dir.write("heads.jsonl", heads);
    let run = dir.run("election audit club/record --heads heads.jsonl");
    assert_eq!(run.status, Some(1), "{}", run.stderr);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let dir = open("");
    let init = "election init --title T --contests contests.json --out";
    dir.fails(&format!("{init} club"), "club/organiser.json: ");
    dir.write("contests.json", "[]");
    dir.ok(&format!("{init} empty"));
    dir.fails(
        "election ceremony empty --bits 512 --out other-secret",
        "invalid election: an election must have 1 to 64 contests",
    );
    dir.fails("election ceremony club --bits 512 --out other-secret", "club/record: ");
    dir.fails(
        "election register club voters.csv --out more.jsonl",
        "club/record: an entry of kind 'voters' is not allowed now: voting is in progress",
    );
    dir.fails(
        "election vote club --credential credentials.jsonl --choose Colour=red",
        "credentials.jsonl: several credentials",
    );
    dir.fails(
        "election vote club --credential credentials.jsonl --voter eve --choose Colour=red",
        "credentials.jsonl: no credential for voter 'eve'",
    );
    let ann = "election vote club --credential credentials.jsonl --voter ann";
    dir.fails(&format!("{ann} --choose Colour=mauve"), "--choose needs a CONTEST=CANDIDATE of this election");
    dir.fails(&format!("{ann} --choose Colour=red"), "contest 1: the contest does not allow this number of choices");
    dir.write("votes.csv", "voter,Chair,A new roof?,Colour\nann,Zed,yes,red\n");
    dir.fails(
        "election vote club --credential credentials.jsonl --ballots votes.csv",
        "votes.csv: row 1, column Chair: no such candidate",
    );
    dir.fails("election finish club --key secret/private.json", "club: there is no tally yet");
    dir.fails("election verify nowhere", "nowhere: cannot read: No such file or directory");
}

#[test]
fn heads_of_a_record_are_repaired_with_the_boards_key() {
    let dir = voted("");
    let heads = "club/record/heads.jsonl";
    let text = dir.read(heads);
    let spoiled: String = text.split_inclusive('\n').rev().collect();
    assert_ne!(spoiled, text);
    dir.write(heads, spoiled);
    assert_eq!(dir.run("election verify club/record").status, Some(1));
    dir.fails(
        "election repair-heads club/record --board-key club/organiser.json",
        "club/organiser.json: not the board's key",
    );
    let other = open("");
    fs::copy(other.file("club/board.json"), dir.file("other.json")).unwrap();
    dir.fails("election repair-heads club --board-key other.json", "club/record: the key is not this board's");
    assert_eq!(dir.run("election verify club/record").status, Some(1));
    assert_eq!(dir.ok("election repair-heads club --board-key club/board.json").text(), "heads removed: 0\n");
    assert_eq!(dir.read(heads), text);
    dir.ok("election verify club/record");
    // A record whose last head is missing gets a new one.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    dir.write(heads, lines[..lines.len() - 1].concat());
    assert_eq!(dir.run("election verify club/record").status, Some(1));
    let run = dir.ok("election repair-heads club/record --board-key club/board.json --json");
    assert_eq!(run.text(), "{\"removed\":0}\n");
    dir.ok("election verify club/record");
    // The same in a store.
    dir.ok("election restore --store sqlite:board.db club");
    let store = "election repair-heads --store sqlite:board.db --board-key";
    assert_eq!(dir.ok(&format!("{store} club/board.json")).text(), "heads removed: 0\n");
    assert_eq!(dir.run(&format!("{store} other.json")).status, Some(2));
    assert_eq!(dir.run("election repair-heads --board-key club/board.json").status, Some(2));
    assert_eq!(dir.run(&format!("{store} club/board.json club")).status, Some(2));
}
