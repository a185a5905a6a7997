//! Proofs about sums of several ciphertexts: for example that a ballot has exactly `k` marks, or at
//! most `k`.
//!
//! Each group of ciphertexts, such as a ballot, is one row of the proofs. Anyone can compute the
//! ciphertext of its total. The opening of the total is the product of the openings.

use crate::error::{Error, check_lengths};
use crate::transcript::Contexts;
use crate::witness::Witness;
use crate::{membership, residue};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Plaintexts, PublicKey};

/// Proves that each group of ciphertexts sums to its row of `totals`.
///
/// # Errors
/// The errors of [`residue::prove`], or a group with an unknown row.
pub fn prove_exactly<'a>(
    key: &PublicKey,
    contexts: &Contexts,
    ciphertexts: &Ciphertexts,
    openings: impl Into<Witness<'a>>,
    groups: &[Vec<u32>],
    totals: &Plaintexts,
) -> Result<residue::Proofs, Error> {
    let differences = differences(key, ciphertexts, groups, totals)?;
    match openings.into() {
        Witness::Openings(openings) => {
            residue::prove(key, contexts, &differences, &key.sum_openings(openings, groups)?)
        }
        Witness::Short(openings) => {
            residue::prove(key, contexts, &differences, &key.sum_short_openings(openings, groups)?)
        }
    }
}

/// Verifies that each group of ciphertexts sums to its row of `totals`.
///
/// # Errors
/// The errors of [`residue::verify`], or a group with an unknown row.
pub fn verify_exactly(
    key: &PublicKey,
    contexts: &Contexts,
    ciphertexts: &Ciphertexts,
    groups: &[Vec<u32>],
    totals: &Plaintexts,
    proofs: &residue::Proofs,
) -> Result<(), Error> {
    residue::verify(key, contexts, &differences(key, ciphertexts, groups, totals)?, proofs)
}

/// Proves that each group of ciphertexts sums to at most `most`. `sums` contains the actual sums.
///
/// # Errors
/// The errors of [`membership::prove`], or a group with an unknown row.
pub fn prove_at_most<'a>(
    key: &PublicKey,
    contexts: &Contexts,
    ciphertexts: &Ciphertexts,
    openings: impl Into<Witness<'a>>,
    groups: &[Vec<u32>],
    most: u32,
    sums: &[usize],
) -> Result<membership::Proofs, Error> {
    let (set, totals) = (up_to(key, most)?, key.sum_groups(ciphertexts, groups)?);
    match openings.into() {
        Witness::Openings(openings) => {
            membership::prove(key, contexts, &set, &totals, &key.sum_openings(openings, groups)?, sums)
        }
        Witness::Short(openings) => {
            membership::prove(key, contexts, &set, &totals, &key.sum_short_openings(openings, groups)?, sums)
        }
    }
}

/// Verifies that each group of ciphertexts sums to at most `most`.
///
/// # Errors
/// The errors of [`membership::verify`], or a group with an unknown row.
pub fn verify_at_most(
    key: &PublicKey,
    contexts: &Contexts,
    ciphertexts: &Ciphertexts,
    groups: &[Vec<u32>],
    most: u32,
    proofs: &membership::Proofs,
) -> Result<(), Error> {
    membership::verify(key, contexts, &up_to(key, most)?, &key.sum_groups(ciphertexts, groups)?, proofs)
}

/// Ciphertexts of the sums minus the totals, which hold 0 if the totals are right.
fn differences(
    key: &PublicKey,
    ciphertexts: &Ciphertexts,
    groups: &[Vec<u32>],
    totals: &Plaintexts,
) -> Result<Ciphertexts, Error> {
    check_lengths(groups.len(), totals.len())?;
    let negatives = key.root().neg(totals.batch()).to_be_bytes(key.plaintext_bytes());
    let negatives = key.plaintexts_from_be(&negatives)?;
    Ok(key.add_plain(&key.sum_groups(ciphertexts, groups)?, &negatives)?)
}

/// The numbers from 0 to `most`.
fn up_to(key: &PublicKey, most: u32) -> Result<Plaintexts, Error> {
    Ok(encode_signed(key, &(0..=most).map(i128::from).collect::<Vec<_>>())?)
}
