//! `hearith election ceremony`: creates an election's key. A dealer generates it, or the trustees
//! generate it together, each on its own machine, and the organiser combines their statements.

use std::path::{Path, PathBuf};

use hearith_election::signature::PublicKey;
use hearith_election::{Body, Bytes, ElectionKey, Manifest, Signed, Trustees, canonical};
use hearith_paillier::{PrivateKey, SecretText, Variant};
use hearith_threshold::deal;

use super::organiser_dir::{DRAFT, ElectionHandle, keys, of, text};
use super::setup::Draft;
use crate::args::{ElectionCeremony, Sharing};
use crate::engines::print;
use crate::failure::{CliError, name};
use crate::key_files::{JSON, Pair, check_absent};
use crate::keygen::private_text;
use crate::progress::{Length, Progress};
use crate::session::Session;
use crate::shared_key::SharedKey;

/// Creates an election's key and publishes it, or generates a key with other trustees.
pub(super) fn run(session: &Session, command: &ElectionCeremony) -> Result<(), CliError> {
    if let Some(sharing) = command.distributed {
        return trustee::generate(session, command, sharing);
    }
    let directory =
        command.directory.as_deref().ok_or_else(|| CliError::new("the organiser's directory is missing"))?;
    let prepared = Prepared::read(directory)?;
    let signing = command.trustee_keys.as_deref().map(trustee_keys).transpose()?;
    let manifest = match (&command.statements[..], command.shares, &command.out, signing) {
        ([], Some(sharing), Some(out), Some((path, signing))) => {
            check_count(path, &signing, sharing)?;
            dealt(session, prepared, command.bits, sharing, out, signing)?
        }
        ([], None, Some(out), None) => single(session, prepared, command.bits, out)?,
        ([], ..) => return Err(CliError::new("--trustee-keys needs --shares, --distributed or --statements")),
        (files, _, _, Some((_, signing))) => generated(session, prepared, files, signing)?,
        (_, _, _, None) => return Err(CliError::new("--statements needs --trustee-keys FILE")),
    };
    let id = manifest.id();
    let mut published = ElectionHandle::create(session, directory, Body::Election(Box::new(manifest)))?;
    session.warn_insecure_key(&name(directory), published.state().election().key());
    published.sign_head()?;
    print(&format!("election {id}\n"))
}

/// An election without its key.
struct Prepared {
    draft: Draft,
    organiser: Bytes,
    board: Bytes,
}

impl Prepared {
    fn read(directory: &Path) -> Result<Self, CliError> {
        let path = directory.join(DRAFT);
        let draft = canonical::parse("a draft of an election", &text(&path)?).map_err(|error| of(&path, error))?;
        let (organiser, board) = keys(directory)?;
        check_absent(&directory.join("record"))?;
        Ok(Prepared { draft, organiser: organiser.public(), board: board.public() })
    }

    /// Adds the key. Rejects an invalid election before anything of it is written.
    fn with_key(self, session: &Session, key: ElectionKey, trustees: Option<Trustees>) -> Result<Manifest, CliError> {
        let Prepared { draft, organiser, board } = self;
        let Draft { about, closes, contests, late, opens, registrar, revoting, title, trial } = draft;
        let manifest = Manifest {
            about,
            board,
            closes,
            contests,
            key,
            late,
            opens,
            organiser,
            registrar,
            revoting,
            title,
            trial,
            trustees,
        };
        hearith_election::Election::new(manifest.clone(), session.policy, session.engine).map_err(CliError::new)?;
        Ok(manifest)
    }
}

/// Generates a key of safe primes. A single holder needs them too, because the proofs require that
/// no prime factor is small.
fn safe_key(session: &Session, bits: u32) -> Result<PrivateKey, CliError> {
    let _progress = Progress::start("searching safe primes", Length::Unknown);
    PrivateKey::generate_safe(bits, Variant::Djn, session.policy, session.engine).map_err(CliError::new)
}

/// Asks for a passphrase for new files, if secrets are to be encrypted.
fn passphrase(session: &Session, file: &str) -> Result<Option<SecretText>, CliError> {
    session.passphrases.is_given().then(|| session.passphrases.choose(file)).transpose()
}

/// Generates the key of a single holder, who decrypts alone.
fn single(session: &Session, prepared: Prepared, bits: u32, out: &Path) -> Result<Manifest, CliError> {
    let mut pair = Pair::begin(out, JSON, false)?;
    let passphrase = passphrase(session, &name(out))?;
    let key = safe_key(session, bits)?;
    let manifest = prepared.with_key(session, ElectionKey::new(&key).map_err(CliError::new)?, None)?;
    pair.write(&private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
    pair.commit()?;
    Ok(manifest)
}

/// Generates a key in this process, as the dealer, and deals its shares.
fn dealt(
    session: &Session,
    prepared: Prepared,
    bits: u32,
    Sharing { needed, trustees }: Sharing,
    out: &Path,
    signing: Vec<Bytes>,
) -> Result<Manifest, CliError> {
    let mut files = SharedKey::begin(out, 1..=trustees, false)?;
    let passphrase = passphrase(session, &name(out))?;
    let (key, verification, shares) = {
        let private = safe_key(session, bits)?;
        let (verification, shares) = deal(&private, needed, trustees).map_err(CliError::new)?;
        (ElectionKey::new(&private).map_err(CliError::new)?, verification, shares)
    };
    let manifest = prepared.with_key(session, key, Some(Trustees::new(&verification, signing)))?;
    files.write(&verification, &shares, passphrase.as_ref())?;
    files.commit()?;
    Ok(manifest)
}

/// Combines the statements of trustees that have generated the key.
fn generated(
    session: &Session,
    prepared: Prepared,
    files: &[PathBuf],
    signing: Vec<Bytes>,
) -> Result<Manifest, CliError> {
    let read = |path: &PathBuf| -> Result<Signed, CliError> {
        canonical::parse("a trustee's statement about a key", &text(path)?).map_err(|error| of(path, error))
    };
    let statements = files.iter().map(read).collect::<Result<_, _>>()?;
    let (key, trustees) = Trustees::of_statements(statements, signing).map_err(CliError::new)?;
    prepared.with_key(session, key, Some(trustees))
}

/// Reads the public keys of trustees, one per line. Returns the path too.
fn trustee_keys(path: &Path) -> Result<(&Path, Vec<Bytes>), CliError> {
    let text = text(path)?;
    let key = |(line, key): (usize, &str)| -> Result<Bytes, CliError> {
        let wrong = |_| CliError::at(name(path), format!("line {}: not the public half of a trustee's key", line + 1));
        let key: Bytes = canonical::parse("a public key", &canonical::to_text(&key.trim())).map_err(wrong)?;
        PublicKey::new("a trustee's", &key).map_err(wrong)?;
        Ok(key)
    };
    let keys = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(key);
    Ok((path, keys.collect::<Result<_, _>>()?))
}

fn check_count(path: &Path, keys: &[Bytes], Sharing { trustees, .. }: Sharing) -> Result<(), CliError> {
    if keys.len() == trustees as usize {
        Ok(())
    } else {
        Err(CliError::at(name(path), format!("{} keys for {trustees} trustees", keys.len())))
    }
}

/// The trustee's side.
mod trustee {
    use hearith_election::{KeyRole, Statement, canonical};
    use hearith_paillier::Variant;

    use super::super::organiser_dir::secret_key;
    use super::super::setup::base64;
    use super::{check_count, passphrase, trustee_keys};
    use crate::args::{ElectionCeremony, Sharing};
    use crate::distributed::{Generation, Party, is_ending, missing, number};
    use crate::engines::print;
    use crate::failure::{CliError, eprint_line, name};
    use crate::key_files::{check_absent, write};
    use crate::output::{Access, Output};
    use crate::session::Session;
    use crate::shared_key::{SharedKey, share_file};

    /// Generates a key with other trustees. Writes this trustee's share and signed statement.
    pub(super) fn generate(session: &Session, command: &ElectionCeremony, sharing: Sharing) -> Result<(), CliError> {
        let me = number(&command.at, sharing)?;
        let own = command.trustee_key.as_deref().ok_or_else(|| missing("--trustee-key FILE"))?;
        let keys = command.trustee_keys.as_deref().ok_or_else(|| missing("--trustee-keys FILE"))?;
        let out = command.out.as_deref().ok_or_else(|| missing("--out DIR"))?;
        let signer = secret_key(own, KeyRole::Trustee)?;
        let (path, all) = trustee_keys(keys)?;
        check_count(path, &all, sharing)?;
        if all[me as usize - 1] != signer.public() {
            return Err(CliError::at(name(own), format!("not the key of trustee {me} in {}", name(path))));
        }
        let (statement, replace) = (out.join(format!("statement-{me}.json")), is_ending(&command.at, me, out));
        if !replace {
            check_absent(&statement)?;
        }
        let key_texts: Vec<String> = all.iter().map(base64).collect();
        let public = |key: &hearith_election::Bytes| <[u8; 32]>::try_from(&key.0[..]);
        let all = all.iter().map(public).collect::<Result<_, _>>();
        let all = all.map_err(|_| CliError::at(name(path), "a key does not have 32 bytes"))?;
        let of_key = (command.bits, Variant::Djn);
        let party = Party::new(session, &command.at, sharing, of_key, signer.secret(), all, key_texts)?;

        let file = name(&out.join(share_file(me)));
        let mut files = SharedKey::begin(out, me..=me, replace)?;
        let mut generation = Generation::prepare(session, party, &command.at, out)?;
        let passphrase = generation.passphrase(session, || passphrase(session, &file))?;
        let Some(finished) = generation.run(session, passphrase.as_ref())? else { return Ok(()) };
        if !session.is_quiet() {
            eprint_line(&format!("{} candidates in {} rounds", finished.candidates, finished.rounds));
        }
        session.warn_insecure_key(&file, finished.verification.key());
        let signed = Statement::new(&finished).map_err(CliError::new)?.sign(&signer);
        files.write(&finished.verification, &[finished.share], passphrase.as_ref())?;
        files.commit()?;
        let mut output = Output::file(&statement, Access::Usual, replace)?;
        write(&mut output, &canonical::to_text(&signed))?;
        output.commit()?;
        generation.end(session)?;
        print(&format!("key {}\n", finished.verification.key().id()))
    }
}
