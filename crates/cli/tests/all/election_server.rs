//! A complete election at a server, through the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::serving::{LyingProxy, Service};
use crate::common::{Run, TestDir};
use crate::election::with_keys;

const CONTESTS: &str =
    r#"[{ "title": "Chair", "candidates": ["Ada", "Bo"], "method": { "choose": { "exactly": 1 } } }]"#;
const SERVE: &str = "election serve --store sqlite:board.db --board-key club/board.json";

/// An election with its first entry, in `club`.
fn begun() -> TestDir {
    let dir = TestDir::new();
    dir.write("contests.json", CONTESTS);
    dir.write("voters.csv", "voter\nann\nben\ncleo\n");
    dir.ok("election init --title Club --contests contests.json --revoting --out club");
    dir.ok("election ceremony club --bits 512 --out secret");
    dir
}

fn vote(dir: &TestDir, url: &str, voter: &str, rest: &str) -> Run {
    dir.run(&format!("election vote {url} --credential credentials --voter {voter} {rest}"))
}

#[test]
fn an_election_at_a_server_comes_to_its_result() {
    let dir = begun();
    let restored = dir.ok("election restore --store sqlite:board.db club");
    assert_eq!(restored.text(), "restored: 1 entries\n");
    let service = Service::of(&dir, &format!("{SERVE} --audit audit.jsonl"));
    let url = &service.url;
    dir.ok(&format!("election register club voters.csv --out credentials --open --server {url}"));
    for (voter, candidate) in [("ann", "Ada"), ("ben", "Bo"), ("cleo", "Bo"), ("ann", "Bo")] {
        let run = vote(&dir, url, voter, &format!("--choose Chair={candidate}"));
        assert!(run.text().starts_with("cast: entry "), "{}{}", run.text(), run.stderr);
    }
    // One ballot is prepared, challenged and never cast. Another is cast.
    for file in ["first", "second"] {
        let run = vote(&dir, url, "ben", &format!("--choose Chair=Ada --prepare {file}"));
        assert!(run.text().starts_with("NOT CAST YET"), "{}", run.stderr);
    }
    let run = dir.ok(&format!("election challenge {url} first --credential credentials"));
    assert!(run.text().ends_with("Chair: Ada\n"), "{}", run.text());
    vote(&dir, url, "ben", "--cast first").failed("a challenged ballot", &format!("{url}: contest 0, mark 0"));
    let run = vote(&dir, url, "ben", "--cast second --receipt receipt.json");
    assert_eq!(run.status, Some(0), "{}", run.stderr);

    let run = dir.ok(&format!("election verify {url}"));
    assert!(run.text().ends_with("no result yet: voting is in progress\n"), "{}", run.text());
    // Nothing is lost when the server is killed and restarted.
    assert_eq!(service.end("-KILL"), None);
    let service = Service::of(&dir, &format!("{SERVE} --audit audit.jsonl"));
    let url = &service.url;
    assert!(dir.ok("election backup --store sqlite:board.db kept").text().starts_with("kept: "));
    dir.ok("election audit kept --receipt receipt.json");

    // Holders of a receipt or a copy compare it with the server's record.
    dir.ok(&format!("election audit {url} --receipt receipt.json"));
    let run = dir.ok(&format!("election audit kept {url}"));
    assert!(run.text().contains("both copies have the same "), "{}", run.text());
    dir.ok(&format!("election tally club --server {url}"));
    let run = dir.ok(&format!("election audit kept {url}"));
    assert!(run.text().contains(" in common, and the second has more"), "{}", run.text());
    let run = dir.ok(&format!("election finish club --key secret/private.json --server {url}"));
    assert!(run.text().contains("Ada           1") && run.text().contains("Bo            2"), "{}", run.text());
    let verified = dir.ok(&format!("election verify {url}")).text();
    assert_eq!(service.end("-TERM"), Some(0));

    // The backup is extended, verifies like the server's record did, and restores to another store
    // that verifies too.
    dir.ok("election backup --store sqlite:board.db kept");
    assert_eq!(dir.ok("election verify kept").text(), verified);
    dir.ok("election restore --store sqlite:other.db kept");
    dir.ok("election backup --store sqlite:other.db again");
    for file in ["board/00000000.jsonl", "heads.jsonl"] {
        assert_eq!(dir.read(&format!("kept/{file}")), dir.read(&format!("again/{file}")));
    }
    let audit = dir.read("audit.jsonl");
    assert_eq!(audit.matches("\"event\":\"started\"").count(), 2);
    assert!(!audit.contains("Ada") && audit.contains("\"code\":\"doubled\""), "{audit}");
}

#[test]
fn trustees_decrypt_what_a_server_shows() {
    let dir = TestDir::new();
    dir.write("contests.json", CONTESTS);
    dir.write("voters.csv", "voter\nann\n");
    dir.ok("election init --title Club --contests contests.json --out club");
    let sharing = with_keys(&dir, "--shares 2/3");
    dir.ok(&format!("election ceremony club --bits 512 {sharing} --out secret"));
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = &service.url.clone();
    dir.ok(&format!("election register club voters.csv --out credentials --open --server {url}"));
    assert_eq!(vote(&dir, url, "ann", "--choose Chair=Bo").status, Some(0));
    let share = |trustee: u32| {
        format!(
            "election decrypt-share {url} --share secret/share-{trustee}.json --trustee-key trustee-{trustee}.json --out {trustee}"
        )
    };
    dir.fails(&share(1), &format!("{url}: there is no tally yet"));
    dir.ok(&format!("election tally club --server {url}"));
    dir.ok(&share(1));
    dir.ok(&share(3));
    let run = dir.ok(&format!("election finish club 1 3 --server {url}"));
    assert!(run.text().contains("Bo            1"), "{}", run.text());
    assert_eq!(service.end("-TERM"), Some(0));
    dir.fails(&share(2), &format!("{url}: cannot connect"));
}

#[test]
fn a_proxy_that_drops_ballots_is_not_believed() {
    let dir = begun();
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = service.url.clone();
    dir.ok(&format!("election register club voters.csv --out credentials --open --server {url}"));
    let run = vote(&dir, &url, "ann", "--choose Chair=Ada --receipt receipt.json");
    let theirs = run.text().rsplit("tracker ").next().unwrap().trim().replace(' ', "");
    // The proxy drops the ballot and answers with ann's genuine receipt. Then it also shows her
    // ballot.
    let receipt = dir.read("receipt.json");
    for shows_theirs in [false, true] {
        let theirs = shows_theirs.then(|| theirs.clone());
        let proxy = LyingProxy::start(&service.address, receipt.trim().to_owned(), theirs);
        let expected = match shows_theirs {
            false => format!("{proxy}: no ballot on the board has this tracker"),
            true => format!("{proxy}: the receipt is for entry 3, which differs from what was sent"),
        };
        let run = vote(&dir, &proxy, "ben", "--choose Chair=Bo --receipt mine.json");
        run.failed("a dropped ballot", &expected);
        assert!(run.stderr.contains("it may not be on the board"), "{}", run.stderr);
        assert!(!dir.files().contains(&"mine.json".to_owned()), "no receipt that is none");
        dir.run(&format!("election vote {url} --credential credentials --voter ben --choose Chair=Bo --prepare shown"));
        let run = dir.run(&format!("election challenge {proxy} shown --credential credentials"));
        run.failed("a dropped challenge", &expected);
        fs::remove_file(dir.file("shown")).unwrap();
    }
    // A receipt and a tracker of two different ballots contradict each other.
    let run = vote(&dir, &url, "ben", "--choose Chair=Bo");
    let mine = run.text().rsplit("tracker ").next().unwrap().trim().replace(' ', "");
    let run = dir.run(&format!("election audit {url} --receipt receipt.json --tracker {mine}"));
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("the receipt is for entry 3"), "{}", run.stderr);
    dir.ok(&format!("election audit {url} --receipt receipt.json --tracker {theirs}"));
}

/// The credentials as codes and links, for voters who use the pages.
#[test]
fn voters_get_codes_and_links() {
    let dir = begun();
    dir.write("voters.csv", "voter\n\"Lee, \"\"Al\"\" \"\nben\n");
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = service.url.clone();
    dir.ok(&format!("election register club voters.csv --out credentials --codes codes.csv --server {url}/"));
    let table = dir.read("codes.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "voter,code,link");
    assert_eq!(lines.len(), 3);
    for (line, voter) in lines[1..].iter().zip(["\"Lee, \"\"Al\"\" \"", "\"ben\""]) {
        let (code, link) = line.strip_prefix(voter).unwrap()[1..].split_once(',').unwrap();
        assert_eq!(link, format!("{url}/#/vote/{}", code.replace(' ', "")));
        let groups: Vec<&str> = code.split(' ').collect();
        assert!(groups.len() == 7 && groups.iter().all(|group| group.len() == 4), "{code}");
    }
    assert_eq!(dir.read("credentials").lines().count(), 2);
    assert_eq!(fs::metadata(dir.file("codes.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    // Voters that the board rejects leave no secrets behind.
    let again = format!("election register club voters.csv --out more --codes more.csv --server {url}");
    dir.fails(&again, &format!("{url}: voter 0 of the entry: a voter with this ID already exists"));
    assert!(!dir.files().iter().any(|file| file.starts_with("more")), "{:?}", dir.files());
}

#[test]
fn what_a_server_refuses_is_one_line() {
    let dir = begun();
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = service.url.clone();
    dir.ok(&format!("election register club voters.csv --out credentials --server {url}"));
    let early = vote(&dir, &url, "ann", "--choose Chair=Ada");
    early.failed("before voting is open", &format!("{url}: an entry of kind 'ballot' is not allowed now"));
    dir.fails(&format!("election tally club --server {url}"), &format!("{url}: "));
    dir.fails("election verify http://127.0.0.1:1", "http://127.0.0.1:1: cannot connect");
    dir.fails("election verify http://example.org", "http://example.org: http is only for servers on this machine");
    dir.fails(&format!("{SERVE} --listen {}", service.address), &format!("cannot listen on {}", service.address));
    assert_eq!(service.end("-INT"), Some(0));
    for command in ["verify", "audit"] {
        dir.fails(&format!("election {command} {url}"), &format!("{url}: cannot connect"));
    }
}

#[test]
fn what_a_server_cannot_start_with_is_one_line() {
    let dir = begun();
    dir.ok("election restore --store sqlite:board.db club");
    dir.write("nonsense.pem", "nothing");
    let start = |options: &str| format!("{SERVE} --listen 127.0.0.1:0 {options}");
    for (line, expected) in [
        (SERVE.to_owned() + " --listen 0.0.0.0:0", "0.0.0.0:0 can be reached from other machines: that needs TLS"),
        (start("--metrics 0.0.0.0:0"), "0.0.0.0:0 can be reached from other machines: metrics"),
        (start("--tls-cert missing.pem --tls-key missing.pem"), "missing.pem: "),
        (start("--tls-cert nonsense.pem --tls-key nonsense.pem"), "the server's certificate: no PEM certificate found"),
        (start("--web missing"), "missing has no index.html"),
        (start("--organiser x"), "--organiser: "),
        (start("--audit missing/audit"), "missing/audit: "),
        (start("").replace("club/board.json", "club/organiser.json"), "club/organiser.json: "),
        (start("").replace("club/board.json", "missing"), "missing: "),
        (
            start("").replace("sqlite:board.db", "postgres://me:secret@127.0.0.1:1/db"),
            "the store postgres://127.0.0.1:1/db",
        ),
        ("election restore --store sqlite:board.db club".to_owned(), "the store sqlite:board.db is not empty"),
        ("election backup --store sqlite:missing.db kept".to_owned(), "the store sqlite:missing.db"),
    ] {
        let before: Vec<String> = dir.files();
        let run = dir.run(&line);
        // Log lines are not error messages.
        assert_eq!(run.status, Some(2), "{line}: {}", run.stderr);
        assert!(
            run.stderr.lines().any(|line| line.starts_with(&format!("hearith: {expected}"))),
            "{line}: {}",
            run.stderr
        );
        assert!(!run.stderr.contains("secret@"), "{}", run.stderr);
        let kept = |files: Vec<String>| files.into_iter().filter(|file| !file.contains("board.db")).collect::<Vec<_>>();
        assert_eq!(kept(dir.files()), kept(before), "{line}");
    }
    for store in ["mysql://x", "sqlite:", "sqlite::memory:", "board.db"] {
        let run = dir.run(&start("").replace("sqlite:board.db", store));
        assert_eq!(run.status, Some(2), "{store}");
        assert!(run.stderr.contains("a store must be sqlite:PATH or postgres://"), "{}", run.stderr);
    }
    // The key of another board.
    dir.ok("election init --title Club --contests contests.json --out other");
    let run = dir.run(&start("").replace("club/board.json", "other/board.json"));
    assert!(run.stderr.contains("pass its original key with --board-key"), "{}", run.stderr);
    assert!(fs::metadata(dir.file("board.db")).is_ok());
}
