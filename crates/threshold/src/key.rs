//! The output of a dealer: the key to verify shares, and each trustee's share.

use crate::distributed;
use crate::error::{Error, ErrorKind};
use crate::lagrange::{MAX_TRUSTEES, factorial};
use crate::windows::{base, check_windows};
use hearith_arith::natural::{Secret, has_bits_from, limbs_of, product_in, resized, to_be};
use hearith_arith::{Batch, Exponents, FixedBase, Memory, Pairs};
use hearith_paillier::{Locked, PublicKey};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// Bits by which a trustee's random number is longer than a share may be, and an answer with it: so
/// much longer than what it hides, with a challenge of 256 bits and a factorial of 62, that it
/// tells of it at most `2^-192`.
const HIDING_BITS: u32 = 512;

/// How the shares of a key came to be. It decides how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A dealer split a private key of safe primes ([`deal`](crate::deal())).
    Dealt,
    /// The trustees generated the key together ([`distributed`](crate::distributed)).
    Distributed,
}

/// A shared key as all its holders know it. Cloning is cheap.
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
    /// Checks that `1 <= w <= l <= 20`, or what the trustees' own protocol asks for, and computes
    /// `v`.
    pub(crate) fn new(key: PublicKey, needed: u32, trustees: u32, origin: Origin) -> Result<Self, Error> {
        let is_good = match origin {
            Origin::Dealt => (1..=MAX_TRUSTEES).contains(&trustees) && (1..=trustees).contains(&needed),
            Origin::Distributed => distributed::is_threshold(needed, trustees),
        };
        if !is_good {
            return Err(ErrorKind::BadThreshold.into());
        }
        let generator = base(&key)?;
        Ok(Shared(Arc::new(Parts { key, needed, trustees, origin, generator, comb: OnceLock::new() })))
    }

    /// Fails unless a number is `v`.
    pub(crate) fn check_base(&self, given: &Batch) -> Result<(), Error> {
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

    /// How long shares are.
    pub(crate) fn lengths(&self) -> Lengths {
        match self.origin() {
            Origin::Dealt => Lengths::dealt(self.key()),
            Origin::Distributed => Lengths::distributed(self.key(), self.needed(), self.trustees()),
        }
    }

    pub(crate) fn generator(&self) -> &Batch {
        &self.0.generator
    }

    /// Fails unless this is the number of a trustee.
    pub(crate) fn check_trustee(&self, trustee: u32) -> Result<(), Error> {
        match (1..=self.trustees()).contains(&trustee) {
            true => Ok(()),
            false => Err(ErrorKind::NoSuchTrustee { trustees: self.trustees() }.of(trustee)),
        }
    }

    /// Bits of an answer. What hides the secret in it has one bit less, so that their sum has no
    /// more.
    pub(crate) fn response_bits(&self) -> u32 {
        self.lengths().response_bits()
    }

    /// The powers of `v` to secret exponents of up to [`Shared::response_bits`]. The table is made
    /// when it is first needed.
    pub(crate) fn generator_powers(&self, exponents: &Batch) -> Batch {
        let square = self.key().square();
        let comb = self.0.comb.get_or_init(|| FixedBase::new(square, self.generator().row(0), self.response_bits()));
        joined(self.key(), &comb.pow(exponents))
    }
}

/// How long the numbers of shares are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    key_bytes: usize,
    /// Bits of the longest share `s_i`.
    share_bits: u32,
    /// Bits that a share could have, were it any number of its kind.
    hidden_bits: u32,
}

impl Lengths {
    /// Of a dealt key: shares are below `n p' q'`, which has two bits less than `n^2` may have.
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

/// What shares are verified by: the public key, `v`, and `v_i = v^(D s_i)` for each trustee.
/// Everybody may have it. That it belongs to one sharing of the key is checked where it is read.
#[derive(Clone)]
pub struct Verification {
    shared: Shared,
    /// `v_i`, a row each.
    of_trustees: Batch,
}

impl Verification {
    pub(crate) fn new(shared: Shared, of_trustees: Batch) -> Self {
        Verification { shared, of_trustees: of_trustees.public() }
    }

    /// The same of numbers that come from outside.
    pub(crate) fn checked(shared: Shared, of_trustees: Batch) -> Result<Self, Error> {
        check_windows(&shared, &of_trustees)?;
        Ok(Self::new(shared, of_trustees))
    }

    /// What shares of a key are verified by: `v` and all `v_i`, big-endian, of as many bytes as a
    /// ciphertext has. For formats other than [`Verification::from_json`]'s.
    ///
    /// # Errors
    /// [`BadThreshold`](ErrorKind::BadThreshold), if a number is not a unit modulo `n^2`,
    /// [`OtherBase`](ErrorKind::OtherBase), or [`NotDealt`](ErrorKind::NotDealt).
    pub fn from_be(
        key: PublicKey,
        needed: u32,
        base: &[u8],
        of_trustees: &[Vec<u8>],
        origin: Origin,
    ) -> Result<Self, Error> {
        if of_trustees.len() > MAX_TRUSTEES as usize {
            return Err(ErrorKind::BadThreshold.into());
        }
        let v = checked_unit(&key, "v", base)?;
        let unit = |number: &Vec<u8>| checked_unit(&key, "v_i", number);
        let units = of_trustees.iter().map(unit).collect::<Result<Vec<_>, _>>()?;
        let shared = Shared::new(key, needed, of_trustees.len() as u32, origin)?;
        shared.check_base(&v)?;
        Verification::checked(shared, Batch::concat(&units.iter().collect::<Vec<_>>()))
    }

    /// The public key, to encrypt with.
    pub fn key(&self) -> &PublicKey {
        self.shared.key()
    }

    /// How many trustees it takes to decrypt.
    pub fn needed(&self) -> u32 {
        self.shared.needed()
    }

    /// How many there are.
    pub fn trustees(&self) -> u32 {
        self.shared.trustees()
    }

    /// How the shares of the key came to be.
    pub fn origin(&self) -> Origin {
        self.shared.origin()
    }

    /// `v`, big-endian, of as many bytes as a ciphertext has.
    pub fn base_be(&self) -> Vec<u8> {
        self.shared.generator().to_be_bytes(self.key().ciphertext_bytes())
    }

    /// `v_1, v_2, ...` likewise.
    pub fn of_trustees_be(&self) -> Vec<Vec<u8>> {
        let width = self.key().ciphertext_bytes();
        self.of_trustees.to_be_bytes(width).chunks_exact(width).map(<[u8]>::to_vec).collect()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// `v_1, v_2, ...`
    pub(crate) fn of_trustees(&self) -> &Batch {
        &self.of_trustees
    }
}

impl PartialEq for Verification {
    fn eq(&self, other: &Self) -> bool {
        (self.key(), self.needed(), self.origin()) == (other.key(), other.needed(), other.origin())
            && self.shared.generator() == other.shared.generator()
            && self.of_trustees == other.of_trustees
    }
}

impl Eq for Verification {}

impl fmt::Debug for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verification({} of {} of key {})", self.needed(), self.trustees(), self.key().id())
    }
}

/// A trustee's share of a private key. `Debug` shows whose it is and nothing else; the secret is
/// wiped when the last clone is dropped.
#[derive(Clone)]
pub struct KeyShare {
    shared: Shared,
    trustee: u32,
    /// `v_i`, one row.
    verification: Batch,
    secret: Arc<Locked<Secrets>>,
}

/// The numbers that a trustee keeps.
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
    /// The share `s_i`, below `n p' q'` if it was dealt.
    ///
    /// # Errors
    /// A trustee that there is not, or a secret that is not that of `v_i`.
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

    /// The public key, to encrypt with.
    pub fn key(&self) -> &PublicKey {
        self.shared.key()
    }

    /// The trustee's number, from 1.
    pub fn trustee(&self) -> u32 {
        self.trustee
    }

    /// How many trustees it takes to decrypt.
    pub fn needed(&self) -> u32 {
        self.shared.needed()
    }

    /// How many there are.
    pub fn trustees(&self) -> u32 {
        self.shared.trustees()
    }

    /// `v_i`, which shares of this trustee's are verified by: big-endian, of as many bytes as a
    /// ciphertext has.
    pub fn verification_be(&self) -> Vec<u8> {
        self.verification.to_be_bytes(self.key().ciphertext_bytes())
    }

    /// `D s_i`, the share times the factorial of the number of trustees, big-endian, of 8 bytes
    /// more than the longest share has (of a dealt key: than a ciphertext has): what a device keeps
    /// that decrypts on this trustee's behalf. It is the secret itself.
    pub fn exponent_be(&self) -> Zeroizing<Vec<u8>> {
        let bytes = match self.origin() {
            Origin::Dealt => self.key().ciphertext_bytes(),
            Origin::Distributed => self.shared.lengths().share_bits.div_ceil(8) as usize,
        };
        to_be(&self.secret.exponent, bytes + 8)
    }

    /// Bits by which proofs hide shares of this key: an answer has 512 more. No share has more bits
    /// than these.
    pub fn hidden_bits(&self) -> u32 {
        self.shared.lengths().hidden_bits
    }

    /// How the shares of the key came to be.
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

/// Numbers modulo `n^2`, in the limbs that it takes: one less than both their parts have, for some
/// lengths of `n`.
pub(crate) fn joined(key: &PublicKey, pairs: &Pairs) -> Batch {
    key.square().join(pairs).resize(key.squared().limbs())
}

/// A number that shares are verified by: a unit modulo `n^2`, one row.
pub(crate) fn checked_unit(key: &PublicKey, member: &'static str, be: &[u8]) -> Result<Batch, Error> {
    let unit = checked_units(key, member, be)?;
    let wrong = ErrorKind::Member { member, problem: "has not the length of one number" };
    if unit.len() == 1 { Ok(unit) } else { Err(wrong.into()) }
}

/// The same of any number of rows.
pub(crate) fn checked_units(key: &PublicKey, member: &'static str, be: &[u8]) -> Result<Batch, Error> {
    let problem = |_| Error::from(ErrorKind::Member { member, problem: "is not a unit modulo n^2" });
    let number = key.ciphertexts_from_be(be).map_err(problem)?;
    key.check_coprime(&number).map_err(problem)?;
    Ok(number.batch().clone())
}
