//! Proofs that numbers are `n`-th powers modulo `n^2`, as ciphertexts of 0 are (\[DJ01\], section
//! 4.2).
//!
//! For `u = r^n`, the prover commits to `A = rho^n`, receives the challenge `e`, and answers
//! `z = rho r^e mod n`. The proof holds if `z^n = A u^e mod n^2`. Two answers to one commitment
//! reveal `r`, unless the difference of their `e` shares a factor with `n`. For `u = (h^n)^a` under
//! a DJN key, the exponent `a` can replace `r` ([`Witness`]).

use crate::equation::Claims;
use crate::error::{Error, ErrorKind, check_lengths};
use crate::transcript::Contexts;
use crate::witness::{Form, Responses, Witness};
use hearith_arith::Batch;
use hearith_paillier::{Ciphertexts, Plaintexts, PublicKey};

/// Proofs, one per row: `A` and `z`. The verifier recomputes the challenge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proofs {
    commitments: Ciphertexts,
    responses: Responses,
}

impl Proofs {
    /// Length in bytes of a proof: that of `A` plus that of `z`.
    pub fn row_bytes(key: &PublicKey, form: Form) -> usize {
        key.ciphertext_bytes() + form.response_bytes(key)
    }

    /// The number of proofs.
    pub fn len(&self) -> usize {
        self.commitments.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.commitments.is_empty()
    }

    /// All proofs concatenated, `A` and `z` each, big-endian.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let (commitments, (width, responses)) = (self.commitments.to_be_bytes(), self.responses.to_be_bytes());
        let rows = commitments.chunks(self.commitments.row_bytes()).zip(responses.chunks(width));
        rows.flat_map(|(commitment, response)| [commitment, response]).flatten().copied().collect()
    }

    /// Reads untrusted proofs. The encoding of a proof is unique.
    ///
    /// # Errors
    /// [`Width`](ErrorKind::Width), or [`OutOfRange`](ErrorKind::OutOfRange) for the first row with
    /// a number that is 0 or not below its bound. The bound of an answer by an opening is
    /// `(n + 1) / 2`. Also fails for a short form under a key that does not support it.
    pub fn from_be_bytes(key: &PublicKey, form: Form, bytes: &[u8]) -> Result<Self, Error> {
        let width = Self::row_bytes(key, form);
        if !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        let (commitments, responses): (Vec<_>, Vec<_>) =
            bytes.chunks_exact(width).map(|row| row.split_at(key.ciphertext_bytes())).unzip();
        Ok(Proofs {
            commitments: key.ciphertexts_from_be_rows(&commitments).map_err(out_of_range(1))?,
            responses: form.responses(key, &responses.concat()).map_err(out_of_range(1))?,
        })
    }
}

/// Converts the scheme's error about a number of a proof, where each row has `sides` numbers.
pub(crate) fn out_of_range(sides: usize) -> impl Fn(hearith_paillier::Error) -> Error {
    move |error| match error.row() {
        Some(row) => ErrorKind::OutOfRange.at_row(row / sides),
        None => error.into(),
    }
}

/// Proves that each number is the `n`-th power of its opening. With a wrong opening, the proof does
/// not hold.
///
/// # Errors
/// [`Lengths`](ErrorKind::Lengths), a batch of another key, or if the random generator fails.
pub fn prove<'a>(
    key: &PublicKey,
    contexts: &Contexts,
    numbers: &Ciphertexts,
    openings: impl Into<Witness<'a>>,
) -> Result<Proofs, Error> {
    let witness = openings.into();
    check_lengths(numbers.len(), contexts.len())?;
    check_lengths(numbers.len(), witness.len())?;
    let rho = witness.draw(key, numbers.len())?;
    let commitments = rho.powers(key)?;
    let challenges = challenges(key, contexts, numbers, &commitments, &rho);
    Ok(Proofs { commitments, responses: rho.answered(key, &witness.challenged(key, &challenges))? })
}

/// Verifies that every number is an `n`-th power, by its proof in this context.
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) for the first row with an invalid proof; a number or
/// commitment that shares a factor with `n`; [`Lengths`](ErrorKind::Lengths); a batch of another
/// key; or if the random generator fails.
pub fn verify(key: &PublicKey, contexts: &Contexts, numbers: &Ciphertexts, proofs: &Proofs) -> Result<(), Error> {
    check_lengths(numbers.len(), contexts.len())?;
    check_lengths(numbers.len(), proofs.len())?;
    let claims = Claims {
        key,
        set: &zeros(key, 1)?,
        numbers: numbers.batch(),
        commitments: proofs.commitments.batch(),
        challenges: &challenges(key, contexts, numbers, &proofs.commitments, &proofs.responses),
        responses: &proofs.responses,
    };
    if claims.hold_and_are_units()? {
        return Ok(());
    }
    key.check_coprime(numbers)?;
    key.check_coprime(&proofs.commitments).map_err(out_of_range(1))?;
    claims.first_invalid()?.map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}

/// Plaintexts of 0.
pub(crate) fn zeros(key: &PublicKey, len: usize) -> Result<Plaintexts, Error> {
    Ok(key.plaintexts_from_be(&vec![0; len * key.plaintext_bytes()])?)
}

/// The challenge of each row: the hash of context, key, number and commitment.
fn challenges(
    key: &PublicKey,
    contexts: &Contexts,
    numbers: &Ciphertexts,
    commitments: &Ciphertexts,
    responses: &Responses,
) -> Batch {
    let bytes = key.ciphertext_bytes();
    let (numbers, commitments) = (numbers.to_be_bytes(), commitments.to_be_bytes());
    let with_prefix = responses.transcript_prefix(key);
    contexts.challenges(&responses.name("residue"), |transcript, row| {
        let of_row = row * bytes..(row + 1) * bytes;
        with_prefix(transcript).with(&numbers[of_row.clone()]).with(&commitments[of_row])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{CHALLENGE_LIMBS, Transcript, limbs};
    use hearith_paillier::encoding::{decode_signed, encode_signed};
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn bytes(number: &Integer, width: usize) -> Vec<u8> {
        let digits = number.to_digits::<u8>(Order::Msf);
        [vec![0; width - digits.len()], digits].concat()
    }

    /// If the hash covered only the commitment, a prover could choose the statement after learning
    /// the challenge \[BPW12\].
    #[test]
    fn what_forges_a_hash_of_commitments_alone_does_not_forge_ours() {
        let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let key = private.public();
        let contexts = Contexts::new(b"election", [b"ballot"]);
        let n = integer(key.root().as_limbs());
        let squared = n.clone().square();
        let pow = |base: &Integer, exponent: &Integer| base.clone().pow_mod(exponent, &squared).unwrap();

        // A = (1 + n)^a t^n fixes the weak challenge e. Then u = (1 + n)^(-a / e) s^n satisfies the
        // equation with z = t s^e.
        let (a, s, t) = (Integer::from(12_345), Integer::from(1_234_567_891), Integer::from(987_654_321));
        let commitment = (Integer::from(1) + &a * &n) * pow(&t, &n) % &squared;
        let commitment = bytes(&commitment, key.ciphertext_bytes());
        let weak = Transcript::new("residue").with(&commitment).challenge();
        let e = Integer::from_digits(&weak, Order::Msf);
        let m = n.clone() - a * e.clone().invert(&n).unwrap() % &n;
        let u = (Integer::from(1) + &m * &n) * pow(&s, &n) % &squared;
        let z = t * s.pow_mod(&e, &n).unwrap() % &n;
        let z = Integer::from(&n - &z).min(z);

        let u = key.ciphertexts_from_be(&bytes(&u, key.ciphertext_bytes())).unwrap();
        assert_ne!(decode_signed(key, &private.decrypt(&u).unwrap()).unwrap()[0].to_i128(), Some(0));
        let forged = [commitment, bytes(&z, key.plaintext_bytes())].concat();
        let proofs = Proofs::from_be_bytes(key, Form::Openings, &forged).unwrap();
        let weak = Claims {
            key,
            set: &zeros(key, 1).unwrap(),
            numbers: u.batch(),
            commitments: proofs.commitments.batch(),
            challenges: &Batch::from_rows(CHALLENGE_LIMBS, [&limbs(&weak)[..]]),
            responses: &proofs.responses,
        };
        assert_eq!(weak.first_invalid(), Ok(None), "the forgery is good against the weak form");
        assert_eq!(verify(key, &contexts, &u, &proofs), Err(ErrorKind::DoesNotHold.at_row(0)));
    }

    /// Checks challenge and equation as documented, with other libraries.
    #[test]
    fn proofs_hold_by_gmp() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let private = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, engine).unwrap();
            let key = private.public();
            let contexts = Contexts::new(b"shared", [b"a", b"b", b"c"]);
            let (numbers, roots) = key.encrypt_opened(&encode_signed(key, &[0, 0, 0]).unwrap()).unwrap();
            let proofs = prove(key, &contexts, &numbers, &roots).unwrap();
            assert_eq!(verify(key, &contexts, &numbers, &proofs), Ok(()));

            let n = integer(key.root().as_limbs());
            let squared = n.clone().square();
            let (statement, proof) = (numbers.to_be_bytes(), proofs.to_be_bytes());
            for row in 0..3 {
                let u = &statement[row * 128..][..128];
                let (a, z) = proof[row * 192..][..192].split_at(128);
                let name = [b"a", b"b", b"c"][row];
                let parts: [&[u8]; 6] = [b"hearith-proofs 1 residue", b"shared", name, &key.modulus_be(), u, a];
                let hashed: Vec<u8> =
                    parts.iter().flat_map(|part| [&(part.len() as u64).to_be_bytes()[..], part].concat()).collect();
                let e = Integer::from_digits(&<sha2::Sha256 as sha2::Digest>::digest(&hashed), Order::Msf);
                let [u, a, z] = [u, a, z].map(|number| Integer::from_digits(number, Order::Msf));
                let right = a * u.pow_mod(&e, &squared).unwrap() % &squared;
                let [left, right] = [z.pow_mod(&n, &squared).unwrap(), right].map(|side| side.square() % &squared);
                assert_eq!(left, right, "row {row}, {engine}");
            }
        }
    }
}
