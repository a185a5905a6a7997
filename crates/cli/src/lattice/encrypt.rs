//! `hearith encrypt` with a key of the lattice scheme.

use hearith_columns::lattice::LatticeEncryptor;

use super::converting::{Converting, failure};
use super::{Key, check_remote};
use crate::args::Encrypt;
use crate::encrypt::{inputs, open, options};
use crate::failure::CliError;
use crate::input::Rows;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_each};
use crate::plan::Planned;
use crate::progress::Progress;
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing;
use crate::sink::Sink;

/// Encrypts columns of a table, one chunk of rows at a time.
pub(crate) fn encrypt(session: &Session, command: &Encrypt, key: Key) -> Result<(), CliError> {
    check_remote(&command.remote)?;
    let device = Converting::open(session, key.public().set(), command.unchecked_device)?;
    let key = key.converting(device.as_ref());
    let chunk = key.public().set().degree();
    let mut planned = Planned::begin(command, &key.public().id())?;
    let table = open(&mut planned, chunk)?;
    let command = &planned.command.clone();
    let mut encryptor = LatticeEncryptor::new(key.encryption(), &table.schema, &options(command)?)
        .map_err(|error| table.failure(error))?;
    let sign = signing::key(session, command.sign.as_deref())?;
    let output = Output::create(&command.out, &inputs(command))?;
    let mut sink = Sink::signed_parquet(output, encryptor.schema(), sign)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("encrypting", table.length);
    let pieces = ReadAhead::start(Rows::new(table.pieces, table.schema).by(chunk));
    let rows = write_each(pieces, &mut sink, &progress, |piece| {
        let made = watch.compute(|| encryptor.encrypt(&piece.batch));
        made.map_err(|error| failure(session, &table.name, error.offset_rows(piece.first_row)))
    })?;
    planned.finish(&encryptor.schema())?;
    sink.finish()?;
    drop(progress);
    let note = device.as_ref().map(Converting::note).transpose()?;
    session.report(&watch.stop("encrypt", rows, rows, note));
    Ok(())
}
