//! Helpers shared by the tests.

use hearith_paillier::encoding::{Signed, decode_signed, encode_signed};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant};
use hearith_testing::has;
use rug::{Integer, integer::Order};
use serde::Deserialize;
use std::sync::LazyLock;

/// The engines that this machine can run. Every test runs with each of them.
pub fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

/// A new key of the given size.
pub fn key(bits: u32, variant: Variant, engine: Engine) -> PrivateKey {
    PrivateKey::generate(bits, variant, KeyPolicy::AllowInsecure, engine).unwrap()
}

/// A 512-bit standard key and a 512-bit DJN key for every engine, for tests in which the key does
/// not matter.
pub fn some_keys() -> impl Iterator<Item = &'static PrivateKey> {
    static KEYS: LazyLock<Vec<PrivateKey>> = LazyLock::new(|| {
        let both = |engine| [Variant::Standard, Variant::Djn].map(|variant| key(512, variant, engine));
        engines().flat_map(both).collect()
    });
    KEYS.iter()
}

/// Encrypts signed integers.
pub fn encrypt(key: &PublicKey, values: &[i128]) -> Ciphertexts {
    key.encrypt(&encode_signed(key, values).unwrap()).unwrap()
}

/// Decrypts signed integers.
pub fn decrypt(key: &PrivateKey, ciphertexts: &Ciphertexts) -> Vec<Signed> {
    decode_signed(key.public(), &key.decrypt(ciphertexts).unwrap()).unwrap()
}

/// Decrypts signed integers that fit into `i128`.
pub fn decrypt_small(key: &PrivateKey, ciphertexts: &Ciphertexts) -> Vec<i128> {
    decrypt(key, ciphertexts).iter().map(|value| value.to_i128().unwrap()).collect()
}

pub fn integer_be(bytes: &[u8]) -> Integer {
    Integer::from_digits(bytes, Order::MsfBe)
}

/// Big-endian bytes of the given width.
pub fn bytes_be(number: &Integer, width: usize) -> Vec<u8> {
    let digits = number.to_digits::<u8>(Order::MsfBe);
    [vec![0; width - digits.len()], digits].concat()
}

pub fn modulus(key: &PublicKey) -> Integer {
    integer_be(&key.modulus_be())
}

pub fn ciphertexts(key: &PublicKey, numbers: &[Integer]) -> Ciphertexts {
    let rows = numbers.iter().flat_map(|number| bytes_be(number, key.ciphertext_bytes()));
    key.ciphertexts_from_be(&rows.collect::<Vec<_>>()).unwrap()
}

pub fn plaintexts(key: &PublicKey, numbers: &[Integer]) -> Plaintexts {
    let rows = numbers.iter().flat_map(|number| bytes_be(number, key.plaintext_bytes()));
    key.plaintexts_from_be(&rows.collect::<Vec<_>>()).unwrap()
}

pub fn integers(ciphertexts: &Ciphertexts) -> Vec<Integer> {
    ciphertexts.to_be_bytes().chunks(ciphertexts.row_bytes()).map(integer_be).collect()
}

pub fn residues(plaintexts: &Plaintexts) -> Vec<Integer> {
    plaintexts.to_be_bytes().chunks(plaintexts.row_bytes()).map(integer_be).collect()
}

/// The known answers of `vectors/generate.py`.
#[derive(Deserialize)]
pub struct Vectors {
    pub keys: Vec<KeyVector>,
    pub djn: Vec<DjnVector>,
    pub large: Vec<Large>,
}

/// A large key.
#[derive(Deserialize)]
pub struct Large {
    pub bits: u32,
    pub p: Hex,
    pub q: Hex,
}

#[derive(Deserialize)]
pub struct KeyVector {
    pub kind: String,
    pub bits: u32,
    pub p: Hex,
    pub q: Hex,
    pub n: Hex,
    pub encryptions: Vec<Encryption>,
    pub decryptions: Vec<Decrypted>,
    pub arithmetic: Arithmetic,
}

#[derive(Deserialize)]
pub struct Encryption {
    pub m: Hex,
    pub c: Hex,
}

#[derive(Deserialize)]
pub struct Decrypted {
    pub c: Hex,
    pub m: Hex,
}

#[derive(Deserialize)]
pub struct Arithmetic {
    pub a: Hex,
    pub b: Hex,
    pub k: Hex,
    pub m: Hex,
    pub add: Hex,
    pub neg: Hex,
    pub sub: Hex,
    pub scale: Hex,
    pub scale_neg: Hex,
    pub add_plain: Hex,
    pub dot: Hex,
}

#[derive(Deserialize)]
pub struct DjnVector {
    pub bits: u32,
    pub p: Hex,
    pub q: Hex,
    pub n: Hex,
    pub h: Hex,
    pub encryptions: Vec<DjnEncryption>,
}

#[derive(Deserialize)]
pub struct DjnEncryption {
    pub m: Hex,
    pub c: Hex,
}

/// A number in hexadecimal.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub struct Hex(pub Integer);

impl TryFrom<String> for Hex {
    type Error = rug::integer::ParseIntegerError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Integer::from_str_radix(&text, 16).map(Hex)
    }
}

impl Hex {
    /// Big-endian bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.to_digits(Order::MsfBe)
    }
}

pub fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap()
}

impl KeyVector {
    pub fn key(&self, engine: Engine) -> PrivateKey {
        PrivateKey::from_primes(&self.p.bytes(), &self.q.bytes(), None, KeyPolicy::AllowInsecure, engine).unwrap()
    }
}

impl Large {
    pub fn key(&self, engine: Engine) -> PrivateKey {
        PrivateKey::from_primes(&self.p.bytes(), &self.q.bytes(), None, KeyPolicy::Secure, engine).unwrap()
    }
}

impl DjnVector {
    pub fn key(&self, engine: Engine) -> PrivateKey {
        let h = self.h.bytes();
        PrivateKey::from_primes(&self.p.bytes(), &self.q.bytes(), Some(&h), KeyPolicy::AllowInsecure, engine).unwrap()
    }
}
