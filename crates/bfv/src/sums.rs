//! Weighted sums of encrypted numbers by group.
//!
//! The sum of `w_i m_i` is the constant coefficient of the product with `w(X) = sum of w_i X^-i`.
//! Only the parts of the product needed to decrypt this coefficient are ever computed: all of
//! `a w`, and one coefficient of `b w`, the sum of `w_i b_i`. Nobody can decrypt the other
//! coefficients, not even the key holder, because their second half is missing.

use crate::ciphertext::Ciphertext;
use crate::kernel::{LANES, Lanes};
use crate::key::{KeyId, PrivateKey, PublicKey};
use crate::packing::{pack_into, packed_bytes, unpack};
use crate::parameters::Set;
use crate::prime::times;
use crate::random::Stream;
use crate::ring::{Poly, Ring};
use crate::{Error, ErrorKind, noise};
use rayon::prelude::*;
use std::fmt;

/// The group number of rows that are left out.
pub const NO_GROUP: u32 = u32::MAX;

/// One encrypted number: a sum.
#[derive(Clone)]
pub struct Total {
    set: Set,
    key: KeyId,
    bits: u32,
    noise: u128,
    /// Bound on the noise of everything added since the last release.
    open: u128,
    /// The coefficient, as one residue per prime.
    b: Vec<u64>,
    /// `a`, as values of the transform.
    a: Poly,
}

impl fmt::Debug for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Total({}, {}, {} bits)", self.set, self.key, self.bits)
    }
}

/// Sums in progress, one per group.
#[derive(Debug)]
pub struct Sums {
    key: PublicKey,
    bits: u32,
    totals: Vec<Total>,
}

impl Sums {
    /// Starts sums of numbers of `bits` bits. Groups are created when first named.
    ///
    /// # Errors
    /// If the set does not support plaintexts of this length.
    pub fn new(key: &PublicKey, bits: u32) -> Result<Self, Error> {
        key.set().check_bits(bits)?;
        Ok(Sums { key: key.clone(), bits, totals: Vec::new() })
    }

    /// Size in bytes of the sum of one group.
    pub fn group_bytes(set: Set) -> usize {
        8 * set.primes() * set.degree()
    }

    /// Adds each number to the sum of its group, multiplied by its weight if weights are given.
    ///
    /// Groups are numbered from 0, and numbers with [`NO_GROUP`] are left out. Groups and weights
    /// are public.
    ///
    /// # Errors
    /// If the ciphertext belongs to another set or key or has another plaintext length, if the
    /// number of groups or weights differs from that of its numbers, and [`ErrorKind::Noise`] if a
    /// sum could be wrong. After an [`ErrorKind::Noise`] error the sums are unusable.
    pub fn add(&mut self, ciphertext: &Ciphertext, groups: &[u32], weights: Option<&[i64]>) -> Result<(), Error> {
        self.key.check(ciphertext)?;
        if ciphertext.bits != self.bits {
            return Err(ErrorKind::Differs("the length of plaintexts").into());
        }
        let count = ciphertext.count;
        for (what, found) in [("groups", Some(groups.len())), ("weights", weights.map(<[i64]>::len))] {
            if let Some(found) = found.filter(|&found| found != count) {
                return Err(ErrorKind::Rows { what, found, count }.into());
            }
        }
        let ring = self.key.parts.ring.clone();
        let named = groups.iter().filter(|&&group| group != NO_GROUP).max().map_or(0, |&last| last as usize + 1);
        let empty = || Total::zero(&self.key, self.bits);
        if named > self.totals.len() {
            self.totals.resize_with(named, empty);
        }
        let mut rows: Vec<Vec<(usize, i64)>> = vec![Vec::new(); self.totals.len()];
        for (index, &group) in groups.iter().enumerate().filter(|(_, group)| **group != NO_GROUP) {
            match weights.map_or(1, |weights| weights[index]) {
                0 => {}
                weight => rows[group as usize].push((index, weight)),
            }
        }
        let scratch = || vec![Lanes::default(); ring.vectors()];
        let together = self.totals.par_iter_mut().zip(rows).filter(|(_, rows)| !rows.is_empty());
        together.try_for_each_init(scratch, |mask, (total, rows)| total.add_rows(&ring, ciphertext, &rows, mask))
    }

    /// Adds a total of the same key to the sum of a group.
    ///
    /// # Errors
    /// If the total belongs to another key or has another plaintext length, and
    /// [`ErrorKind::Noise`].
    pub fn add_total(&mut self, total: &Total, group: u32) -> Result<(), Error> {
        if total.key != self.key.id() || total.bits != self.bits {
            let what = if total.bits == self.bits { "the key" } else { "the length of plaintexts" };
            return Err(ErrorKind::Differs(what).into());
        }
        let group = group as usize;
        if group >= self.totals.len() {
            self.totals.resize_with(group + 1, || Total::zero(&self.key, self.bits));
        }
        let (ring, sum) = (&self.key.parts.ring, &mut self.totals[group]);
        sum.noise = noise::check(sum.noise.checked_add(total.noise), sum.set, sum.bits)?;
        sum.open += total.open;
        ring.add(&mut sum.a, &total.a);
        for ((sum, b), prime) in sum.b.iter_mut().zip(&total.b).zip(&ring.primes) {
            *sum = (*sum + b) % prime.q;
        }
        Ok(())
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.totals.len()
    }

    /// Returns the sums prepared for decryption, so that the key holder learns only their values:
    /// adds an encryption of zero, and noise that hides that of the sums.
    ///
    /// Without it, the noise would reveal to the key holder which numbers were added.
    ///
    /// # Errors
    /// [`ErrorKind::NoRoom`], and if the operating system provides no random numbers.
    pub fn release(self) -> Result<Vec<Total>, Error> {
        Ok(self.release_only(|_| true)?.into_iter().flatten().collect())
    }

    /// Releases only the wanted groups and drops the others.
    ///
    /// # Errors
    /// As [`Sums::release`].
    pub fn release_only(self, wanted: impl Fn(u32) -> bool + Sync) -> Result<Vec<Option<Total>>, Error> {
        let key = self.key;
        let released = |(group, total): (usize, Total)| wanted(group as u32).then(|| total.released(&key)).transpose();
        self.totals.into_par_iter().enumerate().map(released).collect()
    }
}

impl Total {
    fn zero(key: &PublicKey, bits: u32) -> Self {
        let ring = &key.parts.ring;
        Total { set: ring.set, key: key.id(), bits, noise: 0, open: 0, b: vec![0; ring.primes.len()], a: ring.zeros() }
    }

    /// Adds numbers of a ciphertext, multiplied by their weights.
    ///
    /// Proved: `sum_noise` in formal/coq/noise.v.
    fn add_rows(
        &mut self,
        ring: &Ring,
        ciphertext: &Ciphertext,
        rows: &[(usize, i64)],
        mask: &mut [Lanes],
    ) -> Result<(), Error> {
        let weight = rows.iter().map(|&(_, weight)| u128::from(weight.unsigned_abs())).sum::<u128>();
        let added = weight.checked_mul(ciphertext.noise);
        let noise = added.and_then(|noise| noise.checked_add(self.noise));
        self.noise = noise::check(noise, self.set, self.bits)?;
        self.open += added.unwrap_or(0);
        let degree = ring.set.degree();
        for (i, prime) in ring.primes.iter().enumerate() {
            let q = prime.q;
            let residue = |weight: i64| match weight {
                1 => 1,
                weight => i128::from(weight).rem_euclid(i128::from(q)) as u64,
            };
            mask.fill(Lanes::default());
            let mut sum = u128::from(self.b[i]);
            for &(index, weight) in rows {
                let weight = residue(weight);
                // Fewer than 2^15 products of 100 bits.
                sum += u128::from(weight) * u128::from(ciphertext.b.residue(i, index));
                let weight = if weight == 1 { prime.radix.value } else { times(weight, prime.radix.value, q) };
                // `w X^-index` is `-w X^(N - index)`.
                let (at, word) = if index == 0 { (0, weight) } else { (degree - index, q - weight) };
                mask[at / LANES].0[at % LANES] = word;
            }
            self.b[i] = (sum % u128::from(q)) as u64;
            ring.kernel.forward(mask, prime);
            ring.kernel.multiply_add(self.a.of_mut(i), ciphertext.a.of(i), mask, prime);
        }
        Ok(())
    }

    fn released(mut self, key: &PublicKey) -> Result<Self, Error> {
        let ring = &key.parts.ring;
        let fresh = noise::fresh_public(self.set);
        let hiding = noise::hiding_bits(self.open + fresh, self.noise + fresh, self.set, self.bits)?;
        let mut stream = Stream::fresh()?;
        let [mut b, a] = key.zero(&mut stream);
        ring.inverse(&mut b);
        let mut error = [Lanes::default()];
        stream.errors(&mut error);
        let mut b = b.truncated(1);
        b.add_signed(0, i128::from(error[0].0[0] as i64) + stream.signed(hiding), &ring.primes);
        ring.add(&mut self.a, &a);
        for (i, (sum, prime)) in self.b.iter_mut().zip(&ring.primes).enumerate() {
            *sum = (*sum + b.residue(i, 0)) % prime.q;
        }
        (self.noise, self.open) = (self.noise + fresh + (1 << hiding), 0);
        Ok(self)
    }

    /// The ID of its key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Length of a plaintext in bits, including the sign.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bits by which the noise may still grow: 2 to this power of totals with the same noise can be
    /// added.
    pub fn budget(&self) -> u32 {
        noise::budget(self.noise, self.set, self.bits)
    }
}

impl PrivateKey {
    /// Decrypts a total.
    ///
    /// # Errors
    /// If the total belongs to another key, or its noise exceeds its bound because it was altered.
    pub fn decrypt_total(&self, total: &Total) -> Result<i128, Error> {
        if total.key != self.public().id() {
            return Err(ErrorKind::Differs("the key").into());
        }
        noise::check(Some(total.noise), total.set, total.bits)?;
        let ring = &self.public().parts.ring;
        let mut masks = ring.zeros();
        ring.multiply_add(&mut masks, &total.a, &self.s);
        // The sum of all values of a polynomial is its constant coefficient times the degree.
        let phase: Vec<u64> = (0..ring.primes.len())
            .map(|i| {
                let q = ring.primes[i].q;
                let sum: u64 = masks.of(i).iter().map(|lanes| lanes.0.iter().sum::<u64>() % q).sum::<u64>() % q;
                (total.b[i] + q - times(sum, ring.primes[i].per_degree.value, q)) % q
            })
            .collect();
        match ring.number(&phase, total.bits, total.noise) {
            (number, true) => Ok(number),
            _ => Err(ErrorKind::Altered.into()),
        }
    }
}

/// The first bytes of a serialised total.
const MAGIC: &[u8; 4] = b"HBT1";
/// Number of bytes before the residues.
const HEADER: usize = 4 + 4 + 16 + 16;

impl Total {
    /// Serialises the total, with integers in little-endian order: `HBT1`; the set; 0; the bits of
    /// a plaintext; 0; the key ID; the bound on the noise; the residues of `b`, eight bytes each;
    /// the residues of `a`, 50 bits each, prime after prime.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + 8 * self.b.len() + packed_bytes(self.b.len(), self.a.vectors()));
        bytes.extend(MAGIC);
        bytes.extend([self.set as u8, 0, self.bits as u8, 0]);
        bytes.extend(self.key.0);
        bytes.extend(self.noise.to_le_bytes());
        self.b.iter().for_each(|b| bytes.extend(b.to_le_bytes()));
        pack_into(&mut bytes, &self.a);
        bytes
    }

    /// Deserialises a total under this key.
    ///
    /// # Errors
    /// If the bytes are not a total, or it belongs to another set or key.
    pub fn from_bytes(bytes: &[u8], key: &PublicKey) -> Result<Self, Error> {
        let malformed = |what| Error::from(ErrorKind::Malformed(what));
        let ring = &key.parts.ring;
        let (header, body) = bytes.split_at_checked(HEADER).ok_or_else(|| malformed("the total is truncated"))?;
        if header[..4] != *MAGIC || header[5] != 0 || header[7] != 0 {
            return Err(malformed("this is not a total"));
        }
        if header[4] != ring.set as u8 {
            return Err(ErrorKind::Differs("the parameter set").into());
        }
        if header[8..24] != key.id().0 {
            return Err(ErrorKind::Differs("the key").into());
        }
        let bits = u32::from(header[6]);
        ring.set.check_bits(bits)?;
        let noise = noise::stated(&header[24..40], ring.set, bits)?;
        let primes = &ring.primes;
        if body.len() != 8 * primes.len() + packed_bytes(primes.len(), ring.vectors()) {
            return Err(malformed("the total does not have the length that its header states"));
        }
        let (first, second) = body.split_at(8 * primes.len());
        let b: Vec<u64> = first.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        if b.iter().zip(primes).any(|(&b, prime)| b >= prime.q) {
            return Err(malformed("a number is not below its modulus"));
        }
        let a = unpack(second, primes, ring.vectors())?;
        Ok(Total { set: ring.set, key: key.id(), bits, noise, open: 0, b, a })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;

    /// The noise of a total of zero: its signed phase, in units of `q / 2^127`.
    fn noise_of(key: &PrivateKey, total: &Total) -> i128 {
        let ring = &key.public().parts.ring;
        let mut masks = ring.zeros();
        ring.multiply_add(&mut masks, &total.a, &key.s);
        ring.inverse(&mut masks);
        let phase: Vec<u64> = (0..ring.primes.len())
            .map(|i| (total.b[i] + ring.primes[i].q - masks.residue(i, 0)) % ring.primes[i].q)
            .collect();
        // With plaintexts of 127 bits, the decoded number is the noise down to the last place.
        ring.number(&phase, 127, u128::MAX >> 2).0
    }

    #[test]
    fn the_noise_of_a_total_says_nothing_of_its_addends() {
        let key = PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap();
        let (public, bits) = (key.public(), 97);
        let encrypted = public.encrypt(&vec![0; 8192], bits).unwrap();
        let sums = |group| {
            let mut sums = Sums::new(public, bits).unwrap();
            sums.add(&encrypted, &[group; 8192], None).unwrap();
            sums
        };
        let plain = noise_of(&key, &sums(0).totals[0]);
        let drawn: Vec<i128> = (0..64).map(|_| noise_of(&key, &sums(0).release().unwrap()[0])).collect();
        let own = 8193 * noise::fresh_public(Set::Degree8192);
        let hiding = noise::hiding_bits(own, own, Set::Degree8192, bits).unwrap();
        // Uniform within 2^hiding, which is 2^(127 - 200 + hiding) here, far above the sum's own
        // noise.
        let scale = 2_f64.powi(127 - 200 + hiding as i32);
        assert!(hiding >= 26 + 40 && (plain as f64).abs() < scale / 2_f64.powi(10));
        assert!(drawn.iter().all(|&noise| (noise as f64).abs() <= 1.01 * scale));
        for quarter in [-1.0, -0.5, 0.0, 0.5] {
            let within = |noise: f64| noise >= quarter * scale && noise < (quarter + 0.5) * scale;
            let hits = drawn.iter().filter(|&&noise| within(noise as f64)).count();
            assert!((3..=35).contains(&hits), "{hits} of 64 in a quarter");
        }
    }

    #[test]
    fn a_total_holds_one_coefficient_and_no_trace_of_its_ciphertext() {
        let key = PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap();
        let encrypted = key.public().encrypt(&[5, 6, 7], 30).unwrap();
        let mut sums = Sums::new(key.public(), 30).unwrap();
        sums.add(&encrypted, &[0, NO_GROUP, NO_GROUP], None).unwrap();
        let total = sums.release().unwrap().remove(0);
        assert_eq!(total.b.len(), Set::Degree4096.primes());
        let same = |prime: usize| total.a.of(prime).iter().zip(encrypted.a.of(prime)).filter(|(x, y)| x == y).count();
        assert_eq!((same(0), same(1)), (0, 0));
        assert_eq!(key.decrypt_total(&total).unwrap(), 5);
    }
}
