//! `hearith key`: a private key under a passphrase, in the clear, or its public half.

use std::path::Path;

use hearith_paillier::{KeyKind, PrivateKey};

use crate::args::{Key as Command, KeyFiles};
use crate::failure::{Failure, name};
use crate::keygen::private_text;
use crate::keys::{Key, KeyFile};
use crate::output::{Access, Output};
use crate::pair::write;
use crate::session::Session;

/// Writes a key file made of another.
pub(crate) fn run(session: &Session, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Encrypt(files) => encrypt(session, files),
        Command::Decrypt(files) => decrypt(session, files),
        Command::Public(files) => public(session, files),
    }
}

fn encrypt(session: &Session, files: &KeyFiles) -> Result<(), Failure> {
    let file = KeyFile::open(&files.input)?;
    if file.kind() == KeyKind::Encrypted {
        return Err(Failure::at(file.name(), "encrypted already: `hearith key decrypt` opens it"));
    }
    let key = private(file.key(session)?, &files.input)?;
    let output = begin(files, Access::Owner)?;
    let passphrase = session.passphrases.choose(&name(&files.out))?;
    finish(output, &private_text(&key, Some(&passphrase))?)
}

fn decrypt(session: &Session, files: &KeyFiles) -> Result<(), Failure> {
    let file = KeyFile::open(&files.input)?;
    if file.kind() != KeyKind::Encrypted {
        return Err(Failure::at(file.name(), "not an encrypted key"));
    }
    let key = private(file.key(session)?, &files.input)?;
    finish(begin(files, Access::Owner)?, &key.to_jwk())
}

fn public(session: &Session, files: &KeyFiles) -> Result<(), Failure> {
    let key = Key::read(session, &files.input)?;
    finish(begin(files, Access::Usual)?, &key.public().to_jwk())
}

fn private(key: Key, path: &Path) -> Result<PrivateKey, Failure> {
    match key {
        Key::Private(key) => Ok(*key),
        Key::Public(_) => Err(Failure::at(name(path), "a public key: there is nothing to encrypt")),
    }
}

/// Begins the output, which may take the place of the input: that is read by now.
fn begin(files: &KeyFiles, access: Access) -> Result<Output, Failure> {
    if files.out == Path::new("-") {
        return Output::create(&files.out, &[]);
    }
    if !files.force && std::fs::symlink_metadata(&files.out).is_ok_and(|metadata| metadata.is_file()) {
        return Err(Failure::at(name(&files.out), "there is a file already; --force would replace it"));
    }
    Output::file(&files.out, access, files.force)
}

fn finish(mut output: Output, text: &str) -> Result<(), Failure> {
    write(&mut output, text)?;
    output.commit()
}
