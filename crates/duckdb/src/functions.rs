//! The scalar functions, each applied to a chunk of rows.

use std::ffi::CStr;

use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Ciphertexts, DecryptError, Error, KeyKind, KeyPolicy, PrivateKey, PublicKey, SecretText};
use zeroize::Zeroizing;

use crate::chunk::{Chunk, Column, Output};
use crate::duckdb_api::Context;
use crate::fault::Fault;
use crate::keys::{DecryptionKey, Keys};
use crate::sum::{computed, operation};

/// The setting that names the private key's file.
pub(crate) const PRIVATE_KEY: &CStr = c"hearith_private_key";
/// The setting that names the file whose first line is the passphrase of an encrypted private key.
pub(crate) const PASSPHRASE: &CStr = c"hearith_passphrase_file";
/// The setting that allows insecure keys.
pub(crate) const INSECURE: &CStr = c"hearith_allow_insecure_keys";

/// The setting that allows decryption of rows of any origin under a subgroup key.
pub(crate) const ANY_RANDOMISER: &CStr = c"hearith_any_randomiser";

/// The ciphertexts of a column in the rows where no argument is null.
struct Values {
    key: PublicKey,
    ciphertexts: Ciphertexts,
}

impl Values {
    fn read(key: &PublicKey, chunk: &Chunk<'_>, column: usize, rows: &[usize]) -> Result<Self, Fault> {
        let expected = key.ciphertext_bytes();
        let values = chunk.column(column).ok_or(Fault::Host("the number of arguments"))?;
        let rows: Vec<&[u8]> = rows.iter().filter_map(|&row| values.bytes(row)).collect();
        if let Some(value) = rows.iter().find(|value| value.len() != expected) {
            return Err(Fault::Width { bytes: value.len(), key: key.id(), expected });
        }
        let ciphertexts = key.ciphertexts_from_be_rows(&rows).map_err(|error| operation(key, error))?;
        Ok(Self { key: key.clone(), ciphertexts })
    }

    /// Converts an operation's error to an error about these values.
    fn fault(&self, error: Error) -> Fault {
        operation(&self.key, error)
    }
}

/// The key that the optional last argument names, or the only loaded key.
pub(crate) fn key_argument(keys: &Keys, chunk: &Chunk<'_>, column: usize) -> Result<PublicKey, Fault> {
    let Some(names) = chunk.column(column) else { return keys.choose(None) };
    let first = match chunk.rows() {
        0 => return keys.choose(None),
        _ => names.text(0).ok_or(Fault::NullKey)?,
    };
    match (1..chunk.rows()).all(|row| names.text(row) == Some(first)) {
        true => keys.choose(Some(first)),
        false => Err(Fault::DifferentKeys),
    }
}

/// The rows in which none of the first `columns` arguments is null. The other rows become null.
pub(crate) fn present(chunk: &Chunk<'_>, columns: usize, output: &mut Output<'_>) -> Vec<usize> {
    let columns: Vec<_> = (0..columns).filter_map(|index| chunk.column(index)).collect();
    let (rows, nulls): (Vec<usize>, Vec<usize>) =
        (0..chunk.rows()).partition(|&row| columns.iter().all(|column| column.is_valid(row)));
    nulls.into_iter().for_each(|row| output.set_null(row));
    rows
}

fn write(ciphertexts: &Ciphertexts, rows: &[usize], output: &mut Output<'_>) {
    let bytes = ciphertexts.to_be_bytes();
    for (&row, ciphertext) in rows.iter().zip(bytes.chunks_exact(ciphertexts.row_bytes())) {
        output.set_bytes(row, ciphertext);
    }
}

/// `he_add(a, b [, key])`, where `b` is a ciphertext or an integer. The result is not
/// re-randomised: anyone with both `a` and its sum with an integer can read that integer.
pub(crate) fn add(keys: &Keys, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let key = key_argument(keys, chunk, 2)?;
    let rows = present(chunk, 2, output);
    let a = Values::read(&key, chunk, 0, &rows)?;
    let added = chunk.column(1).ok_or(Fault::Host("the number of arguments"))?;
    let sums = match added.integer_bits() {
        Some(_) => key.add_plain(&a.ciphertexts, &encode_signed(&key, &integers(&added, &rows))?)?,
        None => {
            let b = Values::read(&key, chunk, 1, &rows)?;
            computed(&key, keys.backend(&key)?.add(&a.ciphertexts, &b.ciphertexts))?
        }
    };
    write(&sums, &rows, output);
    Ok(())
}

/// The integers of a column in rows where it is not null.
fn integers(column: &Column<'_>, rows: &[usize]) -> Zeroizing<Vec<i128>> {
    // Allocated in full, because a growing vector leaves copies in memory.
    let mut found = Zeroizing::new(Vec::with_capacity(rows.len()));
    found.extend(rows.iter().filter_map(|&row| column.integer(row)));
    found
}

/// `he_multiply(c, k [, key])`. The time depends on the type of `k`, not on its values. The result
/// is not re-randomised: queries sum products, and re-randomise explicitly what leaves the
/// database. `k` is an integer or a BOOLEAN. Errors name other types.
pub(crate) fn multiply(keys: &Keys, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let key = key_argument(keys, chunk, 2)?;
    let rows = present(chunk, 2, output);
    let values = Values::read(&key, chunk, 0, &rows)?;
    let factors = chunk.column(1).ok_or(Fault::Host("the number of arguments"))?;
    let bits = match factors.integer_bits() {
        Some(bits) => bits,
        None if rows.is_empty() => return Ok(()),
        None => return Err(Fault::Fraction),
    };
    let found = integers(&factors, &rows);
    let multiples = computed(&key, keys.backend(&key)?.multiply(&values.ciphertexts, &found, bits))?;
    write(&multiples, &rows, output);
    Ok(())
}

/// `he_rerandomise(c [, key])`
pub(crate) fn rerandomise(keys: &Keys, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let key = key_argument(keys, chunk, 1)?;
    let rows = present(chunk, 1, output);
    let values = Values::read(&key, chunk, 0, &rows)?;
    let others = computed(&key, keys.backend(&key)?.rerandomise(&values.ciphertexts))?;
    write(&others, &rows, output);
    Ok(())
}

/// `he_key_id([c])`
pub(crate) fn key_id(keys: &Keys, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let Some(values) = chunk.column(0) else {
        let id = keys.choose(None)?.id();
        (0..chunk.rows()).for_each(|row| output.set_bytes(row, id.as_str().as_bytes()));
        return Ok(());
    };
    let loaded = keys.all();
    for row in 0..chunk.rows() {
        let value = values.bytes(row).unwrap_or_default();
        let fits = |key: &&PublicKey| {
            value.len() == key.ciphertext_bytes()
                && key.ciphertexts_from_be(value).is_ok_and(|ciphertext| key.check_coprime(&ciphertext).is_ok())
        };
        match loaded.iter().filter(fits).collect::<Vec<_>>()[..] {
            [] => output.set_null(row),
            [key] => output.set_bytes(row, key.id().as_str().as_bytes()),
            ref several => return Err(Fault::SeveralKeys(several.iter().map(|key| key.id()).collect())),
        }
    }
    Ok(())
}

/// `he_load_key(path)`, or with the JSON Web Key itself. Private keys are rejected, because no
/// function needs one here.
pub(crate) fn load_key(
    keys: &Keys,
    context: &Context,
    chunk: &Chunk<'_>,
    output: &mut Output<'_>,
) -> Result<(), Fault> {
    let rows = present(chunk, 1, output);
    let paths = chunk.column(0).ok_or(Fault::Host("the number of arguments"))?;
    for row in rows {
        let path = paths.text(row).unwrap_or_default();
        // The argument may be the key itself instead of a file.
        let is_key = path.trim_start().starts_with('{');
        let (path, text) =
            if is_key { ("the key", SecretText::from(path.to_owned())) } else { (path, context.read(path)?) };
        match text.kind() {
            KeyKind::Private | KeyKind::Share if is_key => return Err(Fault::PrivateText),
            KeyKind::Private | KeyKind::Share | KeyKind::Encrypted => {
                return Err(Fault::PrivateFile { function: "he_load_key", path: path.to_owned() });
            }
            _ => {}
        }
        let key = PublicKey::from_jwk(text.as_str(), policy(context), keys.engine());
        let key = key.map_err(|error| Fault::Key { path: path.to_owned(), error })?;
        output.set_bytes(row, key.id().as_str().as_bytes());
        keys.load(key);
    }
    Ok(())
}

/// `he_unload_key(id)`
pub(crate) fn unload_key(keys: &Keys, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let rows = present(chunk, 1, output);
    let names = chunk.column(0).ok_or(Fault::Host("the number of arguments"))?;
    for row in rows {
        let name = names.text(row).unwrap_or_default();
        match keys.unload(name) {
            true => output.set_bytes(row, name.as_bytes()),
            false => output.set_null(row),
        }
    }
    Ok(())
}

/// The private key from the file that the session's setting names.
pub(crate) fn private_key(keys: &Keys, context: &Context) -> Result<DecryptionKey, Fault> {
    let path = context.text(PRIVATE_KEY).ok_or(Fault::NoPrivateKey)?;
    let text = opened(context, &path, context.read(&path)?)?;
    let key = PrivateKey::from_jwk(text.as_str(), policy(context), keys.engine());
    let key = key.map_err(|error| Fault::Key { path, error })?;
    keys.decryption_key(if context.is_on(ANY_RANDOMISER) { key.any_randomiser() } else { key })
}

/// Decrypts an encrypted key, with the passphrase from the file that the session's setting names.
pub(crate) fn opened(context: &Context, path: &str, text: SecretText) -> Result<SecretText, Fault> {
    if text.kind() != KeyKind::Encrypted {
        return Ok(text);
    }
    let file = context.text(PASSPHRASE).ok_or_else(|| Fault::NoPassphrase { path: path.to_owned() })?;
    let passphrase = context.read(&file)?;
    text.decrypt(passphrase.first_line()).map_err(|error| Fault::Key { path: path.to_owned(), error })
}

/// `he_decrypt(c)`: fills a column of `HUGEINT`.
pub(crate) fn decrypt(key: &DecryptionKey, chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
    let public = key.key.public();
    let rows = present(chunk, 1, output);
    let values = Values::read(public, chunk, 0, &rows)?;
    public.check_coprime(&values.ciphertexts).map_err(|error| values.fault(error))?;
    let plaintexts = key.decrypt(&values.ciphertexts).map_err(|error| match error {
        DecryptError::Ciphertexts(error) => values.fault(error),
        DecryptError::Device(cause) => Fault::Card(cause.into()),
    })?;
    for (&row, number) in rows.iter().zip(decode_signed(public, &plaintexts)?) {
        // SAFETY: the function is registered with this result type, and the output has these rows.
        unsafe { output.set_integer(row, number.to_i128().ok_or(Fault::TooLong)?) }
    }
    Ok(())
}

fn policy(context: &Context) -> KeyPolicy {
    if context.is_on(INSECURE) { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure }
}
