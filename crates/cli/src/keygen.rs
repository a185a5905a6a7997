//! `hearith keygen`.

use hearith_paillier::{DEFAULT_ITERATIONS, PrivateKey, SecretText};
use hearith_threshold::deal;
use zeroize::Zeroizing;

use crate::args::{Keygen, Sharing};
use crate::failure::{Failure, name};
use crate::keys::hinting;
use crate::pair::{JSON, Pair};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::shared_key::{SharedKey, VERIFICATION, share_file};

/// Makes a key pair and writes its two files, or a shared key's.
pub(crate) fn run(session: &Session, command: &Keygen) -> Result<(), Failure> {
    match command.shares {
        None => pair(session, command),
        Some(sharing) => shared(session, command, sharing),
    }
}

fn pair(session: &Session, command: &Keygen) -> Result<(), Failure> {
    let private_file = name(&command.out.join(JSON.private));
    let verification = command.out.join(VERIFICATION);
    if std::fs::symlink_metadata(&verification).is_ok() {
        let what = "there is a shared key here: one of one holder takes another directory";
        return Err(Failure::at(name(&verification), what));
    }
    let mut pair = Pair::begin(&command.out, JSON, command.force)?;
    let passphrase = passphrase(session, command, &private_file)?;

    let mut watch = Stopwatch::start();
    let key = watch.compute(|| generate(session, command))?;
    session.warn_of(&private_file, key.public());
    pair.write(&private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
    pair.commit()?;
    session.report(&watch.stop_key(key.public().id(), key.public().bits()));
    Ok(())
}

/// Deals a key: nothing of the whole one is written.
fn shared(session: &Session, command: &Keygen, sharing: Sharing) -> Result<(), Failure> {
    let first_file = name(&command.out.join(share_file(1)));
    let mut files = SharedKey::begin(&command.out, sharing.trustees, command.force)?;
    let passphrase = passphrase(session, command, &first_file)?;

    let mut watch = Stopwatch::start();
    let (verification, shares) = watch.compute(|| {
        let key = generate(session, command)?;
        deal(&key, sharing.needed, sharing.trustees).map_err(Failure::new)
    })?;
    let key = verification.key();
    session.warn_of(&first_file, key);
    files.write(&verification, &shares, passphrase.as_ref())?;
    files.commit()?;
    session.report(&watch.stop_key(key.id(), key.bits()));
    Ok(())
}

fn passphrase(session: &Session, command: &Keygen, file: &str) -> Result<Option<SecretText>, Failure> {
    let encrypts = command.passphrase || session.passphrases.is_given();
    encrypts.then(|| session.passphrases.choose(file)).transpose()
}

fn generate(session: &Session, command: &Keygen) -> Result<PrivateKey, Failure> {
    let what = if command.shares.is_some() { "searching safe primes" } else { "searching primes" };
    let _progress = Progress::start(what, Length::Unknown);
    let made = match command.shares {
        None => PrivateKey::generate(command.bits, command.variant, session.policy, session.engine),
        Some(_) => PrivateKey::generate_safe(command.bits, command.variant, session.policy, session.engine),
    };
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
