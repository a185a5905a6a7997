//! `hearith dghv encrypt` and `hearith dghv decrypt`.

use hearith_dghv::InsecureHistoricalParameters;
use zeroize::Zeroizing;

use super::engines::Encryptor;
use super::files::{Bits, BitsSink, private_key, public_key, rows_at_a_time};
use super::{bits, integers};
use crate::args::{DghvDecrypt, DghvEncrypt};
use crate::failure::CliError;
use crate::input::open;
use crate::output::Output;
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Encrypts bits.
pub(super) fn encrypt(
    session: &Session,
    command: &DghvEncrypt,
    insecure: InsecureHistoricalParameters,
) -> Result<(), CliError> {
    let key = public_key(session, &command.key, insecure)?.key;
    let (file, input) = open(&command.input)?;
    let bits = match command.integers.width() {
        Some(width) => integers::read(&file, input, width)?,
        None => bits::read(&file, input)?,
    };
    let rows = bits.len() as u64;
    let mut encryptor = Encryptor::open(session, &key, session.trust(command.unchecked_device)?)?;
    let mut sink = BitsSink::create(&command.out, &[&command.key, &command.input], &key, rows)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("encrypting", Length::Rows(rows));
    let mut done = 0;
    for batch in bits.chunks(encryptor.rows(rows_at_a_time(session, key.parameters()))) {
        let encrypted = watch.compute(|| encryptor.encrypt(batch, &file, done))?;
        sink.write(&encrypted)?;
        done += batch.len() as u64;
        progress.set(done, done);
    }
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("encrypt", rows, rows, encryptor.note()?));
    Ok(())
}

/// Decrypts bits. Writes them only after all are decrypted and the file's checksum is verified.
pub(super) fn decrypt(
    session: &Session,
    command: &DghvDecrypt,
    insecure: InsecureHistoricalParameters,
) -> Result<(), CliError> {
    let key = private_key(&command.key, insecure)?;
    let mut input = Bits::of_private(&command.input, &key)?;
    let rows = input.rows();
    let width = command.integers.width();
    if let Some(bits) = width.map(|width| width.bits() as u64).filter(|bits| !rows.is_multiple_of(*bits)) {
        return Err(CliError::at(&input.name, format!("{rows} bits cannot be divided into integers of {bits} bits")));
    }
    let mut output = Output::create(&command.out, &[&command.key, &command.input])?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("decrypting", Length::Rows(rows));
    let mut decrypted: Vec<Zeroizing<Vec<bool>>> = Vec::new();
    let mut done = 0;
    while done < rows {
        let batch = input.batch(rows_at_a_time(session, key.key.parameters()))?;
        let bits = watch.compute(|| key.decrypt(&batch.rows)).map_err(|error| input.failed(&error, batch.first))?;
        decrypted.push(Zeroizing::new(bits));
        done += batch.rows.len() as u64;
        progress.set(done, done);
    }
    input.finish()?;
    match width {
        None => decrypted.iter().try_for_each(|bits| bits::write(&mut output, bits))?,
        Some(width) => {
            let mut all = Zeroizing::new(Vec::with_capacity(decrypted.iter().map(|bits| bits.len()).sum()));
            decrypted.iter().for_each(|bits| all.extend_from_slice(bits));
            integers::write(&mut output, &all, width)?;
        }
    }
    output.commit()?;
    drop(progress);
    session.report(&watch.stop("decrypt", rows, rows, None));
    Ok(())
}
