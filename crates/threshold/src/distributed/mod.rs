//! Distributed key generation: trustees generate a shared key together without a dealer, and nobody
//! ever holds the whole key.
//!
//! Each trustee runs a [`Trustee`], a state machine without network access. [`Trustee::start`]
//! returns the messages of the first round. [`Trustee::step`] processes the messages of the others
//! and returns those of the next round. At the end all trustees have the same
//! [`VerificationKeys`](crate::VerificationKeys), and each has its own
//! [`KeyShare`](crate::KeyShare). These decrypt and combine like those of a dealt key.
//!
//! The README in this folder specifies every equation and every byte. docs/explanation/threshold.md
//! states the security properties and their assumptions. In short: fewer than `w` malicious
//! trustees learn nothing about the key except `N` and a few dozen bits of `p` and `q`, and cannot
//! make the others accept a wrong key. If a trustee deviates, the run ends, the trustee is named
//! ([`Failure`]), and the key material of the run is discarded.
//!
//! [`offline`] exchanges the messages as files, for machines without a network.
//!
//! ```
//! use hearith_paillier::encoding::{decode_signed, encode_signed};
//! use hearith_paillier::{Engine, KeyPolicy, Variant};
//! use hearith_threshold::Contexts;
//! use hearith_threshold::distributed::{Finished, Identity, Parameters, Step, Trustee, session_id};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 128 bits only to make the example quick.
//! let parameters = Parameters::new(128, 2, 3, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
//! let identities = [Identity::generate()?, Identity::generate()?, Identity::generate()?];
//! let keys = identities.each_ref().map(Identity::public);
//! let session = session_id(&parameters, &keys, &[[1; 32], [2; 32], [3; 32]]);
//! let mut trustees = Vec::new();
//! for (number, identity) in (1..).zip(identities) {
//!     trustees.push(Trustee::new(parameters.clone(), number, identity, &keys, session)?);
//! }
//!
//! // Here the messages of a round only change places.
//! let mut sent: Vec<Vec<Vec<u8>>> = trustees.iter_mut().map(Trustee::start).collect();
//! let finished: Vec<Finished> = loop {
//!     let mut steps = Vec::new();
//!     for (to, trustee) in trustees.iter_mut().enumerate() {
//!         let received: Vec<Option<Vec<u8>>> = sent.iter().map(|from| Some(from[to].clone())).collect();
//!         steps.push(trustee.step(&received));
//!     }
//!     if matches!(steps[0], Step::Finished(_)) {
//!         let key = |step| match step { Step::Finished(key) => Some(*key), _ => None };
//!         break steps.into_iter().filter_map(key).collect();
//!     }
//!     sent = steps.into_iter().map(|step| match step { Step::Send(messages) => messages, _ => panic!("a failure") }).collect();
//! };
//!
//! let verification = &finished[0].verification;
//! let total = verification.key().encrypt(&encode_signed(verification.key(), &[5650])?)?;
//! let contexts = Contexts::new(b"salaries of 2026", ["total"]);
//! let shares = [finished[0].share.decrypt(&contexts, &total)?, finished[2].share.decrypt(&contexts, &total)?];
//! let combined = verification.combine(&contexts, &total, &[&shares[0], &shares[1]])?;
//! assert_eq!(decode_signed(verification.key(), &combined.plaintexts)?[0].to_i128(), Some(5650));
//! # Ok(())
//! # }
//! ```

mod candidate;
mod core;
mod failure;
mod message;
mod numbers;
pub mod offline;
mod plan;
mod proofs;
mod replay;
mod stream;
mod trustee;

pub use failure::{Failure, Reason};
pub use message::Identity;
pub(crate) use plan::key_share_bits;
pub use proofs::KeyProofs;
pub use trustee::{Finished, Progress, Step, Trustee};

use crate::error::{Error, ErrorKind};
use hearith_paillier::{self as paillier, Engine, KeyPolicy, MIN_SECURE_BITS, Variant, Weakness};

/// Minimum number of trustees that generate a key together.
pub const MIN_TRUSTEES: u32 = 3;
/// Maximum number of trustees that generate a key together.
pub const MAX_TRUSTEES: u32 = 9;
/// Length of the shortest key that trustees can generate together, in bits.
pub const MIN_BITS: u32 = 128;
/// Length of the longest key that trustees can generate together, in bits.
pub const MAX_BITS: u32 = 4096;
/// Maximum number of candidates in a batch.
pub const MAX_CANDIDATES: usize = 1 << 18;

/// Whether `l` trustees can generate a key with the threshold `w`: 3 to 9 trustees, at least 2
/// needed, and `l >= 2 w - 1`, because products of shares need `2 w - 1` trustees.
pub fn is_threshold(needed: u32, trustees: u32) -> bool {
    (MIN_TRUSTEES..=MAX_TRUSTEES).contains(&trustees) && needed >= 2 && 2 * needed - 1 <= trustees
}

/// The parameters that all trustees agree on before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(crate) bits: u32,
    pub(crate) needed: u32,
    pub(crate) trustees: u32,
    pub(crate) variant: Variant,
    pub(crate) policy: KeyPolicy,
    pub(crate) engine: Engine,
    pub(crate) candidates: usize,
}

impl Parameters {
    /// Parameters for a key of `bits` bits (even, 128 to 4096) that `needed` of `trustees` can
    /// decrypt with, of the variant `Standard` or `Djn`. The engine is local to this machine.
    ///
    /// # Errors
    /// [`BadSharing`](ErrorKind::BadSharing) unless [`is_threshold`], a length out of range or
    /// rejected by the policy, or another variant.
    pub fn new(
        bits: u32,
        needed: u32,
        trustees: u32,
        variant: Variant,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        if !is_threshold(needed, trustees) {
            return Err(ErrorKind::BadSharing.into());
        }
        let refused = match variant {
            Variant::Subgroup => Some(paillier::ErrorKind::UnknownName { what: "variant", known: "standard, djn" }),
            _ if !(MIN_BITS..=MAX_BITS).contains(&bits) => Some(paillier::ErrorKind::KeySizeOutOfRange { bits }),
            _ if !bits.is_multiple_of(2) => Some(paillier::ErrorKind::OddKeySize { bits }),
            _ if policy == KeyPolicy::Secure && bits < MIN_SECURE_BITS => {
                Some(paillier::ErrorKind::InsecureKey(Weakness::Short { bits }))
            }
            _ => None,
        };
        if let Some(kind) = refused {
            return Err(ErrorKind::Scheme(kind).into());
        }
        // About eight batches are expected.
        let mut parameters = Parameters { bits, needed, trustees, variant, policy, engine, candidates: 0 };
        parameters.candidates = ((parameters.expected() / 8.0) as usize).clamp(8, 1024);
        Ok(parameters)
    }

    /// The expected number of candidates tried.
    pub fn expected_candidates(&self) -> u64 {
        self.expected() as u64
    }

    pub(crate) fn expected(&self) -> f64 {
        plan::expected(self.bits / 2, self.trustees)
    }

    /// The length of the key in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The number of trustees needed to decrypt.
    pub fn needed(&self) -> u32 {
        self.needed
    }

    /// The number of trustees.
    pub fn trustees(&self) -> u32 {
        self.trustees
    }

    /// The number of candidates in a batch. All trustees must use the same number. A smaller one
    /// needs less memory.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Sets the number of candidates in a batch, from 1 to [`MAX_CANDIDATES`].
    ///
    /// # Panics
    /// If the number is out of range.
    pub fn with_candidates(self, candidates: usize) -> Self {
        assert!((1..=MAX_CANDIDATES).contains(&candidates), "{candidates} candidates in a batch");
        Parameters { candidates, ..self }
    }

    /// The encoding of the parameters that all trustees must have in common.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.bits, self.needed, self.trustees, self.candidates as u32];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.extend_from_slice(self.variant.name().as_bytes());
        bytes
    }
}

/// The name of a run: a hash of the parameters, all trustees' public keys, and a fresh random
/// number of each trustee. Messages of one run are invalid in another.
pub fn session_id(parameters: &Parameters, keys: &[[u8; 32]], nonces: &[[u8; 32]]) -> [u8; 32] {
    stream::derive("session", &[&parameters.to_bytes(), &keys.concat(), &nonces.concat()])
}
