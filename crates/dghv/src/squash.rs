//! Recryption: converts a ciphertext whose noise is nearly exhausted to one of the same bit with
//! little noise.
//!
//! Decryption `(c mod p) mod 2` is `c - round(c / p)` modulo 2. The squashed scheme \[DGHV10\], in
//! the form of \[CNT12\], turns this into a circuit shallow enough to evaluate on ciphertexts. The
//! recryption key contains numbers `u_i` in `[0, 2)`. A sparse subset of them, one in each of
//! [`SUBSET`] blocks of the same size, sums to `1 / p` modulo 2. The key also contains encryptions
//! `sigma_i` of the bits `s_i` that select the subset. Then
//!
//! ```text
//! z_i = c u_i modulo 2, rounded to 4 bits after the point           c / p = sum of s_i z_i modulo 2, less than 1/2 off
//! ```
//!
//! A block's sum of `s_i z_i` is one of its `z_i`. Each of its bits is the sum of those `sigma_i`
//! whose `z_i` has that bit set. This leaves [`SUBSET`] encrypted numbers of [`BITS`] bits, which
//! [`rounding`] adds modulo 2 and rounds.
//!
//! # Bounds
//! The `u_i` have `kappa = 64 (limbs + 1) - 1` bits after the point, so `c` times their error is
//! below `2^-63`. The products' lower columns are ignored, an error below `2^-40`. Each of 15 terms
//! is rounded by at most `2^-5`, in total `1/2 - 2^-5`. The rounding therefore finds the right
//! integer if `c / p` differs from it by less than `2^-5` minus the first two errors. This holds
//! for noise of at most `eta - 7` bits, since `p` is above `2^(eta - 1)`.
//!
//! The `sigma_i` are elements of a compressed public key whose noise has the parity of the bit, so
//! a block's sum of `B` of them has noise below `B 2^rho`.

mod expand;
mod generate;
mod rounding;
mod stream;

pub(crate) use generate::{first, subset};
pub(crate) use stream::Stream;

use crate::circuit::Encrypted;
use crate::elements::SEED_BYTES;
use crate::number::bits_of;
use crate::reduction::Reduction;
use crate::{Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, KeyId, Parameters, PublicKey};
use std::borrow::Borrow;
use std::fmt;

/// Number of elements in the secret subset, `theta`: one in each block.
pub const SUBSET: usize = 15;
/// Number of bits of the numbers added in recryption: one before the point and four after it.
pub const BITS: usize = 5;

/// Size in bytes of the encrypted numbers processed at a time.
const WORKING_BYTES: usize = 1 << 29;

/// Recrypts ciphertexts of a public key. It is public and contains the private key encrypted under
/// itself.
///
/// It is compressed to a seed, the first fraction `u_i` and the corrections of the `sigma_i`. The
/// seed regenerates the other fractions and the random parts of the `sigma_i`.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Parameters, RecryptionKey, Scheme, Size};
/// let parameters = Parameters::historical(Scheme::Cnt, Size::Toy);
/// let keys = KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters)?;
/// let recryption = RecryptionKey::generate(&keys.private, &keys.public, InsecureHistoricalParameters)?;
/// // Fresh ciphertexts of this scheme cannot be multiplied, recrypted ones can.
/// let bits = keys.public.encrypt(&[false, true])?;
/// assert_eq!(bits[0].levels_left(&parameters), 0);
/// let bits = recryption.recrypt(&keys.public, &bits)?;
/// assert_eq!(bits[0].levels_left(&parameters), 1);
/// let squares = keys.public.multiply(&bits, &bits)?;
/// assert_eq!(keys.private.decrypt(&recryption.recrypt(&keys.public, &squares)?)?, [false, true]);
/// # Ok::<(), hearith_dghv::Error>(())
/// ```
pub struct RecryptionKey {
    id: KeyId,
    parameters: Parameters,
    stream: Stream,
    first: Vec<u64>,
    corrections: Vec<u64>,
    reduction: Reduction,
    noise: f64,
}

impl RecryptionKey {
    /// Assembles a recryption key from its parts: [`Self::fraction_limbs`] limbs of the first
    /// `u_i`, and [`Self::set_size`] corrections of [`Parameters::correction_limbs`] limbs each,
    /// one after another.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`].
    pub fn from_parts(
        public: &PublicKey,
        seed: [u8; SEED_BYTES],
        first: Vec<u64>,
        corrections: Vec<u64>,
        _: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        let parameters = public.parameters().clone();
        let refuse = |what| Err(ErrorKind::MalformedKey { what }.into());
        if first.len() != Self::fraction_limbs(&parameters) {
            return refuse("the recryption key's fraction does not have the length that the parameters state");
        }
        if corrections.len() != Self::set_size(&parameters) * parameters.correction_limbs() {
            return refuse("the number of the recryption key's corrections differs from the parameters");
        }
        let most = u64::from(parameters.lengths().secret + parameters.lengths().security) + 1;
        if corrections.chunks(parameters.correction_limbs()).any(|correction| bits_of(correction) > most) {
            return refuse("a correction of the recryption key is too long");
        }
        let noise = Self::noise_of(&parameters);
        if noise > Self::noise_limit(&parameters) {
            return refuse("recryption would not reduce the noise of ciphertexts");
        }
        let bits = parameters.lengths().modulus as usize;
        let reduction = Reduction::new(public.engine(), public.modulus(), bits, 64)?;
        Ok(RecryptionKey {
            id: public.id(),
            parameters,
            stream: Stream::new(&seed),
            first,
            corrections,
            reduction,
            noise,
        })
    }

    /// Number of elements in the set that hides the subset: `Theta` of \[CNT12\] for the same
    /// security, in blocks of the same size.
    pub fn set_size(parameters: &Parameters) -> usize {
        match parameters.lengths().security {
            ..=42 => 150,
            43..=52 => 555,
            53..=62 => 2070,
            _ => 7965,
        }
    }

    /// Number of 64-bit limbs of a fraction `u_i`, a number below `2^(kappa + 1)`.
    pub fn fraction_limbs(parameters: &Parameters) -> usize {
        parameters.limbs() + 1
    }

    /// Largest noise in bits that can be recrypted.
    pub fn noise_limit(parameters: &Parameters) -> f64 {
        f64::from(parameters.lengths().secret) - 7.0
    }

    /// Largest noise in bits of ciphertexts that a key with these parameters has recrypted.
    pub fn noise_of(parameters: &Parameters) -> f64 {
        rounding::noise(Self::sum_noise(parameters))
    }

    /// Whether recrypted ciphertexts with these parameters can be multiplied and recrypted again.
    /// This holds for the published sets.
    pub fn can_recrypt(parameters: &Parameters) -> bool {
        parameters.lengths().key_noise > 0 && 2.0 * Self::noise_of(parameters) <= Self::noise_limit(parameters)
    }

    /// Largest noise in bits of a recrypted ciphertext.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The ID of its key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The seed of the fractions and elements.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.stream.seed()
    }

    /// The first fraction in limbs, least significant first.
    pub fn first(&self) -> &[u64] {
        &self.first
    }

    /// The corrections, one after another.
    pub fn corrections(&self) -> &[u64] {
        &self.corrections
    }

    /// Recrypts a batch of ciphertexts, spread over the cores. The results have the noise of
    /// recryption.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`],
    /// [`ErrorKind::NoiseExhausted`] above [`Self::noise_limit`].
    pub fn recrypt(
        &self,
        public: &PublicKey,
        ciphertexts: &[impl Borrow<Ciphertext>],
    ) -> Result<Vec<Ciphertext>, Error> {
        let ciphertexts: Vec<&Ciphertext> = ciphertexts.iter().map(Borrow::borrow).collect();
        for (row, ciphertext) in ciphertexts.iter().enumerate() {
            self.check(public, ciphertext).map_err(|error| error.at_row(row))?;
        }
        let group = (WORKING_BYTES / (8 * self.parameters.limbs() * SUBSET * BITS)).clamp(1, 16);
        let groups = ciphertexts.chunks(group).map(|group| self.recrypt_group(public, group));
        Ok(groups.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn check(&self, public: &PublicKey, ciphertext: &Ciphertext) -> Result<(), Error> {
        if public.id() != self.id {
            return Err(ErrorKind::OtherKey.into());
        }
        public.check(ciphertext)?;
        let (bits, limit) = (ciphertext.noise(), Self::noise_limit(&self.parameters));
        if bits <= limit {
            return Ok(());
        }
        Err(ErrorKind::NoiseExhausted { bits: bits.ceil() as u32, limit: limit as u32 }.into())
    }

    fn recrypt_group(&self, public: &PublicKey, ciphertexts: &[&Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        let digits = self.expand(ciphertexts);
        let sums = self.sums(&digits)?;
        let rounded = rounding::CIRCUIT.evaluate(&mut Encrypted::new(public), sums)?.concat();
        let flips = public.constants(&ciphertexts.iter().map(|c| c.value()[0] & 1 == 1).collect::<Vec<_>>());
        public.add(&rounded, &flips)
    }

    /// Number of elements in a block.
    fn block(&self) -> usize {
        Self::set_size(&self.parameters) / SUBSET
    }

    /// Noise in bits of a block's sum: at most one term per element of the block, each below
    /// `2^rho`.
    fn sum_noise(parameters: &Parameters) -> f64 {
        f64::from(parameters.lengths().key_noise) + ((Self::set_size(parameters) / SUBSET) as f64).log2()
    }
}

impl fmt::Debug for RecryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecryptionKey({}, {} elements)", self.id, Self::set_size(&self.parameters))
    }
}
