//! Plaintext buffers that leave no copies in memory when they grow or are dropped.

use zeroize::Zeroizing;

/// Appends to a buffer. A buffer that is too small is wiped and replaced by a larger one.
pub(crate) fn append(buffer: &mut Zeroizing<Vec<u8>>, bytes: &[u8]) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * buffer.capacity())));
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keeps_what_was_there() {
        let mut buffer = Zeroizing::new(Vec::new());
        (0..100).for_each(|byte: u8| append(&mut buffer, &[byte, byte]));
        assert_eq!(buffer.len(), 200);
        assert!(buffer.chunks(2).enumerate().all(|(index, pair)| pair == [index as u8; 2]));
    }
}
