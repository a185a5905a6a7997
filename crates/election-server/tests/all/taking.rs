//! Accepted and refused entries, and what can be read afterwards.

use std::collections::HashSet;
use std::sync::Barrier;

use hearith_election::signature::PublicKey;
use hearith_election::{
    Ballot, Board, Body, Entry, Folder, Lines, Notice, Outcome, Products, Receipt, SignedTreeHead, Source, State,
    read_tracker, shown_tracker, tracker,
};
use hearith_election_server::backup::{self, backup, restore};
use hearith_election_server::store::Store;
use hearith_paillier::Engine;
use serde_json::{Value, json};

use crate::common::{Hall, KEY, POLICY, ask, code, get, text, wide};

#[test]
fn a_ballot_is_acknowledged_and_found() {
    let hall = Hall::open(3, false);
    let (client, ballot) = (hall.client(), hall.cast.ballot(1, 2));
    let receipt = Receipt::from_json(&client.send(&ballot).unwrap()).unwrap();
    let key = PublicKey::new("the board's", &hall.cast.board().public()).unwrap();
    receipt.check_signature(&key).unwrap();
    assert_eq!((receipt.election, receipt.index), (hall.cast.election.id(), 3));

    let shown = shown_tracker(&ballot.hash());
    for written in [
        tracker(&ballot.hash()),
        shown.replace(' ', ""),
        shown.replace(' ', "-").to_uppercase(),
        shown.replace(' ', "%20"),
    ] {
        let found = get(hall.address(), &format!("/api/ballots/{written}"));
        assert_eq!(found.status, 200);
        assert_eq!(found.json()["counts"], true);
        assert_eq!(found.json()["entry"]["index"], 3);
        assert_eq!(found.json()["entry"]["body"]["voter"], "voter 1");
    }
    assert_eq!(get(hall.address(), "/api/ballots/nonsense").status, 400);
    assert_eq!(get(hall.address(), &format!("/api/ballots/{}", "a".repeat(26))).status, 404);
    assert!(read_tracker(&"a".repeat(26)).is_ok());

    let election = get(hall.address(), "/api/election").json();
    assert_eq!(election["phase"], "open");
    assert_eq!((&election["size"], &election["voters"], &election["voted"]), (&json!(4), &json!(3), &json!(1)));
    assert_eq!(election["id"], hall.cast.election.id().to_string());
    assert_eq!(election["manifest"]["title"], "The club's election");
    let voters = get(hall.address(), "/api/voters").json();
    let voted: Vec<bool> = voters["voters"].as_array().unwrap().iter().map(|one| one["voted"] == true).collect();
    assert_eq!((voted, &voters["next"]), (vec![false, true, false], &Value::Null));
    assert_eq!(get(hall.address(), "/api/voters?from=2").json()["voters"][0]["id"], "voter 2");
    assert_eq!(get(hall.address(), "/api/voters?from=x").status, 400);
    assert_eq!(get(hall.address(), "/health").status, 200);
}

#[test]
fn the_record_is_the_board() {
    let mut hall = Hall::open(1200, true);
    let client = hall.client();
    for voter in 0..4 {
        client.send(&hall.cast.ballot(voter, voter % 3)).unwrap();
    }
    client.send(&hall.cast.challenge(0, 1)).unwrap();
    client.send(&hall.cast.ballot(0, 0)).unwrap();
    // The shutdown signs a head for all entries.
    hall.start(|_| ());
    let answer = get(hall.address(), "/record/board/00000000.jsonl");
    let lines = String::from_utf8(answer.body.clone()).unwrap();
    let mut board = Board::default();
    let mut state = None;
    for line in lines.lines() {
        let entry = board.follow(line).unwrap();
        match &mut state {
            None => state = Some(State::begin(&entry.notice, POLICY, Engine::best()).unwrap()),
            Some(state) => _ = state.admit(&entry.notice).unwrap(),
        }
    }
    let state = state.unwrap();
    assert_eq!((state.counted(), state.challenges(), board.size()), ((4, 4), 1, 10));
    let heads = String::from_utf8(get(hall.address(), "/record/heads.jsonl").body).unwrap();
    let heads: Vec<SignedTreeHead> = heads.lines().map(|line| SignedTreeHead::from_line(line).unwrap()).collect();
    let key = PublicKey::new("the board's", &hall.cast.board().public()).unwrap();
    heads.iter().for_each(|head| head.check_signature(&key).unwrap());
    let last = heads.last().unwrap();
    assert_eq!((last.size, last.root), (10, board.root()));
    assert_eq!(get(hall.address(), "/api/election").json()["head"]["size"], 10);

    // Readers with a part request the rest. Readers with everything get nothing.
    let path = "/record/board/00000000.jsonl";
    let rest = ask(hall.address(), "GET", path, "Range: bytes=100-\r\n", b"");
    assert_eq!((rest.status, &rest.body[..]), (206, &answer.body[100..]));
    let tag = answer.header("etag").unwrap();
    assert_eq!(ask(hall.address(), "GET", path, &format!("If-None-Match: {tag}\r\n"), b"").status, 304);
    let beyond = format!("Range: bytes={}-\r\n", answer.body.len());
    assert_eq!(ask(hall.address(), "GET", path, &beyond, b"").status, 416);
    for path in ["00001000.jsonl", "00000001.jsonl", "0.jsonl", "00000000", "x.jsonl", "..%2fheads.jsonl"] {
        assert_eq!(get(hall.address(), &format!("/record/board/{path}")).status, 404, "{path}");
    }
    // A verifier reads the record by URL.
    let report = hearith_election::verify(&hall.client().record().unwrap(), POLICY, Engine::best(), &|_| ()).unwrap();
    assert!(report.is_good(), "{:?}", report.checks);
    assert_eq!((report.size, report.root), (10, board.root()));
}

/// Readers between two ballots find all entries that the heads they saw cover.
#[test]
fn heads_promise_no_more_than_the_board_shows() {
    let hall = Hall::open(30, false);
    for voter in 0..30 {
        hall.client().send(&hall.cast.ballot(voter, 0)).unwrap();
        let (record, mut count) = (hall.client().record().unwrap(), 0);
        let mut lines = Lines::new(&record);
        while lines.next_line().unwrap().is_some() {
            count += 1;
        }
        let heads = std::io::read_to_string(record.open("heads.jsonl").unwrap().unwrap()).unwrap();
        assert_eq!(SignedTreeHead::from_line(heads.lines().last().unwrap()).unwrap().size, count);
    }
}

#[test]
fn what_is_sent_again_gets_its_receipt_again() {
    let hall = Hall::open(2, false);
    let (client, ballot, challenge) = (hall.client(), hall.cast.ballot(0, 0), hall.cast.challenge(1, 0));
    for notice in [&ballot, &challenge] {
        let receipt = client.send(notice).unwrap();
        assert_eq!(client.send(notice).unwrap(), receipt);
    }
    assert_eq!(client.election().unwrap().size, 5);
    let again = ask(hall.address(), "POST", "/api/ballots", "", text(&ballot).as_bytes());
    assert_eq!(again.status, 200, "201 is for what is new");
    client.send(&hall.cast.sign(Body::Close(hall.cast.of()))).unwrap();
    client.send(&ballot).unwrap();
    // A stranger who sends it gets no receipt.
    let forged = Notice::new(ballot.kind(), ballot.text(), hall.cast.ballot(1, 0).signature().clone()).unwrap();
    assert_eq!(code(client.send(&forged)), "phase");
}

#[test]
fn everything_wrong_is_refused_for_its_reason() {
    let hall = Hall::open(8, false);
    let (cast, client) = (&hall.cast, hall.client());
    client.send(&cast.ballot(0, 0)).unwrap();
    let challenged = cast.prepare(1, 1);
    let shown = challenged.ballot().clone();
    client.send(&Notice::signed(Body::Challenge(challenged.into_challenge()), &cast.voters[1].1)).unwrap();

    let refused = |notice: &Notice| code(client.send(notice));
    assert_eq!(refused(&cast.ballot(0, 1)), "voted");
    assert_eq!(refused(&cast.cast(1, shown.clone())), "doubled");
    let copied = hearith_election::Ballot { voter: "voter 2".into(), ..shown };
    assert_eq!(refused(&cast.cast(2, copied)), "doubled");
    // Signed by another voter, and cast for a stranger.
    let ballot = cast.prepare(2, 0).into_ballot();
    assert_eq!(refused(&cast.cast(3, ballot.clone())), "not_signed");
    let stranger = hearith_election::Ballot { voter: "stranger".into(), ..ballot.clone() };
    assert_eq!(refused(&cast.cast(2, stranger)), "not_signed");
    // A proof made for another voter, a changed proof, and a ciphertext that is not valid under
    // this key.
    let other = hearith_election::Ballot { voter: "voter 3".into(), ..ballot.clone() };
    assert_eq!(refused(&cast.cast(3, other)), "unproven");
    let mut changed = ballot.clone();
    changed.contests[0].marks[1].proof.0[40] ^= 1;
    assert_eq!(refused(&cast.cast(2, changed)), "unproven");
    let mut beyond = ballot.clone();
    beyond.contests[0].marks[0].ciphertext.0.fill(0xff);
    assert_eq!(refused(&cast.cast(2, beyond)), "unproven");
    let mut short = ballot.clone();
    short.contests[0].marks.pop();
    assert_eq!(refused(&cast.cast(2, short)), "bad_request");
    let mut elsewhere = ballot.clone();
    elsewhere.election.0[0] ^= 1;
    assert_eq!(refused(&cast.cast(2, elsewhere)), "bad_request");
    // A challenge with a wrong opening.
    let mut challenge = cast.prepare(4, 1).into_challenge();
    challenge.openings[0][0].exponent.0[10] ^= 1;
    assert_eq!(refused(&Notice::signed(Body::Challenge(challenge), &cast.voters[4].1)), "unproven");
    // Entries that are not permitted now, or not from this author.
    assert_eq!(refused(&cast.first()), "phase");
    assert_eq!(refused(&cast.lists()[0]), "phase");
    assert_eq!(refused(&Notice::signed(Body::Close(cast.of()), &cast.voters[0].1)), "not_signed");
    assert_eq!(client.election().unwrap().size, 5, "nothing of it is on the board");
    client.send(&cast.cast(2, ballot)).unwrap();

    client.send(&cast.sign(Body::Close(cast.of()))).unwrap();
    assert_eq!(refused(&cast.ballot(5, 0)), "phase");
    assert_eq!(refused(&cast.challenge(5, 0)), "phase");

    let metrics = hall.metrics();
    assert!(metrics.contains("hearith_election_entries_total{kind=\"ballot\",outcome=\"ok\"} 2"), "{metrics}");
    assert!(metrics.contains("hearith_election_entries_total{kind=\"ballot\",outcome=\"unproven\"} 3"), "{metrics}");
    assert!(metrics.contains("hearith_election_waiting_entries 0"), "{metrics}");
    // The log names what was entered and refused, and who signed it, but nothing about their
    // choices.
    let audit = hall.audit();
    let count = |event: &str| audit.iter().filter(|line| line["event"] == event).count();
    assert_eq!((count("started"), count("entered"), count("refused")), (1, 7, 16));
    let named: HashSet<&str> = audit.iter().filter_map(|line| line["voter"].as_str()).collect();
    assert!(!named.contains("stranger") && named.contains("voter 0"));
    let members: HashSet<&String> = audit.iter().flat_map(|line| line.as_object().unwrap().keys()).collect();
    assert_eq!(members.len(), 6, "{members:?}");
}

#[test]
fn what_is_no_entry_is_refused() {
    let hall = Hall::open(1, false);
    let good = text(&hall.cast.ballot(0, 0));
    let post = |path: &str, body: &str| {
        let answer = ask(hall.address(), "POST", path, "", body.as_bytes());
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}: {}", answer.head);
        (answer.status, answer.json()["error"].as_str().unwrap_or_default().to_owned())
    };
    let bad = (400, "bad_request".to_owned());
    for body in [
        "",
        "{}",
        "null",
        "[]",
        "{\"body\":{},\"signature\":\"\"}",
        &good.replacen("{\"body\"", "{\"extra\":1,\"body\"", 1),
        &good.replacen("\"body\":{", "\"body\":{ ", 1),
        &good.replace("\"kind\":\"ballot\"", "\"kind\":\"open\""),
        &good.replace("\"kind\":\"ballot\"", "\"kind\":\"vote\""),
        &good[..good.len() - 1],
        &good.replacen("\"signature\":\"", "\"signature\":\"=", 1),
    ] {
        assert_eq!(post("/api/ballots", body), bad, "{body}");
    }
    assert_eq!(post("/api/challenges", &good), bad);
    assert_eq!(post("/api/entries", &good), bad, "ballots have an address of their own");
    assert_eq!(post("/api/entries", "{}"), bad);
    let answer = ask(hall.address(), "POST", "/api/ballots", "", b"\xff\xfe");
    assert_eq!(answer.status, 400);
    assert_eq!(post("/api/nothing", "{}"), (404, "not_found".to_owned()));
    assert_eq!(post("/api/election", "{}"), (405, "method".to_owned()));
    assert_eq!(ask(hall.address(), "DELETE", "/record/heads.jsonl", "", b"").status, 405);
    // The kind may be omitted where the path implies it.
    let without = good.replace("\"kind\":\"ballot\",", "");
    assert_ne!(without, good);
    assert_eq!(ask(hall.address(), "POST", "/api/ballots", "", without.as_bytes()).status, 201);
}

#[test]
fn only_the_organiser_begins_an_election() {
    let hall = Hall::empty(2, false, wide());
    let (cast, client) = (&hall.cast, hall.client());
    let election = get(hall.address(), "/api/election").json();
    assert_eq!((&election["phase"], &election["manifest"]), (&json!("empty"), &Value::Null));
    assert_eq!(get(hall.address(), "/record/board/00000000.jsonl").status, 404);
    assert_eq!(code(client.send(&cast.ballot(0, 0))), "phase");
    // By a stranger, with a stranger's signature, and for another board.
    let stranger = hearith_election::Signer::generate().unwrap();
    let theirs = hearith_election::Manifest { organiser: stranger.public(), ..cast.manifest.clone() };
    assert_eq!(code(client.send(&Notice::signed(Body::Election(Box::new(theirs)), &stranger))), "not_signed");
    let forged = Notice::signed(Body::Election(Box::new(cast.manifest.clone())), &stranger);
    assert_eq!(code(client.send(&forged)), "not_signed");
    let elsewhere = hearith_election::Manifest { board: stranger.public(), ..cast.manifest.clone() };
    assert_eq!(code(client.send(&cast.sign(Body::Election(Box::new(elsewhere))))), "bad_request");
    assert_eq!(client.election().unwrap().size, 0);
    hall.begin();
    assert_eq!(client.election().unwrap().phase, "open");
}

/// Two ballots of one voter, sent simultaneously.
#[test]
fn one_credential_counts_once() {
    for revoting in [false, true] {
        const VOTERS: usize = 24;
        let hall = Hall::open(VOTERS, revoting);
        let ballots: Vec<[Notice; 4]> =
            (0..VOTERS).map(|voter| [0, 1, 2, 0].map(|candidate| hall.cast.ballot(voter, candidate))).collect();
        let (client, barrier) = (hall.client(), Barrier::new(VOTERS * 4));
        let taken: Vec<usize> = std::thread::scope(|scope| {
            let sending: Vec<_> = ballots
                .iter()
                .map(|four| {
                    four.each_ref().map(|ballot| {
                        scope.spawn(|| {
                            barrier.wait();
                            client.send(ballot)
                        })
                    })
                })
                .collect();
            let count = |four: [std::thread::ScopedJoinHandle<'_, Result<String, _>>; 4]| {
                let results = four.map(|one| one.join().unwrap());
                let (taken, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
                refused.into_iter().for_each(|one| assert_eq!(code(one), "voted"));
                taken.len()
            };
            sending.into_iter().map(count).collect()
        });
        assert!(taken.iter().all(|&taken| taken == if revoting { 4 } else { 1 }), "{taken:?}");
        let election = client.election().unwrap();
        assert_eq!((election.voted, election.size as usize), (VOTERS as u64, 3 + taken.iter().sum::<usize>()));
        // One of each voter's ballots counts.
        let counts = |ballot: &Notice| {
            let tracker = tracker(&ballot.hash());
            client.tracked(&tracker).is_ok_and(|tracked| tracked.counts)
        };
        for four in &ballots {
            assert_eq!(four.iter().filter(|ballot| counts(ballot)).count(), 1);
        }
    }
}

/// From the first entry to the result, with a single key holder. Invalid entries are refused on the
/// way.
#[test]
fn an_election_comes_to_its_result() {
    let hall = Hall::open(5, true);
    let (cast, client) = (&hall.cast, hall.client());
    for (voter, candidate) in [(0, 0), (1, 1), (2, 1), (3, 2), (0, 1)] {
        client.send(&cast.ballot(voter, candidate)).unwrap();
    }
    let mut products = Products::new(&cast.election);
    client.send(&cast.sign(Body::Close(cast.of()))).unwrap();
    let record = hall.file("record");
    let backup = |hall: &Hall| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = Store::open_existing(&hall.options().store).await.unwrap();
            backup(&store, &record).await.unwrap()
        })
    };
    assert_eq!(backup(&hall), 9);
    let source = Folder(record.clone());
    let mut lines = Lines::new(&source);
    let mut counting = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        if let Body::Ballot(ballot) = Entry::from_line(&line).unwrap().notice.into_body() {
            counting.retain(|other: &Ballot| other.voter != ballot.voter);
            counting.push(ballot);
        }
    }
    let weighed: Vec<(&Ballot, u64)> = counting.iter().map(|ballot| (ballot, 1)).collect();
    products.add(&weighed[..3]).unwrap();
    assert_eq!(code(client.send(&cast.sign(Body::Tally(products.to_tally((4, 4)))))), "unproven", "not all ballots");
    products.add(&weighed[3..]).unwrap();
    assert_eq!(code(client.send(&cast.sign(Body::Tally(products.to_tally((5, 5)))))), "unproven");
    let tally = products.to_tally((4, 4));
    client.send(&cast.sign(Body::Tally(tally.clone()))).unwrap();
    let opening = cast.election.open(&KEY, &tally).unwrap();
    let mut wrong = opening.clone();
    *wrong.contests[0][1].plaintext.0.last_mut().unwrap() ^= 1;
    assert_eq!(code(client.send(&cast.sign(Body::Opening(wrong)))), "unproven");
    let result = cast.election.check_opening(&tally, &opening).unwrap();
    assert_eq!(result.contests, [[0, 3, 1]]);
    assert_ne!(code(client.send(&cast.sign(Body::Result(result.clone())))), "", "not before the tally is opened");
    client.send(&cast.sign(Body::Opening(opening))).unwrap();
    let forged = Outcome { contests: vec![vec![1, 2, 1]], ..result.clone() };
    assert_eq!(code(client.send(&cast.sign(Body::Result(forged)))), "unproven");
    client.send(&cast.sign(Body::Result(result))).unwrap();
    assert_eq!(client.election().unwrap().phase, "finished");
    // The shutdown signs the last head. The backup continues and verifies.
    let mut hall = hall;
    hall.start(|_| ());
    assert_eq!(backup(&hall), 12);
    let report = hearith_election::verify(&Folder(record.clone()), POLICY, Engine::best(), &|_| ()).unwrap();
    assert!(report.is_good() && report.result().is_some(), "{:?}", report.checks);

    restores(&hall, &record);
}

/// A restored backup can be exported again unchanged. A store with a board rejects a backup, and no
/// store accepts an invalid one.
fn restores(hall: &Hall, record: &std::path::Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let open = |name: &str| {
        runtime.block_on(Store::open(&format!("sqlite:{}", hall.file(name).display()).parse().unwrap())).unwrap()
    };
    let put = |store: &Store, record: &std::path::Path| {
        runtime.block_on(restore(store, &Folder(record.to_owned()), POLICY, Engine::best(), &|_| ()))
    };
    let (again, kept) = (hall.file("again"), open("restored.db"));
    assert_eq!(put(&kept, record).unwrap(), 12);
    assert!(matches!(put(&kept, record), Err(backup::Error::NotEmpty(_))));
    assert_eq!(runtime.block_on(backup(&kept, &again)).unwrap(), 12);
    for name in ["board/00000000.jsonl", "heads.jsonl"] {
        assert_eq!(std::fs::read(again.join(name)).unwrap(), std::fs::read(record.join(name)).unwrap());
    }
    assert_eq!(runtime.block_on(kept.turnout()).unwrap(), (5, 4));
    runtime.block_on(kept.close());
    // A record with a changed vote is rejected and leaves the store empty.
    let file = again.join("board/00000000.jsonl");
    let changed = std::fs::read_to_string(&file).unwrap().replacen("voter 2", "voter 4", 1);
    std::fs::write(&file, changed).unwrap();
    let empty = open("empty.db");
    assert!(matches!(put(&empty, &again), Err(backup::Error::Wrong(_))));
    assert_eq!(runtime.block_on(empty.size()).unwrap(), 0);
    assert!(matches!(runtime.block_on(backup(&empty, &again)), Err(backup::Error::Empty(_))));
    // A backup of another board is not continued either.
    let other = Hall::open(2, false);
    let store = runtime.block_on(Store::open_existing(&other.options().store)).unwrap();
    assert!(matches!(runtime.block_on(backup(&store, record)), Err(backup::Error::Other(_))));
    // An existing store is required.
    let missing = "sqlite:/nonexistent/board.db".parse().unwrap();
    assert!(runtime.block_on(Store::open_existing(&missing)).is_err());
}

#[test]
fn a_board_is_kept_by_its_key() {
    let mut hall = Hall::open(1, false);
    hall.client().send(&hall.cast.ballot(0, 0)).unwrap();
    hall.start(|_| ());
    assert_eq!(hall.client().election().unwrap().size, 4);
    assert!(hall.server.take().unwrap().stop());
    let mut options = hall.options();
    options.board = hearith_election::Signer::generate().unwrap();
    let error = hearith_election_server::server::Server::start(options).unwrap_err();
    assert!(error.to_string().contains("has another key"), "{error}");
}
