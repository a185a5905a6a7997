//! Files by which trustees generate a key without a network, and the text that a trustee saves.
//!
//! Input: a byte for the exchange, a byte of flags, two for a position, and the content. Flag bit 0
//! overwrites the file from trustee 3 to trustee 2 with the content at that position, and bit 1
//! cuts off the rest. Without both flags, the file is only the content. Nothing may panic, only the
//! right file is accepted, and a wrong one changes nothing.
#![no_main]

use hearith_paillier::{Engine, KeyPolicy, Variant};
use hearith_threshold::distributed::offline::{Correspondent, Next, Saved};
use hearith_threshold::distributed::{Identity, Parameters};
use libfuzzer_sys::fuzz_target;
use std::sync::{Mutex, OnceLock};

const TRUSTEES: u32 = 3;
const SENDER: usize = 2;
const RECEIVER: usize = 1;
/// Keys, the first messages, shares, and commitments.
const EXCHANGES: [u32; 4] = [1, 2, 5, 6];

/// Trustee 2 before it accepts the files of an exchange, and those files.
struct Waiting {
    trustee: Correspondent,
    files: Vec<Option<Vec<u8>>>,
}

fn trustees() -> Vec<Correspondent> {
    let parameters = Parameters::new(128, 2, TRUSTEES, Variant::Standard, KeyPolicy::AllowInsecure, Engine::Serial);
    let parameters = parameters.expect("good parameters").with_candidates(8);
    let identity = |number: u32| Identity::from_seed(&[number as u8; 32]);
    let keys: Vec<[u8; 32]> = (1..=TRUSTEES).map(|number| identity(number).public()).collect();
    let settings = Correspondent::settings(&parameters, &keys);
    let trustee = |number: u32| {
        let saved = Saved::with_seed(settings, &[number as u8; 32]);
        Correspondent::new(parameters.clone(), number, identity(number), &keys, &saved).expect("a trustee")
    };
    (1..=TRUSTEES).map(trustee).collect()
}

fn received(sent: &[Vec<Vec<u8>>], to: usize) -> Vec<Option<Vec<u8>>> {
    sent.iter().map(|files| Some(files[to].clone()).filter(|file| !file.is_empty())).collect()
}

/// Returns trustee 2 at an exchange of a run in which all follow the protocol.
fn waiting(exchange: u32) -> Waiting {
    let mut trustees = trustees();
    loop {
        let sent: Vec<Vec<Vec<u8>>> = trustees.iter().map(Correspondent::files).collect();
        if trustees[RECEIVER].exchange() == exchange {
            return Waiting { trustee: trustees.remove(RECEIVER), files: received(&sent, RECEIVER) };
        }
        for (to, trustee) in trustees.iter_mut().enumerate() {
            assert!(matches!(trustee.take(received(&sent, to)), Ok(Next::Files)));
        }
    }
}

/// Returns the file that replaces the right one.
fn made(good: &[u8], how: u8, at: usize, content: &[u8]) -> Vec<u8> {
    if how & 3 == 0 {
        return content.to_vec();
    }
    let start = at.min(good.len());
    let end = if how & 1 == 1 { (start + content.len()).min(good.len()) } else { start };
    let rest = if how & 2 == 0 { &good[end..] } else { &[][..] };
    [&good[..start], content, rest].concat()
}

fn check_text(text: &str) {
    if let Some(saved) = Saved::from_text(text) {
        let again = Saved::from_text(&saved.to_text()).expect("what is written is read");
        assert_eq!(*again.to_text(), *saved.to_text());
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        check_text(text);
    }
    let [exchange, how, high, low, content @ ..] = bytes else { return };
    static WAITING: OnceLock<Mutex<Vec<Waiting>>> = OnceLock::new();
    let waiting = WAITING.get_or_init(|| Mutex::new(EXCHANGES.map(waiting).into()));
    let mut waiting = waiting.lock().expect("one thread");
    let Waiting { trustee, files } = &mut waiting[usize::from(*exchange) % EXCHANGES.len()];
    let good = files[SENDER].as_deref().expect("another's file");
    let file = made(good, *how, usize::from(u16::from_be_bytes([*high, *low])), content);
    let checked = trustee.check(SENDER as u32 + 1, &file);
    assert_eq!(checked.is_ok(), file == good, "only the right file");
    if let Err(wrong) = checked {
        let before = trustee.files();
        let mut all = files.clone();
        all[SENDER] = Some(file);
        assert_eq!(trustee.take(all).err(), Some(wrong));
        assert_eq!(trustee.files(), before);
    }
});
