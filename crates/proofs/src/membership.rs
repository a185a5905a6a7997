//! Proofs that each ciphertext holds one of a few known numbers, without revealing which (\[CDS94\]
//! applied to the proofs of [`residue`](crate::residue)).
//!
//! For a ciphertext `c` and a set `m_1 ... m_L`, `u_j = c (1 + n)^(-m_j)` is an `n`-th power for
//! the number that `c` holds. The prover makes a real proof for this number. For all others it
//! chooses challenges `e_j` and answers `z_j` and computes `A_j = z_j^n u_j^(-e_j)`. The hash of
//! everything must equal the sum of all challenges modulo `2^256`, so the prover cannot choose one
//! of them.

use crate::equation::Claims;
use crate::error::{Error, ErrorKind, check_lengths};
use crate::residue::out_of_range;
use crate::transcript::{CHALLENGE_BITS, CHALLENGE_BYTES, CHALLENGE_LIMBS, Contexts};
use crate::witness::{Form, Responses, Witness};
use hearith_arith::natural::{add_assign, assign_if, sub_assign};
use hearith_arith::{Batch, Exponents, random};
use hearith_paillier::{Ciphertexts, Plaintexts, PublicKey};

/// Proofs, one per row: `A_j`, `e_j` and `z_j` for each number of the set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proofs {
    /// The number of members of the set.
    sides: usize,
    commitments: Ciphertexts,
    challenges: Batch,
    responses: Responses,
}

impl Proofs {
    /// Length in bytes of a proof for a set of `sides` numbers.
    pub fn row_bytes(key: &PublicKey, form: Form, sides: usize) -> usize {
        sides * (key.ciphertext_bytes() + CHALLENGE_BYTES + form.response_bytes(key))
    }

    /// The number of proofs.
    pub fn len(&self) -> usize {
        self.commitments.len() / self.sides
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.commitments.is_empty()
    }

    /// All proofs concatenated: `A_j`, `e_j` and `z_j` for each number of the set, big-endian.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let parts = [
            (self.commitments.row_bytes(), self.commitments.to_be_bytes()),
            (CHALLENGE_BYTES, self.challenges.to_be_bytes(CHALLENGE_BYTES)),
            self.responses.to_be_bytes(),
        ];
        let side = |index: usize| parts.iter().flat_map(move |(width, bytes)| &bytes[index * width..][..*width]);
        (0..self.commitments.len()).flat_map(side).copied().collect()
    }

    /// Reads untrusted proofs for a set of `sides` numbers. The encoding of a proof is unique.
    ///
    /// # Errors
    /// [`BadSet`](ErrorKind::BadSet) for an empty set, [`Width`](ErrorKind::Width), or
    /// [`OutOfRange`](ErrorKind::OutOfRange) for the first row with a number that is 0 or not below
    /// its bound. The bound of an answer by an opening is `(n + 1) / 2`. Also fails for a short
    /// form under a key that does not support it.
    pub fn from_be_bytes(key: &PublicKey, form: Form, sides: usize, bytes: &[u8]) -> Result<Self, Error> {
        let width = Self::row_bytes(key, form, sides);
        if sides == 0 {
            return Err(ErrorKind::BadSet.into());
        }
        if !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        let all: Vec<_> = bytes.chunks_exact(width / sides).map(|side| side.split_at(key.ciphertext_bytes())).collect();
        let commitments: Vec<_> = all.iter().map(|(commitment, _)| *commitment).collect();
        let challenges = all.iter().map(|(_, rest)| &rest[..CHALLENGE_BYTES]);
        let responses: Vec<_> = all.iter().map(|(_, rest)| &rest[CHALLENGE_BYTES..]).collect();
        Ok(Proofs {
            sides,
            commitments: key.ciphertexts_from_be_rows(&commitments).map_err(out_of_range(sides))?,
            challenges: Batch::from_be_rows(challenges, CHALLENGE_LIMBS).public(),
            responses: form.responses(key, &responses.concat()).map_err(out_of_range(sides))?,
        })
    }
}

/// Proves that each ciphertext, made with its opening, holds the number of the set with the index
/// in `chosen`, from 0. With a wrong index or opening, the proof does not hold. Constant time in
/// openings and chosen indices.
///
/// # Errors
/// [`BadSet`](ErrorKind::BadSet), [`NoSuchNumber`](ErrorKind::NoSuchNumber),
/// [`Lengths`](ErrorKind::Lengths), a batch of another key, or a failure of the random generator.
pub fn prove<'a>(
    key: &PublicKey,
    contexts: &Contexts,
    set: &Plaintexts,
    ciphertexts: &Ciphertexts,
    openings: impl Into<Witness<'a>>,
    chosen: &[usize],
) -> Result<Proofs, Error> {
    check_set(key, set)?;
    let (witness, rows, sides) = (openings.into(), ciphertexts.len(), set.len());
    for other in [contexts.len(), witness.len(), chosen.len()] {
        check_lengths(rows, other)?;
    }
    if let Some(row) = chosen.iter().position(|&one| one >= sides) {
        return Err(ErrorKind::NoSuchNumber { numbers: sides }.at_row(row));
    }
    // 1 for the chosen side, without a branch.
    let is_chosen = |row: usize, side: usize| ((chosen[row] ^ side) as u64).wrapping_sub(1) >> 63;
    let mut challenges = random::bits(rows * sides, CHALLENGE_LIMBS, CHALLENGE_BITS)?;
    for (index, challenge) in challenges.rows_mut().enumerate() {
        assign_if(challenge, &[0; CHALLENGE_LIMBS], is_chosen(index / sides, index % sides));
    }
    let zeta = witness.draw(key, rows * sides)?;
    let commitments = simulated(key, set, ciphertexts, &challenges, &zeta, chosen)?;

    // The rest of the hash, for the chosen side.
    let mut left = hashes(key, contexts, set, ciphertexts, &commitments, &zeta);
    for (index, challenge) in challenges.rows().enumerate() {
        sub_assign(left.row_mut(index / sides), challenge);
    }
    let challenged = witness.challenged(key, &left);
    let mut each = Batch::zeros(rows * sides, challenged.limbs());
    for index in 0..rows * sides {
        let (row, bit) = (index / sides, is_chosen(index / sides, index % sides));
        each.row_mut(index)[0] = witness.zero_challenge_factor();
        assign_if(each.row_mut(index), challenged.row(row), bit);
        assign_if(challenges.row_mut(index), left.row(row), bit);
    }
    Ok(Proofs { sides, commitments, challenges: challenges.public(), responses: zeta.answered(key, &each)? })
}

/// Verifies that every ciphertext holds a number of the set, by its proof in this context.
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) for the first row with an invalid proof; a ciphertext or
/// commitment that shares a factor with `n`; [`BadSet`](ErrorKind::BadSet),
/// [`Lengths`](ErrorKind::Lengths); a batch of another key; or if the random generator fails.
pub fn verify(
    key: &PublicKey,
    contexts: &Contexts,
    set: &Plaintexts,
    ciphertexts: &Ciphertexts,
    proofs: &Proofs,
) -> Result<(), Error> {
    check_set(key, set)?;
    check_lengths(ciphertexts.len(), contexts.len())?;
    check_lengths(ciphertexts.len(), proofs.len())?;
    check_lengths(set.len(), proofs.sides)?;
    let mut sums = Batch::zeros(ciphertexts.len(), CHALLENGE_LIMBS).public();
    for (index, challenge) in proofs.challenges.rows().enumerate() {
        add_assign(sums.row_mut(index / proofs.sides), challenge);
    }
    let hashes = hashes(key, contexts, set, ciphertexts, &proofs.commitments, &proofs.responses);
    let by_hash = sums.rows().zip(hashes.rows()).position(|(sum, hash)| sum != hash);
    let claims = Claims {
        key,
        set,
        numbers: ciphertexts.batch(),
        commitments: proofs.commitments.batch(),
        challenges: &proofs.challenges,
        responses: &proofs.responses,
    };
    if by_hash.is_none() && claims.hold_and_are_units()? {
        return Ok(());
    }
    key.check_coprime(ciphertexts)?;
    key.check_coprime(&proofs.commitments).map_err(out_of_range(proofs.sides))?;
    // The reported row is the first invalid one, whichever check finds it.
    let wrong = match by_hash {
        Some(row) => claims.first_invalid_before(row)?.or(Some(row)),
        None => claims.first_invalid()?,
    };
    wrong.map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}

/// `A_j = z_j^n u_j^(-e_j)` for every side of every row. The challenge of the chosen side is 0.
fn simulated(
    key: &PublicKey,
    set: &Plaintexts,
    ciphertexts: &Ciphertexts,
    challenges: &Batch,
    zeta: &Responses,
    chosen: &[usize],
) -> Result<Ciphertexts, Error> {
    let (rows, sides) = (ciphertexts.len(), set.len());
    let of_rows: Vec<usize> = (0..rows * sides).map(|index| index / sides).collect();
    let of_set: Vec<usize> = (0..rows * sides).map(|index| index % sides).collect();
    let inverses = key.add_plain(&key.negate(ciphertexts)?.select(&of_rows)?, &set.select(&of_set)?)?;
    // The power of the chosen side is 1, so only the others are computed.
    let (bases, exponents) = (others(inverses.batch(), chosen), others(challenges, chosen));
    let powers = key.square().pow(&bases, Exponents::Each(&exponents, CHALLENGE_BITS));
    let powers = with_one(&key.square().join(&powers), chosen);
    let products = key.squared().mul(zeta.powers(key)?.batch(), &powers);
    Ok(key.ciphertexts_from_be(&products.to_be_bytes(key.ciphertext_bytes()))?)
}

/// 1 if `chosen` is below `side`, otherwise 0, without a branch.
fn is_below(chosen: usize, side: usize) -> u64 {
    (chosen as u64).wrapping_sub(side as u64) >> 63
}

/// The sides of every row except the chosen one, in order. Constant time in the chosen indices.
fn others(all: &Batch, chosen: &[usize]) -> Batch {
    let (rows, sides) = (chosen.len(), all.len() / chosen.len().max(1));
    let left = sides.saturating_sub(1);
    let mut others = Batch::zeros(rows * left, all.limbs());
    for (index, other) in others.rows_mut().enumerate() {
        let (row, side) = (index / left, index % left);
        other.copy_from_slice(all.row(row * sides + side));
        assign_if(other, all.row(row * sides + side + 1), is_below(chosen[row], side + 1));
    }
    others
}

/// The inverse of [`others`], with 1 for the chosen side. Constant time in the chosen indices.
fn with_one(others: &Batch, chosen: &[usize]) -> Batch {
    let (rows, left) = (chosen.len(), others.len() / chosen.len().max(1));
    let mut one = vec![0; others.limbs()];
    one[0] = 1;
    let mut all = Batch::zeros(rows * (left + 1), others.limbs());
    for (index, each) in all.rows_mut().enumerate() {
        let (row, side) = (index / (left + 1), index % (left + 1));
        each.copy_from_slice(&one);
        if side < left {
            assign_if(each, others.row(row * left + side), is_below(side, chosen[row]));
        }
        if side > 0 {
            assign_if(each, others.row(row * left + side - 1), is_below(chosen[row], side));
        }
    }
    all
}

/// The hash of each row: context, key, set, ciphertext and commitments.
fn hashes(
    key: &PublicKey,
    contexts: &Contexts,
    set: &Plaintexts,
    ciphertexts: &Ciphertexts,
    commitments: &Ciphertexts,
    responses: &Responses,
) -> Batch {
    let bytes = key.ciphertext_bytes();
    let (set, width) = (set.to_be_bytes(), set.len() * bytes);
    let (ciphertexts, commitments) = (ciphertexts.to_be_bytes(), commitments.to_be_bytes());
    let with_prefix = responses.transcript_prefix(key);
    contexts.challenges(&responses.name("membership"), |transcript, row| {
        let transcript = with_prefix(transcript).with(&set).with(&ciphertexts[row * bytes..][..bytes]);
        transcript.with(&commitments[row * width..][..width])
    })
}

/// Fails for an empty set, or one that contains a number twice, because such proofs would show too
/// little or reveal too much.
fn check_set(key: &PublicKey, set: &Plaintexts) -> Result<(), Error> {
    if set.key_id() != key.id() {
        let kind = hearith_paillier::ErrorKind::WrongKey { expected: key.id(), found: set.key_id() };
        return Err(hearith_paillier::Error::from(kind).into());
    }
    let mut numbers: Vec<&[u64]> = set.batch().rows().collect();
    numbers.sort_unstable();
    let twice = numbers.windows(2).any(|pair| pair[0] == pair[1]);
    if numbers.is_empty() || twice { Err(ErrorKind::BadSet.into()) } else { Ok(()) }
}
