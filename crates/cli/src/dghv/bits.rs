//! Files of bits, one per line.

use std::io::{BufRead, Read, Write};

use zeroize::Zeroizing;

use crate::failure::CliError;
use crate::output::Output;

/// Maximum number of bits in a file.
pub const MOST_BITS: usize = 1 << 24;
/// Maximum bytes of a line: a digit with white space around it.
const MAX_LINE_BYTES: u64 = 64;

/// Reads all bits of an input. Errors call the input `name`.
///
/// # Errors
/// A line is neither 0 nor 1, there are too many lines, or reading failed. The error for a line
/// names only its number.
pub fn read(name: &str, input: impl BufRead) -> Result<Zeroizing<Vec<bool>>, CliError> {
    lines(name, input, "neither 0 nor 1", |bits, text| {
        let bit = match text {
            b"0" => false,
            b"1" => true,
            _ => return None,
        };
        push(bits, bit);
        Some(())
    })
}

/// Reads an input line by line. Passes each line, without white space around it, to `take` with the
/// previous bits. `wrong` is the error for a line that `take` rejects.
pub(super) fn lines(
    name: &str,
    mut input: impl BufRead,
    wrong: &str,
    mut take: impl FnMut(&mut Zeroizing<Vec<bool>>, &[u8]) -> Option<()>,
) -> Result<Zeroizing<Vec<bool>>, CliError> {
    let mut bits = Zeroizing::new(Vec::new());
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_LINE_BYTES as usize + 1));
    for line in 1.. {
        text.clear();
        let read = (&mut input).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut text);
        if read.map_err(|error| CliError::reading(name, error))? == 0 {
            break;
        }
        let accepted = if text.len() as u64 > MAX_LINE_BYTES { None } else { take(&mut bits, text.trim_ascii()) };
        accepted.ok_or_else(|| CliError::at(name, format!("line {line}: {wrong}")))?;
        if bits.len() > MOST_BITS {
            return Err(CliError::at(name, format!("more than {MOST_BITS} bits")));
        }
    }
    Ok(bits)
}

/// Appends a bit. If the vector grows, it wipes the old allocation.
pub(super) fn push(bits: &mut Zeroizing<Vec<bool>>, bit: bool) {
    if bits.len() == bits.capacity() {
        let mut longer = Zeroizing::new(Vec::with_capacity((2 * bits.len()).max(1024)));
        longer.extend_from_slice(bits);
        *bits = longer;
    }
    bits.push(bit);
}

/// Writes bits, one per line.
///
/// # Errors
/// Writing failed.
pub(super) fn write(output: &mut Output, bits: &[bool]) -> Result<(), CliError> {
    let mut text = Zeroizing::new(Vec::with_capacity(2 * bits.len()));
    bits.iter().for_each(|&bit| text.extend_from_slice(&[b'0' + u8::from(bit), b'\n']));
    output.write_all(&text).map_err(|error| CliError::writing(output.name(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str) -> Result<Vec<bool>, String> {
        read("bits.txt", text.as_bytes()).map(|bits| bits.to_vec()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn lines_are_bits() {
        assert_eq!(bits("1\r\n 0\t\n1"), Ok(vec![true, false, true]));
        assert_eq!(bits(""), Ok(vec![]));
        let long = "01".repeat(3000).replace('0', "0\n").replace('1', "1\n");
        assert_eq!(bits(&long).unwrap().len(), 6000);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let wrong = |line: usize| Err(format!("bits.txt: line {line}: neither 0 nor 1"));
        for (text, line) in [("1\n2\n", 2), ("1\n\n1\n", 2), ("10\n", 1), ("0\n0x1", 2), ("\u{661}\n", 1)] {
            assert_eq!(bits(text), wrong(line), "{text:?}");
        }
        assert_eq!(bits(&format!("1\n{}1\n", " ".repeat(100))), wrong(2));
    }
}
