//! Shared keys through the public interface: which shares decrypt, and which must not.

use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant};
use hearith_proofs::Transcript;
use hearith_threshold::{Contexts, Error, ErrorKind, KeyShare, MAX_TRUSTEES, Shares, VerificationKeys, deal};
use rug::{Integer, integer::Order};
use std::sync::OnceLock;

/// A key, and a dealer's output for it.
struct Dealt {
    private: PrivateKey,
    verification: VerificationKeys,
    trustees: Vec<KeyShare>,
}

fn safe(bits: u32, engine: Engine) -> PrivateKey {
    PrivateKey::generate_safe(bits, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap()
}

/// One key for all tests that modify shares: two of three.
fn dealt() -> &'static Dealt {
    static DEALT: OnceLock<Dealt> = OnceLock::new();
    DEALT.get_or_init(|| {
        let private = safe(512, Engine::best());
        let (verification, trustees) = deal(&private, 2, 3).unwrap();
        Dealt { private, verification, trustees }
    })
}

fn encode(key: &PublicKey, numbers: &[i128]) -> Plaintexts {
    encode_signed(key, numbers).unwrap()
}

fn contexts(rows: usize) -> Contexts {
    Contexts::new(b"accounts", (0..rows).map(|row| format!("row {row}")))
}

/// The kind of the error, the trustee and the row.
fn at<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, Option<u32>, Option<usize>) {
    let error = result.expect_err("what must not hold");
    (error.kind().clone(), error.trustee(), error.row())
}

/// Ciphertexts under a key for two of three trustees, and all their shares.
struct Decryption {
    dealt: &'static Dealt,
    plaintexts: Plaintexts,
    ciphertexts: Ciphertexts,
    shares: Vec<Shares>,
}

impl Decryption {
    fn new(numbers: &[i128]) -> Self {
        let dealt = dealt();
        let key = dealt.verification.key();
        let plaintexts = encode(key, numbers);
        let ciphertexts = key.encrypt(&plaintexts).unwrap();
        let decrypt = |trustee: &KeyShare| trustee.decrypt(&contexts(numbers.len()), &ciphertexts).unwrap();
        let shares = dealt.trustees.iter().map(decrypt).collect();
        Decryption { dealt, plaintexts, ciphertexts, shares }
    }

    fn verify(&self, shares: &Shares) -> Result<(), Error> {
        self.dealt.verification.verify(&contexts(self.ciphertexts.len()), &self.ciphertexts, shares)
    }

    fn combine(&self, shares: &[&Shares]) -> Result<(Plaintexts, Vec<Error>), Error> {
        let contexts = contexts(self.ciphertexts.len());
        let combined = self.dealt.verification.combine(&contexts, &self.ciphertexts, shares)?;
        Ok((combined.plaintexts, combined.wrong))
    }

    fn parse(&self, trustee: u32, bytes: &[u8]) -> Result<Shares, Error> {
        Shares::from_be_bytes(self.dealt.verification.key(), trustee, bytes)
    }
}

#[test]
fn every_set_of_trustees_that_is_large_enough_decrypts_on_every_engine() {
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let private = safe(256, engine);
        let key = private.public();
        let plaintexts = encode(key, &[0, 1, -1, 1 << 100]);
        let ciphertexts = key.encrypt(&plaintexts).unwrap();
        for (needed, trustees) in [(1, 1), (1, 3), (2, 2), (2, 4), (3, 3), (3, 5), (5, 5)] {
            let (verification, dealt) = deal(&private, needed, trustees).unwrap();
            let shares: Vec<Shares> =
                dealt.iter().map(|trustee| trustee.decrypt(&contexts(4), &ciphertexts).unwrap()).collect();
            for set in 1..1_u32 << trustees {
                let some: Vec<&Shares> = shares.iter().filter(|share| set >> (share.trustee() - 1) & 1 == 1).collect();
                let found = verification.combine(&contexts(4), &ciphertexts, &some);
                if some.len() >= needed as usize {
                    let found = found.unwrap();
                    assert!(
                        found.wrong.is_empty() && found.plaintexts == plaintexts,
                        "{needed} of {trustees}, {set:b}"
                    );
                } else {
                    assert_eq!(at(found).0, ErrorKind::TooFew { needed, given: some.len() });
                }
            }
        }
    }
}

/// Keys whose square has one limb fewer than twice the key's limbs, or whose length is not a
/// multiple of a limb.
#[test]
fn keys_of_any_length_are_shared() {
    for bits in [66, 128, 130, 160, 200, 254, 322] {
        let private = safe(bits, Engine::best());
        let (verification, trustees) = deal(&private, 2, 3).unwrap();
        let read = |text: &str| KeyShare::from_json(text, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let json = verification.to_json();
        let verification = VerificationKeys::from_json(&json, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let plaintexts = encode(verification.key(), &[77; 300]);
        let ciphertexts = verification.key().encrypt(&plaintexts).unwrap();
        for rows in [1, 300] {
            let some = ciphertexts.range(0..rows).unwrap();
            let shares: Vec<Shares> =
                trustees[1..].iter().map(|one| read(&one.to_json()).decrypt(&contexts(rows), &some).unwrap()).collect();
            assert_eq!(verification.verify(&contexts(rows), &some, &shares[0]), Ok(()), "{bits} bits");
            let found = verification.combine(&contexts(rows), &some, &[&shares[1], &shares[0]]).unwrap();
            assert_eq!(found.plaintexts, plaintexts.range(0..rows).unwrap(), "{bits} bits");
        }
    }
}

#[test]
fn as_many_trustees_as_there_may_be_decrypt() {
    let private = safe(256, Engine::best());
    let (verification, trustees) = deal(&private, 11, MAX_TRUSTEES).unwrap();
    let plaintexts = encode(verification.key(), &[424_242]);
    let ciphertexts = verification.key().encrypt(&plaintexts).unwrap();
    let shares: Vec<Shares> = trustees.iter().map(|one| one.decrypt(&contexts(1), &ciphertexts).unwrap()).collect();
    for set in
        [(0..11).collect::<Vec<_>>(), (9..20).collect(), (0..20).step_by(2).chain([1]).collect(), (0..20).collect()]
    {
        let some: Vec<&Shares> = set.iter().rev().map(|&one: &usize| &shares[one]).collect();
        assert_eq!(verification.combine(&contexts(1), &ciphertexts, &some).unwrap().plaintexts, plaintexts);
    }
    for (needed, trustees) in [(0, 3), (4, 3), (1, 0), (3, 21)] {
        assert_eq!(at(deal(&private, needed, trustees)).0, ErrorKind::BadThreshold);
    }
}

#[test]
fn keys_of_other_primes_are_not_shared() {
    let private = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    assert!(!private.has_safe_primes().unwrap(), "one in tens of thousands");
    assert_eq!(at(deal(&private, 2, 3)).0, ErrorKind::NotSafePrimes);
    assert!(dealt().private.has_safe_primes().unwrap());
}

#[test]
fn every_number_of_a_share_counts() {
    let decryption = Decryption::new(&[5, 6, 7, 8]);
    assert_eq!(decryption.verify(&decryption.shares[1]), Ok(()));
    let bytes = decryption.shares[1].to_be_bytes();
    let width = bytes.len() / 4;
    assert_eq!(width, Shares::row_bytes(decryption.dealt.verification.key()));
    // c_i, a, b and z: their first, middle and last bytes.
    for row in [0, 3] {
        for (start, length) in [(0, 128), (128, 128), (256, 128), (384, width - 384)] {
            for byte in [1, length / 2, length - 1] {
                let mut changed = bytes.clone();
                changed[row * width + start + byte] ^= 1;
                let (kind, trustee, found) = at(decryption.verify(&decryption.parse(2, &changed).unwrap()));
                assert_eq!(
                    (kind, trustee, found),
                    (ErrorKind::DoesNotHold, Some(2), Some(row)),
                    "byte {}",
                    start + byte
                );
            }
        }
    }
}

#[test]
fn wrong_shares_are_named_and_left_aside() {
    let decryption = Decryption::new(&[1, 2, 3]);
    let [first, second, third] = [0, 1, 2].map(|one| &decryption.shares[one]);
    let mut bytes = second.to_be_bytes();
    let width = bytes.len() / 3;
    bytes[2 * width + 5] ^= 1;
    let changed = decryption.parse(2, &bytes).unwrap();
    let wrong = ErrorKind::DoesNotHold;

    let (plaintexts, errors) = decryption.combine(&[first, &changed, third]).unwrap();
    assert_eq!(plaintexts, decryption.plaintexts);
    assert_eq!(errors.len(), 1);
    assert_eq!(at::<()>(Err(errors[0].clone())), (wrong.clone(), Some(2), Some(2)));
    assert_eq!(errors[0].to_string(), "trustee 2, row 2: the share is wrong");
    // Without it there are too few shares.
    assert_eq!(at(decryption.combine(&[first, &changed])), (wrong.clone(), Some(2), Some(2)));
    // One of 37 rows.
    let many = Decryption::new(&[9; 37]);
    let mut bytes = many.shares[0].to_be_bytes();
    bytes[23 * width + 300] ^= 1;
    assert_eq!(at(many.verify(&many.parse(1, &bytes).unwrap())), (wrong, Some(1), Some(23)));
}

#[test]
fn a_trustee_counts_once_and_as_itself() {
    let decryption = Decryption::new(&[1, 2]);
    let [first, second] = [0, 1].map(|one| &decryption.shares[one]);
    assert_eq!(at(decryption.combine(&[first, second, first])), (ErrorKind::Twice, Some(1), None));
    assert_eq!(at(decryption.combine(&[first])).0, ErrorKind::TooFew { needed: 2, given: 1 });
    assert_eq!(at(decryption.combine(&[])).0, ErrorKind::TooFew { needed: 2, given: 0 });
    // The same share under another trustee's number, and under an unused number.
    let posing = decryption.parse(2, &first.to_be_bytes()).unwrap();
    assert_eq!(at(decryption.combine(&[first, &posing])), (ErrorKind::DoesNotHold, Some(2), Some(0)));
    for nobody in [0, 4, u32::MAX] {
        let nobody = decryption.parse(nobody, &first.to_be_bytes()).unwrap();
        assert_eq!(at(decryption.verify(&nobody)).0, ErrorKind::NoSuchTrustee { trustees: 3 });
    }
}

#[test]
fn shares_hold_for_their_own_ciphertexts_and_context_only() {
    let decryption = Decryption::new(&[1, 2, 3]);
    let verification = &decryption.dealt.verification;
    let shares = &decryption.shares[0];
    let verify = |contexts: &Contexts| at(verification.verify(contexts, &decryption.ciphertexts, shares));
    let elsewhere = Contexts::new(b"other accounts", ["row 0", "row 1", "row 2"]);
    assert_eq!(verify(&elsewhere), (ErrorKind::DoesNotHold, Some(1), Some(0)));
    let copied = Contexts::new(b"accounts", ["row 0", "row 1", "row 1"]);
    assert_eq!(verify(&copied), (ErrorKind::DoesNotHold, Some(1), Some(2)));
    assert_eq!(verify(&contexts(2)).0, ErrorKind::Lengths { left: 3, right: 2 });
    // Replayed: for other ciphertexts of the same numbers, in other rows, and for only some of
    // them.
    let again = verification.key().rerandomise(&decryption.ciphertexts).unwrap();
    let replayed = verification.verify(&contexts(3), &again, shares);
    assert_eq!(at(replayed), (ErrorKind::DoesNotHold, Some(1), Some(0)));
    let turned = decryption.ciphertexts.select(&[0, 2, 1]).unwrap();
    assert_eq!(at(verification.verify(&contexts(3), &turned, shares)), (ErrorKind::DoesNotHold, Some(1), Some(1)));
    let fewer = decryption.ciphertexts.range(0..2).unwrap();
    let expected = (ErrorKind::Lengths { left: 2, right: 3 }, Some(1), None);
    assert_eq!(at(verification.verify(&contexts(2), &fewer, shares)), expected);
    // Dealing the same key again gives different shares.
    let (other, _) = deal(&decryption.dealt.private, 2, 3).unwrap();
    let found = other.verify(&contexts(3), &decryption.ciphertexts, shares);
    assert_eq!(at(found), (ErrorKind::DoesNotHold, Some(1), Some(0)));
}

#[test]
fn shares_of_another_key_are_refused() {
    let decryption = Decryption::new(&[1]);
    let private = safe(512, Engine::best());
    let (verification, trustees) = deal(&private, 2, 3).unwrap();
    let theirs = verification.key().encrypt(&encode(verification.key(), &[1])).unwrap();
    let (ours, other) = (decryption.dealt.verification.key().id(), verification.key().id());
    let shares = trustees[0].decrypt(&contexts(1), &theirs).unwrap();
    let wrong = ErrorKind::OtherKey { expected: ours, found: other };
    assert_eq!(at(decryption.verify(&shares)), (wrong.clone(), Some(1), None));
    assert_eq!(at(decryption.dealt.verification.verify(&contexts(1), &theirs, &shares)).0, wrong);
    assert_eq!(at(decryption.dealt.trustees[0].decrypt(&contexts(1), &theirs)).0, wrong);
    assert_eq!(
        at(decryption.dealt.trustees[0].decrypt(&contexts(2), &decryption.ciphertexts)).0,
        ErrorKind::Lengths { left: 1, right: 2 }
    );
}

#[test]
fn there_is_one_way_to_write_a_share() {
    let decryption = Decryption::new(&[1]);
    let bytes = decryption.shares[0].to_be_bytes();
    let n = Integer::from_digits(&decryption.dealt.verification.key().modulus_be(), Order::Msf);
    let squared = n.square().to_digits::<u8>(Order::Msf);
    for start in [0, 128, 256] {
        for outside in [vec![0; 128], squared.clone(), vec![0xff; 128]] {
            let mut changed = bytes.clone();
            changed[start..start + 128].copy_from_slice(&outside);
            assert_eq!(at(decryption.parse(1, &changed)), (ErrorKind::OutOfRange, Some(1), Some(0)));
        }
    }
    let width = bytes.len();
    let kind = ErrorKind::Width { width, bytes: width + 1 };
    assert_eq!(at(decryption.parse(1, &[&bytes[..], &[0]].concat())).0, kind);
    // Not a unit: a multiple of a prime factor, which only the key's owner can make.
    let p = Integer::from_digits(decryption.dealt.private.primes()[0], Order::Lsf).to_digits::<u8>(Order::Msf);
    for start in [0, 128, 256] {
        let mut changed = bytes.clone();
        changed[start..start + 128].fill(0);
        changed[start + 128 - p.len()..start + 128].copy_from_slice(&p);
        let found = decryption.verify(&decryption.parse(1, &changed).unwrap());
        assert_eq!(at(found), (ErrorKind::OutOfRange, Some(1), Some(0)));
    }
    // An answer with too many bits: with a 130-bit key, its first byte has four unused bits.
    let private = safe(130, Engine::best());
    let (verification, trustees) = deal(&private, 1, 1).unwrap();
    let key = verification.key();
    let shares = trustees[0].decrypt(&contexts(1), &key.encrypt(&encode(key, &[1])).unwrap()).unwrap();
    let mut bytes = shares.to_be_bytes();
    let first = bytes.len() - (2 * 130_usize + 512).div_ceil(8);
    assert_eq!(Shares::from_be_bytes(key, 1, &bytes), Ok(shares));
    bytes[first] |= 16;
    assert_eq!(at(Shares::from_be_bytes(key, 1, &bytes)), (ErrorKind::OutOfRange, Some(1), Some(0)));
}

#[test]
fn no_ciphertext_that_is_no_unit_is_decrypted() {
    let decryption = Decryption::new(&[1, 2]);
    let (dealt, key) = (decryption.dealt, decryption.dealt.verification.key());
    let q = Integer::from_digits(dealt.private.primes()[1], Order::Lsf).to_digits::<u8>(Order::Msf);
    let mut bytes = decryption.ciphertexts.to_be_bytes();
    bytes[128..].fill(0);
    bytes[256 - q.len()..].copy_from_slice(&q);
    let bad = key.ciphertexts_from_be(&bytes).unwrap();
    let kind = ErrorKind::Scheme(hearith_paillier::ErrorKind::CiphertextSharesFactor);
    assert_eq!(at(dealt.trustees[0].decrypt(&contexts(2), &bad)), (kind.clone(), None, Some(1)));
    assert_eq!(at(dealt.verification.verify(&contexts(2), &bad, &decryption.shares[0])), (kind, None, Some(1)));
}

/// A proof also holds for a share times a square root of 1, which combining removes by squaring.
#[test]
fn a_square_root_of_1_changes_nothing() {
    let decryption = Decryption::new(&[41]);
    let (key, honest) = (decryption.dealt.verification.key(), decryption.shares[0].to_be_bytes());
    let squared = Integer::from_digits(&key.modulus_be(), Order::Msf).square();
    let json: serde_json::Value = serde_json::from_str(&decryption.dealt.trustees[0].to_json()).unwrap();
    let number = |value: &serde_json::Value| Base64UrlUnpadded::decode_vec(value.as_str().unwrap()).unwrap();
    let exponent = Integer::from_digits(&number(&json["s"]), Order::Msf) * 6u32;

    let wide = |number: &Integer, width: usize| {
        let digits = number.to_digits::<u8>(Order::Msf);
        [vec![0; width - digits.len()], digits].concat()
    };
    let [v, v_i] = [number(&json["shared"]["v"]), number(&json["shared"]["v_i"][0])];
    let c = decryption.ciphertexts.to_be_bytes();
    let power = |base: &[u8], exponent: Integer| {
        wide(&Integer::from_digits(base, Order::Msf).pow_mod(&exponent, &squared).unwrap(), 128)
    };
    let rho: Integer = Integer::from(123_456_789) << 1400;
    let minus = wide(&(squared.clone() - Integer::from_digits(&honest[..128], Order::Msf)), 128);
    let (a, b) = (power(&c, rho.clone() * 4u32), power(&v, rho.clone()));
    let counters: Vec<u8> = [2_u32, 3, 1].iter().flat_map(|number| number.to_be_bytes()).collect();
    let parts: [&[u8]; 10] = [b"accounts", b"row 0", &key.modulus_be(), &counters, &v, &v_i, &c, &minus, &a, &b];
    let transcript = parts.iter().fold(Transcript::new("share"), |transcript, part| transcript.with(part));
    let z = rho + Integer::from_digits(&transcript.challenge(), Order::Msf) * exponent;
    let bytes = [minus, a, b, wide(&z, honest.len() - 384)].concat();

    let changed = decryption.parse(1, &bytes).unwrap();
    assert_eq!(decryption.verify(&changed), Ok(()));
    assert_eq!(decryption.combine(&[&decryption.shares[2], &changed]), Ok((decryption.plaintexts.clone(), vec![])));
}

#[test]
fn nothing_is_decrypted_of_nothing() {
    let decryption = Decryption::new(&[]);
    let (plaintexts, wrong) = decryption.combine(&[&decryption.shares[0], &decryption.shares[2]]).unwrap();
    assert!(plaintexts.is_empty() && wrong.is_empty() && decryption.shares[0].is_empty());
}

#[test]
fn a_verification_of_another_sharing_does_not_combine() {
    // A key for two of three whose file claims that one is enough.
    let decryption = Decryption::new(&[1]);
    let json = decryption.dealt.verification.to_json().replace("\"needed\":2", "\"needed\":1");
    let found = VerificationKeys::from_json(&json, KeyPolicy::AllowInsecure, Engine::best());
    assert_eq!(at(found).0, ErrorKind::NotDealt { first: 1, last: 1 });
    // A file that requires more trustees than the dealer specified belongs to the same key, but
    // shares are hashed with the threshold.
    let json = decryption.dealt.verification.to_json().replace("\"needed\":2", "\"needed\":3");
    let changed = VerificationKeys::from_json(&json, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let found = changed.combine(&contexts(1), &decryption.ciphertexts, &decryption.shares.iter().collect::<Vec<_>>());
    assert_eq!(at(found), (ErrorKind::DoesNotHold, Some(1), Some(0)));
}
