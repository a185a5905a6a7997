//! No secret remains on the heap. Every block freed while a key is dealt, written, read and used is
//! searched for values that must have been wiped.
//!
//! These are the exponent `d`, the order `p' q'`, each `s_i` and `D s_i`, and the `rho` that
//! follows from an answer. The search looks for limbs of 64 bits, limbs of 52 bits (as in the
//! vector engine) and big-endian bytes, and for the text of `s` in a file. The search is that of
//! hearith-paillier's test of the same name, which describes it. Not covered: the search for
//! primes, and the dealer's random coefficients, which cannot be computed from outside. Horner's
//! rule processes them in batches, which are wiped like those of the shares.

use base64ct::{Base64UrlUnpadded, Encoding};
use curve25519_dalek::MontgomeryPoint;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_proofs::Transcript;
use hearith_threshold::distributed::offline::{Correspondent, Next, Saved};
use hearith_threshold::distributed::{Finished, Identity, Parameters, Step, Trustee, session_id};
use hearith_threshold::{Contexts, KeyShare, deal};
use rug::{Integer, integer::Order};
use sha2::{Digest, Sha256};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Capacity for copies in bytes.
const ROOM: usize = 1 << 28;

/// The system's allocator, which copies freed blocks while it records. Allocated memory is zeroed.
struct Recorder {
    copies: UnsafeCell<*mut u8>,
    used: AtomicUsize,
    recording: AtomicBool,
}

// SAFETY: each copy has its own range, reserved through `used`, and copies are only read when
// nothing records.
unsafe impl Sync for Recorder {}

#[global_allocator]
static RECORDER: Recorder = Recorder {
    copies: UnsafeCell::new(std::ptr::null_mut()),
    used: AtomicUsize::new(0),
    recording: AtomicBool::new(false),
};

// SAFETY: blocks come from the system's allocator. A block is copied before it is freed.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are ours.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.recording.load(Ordering::SeqCst) {
            // Zeros separate copies, so no word spans two of them.
            let at = self.used.fetch_add((layout.size() + 8).next_multiple_of(8), Ordering::SeqCst);
            assert!(at + layout.size() < ROOM, "no room for the copies");
            // SAFETY: the range belongs to this block alone and is within the buffer. The block is
            // valid until it is freed below.
            unsafe { std::ptr::copy_nonoverlapping(block, (*self.copies.get()).add(at), layout.size()) };
        }
        // SAFETY: the caller's obligations are ours.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The blocks freed while `work` ran, and its result, which is still allocated.
fn freed_by<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    let layout = Layout::from_size_align(ROOM, 64).unwrap();
    // SAFETY: nothing records yet. The buffer is zeroed and is freed below.
    unsafe { *RECORDER.copies.get() = System.alloc_zeroed(layout) };
    RECORDER.used.store(0, Ordering::SeqCst);
    RECORDER.recording.store(true, Ordering::SeqCst);
    let result = work();
    RECORDER.recording.store(false, Ordering::SeqCst);
    // SAFETY: all reserved ranges are within the buffer, and nothing records any more.
    let copies = unsafe {
        let start = *RECORDER.copies.get();
        let copies = std::slice::from_raw_parts(start, RECORDER.used.load(Ordering::SeqCst)).to_vec();
        System.dealloc(start, layout);
        copies
    };
    (result, copies)
}

/// Words that must not occur, with the name of the secret that they belong to.
#[derive(Default)]
struct Secrets(HashMap<u64, String>);

impl Secrets {
    /// Adds a word, unless it is so simple that it could occur by chance.
    fn word(&mut self, name: &str, word: u64) {
        if word.count_ones() > 8 && word.count_zeros() > 8 && word.leading_zeros() < 24 {
            self.0.insert(word, name.to_owned());
        }
    }

    fn number(&mut self, name: &str, number: &Integer) {
        for limb in number.to_digits::<u64>(Order::Lsf) {
            self.word(name, limb);
            self.word(name, limb.swap_bytes());
        }
        let mask = (Integer::from(1) << 52u32) - 1u32;
        for index in 0..number.significant_bits().div_ceil(52) {
            let digit = (Integer::from(number >> (52 * index)) & &mask).to_u64().unwrap();
            self.word(name, digit);
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        for piece in text.as_bytes().as_chunks::<8>().0 {
            self.0.insert(u64::from_le_bytes(*piece), name.to_owned());
        }
    }

    /// The names of all secrets in memory, at any byte offset.
    fn within(&self, memory: &[u8]) -> Vec<&str> {
        let words = memory.windows(8).map(|window| u64::from_le_bytes(window.try_into().unwrap()));
        let mut found: Vec<&str> = words.filter_map(|word| self.0.get(&word).map(String::as_str)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// `s_i` in a trustee's file, as text and number.
fn secret(share: &KeyShare) -> (String, Integer) {
    let text = share.to_json();
    let s = text.split("\"s\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let number = Integer::from_digits(&Base64UrlUnpadded::decode_vec(&s).unwrap(), Order::Msf);
    (s, number)
}

/// The challenge of the only row of shares, computed from the trustee's file as in
/// crates/threshold/README.md.
fn challenge(share: &KeyShare, ciphertext: &[u8], shares: &[u8]) -> Integer {
    let text = share.to_json();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |value: &serde_json::Value| Base64UrlUnpadded::decode_vec(value.as_str().unwrap()).unwrap();
    let width = ciphertext.len();
    let counters: Vec<u8> = [2, 3, share.trustee()].iter().flat_map(|number| number.to_be_bytes()).collect();
    let parts = [
        b"heap".to_vec(),
        b"row".to_vec(),
        share.key().modulus_be(),
        counters,
        number(&json["shared"]["v"]),
        number(&json["shared"]["v_i"][0]),
        ciphertext.to_vec(),
        shares[..width].to_vec(),
        shares[width..2 * width].to_vec(),
        shares[2 * width..3 * width].to_vec(),
    ];
    let transcript = parts.iter().fold(Transcript::new("share"), |transcript, part| transcript.with(part));
    Integer::from_digits(&transcript.challenge(), Order::Msf)
}

/// Only one test records at a time.
static RECORDING: Mutex<()> = Mutex::new(());

/// Three trustees generate a key from seeds.
fn generate(engine: Engine, seeds: &[[u8; 32]; 3]) -> Vec<Finished> {
    let policy = KeyPolicy::AllowInsecure;
    let parameters = Parameters::new(128, 2, 3, Variant::Standard, policy, engine).unwrap();
    let identity = |number: usize| Identity::from_seed(&[number as u8 + 1; 32]);
    let keys = [0, 1, 2].map(|number| identity(number).public());
    let session = session_id(&parameters, &keys, &[[0; 32]; 3]);
    let trustee = |number: usize| {
        let (parameters, me) = (parameters.clone(), number as u32 + 1);
        Trustee::with_seed(parameters, me, identity(number), &keys, session, &seeds[number]).unwrap()
    };
    let mut trustees = [0, 1, 2].map(trustee);
    let mut sent = trustees.each_mut().map(Trustee::start);
    loop {
        let received = [0, 1, 2].map(|to| sent.each_ref().map(|from| Some(from[to].clone())));
        let steps: Vec<Step> =
            trustees.iter_mut().zip(received).map(|(trustee, received)| trustee.step(&received)).collect();
        let (mut next, mut finished) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Send(messages) => next.push(messages),
                Step::Finished(key) => finished.push(*key),
                Step::Failed { failure, .. } => panic!("{failure}"),
            }
        }
        match next.try_into() {
            Ok(messages) => sent = messages,
            Err(_) => return finished,
        }
    }
}

fn hash(label: &str, parts: &[&[u8]]) -> [u8; 32] {
    let label = format!("hearith-distributed 1 {label}");
    let parts = std::iter::once(label.as_bytes()).chain(parts.iter().copied());
    let update = |hash: Sha256, part: &[u8]| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part);
    parts.fold(Sha256::new(), update).finalize().into()
}

fn bytes(label: &str, number: usize) -> [u8; 32] {
    Transcript::new(label).with(&[number as u8, 1]).challenge()
}

/// The parameters of a run by files, and the identities and keys of three trustees.
fn correspondents(engine: Engine) -> (Parameters, [Identity; 3], [[u8; 32]; 3]) {
    let parameters = Parameters::new(128, 2, 3, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
    let identities = [0, 1, 2].map(|number| Identity::from_seed(&bytes("heap identity", number)));
    let keys = identities.each_ref().map(Identity::public);
    (parameters.for_one_batch(), identities, keys)
}

/// Three trustees generate a key by files from seeds. Also returns the name of the run.
fn carry(engine: Engine, seeds: &[[u8; 32]; 3]) -> (Vec<Finished>, [u8; 32]) {
    let (parameters, identities, keys) = correspondents(engine);
    let settings = Correspondent::settings(&parameters, &keys);
    let trustee = |number: usize| {
        let saved = Saved::from_text(&Saved::with_seed(settings, &seeds[number]).to_text()).unwrap();
        let (parameters, identity) = (parameters.clone(), identities[number].clone());
        Correspondent::new(parameters, number as u32 + 1, identity, &keys, &saved).unwrap()
    };
    let mut trustees = [0, 1, 2].map(trustee);
    loop {
        let sent = trustees.each_ref().map(Correspondent::files);
        let mut finished = Vec::new();
        for (to, trustee) in trustees.iter_mut().enumerate() {
            let received = sent.iter().map(|files| Some(files[to].clone()).filter(|file| !file.is_empty())).collect();
            match trustee.take(received).unwrap() {
                Next::Files => {}
                Next::Finished(key) => finished.push(*key),
                Next::Failed { failure, .. } => panic!("{failure}"),
            }
        }
        if !finished.is_empty() {
            return (finished, trustees[0].session().unwrap());
        }
    }
}

/// The messages between trustees in the same run that carry the last secrets drawn.
fn blindings(engine: Engine, masters: &[[u8; 32]; 3], session: [u8; 32]) -> Vec<Vec<u8>> {
    const STAGE: (usize, u8) = (6, 13);
    let (parameters, identities, keys) = correspondents(engine);
    let trustee = |number: usize| {
        let (parameters, identity) = (parameters.clone(), identities[number].clone());
        Trustee::with_seed(parameters, number as u32 + 1, identity, &keys, session, &masters[number]).unwrap()
    };
    let mut trustees = [0, 1, 2].map(trustee);
    let mut sent = trustees.each_mut().map(Trustee::start);
    loop {
        let received = [0, 1, 2].map(|to| sent.each_ref().map(|from| Some(from[to].clone())));
        for (trustee, (received, sent)) in trustees.iter_mut().zip(received.iter().zip(&mut sent)) {
            let Step::Send(messages) = trustee.step(received) else { panic!("the run ends early") };
            *sent = messages;
        }
        if sent[0][1][STAGE.0] == STAGE.1 {
            let private = |message: &Vec<u8>| message[85..message.len() - 64].to_vec();
            return sent.iter().flatten().filter(|message| !message.is_empty()).map(private).collect();
        }
    }
}

/// The secrets of a run by files: seeds and values derived from them, shared secrets, and sealed
/// content.
fn secrets_of_files(engine: Engine, seeds: &[[u8; 32]; 3], session: [u8; 32]) -> Secrets {
    let mut secrets = Secrets::default();
    let mut put = |name: &str, bytes: &[u8]| secrets.number(name, &Integer::from_digits(bytes, Order::Lsf));
    let agreements = seeds.map(|seed| hash("offline secret", &[&seed]));
    let masters = seeds.map(|seed| hash("offline master", &[&seed]));
    let public = agreements.map(MontgomeryPoint::mul_base_clamped);
    for (number, secret) in agreements.iter().enumerate() {
        put("a seed", &seeds[number]);
        put("a master seed", &masters[number]);
        put("a secret of X25519", secret);
        put("an identity", &bytes("heap identity", number));
        for (_, key) in public.iter().enumerate().filter(|(other, _)| *other != number) {
            put("a shared secret", key.mul_clamped(*secret).as_bytes());
        }
    }
    for private in blindings(engine, &masters, session) {
        put("what is sealed", &private);
    }
    for seed in seeds {
        secrets.text("text of a seed", &Base64UrlUnpadded::encode_string(seed));
    }
    secrets
}

/// The additional secrets of a run by files, see above.
#[test]
fn generating_a_key_by_files_leaves_nothing_on_the_heap() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut leaks = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let seeds: [[u8; 32]; 3] = std::array::from_fn(|number| bytes("heap seed of files", number));
        let ((finished, session), memory) = freed_by(|| carry(engine, &seeds));
        let mut secrets = secrets_of_files(engine, &seeds, session);
        for one in &finished {
            let (text, number) = secret(&one.share);
            secrets.text("text of a share", &text);
            secrets.number("a share", &number);
        }
        leaks.extend(secrets.within(&memory).into_iter().map(|name| format!("{engine}: {name}")));
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

/// Seeds, and shares of the key and their multiples. Parts of other candidates are revealed, and
/// messages belong to their receivers.
#[test]
fn generating_a_key_leaves_nothing_on_the_heap() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut leaks = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let mut secrets = Secrets::default();
        let seeds: [[u8; 32]; 3] =
            std::array::from_fn(|number| Transcript::new("heap seed").with(&[number as u8, 1]).challenge());
        for seed in &seeds {
            secrets.number("a seed", &Integer::from_digits(seed, Order::Lsf));
        }
        let (finished, memory) = freed_by(|| generate(engine, &seeds));
        for one in &finished {
            let (text, number) = secret(&one.share);
            secrets.text("text of a share", &text);
            secrets.number("a share", &number);
            secrets.number("a share times D", &(number * 6u32));
        }
        leaks.extend(secrets.within(&memory).into_iter().map(|name| format!("{engine}: {name}")));
        let ((), memory) = freed_by(|| drop(finished));
        leaks.extend(secrets.within(&memory).into_iter().map(|name| format!("{engine}, dropping: {name}")));
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn nothing_secret_stays_on_the_heap() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let (policy, contexts) = (KeyPolicy::AllowInsecure, Contexts::new(b"heap", [b"row"]));
    let canary: Integer = (Integer::from(0x5d3a_91c7_e04b_26f8_u64) << 64u32) + 0x8c15_7ae9_b36d_f042_u64;
    let mut unwiped = Secrets::default();
    unwiped.number("canary", &canary);
    let ((), freed) = freed_by(|| drop(canary.to_digits::<u64>(Order::Lsf)));
    assert_eq!(unwiped.within(&freed), ["canary"], "what is not wiped is found");

    let mut leaks = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let private = PrivateKey::generate_safe(512, Variant::Standard, policy, engine).unwrap();
        let ((verification, trustees), dealing) = freed_by(|| deal(&private, 2, 3).unwrap());
        let [p, q] = private.primes().map(|prime| Integer::from_digits(prime, Order::Lsf));
        let n = Integer::from_digits(&verification.key().modulus_be(), Order::Msf);
        let order = (p - 1u32) / 2u32 * ((q - 1u32) / 2u32);
        let mut secrets = Secrets::default();
        secrets.number("the exponent d", &(order.clone() * Integer::from(order.invert_ref(&n).unwrap())));
        secrets.number("n p' q'", &(n * &order));
        secrets.number("p' q'", &order);
        for share in &trustees {
            let (text, number) = secret(share);
            secrets.text("text of a share", &text);
            secrets.number("a share", &number);
            secrets.number("a share times D", &(number * 6u32));
        }
        let key = verification.key().clone();
        let ciphertexts = key.encrypt(&encode_signed(&key, &[77]).unwrap()).unwrap();
        let (shares, using) = freed_by(|| {
            let share = KeyShare::from_json(&trustees[1].to_json(), policy, engine).unwrap();
            drop(trustees[1].to_encrypted_json("word", 1000).unwrap());
            share.decrypt(&contexts, &ciphertexts).unwrap()
        });
        let (bytes, width) = (shares.to_be_bytes(), key.ciphertext_bytes());
        let z = Integer::from_digits(&bytes[3 * width..], Order::Msf);
        let hidden = challenge(&trustees[1], &ciphertexts.to_be_bytes(), &bytes) * secret(&trustees[1]).1 * 6u32;
        secrets.number("e D s", &hidden);
        secrets.number("rho", &(z - hidden));
        let ((), dropping) = freed_by(|| drop((trustees, private)));
        for (what, memory) in [("dealing", dealing), ("using", using), ("dropping", dropping)] {
            leaks.extend(secrets.within(&memory).into_iter().map(|name| format!("{engine}, {what}: {name}")));
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn the_search_finds_what_is_not_wiped() {
    let number: Integer = (Integer::from(0x5d3a_91c7_e04b_26f8_u64) << 64u32) + 0x8c15_7ae9_b36d_f042_u64;
    let mut secrets = Secrets::default();
    secrets.number("number", &number);
    let digits = number.to_digits::<u64>(Order::Lsf);
    let bytes = number.to_digits::<u8>(Order::Msf);
    for memory in [digits.iter().flat_map(|digit| digit.to_le_bytes()).collect::<Vec<u8>>(), bytes] {
        assert_eq!(secrets.within(&[&[1, 2, 3][..], &memory].concat()), ["number"]);
    }
    assert!(secrets.within(&[0; 100]).is_empty());
}
