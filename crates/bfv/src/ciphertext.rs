//! Ciphertexts of up to `N` numbers: encryption with either key, sums, decryption and
//! serialisation.

use crate::key::{KeyId, PrivateKey, PublicKey, expanded};
use crate::noise;
use crate::packing::{pack_into, packed_bytes, unpack};
use crate::parameters::Set;
use crate::random::{SEED_BYTES, Seed, Stream, seed};
use crate::ring::Poly;
use crate::{Error, ErrorKind};
use std::fmt;
use zeroize::Zeroizing;

/// Up to `N` encrypted numbers, one per coefficient.
#[derive(Clone)]
pub struct Ciphertext {
    pub(crate) set: Set,
    pub(crate) key: KeyId,
    pub(crate) bits: u32,
    pub(crate) count: usize,
    pub(crate) noise: u128,
    /// The part of the noise that is not hidden from the key holder: that of everything added since
    /// the last release.
    open: u128,
    /// `a s + e + (q / t) m`, with as many coefficients as there are numbers.
    pub(crate) b: Poly,
    /// `a`, as values of the transform.
    pub(crate) a: Poly,
    /// The seed of `a`, if it has one.
    seed: Option<Seed>,
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext({}, {}, {} numbers of {} bits)", self.set, self.key, self.count, self.bits)
    }
}

impl PublicKey {
    /// Encrypts signed numbers of `bits` bits, including the sign.
    ///
    /// # Errors
    /// If a number does not fit, there are no numbers or more than the degree, or the operating
    /// system provides no random numbers.
    pub fn encrypt(&self, numbers: &[i128], bits: u32) -> Result<Ciphertext, Error> {
        self.encrypt_from(&mut Stream::fresh()?, numbers, bits)
    }

    /// Encrypts with the given randomness.
    fn encrypt_from(&self, stream: &mut Stream, numbers: &[i128], bits: u32) -> Result<Ciphertext, Error> {
        let ring = &self.parts.ring;
        let vectors = ring.check(numbers, bits)?;
        let [mut b, a] = self.zero(stream);
        ring.inverse(&mut b);
        let mut small = Zeroizing::new(vec![Default::default(); ring.vectors()]);
        stream.errors(&mut small);
        ring.add_small(&mut b, &small);
        self.add_plain(&mut b, numbers, bits)?;
        let noise = noise::fresh_public(ring.set);
        let b = if vectors < ring.vectors() { b.truncated(vectors) } else { b };
        Ok(Ciphertext {
            set: ring.set,
            key: self.id(),
            bits,
            count: numbers.len(),
            noise,
            open: noise,
            b,
            a,
            seed: None,
        })
    }

    /// The halves of an encryption of zero, as values of the transform. The first one lacks its own
    /// error.
    pub(crate) fn zero(&self, stream: &mut Stream) -> [Poly; 2] {
        let parts = &self.parts;
        let ring = &parts.ring;
        let mut small = Zeroizing::new(vec![Default::default(); ring.vectors()]);
        stream.ternary(&mut small);
        let mut u = ring.small(&small);
        ring.forward(&mut u);
        stream.errors(&mut small);
        let mut a = ring.small(&small);
        ring.forward(&mut a);
        ring.multiply_add(&mut a, &u, &parts.a);
        let mut b = ring.zeros();
        ring.multiply_add(&mut b, &u, &parts.b);
        [b, a]
    }

    /// Adds two ciphertexts, number by number.
    ///
    /// # Errors
    /// If the ciphertexts differ in set, key, plaintext length or count, and [`ErrorKind::Noise`].
    ///
    /// Proved: `sum_noise` in formal/coq/noise.v.
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(x)?;
        self.check(y)?;
        if (x.bits, x.count) != (y.bits, y.count) {
            let what = if x.bits == y.bits { "the number of numbers" } else { "the length of plaintexts" };
            return Err(ErrorKind::Differs(what).into());
        }
        let noise = noise::check(x.noise.checked_add(y.noise), x.set, x.bits)?;
        let mut sum = Ciphertext { noise, open: x.open + y.open, seed: None, ..x.clone() };
        self.parts.ring.add(&mut sum.b, &y.b);
        self.parts.ring.add(&mut sum.a, &y.a);
        Ok(sum)
    }

    /// Multiplies all numbers by a public factor.
    ///
    /// # Errors
    /// If the ciphertext belongs to another set or key, and [`ErrorKind::Noise`].
    ///
    /// Proved: `sum_noise` in formal/coq/noise.v.
    pub fn multiply(&self, x: &Ciphertext, factor: i64) -> Result<Ciphertext, Error> {
        self.check(x)?;
        let noise = noise::check(x.noise.checked_mul(u128::from(factor.unsigned_abs())), x.set, x.bits)?;
        // Noise that hid all shows the factor afterwards.
        let open = if factor.unsigned_abs() > 1 { noise } else { x.open.min(noise) };
        let mut product = Ciphertext { noise, open, seed: None, ..x.clone() };
        self.parts.ring.multiply(&mut product.b, factor);
        self.parts.ring.multiply(&mut product.a, factor);
        Ok(product)
    }

    /// Prepares sums for decryption, so that the key holder learns only the numbers: adds an
    /// encryption of zero, and noise that hides the noise of the sums.
    ///
    /// # Errors
    /// If the ciphertext belongs to another set or key, [`ErrorKind::NoRoom`], and if the operating
    /// system provides no random numbers.
    pub fn release(&self, sum: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(sum)?;
        let ring = &self.parts.ring;
        let fresh = noise::fresh_public(sum.set);
        let all = sum.noise.saturating_add(fresh);
        let hiding = noise::hiding_bits(sum.open + fresh, all, sum.set, sum.bits)?;
        let mut stream = Stream::fresh()?;
        let [mut b, a] = self.zero(&mut stream);
        ring.inverse(&mut b);
        let mut errors = Zeroizing::new(vec![Default::default(); ring.vectors()]);
        stream.errors(&mut errors);
        ring.add_small(&mut b, &errors);
        let mut b = b.truncated(sum.b.vectors());
        for index in 0..sum.count {
            b.add_signed(index, stream.signed(hiding), &ring.primes);
        }
        let mut released = Ciphertext { noise: all + (1 << hiding), open: 0, seed: None, ..sum.clone() };
        ring.add(&mut released.b, &b);
        ring.add(&mut released.a, &a);
        Ok(released)
    }

    pub(crate) fn check(&self, ciphertext: &Ciphertext) -> Result<(), Error> {
        match (ciphertext.set == self.set(), ciphertext.key == self.id()) {
            (true, true) => Ok(()),
            (false, _) => Err(ErrorKind::Differs("the parameter set").into()),
            _ => Err(ErrorKind::Differs("the key").into()),
        }
    }
}

impl PrivateKey {
    /// Encrypts signed numbers of `bits` bits, including the sign, into half the size of
    /// [`PublicKey::encrypt`].
    ///
    /// # Errors
    /// As [`PublicKey::encrypt`].
    ///
    /// Proved: `private_noise` in formal/coq/noise.v.
    pub fn encrypt(&self, numbers: &[i128], bits: u32) -> Result<Ciphertext, Error> {
        self.encrypt_from(*seed()?, Stream::fresh()?, numbers, bits)
    }

    /// Encrypts with the given randomness. The seed is public, and the stream provides the errors.
    fn encrypt_from(
        &self,
        public_seed: Seed,
        mut stream: Stream,
        numbers: &[i128],
        bits: u32,
    ) -> Result<Ciphertext, Error> {
        let ring = &self.public().parts.ring;
        let vectors = ring.check(numbers, bits)?;
        let a = expanded(ring, &public_seed);
        let mut b = ring.zeros();
        ring.multiply_add(&mut b, &a, &self.s);
        ring.inverse(&mut b);
        let mut errors = Zeroizing::new(vec![Default::default(); ring.vectors()]);
        stream.errors(&mut errors);
        ring.add_small(&mut b, &errors);
        self.public().add_plain(&mut b, numbers, bits)?;
        let b = if vectors < ring.vectors() { b.truncated(vectors) } else { b };
        let (set, key, count) = (ring.set, self.public().id(), numbers.len());
        let noise = noise::FRESH_PRIVATE;
        Ok(Ciphertext { set, key, bits, count, noise, open: noise, b, a, seed: Some(public_seed) })
    }

    /// Decrypts all numbers.
    ///
    /// # Errors
    /// If the ciphertext belongs to another set or key, or its noise exceeds its bound because it
    /// was altered.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Zeroizing<Vec<i128>>, Error> {
        self.public().check(ciphertext)?;
        noise::check(Some(ciphertext.noise), ciphertext.set, ciphertext.bits)?;
        let ring = &self.public().parts.ring;
        let mut masks = ring.zeros();
        ring.multiply_add(&mut masks, &ciphertext.a, &self.s);
        ring.inverse(&mut masks);
        let mut phase = ciphertext.b.clone();
        ring.subtract(&mut phase, &masks);
        match ring.numbers(&phase, ciphertext.count, ciphertext.bits, ciphertext.noise) {
            (numbers, true) => Ok(numbers),
            _ => Err(ErrorKind::Altered.into()),
        }
    }
}

/// The first bytes of a serialised ciphertext.
const MAGIC: &[u8; 4] = b"HBC1";
/// Number of bytes before the seed or `a`.
const HEADER: usize = 4 + 4 + 16 + 4 + 16;

impl Ciphertext {
    /// The number of encrypted numbers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Length of a plaintext in bits, including the sign.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The ID of its key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The parameters.
    pub fn set(&self) -> Set {
        self.set
    }

    /// Bits by which the noise may still grow: the ciphertext can be multiplied by 2 to this power
    /// and no higher power of 2.
    pub fn budget(&self) -> u32 {
        noise::budget(self.noise, self.set, self.bits)
    }

    /// Whether nothing was added to it yet, so that its noise is that of encryption.
    pub fn is_fresh(&self) -> bool {
        self.noise == if self.seed.is_some() { noise::FRESH_PRIVATE } else { noise::fresh_public(self.set) }
    }

    /// Serialises the ciphertext, with integers in little-endian order: `HBC1`; the set; 1 if there
    /// is a seed; the bits of a plaintext; 1 if all noise is hidden ([`PublicKey::release`]); the
    /// key ID; how many numbers; the bound on the noise; the seed of `a` or its residues; the
    /// residues of `b`.
    ///
    /// Residues have 50 bits each and come prime after prime.
    pub fn to_bytes(&self) -> Vec<u8> {
        let a = if self.seed.is_some() { SEED_BYTES } else { packed_bytes(self.set.primes(), self.a.vectors()) };
        let mut bytes = Vec::with_capacity(HEADER + a + packed_bytes(self.set.primes(), self.b.vectors()));
        bytes.extend(MAGIC);
        bytes.extend([self.set as u8, u8::from(self.seed.is_some()), self.bits as u8, u8::from(self.open == 0)]);
        bytes.extend(self.key.0);
        bytes.extend((self.count as u32).to_le_bytes());
        bytes.extend(self.noise.to_le_bytes());
        match &self.seed {
            Some(seed) => bytes.extend(seed),
            None => pack_into(&mut bytes, &self.a),
        }
        pack_into(&mut bytes, &self.b);
        bytes
    }

    /// Deserialises a ciphertext under this key.
    ///
    /// # Errors
    /// If the bytes are not a ciphertext, or it belongs to another set or key.
    pub fn from_bytes(bytes: &[u8], key: &PublicKey) -> Result<Self, Error> {
        let malformed = |what| Error::from(ErrorKind::Malformed(what));
        let (header, body) = bytes.split_at_checked(HEADER).ok_or_else(|| malformed("the ciphertext is truncated"))?;
        let [set, seeded, bits] = [header[4], header[5], header[6]];
        if header[..4] != *MAGIC || seeded > 1 || header[7] > 1 {
            return Err(malformed("this is not a ciphertext"));
        }
        let ring = &key.parts.ring;
        if set != ring.set as u8 {
            return Err(ErrorKind::Differs("the parameter set").into());
        }
        if header[8..24] != key.id().0 {
            return Err(ErrorKind::Differs("the key").into());
        }
        let bits = u32::from(bits);
        ring.set.check_bits(bits)?;
        let count = u32::from_le_bytes([header[24], header[25], header[26], header[27]]) as usize;
        if !(1..=ring.set.degree()).contains(&count) {
            return Err(ErrorKind::Count { count, most: ring.set.degree() }.into());
        }
        let noise = noise::stated(&header[28..44], ring.set, bits)?;
        let open = if header[7] == 1 { 0 } else { noise };
        let (primes, vectors) = (&ring.primes, count.div_ceil(crate::kernel::LANES));
        let first = if seeded == 1 { SEED_BYTES } else { packed_bytes(primes.len(), ring.vectors()) };
        if body.len() != first + packed_bytes(primes.len(), vectors) {
            return Err(malformed("the ciphertext does not have the length that its header states"));
        }
        let (first, second) = body.split_at(first);
        let seed = Seed::try_from(first).ok().filter(|_| seeded == 1);
        let a = match &seed {
            Some(seed) => expanded(ring, seed),
            None => unpack(first, primes, ring.vectors())?,
        };
        let b = unpack(second, primes, vectors)?;
        Ok(Ciphertext { set: ring.set, key: key.id(), bits, count, noise, open, b, a, seed })
    }
}

#[cfg(test)]
impl PrivateKey {
    /// Encryptions under both keys as bytes, with the same randomness on every call.
    pub(crate) fn encrypted_alike(&self, numbers: &[i128], bits: u32) -> Result<[Vec<u8>; 2], Error> {
        let stream = |seed| Stream::new(&[seed; SEED_BYTES], 0);
        let own = self.encrypt_from([1; SEED_BYTES], stream(2), numbers, bits)?;
        Ok([own.to_bytes(), self.public().encrypt_from(&mut stream(3), numbers, bits)?.to_bytes()])
    }
}
