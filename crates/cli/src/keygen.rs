//! `hearith keygen`.

use std::fs;
use std::io::Write;
use std::path::Path;

use hearith_paillier::{ErrorKind, KeyPolicy, PrivateKey};

use crate::args::Keygen;
use crate::failure::{Failure, name};
use crate::output::{Access, Output};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Makes a key pair and writes its two files, the private one first.
pub(crate) fn run(session: &Session, command: &Keygen) -> Result<(), Failure> {
    let (public, private) = (command.out.join("public.json"), command.out.join("private.json"));
    fs::create_dir_all(&command.out).map_err(|error| Failure::writing(&name(&command.out), error))?;
    if !command.force {
        [&private, &public].into_iter().try_for_each(|path| check_absent(path))?;
    }
    let mut private_file = Output::file(&private, Access::Owner, command.force)?;
    let mut public_file = Output::file(&public, Access::Usual, command.force)?;

    let mut watch = Stopwatch::start();
    let key = watch.compute(|| generate(session, command))?;
    session.warn_of(&name(&private), key.public());
    write(&mut private_file, &key.to_jwk())?;
    write(&mut public_file, &key.public().to_jwk())?;
    private_file.commit()?;
    public_file.commit()?;
    session.report(&watch.stop_key(key.public()));
    Ok(())
}

fn generate(session: &Session, command: &Keygen) -> Result<PrivateKey, Failure> {
    let _progress = Progress::start("searching primes", Length::Unknown);
    let policy = match command.insecure_key_size {
        true => KeyPolicy::AllowInsecure,
        false => KeyPolicy::Secure,
    };
    PrivateKey::generate(command.bits, command.variant, policy, session.engine).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::InsecureKeySize { .. } => " (--insecure-key-size)",
            _ => "",
        };
        Failure::new(format!("{error}{hint}"))
    })
}

/// Refuses to take the place of a key: data encrypted with it could not be read any more.
fn check_absent(path: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(_) => Err(Failure::at(name(path), "there is a key already; --force would replace it")),
    }
}

fn write(output: &mut Output, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes()).and_then(|()| output.write_all(b"\n"));
    written.map_err(|error| Failure::writing(output.name(), error))
}
