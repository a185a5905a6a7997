//! Proofs through the public interface: which proofs hold, and which must not.

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Openings, Plaintexts, PrivateKey, PublicKey, Variant};
use hearith_proofs::{Contexts, Error, ErrorKind, Form, Transcript, membership, residue, roots, totals};
use rug::{Integer, integer::Order};
use std::sync::OnceLock;

/// One key for all tests that modify proofs.
fn private() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap())
}

fn encode(key: &PublicKey, numbers: &[i128]) -> Plaintexts {
    encode_signed(key, numbers).unwrap()
}

fn contexts(rows: usize) -> Contexts {
    Contexts::new(b"election", (0..rows).map(|row| format!("ballot {row}")))
}

fn at(result: Result<(), Error>) -> (ErrorKind, Option<usize>) {
    let error = result.expect_err("a proof that must not hold");
    (error.kind().clone(), error.row())
}

/// Votes for one of a set, encrypted and proved.
struct Votes {
    key: &'static PublicKey,
    set: Plaintexts,
    ciphertexts: Ciphertexts,
    openings: Openings,
    proofs: membership::Proofs,
}

impl Votes {
    fn new(chosen: &[usize]) -> Self {
        let key = private().public();
        let numbers = [0, 1];
        let set = encode(key, &numbers);
        let votes: Vec<i128> = chosen.iter().map(|&one| numbers[one]).collect();
        let (ciphertexts, openings) = key.encrypt_opened(&encode(key, &votes)).unwrap();
        let proofs = membership::prove(key, &contexts(chosen.len()), &set, &ciphertexts, &openings, chosen).unwrap();
        Votes { key, set, ciphertexts, openings, proofs }
    }

    fn verify(&self, contexts: &Contexts, proofs: &membership::Proofs) -> Result<(), Error> {
        membership::verify(self.key, contexts, &self.set, &self.ciphertexts, proofs)
    }

    fn parse(&self, bytes: &[u8]) -> Result<membership::Proofs, Error> {
        membership::Proofs::from_be_bytes(self.key, Form::Openings, 2, bytes)
    }
}

#[test]
fn members_of_sets_are_proved_on_every_engine() {
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        for variant in [Variant::Standard, Variant::Djn] {
            let private = PrivateKey::generate(512, variant, KeyPolicy::AllowInsecure, engine).unwrap();
            let key = private.public();
            for set in [vec![5], vec![0, 1], vec![1, 1_000_001, 1_000_002_000_001], vec![-1, 0, 1, 2, 3]] {
                let chosen: Vec<usize> = (0..11).map(|row| row * 7 % set.len()).collect();
                let votes: Vec<i128> = chosen.iter().map(|&one| set[one]).collect();
                let (ciphertexts, openings) = key.encrypt_opened(&encode(key, &votes)).unwrap();
                let set = encode(key, &set);
                let proofs = membership::prove(key, &contexts(11), &set, &ciphertexts, &openings, &chosen).unwrap();
                let bytes = proofs.to_be_bytes();
                assert_eq!(bytes.len(), 11 * membership::Proofs::row_bytes(key, Form::Openings, set.len()));
                let proofs = membership::Proofs::from_be_bytes(key, Form::Openings, set.len(), &bytes).unwrap();
                assert_eq!(membership::verify(key, &contexts(11), &set, &ciphertexts, &proofs), Ok(()), "{engine}");
            }
        }
    }
}

/// An answer and its negative satisfy the same squared equation. Only the smaller one is made and
/// accepted.
#[test]
fn of_an_answer_and_its_negative_one_is_taken() {
    let votes = Votes::new(&[0, 1, 1, 0, 1, 0, 0, 1]);
    let (key, n) = (votes.key, Integer::from_digits(&votes.key.modulus_be(), Order::Msf));
    let half: Integer = Integer::from(&n - 1) / 2;
    let residue = residue::prove(
        key,
        &contexts(8),
        &key.encrypt_with_openings(&encode(key, &[0; 8]), &votes.openings).unwrap(),
        &votes.openings,
    )
    .unwrap();
    type Read = fn(&PublicKey, &[u8]) -> Result<(), Error>;
    let read_residue: Read = |key, bytes| residue::Proofs::from_be_bytes(key, Form::Openings, bytes).map(drop);
    let read_membership: Read = |key, bytes| membership::Proofs::from_be_bytes(key, Form::Openings, 2, bytes).map(drop);
    // The bytes of the proofs, the length of a row, and the offset of an answer in it.
    for (bytes, width, before, read) in
        [(residue.to_be_bytes(), 192, 128, read_residue), (votes.proofs.to_be_bytes(), 224, 160, read_membership)]
    {
        assert_eq!(read(key, &bytes), Ok(()));
        let sides = bytes.len() / width / 8;
        for side in 0..bytes.len() / width {
            let range = side * width + before..(side + 1) * width;
            let answer = Integer::from_digits(&bytes[range.clone()], Order::Msf);
            assert!(answer <= half, "{answer} of {n}");
            let mut other = bytes.clone();
            let negative = Integer::from(&n - &answer).to_digits::<u8>(Order::Msf);
            other[range.clone()].fill(0);
            other[range.end - negative.len()..range.end].copy_from_slice(&negative);
            assert_eq!(at(read(key, &other)), (ErrorKind::OutOfRange, Some(side / sides)));
        }
    }
    let most = half.to_digits::<u8>(Order::Msf);
    let mut bytes = residue.to_be_bytes();
    bytes[128..192].copy_from_slice(&most);
    assert_eq!(read_residue(key, &bytes), Ok(()), "the greatest that is taken");
}

/// Keys whose square has one limb fewer than twice the key's limbs.
#[test]
fn keys_of_any_length_have_proofs() {
    for bits in [130, 160, 322] {
        let private = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let key = private.public();
        let (ciphertexts, openings) = key.encrypt_opened(&encode(key, &[0, 0])).unwrap();
        let proofs = residue::prove(key, &contexts(2), &ciphertexts, &openings).unwrap();
        assert_eq!(residue::verify(key, &contexts(2), &ciphertexts, &proofs), Ok(()), "{bits} bits");
    }
}

#[test]
fn every_number_of_a_proof_counts() {
    let votes = Votes::new(&[0, 1, 1, 0]);
    let bytes = votes.proofs.to_be_bytes();
    let width = membership::Proofs::row_bytes(votes.key, Form::Openings, 2);
    // A, e and z of both sides: their first, middle and last bytes.
    for row in [0, 3] {
        for side in 0..2 {
            for (start, length) in [(0, 128), (128, 32), (160, 64)] {
                for byte in [0, length / 2, length - 1] {
                    let mut changed = bytes.clone();
                    changed[row * width + side * width / 2 + start + byte] ^= 1;
                    let found = votes.parse(&changed).and_then(|proofs| votes.verify(&contexts(4), &proofs));
                    let (kind, found) = at(found);
                    assert!(matches!(kind, ErrorKind::DoesNotHold | ErrorKind::OutOfRange), "{kind}");
                    assert_eq!(found, Some(row), "side {side}, byte {}", start + byte);
                }
            }
        }
    }
}

#[test]
fn proofs_hold_in_their_own_context_only() {
    let votes = Votes::new(&[0, 1, 1]);
    assert_eq!(votes.verify(&contexts(3), &votes.proofs), Ok(()));
    let elsewhere = Contexts::new(b"another election", ["ballot 0", "ballot 1", "ballot 2"]);
    assert_eq!(at(votes.verify(&elsewhere, &votes.proofs)), (ErrorKind::DoesNotHold, Some(0)));
    let copied = Contexts::new(b"election", ["ballot 0", "ballot 1", "ballot 1"]);
    assert_eq!(at(votes.verify(&copied, &votes.proofs)), (ErrorKind::DoesNotHold, Some(2)));
    // The proof of another ballot.
    let bytes = votes.proofs.to_be_bytes();
    let width = bytes.len() / 3;
    let swapped = [&bytes[..width], &bytes[2 * width..], &bytes[width..2 * width]].concat();
    let swapped = votes.parse(&swapped).unwrap();
    assert_eq!(at(votes.verify(&contexts(3), &swapped)), (ErrorKind::DoesNotHold, Some(1)));
}

#[test]
fn other_votes_have_no_proof() {
    let key = private().public();
    let set = encode(key, &[0, 1]);
    let (ciphertexts, openings) = key.encrypt_opened(&encode(key, &[1, 2, 0])).unwrap();
    for claimed in [[1, 0, 0], [1, 1, 0]] {
        let proofs = membership::prove(key, &contexts(3), &set, &ciphertexts, &openings, &claimed).unwrap();
        let found = membership::verify(key, &contexts(3), &set, &ciphertexts, &proofs);
        assert_eq!(at(found), (ErrorKind::DoesNotHold, Some(1)));
    }
    // A set that contains the number but differs from the verifier's, and the verifier's set with
    // other openings.
    let wrong =
        membership::prove(key, &contexts(3), &encode(key, &[0, 2]), &ciphertexts, &openings, &[1, 0, 0]).unwrap();
    assert_eq!(at(membership::verify(key, &contexts(3), &set, &ciphertexts, &wrong)).1, Some(0));
    let others = key.openings(3).unwrap();
    let wrong = membership::prove(key, &contexts(3), &set, &ciphertexts, &others, &[1, 0, 0]).unwrap();
    assert_eq!(at(membership::verify(key, &contexts(3), &set, &ciphertexts, &wrong)).1, Some(0));
}

#[test]
fn one_wrong_row_is_found_among_many() {
    let mut chosen = vec![1; 37];
    let votes = Votes::new(&chosen);
    chosen[23] = 0;
    let wrong =
        membership::prove(votes.key, &contexts(37), &votes.set, &votes.ciphertexts, &votes.openings, &chosen).unwrap();
    assert_eq!(at(votes.verify(&contexts(37), &wrong)), (ErrorKind::DoesNotHold, Some(23)));
    // A row that the equation rejects, before one that the hash rejects.
    let mut bytes = wrong.to_be_bytes();
    let width = bytes.len() / 37;
    bytes[30 * width + 130] ^= 1;
    assert_eq!(at(votes.verify(&contexts(37), &votes.parse(&bytes).unwrap())), (ErrorKind::DoesNotHold, Some(23)));
}

#[test]
fn there_is_one_way_to_write_a_proof() {
    let votes = Votes::new(&[1]);
    let bytes = votes.proofs.to_be_bytes();
    let n = votes.key.modulus_be();
    let squared = rug::Integer::from_digits(&n, rug::integer::Order::Msf).square();
    let squared = squared.to_digits::<u8>(rug::integer::Order::Msf);
    for (start, outside) in [(0, vec![0; 128]), (0, squared), (160, vec![0; 64]), (160, n)] {
        let mut changed = bytes.clone();
        changed[start..start + outside.len()].copy_from_slice(&outside);
        assert_eq!(at(votes.parse(&changed).map(|_| ())), (ErrorKind::OutOfRange, Some(0)));
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(at(votes.parse(&longer).map(|_| ())).0, ErrorKind::Width { width: 448, bytes: 449 });
    assert_eq!(
        at(membership::Proofs::from_be_bytes(votes.key, Form::Openings, 0, &[]).map(|_| ())).0,
        ErrorKind::BadSet
    );
    // A commitment that is not a unit: a multiple of a prime factor, which only the key's owner can
    // make.
    let p = rug::Integer::from_digits(private().primes()[0], rug::integer::Order::Lsf)
        .to_digits::<u8>(rug::integer::Order::Msf);
    let mut changed = bytes.clone();
    changed[..128].fill(0);
    changed[128 - p.len()..128].copy_from_slice(&p);
    assert_eq!(at(votes.verify(&contexts(1), &votes.parse(&changed).unwrap())), (ErrorKind::OutOfRange, Some(0)));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let votes = Votes::new(&[0, 1]);
    let (key, two) = (votes.key, contexts(2));
    let prove = |set: &Plaintexts, chosen: &[usize], contexts: &Contexts| {
        at(membership::prove(key, contexts, set, &votes.ciphertexts, &votes.openings, chosen).map(|_| ())).0
    };
    assert_eq!(prove(&votes.set, &[0, 2], &two), ErrorKind::NoSuchNumber { numbers: 2 });
    assert_eq!(prove(&votes.set, &[0], &two), ErrorKind::Lengths { left: 2, right: 1 });
    assert_eq!(prove(&votes.set, &[0, 1], &contexts(3)), ErrorKind::Lengths { left: 2, right: 3 });
    assert_eq!(prove(&encode(key, &[]), &[0, 0], &two), ErrorKind::BadSet);
    assert_eq!(prove(&encode(key, &[4, 7, 4]), &[0, 1], &two), ErrorKind::BadSet);
    let other = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    assert!(matches!(prove(&encode(other.public(), &[0, 1]), &[0, 1], &two), ErrorKind::Scheme(_)));
    let three = encode(key, &[0, 1, 2]);
    let found = membership::verify(key, &two, &three, &votes.ciphertexts, &votes.proofs);
    assert_eq!(at(found).0, ErrorKind::Lengths { left: 3, right: 2 });
    let turned = encode(key, &[1, 0]);
    assert_eq!(at(membership::verify(key, &two, &turned, &votes.ciphertexts, &votes.proofs)).1, Some(0));
}

#[test]
fn totals_are_proved_exactly_and_at_most() {
    let key = private().public();
    // Two ballots of four candidates, with two and three marks.
    let (ciphertexts, openings) = key.encrypt_opened(&encode(key, &[1, 0, 1, 0, 1, 1, 0, 1])).unwrap();
    let groups: Vec<Vec<u32>> = vec![(0..4).collect(), (4..8).collect()];
    let exactly = |sums: &[i128], claimed: &[i128]| {
        let proofs =
            totals::prove_exactly(key, &contexts(2), &ciphertexts, &openings, &groups, &encode(key, sums)).unwrap();
        totals::verify_exactly(key, &contexts(2), &ciphertexts, &groups, &encode(key, claimed), &proofs)
    };
    assert_eq!(exactly(&[2, 3], &[2, 3]), Ok(()));
    assert_eq!(at(exactly(&[2, 2], &[2, 2])), (ErrorKind::DoesNotHold, Some(1)));
    assert_eq!(at(exactly(&[2, 3], &[3, 3])), (ErrorKind::DoesNotHold, Some(0)));
    let at_most = |most: u32, sums: &[usize]| {
        let proofs = totals::prove_at_most(key, &contexts(2), &ciphertexts, &openings, &groups, most, sums).unwrap();
        totals::verify_at_most(key, &contexts(2), &ciphertexts, &groups, most, &proofs)
    };
    assert_eq!(at_most(3, &[2, 3]), Ok(()));
    assert_eq!(at(at_most(2, &[2, 2])), (ErrorKind::DoesNotHold, Some(1)));
}

#[test]
fn residues_are_proved_and_nothing_else() {
    let key = private().public();
    let (numbers, openings) = key.encrypt_opened(&encode(key, &[0, 0, 1])).unwrap();
    let proofs = residue::prove(key, &contexts(3), &numbers, &openings).unwrap();
    assert_eq!(at(residue::verify(key, &contexts(3), &numbers, &proofs)), (ErrorKind::DoesNotHold, Some(2)));
    let two = |batch: &Ciphertexts| batch.range(0..2).unwrap();
    let proofs = residue::Proofs::from_be_bytes(
        key,
        Form::Openings,
        &proofs.to_be_bytes()[..2 * residue::Proofs::row_bytes(key, Form::Openings)],
    )
    .unwrap();
    assert_eq!(residue::verify(key, &contexts(2), &two(&numbers), &proofs), Ok(()));
    assert_eq!(at(residue::verify(key, &contexts(2), &numbers, &proofs)).0, ErrorKind::Lengths { left: 3, right: 2 });
    assert_eq!(residue::Proofs::from_be_bytes(key, Form::Openings, &[]).map(|proofs| proofs.is_empty()), Ok(true));
    assert_eq!(
        residue::verify(
            key,
            &contexts(0),
            &numbers.range(0..0).unwrap(),
            &residue::Proofs::from_be_bytes(key, Form::Openings, &[]).unwrap()
        ),
        Ok(())
    );
}

/// Someone who knows a factor `p` can make every number divisible by it. Then 0 = 0 holds modulo
/// `p^2` for all exponents, together with a valid proof modulo `q^2`.
#[test]
fn numbers_that_share_a_factor_are_found_in_a_batch() {
    let (key, rows, bad) = (private().public(), 40, 29);
    let (numbers, openings) = key.encrypt_opened(&encode(key, &[0; 40])).unwrap();
    let [p, n] = [private().primes()[0], key.root().as_limbs()].map(|one| Integer::from_digits(one, Order::Lsf));
    let (width, half) = (key.ciphertext_bytes(), key.plaintext_bytes());
    let proofs = residue::prove(key, &contexts(rows), &numbers, &openings).unwrap().to_be_bytes();
    let number = |bytes: &[u8]| Integer::from_digits(bytes, Order::Msf);
    let bytes = |number: &Integer, width: usize| {
        let digits = number.to_digits::<u8>(Order::Msf);
        [vec![0; width - digits.len()], digits].concat()
    };
    // p (p^-1 mod q) is 0 modulo p and 1 modulo q. The same holds for the squares of p and q.
    let q = n.clone() / &p;
    let kill = |p: Integer, q: &Integer| p.clone() * p.invert(q).unwrap();
    let squared = n.clone().square();
    let at_square = |x: Integer| x * kill(p.clone().square(), &q.clone().square()) % &squared;
    let rho = Integer::from(1_234_567);
    let (u, a) = (
        at_square(number(&numbers.to_be_bytes()[bad * width..][..width])),
        at_square(rho.clone().pow_mod(&n, &squared).unwrap()),
    );
    let [u_bytes, a_bytes] = [&u, &a].map(|one| bytes(one, width));
    let transcript = Transcript::new("residue").with(b"election").with(format!("ballot {bad}").as_bytes());
    let e = number(&transcript.with(&key.modulus_be()).with(&u_bytes).with(&a_bytes).challenge());
    let r = number(&openings.to_be_bytes()[bad * half..][..half]);
    let z = rho * r.pow_mod(&e, &n).unwrap() * kill(p.clone(), &q) % &n;
    assert_eq!(
        z.clone().pow_mod(&n, &squared).unwrap(),
        a * u.pow_mod(&e, &squared).unwrap() % &squared,
        "it is forged well"
    );
    // The smaller of an answer and its negative is accepted.
    let z = z.clone().min(n.clone() - z);

    let (mut forged, mut statement) = (proofs.clone(), numbers.to_be_bytes());
    statement[bad * width..][..width].copy_from_slice(&u_bytes);
    forged[bad * (width + half)..][..width + half].copy_from_slice(&[a_bytes, bytes(&z, half)].concat());
    let verify = |statement: &[u8], proofs: &[u8]| {
        let proofs = residue::Proofs::from_be_bytes(key, Form::Openings, proofs)?;
        residue::verify(key, &contexts(rows), &key.ciphertexts_from_be(statement).unwrap(), &proofs)
    };
    assert_eq!(verify(&numbers.to_be_bytes(), &proofs), Ok(()));
    let (kind, row) = at(verify(&statement, &forged));
    let shares = ErrorKind::Scheme(hearith_paillier::ErrorKind::CiphertextSharesFactor);
    assert_eq!((kind, row), (shares, Some(bad)));
}

#[test]
fn keys_are_proved_by_roots() {
    let (key, other) =
        (private(), PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap());
    let proof = roots::prove(key).unwrap();
    assert_eq!(roots::verify(key.public(), &proof), Ok(()));
    assert_eq!(at(roots::verify(other.public(), &proof)).0, ErrorKind::DoesNotHold);
    let mut bytes = proof.to_be_bytes();
    bytes[5 * 64 + 63] ^= 1;
    let changed = key.public().openings_from_be(&bytes).unwrap();
    assert_eq!(at(roots::verify(key.public(), &changed)), (ErrorKind::DoesNotHold, Some(5)));
    assert_eq!(at(roots::verify(key.public(), &proof.range(0..10).unwrap())).0, ErrorKind::DoesNotHold);
}

/// Keys that are products of two primes, both 3 modulo 4.
mod blum {
    use super::*;
    use hearith_proofs::blum::{ROUNDS, prove, verify};

    /// The numbers requested from a key, as documented.
    fn asked(n: &Integer) -> Vec<Integer> {
        let bytes = n.to_digits::<u8>(Order::Msf);
        let number = |index: u32| {
            let block = |block: u32| {
                let counters = [index.to_be_bytes(), block.to_be_bytes()].concat();
                Transcript::new("blum").with(&bytes).with(&counters).challenge()
            };
            let digits: Vec<u8> = (0..).flat_map(block).take(bytes.len() + 16).collect();
            Integer::from_digits(&digits, Order::Msf) % n
        };
        (0..ROUNDS as u32).map(number).collect()
    }

    /// `y`, `w y`, `-y`, `-w y`.
    fn candidates(y: &Integer, n: &Integer) -> [Integer; 4] {
        let w = (2..).map(Integer::from).find(|w| w.jacobi(n) == -1).unwrap();
        let multiple = w * y % n;
        [y.clone(), multiple.clone(), n.clone() - y, n.clone() - multiple]
    }

    /// Primes with this many bits and this remainder modulo 8.
    fn primes(bits: u32, rest: u32, count: usize) -> Vec<Integer> {
        let mut prime = Integer::from(7) << (bits - 3);
        let mut next = || {
            prime.next_prime_mut();
            prime.clone()
        };
        std::iter::from_fn(|| Some(next())).filter(|prime| prime.mod_u(8) == rest).take(count).collect()
    }

    /// A square root modulo a prime that is 3, 5 or 7 modulo 8.
    fn root(y: &Integer, p: &Integer) -> Option<Integer> {
        let pow = |base: &Integer, exponent: Integer| base.clone().pow_mod(&exponent, p).unwrap();
        let found = match p.mod_u(8) {
            5 => {
                let found = pow(y, (p.clone() + 3u32) / 8);
                let turn = pow(&Integer::from(2), (p.clone() - 1u32) / 4);
                if (found.clone().square() - y).is_divisible(p) { found } else { found * turn % p }
            }
            _ => pow(y, (p.clone() + 1u32) / 4),
        };
        (found.clone().square() - y).is_divisible(p).then_some(found)
    }

    /// The best proof that a prover can make for a product of these primes, and how many of the
    /// requested numbers have a root.
    fn best_proof(primes: &[Integer]) -> (PublicKey, Openings, usize) {
        let n = primes.iter().fold(Integer::from(1), |product, prime| product * prime);
        let width = n.significant_digits::<u8>();
        let of_candidate = |x: &Integer| {
            let parts = primes.iter().map(|p| {
                let others = n.clone() / p;
                let inverse = others.clone().invert(p).unwrap();
                Some(root(x, p)? * inverse * others)
            });
            parts.sum::<Option<Integer>>().map(|sum| sum % &n)
        };
        let roots: Vec<Option<Integer>> =
            asked(&n).iter().map(|y| candidates(y, &n).iter().find_map(of_candidate)).collect();
        let key =
            PublicKey::new(&n.to_digits::<u8>(Order::Msf), None, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let bytes = roots.iter().flat_map(|root| {
            let digits = root.clone().unwrap_or(Integer::from(7)).to_digits::<u8>(Order::Msf);
            [vec![0; width - digits.len()], digits].concat()
        });
        let proof = key.openings_from_be(&bytes.collect::<Vec<u8>>()).unwrap();
        (key, proof, roots.iter().flatten().count())
    }

    fn private_of(primes: &[Integer], engine: Engine) -> PrivateKey {
        let [p, q] = [0, 1].map(|one| primes[one].to_digits::<u8>(Order::Msf));
        PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine).unwrap()
    }

    #[test]
    fn products_of_two_primes_that_are_3_modulo_4_are_proved_on_every_engine() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            for rests in [[3, 3], [3, 7], [7, 7]] {
                let mut both = primes(256, rests[0], 1);
                both.push(primes(256, rests[1], 2).pop().unwrap());
                let key = private_of(&both, engine);
                let proof = prove(&key).unwrap();
                assert_eq!(verify(key.public(), &proof), Ok(()), "{rests:?}, {engine}");
                // Two different roots of one number would leak the key.
                assert_eq!(prove(&key).unwrap(), proof);
                let n = Integer::from_digits(key.public().root().as_limbs(), Order::Lsf);
                for (root, y) in proof.batch().rows().zip(asked(&n)) {
                    let root = Integer::from_digits(root, Order::Lsf);
                    assert!(candidates(&y, &n).contains(&(root.clone().square() % &n)));
                    assert!(both.iter().all(|p| root.legendre(p) == 1), "a square itself");
                }
            }
        }
    }

    #[test]
    fn other_numbers_have_no_proof() {
        for (primes, what) in [
            (primes(256, 5, 2), "two primes that are 1 modulo 4"),
            (primes(128, 3, 4), "four primes"),
            ([primes(128, 7, 2), primes(256, 5, 1)].concat(), "three primes"),
        ] {
            let (key, proof, roots) = best_proof(&primes);
            // At most half of the numbers, within statistical variation.
            assert!((8..ROUNDS * 3 / 4).contains(&roots), "{what}: {roots}");
            let (kind, row) = at(verify(&key, &proof));
            assert!(kind == ErrorKind::DoesNotHold && row.is_some(), "{what}: {kind}, {row:?}");
        }
        let (key, proof, roots) = best_proof(&primes(256, 3, 2));
        assert_eq!((roots, verify(&key, &proof)), (ROUNDS, Ok(())), "the prover is a good one");
        // A number that is 3 modulo 4 is not a product of two such primes.
        let mixed = [primes(256, 3, 1), primes(256, 5, 1)].concat();
        assert_eq!(at(verify(&best_proof(&mixed).0, &best_proof(&mixed).1)), (ErrorKind::DoesNotHold, None));
        let found = prove(&private_of(&primes(256, 5, 2), Engine::best()));
        assert_eq!(at(found.map(drop)).0, ErrorKind::NotBlum);
    }

    #[test]
    fn every_root_counts() {
        let (key, other) =
            (private_of(&primes(256, 3, 2), Engine::best()), private_of(&primes(256, 7, 2), Engine::best()));
        let proof = prove(&key).unwrap();
        assert_eq!(at(verify(other.public(), &proof)).0, ErrorKind::DoesNotHold);
        for row in [0, 77, ROUNDS - 1] {
            let mut bytes = proof.to_be_bytes();
            bytes[row * 64 + 63] ^= 1;
            let changed = key.public().openings_from_be(&bytes).unwrap();
            assert_eq!(at(verify(key.public(), &changed)), (ErrorKind::DoesNotHold, Some(row)));
        }
        assert_eq!(at(verify(key.public(), &proof.range(0..ROUNDS - 1).unwrap())), (ErrorKind::DoesNotHold, None));
    }
}

/// Fast ballots: the same proofs with exponents as openings.
mod short {
    use super::*;
    use hearith_paillier::ShortOpenings;

    fn form(key: &PublicKey) -> Form {
        Form::Short { bits: key.short_bits() }
    }

    fn votes(key: &PublicKey, numbers: &[i128]) -> (Ciphertexts, ShortOpenings) {
        key.encrypt_opened_short(&encode(key, numbers)).unwrap()
    }

    #[test]
    fn members_residues_and_totals_are_proved_on_every_engine() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let private = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, engine).unwrap();
            let key = private.public();
            let set = encode(key, &[-1, 0, 1_000_001]);
            let chosen: Vec<usize> = (0..11).map(|row| row * 7 % 3).collect();
            let numbers: Vec<i128> = chosen.iter().map(|&one| [-1, 0, 1_000_001][one]).collect();
            let (ciphertexts, openings) = votes(key, &numbers);
            let proofs = membership::prove(key, &contexts(11), &set, &ciphertexts, &openings, &chosen).unwrap();
            let bytes = proofs.to_be_bytes();
            assert_eq!(bytes.len(), 11 * membership::Proofs::row_bytes(key, form(key), 3));
            let proofs = membership::Proofs::from_be_bytes(key, form(key), 3, &bytes).unwrap();
            assert_eq!(proofs.to_be_bytes(), bytes);
            assert_eq!(membership::verify(key, &contexts(11), &set, &ciphertexts, &proofs), Ok(()), "{engine}");

            let groups = [(0..4).collect::<Vec<u32>>(), (4..9).collect()];
            let (ciphertexts, openings) = votes(key, &[1, 0, 1, 0, 1, 1, 0, 0, 1]);
            let totals = encode(key, &[2, 3]);
            let exactly = totals::prove_exactly(key, &contexts(2), &ciphertexts, &openings, &groups, &totals).unwrap();
            let read = Form::Short { bits: key.short_bits() + 3 };
            let exactly = residue::Proofs::from_be_bytes(key, read, &exactly.to_be_bytes()).unwrap();
            let found = totals::verify_exactly(key, &contexts(2), &ciphertexts, &groups, &totals, &exactly);
            assert_eq!(found, Ok(()), "{engine}");
            let wrong = encode(key, &[2, 2]);
            let found = totals::verify_exactly(key, &contexts(2), &ciphertexts, &groups, &wrong, &exactly);
            assert_eq!(at(found), (ErrorKind::DoesNotHold, Some(1)));
            let prove = |sums: &[usize]| {
                totals::prove_at_most(key, &contexts(2), &ciphertexts, &openings, &groups, 3, sums).unwrap()
            };
            let verify = |proofs| totals::verify_at_most(key, &contexts(2), &ciphertexts, &groups, 3, &proofs);
            assert_eq!(verify(prove(&[2, 3])), Ok(()));
            assert_eq!(at(verify(prove(&[2, 2]))), (ErrorKind::DoesNotHold, Some(1)));
        }
    }

    #[test]
    fn other_votes_have_no_proof_and_every_byte_counts() {
        let key = private().public();
        let set = encode(key, &[0, 1]);
        let (ciphertexts, openings) = votes(key, &[1, 2, 0]);
        let prove = |openings: &ShortOpenings, claimed: &[usize]| {
            membership::prove(key, &contexts(3), &set, &ciphertexts, openings, claimed).unwrap()
        };
        let verify = |proofs: &membership::Proofs, contexts: &Contexts| {
            membership::verify(key, contexts, &set, &ciphertexts, proofs)
        };
        for claimed in [[1, 0, 0], [1, 1, 0]] {
            let found = verify(&prove(&openings, &claimed), &contexts(3));
            assert_eq!(at(found), (ErrorKind::DoesNotHold, Some(1)));
        }
        let others = key.short_openings(3, key.short_bits()).unwrap();
        assert_eq!(at(verify(&prove(&others, &[1, 0, 0]), &contexts(3))).1, Some(0));

        let (ciphertexts, openings) = votes(key, &[1, 0]);
        let proofs = membership::prove(key, &contexts(2), &set, &ciphertexts, &openings, &[1, 0]).unwrap();
        let verify = |bytes: &[u8], contexts: &Contexts| {
            let proofs = membership::Proofs::from_be_bytes(key, form(key), 2, bytes)?;
            membership::verify(key, contexts, &set, &ciphertexts, &proofs)
        };
        let bytes = proofs.to_be_bytes();
        assert_eq!(verify(&bytes, &contexts(2)), Ok(()));
        let copied = Contexts::new(b"election", ["ballot 0", "ballot 0"]);
        assert_eq!(at(verify(&bytes, &copied)), (ErrorKind::DoesNotHold, Some(1)));
        let side = bytes.len() / 4;
        for byte in [0, 127, 128, 159, 160, side / 2, side - 1] {
            for (row, at_side) in [(0, 0), (0, 1), (1, 1)] {
                let mut changed = bytes.clone();
                changed[(2 * row + at_side) * side + byte] ^= 1;
                let (kind, found) = at(verify(&changed, &contexts(2)));
                assert!(matches!(kind, ErrorKind::DoesNotHold | ErrorKind::OutOfRange), "{kind}");
                assert_eq!(found, Some(row), "byte {byte}");
            }
        }
    }

    #[test]
    fn forms_are_not_taken_for_each_other_and_bounds_are_kept() {
        let key = private().public();
        let (numbers, openings) = votes(key, &[0, 0]);
        let bytes = residue::prove(key, &contexts(2), &numbers, &openings).unwrap().to_be_bytes();
        let width = residue::Proofs::row_bytes(key, form(key));
        // z has 256 + 384 + 1 bits: in 81 bytes the 7 highest bits are 0.
        assert_eq!(width, 128 + 81);
        let mut changed = bytes.clone();
        changed[width + 128] |= 2;
        let read = residue::Proofs::from_be_bytes(key, form(key), &changed);
        assert_eq!(at(read.map(drop)), (ErrorKind::OutOfRange, Some(1)));
        assert!(residue::Proofs::from_be_bytes(key, Form::Openings, &bytes).is_err());
        let too_long = Form::Short { bits: 10_000 };
        assert!(residue::Proofs::from_be_bytes(key, too_long, &[]).is_err());
        // For the same numbers, their other openings give a valid proof too, but only in its own
        // form.
        let roots = key.openings_of_short(&openings).unwrap();
        let proofs = residue::prove(key, &contexts(2), &numbers, &roots).unwrap();
        assert_eq!(residue::verify(key, &contexts(2), &numbers, &proofs), Ok(()));
        // A key without a generator has no short openings, and a key with another generator has
        // different ones.
        let n = key.modulus_be();
        let standard = PublicKey::new(&n, None, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        assert!(residue::Proofs::from_be_bytes(&standard, form(key), &bytes).is_err());
        let h = rug::Integer::from_digits(&key.generator_be().unwrap(), rug::integer::Order::Msf);
        let n_number = rug::Integer::from_digits(&n, rug::integer::Order::Msf);
        let other = h.pow_mod(&rug::Integer::from(3), &n_number).unwrap().to_digits::<u8>(rug::integer::Order::Msf);
        let other = PublicKey::new(&n, Some(&other), KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let proofs = residue::Proofs::from_be_bytes(&other, form(key), &bytes).unwrap();
        let numbers = other.ciphertexts_from_be(&numbers.to_be_bytes()).unwrap();
        assert_eq!(at(residue::verify(&other, &contexts(2), &numbers, &proofs)), (ErrorKind::DoesNotHold, Some(0)));
    }
}
