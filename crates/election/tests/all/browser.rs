//! A record made by another implementation, that of the web pages in TypeScript, for the election
//! of the test vectors.

use hearith_election::{Entry, Folder, canonical, verify};
use hearith_paillier::{Engine, KeyPolicy};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Vectors {
    heads: Vec<String>,
    record: Vec<String>,
    result: Vec<Vec<u64>>,
}

#[derive(Deserialize)]
struct Own {
    record: Vec<String>,
}

fn vectors() -> Vectors {
    canonical::parse("test vectors", include_str!("../vectors/browser.json")).unwrap()
}

fn write(folder: &Path, Vectors { heads, record, .. }: &Vectors) {
    let text = |lines: &[String]| lines.iter().map(|line| [line, "\n"].concat()).collect::<String>();
    std::fs::create_dir(folder.join("board")).unwrap();
    std::fs::write(folder.join("board/00000000.jsonl"), text(record)).unwrap();
    std::fs::write(folder.join("heads.jsonl"), text(heads)).unwrap();
}

fn verdict(vectors: &Vectors) -> (bool, Option<Vec<Vec<u64>>>) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), vectors);
    let folder = Folder(folder.path().to_owned());
    let report = verify(&folder, KeyPolicy::AllowInsecure, Engine::best(), &|_| {}).unwrap();
    (report.is_good(), report.result().map(|result| result.contests.clone()))
}

#[test]
fn a_record_of_the_pages_is_good() {
    let vectors = vectors();
    assert_eq!(verdict(&vectors), (true, Some(vectors.result.clone())));
    let kinds: Vec<&str> =
        vectors.record.iter().map(|line| Entry::from_line(line).unwrap().notice.kind().name()).collect();
    for kind in ["ballot", "challenge", "share", "result"] {
        assert!(kinds.contains(&kind), "no {kind} among {kinds:?}");
    }
}

#[test]
fn it_is_bad_with_another_ballot_in_it() {
    let mut vectors = vectors();
    let line = vectors.record.iter().position(|line| line.contains("\"kind\":\"ballot\"")).unwrap();
    vectors.record[line] = vectors.record[line].replacen("\"voter\":\"voter 0\"", "\"voter\":\"voter 2\"", 1);
    assert!(!verdict(&vectors).0);
}

#[test]
fn it_begins_as_the_crates_own() {
    let own: Own = canonical::parse("test vectors", include_str!("../vectors/election.json")).unwrap();
    let same = own.record.iter().zip(&vectors().record).take_while(|(a, b)| a == b).count();
    assert_eq!(same, 3, "election, voters and opening are the same, ballots are others");
}
