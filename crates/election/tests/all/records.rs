//! Whole records: a valid one is accepted, and every manipulation is found by the right check.

use crate::common::{
    self, Memory, POLICY, Running, choices, contests, key, opened, opened_result, plain, whole, whole_result,
};
use hearith_election::cluster::{Coordinator, Worker};
use hearith_election::{
    Board, Body, Bytes, DecryptionOpening, ElectionRef, Entry, ErrorKind, FILE_ENTRIES, Folder, HEADS, Kind, Notice,
    Outcome, Phase, Record, Report, Share, SignedTreeHead, Signer, Source, Step, board_file, in_order, verify,
};
use hearith_paillier::{Engine, KeyPolicy};
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

/// One valid election for all tests that manipulate its record.
fn good() -> &'static Running {
    static GOOD: OnceLock<Running> = OnceLock::new();
    GOOD.get_or_init(whole)
}

/// The verifier's report, which must equal that of the distributed verifier.
pub fn report(source: &dyn Source, policy: KeyPolicy) -> Report {
    let report = verify(source, policy, Engine::best(), &|_| {}).unwrap();
    let parts = in_parts(source, policy);
    assert_eq!(parts.to_json(), report.to_json());
    assert_eq!((parts.replaced, &parts.kinds), (report.replaced, &report.kinds));
    report
}

/// The report of a coordinator with one worker per file.
fn in_parts(source: &dyn Source, policy: KeyPolicy) -> Report {
    let read = |name: &str| {
        let mut bytes = Vec::new();
        source.open(name).unwrap().map(|mut file| file.read_to_end(&mut bytes).map(|_| bytes).unwrap())
    };
    let files: Vec<Vec<u8>> = (0..).map_while(|file| read(&board_file(file * FILE_ENTRIES))).collect();
    let (first, heads) = (files.first().map_or(&[][..], |file| file), read(HEADS).unwrap_or_default());
    let mut coordinator = Coordinator::new(first, &heads, policy, Engine::best()).unwrap();
    if let Some(setup) = coordinator.setup() {
        let worker = Worker::new(setup, policy, Engine::best()).unwrap();
        for (file, bytes) in files.iter().enumerate() {
            if !coordinator.take(&worker.outline(bytes), file + 1 == files.len()).unwrap() {
                break;
            }
        }
        for (file, bytes) in files.iter().enumerate() {
            if let Some(task) = coordinator.task(file as u64) {
                coordinator.note(&worker.check(&[(&task, bytes)]).unwrap()).unwrap();
            }
        }
    }
    coordinator.finish().unwrap()
}

#[test]
fn a_part_that_changes_between_its_two_readings_is_refused() {
    let record = good().record();
    let read = |name: &str| {
        let mut bytes = Vec::new();
        record.open(name).unwrap().unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let (file, heads) = (read(&board_file(0)), read(HEADS));
    let mut coordinator = Coordinator::new(&file, &heads, POLICY, Engine::best()).unwrap();
    let worker = Worker::new(coordinator.setup().unwrap(), POLICY, Engine::best()).unwrap();
    assert!(coordinator.take(&worker.outline(&file), true).unwrap());
    let task = coordinator.task(0).unwrap();
    let shorter = file.iter().rposition(|&byte| byte == b'{').unwrap();
    for other in [&file[..shorter], &file[..file.len() - 1], b""] {
        assert!(worker.check(&[(&task, other)]).unwrap_err().to_string().contains("record changed"));
    }
    // Other messages of the wrong form are rejected too.
    assert!(worker.check(&[("{}", &file)]).is_err());
    assert!(coordinator.take("{}", true).is_err() && coordinator.note("[]").is_err());
    assert!(Worker::new("{}", POLICY, Engine::best()).is_err());
    // Without the workers' verdicts there is no product, so the tally is wrong.
    assert!(failures(&coordinator.finish().unwrap()).iter().any(|(step, _)| *step == Step::Tally));
}

/// The steps at which a record fails, each with its first fault.
fn failures(report: &Report) -> Vec<(Step, String)> {
    let failed = report.checks.iter().filter(|(_, check)| check.wrong > 0);
    failed.map(|(step, check)| (*step, check.faults[0].to_string())).collect()
}

/// Fails unless the record fails at this step only, with this text.
fn expect(source: &dyn Source, step: Step, text: &str) {
    let found = failures(&report(source, POLICY));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, step, "{found:?}");
    assert!(found[0].1.contains(text), "{found:?}");
}

/// The index of the first entry of a kind.
fn first(kind: Kind) -> usize {
    good().lines.iter().position(|line| Entry::from_line(line).unwrap().notice.kind() == kind).unwrap()
}

/// The valid record with changed notices, chained and signed again by a colluding board.
fn forged(change: impl FnOnce(&mut Vec<Notice>)) -> Memory {
    forged_of(good(), change)
}

/// A forged record of another election.
fn forged_of(running: &Running, change: impl FnOnce(&mut Vec<Notice>)) -> Memory {
    let mut notices: Vec<Notice> = running.lines.iter().map(|line| Entry::from_line(line).unwrap().notice).collect();
    change(&mut notices);
    let mut board = Board::default();
    let lines: Vec<String> = notices.into_iter().map(|notice| board.append(notice)).collect();
    Memory::new(&lines, &[board.head("2026-11-22T20:30:00Z", &running.cast.board).to_line()])
}

/// A forged record with one body changed and signed again.
fn altered(entry: usize, author: &Signer, change: impl FnOnce(&mut Body)) -> Memory {
    forged(|notices| {
        let mut body = notices[entry].body().clone();
        change(&mut body);
        notices[entry] = match body {
            Body::Share(Share { trustee, .. }) => {
                let own = (trustee as usize).checked_sub(1).and_then(|at| good().cast.trustees.get(at));
                Notice::signed(body, own.unwrap_or(author))
            }
            _ => Notice::signed(body, author),
        };
    })
}

fn organiser() -> &'static Signer {
    &good().cast.organiser
}

#[test]
fn a_good_record_is_verified_and_gives_the_result() {
    let report = report(&good().record(), POLICY);
    assert_eq!(failures(&report), []);
    assert_eq!(report.result().unwrap().contests, whole_result());
    assert_eq!(report.checks[&Step::Ballots].checked, 11);
    assert_eq!(report.checks[&Step::Challenges].checked, 1);
    assert_eq!((report.replaced, report.kinds[&Kind::Share]), (2, 3));
    let state = report.state.unwrap();
    assert_eq!((state.phase(), state.counted(), state.voter_count()), (Phase::Finished, (9, 15), 10));
}

#[test]
fn an_election_of_one_holder_ends_too() {
    for (revoting, voters) in [(false, 4), (true, 1)] {
        let mut running = Running::new(voters, false, revoting, contests());
        for voter in 0..voters {
            let notice = running.cast.ballot(voter, running.make(voter, &choices(voter)));
            running.enter(notice);
        }
        running.tally();
        let opening = running.election.open(&key().private, running.state.tally().unwrap()).unwrap();
        let early = running.cast.sign(Body::Result(Outcome { contests: vec![], election: running.election.id() }));
        assert!(matches!(running.state.check(&early), Err(ErrorKind::Shape { .. })));
        let notice = running.cast.sign(Body::Opening(opening));
        running.enter(notice);
        running.finish();
        let weights = [1, 1, 3, 1];
        let expected = plain(&(0..voters).map(|voter| (voter, weights[voter])).collect::<Vec<_>>());
        let report = report(&running.record(), POLICY);
        assert_eq!(failures(&report), []);
        assert_eq!(report.result().unwrap().contests, expected);
    }
}

#[test]
fn openings_are_those_of_the_tally() {
    let running = opened();
    let good = report(&running.record(), POLICY);
    assert_eq!((failures(&good), good.result().unwrap().contests.clone()), (vec![], opened_result()));
    // The entries are the election, voters, the start of voting, three ballots, its end, the tally,
    // the opening and the result.
    let at = 8;
    let changed = |change: &dyn Fn(&mut DecryptionOpening)| {
        let record = forged_of(&running, |notices| {
            let Body::Opening(mut opening) = notices[at].body().clone() else { panic!("an opening") };
            change(&mut opening);
            notices[at] = running.cast.sign(Body::Opening(opening));
        });
        failures(&report(&record, POLICY))
    };
    let wrong = |change: &dyn Fn(&mut DecryptionOpening), text: &str| {
        let found = changed(change);
        assert_eq!(found[0], (Step::Decryption, format!("entry {at}: {text}")), "{found:?}");
        assert!(found.iter().any(|(step, _)| *step == Step::Result), "{found:?}");
    };
    let not_its_own = "contest 0, mark 0: the opening does not match the ciphertext";
    wrong(&|opening| opening.contests[0].swap(0, 1), not_its_own);
    wrong(&|opening| opening.contests[0][0].opening.0[40] ^= 1, not_its_own);
    wrong(&|opening| opening.contests[0][0].plaintext.0[63] ^= 1, not_its_own);
    wrong(&|opening| opening.contests[0][0].opening.0.fill(0), "contest 0, mark 0: a number is out of range");
    wrong(&|opening| opening.contests[1][0].plaintext.0.fill(255), "contest 1, mark 0: a number is out of range");
    let found = changed(&|opening| _ = opening.contests[0].pop());
    assert!(
        found[0].0 == Step::Rules && found[0].1.contains("one value of the right length for each mark of each contest"),
        "{found:?}"
    );
    let found = failures(&report(&forged_of(&running, |notices| _ = notices.remove(at)), POLICY));
    assert_eq!(found[0].0, Step::Rules, "{found:?}");
    let twice = failures(&report(&forged_of(&running, |notices| notices.insert(at, notices[at].clone())), POLICY));
    assert_eq!(twice[0].0, Step::Rules, "{twice:?}");
}

#[test]
fn nobody_votes() {
    let mut running = Running::usual(1);
    running.tally();
    [1, 2, 3].into_iter().for_each(|trustee| running.share(trustee));
    running.finish();
    let report = report(&running.record(), POLICY);
    assert_eq!(failures(&report), []);
    assert!(report.result().unwrap().contests.iter().flatten().all(|&votes| votes == 0));
}

#[test]
fn a_record_that_is_not_finished_is_good_and_has_no_result() {
    let mut running = Running::usual(2);
    let notice = running.cast.ballot(0, running.make(0, &choices(0)));
    running.enter(notice);
    let report = report(&running.record(), POLICY);
    assert!(report.is_good() && report.result().is_none());
}

#[test]
fn more_entries_than_a_file_has() {
    let mut running =
        Running::new(1, false, true, vec![common::contest("One?", &["yes", "no"], hearith_election::Method::YesNo)]);
    for _ in 0..1010 {
        let notice = running.cast.ballot(0, running.make(0, &[vec![0]]));
        running.enter(notice);
    }
    running.tally();
    let opening = running.election.open(&key().private, running.state.tally().unwrap()).unwrap();
    let notice = running.cast.sign(Body::Opening(opening));
    running.enter(notice);
    running.finish();
    let record = running.record();
    assert_eq!(record.0.len(), 3);
    let found = report(&record, POLICY);
    assert_eq!((failures(&found), found.replaced), (vec![], 1009));
    assert_eq!(found.result().unwrap().contests, [[1, 0]]);
    // A file that ends early, and one that goes on too long.
    let mut short = record.clone();
    let end = short.0["board/00000000.jsonl"].iter().rposition(|&byte| byte == b'{').unwrap();
    short.0.get_mut("board/00000000.jsonl").unwrap().truncate(end);
    assert!(!report(&short, POLICY).is_good());
    let mut long = record.clone();
    let second = long.0.remove("board/00001000.jsonl").unwrap();
    long.0.get_mut("board/00000000.jsonl").unwrap().extend(second);
    assert_eq!(failures(&report(&long, POLICY))[0].0, Step::Chain);
}

#[test]
fn altered_lines_break_the_chain() {
    let record = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = good().lines.clone();
        change(&mut lines);
        let head = good().board.head("2026-11-22T20:30:00Z", &good().cast.board);
        failures(&report(&Memory::new(&lines, &[head.to_line()]), POLICY))
    };
    let chain = |change: &dyn Fn(&mut Vec<String>), text: &str| {
        let found = record(change);
        assert!(found[0].0 == Step::Chain && found[0].1.contains(text), "{found:?}");
    };
    chain(&|lines| _ = lines.remove(5), "entry 5: the line states the index 6");
    chain(&|lines| lines.swap(5, 6), "entry 5: ");
    chain(&|lines| lines[5] = lines[4].replace("\"index\":4", "\"index\":5"), "entry 5: the chain is broken");
    chain(
        &|lines| lines[3] = lines[3].replace("\"index\":3", "\"index\": 3"),
        "entry 3: an entry is not in canonical form",
    );
    chain(&|lines| lines[3] = "{}".into(), "entry 3: an entry is not JSON of the required form");
    // The line after an altered one breaks the chain. If the last line is altered, the head detects
    // it.
    chain(&|lines| lines[4] = lines[4].replace("voter 1", "voter 3"), "entry 5: the chain is broken");
    let last = record(&|lines| _ = lines.pop());
    assert_eq!(last[0].0, Step::Heads);
    // Base64 with nonzero padding bits.
    let at = good().lines[4].find("\"proof\":\"").unwrap() + 9;
    let end = at + good().lines[4][at..].find('"').unwrap() - 1;
    chain(&|lines| lines[4].replace_range(end..end + 1, "_"), "entry 4: ");
}

#[test]
fn heads_are_those_of_this_board() {
    let (lines, board) = (&good().lines, &good().board);
    let head = board.head("2026-11-22T20:30:00Z", &good().cast.board);
    let with = |heads: &[&hearith_election::SignedTreeHead]| {
        Memory::new(lines, &heads.iter().map(|head| head.to_line()).collect::<Vec<_>>())
    };
    let mut early = Board::default();
    lines[..7].iter().for_each(|line| early.push(line));
    let early = early.head("2026-11-22T20:29:00Z", &good().cast.board);
    assert!(report(&with(&[&early, &head]), POLICY).is_good());
    expect(&with(&[&early]), Step::Heads, "entries follow the last head");
    expect(&with(&[]), Step::Heads, "entries follow the last head");
    expect(
        &with(&[&head, &early]),
        Step::Heads,
        "the head of 7 entries is smaller than the head before it or larger than the board",
    );
    let stranger = board.head("2026-11-22T20:30:00Z", &good().cast.organiser);
    expect(&with(&[&stranger]), Step::Heads, "the signature does not hold");
    let mut other = Board::default();
    lines[1..].iter().chain([&lines[0]]).for_each(|line| other.push(line));
    expect(&with(&[&other.head("2026-11-22T20:30:00Z", &good().cast.board)]), Step::Heads, "does not have the root");
    let mut longer = board.clone();
    longer.push("{}");
    expect(
        &with(&[&head, &longer.head("2026-11-22T20:31:00Z", &good().cast.board)]),
        Step::Heads,
        "smaller than the head before it or larger than the board",
    );
    let mut broken = with(&[&head]);
    broken.0.insert("heads.jsonl".into(), b"{}\n".to_vec());
    assert_eq!(failures(&report(&broken, POLICY))[0].0, Step::Heads);
}

#[test]
fn entries_come_from_those_who_may_make_them() {
    let ballot = first(Kind::Ballot);
    let mallory = Signer::generate().unwrap();
    expect(&altered(ballot, &mallory, |_| {}), Step::Signatures, "entry 3: the signature does not hold");
    // Another voter's signature on this ballot.
    expect(&altered(ballot, &good().cast.voters[1].1, |_| {}), Step::Signatures, "entry 3: ");
    for kind in [Kind::Voters, Kind::Open, Kind::Close, Kind::Tally, Kind::Result] {
        let found = failures(&report(&altered(first(kind), &mallory, |_| {}), POLICY));
        assert_eq!(found[0].0, Step::Signatures, "{kind}");
    }
    expect(&altered(0, &mallory, |_| {}), Step::Signatures, "entry 0: ");
    let stranger = forged(|notices| {
        let Body::Ballot(mut ballot) = notices[3].body().clone() else { panic!("a ballot") };
        ballot.voter = "nobody".into();
        notices[3] = Notice::signed(Body::Ballot(ballot), &mallory);
    });
    assert_eq!(failures(&report(&stranger, POLICY))[0], (Step::Rules, "entry 3: not a voter of this election".into()));
}

#[test]
fn entries_come_in_their_order() {
    let rules = |change: &dyn Fn(&mut Vec<Notice>), text: &str| {
        let found = failures(&report(&forged(change), POLICY));
        assert!(found.iter().any(|(step, fault)| *step == Step::Rules && fault.contains(text)), "{found:?}");
    };
    let close = first(Kind::Close);
    rules(&|notices| notices.swap(2, 3), "entry 2: an entry of kind 'ballot' is not allowed now: voting has not begun");
    rules(&|notices| notices.swap(close, close - 1), "an entry of kind 'ballot' is not allowed now: voting has ended");
    rules(&|notices| _ = notices.remove(close), "an entry of kind 'tally' is not allowed now: voting is in progress");
    rules(
        &|notices| notices.push(notices[1].clone()),
        "an entry of kind 'voters' is not allowed now: the election is over",
    );
    rules(
        &|notices| notices.insert(2, notices[1].clone()),
        "entry 2: voter 0 of the entry: a voter with this ID already exists",
    );
    rules(&|notices| notices.insert(1, notices[0].clone()), "entry 1: an entry of kind 'election' is not allowed now");
    let share = first(Kind::Share);
    rules(&|notices| notices.insert(share, notices[share].clone()), "trustee 1 has already given a share");
    rules(&|notices| _ = notices.remove(share), "2 shares, but 3 are needed");
}

#[test]
fn no_ballot_counts_twice() {
    let ballot = first(Kind::Ballot);
    let rules = |change: &dyn Fn(&mut Vec<Notice>), text: &str| {
        let found = failures(&report(&forged(change), POLICY));
        assert!(found.iter().any(|(step, fault)| *step == Step::Rules && fault.contains(text)), "{found:?}");
    };
    let twice = "contest 0, mark 0: the ciphertext is already on the board";
    // An earlier ballot is replayed and would replace the later one.
    rules(&|notices| notices.insert(first(Kind::Close), notices[ballot].clone()), twice);
    // A challenged ballot is cast.
    rules(
        &|notices| {
            let challenge = first(Kind::Challenge);
            let Body::Challenge(shown) = notices[challenge].body().clone() else { panic!("a challenge") };
            let cast = Notice::signed(Body::Ballot(shown.ballot.clone()), &good().cast.voters[5].1);
            notices.insert(challenge + 1, cast);
        },
        twice,
    );
    // Another voter's ciphertexts.
    rules(
        &|notices| {
            let Body::Ballot(mut copy) = notices[ballot].body().clone() else { panic!("a ballot") };
            copy.voter = "voter 9".into();
            notices.insert(ballot + 1, Notice::signed(Body::Ballot(copy), &good().cast.voters[9].1));
        },
        twice,
    );
    // One ciphertext for two marks of a ballot.
    let mut double = good().make(9, &choices(1));
    double.contests[2].marks[1] = double.contests[2].marks[0].clone();
    let notice = good().cast.ballot(9, double);
    rules(
        &|notices| notices.insert(ballot, notice.clone()),
        "contest 2, mark 1: the ciphertext is already on the board",
    );
    // A second ballot where the first one is final.
    let mut once = Running::new(1, true, false, contests());
    let notice = once.cast.ballot(0, once.make(0, &choices(0)));
    once.enter(notice);
    let second = once.cast.ballot(0, once.make(0, &choices(1)));
    assert!(matches!(once.state.admit(&second), Err(ErrorKind::VotedAlready)));
}

#[test]
fn entries_of_another_election_are_none_of_this() {
    let mut id = good().election.id();
    id.0[0] ^= 1;
    for kind in
        [Kind::Voters, Kind::Open, Kind::Ballot, Kind::Challenge, Kind::Close, Kind::Tally, Kind::Share, Kind::Result]
    {
        let (entry, author) = (first(kind), if kind == Kind::Ballot { &good().cast.voters[0].1 } else { organiser() });
        let record = altered(entry, author, |body| match body {
            Body::Voters(body) => body.election = id,
            Body::Open(body) | Body::Close(body) => body.election = id,
            Body::Ballot(body) => body.election = id,
            Body::Challenge(body) => body.election = id,
            Body::Tally(body) => body.election = id,
            Body::Share(body) => body.election = id,
            Body::Result(body) => body.election = id,
            _ => {}
        });
        let found = failures(&report(&record, POLICY));
        let text = format!("entry {entry}: belongs to another election");
        assert!(found.contains(&(Step::Rules, text)), "{kind}: {found:?}");
    }
}

#[test]
fn proofs_of_ballots_are_checked() {
    let ballot = first(Kind::Ballot);
    let voter = &good().cast.voters[0].1;
    let record = altered(ballot, voter, |body| {
        let Body::Ballot(ballot) = body else { panic!("a ballot") };
        ballot.contests[0].marks[1].proof.0[150] ^= 1;
    });
    expect(&record, Step::Ballots, "entry 3: contest 0, mark 1: the proof does not hold");
    let record = altered(ballot, voter, |body| {
        let Body::Ballot(ballot) = body else { panic!("a ballot") };
        ballot.contests[0].marks[1].ciphertext.0.fill(255);
    });
    let found = failures(&report(&record, POLICY));
    assert_eq!(found[0], (Step::Ballots, "entry 3: contest 0, mark 1: a number is out of range".into()));
    let record = altered(first(Kind::Challenge), &good().cast.voters[5].1, |body| {
        let Body::Challenge(challenge) = body else { panic!("a challenge") };
        challenge.openings[4][0].value ^= 1;
    });
    let text =
        format!("entry {}: contest 4, mark 0: the opening does not match the ciphertext", first(Kind::Challenge));
    expect(&record, Step::Challenges, &text);
}

#[test]
fn tallies_are_of_the_ballots_on_the_board() {
    let tally = first(Kind::Tally);
    let key = good().election.key();
    let one = key.encrypt(&hearith_paillier::encoding::encode_signed(key, &[1]).unwrap()).unwrap();
    let record = altered(tally, organiser(), |body| {
        let Body::Tally(tally) = body else { panic!("a tally") };
        let number = key.ciphertexts_from_be(&tally.contests[1][0].0).unwrap();
        tally.contests[1][0] = Bytes(key.add(&number, &one).unwrap().to_be_bytes());
    });
    let found = failures(&report(&record, POLICY));
    let text = format!("entry {tally}: contest 1, mark 0: not the product of the ballots on the board");
    assert!(found.contains(&(Step::Tally, text)), "{found:?}");
    for change in [
        |tally: &mut hearith_election::Tally| tally.counted += 1,
        |tally: &mut hearith_election::Tally| tally.weight -= 1,
    ] {
        let record = altered(tally, organiser(), |body| {
            let Body::Tally(tally) = body else { panic!("a tally") };
            change(tally);
        });
        let found = failures(&report(&record, POLICY));
        assert!(found[0].1.contains("the board has 9 ballots that count, of total weight 15"), "{found:?}");
    }
    // A ballot is missing from the board, which signs it that way.
    let record = forged(|notices| _ = notices.remove(first(Kind::Ballot) + 1));
    assert!(!report(&record, POLICY).is_good());
}

#[test]
fn shares_and_results_are_checked() {
    let (share, result) = (first(Kind::Share), first(Kind::Result));
    let record = altered(share, organiser(), |body| {
        let Body::Share(share) = body else { panic!("a share") };
        share.shares.0[200] ^= 1;
    });
    let found = failures(&report(&record, POLICY));
    assert!(
        found.contains(&(Step::Decryption, format!("entry {share}: contest 0, mark 0: the proof does not hold"))),
        "{found:?}"
    );
    assert_eq!(found[1].0, Step::Result);
    let other = altered(share, organiser(), |body| {
        let Body::Share(share) = body else { panic!("a share") };
        share.trustee = 2;
    });
    assert_eq!(failures(&report(&other, POLICY))[0].0, Step::Decryption);
    for (trustee, text) in [
        (0, "there is no trustee with this number: the key has 5 trustees"),
        (6, "no trustee with this number"),
        (3, "trustee 3 has already given"),
    ] {
        let record = altered(share, organiser(), |body| {
            let Body::Share(share) = body else { panic!("a share") };
            share.trustee = trustee;
        });
        let found = failures(&report(&record, POLICY));
        assert!(found[0].0 == Step::Rules && found[0].1.contains(text), "{found:?}");
    }
    let record = altered(result, organiser(), |body| {
        let Body::Result(result) = body else { panic!("a result") };
        result.contests[3][0] += 1;
        result.contests[3][1] -= 1;
    });
    expect(&record, Step::Result, &format!("entry {result}: contest 3: not what the tally decrypts to"));
}

#[test]
fn manifests_that_cannot_be_are_refused() {
    let wrong = |change: &dyn Fn(&mut hearith_election::Manifest), step: Step, text: &str| {
        let mut manifest = good().cast.manifest(true, true, contests());
        change(&mut manifest);
        let notice = Notice::signed(Body::Election(Box::new(manifest)), organiser());
        let mut board = Board::default();
        let line = board.append(notice);
        let record = Memory::new(&[line], &[]);
        let found = failures(&report(&record, POLICY));
        assert!(found.iter().any(|(at, fault)| *at == step && fault.contains(text)), "{found:?}");
    };
    let at = Step::Election;
    wrong(&|manifest| manifest.title.clear(), at, "a name is empty");
    wrong(&|manifest| manifest.contests.clear(), at, "1 to 64 contests");
    wrong(
        &|manifest| manifest.contests[3].candidates = (0..11).map(|one| one.to_string()).collect(),
        at,
        "the key is too short",
    );
    wrong(&|manifest| manifest.board = manifest.organiser.clone(), at, "the organiser and the board have the same key");
    wrong(&|manifest| manifest.board.0.fill(0), at, "the board's key is not an Ed25519 public key");
    wrong(&|manifest| _ = manifest.key.roots.pop(), at, "the key does not have 11 roots");
    wrong(&|manifest| manifest.key.roots.swap(0, 1), at, "the proof does not hold");
    let roots = |manifest: &mut hearith_election::Manifest| manifest.key.blum.take().unwrap();
    wrong(&|manifest| _ = roots(manifest), at, "set up by an earlier version");
    wrong(&|manifest| manifest.key.blum = Some(roots(manifest)[1..].to_vec()), at, "does not have 128 square roots");
    wrong(
        &|manifest| manifest.key.blum = Some(roots(manifest).into_iter().rev().collect()),
        at,
        "the proof does not hold",
    );
    wrong(&|manifest| manifest.key.modulus.0.insert(0, 0), at, "has the wrong length");
    // 256 is 1 modulo 3, so a number has the same remainder modulo 3 as the sum of its bytes. This
    // makes it divisible by 3.
    let divisible_by_3 = |bytes: &mut [u8]| {
        let rest = bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>() % 3;
        *bytes[1..63].iter_mut().find(|byte| **byte >= 2).unwrap() -= rest as u8;
    };
    wrong(&|manifest| divisible_by_3(&mut manifest.key.modulus.0), at, "divisible by 3");
    wrong(&|manifest| manifest.trustees.as_mut().unwrap().needed = 6, at, "a key can be shared by");
    wrong(&|manifest| manifest.trustees.as_mut().unwrap().keys.clear(), at, "a key can be shared by");
    wrong(&|manifest| manifest.trustees.as_mut().unwrap().base.0.fill(0), at, "is not a unit modulo n^2");
}

#[test]
fn weak_keys_are_refused_unless_they_are_asked_for() {
    let report = verify(&good().record(), KeyPolicy::Secure, Engine::best(), &|_| {}).unwrap();
    assert_eq!(failures(&report)[0].0, Step::Election);
}

#[test]
fn records_in_folders_survive_a_crash_and_take_one_writer() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("record");
    let notices: Vec<Notice> = good().lines.iter().map(|line| Entry::from_line(line).unwrap().notice).collect();
    let mut record = Record::create(&folder, notices[0].clone(), POLICY, Engine::best()).unwrap();
    for notice in &notices[1..6] {
        record.append(notice.clone()).unwrap();
    }
    assert!(Record::open(&folder, POLICY, Engine::best()).unwrap_err().to_string().contains("another program"));
    drop(record);
    assert!(Record::create(&folder, notices[0].clone(), POLICY, Engine::best()).is_err());
    // A crash in the middle of a line.
    let path = folder.join("board/00000000.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, [&text, &good().lines[6][..40]].concat()).unwrap();
    let mut record = Record::open(&folder, POLICY, Engine::best()).unwrap();
    assert_eq!(record.board().size(), 6);
    for notice in &notices[6..] {
        record.append(notice.clone()).unwrap();
    }
    let again = record.append(Notice::signed(Body::Open(ElectionRef { election: good().election.id() }), organiser()));
    assert!(matches!(again.unwrap_err().kind(), ErrorKind::OutOfOrder { .. }));
    record.append_head(&good().board.head("2026-11-22T20:30:00Z", &good().cast.board)).unwrap();
    assert_eq!(failures(&report(&Folder(folder.clone()), POLICY)), []);
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        good().lines.iter().map(|line| [line, "\n"].concat()).collect::<String>()
    );
    let empty = tempfile::tempdir().unwrap();
    assert!(failures(&report(&Folder(empty.path().to_owned()), POLICY))[0].1.contains("there is no record here"));
}

/// Writes heads from a clock that was set forward and back, and returns their number.
fn heads_of_a_bad_clock(folder: &Path) -> usize {
    let heads = [(2, "2026-11-22T20:10:00Z"), (4, "2099-01-01T00:00:00Z"), (5, "2026-11-22T20:12:00Z")];
    let lines = heads.map(|(size, time)| {
        let mut board = Board::default();
        good().lines[..size].iter().for_each(|line| board.push(line));
        board.head(time, &good().cast.board).to_line() + "\n"
    });
    std::fs::write(folder.join("heads.jsonl"), lines.concat()).unwrap();
    heads.len()
}

fn record_of_five(folder: &Path) -> Record {
    let notices: Vec<Notice> = good().lines[..5].iter().map(|line| Entry::from_line(line).unwrap().notice).collect();
    let mut record = Record::create(folder, notices[0].clone(), POLICY, Engine::best()).unwrap();
    notices[1..].iter().for_each(|notice| _ = record.append(notice.clone()).unwrap());
    record
}

#[test]
fn a_clock_that_is_set_back_leaves_a_record_that_verifies() {
    let directory = tempfile::tempdir().unwrap();
    let mut record = record_of_five(directory.path());
    let ahead = record.board().head("2099-01-01T00:00:00Z", &good().cast.board);
    record.append_head(&ahead).unwrap();
    record.append(Entry::from_line(&good().lines[5]).unwrap().notice).unwrap();
    record.sign_head(&good().cast.board).unwrap();
    let heads = std::fs::read_to_string(directory.path().join("heads.jsonl")).unwrap();
    let last = SignedTreeHead::from_line(heads.lines().last().unwrap()).unwrap();
    assert_eq!((last.size, last.time.as_str()), (6, "2099-01-01T00:00:00Z"));
    assert_eq!(failures(&report(&record.source(), POLICY)), []);
}

#[test]
fn heads_that_go_back_are_repaired_with_the_boards_key_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut record = record_of_five(directory.path());
    let count = heads_of_a_bad_clock(directory.path());
    assert!(!failures(&report(&record.source(), POLICY)).is_empty());
    assert!(record.repair_heads(&good().cast.organiser).is_err());
    assert_eq!(record.repair_heads(&good().cast.board).unwrap(), 1);
    assert_eq!(failures(&report(&record.source(), POLICY)), []);
    let text = std::fs::read_to_string(directory.path().join("heads.jsonl")).unwrap();
    assert_eq!(text.lines().count(), count - 1);
    assert!(!text.contains("2099"));
    // Heads in another order are sorted.
    let reversed: Vec<&str> = text.split_inclusive('\n').rev().collect();
    std::fs::write(directory.path().join("heads.jsonl"), reversed.concat()).unwrap();
    assert_eq!(record.repair_heads(&good().cast.board).unwrap(), 0);
    assert_eq!(std::fs::read_to_string(directory.path().join("heads.jsonl")).unwrap(), text);
    // Valid heads stay unchanged. If the last one is missing, a new one is signed.
    assert_eq!(record.repair_heads(&good().cast.board).unwrap(), 0);
    assert_eq!(std::fs::read_to_string(directory.path().join("heads.jsonl")).unwrap(), text);
    std::fs::remove_file(directory.path().join("heads.jsonl")).unwrap();
    assert_eq!(record.repair_heads(&good().cast.board).unwrap(), 0);
    assert_eq!(failures(&report(&record.source(), POLICY)), []);
}

#[test]
fn as_many_heads_are_kept_as_can_be() {
    let key = Signer::generate().unwrap();
    let head = |(size, second): (u64, u32)| SignedTreeHead {
        size,
        time: format!("2026-11-22T20:15:{second:02}Z"),
        ..Board::default().head("2026-11-22T20:15:00Z", &key)
    };
    // Every order of five times with duplicates, compared with all subsequences.
    for code in 0..4_u32.pow(5) {
        let seconds: Vec<u32> = (0..5).map(|digit| code / 4_u32.pow(digit) % 4).collect();
        let heads: Vec<SignedTreeHead> = (1..).zip(&seconds).map(|(size, &second)| head((size, second))).collect();
        let kept = in_order(&heads);
        assert!(kept.windows(2).all(|two| two[0].time <= two[1].time && two[0].size < two[1].size));
        let longest = (0_u32..32)
            .filter(|part| {
                let chosen: Vec<u32> = (0..5).filter(|at| part >> at & 1 == 1).map(|at| seconds[at as usize]).collect();
                chosen.is_sorted()
            })
            .map(u32::count_ones)
            .max();
        assert_eq!(Some(kept.len() as u32), longest, "{seconds:?}");
    }
}
