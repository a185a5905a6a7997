//! Trustees generate keys together in one process. Honest trustees get a key that decrypts. If one
//! deviates, all others name it, and nobody gets a key.

use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::distributed::{
    Failure, Finished, Identity, KeyProofs, Parameters, Reason, Step, Trustee, is_threshold, session_id,
};
use hearith_threshold::{Contexts, ErrorKind, KeyShare, Origin, Shares, VerificationKeys, deal};
use rug::{Integer, integer::IsPrime, integer::Order};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::ops::Range;

// Offsets of the parts of a message (crates/threshold/src/distributed/README.md).
const KIND: usize = 5;
const STAGE: usize = 6;
const VIEW: Range<usize> = 45..77;
const BROADCAST: usize = 85;
const SIGNATURE: usize = 64;
const HASH: usize = 32;

// Kinds of messages.
const BLAME: u8 = 1;
const FAREWELL: u8 = 2;

// The stages used in tests.
const HELLO: u8 = 0;
const SEEDS: u8 = 1;
const COIN: u8 = 2;
const SHARES: u8 = 3;
const PRODUCT_COMMITMENTS: u8 = 4;
const PRODUCTS: u8 = 5;
const ANSWER_COMMITMENTS: u8 = 6;
const ANSWERS: u8 = 7;
const OPENING: u8 = 9;
const TEST_COMMITMENTS: u8 = 11;
const TESTS: u8 = 12;
const BLINDING: u8 = 13;
const RESULT_COMMITMENTS: u8 = 14;
const RESULTS: u8 = 15;
const VERIFICATION: u8 = 16;
const DONE: u8 = 18;

pub(super) fn derive(label: &str, parts: &[&[u8]]) -> [u8; HASH] {
    let label = format!("hearith-distributed 1 {label}");
    let parts = std::iter::once(label.as_bytes()).chain(parts.iter().copied());
    let update = |hash: Sha256, part: &[u8]| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part);
    parts.fold(Sha256::new(), update).finalize().into()
}

/// The broadcast and private parts of a message.
fn body(message: &[u8]) -> Range<usize> {
    BROADCAST..message.len() - SIGNATURE
}

/// A run's parameters and the seeds of its trustees.
#[derive(Clone)]
struct Run {
    parameters: Parameters,
    seed: u8,
}

/// A message in transit, which a test may change.
struct Passing<'a> {
    stage: u8,
    round: u32,
    from: u32,
    to: u32,
    message: &'a mut Option<Vec<u8>>,
}

impl Passing<'_> {
    /// Signs a changed message.
    fn sign(&mut self, run: &Run) {
        let Some(message) = self.message.as_mut() else { return };
        let signed = message.len() - SIGNATURE;
        let signature = run.identity(self.from).sign(&derive("message", &[&message[..signed]]));
        message[signed..].copy_from_slice(&signature);
    }

    /// Changes a byte of the body and signs the message again.
    fn change(&mut self, run: &Run, at: usize) {
        if let Some(message) = self.message.as_mut() {
            let at = body(message).start + at;
            message[at] ^= 1;
        }
        self.sign(run);
    }
}

impl Passing<'_> {
    fn kind(&self) -> u8 {
        self.message.as_ref().map_or(0, |message| message[KIND])
    }

    /// Replaces this message by a broadcast of another kind.
    fn replace_with(&mut self, run: &Run, kind: u8, content: &[u8]) {
        if let Some(message) = self.message.as_mut() {
            message.truncate(BROADCAST);
            (message[KIND], message[STAGE]) = (kind, 0);
            message[77..81].copy_from_slice(&(content.len() as u32).to_be_bytes());
            message[81..85].fill(0);
            message.extend_from_slice(content);
            message.extend_from_slice(&[0; SIGNATURE]);
        }
        self.sign(run);
    }
}

enum Outcome {
    Finished(Box<Finished>),
    Failed(Failure),
}

impl Run {
    fn new(bits: u32, needed: u32, trustees: u32, variant: Variant, seed: u8) -> Self {
        let engine = Engine::best();
        let parameters = Parameters::new(bits, needed, trustees, variant, KeyPolicy::AllowInsecure, engine).unwrap();
        Run { parameters, seed }
    }

    fn identity(&self, trustee: u32) -> Identity {
        Identity::from_seed(&derive("test identity", &[&[self.seed, trustee as u8]]))
    }

    fn seed(&self, number: u32) -> [u8; HASH] {
        derive("test seed", &[&[self.seed, number as u8]])
    }

    fn trustee(&self, number: u32) -> Trustee {
        let trustees = self.parameters.trustees();
        let keys: Vec<[u8; 32]> = (1..=trustees).map(|one| self.identity(one).public()).collect();
        let nonces: Vec<[u8; 32]> = (1..=trustees).map(|one| [one as u8; 32]).collect();
        let session = session_id(&self.parameters, &keys, &nonces);
        let (seed, identity) = (self.seed(number), self.identity(number));
        Trustee::with_seed(self.parameters.clone(), number, identity, &keys, session, &seed).unwrap()
    }

    /// The outcome for each trustee if messages are changed in transit.
    fn with(&self, mut change: impl FnMut(Passing<'_>)) -> Vec<Outcome> {
        let trustees = self.parameters.trustees();
        let mut running: Vec<Trustee> = (1..=trustees).map(|number| self.trustee(number)).collect();
        let mut outcomes: Vec<Option<Outcome>> = (1..=trustees).map(|_| None).collect();
        let mut sent: Vec<Vec<Vec<u8>>> = running.iter_mut().map(Trustee::start).collect();
        for round in 0.. {
            let mut next = Vec::new();
            for (to, trustee) in running.iter_mut().enumerate() {
                let mut received = Vec::new();
                for (from, messages) in sent.iter().enumerate() {
                    let mut message = messages.get(to).filter(|message| !message.is_empty()).cloned();
                    if let Some(stage) = message.as_ref().map(|message| message[STAGE]) {
                        let (from, to) = (from as u32 + 1, to as u32 + 1);
                        change(Passing { stage, round, from, to, message: &mut message });
                    }
                    received.push(message);
                }
                next.push(match outcomes[to] {
                    Some(_) => Vec::new(),
                    None => match trustee.step(&received) {
                        Step::Send(messages) => messages,
                        Step::Finished(finished) => {
                            outcomes[to] = Some(Outcome::Finished(finished));
                            Vec::new()
                        }
                        Step::Failed { failure, farewell } => {
                            outcomes[to] = Some(Outcome::Failed(failure));
                            farewell
                        }
                    },
                });
            }
            if outcomes.iter().all(Option::is_some) {
                return outcomes.into_iter().flatten().collect();
            }
            sent = next;
            assert!(round < 5000, "no end");
        }
        unreachable!("rounds have no end")
    }

    fn finished(&self) -> Vec<Finished> {
        let finished = |outcome| match outcome {
            Outcome::Finished(finished) => *finished,
            Outcome::Failed(failure) => panic!("{failure}"),
        };
        self.with(|_| ()).into_iter().map(finished).collect()
    }

    /// Every message of an honest run, by round, sender and receiver.
    fn record(&self) -> Record {
        let mut messages = Vec::new();
        self.with(|passing| {
            let bytes = passing.message.clone().unwrap();
            messages.push((passing.round, passing.from, passing.to, bytes));
        });
        Record(messages)
    }
}

struct Record(Vec<(u32, u32, u32, Vec<u8>)>);

impl Record {
    /// The last round of a stage.
    fn last(&self, stage: u8) -> u32 {
        self.0.iter().filter(|(.., bytes)| bytes[STAGE] == stage).map(|(round, ..)| *round).max().unwrap()
    }

    fn message(&self, round: u32, from: u32, to: u32) -> &[u8] {
        &self.0.iter().find(|one| (one.0, one.1, one.2) == (round, from, to)).unwrap().3
    }
}

/// Checks that all other trustees name `cheat` for deviating, and that nobody has a key.
fn deviated(outcomes: &[Outcome], cheat: u32, what: &str) {
    for (number, outcome) in (1..).zip(outcomes) {
        let Outcome::Failed(failure) = outcome else { panic!("{what}: trustee {number} has a key") };
        if number != cheat {
            assert_eq!(failure.trustees, [cheat], "{what}: trustee {number}: {failure}");
            assert!(matches!(failure.reason, Reason::Deviated { .. }), "{what}: trustee {number}: {failure}");
        }
    }
}

/// All subsets of this size of the numbers from 1.
fn choices(needed: u32, trustees: u32) -> Vec<Vec<u32>> {
    let of = |set: u32| (1..=trustees).filter(|i| set >> (i - 1) & 1 == 1).collect::<Vec<u32>>();
    (0..1 << trustees).map(of).filter(|set| set.len() == needed as usize).collect()
}

#[test]
fn every_choice_of_trustees_decrypts() {
    let engine = Engine::best();
    for (bits, needed, trustees, variant) in [
        (256, 2, 3, Variant::Djn),
        (128, 3, 5, Variant::Standard),
        (130, 2, 4, Variant::Standard),
        (192, 4, 7, Variant::Djn),
    ] {
        let finished = Run::new(bits, needed, trustees, variant, 1).finished();
        let verification = &finished[0].verification;
        let key = verification.key();
        assert_eq!((key.bits(), key.variant(), verification.origin()), (bits, variant, Origin::Distributed));
        let n = Integer::from_digits(&key.modulus_be(), Order::Msf);
        assert_eq!(n.is_probably_prime(20), IsPrime::No);
        assert!(
            finished.iter().all(|one| one.verification == *verification && one.transcript == finished[0].transcript)
        );

        // Proofs like those that a key's owner makes.
        assert!(finished.iter().all(|one| one.proofs == finished[0].proofs));
        assert_eq!(finished[0].proofs.is_some(), variant == Variant::Djn);
        if let Some(KeyProofs { roots, square_roots }) = &finished[0].proofs {
            hearith_proofs::roots::verify(key, roots).unwrap();
            hearith_proofs::blum::verify(key, square_roots).unwrap();
        }

        // Files are read back, and the result decrypts.
        let read = VerificationKeys::from_json(&verification.to_json(), KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!(&read, verification);
        let numbers = [0, 1, -1, 5650, i128::from(i32::MIN)];
        let ciphertexts = key.encrypt(&encode_signed(key, &numbers).unwrap()).unwrap();
        let contexts = Contexts::new(b"shared", (0..numbers.len()).map(|row| vec![row as u8]));
        let shares: Vec<Shares> = finished
            .iter()
            .map(|one| KeyShare::from_json(&one.share.to_json(), KeyPolicy::AllowInsecure, engine).unwrap())
            .map(|share| share.decrypt(&contexts, &ciphertexts).unwrap())
            .collect();
        for shares in &shares {
            let bytes = shares.to_be_bytes();
            assert_eq!(bytes.len(), numbers.len() * verification.share_bytes());
            assert_eq!(&read.shares_from_be_bytes(shares.trustee(), &bytes).unwrap(), shares);
            read.verify(&contexts, &ciphertexts, shares).unwrap();
        }
        for set in choices(needed, trustees) {
            let chosen: Vec<&Shares> = set.iter().map(|&number| &shares[number as usize - 1]).collect();
            let combined = read.combine(&contexts, &ciphertexts, &chosen).unwrap();
            assert!(combined.wrong.is_empty());
            let decoded = decode_signed(key, &combined.plaintexts).unwrap();
            assert_eq!(decoded.iter().map(|one| one.to_i128().unwrap()).collect::<Vec<_>>(), numbers, "{set:?}");
        }
    }
}

/// The factors, computed from all shares: `p` and `q` are primes of half the bits, 3 modulo 4, and
/// `p - 1` and `q - 1` have no small prime factor except 2.
#[test]
fn the_primes_are_what_they_should_be() {
    for seed in 0..6 {
        let run = Run::new(128, 2, 3, Variant::Standard, seed);
        let finished = run.finished();
        let key = finished[0].verification.key();
        let n = Integer::from_digits(&key.modulus_be(), Order::Msf);
        let [p, q] = factors(&run, &n);
        assert_eq!(Integer::from(&p * &q), n);
        assert_eq!(n.significant_bits(), 128);
        for prime in [p, q] {
            assert!(prime.is_probably_prime(30) != IsPrime::No && prime.significant_bits() == 64);
            assert_eq!(prime.mod_u(4), 3);
            assert!([3, 5, 7, 11, 13].iter().all(|&small| prime.mod_u(small) > 1));
        }
    }
}

/// The factors of a run's modulus. The shares of two trustees give a multiple of the group's order,
/// which yields the factors.
fn factors(run: &Run, n: &Integer) -> [Integer; 2] {
    let shares: Vec<Integer> = run.finished().iter().map(|one| secret(&one.share)).collect();
    // f(0) = 2 f(1) - f(2) is a multiple of the order of all units, up to a factor of 2. Miller's
    // algorithm finds the factors.
    let multiple = (Integer::from(&shares[0] * 2u32) - &shares[1]).abs() * 2u32;
    let twos = multiple.find_one(0).unwrap();
    let odd = multiple >> twos;
    for base in 2u32.. {
        let mut power = Integer::from(base).pow_mod(&odd, n).unwrap();
        for _ in 0..twos {
            let square = power.clone().square() % n;
            if square == 1 && power != 1 && power != n.clone() - 1u32 {
                let p = Integer::from(&power - 1u32).gcd(n);
                return [n.clone() / &p, p];
            }
            power = square;
        }
    }
    unreachable!("some base finds the factors")
}

#[test]
fn thresholds_need_an_honest_majority() {
    let good: Vec<(u32, u32)> =
        (0..12).flat_map(|l| (0..12).map(move |w| (w, l))).filter(|&(w, l)| is_threshold(w, l)).collect();
    assert!(good.contains(&(2, 3)) && good.contains(&(3, 5)) && good.contains(&(5, 9)) && good.contains(&(2, 9)));
    assert!(good.iter().all(|&(w, l)| w >= 2 && l >= 2 * w - 1 && l <= 9));
    let parameters = |bits, w, l| Parameters::new(bits, w, l, Variant::Standard, KeyPolicy::Secure, Engine::Serial);
    assert!(parameters(2048, 2, 3).is_ok());
    for (bits, w, l) in [(2048, 3, 4), (2048, 1, 3), (2046, 2, 3), (2049, 2, 3), (4098, 2, 3)] {
        assert!(parameters(bits, w, l).is_err(), "{bits}, {w} of {l}");
    }
    let subgroup = Parameters::new(2048, 2, 3, Variant::Subgroup, KeyPolicy::Secure, Engine::Serial);
    assert!(subgroup.is_err());
}

/// Changes the content of a single message, signed by its sender: to one receiver, or the same
/// change to all.
#[test]
fn whoever_changes_a_message_is_named() {
    let run = Run::new(128, 2, 3, Variant::Standard, 13);
    let record = run.record();
    // Stages of the last batch, which has the survivor, and of the rounds after it.
    let stages = [
        SEEDS,
        COIN,
        SHARES,
        PRODUCT_COMMITMENTS,
        PRODUCTS,
        ANSWER_COMMITMENTS,
        ANSWERS,
        OPENING,
        TEST_COMMITMENTS,
        TESTS,
        BLINDING,
        RESULT_COMMITMENTS,
        RESULTS,
        VERIFICATION,
    ];
    for stage in stages {
        let last = record.last(stage);
        for (cheat, victim) in [(1, 2), (2, 3), (3, 1)] {
            let length = body(record.message(last, cheat, victim)).len();
            // The first byte, one in the middle, and the last. Two are changed for all trustees and
            // one for a single trustee.
            let at = (length - 1) * ((cheat as usize + usize::from(stage)) % 3) / 2;
            let to_all = !(cheat + u32::from(stage)).is_multiple_of(3);
            let outcomes = run.with(|mut passing| {
                if passing.round == last && passing.from == cheat && (to_all || passing.to == victim) {
                    passing.change(&run, at);
                }
            });
            deviated(&outcomes, cheat, &format!("stage {stage}, byte {at}, to all: {to_all}"));
        }
    }
}

/// Parts of the proofs about a DJN key: roots of wrong numbers identify the trustee who sent them.
#[test]
fn whoever_shows_a_wrong_part_of_a_proof_is_named() {
    let run = Run::new(128, 2, 3, Variant::Djn, 16);
    let record = run.record();
    let last = record.last(VERIFICATION);
    let width = 16;
    let length = body(record.message(last, 1, 2)).len();
    assert_eq!(length, width * (2 + 11 + 128));
    for (cheat, number) in [(1, 2), (2, 12), (3, 13), (1, 140)] {
        let outcomes = run.with(|mut passing| {
            if passing.round == last && passing.from == cheat {
                passing.change(&run, width * number + width - 1);
            }
        });
        deviated(&outcomes, cheat, &format!("number {number}"));
    }
}

/// Content that is wrong from the beginning, including its commitment.
#[test]
fn whoever_commits_to_wrong_numbers_is_named() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let record = run.record();
    for (commitments, opened) in [
        (PRODUCT_COMMITMENTS, PRODUCTS),
        (ANSWER_COMMITMENTS, ANSWERS),
        (TEST_COMMITMENTS, TESTS),
        (RESULT_COMMITMENTS, RESULTS),
    ] {
        let last = record.last(opened);
        for cheat in 1..=3 {
            let other = if cheat == 1 { 2 } else { 1 };
            let honest = record.message(last, cheat, other);
            let content = &honest[body(honest)];
            let width = 16;
            // Each number in turn: the low bits of its last byte, so that it stays in range.
            let last_bytes: Vec<usize> = (HASH + width - 1..content.len()).step_by(width).collect();
            let step = last_bytes.len().div_ceil(2);
            for &at in last_bytes.iter().step_by(step) {
                let mut wrong = content.to_vec();
                wrong[at] ^= 1;
                let commitment = derive("commitment", &[&[cheat as u8], &wrong]);
                let outcomes = run.with(|mut passing| {
                    let content: &[u8] = match (passing.from == cheat, passing.stage, passing.round + 1 == last) {
                        (true, stage, true) if stage == commitments => &commitment,
                        (true, stage, _) if stage == opened && passing.round == last => &wrong,
                        _ => return,
                    };
                    let message = passing.message.as_mut().unwrap();
                    let range = body(message);
                    message[range].copy_from_slice(content);
                    passing.sign(&run);
                });
                deviated(&outcomes, cheat, &format!("stage {opened}, byte {at}"));
            }
        }
    }
}

/// The last sender computes its answer from those of all others, so that any number would pass.
#[test]
fn the_last_speaker_forges_no_answer() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let record = run.record();
    let first = (0..).find(|&round| record.message(round, 1, 2)[STAGE] == ANSWERS).unwrap();
    let outcomes = run.with(|mut passing| {
        // Trustee 1's answer becomes the product of the others' answers. Trustee 2's answer stands
        // in for it here, since both are just bytes.
        if passing.round == first && passing.from == 1 {
            let other = record.message(first, 2, 3);
            let range = body(other);
            let message = passing.message.as_mut().unwrap();
            message[range.start + HASH..range.end].copy_from_slice(&other[range.start + HASH..range.end]);
            passing.sign(&run);
        }
    });
    deviated(&outcomes, 1, "a forged answer");
}

#[test]
fn whoever_tells_two_stories_is_named() {
    let run = Run::new(128, 3, 5, Variant::Standard, 3);
    let record = run.record();
    for stage in [HELLO, COIN, VERIFICATION] {
        let last = record.last(stage);
        for cheat in [1, 4] {
            let outcomes = run.with(|mut passing| {
                if passing.round == last && passing.from == cheat && passing.to > 3 {
                    passing.change(&run, 3);
                }
            });
            for (number, outcome) in (1..).zip(&outcomes) {
                let Outcome::Failed(failure) = outcome else { panic!("trustee {number} has a key") };
                assert!(number == cheat || failure.trustees == [cheat], "stage {stage}, trustee {number}: {failure}");
            }
        }
    }
}

#[test]
fn silence_and_strange_messages_name_the_link() {
    let run = Run::new(128, 2, 3, Variant::Standard, 4);
    let record = run.record();
    let other_run = Run { seed: 4, parameters: run.parameters.clone().with_candidates(9) };
    let other = other_run.record();
    for stage in [HELLO, SHARES, BLINDING, DONE] {
        let last = record.last(stage);
        type Change<'a> = &'a dyn Fn(&mut Option<Vec<u8>>);
        let changes: [(Change<'_>, Reason); 5] = [
            (&|message| *message = None, Reason::Silent),
            (&|message| *message = Some(Vec::new()), Reason::Foreign),
            (&|message| message.as_mut().unwrap()[BROADCAST - 1] ^= 1, Reason::Foreign),
            // From another run, and from an earlier round of this one.
            (&|message| *message = Some(other.message(0, 2, 1).to_vec()), Reason::Foreign),
            (&|message| *message = Some(record.message(last.max(1) - 1, 2, 3).to_vec()), Reason::Foreign),
        ];
        for (change, reason) in changes {
            let outcomes = run.with(|passing| {
                if (passing.round, passing.from, passing.to) == (last, 2, 1) {
                    change(passing.message);
                }
            });
            let failure = |number: usize| match &outcomes[number - 1] {
                Outcome::Failed(failure) => Some((failure.trustees.clone(), failure.reason.clone())),
                Outcome::Finished(_) => None,
            };
            assert_eq!(failure(1), Some((vec![2], reason)), "stage {stage}");
            // In the last round, the others already have the key.
            let told = (stage != DONE).then_some((vec![2], Reason::Reported { by: 1 }));
            assert_eq!([failure(2), failure(3)], [told.clone(), told], "stage {stage}");
        }
    }
}

/// Behaviour after a run has failed.
#[test]
fn whoever_does_not_open_a_seed_or_slanders_is_named() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let record = run.record();
    let last = record.last(PRODUCTS);
    // The failure starts with a wrong message. Its sender then sends nothing, or another seed.
    for silent in [true, false] {
        let outcomes = run.with(|mut passing| {
            if passing.from != 2 || passing.round < last {
                return;
            }
            match (passing.round == last, silent) {
                (false, true) => *passing.message = None,
                _ => passing.change(&run, 0),
            }
        });
        for number in [1, 3] {
            let Outcome::Failed(failure) = &outcomes[number - 1] else { panic!("trustee {number} has a key") };
            assert_eq!(failure, &Failure { trustees: vec![2], reason: Reason::Refused }, "{silent}");
        }
    }
    // Trustee 3 claims that a valid message of trustee 1 was wrong.
    let verdict = [&[2, 1], record.message(last, 1, 3)].concat();
    let outcomes = run.with(|mut passing| {
        match (passing.from, passing.round.cmp(&(last + 1))) {
            (3, Ordering::Equal) => {
                let content = blame(&run, &record, 3, &[], &verdict);
                passing.replace_with(&run, BLAME, &content);
            }
            (3, Ordering::Greater) => *passing.message = None,
            _ => {}
        };
    });
    for number in [1, 2] {
        let Outcome::Failed(failure) = &outcomes[number - 1] else { panic!("trustee {number} has a key") };
        assert_eq!(failure, &Failure { trustees: vec![3], reason: Reason::Slandered });
    }
}

/// The blame message of a trustee in an honest run: its seed, the first messages, the message that
/// reported the failure, and its verdict.
fn blame(run: &Run, record: &Record, from: u32, cause: &[u8], verdict: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let trustees = run.parameters.trustees();
    for number in 1..=trustees {
        content.push(u8::from(number == from));
        if number == from {
            content.extend_from_slice(&run.seed(number));
        }
    }
    for number in 1..=trustees {
        let hello = if number == from { &[][..] } else { record.message(0, number, from) };
        content.extend_from_slice(&(hello.len() as u32).to_be_bytes());
        content.extend_from_slice(hello);
    }
    content.extend_from_slice(&(cause.len() as u32).to_be_bytes());
    [&content, cause, verdict].concat()
}

fn failure(outcome: &Outcome) -> &Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Finished(_) => panic!("a key"),
    }
}

/// A trustee reports a failure to one or all others, although nothing is wrong.
#[test]
fn whoever_raises_a_false_alarm_is_named() {
    let run = Run::new(128, 3, 5, Variant::Standard, 3);
    let record = run.record();
    for (stage, to_all) in [(COIN, true), (ANSWERS, false), (TESTS, false), (VERIFICATION, true)] {
        let last = record.last(stage);
        let outcomes = run.with(|mut passing| {
            if passing.from == 4 && passing.round == last && (to_all || passing.to == 2) {
                let content = blame(&run, &record, 4, &[], &[1]);
                passing.replace_with(&run, BLAME, &content);
            }
        });
        for (number, outcome) in (1..).zip(&outcomes).filter(|(number, _)| *number != 4) {
            let expected = Failure { trustees: vec![4], reason: Reason::Alarmed };
            assert_eq!(failure(outcome), &expected, "stage {stage}, trustee {number}");
        }
    }
}

/// Trustee 4 misleads only trustee 1, so that the broadcast of trustee 1 is wrong. It then reveals
/// its seed, early or late, to all others except trustee 1. Trustee 1 must not be blamed.
#[test]
fn whoever_is_misled_and_shown_no_seed_is_not_named() {
    let run = Run::new(128, 3, 5, Variant::Standard, 3);
    let last = run.record().last(SHARES);
    for withheld_for in [2, 3, 9] {
        let outcomes = run.with(|mut passing| match (passing.from, passing.to) {
            (4, 1) if passing.round == last => {
                // Changes a byte of the share of p for every candidate.
                let message = passing.message.as_ref().unwrap();
                let length = body(message).len();
                let candidates = run.parameters.candidates();
                let width = length / candidates;
                for candidate in 0..candidates {
                    passing.change(&run, candidate * width + 20);
                }
            }
            (4, 1) if passing.round > last && passing.kind() == BLAME && passing.round < last + 3 + withheld_for => {
                *passing.message = None;
            }
            _ => {}
        });
        for (number, outcome) in (1..).zip(&outcomes).filter(|(number, _)| *number != 4) {
            assert_eq!(failure(outcome).trustees, [4], "{withheld_for}, trustee {number}: {}", failure(outcome));
        }
    }
}

/// A harmless deviation in a batch without a survivor, and another towards a single trustee at the
/// start of the next batch.
#[test]
fn deviations_across_batches_are_accounted_for() {
    // Answers about candidates that are followed by another batch.
    let candidates = |record: &Record| {
        (0..record.last(ANSWERS)).find(|&round| {
            let message = record.message(round, 3, 1);
            message[STAGE] == ANSWERS && body(message).len() > HASH
        })
    };
    let (run, record, answers) = (0..40)
        .map(|seed| Run::new(128, 2, 3, Variant::Standard, seed))
        .map(|run| (run.record(), run))
        .find_map(|(record, run)| candidates(&record).map(|answers| (run, record, answers)))
        .unwrap();
    let commitments = answers - 1;
    let begins = (answers..).find(|&round| record.message(round, 1, 2)[STAGE] == SEEDS).unwrap();
    let honest = record.message(answers, 3, 1);
    let mut wrong = honest[body(honest)].to_vec();
    // The last byte of the first answer.
    wrong[HASH + 15] ^= 1;
    let commitment = derive("commitment", &[&[3], &wrong]);
    // The code of trustee 3 has seen the message that it should have sent, so the test replaces
    // views in transit.
    let (mut seen, mut of_all, mut own) = (0, Vec::new(), Vec::new());
    let outcomes = run.with(|mut passing| {
        let message = passing.message.as_mut().unwrap();
        if passing.round > commitments {
            let view = &mut message[VIEW];
            match (passing.from, passing.to) {
                (2, 1) => of_all = view.to_vec(),
                (3, _) => {
                    own = view.to_vec();
                    view.copy_from_slice(&of_all);
                    let is_told_wrong = passing.round == begins && passing.to == 1;
                    view[0] ^= u8::from(is_told_wrong);
                    seen += u32::from(is_told_wrong);
                }
                (_, 3) => view.copy_from_slice(&own),
                _ => {}
            }
        }
        let content: Option<&[u8]> = match (passing.from, passing.round) {
            (3, round) if round == commitments => Some(&commitment),
            (3, round) if round == answers => Some(&wrong),
            _ => None,
        };
        if let Some(content) = content {
            let range = body(message);
            message[range].copy_from_slice(content);
        }
        passing.sign(&run);
    });
    let said: Vec<String> = outcomes.iter().map(|outcome| failure(outcome).to_string()).collect();
    assert_eq!(seen, 1, "{said:?}, answers in round {answers}, another batch in round {begins}");
    deviated(&outcomes, 3, "two batches");
}

/// Before the first messages are complete, and after the key is, nobody reveals anything.
#[test]
fn strange_first_and_last_messages_name_their_sender() {
    let run = Run::new(128, 3, 5, Variant::Standard, 3);
    let record = run.record();
    for (stage, reason) in [(HELLO, Reason::Foreign), (DONE, Reason::Withdrew)] {
        for what in ["view", "stage", "length", "blame"] {
            let outcomes = run.with(|mut passing| {
                if passing.from != 4 || passing.round != record.last(stage) || passing.to == 5 {
                    return;
                }
                match what {
                    "view" => passing.message.as_mut().unwrap()[BROADCAST - 9] ^= 1,
                    "stage" => passing.message.as_mut().unwrap()[STAGE] ^= 1,
                    "length" => {
                        // One additional byte for the receiver.
                        let message = passing.message.as_mut().unwrap();
                        message[BROADCAST - 1] = 1;
                        message.insert(message.len() - SIGNATURE, 7);
                    }
                    _ => {
                        let content = blame(&run, &record, 4, &[], &[0]);
                        passing.replace_with(&run, BLAME, &content);
                    }
                }
                passing.sign(&run);
            });
            for number in 1..=3 {
                let expected = Failure { trustees: vec![4], reason: reason.clone() };
                assert_eq!(failure(&outcomes[number - 1]), &expected, "{what}, trustee {number}");
            }
        }
    }
}

/// A farewell names another trustee, otherwise its sender is named.
#[test]
fn farewells_are_about_others() {
    let run = Run::new(128, 2, 3, Variant::Standard, 4);
    let last = run.record().last(COIN);
    for about in [&[0][..], &[3], &[4], &[255], &[], &[1, 2]] {
        let outcomes = run.with(|mut passing| {
            if passing.from == 3 && passing.round == last {
                passing.replace_with(&run, FAREWELL, about);
            }
        });
        for number in [1, 2] {
            let expected = Failure { trustees: vec![3], reason: Reason::Foreign };
            assert_eq!(failure(&outcomes[number - 1]), &expected, "{about:?}");
        }
    }
}

/// A trustee loses contact with the deviating one and therefore reveals nothing to the others. It
/// is not blamed for that.
#[test]
fn whoever_lost_contact_is_not_blamed_for_opening_nothing() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let last = run.record().last(PRODUCTS);
    let outcomes = run.with(|mut passing| match (passing.from, passing.to) {
        (3, 1) if passing.round == last => *passing.message = None,
        (3, 2) if passing.round == last => passing.change(&run, 40),
        _ => {}
    });
    assert_eq!(failure(&outcomes[0]), &Failure { trustees: vec![3], reason: Reason::Silent });
    assert_eq!(failure(&outcomes[1]).trustees, [3]);
}

/// Blame messages that are truncated or changed: the others name the sender, and nothing panics.
#[test]
fn spoiled_blame_is_no_blame() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let last = run.record().last(ANSWERS);
    for kept in [0, 31, 32, 34, 36, 100, 300, 500] {
        let outcomes = run.with(|mut passing| {
            if passing.from != 2 || passing.round < last {
                return;
            }
            if passing.round == last {
                return passing.change(&run, 40);
            }
            let message = passing.message.as_mut().unwrap();
            let content = &message[body(message)];
            let mut content = content[..content.len().min(kept)].to_vec();
            if kept == 500 {
                // Only its own seed, and an unterminated first message.
                content = [&[0, 1][..], &run.seed(2), &[0], &[255; 4]].concat();
            }
            message.truncate(BROADCAST);
            message[77..81].copy_from_slice(&(content.len() as u32).to_be_bytes());
            message.extend_from_slice(&content);
            message.extend_from_slice(&[0; SIGNATURE]);
            passing.sign(&run);
        });
        for number in [1, 3] {
            let Outcome::Failed(failure) = &outcomes[number - 1] else { panic!("trustee {number} has a key") };
            assert_eq!(failure.trustees, [2], "{kept} bytes: {failure}");
        }
    }
}

#[test]
fn nothing_secret_is_shown() {
    let run = Run::new(128, 2, 3, Variant::Standard, 6);
    assert_eq!(format!("{:?}", run.trustee(2)), "Trustee(2 of 3)");
    assert_eq!(format!("{:?}", run.identity(2)), "Identity");
    let finished = run.finished();
    let shown = format!("{:?}", finished[0]);
    assert!(shown.starts_with("Finished(VerificationKeys(2 of 3 of key ") && shown.len() < 200, "{shown}");
}

/// Seeds determine everything: the same seeds give the same key, and others a different one.
#[test]
fn seeds_decide() {
    let [one, again, other] = [7, 7, 8].map(|seed| Run::new(128, 2, 3, Variant::Standard, seed).finished());
    assert_eq!((&one[0].verification, one[0].transcript), (&again[0].verification, again[0].transcript));
    assert_ne!(one[0].verification.key(), other[0].verification.key());
}

/// Whole runs of another implementation, tests/distributed.py, which has verified every equation in
/// them. Every message, the key and all shares are identical.
#[test]
fn another_implementation_sends_the_same() {
    for run in include_str!("../distributed.txt").split("run ").skip(1) {
        let mut lines = run.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let first = lines.next().unwrap();
        let number = |at: usize| first[at].parse::<u32>().unwrap();
        let variant = first[5].parse().unwrap();
        let parameters = Run::new(number(1), number(2), number(3), variant, number(0) as u8).parameters;
        let run = Run { parameters: parameters.with_candidates(number(4) as usize), seed: number(0) as u8 };
        let (mut sent, mut expected) = (Vec::new(), Vec::new());
        let outcomes = run.with(|passing| {
            let message = passing.message.clone().unwrap();
            let hash = hex(&Sha256::digest(&message[..message.len() - SIGNATURE])[..8]);
            sent.push((passing.round, passing.from, passing.to, format!("{} {hash}", passing.stage)));
        });
        // Sorted by sender there, by receiver here.
        sent.sort();
        let senders = number(3) * (number(3) - 1);
        let mut key = None;
        for line in lines {
            match line[..] {
                ["message", stage, from, to, hash] => {
                    let round = expected.len() as u32 / senders;
                    expected.push((round, from.parse().unwrap(), to.parse().unwrap(), format!("{stage} {hash}")));
                }
                ["transcript", hash] => key = Some(hash),
                [name, ..] => check_numbers(&outcomes, name, &line[1..]),
                [] => {}
            }
        }
        let first_difference = sent.iter().zip(&expected).find(|(sent, expected)| sent != expected);
        assert_eq!((first_difference, sent.len()), (None, expected.len()));
        let Outcome::Finished(finished) = &outcomes[0] else { panic!("no key") };
        assert_eq!(Some(&hex(&finished.transcript)[..]), key);
    }
}

/// Compares a line of numbers with the key.
fn check_numbers(outcomes: &[Outcome], name: &str, numbers: &[&str]) {
    let at = if name == "trustee" { numbers[0].parse::<usize>().unwrap() - 1 } else { 0 };
    let Outcome::Finished(finished) = &outcomes[at] else { panic!("no key") };
    let integer = |text: &str| Integer::from_str_radix(text, 16).unwrap();
    let key = finished.verification.key();
    let found = |bytes: &[u8]| Integer::from_digits(bytes, Order::Msf);
    match name {
        "n" => assert_eq!(found(&key.modulus_be()), integer(numbers[0])),
        "h" => assert_eq!(found(&key.generator_be().unwrap()), integer(numbers[0])),
        _ => {
            assert_eq!(found(&finished.share.verification_be()), integer(numbers[1]));
            assert_eq!(found(&finished.verification.trustee_keys_be()[at]), integer(numbers[1]));
            assert_eq!(secret(&finished.share), integer(numbers[2]));
        }
    }
}

/// `s_i`, read from the file.
fn secret(share: &KeyShare) -> Integer {
    let json: serde_json::Value = serde_json::from_str(&share.to_json()).unwrap();
    let bytes = Base64UrlUnpadded::decode_vec(json["s"].as_str().unwrap()).unwrap();
    Integer::from_digits(&bytes, Order::Msf)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The version distinguishes files of dealt keys from others, and each has its own lengths.
#[test]
fn other_versions_are_refused() {
    let engine = Engine::best();
    let read = |text: &str| VerificationKeys::from_json(text, KeyPolicy::AllowInsecure, engine);
    let read_share = |text: &str| KeyShare::from_json(text, KeyPolicy::AllowInsecure, engine);
    let finished = Run::new(128, 2, 3, Variant::Djn, 16).finished();
    let joint = &finished[0].verification;
    let private = PrivateKey::generate_safe(128, Variant::Djn, KeyPolicy::AllowInsecure, engine).unwrap();
    let (dealt, holders) = deal(&private, 2, 3).unwrap();
    let changed = |text: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
        change(&mut json);
        json.to_string()
    };
    let member = |member, problem| ErrorKind::Member { member, problem };
    type Change<'a> = &'a dyn Fn(&mut serde_json::Value);
    let v = joint.base_be();
    let changes: [(Change<'_>, ErrorKind); 4] = [
        (&|json| json["shared"]["version"] = 3.into(), member("version", "is not supported")),
        (&|json| json["shared"]["version"] = 1.into(), member("version", "is not supported")),
        (&|json| drop(json["shared"].as_object_mut().unwrap().remove("version")), member("v", "is missing")),
        (
            &|json| json["shared"]["v"] = Base64UrlUnpadded::encode_string(&v).into(),
            member("v", "is not allowed in keys of version 2"),
        ),
    ];
    for (change, expected) in changes {
        assert_eq!(read(&changed(&joint.to_json(), change)).unwrap_err().kind(), &expected);
        let share = changed(&finished[1].share.to_json(), change);
        assert_eq!(read_share(&share).unwrap_err().kind(), &expected);
    }
    // Thresholds that only dealt keys support.
    for (needed, trustees) in [(1, 3), (3, 3), (2, 2), (2, 10)] {
        let text = changed(&joint.to_json(), &|json| {
            (json["shared"]["needed"], json["shared"]["trustees"]) = (needed.into(), trustees.into());
        });
        assert_eq!(read(&text).unwrap_err().kind(), &ErrorKind::BadThreshold);
    }
    // A secret longer than the shares of such keys.
    let long = changed(&finished[1].share.to_json(), &|json| json["s"] = "_".repeat(200).into());
    assert_eq!(read_share(&long).unwrap_err().kind(), &member("s", "is too long"));

    // Shares of decryptions only have the lengths of their key.
    let contexts = Contexts::new(b"shared", [b"row"]);
    let ciphertext = joint.key().encrypt(&encode_signed(joint.key(), &[7]).unwrap()).unwrap();
    let of_joint = finished[0].share.decrypt(&contexts, &ciphertext).unwrap().to_be_bytes();
    let error = Shares::from_be_bytes(joint.key(), 1, &of_joint).unwrap_err();
    assert_eq!((error.trustee(), matches!(error.kind(), ErrorKind::Width { .. })), (Some(1), true));
    let ciphertext = dealt.key().encrypt(&encode_signed(dealt.key(), &[7]).unwrap()).unwrap();
    let of_dealt = holders[0].decrypt(&contexts, &ciphertext).unwrap().to_be_bytes();
    assert_eq!(of_dealt.len(), dealt.share_bytes());
    assert!(dealt.share_bytes() < joint.share_bytes());
    assert!(matches!(joint.shares_from_be_bytes(1, &of_dealt).unwrap_err().kind(), ErrorKind::Width { .. }));
    assert!(matches!(dealt.shares_from_be_bytes(1, &of_joint).unwrap_err().kind(), ErrorKind::Width { .. }));
    // An answer with too many bits in a permitted number of bytes.
    let mut long = of_joint.clone();
    let at = 3 * joint.key().ciphertext_bytes();
    assert_ne!((long.len() - at) * 8, joint_answer_bits(128, 2, 3));
    long[at] |= 0x80;
    assert_eq!(joint.shares_from_be_bytes(1, &long).unwrap_err().kind(), &ErrorKind::OutOfRange);
}

/// Bits of an answer, by the documented table of lengths.
fn joint_answer_bits(bits: usize, needed: usize, trustees: usize) -> usize {
    let length = |number: usize| (usize::BITS - number.leading_zeros()) as usize;
    let factorial: usize = (1..=trustees).product();
    let rho = bits + 128 + length(trustees);
    let coefficient = rho + 128 + length(factorial) + needed - 1;
    let powers: usize = (0..needed).map(|power| trustees.pow(power as u32)).sum();
    2 * bits + coefficient + 1 + length(powers) + length(trustees) + 512
}
