//! Encodings of numbers as plaintexts: signed integers, decimals with a scale, and several numbers
//! packed into one plaintext.

mod decimal;
mod integer;
mod slots;

pub use decimal::{format_decimal, parse_decimal};
pub(crate) use integer::encode_wide;
pub use integer::{Signed, decode_signed, encode_signed};
pub use slots::SlotLayout;
