//! Signed tables: signing keys, and tables that must be signed with one of them.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hearith_columns::parquet::ParquetReader;
use hearith_columns::{Contents, Digest, Error, SignatureCheck, SigningKey, VerifyingKey};
use hearith_paillier::SecretText;
use zeroize::Zeroizing;

use crate::args::Signers as Given;
use crate::failure::CliError;
use crate::input::{ParquetFile, Piece, Pieces};
use crate::keys::{KeyFile, sealed};
use crate::session::Session;

/// Reads the key that `--sign` names, if given.
pub(crate) fn key(session: &Session, path: Option<&Path>) -> Result<Option<Arc<SigningKey>>, CliError> {
    path.map(|path| KeyFile::open(path)?.signing(session).map(Arc::new)).transpose()
}

/// The file text of a private key, encrypted if there is a passphrase.
pub(crate) fn private_text(key: &SigningKey, passphrase: Option<&SecretText>) -> Result<Zeroizing<String>, CliError> {
    sealed(key.to_jwk(), key.public().id(), passphrase)
}

/// The keys of which one must have signed each table. If empty, signatures are ignored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signers(Vec<VerifyingKey>);

impl Signers {
    /// Reads the keys that the options name.
    pub(crate) fn read(given: &Given) -> Result<Self, CliError> {
        let keys = given.require_signature.iter().map(|path| KeyFile::open(path)?.signers());
        Ok(Self(keys.collect::<Result<Vec<_>, _>>()?.concat()))
    }

    /// Whether tables must be signed.
    pub(crate) fn are_required(&self) -> bool {
        !self.0.is_empty()
    }

    /// Reads a whole table to check its signature.
    pub(crate) fn verify(&self, table: &ParquetFile, batch_rows: usize) -> Result<(), CliError> {
        match self.are_required() {
            true => self.pieces(table, table.source()?, batch_rows)?.try_for_each(|piece| piece.map(drop)),
            false => Ok(()),
        }
    }

    /// Checks the signature of a table with this digest.
    pub(crate) fn verify_digest(&self, table: &ParquetFile, digest: &Digest) -> Result<(), CliError> {
        if !self.are_required() {
            return Ok(());
        }
        let source = table.source()?;
        self.start_check(table, &source)?;
        let at = |error: Error| CliError::at(&table.name, error);
        let signature = source.signature().map_err(at)?;
        let contents = Contents::of(&source.schema()).map_err(at)?;
        signature.map_or(Ok(()), |signature| signature.check(digest, &contents).map_err(at))
    }

    /// Returns the rows of a table with all columns.
    ///
    /// If a required signature is invalid, the last item is an error. Nothing derived from the rows
    /// may be released before the last item.
    pub(crate) fn pieces(
        &self,
        table: &ParquetFile,
        source: ParquetReader,
        batch_rows: usize,
    ) -> Result<Pieces, CliError> {
        if !self.are_required() {
            return table.pieces(source, batch_rows, None);
        }
        let (mut check, name) = (Some(self.start_check(table, &source)?), table.name.clone());
        let mut pieces = table.pieces(source, batch_rows, None)?;
        Ok(Box::new(iter::from_fn(move || {
            let piece = pieces.next();
            let at = |piece: &Piece, error: Error| CliError::at(&name, error.offset_rows(piece.first_row));
            match (piece, &mut check) {
                (Some(Ok(piece)), Some(running)) => match running.update(&piece.batch) {
                    Ok(()) => Some(Ok(piece)),
                    Err(error) => Some(Err(at(&piece, error))),
                },
                (None, running) => {
                    let finished = running.take()?.finish();
                    finished.err().map(|error| Err(CliError::at(&name, error)))
                }
                (other, _) => other,
            }
        })))
    }

    fn start_check(&self, table: &ParquetFile, source: &ParquetReader) -> Result<SignatureCheck, CliError> {
        let checked =
            source.signature().and_then(|signature| SignatureCheck::new(&source.schema(), signature, &self.0));
        checked.map_err(|error| CliError::at(&table.name, error))
    }
}

/// The key files of the signing options, which no output may replace.
pub(crate) fn files<'a>(sign: &'a Option<PathBuf>, given: &'a Given) -> impl Iterator<Item = &'a Path> {
    sign.iter().chain(&given.require_signature).map(PathBuf::as_path)
}
