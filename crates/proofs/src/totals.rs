//! Proofs of what several ciphertexts add up to: that a ballot has exactly `k` marks, or at most so
//! many.
//!
//! Each group of rows, such as a ballot, is one row of the proofs. Its total is a ciphertext that
//! anybody computes, with the product of the openings for its opening.

use crate::error::{Error, check_lengths};
use crate::transcript::Contexts;
use crate::witness::Witness;
use crate::{membership, residue};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Plaintexts, PublicKey};

/// Proves that each group of ciphertexts adds up to its total, a row of `totals` each.
///
/// # Errors
/// As [`residue::prove`]; a group with a row that is not there.
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

/// Checks that each group of ciphertexts adds up to its total.
///
/// # Errors
/// As [`residue::verify`]; a group with a row that is not there.
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

/// Proves that each group of ciphertexts adds up to at most `most`; `sums` says to what.
///
/// # Errors
/// As [`membership::prove`]; a group with a row that is not there.
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

/// Checks that each group of ciphertexts adds up to at most `most`.
///
/// # Errors
/// As [`membership::verify`]; a group with a row that is not there.
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

/// Ciphertexts of the sums less the totals: of 0, if all is right.
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
