//! Properties of all plaintexts, ciphertexts and scalars.

use crate::common::{self, decrypt, decrypt_small, encrypt, engines, integers, key, modulus, residues, some_keys};
use hearith_paillier::encoding::{Signed, decode_signed, encode_signed};
use hearith_paillier::{Ciphertexts, ErrorKind, PrivateKey, PublicKey, Randomisers, Variant};
use proptest::collection::vec;
use proptest::prelude::*;
use rug::Integer;

/// Numbers whose sums fit in 128 bits.
fn number() -> impl Strategy<Value = i128> {
    prop_oneof![Just(0), Just(1), Just(-1), any::<i128>().prop_map(|value| value >> 3)]
}

fn batch() -> impl Strategy<Value = Vec<i128>> {
    vec(number(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn decryption_undoes_encryption(values in vec(any::<i128>(), 0..12)) {
        let expected: Vec<Signed> = values.iter().map(|&value| value.into()).collect();
        for key in some_keys() {
            let public = key.public();
            let plaintexts = encode_signed(public, &values).unwrap();
            let mut pool = public.randomisers(values.len()).unwrap();
            let ways = [public.encrypt(&plaintexts), key.encrypt(&plaintexts), public.encrypt_with(&plaintexts, &mut pool)];
            for ciphertexts in ways {
                prop_assert_eq!(&decrypt(key, &ciphertexts.unwrap()), &expected);
            }
            prop_assert!(pool.is_empty());
        }
    }

    #[test]
    fn sums_and_differences(pairs in vec((number(), number()), 0..12)) {
        let (a, b): (Vec<i128>, Vec<i128>) = pairs.iter().copied().unzip();
        let each = |step: fn(i128, i128) -> i128| pairs.iter().map(|&(a, b)| step(a, b)).collect::<Vec<_>>();
        for key in some_keys() {
            let public = key.public();
            let (of_a, of_b) = (encrypt(public, &a), encrypt(public, &b));
            let sum = public.add(&of_a, &of_b).unwrap();
            prop_assert_eq!(decrypt_small(key, &sum), each(|a, b| a + b));
            prop_assert_eq!(&sum, &public.add(&of_b, &of_a).unwrap());
            prop_assert_eq!(decrypt_small(key, &public.subtract(&of_a, &of_b).unwrap()), each(|a, b| a - b));
            prop_assert_eq!(decrypt_small(key, &public.negate(&of_a).unwrap()), each(|a, _| -a));
            let plain = encode_signed(public, &b).unwrap();
            prop_assert_eq!(decrypt_small(key, &public.add_plain(&of_a, &plain).unwrap()), each(|a, b| a + b));
            prop_assert_eq!(integers(&public.subtract(&of_a, &of_a).unwrap()), vec![Integer::from(1); a.len()]);
        }
    }

    #[test]
    fn scalar_laws(rows in vec((any::<i64>(), any::<i32>(), any::<i32>()), 0..9)) {
        let values: Vec<i128> = rows.iter().map(|row| row.0.into()).collect();
        let [k, l]: [Vec<i128>; 2] = [|row: &(_, i32, _)| row.1.into(), |row: &(_, _, i32)| row.2.into()]
            .map(|of: fn(&(i64, i32, i32)) -> i128| rows.iter().map(of).collect());
        let zip = |a: &[i128], b: &[i128], step: fn(i128, i128) -> i128| -> Vec<i128> {
            a.iter().zip(b).map(|(&a, &b)| step(a, b)).collect()
        };
        for key in some_keys() {
            let public = key.public();
            let c = encrypt(public, &values);
            let by = |c: &Ciphertexts, scalars: &[i128]| public.multiply_deterministic(c, scalars, 128).unwrap();
            prop_assert_eq!(decrypt_small(key, &by(&c, &k)), zip(&values, &k, |value, k| value * k));
            // k c + l c = (k + l) c and l (k c) = (k l) c, as ciphertexts.
            prop_assert_eq!(public.add(&by(&c, &k), &by(&c, &l)).unwrap(), by(&c, &zip(&k, &l, |k, l| k + l)));
            prop_assert_eq!(by(&by(&c, &k), &l), by(&c, &zip(&k, &l, |k, l| k * l)));
            prop_assert_eq!(public.multiply_deterministic(&c, &k, 32).unwrap(), by(&c, &k));
            let minus = vec![-1; values.len()];
            prop_assert_eq!(by(&c, &minus), public.negate(&c).unwrap());
        }
    }

    #[test]
    fn products_do_not_tell_their_factors(values in batch()) {
        for key in some_keys() {
            let public = key.public();
            let c = encrypt(public, &values);
            for factor in [-1, 0, 1, 2, 3] {
                let factors = vec![factor; values.len()];
                let wide: Vec<Signed> = factors.iter().map(|&factor| factor.into()).collect();
                let guess = public.multiply_deterministic(&c, &factors, 2).unwrap();
                prop_assert_eq!(&public.multiply_wide_deterministic(&c, &wide, 2).unwrap(), &guess);
                let products = [
                    public.multiply(&c, &factors).unwrap(),
                    public.multiply_bounded(&c, &factors, 2).unwrap(),
                    public.multiply_wide(&c, &wide, 2).unwrap(),
                    public.dot(&c, &factors, 1).unwrap(),
                    public.dot_bounded(&c, &factors, 1, 2).unwrap(),
                ];
                prop_assert_eq!(public.dot_deterministic(&c, &factors, 1, 2).unwrap(), guess.clone());
                for found in products {
                    for row in 0..values.len() {
                        prop_assert_ne!(found.range(row..row + 1).unwrap(), guess.range(row..row + 1).unwrap());
                    }
                    prop_assert_eq!(decrypt_small(key, &found), decrypt_small(key, &guess));
                }
            }
        }
    }

    #[test]
    fn sums_of_groups(values in vec(-(1i128 << 80)..1 << 80, 1..120), seeds in vec(vec(any::<u32>(), 0..40), 0..8)) {
        let groups: Vec<Vec<u32>> =
            seeds.iter().map(|seeds| seeds.iter().map(|seed| seed % values.len() as u32).collect()).collect();
        let of_group = |group: &Vec<u32>| group.iter().map(|&row| values[row as usize]).sum::<i128>();
        for key in some_keys() {
            let c = encrypt(key.public(), &values);
            let totals = key.public().sum_groups(&c, &groups).unwrap();
            prop_assert_eq!(decrypt_small(key, &totals), groups.iter().map(of_group).collect::<Vec<_>>());
            let total = key.public().sum(&c).unwrap();
            prop_assert_eq!(decrypt_small(key, &total), [values.iter().sum::<i128>()]);
        }
    }

    #[test]
    fn dot_products(terms in 1usize..40, sums in 0usize..4, seed: [u64; 2], bits in 1u32..40) {
        let mut state = seed[0];
        let mut next = || { state = state.wrapping_mul(6364136223846793005).wrapping_add(seed[1] | 1); (state >> 24) as i32 };
        let values: Vec<i128> = (0..terms * sums).map(|_| next().into()).collect();
        let weights: Vec<i128> = (0..terms * sums).map(|_| i128::from(next()) % (1 << bits)).collect();
        let dot = |weights: &dyn Fn(usize) -> i128| -> Vec<i128> {
            (0..sums).map(|sum| (sum * terms..(sum + 1) * terms).map(|at| values[at] * weights(at)).sum()).collect()
        };
        for key in some_keys() {
            let public = key.public();
            let c = encrypt(public, &values);
            let found = public.dot_bounded(&c, &weights, terms, bits).unwrap();
            prop_assert_eq!(decrypt_small(key, &found), dot(&|at| weights[at]));
            if sums > 0 {
                let found = public.dot(&c, &weights[..terms], terms).unwrap();
                prop_assert_eq!(decrypt_small(key, &found), dot(&|at| weights[at % terms]));
            }
        }
    }

    #[test]
    fn rerandomised_ciphertexts_differ_and_decrypt_alike(values in batch()) {
        for key in some_keys() {
            let public = key.public();
            let (c, mut pool) = (encrypt(public, &values), key.randomisers(values.len() + 2).unwrap());
            let others = [public.rerandomise(&c), key.rerandomise(&c), public.rerandomise_with(&c, &mut pool)];
            for other in others.map(Result::unwrap) {
                prop_assert_eq!(decrypt_small(key, &other), values.clone());
                prop_assert!(integers(&other).iter().zip(integers(&c)).all(|(new, old)| *new != old));
            }
            prop_assert_eq!(pool.len(), 2);
        }
    }
}

/// Keys of many sizes: at, just above and just below multiples of 64-bit and 52-bit limbs.
#[test]
fn keys_of_all_sizes_work() {
    for engine in engines() {
        for bits in [
            64, 66, 102, 104, 106, 126, 128, 130, 190, 192, 206, 208, 210, 254, 256, 258, 384, 416, 510, 640, 768, 1040,
        ] {
            for variant in [Variant::Standard, Variant::Djn] {
                let key = key(bits, variant, engine);
                let public = key.public();
                assert_eq!((public.bits(), modulus(public).significant_bits()), (bits, bits));
                let values = [0, 1, -1, 1 << 40, -(1 << 40)];
                let plaintexts = encode_signed(public, &values).unwrap();
                for c in [public.encrypt(&plaintexts).unwrap(), key.encrypt(&plaintexts).unwrap()] {
                    assert_eq!(key.decrypt(&c).unwrap(), plaintexts, "{bits} bits, {variant}, {engine}");
                    assert_eq!(decrypt_small(&key, &public.multiply(&c, &[5, -6, 7, 3, -3]).unwrap())[1..3], [-6, -7]);
                    assert_eq!(decrypt_small(&key, &public.sum(&c).unwrap()), [0]);
                }
            }
        }
    }
}

/// The owner's randomisers are n-th residues: their order divides lambda, and all classes modulo
/// both primes occur.
#[test]
fn owner_randomisers_are_residues() {
    for engine in engines() {
        let vector = common::vectors().keys.swap_remove(0);
        let (key, n) = (vector.key(engine), vector.n.0);
        let square = n.clone().square();
        let zeros = encode_signed(key.public(), &[0; 200]).unwrap();
        let lambda = Integer::from(&vector.p.0 - 1).lcm(&Integer::from(&vector.q.0 - 1));
        let found = integers(&key.encrypt(&zeros).unwrap());
        for c in &found {
            assert_eq!(c.clone().pow_mod(&lambda, &square).unwrap(), 1);
        }
        let nonresidues = |prime: &Integer| found.iter().filter(|c| c.legendre(prime) == -1).count();
        assert!((50..150).contains(&nonresidues(&vector.p.0)) && (50..150).contains(&nonresidues(&vector.q.0)));
    }
}

#[test]
fn empty_batches_are_fine() {
    for key in some_keys() {
        let public = key.public();
        let (c, m) = (encrypt(public, &[]), encode_signed(public, &[]).unwrap());
        assert!(key.decrypt(&c).unwrap().is_empty());
        let (mut pool, none) = (key.randomisers(0).unwrap(), Vec::<Signed>::new());
        let results = [
            public.encrypt_with(&m, &mut pool),
            key.encrypt(&m),
            public.rerandomise(&c),
            public.add(&c, &c),
            public.subtract(&c, &c),
            public.negate(&c),
            public.add_plain(&c, &m),
            public.multiply(&c, &[]),
            public.dot(&c, &[], 3),
            public.multiply_wide(&c, &none, 64),
            public.sum_groups(&c, &[]),
            public.ciphertexts_from_be(&[]),
        ];
        results.into_iter().for_each(|result| assert!(result.unwrap().is_empty()));
        assert_eq!(public.sum(&c).unwrap(), public.zero());
        assert_eq!(public.sum_groups(&c, &[vec![], vec![]]).unwrap(), public.zeros(2));
        assert_eq!(public.check_coprime(&c), Ok(()));
        assert_eq!(decode_signed(public, &m).unwrap(), []);
    }
}

#[test]
fn trivial_ciphertexts_are_zeros() {
    for key in some_keys() {
        assert_eq!(integers(&key.public().zeros(3)), [1, 1, 1]);
        assert_eq!(decrypt_small(key, &key.public().zeros(3)), [0, 0, 0]);
    }
}

#[test]
fn pools_give_each_randomiser_once() {
    for key in some_keys() {
        let public = key.public();
        let mut pool = public.randomisers(5).unwrap();
        let zeros = |len| encode_signed(public, &vec![0; len]).unwrap();
        let first = public.encrypt_with(&zeros(2), &mut pool).unwrap();
        let refused = public.encrypt_with(&zeros(4), &mut pool);
        assert_eq!(refused, Err(ErrorKind::PoolExhausted { needed: 4, left: 3 }.into()));
        let mut taken = pool.take(1).unwrap();
        taken.append(key.randomisers(1).unwrap()).unwrap();
        let rest =
            [public.encrypt_with(&zeros(2), &mut pool).unwrap(), public.encrypt_with(&zeros(2), &mut taken).unwrap()];
        let mut all = integers(&Ciphertexts::concat(&first, &[&rest[0], &rest[1]]).unwrap());
        assert_eq!(all.len(), 6);
        all.sort();
        all.dedup();
        assert_eq!((all.len(), pool.len(), taken.len()), (6, 0, 0));
    }
}

#[test]
fn largest_plaintexts_are_told_apart() {
    for key in some_keys() {
        let (public, n) = (key.public(), modulus(key.public()));
        let half = Integer::from(&n - 1) / 2u32;
        let values = [half.clone(), Integer::from(&half + 1), Integer::from(&n - 1)];
        let c = public.encrypt(&common::plaintexts(public, &values)).unwrap();
        assert_eq!(residues(&key.decrypt(&c).unwrap()), values);
        let decoded: Vec<String> = decrypt(key, &c).iter().map(Signed::to_string).collect();
        assert_eq!(decoded, [half.to_string(), format!("-{half}"), "-1".into()]);
    }
}

#[test]
fn keys_and_batches_go_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PrivateKey>();
    shared::<PublicKey>();
    shared::<Randomisers>();
    // All keys share a thread pool, and lazily computed values are computed once.
    let key = some_keys().last().unwrap();
    let read = |value: i128| decrypt_small(key, &encrypt(key.public(), &[value]));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|value| scope.spawn(move || read(value))).collect();
        let found: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(found, [[0], [1], [2], [3]]);
    });
}
