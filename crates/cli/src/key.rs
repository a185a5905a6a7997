//! `hearith key`: converts a private key to an encrypted key, a cleartext key or its public key.

use std::path::Path;

use hearith_paillier::{KeyKind, SecretText};
use zeroize::Zeroizing;

use crate::args::{Key as Command, KeyFiles};
use crate::failure::{CliError, name};
use crate::key_files::write;
use crate::keygen::private_text;
use crate::keys::{AnyKey, AnyKind, Key, KeyFile};
use crate::lattice;
use crate::output::{Access, Output};
use crate::session::Session;
use crate::signing;

/// Converts a key file into another.
pub(crate) fn run(session: &Session, command: &Command) -> Result<(), CliError> {
    match command {
        Command::Encrypt(files) => encrypt(session, files),
        Command::Decrypt(files) => decrypt(session, files),
        Command::Public(files) => public(session, files),
    }
}

fn encrypt(session: &Session, files: &KeyFiles) -> Result<(), CliError> {
    let file = KeyFile::open(&files.input)?;
    if file.kind() == KeyKind::Encrypted {
        return Err(CliError::at(file.name(), "already encrypted: decrypt it first with `hearith key decrypt`"));
    }
    let key = file.any_kind(session)?;
    check_private(&key, &files.input)?;
    let output = begin(files, Access::Owner)?;
    let passphrase = session.passphrases.choose(&name(&files.out))?;
    finish(output, &text(&key, Some(&passphrase))?)
}

fn decrypt(session: &Session, files: &KeyFiles) -> Result<(), CliError> {
    let file = KeyFile::open(&files.input)?;
    if file.kind() != KeyKind::Encrypted {
        return Err(CliError::at(file.name(), "not an encrypted key"));
    }
    let key = file.any_kind(session)?;
    check_private(&key, &files.input)?;
    finish(begin(files, Access::Owner)?, &text(&key, None)?)
}

fn public(session: &Session, files: &KeyFiles) -> Result<(), CliError> {
    let public = match KeyFile::open(&files.input)?.any_kind(session)? {
        AnyKind::Encrypts(AnyKey::Paillier(key)) => key.public().to_jwk(),
        AnyKind::Encrypts(AnyKey::Lattice(key)) => key.public().to_text(),
        AnyKind::Signs(key) => key.public().to_jwk(),
    };
    finish(begin(files, Access::Usual)?, &public)
}

fn check_private(key: &AnyKind, path: &Path) -> Result<(), CliError> {
    match key {
        AnyKind::Encrypts(AnyKey::Paillier(Key::Private(_)) | AnyKey::Lattice(lattice::Key::Private(_)))
        | AnyKind::Signs(_) => Ok(()),
        _ => Err(CliError::at(name(path), "a public key: there is nothing to encrypt")),
    }
}

/// The file text of a private key, encrypted if there is a passphrase. Empty for a public key.
fn text(key: &AnyKind, passphrase: Option<&SecretText>) -> Result<Zeroizing<String>, CliError> {
    match key {
        AnyKind::Encrypts(AnyKey::Paillier(Key::Private(key))) => private_text(key, passphrase),
        AnyKind::Encrypts(AnyKey::Lattice(lattice::Key::Private(key))) => lattice::private_text(key, passphrase),
        AnyKind::Signs(key) => signing::private_text(key, passphrase),
        _ => Ok(Zeroizing::default()),
    }
}

/// Opens the output, which may replace the input, since the input has already been read.
fn begin(files: &KeyFiles, access: Access) -> Result<Output, CliError> {
    if files.out == Path::new("-") {
        return Output::create(&files.out, &[]);
    }
    if !files.force && std::fs::symlink_metadata(&files.out).is_ok_and(|metadata| metadata.is_file()) {
        return Err(CliError::at(name(&files.out), "the file already exists; --force would replace it"));
    }
    Output::file(&files.out, access, files.force)
}

fn finish(mut output: Output, text: &str) -> Result<(), CliError> {
    write(&mut output, text)?;
    output.commit()
}
