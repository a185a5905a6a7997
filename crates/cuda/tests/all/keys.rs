//! Keys and known answers from `crates/paillier/tests/vectors`, and the emulated cards.

use hearith_cuda::{Driver, EMULATED_DRIVER, LoadedCard};
use hearith_device::Trust;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey};
use rug::{Integer, integer::Order};
use serde_json::Value;

/// The faultless cards: with the exact product, the double-precision one, and 32-bit multipliers.
pub const SOUND: [usize; 3] = [0, 1, 2];

pub fn driver() -> Driver {
    Driver::open(EMULATED_DRIVER.as_ref()).unwrap()
}

pub fn private(card: usize, key: &PrivateKey) -> LoadedCard {
    LoadedCard::with_private(&driver(), card, key, Trust::Checked).unwrap()
}

pub fn public(card: usize, key: &PublicKey) -> LoadedCard {
    LoadedCard::with_public(&driver(), card, key, Trust::Checked).unwrap()
}

fn vectors(file: &str) -> Value {
    serde_json::from_str(match file {
        "subgroup" => include_str!("../../../paillier/tests/vectors/subgroup.json"),
        _ => include_str!("../../../paillier/tests/vectors/vectors.json"),
    })
    .unwrap()
}

pub fn number(value: &Value) -> Integer {
    Integer::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

pub fn bytes(value: &Value) -> Vec<u8> {
    number(value).to_digits(Order::MsfBe)
}

/// The keys of a list with this size.
fn list(name: &str, bits: u64) -> Vec<Value> {
    let all = if name == "subgroup" { vectors(name) } else { vectors("")[name].take() };
    let wanted = |one: &Value| one["bits"].as_u64().unwrap() == bits;
    all.as_array().unwrap().iter().filter(|one| wanted(one)).cloned().collect()
}

/// Standard keys of this size, with their known answers.
pub fn standard(bits: u64) -> Vec<(PrivateKey, Value)> {
    let key = |vector: Value| {
        let (p, q) = (bytes(&vector["p"]), bytes(&vector["q"]));
        (PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, Engine::best()).unwrap(), vector)
    };
    let name = if bits > 3072 { "large" } else { "keys" };
    list(name, bits).into_iter().map(key).collect()
}

/// A DJN key of this size.
pub fn djn(bits: u64) -> PrivateKey {
    let vector = list("djn", bits).remove(0);
    let [p, q, h] = ["p", "q", "h"].map(|name| bytes(&vector[name]));
    PrivateKey::from_primes(&p, &q, Some(&h), KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

/// A subgroup key of this size, with its known answers.
pub fn subgroup(bits: u64) -> (PrivateKey, Value) {
    let vector = list("subgroup", bits).remove(0);
    let [one, other, p, q, h] = ["P", "Q", "p", "q", "h"].map(|name| bytes(&vector[name]));
    let length = vector["x"].as_u64().unwrap() as u32;
    let key = PrivateKey::from_subgroup_primes(
        [&one, &other],
        [&p, &q],
        &h,
        length,
        KeyPolicy::AllowInsecure,
        Engine::best(),
    );
    (key.unwrap(), vector)
}

pub fn be(number: &Integer, width: usize) -> Vec<u8> {
    let digits = number.to_digits::<u8>(Order::MsfBe);
    [vec![0; width - digits.len()], digits].concat()
}

/// The first known plaintexts and ciphertexts of a list.
pub fn known(key: &PublicKey, list: &Value, rows: usize) -> (Plaintexts, Ciphertexts) {
    let column = |member: &str, width: usize| -> Vec<u8> {
        list.as_array().unwrap().iter().take(rows).flat_map(|one| be(&number(&one[member]), width)).collect()
    };
    let plaintexts = key.plaintexts_from_be(&column("m", key.plaintext_bytes())).unwrap();
    let ciphertexts = key.ciphertexts_from_be(&column("c", key.ciphertext_bytes())).unwrap();
    (plaintexts, ciphertexts)
}
