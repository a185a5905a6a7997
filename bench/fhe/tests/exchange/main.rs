//! The crate `fhe`, which shares no line with ours, as oracle: under one secret and the same moduli
//! each decrypts what the other encrypted, added up and multiplied. Ciphertexts pass between them
//! as residues, by the bytes that `crates/bfv/README.md` describes.

mod layout;

use fhe::bfv::{BfvParameters, BfvParametersBuilder, Ciphertext as Theirs, Encoding, Plaintext, PublicKey, SecretKey};
use fhe_math::rq::{Poly, Representation, traits::TryConvertFrom};
use fhe_traits::{DeserializeParametrized, FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use hearith_bfv::{Ciphertext, Engine, ErrorKind, NO_GROUP, PrivateKey, Set, Sums, Total};
use layout::{Halves, Residues};
use std::sync::Arc;

/// Sets and bits of a plaintext; `fhe` takes no plaintexts above its first modulus.
const CASES: [(Set, u32); 3] = [(Set::Degree4096, 30), (Set::Degree8192, 48), (Set::Degree16384, 48)];

/// One secret in both libraries.
struct Pair {
    ours: PrivateKey,
    theirs: SecretKey,
    parameters: Arc<BfvParameters>,
    bits: u32,
}

impl Pair {
    fn new(ours: PrivateKey, bits: u32) -> Self {
        let set = ours.public().set();
        let mut parameters = BfvParametersBuilder::new();
        parameters.set_degree(set.degree()).set_moduli(set.moduli()).set_plaintext_modulus(1 << bits);
        let parameters = parameters.build_arc().unwrap();
        let theirs = SecretKey::from_bytes(&secret_bytes(&secret(&ours)), &parameters).unwrap();
        Pair { ours, theirs, parameters, bits }
    }

    fn all() -> impl Iterator<Item = Pair> {
        CASES.into_iter().map(|(set, bits)| Pair::new(PrivateKey::generate(set, Engine::best()).unwrap(), bits))
    }

    fn set(&self) -> Set {
        self.ours.public().set()
    }

    /// Numbers of either sign up to a magnitude of `2^bits`, as many as fit.
    fn numbers(&self, bits: u32, seed: i64) -> Vec<i64> {
        let limit = 1_i64 << bits;
        let number = |i: i64| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> (63 - bits);
        (0..self.set().degree() as i64).map(|i| if i == 3 { limit - 1 } else { number(i) }).collect()
    }

    fn encoded(&self, numbers: &[i64]) -> Plaintext {
        Plaintext::try_encode(numbers, Encoding::poly(), &self.parameters).unwrap()
    }

    fn their_numbers(&self, ciphertext: &Theirs) -> Vec<i64> {
        Vec::try_decode(&self.theirs.try_decrypt(ciphertext).unwrap(), Encoding::poly()).unwrap()
    }

    /// `b - a s` as they have it, `c_0 + c_1 s`.
    fn to_theirs(&self, halves: &Halves) -> Theirs {
        let context = self.parameters.context_at_level(0).unwrap();
        let poly = |residues: Residues| {
            let padded = residues
                .iter()
                .flat_map(|each| each.iter().copied().chain(std::iter::repeat_n(0, self.set().degree() - each.len())));
            let mut poly =
                Poly::try_convert_from(padded.collect::<Vec<u64>>(), context, false, Representation::PowerBasis)
                    .unwrap();
            poly.change_representation(Representation::Ntt);
            poly
        };
        let halves = vec![poly(halves.b.clone()), poly(self.negative(&halves.a))];
        Theirs::new(halves, &self.parameters).unwrap()
    }

    /// The same the other way round, with a bound on its noise.
    fn to_ours(&self, ciphertext: &Theirs, bound: u128) -> Vec<u8> {
        let residues = |poly: &Poly| -> Residues {
            let mut poly = poly.clone();
            poly.change_representation(Representation::PowerBasis);
            poly.coefficients().rows().into_iter().map(|row| row.to_vec()).collect()
        };
        let halves = Halves { b: residues(&ciphertext[0]), a: self.negative(&residues(&ciphertext[1])), bound };
        let like = self.ours.encrypt(&[0], self.bits).unwrap().to_bytes();
        layout::ciphertext_bytes(&like, &halves, self.set().moduli(), self.set().degree())
    }

    fn negative(&self, residues: &Residues) -> Residues {
        let negative = |(each, q): (&Vec<u64>, &u64)| each.iter().map(|x| (q - x) % q).collect();
        residues.iter().zip(self.set().moduli()).map(negative).collect()
    }

    fn read(&self, bytes: &[u8]) -> Ciphertext {
        Ciphertext::from_bytes(bytes, self.ours.public()).unwrap()
    }
}

/// The secret, by its key's answer to a ciphertext that nobody encrypted: with `b` nothing and `a`
/// the constant `-q / t`, what is decrypted is the secret.
fn secret(key: &PrivateKey) -> Vec<i128> {
    let (set, bits) = (key.public().set(), 4);
    let rest = set.moduli().iter().fold(1, |product: u64, &q| product.wrapping_mul(q)) % (1 << bits);
    let constant = |&q: &u64| layout::times(rest, layout::power(1 << bits, q - 2, q), q);
    let mut a = vec![vec![0; set.degree()]; set.moduli().len()];
    a.iter_mut().zip(set.moduli()).for_each(|(a, q)| a[0] = constant(q));
    let halves = Halves { b: vec![vec![0; set.degree()]; set.moduli().len()], a, bound: 22 };
    let like = key.encrypt(&[0], bits).unwrap().to_bytes();
    let asked = layout::ciphertext_bytes(&like, &halves, set.moduli(), set.degree());
    let secret = key.decrypt(&Ciphertext::from_bytes(&asked, key.public()).unwrap()).unwrap().to_vec();
    assert!(
        secret.iter().all(|s| (-1..=1).contains(s)) && secret.iter().filter(|&&s| s == 0).count() < set.degree() / 2
    );
    secret
}

/// A secret of theirs in protocol buffers: field 1, packed numbers with their sign in the lowest
/// bit.
fn secret_bytes(secret: &[i128]) -> Vec<u8> {
    let mut bytes = vec![0x0a];
    let mut length = secret.len();
    while length >= 128 {
        bytes.push(length as u8 | 128);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(secret.iter().map(|&s| if s < 0 { 1 } else { 2 * s as u8 }));
    bytes
}

/// Numbers as ours takes them.
fn wide(numbers: &[i64]) -> Vec<i128> {
    numbers.iter().map(|&number| i128::from(number)).collect()
}

/// The product by `w(X)`, modulo `X^N + 1`, at `X^0`.
fn dot(numbers: &[i64], weights: &[i64]) -> i64 {
    numbers.iter().zip(weights).map(|(number, weight)| number * weight).sum()
}

#[test]
fn they_decrypt_what_we_encrypt_and_find_no_more_noise_than_we_say() {
    for pair in Pair::all() {
        let (public, bits) = (pair.ours.public(), pair.bits);
        let (x, y) = (pair.numbers(bits - 4, 1), pair.numbers(bits - 4, 2));
        let [x_public, y_owned] =
            [public.encrypt(&wide(&x), bits).unwrap(), pair.ours.encrypt(&wide(&y), bits).unwrap()];
        // Times 1, so that no seed stands for a half.
        let owned = public.multiply(&y_owned, 1).unwrap();
        let sum = public.add(&x_public, &y_owned).unwrap();
        let product = public.multiply(&sum, -3).unwrap();
        let released = public.release(&sum).unwrap();
        let added: Vec<i64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        let tripled: Vec<i64> = added.iter().map(|sum| -3 * sum).collect();
        for (what, ciphertext, expected) in [
            ("public", &x_public, &x),
            ("owned", &owned, &y),
            ("sum", &sum, &added),
            ("product", &product, &tripled),
            ("released", &released, &added),
        ] {
            let halves = layout::ciphertext(&ciphertext.to_bytes(), pair.set().moduli(), pair.set().degree());
            let theirs = pair.to_theirs(&halves);
            assert_eq!(&pair.their_numbers(&theirs), expected, "{} {what}", pair.set());
            // SAFETY: what is measured here is no secret of anybody's.
            let noise = unsafe { pair.theirs.measure_noise(&theirs) }.unwrap();
            let bound = (u128::BITS - halves.bound.leading_zeros()) as usize;
            // A bound of twelve deviations is some bits more than the greatest of so many
            // coefficients, and not many.
            assert!(noise <= bound && noise + 8 >= bound, "{} {what}: {noise} of {bound} bits", pair.set());
        }
    }
}

#[test]
fn we_decrypt_what_they_encrypt() {
    for pair in Pair::all() {
        let (x, y) = (pair.numbers(pair.bits - 4, 3), pair.numbers(pair.bits - 4, 4));
        let random = &mut rand::rng();
        let public = PublicKey::new(&pair.theirs, random);
        let by_owner: Theirs = pair.theirs.try_encrypt(&pair.encoded(&x), random).unwrap();
        let by_anybody: Theirs = public.try_encrypt(&pair.encoded(&y), random).unwrap();
        let each = |f: fn(i64, i64) -> i64| -> Vec<i64> { x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect() };
        for (what, ciphertext, expected) in [
            ("owner", &by_owner, x.clone()),
            ("anybody", &by_anybody, y.clone()),
            ("sum", &(&by_owner + &by_anybody), each(|x, y| x + y)),
            ("difference", &(&by_owner - &by_anybody), each(|x, y| x - y)),
            ("product", &(&by_anybody * &pair.encoded(&[-5])), each(|_, y| -5 * y)),
        ] {
            // Their factor is `t - 5`, and multiplies the noise as such.
            let bound = if what == "product" { 1 << (16 + pair.bits) } else { 1 << 16 };
            let found = pair.ours.decrypt(&pair.read(&pair.to_ours(ciphertext, bound))).unwrap();
            assert_eq!(*found, wide(&expected), "{} {what}", pair.set());
        }
        // Noise that is more than a file says is seen, to the last place where q has no more than
        // 128 bits.
        if pair.set() != Set::Degree4096 {
            continue;
        }
        let error = pair.ours.decrypt(&pair.read(&pair.to_ours(&by_anybody, 22))).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Altered);
    }
}

#[test]
fn weighted_sums_of_groups_are_theirs() {
    for pair in Pair::all() {
        let (public, bits, degree) = (pair.ours.public(), pair.bits, pair.set().degree());
        let numbers = pair.numbers(8, 5);
        let weights = pair.numbers(3, 6);
        let groups: Vec<u32> = (0..degree as u32).map(|row| if row % 5 == 4 { NO_GROUP } else { row % 5 }).collect();
        let by_them: Theirs = PublicKey::new(&pair.theirs, &mut rand::rng())
            .try_encrypt(&pair.encoded(&numbers), &mut rand::rng())
            .unwrap();
        let by_us = public.encrypt(&wide(&numbers), bits).unwrap();
        let mut sums = Sums::new(public, bits).unwrap();
        sums.add(&by_us, &groups, Some(&weights)).unwrap();
        let totals = sums.release().unwrap();
        let mut of_theirs = Sums::new(public, bits).unwrap();
        of_theirs.add(&pair.read(&pair.to_ours(&by_them, 1 << 14)), &groups, Some(&weights)).unwrap();
        let of_theirs = of_theirs.release().unwrap();
        for group in 0..4 {
            let chosen: Vec<i64> =
                weights.iter().zip(&groups).map(|(&weight, &of)| if of == group { weight } else { 0 }).collect();
            let expected = dot(&numbers, &chosen);
            assert_eq!(pair.ours.decrypt_total(&totals[group as usize]).unwrap(), i128::from(expected));
            assert_eq!(pair.ours.decrypt_total(&of_theirs[group as usize]).unwrap(), i128::from(expected));
            // Our total, which has one coefficient, by their decryption.
            let bytes = Total::to_bytes(&totals[group as usize]);
            let halves = layout::total(&bytes, pair.set().moduli());
            assert_eq!(pair.their_numbers(&pair.to_theirs(&halves))[0], expected, "{} group {group}", pair.set());
            // Their product by the sum of `w_i X^-i`, in which `X^-i` is `-X^(N - i)`.
            let turned: Vec<i64> = (0..degree).map(|i| if i == 0 { chosen[0] } else { -chosen[degree - i] }).collect();
            let product = &by_them * &pair.encoded(&turned);
            assert_eq!(pair.their_numbers(&product)[0], expected);
        }
    }
}

/// Writes the ciphertext that a test of `hearith-bfv` has as a known answer.
#[test]
#[ignore = "writes a file: cargo test --manifest-path bench/fhe/Cargo.toml -- --ignored"]
fn writes_a_known_answer() {
    let pair = Pair::new(PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap(), 40);
    let numbers = [5, -7, (1 << 39) - 1, -(1 << 39), 0, 123_456_789, -1, 1];
    let random = &mut rand::rng();
    let theirs: Theirs = PublicKey::new(&pair.theirs, random).try_encrypt(&pair.encoded(&numbers), random).unwrap();
    let whole = pair.to_ours(&theirs, 1 << 14);
    let halves = layout::ciphertext(&whole, pair.set().moduli(), pair.set().degree());
    let bytes = layout::ciphertext_bytes(&whole, &halves, pair.set().moduli(), numbers.len());
    assert_eq!(*pair.ours.decrypt(&pair.read(&bytes)).unwrap(), wide(&numbers));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/bfv/tests/fhe");
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(format!("{folder}/private.json"), pair.ours.to_text().as_bytes()).unwrap();
    std::fs::write(format!("{folder}/ciphertext"), bytes).unwrap();
}
