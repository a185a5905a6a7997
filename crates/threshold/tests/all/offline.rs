//! Trustees generate keys by exchanging files. The key decrypts, a restart gives the same files,
//! and every wrong file is rejected by name.

use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Engine, KeyPolicy, Variant};
use hearith_threshold::distributed::offline::{
    BATCH_EXCHANGES, Correspondent, EXCHANGES, Next, Saved, Wrong, WrongFile, file_name,
};
use hearith_threshold::distributed::{Finished, Identity, Parameters, Reason};
use hearith_threshold::{Contexts, ErrorKind, Origin};
use sha2::{Digest, Sha256};

/// Trustees, and every processed file, by exchange, sender and receiver.
struct Run {
    parameters: Parameters,
    trustees: Vec<Correspondent>,
    taken: Vec<Vec<Vec<Vec<u8>>>>,
    seed: u8,
}

fn parameters(bits: u32, needed: u32, trustees: u32, variant: Variant) -> Parameters {
    Parameters::new(bits, needed, trustees, variant, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

impl Run {
    fn new(parameters: Parameters, seed: u8) -> Self {
        let mut run = Run { parameters, trustees: Vec::new(), taken: Vec::new(), seed };
        run.trustees = (1..=run.parameters.trustees()).map(|number| run.trustee(number)).collect();
        run
    }

    /// A run whose small batch succeeds with seed 1.
    fn small(seed: u8) -> Self {
        Run::new(parameters(128, 2, 3, Variant::Standard).with_candidates(60), seed)
    }

    /// Trustees have the same keys in all runs, but different seeds.
    fn trustee(&self, number: u32) -> Correspondent {
        let identity = |number: u32| Identity::from_seed(&[number as u8; 32]);
        let keys: Vec<[u8; 32]> = (1..=self.parameters.trustees()).map(|one| identity(one).public()).collect();
        let settings = Correspondent::settings(&self.parameters, &keys);
        let saved = Saved::with_seed(settings, &[self.seed ^ number as u8; 32]);
        // As in a program that stops between two exchanges.
        let saved = Saved::from_text(&saved.to_text()).unwrap();
        Correspondent::new(self.parameters.clone(), number, identity(number), &keys, &saved).unwrap()
    }

    fn files(&self) -> Vec<Vec<Vec<u8>>> {
        self.trustees.iter().map(Correspondent::files).collect()
    }

    /// The results of all trustees for the files of an exchange.
    fn exchange(&mut self) -> Vec<Next> {
        let files = self.files();
        let take = |(to, trustee): (usize, &mut Correspondent)| trustee.take(received(&files, to)).unwrap();
        let next = self.trustees.iter_mut().enumerate().map(take).collect();
        self.taken.push(files);
        next
    }

    fn until(&mut self, exchange: u32) {
        while self.trustees[0].exchange() < exchange {
            assert!(self.exchange().iter().all(|next| matches!(next, Next::Files)));
        }
    }

    fn finished(&mut self) -> Vec<Finished> {
        loop {
            let mut finished = Vec::new();
            for next in self.exchange() {
                match next {
                    Next::Files => {}
                    Next::Finished(one) => finished.push(*one),
                    Next::Failed { failure, .. } => panic!("{failure}"),
                }
            }
            if !finished.is_empty() {
                assert_eq!(finished.len(), self.trustees.len());
                return finished;
            }
        }
    }
}

fn received(files: &[Vec<Vec<u8>>], to: usize) -> Vec<Option<Vec<u8>>> {
    files.iter().map(|from| Some(from[to].clone()).filter(|file| !file.is_empty())).collect()
}

#[test]
fn a_key_comes_of_twenty_exchanges_and_decrypts() {
    for (bits, needed, trustees, variant) in [(128, 2, 3, Variant::Djn), (128, 3, 5, Variant::Standard)] {
        let mut run = Run::new(parameters(bits, needed, trustees, variant).for_one_batch(), 1);
        let finished = run.finished();
        assert_eq!((run.taken.len() as u32, run.trustees[0].exchanges()), (EXCHANGES, EXCHANGES));
        let verification = &finished[0].verification;
        let key = verification.key();
        assert_eq!((key.bits(), key.variant(), verification.origin()), (bits, variant, Origin::Distributed));
        assert!(finished.iter().all(|one| one.verification == *verification && one.proofs == finished[0].proofs));
        let numbers = [5650, -1];
        let ciphertexts = key.encrypt(&encode_signed(key, &numbers).unwrap()).unwrap();
        let contexts = Contexts::new(b"offline", ["one", "two"]);
        let last = finished.len() - needed as usize;
        let shares: Vec<_> =
            finished[last..].iter().map(|one| one.share.decrypt(&contexts, &ciphertexts).unwrap()).collect();
        let combined = verification.combine(&contexts, &ciphertexts, &shares.iter().collect::<Vec<_>>()).unwrap();
        let decoded = decode_signed(key, &combined.plaintexts).unwrap();
        assert_eq!(decoded.iter().map(|one| one.to_i128().unwrap()).collect::<Vec<_>>(), numbers);
    }
}

/// A program that stops between two exchanges stores the seed and the processed files.
#[test]
fn what_was_taken_gives_the_same_files_again() {
    let mut run = Run::small(1);
    for exchange in [1, 2, 5, 12, EXCHANGES] {
        run.until(exchange);
        let mut again = run.trustee(2);
        for files in &run.taken {
            assert!(matches!(again.take(received(files, 1)), Ok(Next::Files)));
        }
        assert_eq!((again.exchange(), again.session()), (exchange, run.trustees[0].session()));
        assert_eq!((again.files(), again.progress()), (run.trustees[1].files(), run.trustees[1].progress()));
    }
}

#[test]
fn another_batch_takes_ten_exchanges_more() {
    let seed = (0..).find(|&seed| {
        let mut run = Run::new(parameters(128, 2, 3, Variant::Standard).with_candidates(24), seed);
        run.until(EXCHANGES - 6);
        run.trustees[0].exchanges() > EXCHANGES
    });
    let mut run = Run::new(parameters(128, 2, 3, Variant::Standard).with_candidates(24), seed.unwrap());
    run.finished();
    let exchanges = run.taken.len() as u32;
    assert_eq!((exchanges, (exchanges - EXCHANGES) % BATCH_EXCHANGES), (run.trustees[0].exchanges(), 0));
    assert!(exchanges > EXCHANGES);
}

/// In each exchange, trustee 2 gets each kind of wrong file from trustee 3 and continues with the
/// right one.
#[test]
fn wrong_files_are_refused_and_named() {
    let (mut run, mut other) = (Run::small(1), Run::small(2));
    let longer = Run::new(run.parameters.clone().with_candidates(50), 1);
    for exchange in [1, 2, 5, 8] {
        run.until(exchange);
        other.until(exchange);
        let files = run.files();
        let good = &files[2][1];
        let changed = |at: usize| {
            let mut file = good.clone();
            file[at] ^= 1;
            file
        };
        let (first, last) = (exchange == 1, good.len() - 1);
        let elsewhere = |exchange, sender, receiver| Wrong::Elsewhere { exchange, sender, receiver };
        let mut wrong = vec![
            (Vec::new(), Wrong::Form),
            (b"HDKF".to_vec(), Wrong::Form),
            (changed(0), Wrong::Form),
            // Another version.
            (changed(4), Wrong::Form),
            (good[..70].to_vec(), Wrong::Form),
            (changed(5), elsewhere(exchange, 2, 2)),
            (changed(10), elsewhere(exchange ^ 1, 3, 2)),
            (changed(11), if first { Wrong::Settings } else { Wrong::Run }),
            (changed(43), if first { Wrong::Signature } else { Wrong::Sealed }),
            (changed(last), if first { Wrong::Signature } else { Wrong::Sealed }),
            (files[2][0].clone(), elsewhere(exchange, 3, 1)),
            (files[0][1].clone(), elsewhere(exchange, 1, 2)),
            ([good, &b"1"[..]].concat(), if first { Wrong::Form } else { Wrong::Sealed }),
        ];
        match exchange {
            1 => wrong.push((longer.files()[2][1].clone(), Wrong::Settings)),
            // A fresh run of the same trustees, and an earlier file of this run.
            _ => {
                wrong.push((other.files()[2][1].clone(), Wrong::Run));
                wrong.push((run.taken[exchange as usize - 2][2][1].clone(), elsewhere(exchange - 1, 3, 2)));
                wrong.push((vec![0; run.trustees[1].longest_file() + 1], Wrong::Form));
            }
        }
        for (file, wrong) in wrong {
            let expected = Err(WrongFile { trustee: 3, wrong });
            assert_eq!(run.trustees[1].check(3, &file), expected);
            let mut files = received(&files, 1);
            files[2] = Some(file);
            assert_eq!(run.trustees[1].take(files).map(|_| ()), expected, "exchange {exchange}");
        }
        assert_eq!(run.trustees[1].check(3, good), Ok(()));
        if first {
            let files = vec![received(&files, 1)[0].clone()];
            let expected = WrongFile { trustee: 3, wrong: Wrong::Missing };
            assert_eq!(run.trustees[1].take(files).unwrap_err(), expected);
        }
    }
    // None of this has changed the run.
    assert_eq!(run.finished().len(), 3);
    let text = WrongFile { trustee: 3, wrong: Wrong::Elsewhere { exchange: 4, sender: 1, receiver: 2 } }.to_string();
    assert_eq!(text, "trustee 3: this is the file of exchange 4 from trustee 1 to trustee 2");
}

/// A key of small order would give a secret that anyone can compute.
#[test]
fn keys_that_protect_nothing_are_refused() {
    let mut run = Run::small(1);
    let files = run.files();
    let mut file = files[2][1].clone();
    file[43..75].fill(0);
    let hash = super::distributed::derive("offline key", &[&file[..75]]);
    let signature = Identity::from_seed(&[3; 32]).sign(&hash);
    file[75..].copy_from_slice(&signature);
    let mut received = received(&files, 1);
    received[2] = Some(file);
    assert_eq!(run.trustees[1].take(received).unwrap_err(), WrongFile { trustee: 3, wrong: Wrong::WeakKey });
}

/// Trustee 3 stops sending. Trustee 1 ends the run, and its last files inform trustee 2.
#[test]
fn who_does_not_send_is_named_and_the_others_are_told() {
    let mut run = Run::small(1);
    run.until(7);
    let files = run.files();
    let mut without = received(&files, 0);
    without[2] = None;
    let Next::Failed { failure, files: last } = run.trustees[0].take(without).unwrap() else { panic!("a key") };
    assert_eq!((&failure.trustees[..], &failure.reason), (&[3][..], &Reason::Silent));
    assert!(matches!(run.trustees[1].take(received(&files, 1)), Ok(Next::Files)));
    // Regardless of what trustee 3 sends then.
    let told = vec![Some(last[1].clone()), None, None];
    let Next::Failed { failure, .. } = run.trustees[1].take(told).unwrap() else { panic!("a key") };
    assert_eq!((&failure.trustees[..], &failure.reason), (&[3][..], &Reason::Reported { by: 1 }));
}

/// Every file of a run, and its key, are those of tests/offline.py, which verifies all equations.
#[test]
fn a_run_is_that_of_another_program() {
    let mut run = Run::small(1);
    let finished = run.finished();
    let mut lines = include_str!("../offline.txt").lines().skip(1);
    for (exchange, files) in (1..).zip(&run.taken) {
        for (from, to) in [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)] {
            let hash = hex(&Sha256::digest(&files[from - 1][to - 1]));
            assert_eq!(lines.next(), Some(&format!("file {exchange} {from} {to} {}", &hash[..16])[..]));
        }
    }
    let n = hex(&finished[0].verification.key().modulus_be());
    assert_eq!(lines.next(), Some(&format!("n {n}")[..]));
    assert_eq!(lines.next(), Some(&format!("transcript {}", hex(&finished[0].transcript))[..]));
    assert_eq!(lines.next(), None);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn seeds_belong_to_their_settings() {
    let run = Run::small(1);
    let identity = |number: u8| Identity::from_seed(&[number; 32]);
    let keys = [1, 2, 3].map(|number| identity(number).public());
    let new = |parameters: &Parameters, me: u32, keys: &[[u8; 32]], settings: [u8; 32]| {
        let saved = Saved::with_seed(settings, &[1; 32]);
        Correspondent::new(parameters.clone(), me, identity(1), keys, &saved).map_err(|error| error.kind().clone())
    };
    let settings = Correspondent::settings(&run.parameters, &keys);
    assert!(new(&run.parameters, 1, &keys, settings).is_ok());
    for wrong in [
        new(&run.parameters, 1, &keys, [0; 32]),
        new(&run.parameters, 2, &keys, settings),
        new(&run.parameters, 1, &[keys[0], keys[2], keys[1]], settings),
        new(&run.parameters, 1, &keys[..2], settings),
        new(&run.parameters.clone().with_candidates(50), 1, &keys, settings),
    ] {
        assert_eq!(wrong.unwrap_err(), ErrorKind::BadSharing);
    }
}

#[test]
fn names_say_whose_a_file_is_and_nothing_secret_is_shown() {
    assert_eq!(file_name(7, 2, 3), "exchange-07-from-2-to-3.hearith");
    let run = Run::small(1);
    assert_eq!(format!("{:?}", run.trustees[1]), "Correspondent(2 of 3, exchange 1)");
}
