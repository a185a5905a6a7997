//! The output of a dealer or a joint key generation: the keys that verify shares, and each
//! trustee's share.

use crate::distributed;
use crate::error::{Error, ErrorKind};
use crate::lagrange::{MAX_TRUSTEES, factorial};
use crate::windows::{check_windows, generator};
use hearith_arith::natural::{Secret, has_bits_from, limbs_of, product_in, resized, to_be};
use hearith_arith::{Batch, Exponents, FixedBase, Memory, Pairs};
use hearith_paillier::{Locked, PublicKey};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// The number of bits by which a trustee's random number, and therefore an answer, may exceed a
/// share. The product that the random number hides includes a challenge of 256 bits and a factorial
/// of 62, so an answer reveals at most `2^-192` of it.
const HIDING_BITS: u32 = 512;

/// The origin of a key's shares, which determines their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A dealer split a private key of safe primes ([`deal`](crate::deal())).
    Dealt,
    /// The trustees generated the key together ([`distributed`](crate::distributed)).
    Distributed,
}

/// The public data of a shared key. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Parts>);

struct Parts {
    key: PublicKey,
    needed: u32,
    trustees: u32,
    origin: Origin,
    /// `v`, one row.
    generator: Batch,
    comb: OnceLock<FixedBase>,
}

impl Shared {
    /// Checks that `1 <= w <= l <= 20`, or that the joint key generation supports `w` and `l`, and
    /// computes `v`.
    pub(crate) fn new(key: PublicKey, needed: u32, trustees: u32, origin: Origin) -> Result<Self, Error> {
        let is_good = match origin {
            Origin::Dealt => (1..=MAX_TRUSTEES).contains(&trustees) && (1..=trustees).contains(&needed),
            Origin::Distributed => distributed::is_threshold(needed, trustees),
        };
        if !is_good {
            return Err(ErrorKind::BadThreshold.into());
        }
        let generator = generator(&key)?;
        Ok(Shared(Arc::new(Parts { key, needed, trustees, origin, generator, comb: OnceLock::new() })))
    }

    /// Fails unless a number equals `v`.
    pub(crate) fn check_generator(&self, given: &Batch) -> Result<(), Error> {
        if given == self.generator() { Ok(()) } else { Err(ErrorKind::OtherBase.into()) }
    }

    pub(crate) fn key(&self) -> &PublicKey {
        &self.0.key
    }

    pub(crate) fn needed(&self) -> u32 {
        self.0.needed
    }

    pub(crate) fn trustees(&self) -> u32 {
        self.0.trustees
    }

    pub(crate) fn origin(&self) -> Origin {
        self.0.origin
    }

    /// The lengths of the shares' numbers.
    pub(crate) fn lengths(&self) -> Lengths {
        match self.origin() {
            Origin::Dealt => Lengths::dealt(self.key()),
            Origin::Distributed => Lengths::distributed(self.key(), self.needed(), self.trustees()),
        }
    }

    pub(crate) fn generator(&self) -> &Batch {
        &self.0.generator
    }

    /// Fails unless the key has a trustee with this number.
    pub(crate) fn check_trustee(&self, trustee: u32) -> Result<(), Error> {
        match (1..=self.trustees()).contains(&trustee) {
            true => Ok(()),
            false => Err(ErrorKind::NoSuchTrustee { trustees: self.trustees() }.of(trustee)),
        }
    }

    /// Bits of an answer. The random number in it has one bit less, so the sum fits.
    pub(crate) fn response_bits(&self) -> u32 {
        self.lengths().response_bits()
    }

    /// Powers of `v` with secret exponents of up to [`Shared::response_bits`] bits. The table is
    /// computed on first use.
    pub(crate) fn generator_powers(&self, exponents: &Batch) -> Batch {
        let square = self.key().square();
        let comb = self.0.comb.get_or_init(|| FixedBase::new(square, self.generator().row(0), self.response_bits()));
        joined(self.key(), &comb.pow(exponents))
    }
}

/// The lengths of a share's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    key_bytes: usize,
    /// Bits of the longest share `s_i`.
    share_bits: u32,
    /// Bits that proofs hide: enough for any share of this origin.
    hidden_bits: u32,
}

impl Lengths {
    /// Lengths for a dealt key. Shares are below `n p' q'`, which has two bits less than `n^2` may
    /// have.
    pub(crate) fn dealt(key: &PublicKey) -> Self {
        let bits = 2 * key.bits();
        Lengths { key_bytes: key.ciphertext_bytes(), share_bits: bits - 2, hidden_bits: bits }
    }

    fn distributed(key: &PublicKey, needed: u32, trustees: u32) -> Self {
        let bits = distributed::key_share_bits(key.bits(), needed, trustees);
        Lengths { key_bytes: key.ciphertext_bytes(), share_bits: bits, hidden_bits: bits }
    }

    /// Bits of an answer.
    pub(crate) fn response_bits(&self) -> u32 {
        self.hidden_bits + HIDING_BITS
    }

    /// Bytes of an answer.
    pub(crate) fn response_bytes(&self) -> usize {
        self.response_bits().div_ceil(8) as usize
    }

    /// Bytes of a share of a decryption.
    pub(crate) fn row_bytes(&self) -> usize {
        3 * self.key_bytes + self.response_bytes()
    }

    /// Limbs of the longest share `s_i`.
    pub(crate) fn share_limbs(&self) -> usize {
        limbs_of(self.share_bits)
    }
}

/// The keys that verify shares: the public key, `v`, and `v_i = v^(D s_i)` for each trustee. They
/// are public. Reading them checks that they belong to one sharing of the key.
#[derive(Clone)]
pub struct VerificationKeys {
    shared: Shared,
    /// `v_i`, one per row.
    trustee_keys: Batch,
}

impl VerificationKeys {
    pub(crate) fn new(shared: Shared, trustee_keys: Batch) -> Self {
        VerificationKeys { shared, trustee_keys: trustee_keys.public() }
    }

    /// As `new`, for numbers from an untrusted source.
    pub(crate) fn checked(shared: Shared, trustee_keys: Batch) -> Result<Self, Error> {
        check_windows(&shared, &trustee_keys)?;
        Ok(Self::new(shared, trustee_keys))
    }

    /// Reads verification keys from `v` and all `v_i`, big-endian, each with as many bytes as a
    /// ciphertext. For formats other than that of [`VerificationKeys::from_json`].
    ///
    /// # Errors
    /// [`BadThreshold`](ErrorKind::BadThreshold), a number that is not a unit modulo `n^2`,
    /// [`OtherBase`](ErrorKind::OtherBase), or [`NotDealt`](ErrorKind::NotDealt).
    pub fn from_be(
        key: PublicKey,
        needed: u32,
        generator: &[u8],
        trustee_keys: &[Vec<u8>],
        origin: Origin,
    ) -> Result<Self, Error> {
        if trustee_keys.len() > MAX_TRUSTEES as usize {
            return Err(ErrorKind::BadThreshold.into());
        }
        let v = checked_unit(&key, "v", generator)?;
        let unit = |number: &Vec<u8>| checked_unit(&key, "v_i", number);
        let units = trustee_keys.iter().map(unit).collect::<Result<Vec<_>, _>>()?;
        let shared = Shared::new(key, needed, trustee_keys.len() as u32, origin)?;
        shared.check_generator(&v)?;
        VerificationKeys::checked(shared, Batch::concat(&units.iter().collect::<Vec<_>>()))
    }

    /// The public encryption key.
    pub fn key(&self) -> &PublicKey {
        self.shared.key()
    }

    /// The number of trustees needed to decrypt.
    pub fn needed(&self) -> u32 {
        self.shared.needed()
    }

    /// The number of trustees.
    pub fn trustees(&self) -> u32 {
        self.shared.trustees()
    }

    /// The origin of the key's shares.
    pub fn origin(&self) -> Origin {
        self.shared.origin()
    }

    /// `v`, big-endian, with as many bytes as a ciphertext.
    pub fn base_be(&self) -> Vec<u8> {
        self.shared.generator().to_be_bytes(self.key().ciphertext_bytes())
    }

    /// `v_1, v_2, ...`, each big-endian with as many bytes as a ciphertext.
    pub fn trustee_keys_be(&self) -> Vec<Vec<u8>> {
        let width = self.key().ciphertext_bytes();
        self.trustee_keys.to_be_bytes(width).chunks_exact(width).map(<[u8]>::to_vec).collect()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// `v_1, v_2, ...`
    pub(crate) fn trustee_keys(&self) -> &Batch {
        &self.trustee_keys
    }
}

impl PartialEq for VerificationKeys {
    fn eq(&self, other: &Self) -> bool {
        (self.key(), self.needed(), self.origin()) == (other.key(), other.needed(), other.origin())
            && self.shared.generator() == other.shared.generator()
            && self.trustee_keys == other.trustee_keys
    }
}

impl Eq for VerificationKeys {}

impl fmt::Debug for VerificationKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerificationKeys({} of {} of key {})", self.needed(), self.trustees(), self.key().id())
    }
}

/// A trustee's share of a private key. `Debug` shows only the trustee and the key's id. The secret
/// is wiped when the last clone is dropped.
#[derive(Clone)]
pub struct KeyShare {
    shared: Shared,
    trustee: u32,
    /// `v_i`, one row.
    verification: Batch,
    secret: Arc<Locked<Secrets>>,
}

/// The secret numbers of a trustee.
struct Secrets {
    /// `s_i`.
    share: Secret,
    /// `D s_i`.
    exponent: Secret,
}

impl Memory for Secrets {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        [&self.share, &self.exponent].iter().for_each(|number| number.memory(ranges));
    }
}

impl KeyShare {
    /// A key share with the number `s_i`, which is below `n p' q'` for a dealt key.
    ///
    /// # Errors
    /// An unknown trustee, or a secret that does not match `v_i`.
    pub(crate) fn new(shared: Shared, trustee: u32, verification: Batch, share: &[u64]) -> Result<Self, Error> {
        shared.check_trustee(trustee)?;
        let key = shared.key();
        let lengths = shared.lengths();
        if has_bits_from(share, lengths.share_bits) {
            return Err(ErrorKind::WrongSecret.of(trustee));
        }
        let share = resized(share, lengths.share_limbs());
        let exponent = product_in(&share, &[factorial(shared.trustees())], share.len() + 1);
        let bits = shared.response_bits();
        let expected = key.square().pow(shared.generator(), Exponents::Shared(&exponent, bits));
        if joined(key, &expected) != verification {
            return Err(ErrorKind::WrongSecret.of(trustee));
        }
        let secret = Arc::new(Locked::new(Secrets { share, exponent }));
        Ok(KeyShare { shared, trustee, verification: verification.public(), secret })
    }

    /// The public encryption key.
    pub fn key(&self) -> &PublicKey {
        self.shared.key()
    }

    /// The trustee's number, from 1.
    pub fn trustee(&self) -> u32 {
        self.trustee
    }

    /// The number of trustees needed to decrypt.
    pub fn needed(&self) -> u32 {
        self.shared.needed()
    }

    /// The number of trustees.
    pub fn trustees(&self) -> u32 {
        self.shared.trustees()
    }

    /// `v_i`, which verifies this trustee's shares: big-endian, with as many bytes as a ciphertext.
    pub fn verification_be(&self) -> Vec<u8> {
        self.verification.to_be_bytes(self.key().ciphertext_bytes())
    }

    /// `D s_i`, the share times the factorial of the number of trustees, for a device that decrypts
    /// on behalf of this trustee. It is secret. Big-endian, with 8 bytes more than the longest
    /// share (for a dealt key: than a ciphertext).
    pub fn exponent_be(&self) -> Zeroizing<Vec<u8>> {
        let bytes = match self.origin() {
            Origin::Dealt => self.key().ciphertext_bytes(),
            Origin::Distributed => self.shared.lengths().share_bits.div_ceil(8) as usize,
        };
        to_be(&self.secret.exponent, bytes + 8)
    }

    /// Bits that proofs hide: an upper bound of the length of shares. An answer has 512 bits more.
    pub fn hidden_bits(&self) -> u32 {
        self.shared.lengths().hidden_bits
    }

    /// The origin of the key's shares.
    pub fn origin(&self) -> Origin {
        self.shared.origin()
    }

    /// Whether the operating system keeps the secret out of swap space.
    pub fn is_locked_in_memory(&self) -> bool {
        self.secret.is_locked()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// `v_i`.
    pub(crate) fn verification(&self) -> &Batch {
        &self.verification
    }

    /// `s_i`.
    pub(crate) fn share(&self) -> &[u64] {
        &self.secret.share
    }

    /// `D s_i`.
    pub(crate) fn exponent(&self) -> &[u64] {
        &self.secret.exponent
    }
}

impl fmt::Debug for KeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyShare({} of {} of key {})", self.trustee, self.trustees(), self.key().id())
    }
}

/// Numbers modulo `n^2` in the limbs of `n^2`, which for some lengths of `n` are one fewer than
/// those of both halves.
pub(crate) fn joined(key: &PublicKey, pairs: &Pairs) -> Batch {
    key.square().join(pairs).resize(key.squared().limbs())
}

/// Reads one verification number: a unit modulo `n^2`, as one row.
pub(crate) fn checked_unit(key: &PublicKey, member: &'static str, be: &[u8]) -> Result<Batch, Error> {
    let unit = checked_units(key, member, be)?;
    let wrong = ErrorKind::Member { member, problem: "does not have the length of one number" };
    if unit.len() == 1 { Ok(unit) } else { Err(wrong.into()) }
}

/// As [`checked_unit`], for any number of rows.
pub(crate) fn checked_units(key: &PublicKey, member: &'static str, be: &[u8]) -> Result<Batch, Error> {
    let problem = |_| Error::from(ErrorKind::Member { member, problem: "is not a unit modulo n^2" });
    let number = key.ciphertexts_from_be(be).map_err(problem)?;
    key.check_coprime(&number).map_err(problem)?;
    Ok(number.batch().clone())
}
