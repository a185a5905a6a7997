//! Requests: converts the protocol's messages into inputs of operations and checks them against the
//! key.

use hearith_paillier::{Ciphertexts, PublicKey};
use prost::Message;
use prost::bytes::Bytes;
use zeroize::Zeroizing;

use crate::keys::ServedKey;
use crate::proto::{self, ErrorReason};
use crate::refusal::Refusal;
use crate::rights::Right;
use crate::work::{Input, Operation};

/// The request type of an operation.
pub(crate) trait Exchange: Send + 'static {
    /// The type of its answer.
    type Answer: Send + 'static;

    /// The operation's name in metrics.
    const NAME: &'static str;

    /// The right that a client needs.
    fn right(_key: &ServedKey) -> Right {
        Right::Aggregate
    }

    /// The handle of the key. Empty means the key of the previous request.
    fn key(&self) -> &str;

    /// Converts the request into the input of its operation.
    fn input(&self, key: &ServedKey) -> Result<Input, Refusal>;

    /// Creates the answer from the computed numbers.
    fn answer(numbers: Bytes) -> Self::Answer;
}

/// Converts a message into the input of an operation under a key. Ignores the message's key handle.
///
/// # Errors
/// The bytes are not a valid message, its fields contradict one another, or its numbers are invalid
/// under the key.
pub fn read(operation: Operation, message: &[u8], key: &ServedKey) -> Result<Input, Refusal> {
    fn input<E: Exchange + Message + Default>(message: &[u8], key: &ServedKey) -> Result<Input, Refusal> {
        E::decode(message).map_err(|_| bad("the request cannot be read"))?.input(key)
    }
    match operation {
        Operation::Encrypt => input::<proto::EncryptRequest>(message, key),
        Operation::Rerandomise => input::<proto::RerandomiseRequest>(message, key),
        Operation::Add => input::<proto::AddRequest>(message, key),
        Operation::Multiply { .. } => input::<proto::MultiplyRequest>(message, key),
        Operation::SumGroups => input::<proto::SumGroupsRequest>(message, key),
        Operation::Decrypt => input::<proto::DecryptRequest>(message, key),
    }
}

/// The refusal of a malformed request.
pub(crate) fn bad(text: &str) -> Refusal {
    Refusal::new(ErrorReason::BadRequest, text)
}

/// Reads ciphertexts, which must satisfy 0 < c < n^2. The operations that need c coprime to n check
/// it.
fn ciphertexts(key: &PublicKey, bytes: &[u8]) -> Result<Ciphertexts, Refusal> {
    Ok(key.ciphertexts_from_be(bytes)?)
}

impl Exchange for proto::EncryptRequest {
    type Answer = proto::EncryptResponse;
    const NAME: &'static str = "encrypt";

    fn right(_key: &ServedKey) -> Right {
        Right::Encrypt
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        Ok(Input::Encrypt(key.public().plaintexts_from_be(&self.plaintexts)?))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::EncryptResponse { ciphertexts }
    }
}

impl Exchange for proto::RerandomiseRequest {
    type Answer = proto::RerandomiseResponse;
    const NAME: &'static str = "rerandomise";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        Ok(Input::Rerandomise(ciphertexts(key.public(), &self.ciphertexts)?))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::RerandomiseResponse { ciphertexts }
    }
}

impl Exchange for proto::AddRequest {
    type Answer = proto::AddResponse;
    const NAME: &'static str = "add";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let (left, right) = (ciphertexts(key.public(), &self.left)?, ciphertexts(key.public(), &self.right)?);
        if left.len() != right.len() {
            return Err(bad("the two batches differ in length"));
        }
        Ok(Input::Add(left, right))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::AddResponse { ciphertexts }
    }
}

impl Exchange for proto::MultiplyRequest {
    type Answer = proto::MultiplyResponse;
    const NAME: &'static str = "multiply";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let ciphertexts = ciphertexts(key.public(), &self.ciphertexts)?;
        let scalars = integers(&self.scalars, ciphertexts.len())?;
        if self.bits > i128::BITS {
            return Err(bad("scalars can have at most 128 bits"));
        }
        Ok(Input::Multiply { ciphertexts, scalars, bits: self.bits, deterministic: self.deterministic })
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::MultiplyResponse { ciphertexts }
    }
}

/// Reads `count` big-endian integers in two's complement. Their width is the number of bytes
/// divided by `count`.
fn integers(bytes: &[u8], count: usize) -> Result<Zeroizing<Vec<i128>>, Refusal> {
    let width = bytes.len().checked_div(count).unwrap_or(0);
    let fits = width * count == bytes.len() && (width > 0 || count == 0) && width <= 16;
    if !fits {
        return Err(bad("there must be a scalar of 1 to 16 bytes for each ciphertext"));
    }
    let mut integers = Zeroizing::new(Vec::with_capacity(count));
    integers.extend(bytes.chunks_exact(width.max(1)).map(|bytes| {
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        bytes.iter().fold(sign, |number: i128, &byte| number << 8 | i128::from(byte))
    }));
    Ok(integers)
}

impl Exchange for proto::SumGroupsRequest {
    type Answer = proto::SumGroupsResponse;
    const NAME: &'static str = "sum_groups";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let ciphertexts = ciphertexts(key.public(), &self.ciphertexts)?;
        let count = self.count as usize;
        if self.groups.len() != ciphertexts.len() {
            return Err(bad("there must be a group for each ciphertext"));
        }
        if count > ciphertexts.len() {
            return Err(bad("there are more groups than ciphertexts"));
        }
        let mut groups = vec![Vec::new(); count];
        for (row, &group) in (0..).zip(&self.groups) {
            groups
                .get_mut(group as usize)
                .ok_or_else(|| bad("a group number is not below the number of groups"))?
                .push(row);
        }
        Ok(Input::SumGroups { ciphertexts, groups })
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::SumGroupsResponse { ciphertexts }
    }
}

impl Exchange for proto::DecryptRequest {
    type Answer = proto::DecryptResponse;
    const NAME: &'static str = "decrypt";

    fn right(key: &ServedKey) -> Right {
        Right::Decrypt(key.public().id())
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        if key.private().is_none() {
            let text = "the service has no private key of this public key";
            return Err(Refusal::new(ErrorReason::NoPrivateKey, text));
        }
        Ok(Input::Decrypt(ciphertexts(key.public(), &self.ciphertexts)?))
    }

    fn answer(plaintexts: Bytes) -> Self::Answer {
        proto::DecryptResponse { plaintexts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_any_width() {
        let read = |bytes: &[u8], count| integers(bytes, count).map(|integers| integers.to_vec());
        assert_eq!(read(&[0xff, 0x7f, 0x80], 3).unwrap(), [-1, 127, -128]);
        assert_eq!(read(&[0xff, 0xfe, 0, 1], 2).unwrap(), [-2, 1]);
        assert_eq!(read(&i128::MIN.to_be_bytes(), 1).unwrap(), [i128::MIN]);
        assert_eq!(read(&[], 0).unwrap(), [0; 0]);
        for (bytes, count) in [(3, 2), (0, 1), (17, 1), (1, 0)] {
            assert_eq!(read(&vec![0; bytes], count).unwrap_err().reason(), ErrorReason::BadRequest);
        }
    }
}
