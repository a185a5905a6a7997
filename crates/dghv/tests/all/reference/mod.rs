//! An implementation of the schemes over GMP, directly from the papers. It shares only the
//! parameters with the crate and provides the known answers.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hearith_dghv::{Parameters, Scheme};
use rug::Integer;
use rug::integer::Order;
use rug::ops::RemRounding;
use rug::rand::RandState;

/// The limbs of a number, `length` of them.
pub fn limbs(number: &Integer, length: usize) -> Vec<u64> {
    let mut limbs = number.to_digits(Order::Lsf);
    limbs.resize(length, 0);
    limbs
}

/// The number with these limbs.
pub fn integer(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

/// `2^bits`.
fn power(bits: u32) -> Integer {
    Integer::from(1) << bits
}

/// `chi_i` from its definition, word by word.
pub fn chi(seed: &[u8; 16], bits: u32, index: usize) -> Integer {
    let cipher = Aes128::new(seed.into());
    let words = bits.div_ceil(64) as usize;
    let segment = words.div_ceil(8);
    let word = |position: usize| {
        let slot = 8 * (position % segment) + position / segment;
        let mut block = ((index as u128) << 64 | (slot / 2) as u128).to_be_bytes().into();
        cipher.encrypt_block(&mut block);
        (u128::from_le_bytes(block.into()) >> (64 * (slot % 2))) as u64
    };
    let number = integer(&(0..words).map(word).collect::<Vec<_>>());
    number.keep_bits(bits)
}

/// A key pair with uncompressed elements.
pub struct Keys {
    pub parameters: Parameters,
    pub seed: [u8; 16],
    pub p: Integer,
    pub modulus: Integer,
    pub corrections: Vec<Integer>,
    pub elements: Vec<Integer>,
    random: RandState<'static>,
}

impl Keys {
    /// Generates the same keys for the same salt. `q_0` is any odd number: the papers require large
    /// prime factors only for security.
    pub fn generate(parameters: &Parameters, salt: u32) -> Keys {
        let lengths = *parameters.lengths();
        let mut random = RandState::new();
        random.seed(&Integer::from(salt));
        let mut draw = |bits: u32| Integer::from(Integer::random_bits(bits, &mut random));
        let p = (power(lengths.secret - 1) + draw(lengths.secret - 2)).next_prime();
        let least = Integer::from(&power(lengths.modulus - 1) / &p) + 1u32;
        let span = lengths.modulus - lengths.secret - 2;
        let q = (least + draw(span)) | Integer::from(1);
        let modulus = Integer::from(&p * &q);
        assert_eq!(modulus.significant_bits(), lengths.modulus);
        let seed: [u8; 16] = std::array::from_fn(|_| draw(8).to_u8().unwrap());
        let mut corrections = Vec::new();
        let mut elements = Vec::new();
        for index in 0..parameters.key_elements() {
            let chi = chi(&seed, lengths.modulus, index);
            let noise = draw(lengths.key_noise + 1) - power(lengths.key_noise);
            let correction = Integer::from(&chi % &p) + draw(lengths.security) * &p + &p - noise;
            elements.push(Integer::from(&chi - &correction));
            corrections.push(correction);
        }
        Keys { parameters: parameters.clone(), seed, p, modulus, corrections, elements, random }
    }

    /// The corrections in the crate's format.
    pub fn correction_limbs(&self) -> Vec<u64> {
        let length = self.parameters.correction_limbs();
        self.corrections.iter().flat_map(|correction| limbs(correction, length)).collect()
    }

    fn draw(&mut self, bits: u32) -> Integer {
        Integer::from(Integer::random_bits(bits, &mut self.random))
    }

    /// Encrypts by equation 1 or 2.
    pub fn encrypt(&mut self, bit: bool) -> Integer {
        let lengths = *self.parameters.lengths();
        let beta = lengths.elements as usize;
        let mut sum = Integer::new();
        match self.parameters.scheme() {
            Scheme::Cmnt => {
                for (i, j) in (0..beta).flat_map(|i| (0..beta).map(move |j| (i, j))) {
                    let b = self.draw(lengths.coefficient);
                    sum += b * &self.elements[i] * &self.elements[beta + j];
                }
            }
            Scheme::Cnt => {
                for i in 0..beta {
                    let b = self.draw(lengths.coefficient);
                    sum += b * &self.elements[i];
                }
            }
        }
        let r = self.draw(lengths.encryption_noise + 1) - power(lengths.encryption_noise);
        self.residue(2 * (sum + r) + Integer::from(bit))
    }

    /// The residue of least absolute value modulo `p`, and its parity.
    pub fn decrypt(&self, ciphertext: &Integer) -> (Integer, bool) {
        let mut noise = Integer::from(ciphertext % &self.p);
        if Integer::from(2 * &noise) > self.p {
            noise -= &self.p;
        }
        let bit = noise.is_odd();
        (noise, bit)
    }

    /// The non-negative residue of a number modulo `A_0`.
    pub fn residue(&self, number: Integer) -> Integer {
        number.rem_euc(&self.modulus)
    }
}
