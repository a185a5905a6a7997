//! `hearith keygen`.

use hearith_columns::SigningKey;
use hearith_paillier::{DEFAULT_BITS, PrivateKey, SecretText, Variant};
use hearith_threshold::deal;
use zeroize::Zeroizing;

use crate::args::{Keygen, Scheme, Sharing};
#[cfg(feature = "distributed")]
use crate::distributed::{Generation, Party, is_ending};
#[cfg(feature = "distributed")]
use crate::failure::eprint_line;
use crate::failure::{CliError, name};
use crate::key_files::{JSON, Pair, SIGNING};
use crate::keys::{sealed, with_hint};
use crate::lattice;
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::shared_key::{SharedKey, VERIFICATION, share_file};
use crate::signing;

/// Generates a key pair and writes its two files, or the files of a shared key.
pub(crate) fn run(session: &Session, command: &Keygen) -> Result<(), CliError> {
    check_options(command)?;
    #[cfg(feature = "distributed")]
    if let Some(sharing) = command.distributed {
        return together(session, command, sharing);
    }
    match command.shares {
        _ if command.signing => signing_pair(session, command),
        None => pair(session, command),
        Some(sharing) => shared(session, command, sharing),
    }
}

/// Rejects options of the other scheme.
fn check_options(command: &Keygen) -> Result<(), CliError> {
    let given = |option: &'static str, is_given: bool| is_given.then_some(option);
    let foreign = match command.scheme {
        Scheme::Paillier => given("--set", command.set.is_some()),
        Scheme::Bfv => given("--bits", command.bits.is_some())
            .or(given("--variant", command.variant.is_some()))
            .or(given("--shares", command.shares.is_some())),
    };
    let other = if command.scheme == Scheme::Bfv { "paillier" } else { "bfv" };
    foreign.map_or(Ok(()), |option| Err(CliError::new(format!("{option} is for keys of --scheme {other}"))))
}

fn pair(session: &Session, command: &Keygen) -> Result<(), CliError> {
    let private_file = name(&command.out.join(JSON.private));
    let verification = command.out.join(VERIFICATION);
    if std::fs::symlink_metadata(&verification).is_ok() {
        let what = "there is a shared key here: use another directory for a key with one holder";
        return Err(CliError::at(name(&verification), what));
    }
    let mut pair = Pair::begin(&command.out, JSON, command.force)?;
    let passphrase = passphrase(session, command, &private_file)?;

    let mut watch = Stopwatch::start();
    let step = match command.scheme {
        Scheme::Paillier => {
            let key = watch.compute(|| generate(session, command))?;
            session.warn_insecure_key(&private_file, key.public());
            pair.write(&private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
            pair.commit()?;
            watch.stop_key(key.public().id(), key.public().bits())
        }
        Scheme::Bfv => {
            let set = command.set.unwrap_or_default();
            let made = watch.compute(|| hearith_bfv::PrivateKey::generate(set, session.engine));
            let key = made.map_err(CliError::new)?;
            pair.write(&lattice::private_text(&key, passphrase.as_ref())?, &key.public().to_text())?;
            pair.commit()?;
            watch.stop_set(key.public().id(), set.name())
        }
    };
    session.report(&step);
    Ok(())
}

/// Generates a key pair that signs tables.
fn signing_pair(session: &Session, command: &Keygen) -> Result<(), CliError> {
    let mut pair = Pair::begin(&command.out, SIGNING, command.force)?;
    let passphrase = passphrase(session, command, &name(&command.out.join(SIGNING.private)))?;
    let watch = Stopwatch::start();
    let key = SigningKey::generate().map_err(CliError::new)?;
    pair.write(&signing::private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
    pair.commit()?;
    session.report(&watch.stop_set(key.public().id(), "ed25519"));
    Ok(())
}

/// Generates a key and deals its shares. Writes nothing of the whole private key.
fn shared(session: &Session, command: &Keygen, sharing: Sharing) -> Result<(), CliError> {
    let first_file = name(&command.out.join(share_file(1)));
    let mut files = SharedKey::begin(&command.out, 1..=sharing.trustees, command.force)?;
    let passphrase = passphrase(session, command, &first_file)?;

    let mut watch = Stopwatch::start();
    let (verification, shares) = watch.compute(|| {
        let key = generate(session, command)?;
        deal(&key, sharing.needed, sharing.trustees).map_err(CliError::new)
    })?;
    let key = verification.key();
    session.warn_insecure_key(&first_file, key);
    files.write(&verification, &shares, passphrase.as_ref())?;
    files.commit()?;
    session.report(&watch.stop_key(key.id(), key.bits()));
    Ok(())
}

/// Generates a key with other trustees, and writes this trustee's share.
#[cfg(feature = "distributed")]
fn together(session: &Session, command: &Keygen, sharing: Sharing) -> Result<(), CliError> {
    let party = Party::of_keygen(session, command, sharing)?;
    let me = party.trustee();
    let file = name(&command.out.join(share_file(me)));
    let replace = command.force || is_ending(&command.at, me, &command.out);
    let mut files = SharedKey::begin(&command.out, me..=me, replace)?;
    let mut generation = Generation::prepare(session, party, &command.at, &command.out)?;
    let passphrase = generation.passphrase(session, || passphrase(session, command, &file))?;

    let mut watch = Stopwatch::start();
    let finished = watch.compute(|| generation.run(session, passphrase.as_ref()))?;
    let Some(finished) = finished else { return Ok(()) };
    let key = finished.verification.key();
    if !session.is_quiet() {
        eprint_line(&format!("{} candidates in {} rounds", finished.candidates, finished.rounds));
    }
    session.warn_insecure_key(&file, key);
    files.write(&finished.verification, &[finished.share], passphrase.as_ref())?;
    files.commit()?;
    generation.end(session)?;
    session.report(&watch.stop_key(key.id(), key.bits()));
    Ok(())
}

fn passphrase(session: &Session, command: &Keygen, file: &str) -> Result<Option<SecretText>, CliError> {
    let encrypts = command.passphrase || session.passphrases.is_given();
    encrypts.then(|| session.passphrases.choose(file)).transpose()
}

fn generate(session: &Session, command: &Keygen) -> Result<PrivateKey, CliError> {
    let what = if command.shares.is_some() { "searching safe primes" } else { "searching primes" };
    let _progress = Progress::start(what, Length::Unknown);
    let (bits, variant) = (command.bits.unwrap_or(DEFAULT_BITS), command.variant.unwrap_or(Variant::Standard));
    let made = match command.shares {
        None => PrivateKey::generate(bits, variant, session.policy, session.engine),
        Some(_) => PrivateKey::generate_safe(bits, variant, session.policy, session.engine),
    };
    made.map_err(|error| with_hint(CliError::new(error.clone()), &error))
}

/// The file text of a private key, encrypted if there is a passphrase.
pub(crate) fn private_text(key: &PrivateKey, passphrase: Option<&SecretText>) -> Result<Zeroizing<String>, CliError> {
    sealed(key.to_jwk(), key.public().id(), passphrase)
}
