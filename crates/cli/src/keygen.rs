//! `hearith keygen`.

use hearith_paillier::{DEFAULT_ITERATIONS, PrivateKey, SecretText};
use zeroize::Zeroizing;

use crate::args::Keygen;
use crate::failure::{Failure, name};
use crate::keys::hinting;
use crate::pair::{JSON, Pair};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Makes a key pair and writes its two files.
pub(crate) fn run(session: &Session, command: &Keygen) -> Result<(), Failure> {
    let private_file = name(&command.out.join(JSON.private));
    let mut pair = Pair::begin(&command.out, JSON, command.force)?;
    let encrypts = command.passphrase || session.passphrases.is_given();
    let passphrase = encrypts.then(|| session.passphrases.choose(&private_file)).transpose()?;

    let mut watch = Stopwatch::start();
    let key = watch.compute(|| generate(session, command))?;
    session.warn_of(&private_file, key.public());
    pair.write(&private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
    pair.commit()?;
    session.report(&watch.stop_key(key.public().id(), key.public().bits()));
    Ok(())
}

fn generate(session: &Session, command: &Keygen) -> Result<PrivateKey, Failure> {
    let _progress = Progress::start("searching primes", Length::Unknown);
    let made = PrivateKey::generate(command.bits, command.variant, session.policy, session.engine);
    made.map_err(|error| hinting(Failure::new(error.clone()), &error))
}

/// The private key as its file holds it, encrypted if there is a passphrase.
pub(crate) fn private_text(key: &PrivateKey, passphrase: Option<&SecretText>) -> Result<Zeroizing<String>, Failure> {
    match passphrase {
        None => Ok(key.to_jwk()),
        Some(passphrase) => {
            let text = key.to_encrypted_jwk(passphrase.first_line(), DEFAULT_ITERATIONS);
            text.map(Zeroizing::new).map_err(Failure::new)
        }
    }
}
