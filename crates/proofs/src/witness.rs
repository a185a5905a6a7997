//! A prover's secret in either form, and its answers.
//!
//! | | opening: a root | short opening: an exponent |
//! | --- | --- | --- |
//! | statement | `u = r^n` | `u = (h^n)^a` |
//! | commitment | `A = rho^n` | `A = (h^n)^rho`, `rho` with 384 more bits than `a` |
//! | answer | `z = rho r^e mod n` | `z = rho + e a` |
//! | equation | `z^n = A u^e` | `(h^n)^z = A u^e` |
//!
//! Both equations imply that `u` to the difference of two challenges is an `n`-th power, and
//! therefore that `u` is one. A challenge uses 256 of the 384 bits, and 128 hide `a`.

use crate::error::{Error, check_lengths};
use crate::residue::zeros;
use crate::transcript::{CHALLENGE_BITS, CHALLENGE_LIMBS, Transcript};
use hearith_arith::natural::{assign_if, less, mac_row, shifted_down};
use hearith_arith::{Batch, Exponents};
use hearith_paillier::{Ciphertexts, Openings, PublicKey, ShortOpenings};
use std::ops::Range;

/// Bits by which a prover's random exponents exceed those of a witness.
const HIDING_BITS: u32 = CHALLENGE_BITS + 128;

/// The openings of ciphertexts, kept by their maker: [`Openings`], or [`ShortOpenings`] for
/// fast ballots under a DJN key.
#[derive(Clone, Copy, Debug)]
pub enum Witness<'a> {
    /// Units `r`.
    Openings(&'a Openings),
    /// Exponents `a`.
    Short(&'a ShortOpenings),
}

impl<'a> From<&'a Openings> for Witness<'a> {
    fn from(openings: &'a Openings) -> Self {
        Witness::Openings(openings)
    }
}

impl<'a> From<&'a ShortOpenings> for Witness<'a> {
    fn from(openings: &'a ShortOpenings) -> Self {
        Witness::Short(openings)
    }
}

/// The form required of an untrusted proof. The verifier chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Proofs by openings.
    Openings,
    /// Proofs by short openings of at most this many bits, such as [`PublicKey::short_bits`], or a
    /// few more for their sums.
    Short {
        /// The maximum length in bits.
        bits: u32,
    },
}

impl Form {
    /// Length of an answer in bytes.
    pub(crate) fn response_bytes(self, key: &PublicKey) -> usize {
        match self {
            Form::Openings => key.plaintext_bytes(),
            Form::Short { bits } => response_bits(bits).div_ceil(8) as usize,
        }
    }

    /// Reads untrusted answers.
    pub(crate) fn responses(self, key: &PublicKey, bytes: &[u8]) -> Result<Responses, hearith_paillier::Error> {
        Ok(match self {
            Form::Openings => Responses::Openings(lesser_only(key, key.openings_from_be(bytes)?)?),
            Form::Short { bits } => Responses::Short(key.short_openings_from_be(bytes, response_bits(bits))?),
        })
    }
}

/// The smaller of each number and its negative modulo `n`. Both are equally valid as answers, since
/// both sides of an equation are squared. Constant time.
fn lesser(key: &PublicKey, mut numbers: Batch) -> Batch {
    let (half, negatives) = (half(key), key.root().neg(&numbers));
    for (number, negative) in numbers.rows_mut().zip(negatives.rows()) {
        assign_if(number, negative, less(&half, number));
    }
    numbers
}

/// Fails for the first answer that exceeds its negative, which makes the encoding of a proof
/// unique.
fn lesser_only(key: &PublicKey, answers: Openings) -> Result<Openings, hearith_paillier::Error> {
    let half = half(key);
    let greater = answers.batch().rows().position(|answer| less(&half, answer) == 1);
    greater.map_or(Ok(answers), |row| Err(hearith_paillier::ErrorKind::OutOfRange.at_row(row)))
}

/// `(n - 1) / 2`.
fn half(key: &PublicKey) -> Vec<u64> {
    shifted_down(key.root().as_limbs(), 1).to_vec()
}

/// Bits of the answer for a short opening.
fn response_bits(bits: u32) -> u32 {
    bits + HIDING_BITS + 1
}

impl Witness<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Witness::Openings(openings) => openings.len(),
            Witness::Short(openings) => openings.len(),
        }
    }

    /// Draws the prover's random numbers `rho`.
    pub(crate) fn draw(self, key: &PublicKey, len: usize) -> Result<Responses, Error> {
        Ok(match self {
            Witness::Openings(_) => Responses::Openings(key.openings(len)?),
            Witness::Short(openings) => Responses::Short(key.short_openings(len, openings.bits() + HIDING_BITS)?),
        })
    }

    /// Applies a challenge to the witness, row by row: `r^e mod n`, or `e a`. Constant time.
    pub(crate) fn challenged(self, key: &PublicKey, challenges: &Batch) -> Batch {
        let openings = match self {
            Witness::Openings(openings) => {
                return key.root().pow(openings.batch(), Exponents::Each(challenges, CHALLENGE_BITS));
            }
            Witness::Short(openings) => openings.batch(),
        };
        let mut products = Batch::zeros(openings.len(), openings.limbs() + CHALLENGE_LIMBS);
        for ((product, opening), challenge) in products.rows_mut().zip(openings.rows()).zip(challenges.rows()) {
            for (at, &limb) in challenge.iter().enumerate() {
                product[at + opening.len()] = mac_row(&mut product[at..][..opening.len()], opening, limb);
            }
        }
        products
    }

    /// The result of the challenge 0 for any witness, in one limb.
    pub(crate) fn zero_challenge_factor(self) -> u64 {
        match self {
            Witness::Openings(_) => 1,
            Witness::Short(_) => 0,
        }
    }
}

/// The prover's random numbers, which later become the answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Responses {
    Openings(Openings),
    Short(ShortOpenings),
}

impl Responses {
    /// The number of claims up to which individual checks in lanes are faster than buckets
    /// (measured). A power with an opening needs as many squarings as `n` has bits, one from a
    /// table only a few.
    pub(crate) fn max_individual_claims(&self) -> usize {
        match self {
            Responses::Openings(_) => 16,
            Responses::Short(_) => 40,
        }
    }

    /// The answers of some claims.
    pub(crate) fn range(&self, claims: Range<usize>) -> Result<Responses, Error> {
        Ok(match self {
            Responses::Openings(openings) => Responses::Openings(openings.range(claims)?),
            Responses::Short(openings) => Responses::Short(openings.range(claims)?),
        })
    }

    /// The length of each in bytes, and all of them concatenated.
    pub(crate) fn to_be_bytes(&self) -> (usize, Vec<u8>) {
        match self {
            Responses::Openings(openings) => (openings.row_bytes(), openings.to_be_bytes().to_vec()),
            Responses::Short(openings) => (openings.row_bytes(), openings.to_be_bytes().to_vec()),
        }
    }

    /// `z^n`, or `(h^n)^z`.
    pub(crate) fn powers(&self, key: &PublicKey) -> Result<Ciphertexts, Error> {
        Ok(match self {
            Responses::Openings(openings) => key.encrypt_with_openings(&zeros(key, openings.len())?, openings)?,
            Responses::Short(openings) => key.encrypt_with_short_openings(&zeros(key, openings.len())?, openings)?,
        })
    }

    /// The answers: the random numbers combined with the challenged witness.
    pub(crate) fn answered(&self, key: &PublicKey, challenged: &Batch) -> Result<Responses, Error> {
        Ok(match self {
            Responses::Openings(openings) => {
                check_lengths(openings.len(), challenged.len())?;
                let products = lesser(key, key.root().mul(openings.batch(), challenged));
                Responses::Openings(key.openings_from_be(&products.to_be_bytes(key.plaintext_bytes()))?)
            }
            Responses::Short(openings) => {
                let limbs = openings.batch().limbs();
                Responses::Short(key.shift_short_openings(openings, &challenged.resize(limbs))?)
            }
        })
    }

    /// Starts a proof's transcript with the key, in this form.
    pub(crate) fn transcript_prefix(&self, key: &PublicKey) -> impl Fn(Transcript) -> Transcript {
        let modulus = key.modulus_be();
        let generator = match self {
            Responses::Openings(_) => None,
            Responses::Short(_) => Some(key.generator_be().unwrap_or_default()),
        };
        move |transcript| generator.iter().fold(transcript.with(&modulus), |transcript, part| transcript.with(part))
    }

    /// The name of a kind of proof in this form.
    pub(crate) fn name(&self, proof: &str) -> String {
        match self {
            Responses::Openings(_) => proof.to_owned(),
            Responses::Short(_) => format!("{proof}, short"),
        }
    }
}
