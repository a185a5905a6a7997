//! Recryption: a ciphertext whose noise is nearly exhausted becomes another one of the same bit
//! with little noise.
//!
//! Decryption `(c mod p) mod 2` is `c - round(c / p)` modulo 2. The squashed scheme \[DGHV10\], in
//! the form of \[CNT12\], makes of that a circuit so shallow that it is evaluated on ciphertexts:
//! the recryption key has numbers `u_i` in `[0, 2)`, a sparse subset of which, one in each of
//! [`SUBSET`] blocks of the same size, adds up to `1 / p` modulo 2, and encryptions `sigma_i` of
//! the bits that say which. Then
//!
//! ```text
//! z_i = c u_i modulo 2, rounded to 4 bits after the point           c / p = sum of s_i z_i modulo 2, less than 1/2 off
//! ```
//!
//! A block's sum of `s_i z_i` is one of its `z_i`: bit by bit it is a sum of those `sigma_i` whose
//! `z_i` has the bit set. What is left are [`SUBSET`] encrypted numbers of [`BITS`] bits, to be
//! added up modulo 2 and rounded: [`rounding`].
//!
//! # Bounds
//! The `u_i` have `kappa = 64 (limbs + 1) - 1` bits after the point, so `c` times their error is
//! below `2^-63`; the products' lower columns are left out, which is less than `2^-40`. Each of 15
//! terms is rounded by at most `2^-5`, together `1/2 - 2^-5`. So the nearest integer is found as
//! long as `c / p` is less than `2^-5` less those from it: for noise of at most `eta - 7` bits, as
//! `p` is above `2^(eta - 1)`.
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

/// Elements of the secret subset, `theta`; one in each block.
pub const SUBSET: usize = 15;
/// Bits of a number that recryption adds up: one before the point and four after it.
pub const BITS: usize = 5;

/// Bytes of encrypted numbers that are worked on at a time.
const WORKING_BYTES: usize = 1 << 29;

/// What recrypts ciphertexts of a public key. It is public, and it holds the private key, encrypted
/// under itself.
///
/// Compressed: a seed from which all `u_i` but the first are made again and the random parts of the
/// `sigma_i`, that first one, and the `sigma_i`'s corrections.
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
    /// A recryption key from its parts: [`Self::fraction_limbs`] limbs of the first `u_i`, and
    /// [`Parameters::correction_limbs`] of each of [`Self::set_size`] corrections, one after
    /// another.
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
            return refuse("the recryption key's fraction is not of the parameters' length");
        }
        if corrections.len() != Self::set_size(&parameters) * parameters.correction_limbs() {
            return refuse("the recryption key has not as many corrections as the parameters say");
        }
        let most = u64::from(parameters.lengths().secret + parameters.lengths().security) + 1;
        if corrections.chunks(parameters.correction_limbs()).any(|correction| bits_of(correction) > most) {
            return refuse("a correction of the recryption key is too long");
        }
        let noise = Self::noise_of(&parameters);
        if noise > Self::noise_limit(&parameters) {
            return refuse("recrypted ciphertexts would have as much noise as those before");
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

    /// Elements of the set that hides the subset, `Theta` of \[CNT12\] for the same security, in
    /// blocks of the same size.
    pub fn set_size(parameters: &Parameters) -> usize {
        match parameters.lengths().security {
            ..=42 => 150,
            43..=52 => 555,
            53..=62 => 2070,
            _ => 7965,
        }
    }

    /// 64-bit limbs of a fraction `u_i`, a number below `2^(kappa + 1)`.
    pub fn fraction_limbs(parameters: &Parameters) -> usize {
        parameters.limbs() + 1
    }

    /// Most bits of noise that are recrypted.
    pub fn noise_limit(parameters: &Parameters) -> f64 {
        f64::from(parameters.lengths().secret) - 7.0
    }

    /// Bits of noise of ciphertexts that a key of these parameters recrypts, at most.
    pub fn noise_of(parameters: &Parameters) -> f64 {
        rounding::noise(Self::sum_noise(parameters))
    }

    /// Whether recrypted ciphertexts of these parameters can be multiplied and recrypted again:
    /// those of the published sets can.
    pub fn can_recrypt(parameters: &Parameters) -> bool {
        parameters.lengths().key_noise > 0 && 2.0 * Self::noise_of(parameters) <= Self::noise_limit(parameters)
    }

    /// Bits of noise of a recrypted ciphertext, at most.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The key pair it belongs to.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What fractions and elements are made from.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.stream.seed()
    }

    /// The first fraction, in limbs, least significant first.
    pub fn first(&self) -> &[u64] {
        &self.first
    }

    /// The corrections, one after another.
    pub fn corrections(&self) -> &[u64] {
        &self.corrections
    }

    /// Ciphertexts of the same bits whose noise is that of recryption, a batch over the cores.
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

    /// Elements of a block.
    fn block(&self) -> usize {
        Self::set_size(&self.parameters) / SUBSET
    }

    /// Bits of noise of a block's sum: of at most as many elements as it has, each below `2^rho`.
    fn sum_noise(parameters: &Parameters) -> f64 {
        f64::from(parameters.lengths().key_noise) + ((Self::set_size(parameters) / SUBSET) as f64).log2()
    }
}

impl fmt::Debug for RecryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecryptionKey({}, {} elements)", self.id, Self::set_size(&self.parameters))
    }
}
