//! No secret remains on the heap. Every freed block is searched for secret keys while they are
//! made, written, read and used, and for the openings of a cast ballot.
//!
//! Not covered: the random numbers of proofs, which hearith-proofs wipes itself, the stack, and the
//! registers.

use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_election::{Hash, KeyRole, SecretKey, Signer};
use hearith_testing::heap::{Recorder, Secrets, freed_by};
use std::hint::black_box;

#[global_allocator]
static RECORDER: Recorder = Recorder;

#[test]
fn no_secret_is_left_on_the_heap() {
    let signer = Signer::generate().unwrap();
    let secret = signer.secret();
    let text = Base64UrlUnpadded::encode_string(&*secret);
    let mut secrets = Secrets::default();
    secrets.text("secret key, as text", &text);
    for (part, bytes) in secret.chunks(8).enumerate() {
        secrets.part(&format!("secret key, part {part}"), bytes);
    }
    let (_, freed) = freed_by(|| drop(black_box((text.clone(), secret.to_vec()))));
    assert_eq!(secrets.within(&freed).len(), 5, "the search finds what is not wiped");

    let election = Hash::of(&[b"an election"]);
    let made =
        || [SecretKey::of_voter(election, "Åsa \"the\" voter", &signer), SecretKey::of_office(KeyRole::Board, &signer)];
    let (lines, freed) = freed_by(|| made().map(|key| key.to_line()));
    assert_eq!(secrets.within(&freed), [], "writing keys");

    let (_, freed) = freed_by(|| {
        for (line, role) in lines.iter().zip([KeyRole::Voter, KeyRole::Board]) {
            let again = SecretKey::from_line(line, role).unwrap().signer().unwrap();
            assert_eq!(again.public(), signer.public());
            assert!(SecretKey::from_line(line, KeyRole::Organiser).is_err());
            assert!(SecretKey::from_line(&line[..line.len() - 1], role).is_err());
        }
    });
    assert_eq!(secrets.within(&freed), [], "reading keys");
}
