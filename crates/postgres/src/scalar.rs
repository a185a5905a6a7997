//! Functions of single values: input and output, properties of a value, sums and multiples.

use hearith_paillier::described::{Described, Description};
use hearith_paillier::encoding::{encode_signed, parse_decimal};
use hearith_paillier::{Ciphertexts, Error, PublicKey};
use pgrx::pg_sys;

use crate::call::{Call, Outcome, cstring, varlena};
use crate::fault::Fault;
use crate::kernel::{ciphertexts, computed, power_of_ten};
use crate::keys;
use crate::value::Number;

/// Bits of the magnitude of a `numeric` operand.
const NUMERIC_BITS: u32 = 127;

/// `ciphertext_in(cstring)`. It looks up no key, because a restore may load data first.
pub(crate) fn input(call: &Call) -> Outcome {
    let number: Described = call.cstring(0)?.parse().map_err(Fault::Text)?;
    Ok(Some(varlena(&[&number.description().to_bytes(), number.ciphertext()])))
}

/// `ciphertext_out(ciphertext)`.
pub(crate) fn output(call: &Call) -> Outcome {
    let Number { description, ciphertext } = call.number(0)?;
    Ok(Some(cstring(&Described::new(description, ciphertext)?.to_string())))
}

/// `ciphertext_recv(internal)`.
pub(crate) fn receive(call: &Call) -> Outcome {
    Ok(Some(Number::read(call.message(0)?)?.datum()))
}

/// `ciphertext_send(ciphertext)`, and the cast to `bytea`.
pub(crate) fn send(call: &Call) -> Outcome {
    Ok(Some(call.number(0)?.datum()))
}

/// The cast from `bytea`.
pub(crate) fn from_bytea(call: &Call) -> Outcome {
    Ok(Some(call.number(0)?.datum()))
}

/// `he_key_id(ciphertext)`.
pub(crate) fn key_id(call: &Call) -> Outcome {
    Ok(Some(varlena(&[call.number(0)?.description.key().as_str().as_bytes()])))
}

/// `he_scale(ciphertext)`.
pub(crate) fn scale(call: &Call) -> Outcome {
    Ok(Some(pg_sys::Datum::from(call.number(0)?.description.scale() as usize)))
}

/// `he_additions(ciphertext)`.
pub(crate) fn additions(call: &Call) -> Outcome {
    count(call.number(0)?.description.additions())
}

/// `he_headroom(ciphertext)`.
pub(crate) fn headroom(call: &Call) -> Outcome {
    count(call.number(0)?.description.headroom())
}

/// A count as `numeric`, because it may exceed `bigint`.
fn count(count: u64) -> Outcome {
    use pgrx::{AnyNumeric, IntoDatum};
    Ok(AnyNumeric::from(count).into_datum())
}

/// Two values of one key, raised to a common scale.
fn aligned(a: &Number<'_>, b: &Number<'_>) -> Result<(PublicKey, Description, Ciphertexts, Ciphertexts), Fault> {
    if a.description.key() != b.description.key() {
        return Err(Fault::Keys(a.description.key(), b.description.key()));
    }
    let description = a.description.plus(&b.description)?;
    let key = keys::find(description.key())?;
    let [a, b] = [a, b].map(|number| raised(&key, number, description.scale()));
    Ok((key, description, a?, b?))
}

/// The ciphertext of a value at a larger scale.
pub(crate) fn raised(key: &PublicKey, number: &Number<'_>, scale: u32) -> Result<Ciphertexts, Fault> {
    let ciphertext = ciphertexts(key, &[number.ciphertext])?;
    match scale.saturating_sub(number.description.scale()) {
        0 => Ok(ciphertext),
        digits => {
            let bytes = computed(key, || key.multiply_public(&ciphertext, &power_of_ten(digits)))?;
            ciphertexts(key, &[&bytes])
        }
    }
}

/// Computes the value of a result.
fn result(
    key: &PublicKey,
    description: Description,
    operation: impl FnOnce() -> Result<Ciphertexts, Error> + Send,
) -> Outcome {
    let ciphertext = computed(key, operation)?;
    Ok(Some(Number { description, ciphertext: &ciphertext }.datum()))
}

/// `ciphertext + ciphertext`.
pub(crate) fn add(call: &Call) -> Outcome {
    let (key, description, a, b) = aligned(&call.number(0)?, &call.number(1)?)?;
    result(&key, description, || key.add(&a, &b))
}

/// `ciphertext - ciphertext`.
pub(crate) fn subtract(call: &Call) -> Outcome {
    let (key, description, a, b) = aligned(&call.number(0)?, &call.number(1)?)?;
    result(&key, description, || key.subtract(&a, &b))
}

/// `- ciphertext`.
pub(crate) fn negate(call: &Call) -> Outcome {
    let number = call.number(0)?;
    let key = keys::find(number.description.key())?;
    let ciphertext = ciphertexts(&key, &[number.ciphertext])?;
    result(&key, number.description, || key.negate(&ciphertext))
}

/// `ciphertext + smallint`.
pub(crate) fn add_smallint(call: &Call) -> Outcome {
    add_plain(&call.number(0)?, call.smallint(1)?.into(), 0)
}

/// `ciphertext + integer`.
pub(crate) fn add_integer(call: &Call) -> Outcome {
    add_plain(&call.number(0)?, call.integer(1)?.into(), 0)
}

/// `ciphertext + bigint`.
pub(crate) fn add_bigint(call: &Call) -> Outcome {
    add_plain(&call.number(0)?, call.bigint(1)?.into(), 0)
}

/// `ciphertext + numeric`.
pub(crate) fn add_numeric(call: &Call) -> Outcome {
    let (number, places) = plain(&call.numeric(1)?)?;
    add_plain(&call.number(0)?, number, places)
}

fn add_plain(number: &Number<'_>, added: i128, places: u32) -> Outcome {
    let description = number.description.plus_plain(added, places)?;
    let key = keys::find(description.key())?;
    let ciphertext = raised(&key, number, description.scale())?;
    // `plus_plain` admits no sum that exceeds 128 bits in units of the range.
    let unit = 10_i128.checked_pow(description.scale() - places);
    let added = unit.and_then(|unit| added.checked_mul(unit)).ok_or_else(|| too_long(added))?;
    result(&key, description, || key.add_plain(&ciphertext, &encode_signed(&key, &[added])?))
}

/// `ciphertext * smallint`: the time depends on the type, not on the factor.
pub(crate) fn multiply_smallint(call: &Call) -> Outcome {
    multiply(&call.number(0)?, call.smallint(1)?.into(), 0, i16::BITS)
}

/// `ciphertext * integer`.
pub(crate) fn multiply_integer(call: &Call) -> Outcome {
    multiply(&call.number(0)?, call.integer(1)?.into(), 0, i32::BITS)
}

/// `ciphertext * bigint`.
pub(crate) fn multiply_bigint(call: &Call) -> Outcome {
    multiply(&call.number(0)?, call.bigint(1)?.into(), 0, i64::BITS)
}

/// `ciphertext * numeric`.
pub(crate) fn multiply_numeric(call: &Call) -> Outcome {
    let (factor, places) = plain(&call.numeric(1)?)?;
    multiply(&call.number(0)?, factor, places, NUMERIC_BITS)
}

fn multiply(number: &Number<'_>, factor: i128, places: u32, bits: u32) -> Outcome {
    let description = number.description.times(factor, places)?;
    let key = keys::find(description.key())?;
    let ciphertext = ciphertexts(&key, &[number.ciphertext])?;
    result(&key, description, || key.multiply_deterministic(&ciphertext, &[factor], bits))
}

/// `he_rerandomise(ciphertext)`.
pub(crate) fn rerandomise(call: &Call) -> Outcome {
    let number = call.number(0)?;
    let key = keys::find(number.description.key())?;
    let ciphertext = ciphertexts(&key, &[number.ciphertext])?;
    result(&key, number.description, || key.rerandomise(&ciphertext))
}

/// `hearith.read_key(text)`: checks a public key and returns its id.
pub(crate) fn read_key(call: &Call) -> Outcome {
    let key = keys::read(call.text(0)?)?;
    Ok(Some(varlena(&[key.id().as_str().as_bytes()])))
}

/// `hearith.is_not_private(text)`: true, or an error.
pub(crate) fn is_not_private(call: &Call) -> Outcome {
    keys::check_not_private(call.text(0)?)?;
    Ok(Some(pg_sys::Datum::from(true)))
}

/// A `numeric` as an integer in units of its last non-zero digit, and its number of decimal places.
fn plain(text: &str) -> Result<(i128, u32), Fault> {
    let places = text.split_once('.').map_or(0, |(_, places)| places.trim_end_matches('0').len()) as u32;
    let number = parse_decimal(text, places).map_err(|error| Fault::Numeric(text.to_owned(), error))?;
    // The most decimal places in a description, which bounds the power of ten that is computed.
    if places > hearith_paillier::described::MOST_PLACES || number.unsigned_abs() > i128::MAX as u128 {
        return Err(too_long(number));
    }
    Ok((number, places))
}

fn too_long(number: i128) -> Fault {
    Fault::Numeric(number.to_string(), hearith_paillier::ErrorKind::OutOfRange.into())
}
