//! Trustees generate keys together, in one process: honest ones get a key that decrypts; one who
//! deviates is named by all others, and nobody gets a key.

use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Engine, KeyPolicy, Variant};
use hearith_threshold::distributed::{
    Failure, Finished, Identity, Parameters, Reason, Step, Trustee, is_threshold, session_id,
};
use hearith_threshold::{Contexts, KeyShare, Origin, Shares, Verification};
use rug::{Integer, integer::IsPrime, integer::Order};
use sha2::{Digest, Sha256};
use std::ops::Range;

// Where the parts of a message begin (docs/explanation/threshold.md).
const STAGE: usize = 6;
const BROADCAST: usize = 85;
const SIGNATURE: usize = 64;
const HASH: usize = 32;

// The stages that tests name.
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

fn derive(label: &str, parts: &[&[u8]]) -> [u8; HASH] {
    let label = format!("hearith-distributed 1 {label}");
    let parts = std::iter::once(label.as_bytes()).chain(parts.iter().copied());
    let update = |hash: Sha256, part: &[u8]| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part);
    parts.fold(Sha256::new(), update).finalize().into()
}

/// What a message holds for everybody and for its receiver.
fn body(message: &[u8]) -> Range<usize> {
    BROADCAST..message.len() - SIGNATURE
}

/// A run's parameters and the seeds of its trustees.
#[derive(Clone)]
struct Run {
    parameters: Parameters,
    seed: u8,
}

/// A message on its way, which a test may change.
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

    /// Changes a byte of the body, and signs that.
    fn change(&mut self, run: &Run, at: usize) {
        if let Some(message) = self.message.as_mut() {
            let at = body(message).start + at;
            message[at] ^= 1;
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

    fn trustee(&self, number: u32) -> Trustee {
        let trustees = self.parameters.trustees();
        let keys: Vec<[u8; 32]> = (1..=trustees).map(|one| self.identity(one).public()).collect();
        let nonces: Vec<[u8; 32]> = (1..=trustees).map(|one| [one as u8; 32]).collect();
        let session = session_id(&self.parameters, &keys, &nonces);
        let seed = derive("test seed", &[&[self.seed, number as u8]]);
        Trustee::with_seed(self.parameters.clone(), number, self.identity(number), &keys, session, &seed).unwrap()
    }

    /// What comes of it for each trustee, if messages are changed on their way.
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

/// Checks that all trustees but one name that one for having deviated, and that nobody has a key.
fn deviated(outcomes: &[Outcome], cheat: u32, what: &str) {
    for (number, outcome) in (1..).zip(outcomes) {
        let Outcome::Failed(failure) = outcome else { panic!("{what}: trustee {number} has a key") };
        if number != cheat {
            assert_eq!(failure.trustees, [cheat], "{what}: trustee {number}: {failure}");
            assert!(matches!(failure.reason, Reason::Deviated { .. }), "{what}: trustee {number}: {failure}");
        }
    }
}

/// All choices of so many of the numbers from 1.
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

        // Files are read back, and what is read decrypts.
        let read = Verification::from_json(&verification.to_json(), KeyPolicy::AllowInsecure, engine).unwrap();
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

/// The factors, from the shares of all: `p` and `q` are primes of half the bits, 3 modulo 4, and no
/// small prime divides `p - 1` or `q - 1` but 2.
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

/// The factors of a run's modulus: `N + 1 - p - q` follows from the exponent that the shares of two
/// trustees give, a multiple of it.
fn factors(run: &Run, n: &Integer) -> [Integer; 2] {
    let shares: Vec<Integer> = run.finished().iter().map(|one| secret(&one.share)).collect();
    // f(0) = 2 f(1) - f(2), a multiple of the order of all units, up to 2: Miller's way to factors.
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

/// Changes of a single message's content, signed by who sends it: to one other, or the same to all.
#[test]
fn whoever_changes_a_message_is_named() {
    let run = Run::new(128, 2, 3, Variant::Standard, 13);
    let record = run.record();
    // Of the last batch, which has the survivor, and of what follows.
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
            // The first byte, one in the middle and the last; two to all and one to a single
            // trustee.
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

/// Content that is committed to before it is shown, and wrong from the beginning.
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
            // Every number in turn, its last byte but the first bits, so that it stays in range.
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
                    let place = body(message);
                    message[place].copy_from_slice(content);
                    passing.sign(&run);
                });
                deviated(&outcomes, cheat, &format!("stage {opened}, byte {at}"));
            }
        }
    }
}

/// The last speaker's answer, made of all others' so that any number passes.
#[test]
fn the_last_speaker_forges_no_answer() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let record = run.record();
    let first = (0..).find(|&round| record.message(round, 1, 2)[STAGE] == ANSWERS).unwrap();
    let outcomes = run.with(|mut passing| {
        // Trustee 1's answer becomes the product of the others': here simply trustee 2's for 1's,
        // both being bytes.
        if passing.round == first && passing.from == 1 {
            let other = record.message(first, 2, 3);
            let place = body(other);
            let message = passing.message.as_mut().unwrap();
            message[place.start + HASH..place.end].copy_from_slice(&other[place.start + HASH..place.end]);
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
            // Of another run, and of an earlier round of this one.
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
            // In the last round the others have the key already.
            let told = (stage != DONE).then_some((vec![2], Reason::Reported { by: 1 }));
            assert_eq!([failure(2), failure(3)], [told.clone(), told], "stage {stage}");
        }
    }
}

/// After a run has failed.
#[test]
fn whoever_does_not_open_a_seed_or_slanders_is_named() {
    let run = Run::new(128, 2, 3, Variant::Standard, 16);
    let record = run.record();
    let last = record.last(PRODUCTS);
    // A wrong product begins it; then who sent it says nothing, or another seed.
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
    // Trustee 3 says that a good message of trustee 1 was wrong.
    let begin = last + 1;
    let outcomes = run.with(|mut passing| {
        if passing.from != 3 || passing.round < begin {
            return;
        }
        let message = passing.message.as_mut().unwrap();
        if passing.round == begin {
            // Blame instead of what should have come.
            message.truncate(BROADCAST);
            message[5] = 1;
            let mut content = derive("test seed", &[&[16, 3]]).to_vec();
            for from in [1, 2] {
                let hello = record.message(0, from, 3);
                content.extend_from_slice(&(hello.len() as u32).to_be_bytes());
                content.extend_from_slice(hello);
            }
            content.extend_from_slice(&[0; 4]);
            content.extend_from_slice(&[2, 1]);
            content.extend_from_slice(record.message(last, 1, 3));
            message[77..81].copy_from_slice(&(content.len() as u32).to_be_bytes());
            message[81..85].fill(0);
            message.extend_from_slice(&content);
            message.extend_from_slice(&[0; SIGNATURE]);
        } else {
            *passing.message = None;
            return;
        }
        passing.sign(&run);
    });
    for number in [1, 2] {
        let Outcome::Failed(failure) = &outcomes[number - 1] else { panic!("trustee {number} has a key") };
        assert_eq!(failure, &Failure { trustees: vec![3], reason: Reason::Slandered });
    }
}

/// What a trustee says after a failure, cut or with bytes changed: others name it, and nothing
/// panics.
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
                // The length of the first hello.
                content[32..36].fill(255);
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
    assert!(shown.starts_with("Finished(Verification(2 of 3 of key ") && shown.len() < 200, "{shown}");
}

/// Seeds decide everything: the same make the same key, other ones another.
#[test]
fn seeds_decide() {
    let [one, again, other] = [7, 7, 8].map(|seed| Run::new(128, 2, 3, Variant::Standard, seed).finished());
    assert_eq!((&one[0].verification, one[0].transcript), (&again[0].verification, again[0].transcript));
    assert_ne!(one[0].verification.key(), other[0].verification.key());
}

/// Whole runs by another implementation, tests/distributed.py, which has verified every equation in
/// them: every message, the key and all shares are the same.
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
        // There by senders, here by receivers.
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
            assert_eq!(found(&finished.verification.of_trustees_be()[at]), integer(numbers[1]));
            assert_eq!(secret(&finished.share), integer(numbers[2]));
        }
    }
}

/// `s_i`, out of the file.
fn secret(share: &KeyShare) -> Integer {
    let json: serde_json::Value = serde_json::from_str(&share.to_json()).unwrap();
    let bytes = Base64UrlUnpadded::decode_vec(json["s"].as_str().unwrap()).unwrap();
    Integer::from_digits(&bytes, Order::Msf)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
