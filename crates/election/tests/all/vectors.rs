//! The test vectors of other implementations, applied to this one.

use hearith_election::{
    Body, Bytes, Entry, Folder, Hash, Receipt, Signer, State, canonical, shown_tracker, verify, verify_ballots,
    verify_challenges,
};
use hearith_paillier::{Engine, KeyPolicy};
use hearith_threshold::KeyShare;
use serde::Deserialize;
use serde_json::value::RawValue;

const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;

#[derive(Deserialize)]
struct Vectors {
    ballot_of_voter_9: Made,
    board_secret: Bytes,
    heads: Vec<String>,
    id: Hash,
    organiser_secret: Bytes,
    receipt: Receipt,
    record: Vec<String>,
    result: Vec<Vec<u64>>,
    root: Hash,
    shares_of_key: Vec<Box<RawValue>>,
    trackers: Vec<Tracked>,
    trustee_secrets: Vec<Bytes>,
    voters: Vec<Known>,
}

#[derive(Deserialize)]
struct Made {
    body: hearith_election::Ballot,
    challenge: hearith_election::Challenge,
    choices: Vec<Vec<usize>>,
}

#[derive(Deserialize)]
struct Tracked {
    hash: Hash,
    index: usize,
    tracker: String,
}

#[derive(Deserialize)]
struct Known {
    id: String,
    secret: Bytes,
}

/// An election with a single key holder.
#[derive(Deserialize)]
struct Opened {
    heads: Vec<String>,
    record: Vec<String>,
    result: Vec<Vec<u64>>,
}

fn vectors() -> Vectors {
    canonical::parse("test vectors", include_str!("../vectors/election.json")).unwrap()
}

fn folder(record: &[String], heads: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = |lines: &[String]| lines.iter().map(|line| [line, "\n"].concat()).collect::<String>();
    std::fs::create_dir(folder.path().join("board")).unwrap();
    std::fs::write(folder.path().join("board/00000000.jsonl"), text(record)).unwrap();
    std::fs::write(folder.path().join("heads.jsonl"), text(heads)).unwrap();
    folder
}

#[test]
fn the_record_is_good() {
    let vectors = vectors();
    let folder = folder(&vectors.record, &vectors.heads);
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let report = verify(&Folder(folder.path().to_owned()), POLICY, engine, &|_| {}).unwrap();
        assert_eq!(report.result().expect("a good record").contests, vectors.result);
        assert_eq!((report.root, report.state.unwrap().election().id()), (vectors.root, vectors.id));
    }
}

#[test]
fn the_record_of_one_holder_is_good() {
    let vectors: Opened = canonical::parse("test vectors", include_str!("../vectors/one_holder.json")).unwrap();
    let folder = folder(&vectors.record, &vectors.heads);
    let report = verify(&Folder(folder.path().to_owned()), POLICY, Engine::best(), &|_| {}).unwrap();
    assert_eq!(report.result().expect("a good record").contests, vectors.result);
    assert!(vectors.record.iter().any(|line| line.contains("\"kind\":\"opening\"")));
}

/// Elections of earlier versions: one whose dealer chose `v` and whose key has no proof of its
/// factors, and one whose trustees did not sign shares.
#[test]
fn records_of_earlier_versions_are_refused_by_name() {
    #[derive(Deserialize)]
    struct Old {
        heads: Vec<String>,
        record: Vec<String>,
    }
    for (text, lacks) in [
        (include_str!("../vectors/chosen_base.json"), "no proof that it has two prime factors"),
        (include_str!("../vectors/unsigned_shares.json"), "no signing keys"),
    ] {
        let old: Old = canonical::parse("test vectors", text).unwrap();
        let folder = folder(&old.record, &old.heads);
        let report = verify(&Folder(folder.path().to_owned()), POLICY, Engine::best(), &|_| {}).unwrap();
        let failed: Vec<_> = report.checks.iter().filter(|(_, check)| check.wrong > 0).collect();
        assert_eq!((failed.len(), failed[0].0.name()), (1, "election"));
        let fault = failed[0].1.faults[0].to_string();
        assert!(fault.contains(lacks) && fault.contains("set up by an earlier version"), "{fault}");
    }
}

#[test]
fn keys_trackers_and_receipts_belong_to_it() {
    let vectors = vectors();
    let entries: Vec<Entry> = vectors.record.iter().map(|line| Entry::from_line(line).unwrap()).collect();
    let mut state = State::begin(&entries[0].notice, POLICY, Engine::best()).unwrap();
    entries[1..].iter().for_each(|entry| _ = state.admit(&entry.notice).unwrap());
    let election = state.election();
    let public = |secret: &Bytes| Signer::from_secret(&secret.0).unwrap().public();
    assert_eq!(public(&vectors.board_secret), election.manifest().board);
    assert_eq!(public(&vectors.organiser_secret), election.manifest().organiser);
    let signing: Vec<Bytes> = vectors.trustee_secrets.iter().map(public).collect();
    assert_eq!(Some(signing), election.manifest().trustees.as_ref().unwrap().signing);
    for voter in &vectors.voters {
        let key = hearith_election::signature::PublicKey::new("a voter's", &public(&voter.secret)).unwrap();
        assert_eq!(*state.voter(&voter.id).unwrap().key(), key);
    }
    for one in &vectors.trackers {
        let found = entries[one.index].notice.hash();
        assert_eq!((found, shown_tracker(&found)), (one.hash, one.tracker.clone()));
    }
    vectors.receipt.check_signature(election.board()).unwrap();
    let index = vectors.receipt.index as usize;
    assert_eq!(vectors.receipt.hash, hearith_election::leaf_hash(&vectors.record[index]));
    let made = &vectors.ballot_of_voter_9;
    assert!(verify_ballots(election, &[&made.body])[0].is_ok());
    assert!(verify_challenges(election, &[&made.challenge])[0].is_ok());
    assert_eq!(made.challenge.ballot, made.body);
    for ((contest, openings), chosen) in election.contests().iter().zip(&made.challenge.openings).zip(&made.choices) {
        let values: Vec<usize> = openings.iter().map(|one| one.value).collect();
        assert_eq!(contest.chosen(&values), *chosen);
    }
    // Any three of the trustees' shares give the result, including shares that were not used.
    let tally = entries.iter().find_map(|entry| match entry.notice.body() {
        Body::Tally(tally) => Some(tally.clone()),
        _ => None,
    });
    let tally = tally.unwrap();
    let key = |text: &RawValue| KeyShare::from_json(text.get(), POLICY, Engine::best()).unwrap();
    let shares = [1, 3, 4].map(|one: usize| election.share(&key(&vectors.shares_of_key[one]), &tally).unwrap());
    assert_eq!(election.combine(&tally, &shares.iter().collect::<Vec<_>>()).unwrap().contests, vectors.result);
}
