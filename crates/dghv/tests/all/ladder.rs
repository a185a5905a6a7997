//! Tests of modulus switching: comparison of ladders with an independent implementation over GMP,
//! the circuits they allow, and the inputs they reject.

use crate::reference::{chi, integer, limbs};
use hearith_arith::Engine;
use hearith_dghv::circuit::{Circuit, library};
use hearith_dghv::{
    Ciphertext, ErrorKind, Evaluator, InsecureHistoricalParameters, KeyPair, Ladder, Lengths, Parameters, PrivateKey,
    PrivateKeys, PublicKey, PublicKeys, RecryptionKey, Rung, Scheme, Size, SwitchingKey,
};
use rug::Integer;
use rug::ops::RemRounding;
use rug::rand::RandState;
use std::sync::LazyLock;
use std::time::Instant;

const INSECURE: InsecureHistoricalParameters = InsecureHistoricalParameters;

/// A set far too small for any use, with enough noise budget for some rungs.
fn tiny(scheme: Scheme) -> Parameters {
    let lengths = Lengths {
        security: 8,
        key_noise: 6,
        secret: 460,
        modulus: 2000,
        elements: 7,
        coefficient: 8,
        encryption_noise: 20,
    };
    Parameters::custom(scheme, lengths).unwrap()
}

fn toy(scheme: Scheme) -> Parameters {
    Parameters::historical(scheme, Size::Toy).with_short_coefficients()
}

struct Keys {
    private: PrivateKeys,
    public: PublicKeys,
}

fn keys_on(engine: Engine, parameters: &Parameters, rungs: usize) -> Keys {
    let KeyPair { private, public } = KeyPair::generate(parameters, engine, INSECURE).unwrap();
    let (ladder, below) = Ladder::generate(&private, &public, rungs, INSECURE).unwrap();
    let keys = Keys {
        private: PrivateKeys { key: private, rungs: below },
        public: PublicKeys { key: public, recryption: None, ladder: Some(ladder) },
    };
    keys.private.check(&keys.public).unwrap();
    keys
}

fn keys(parameters: &Parameters, rungs: usize) -> Keys {
    keys_on(Engine::best(), parameters, rungs)
}

/// Keys of the toy sets with ladders of maximum length, in the order of the schemes.
static TOYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let made = |&scheme: &Scheme| keys(&toy(scheme), Ladder::most_rungs(&toy(scheme)));
    Scheme::ALL.iter().map(made).collect()
});

impl Keys {
    fn rungs(&self) -> &[Rung] {
        self.public.ladder.as_ref().unwrap().rungs()
    }

    fn secret(&self, level: usize) -> &PrivateKey {
        level.checked_sub(1).map_or(&self.private.key, |rung| &self.private.rungs[rung])
    }

    /// The residue of least absolute value modulo the secret of a level.
    fn noise(&self, level: usize, ciphertext: &Ciphertext) -> Integer {
        let prime = integer(self.secret(level).expose_prime());
        let residue = integer(ciphertext.value()) % &prime;
        if Integer::from(2 * &residue) > prime { residue - prime } else { residue }
    }
}

fn random_bits(count: usize, state: &mut RandState<'_>) -> Vec<bool> {
    (0..count).map(|_| state.bits(1) == 1).collect()
}

/// A switch computed from its definition with full-length numbers.
fn switched(key: &SwitchingKey, parameters: &Parameters, modulus: &Integer, c: &Integer) -> Integer {
    let (seed, length, bits) = (key.seed(), key.first().len(), parameters.lengths().modulus);
    let whole = 64 * (length - parameters.limbs() - 1) as u32;
    let (set, digits) = (150, whole as usize / 16);
    let mut sum = Integer::new();
    for i in 0..set {
        // The words of a fraction follow one another in the stream, the highest first.
        let stream = |index| {
            // `chi` would divide the number into eight segments, so the words are computed one by
            // one.
            let word = |slot: usize| {
                use aes::cipher::{BlockCipherEncrypt, KeyInit};
                let mut block = ((index as u128) << 64 | (slot / 2) as u128).to_be_bytes().into();
                aes::Aes128::new(seed.into()).encrypt_block(&mut block);
                (u128::from_le_bytes(block.into()) >> (64 * (slot % 2))) as u64
            };
            (0..length).rev().map(word).collect::<Vec<u64>>()
        };
        let y = if i == 0 { integer(key.first()) } else { integer(&stream(i)) };
        let z = (Integer::from(c * &y) >> (64 * length as u32 - whole)).keep_bits(whole);
        for j in 0..digits {
            let digit = Integer::from(&z >> (16 * j as u32)).keep_bits(16);
            let at = i * digits + j;
            let correction =
                integer(&key.corrections()[at * parameters.correction_limbs()..][..parameters.correction_limbs()]);
            sum += digit * (chi(seed, bits, set + at) - correction);
        }
    }
    let value: Integer = 2 * sum + Integer::from(c.is_odd());
    value.rem_euc(modulus)
}

#[test]
fn switches_agree_with_gmp() {
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        for &scheme in Scheme::ALL {
            let keys = keys_on(engine, &tiny(scheme), 2);
            let mut ciphertexts = keys.public.key.encrypt(&[true, false, true]).unwrap();
            for (level, Rung { key, switching }) in (1..).zip(keys.rungs()) {
                let below = keys.public.switch(&ciphertexts, level).unwrap();
                for (ciphertext, found) in ciphertexts.iter().zip(&below) {
                    let modulus = integer(key.modulus());
                    let expected = switched(switching, key.parameters(), &modulus, &integer(ciphertext.value()));
                    assert_eq!(integer(found.value()), expected, "{scheme} {engine}, level {level}");
                }
                ciphertexts = below;
            }
        }
    }
}

/// Switches ciphertexts with actual noise of all lengths, in many trials. The bound must hold after
/// each switch and must not be far too high.
fn bounds_hold(parameters: &Parameters, rungs: usize, trials: usize) {
    let keys = keys(parameters, rungs);
    let mut state = RandState::new();
    let mut nearest = f64::INFINITY;
    for level in 0..rungs {
        let key = keys.public.at_level(level).unwrap();
        let below = keys.public.at_level(level + 1).unwrap();
        let modulus = integer(key.modulus());
        let bits = random_bits(trials, &mut state);
        let fresh = keys.secret(level).encrypt(key, &bits).unwrap();
        let most = key.parameters().noise_limit() - 1.0;
        let noisy = fresh.iter().enumerate().map(|(row, fresh)| {
            // From little noise up to the most that decrypts, with both signs.
            let length = fresh.noise() + (most - fresh.noise()) * row as f64 / trials as f64;
            let largest = Integer::from(1) << length as u32;
            let noise =
                if row % 5 == 0 { largest.clone() } else { Integer::from(largest.random_below_ref(&mut state)) };
            let even: Integer = (noise >> 1) << 1;
            let value = integer(fresh.value()) + if row % 2 == 0 { even } else { -even };
            let value = limbs(&value.rem_euc(&modulus), parameters.limbs());
            Ciphertext::from_parts(key.id(), key.parameters(), value, length + 0.1).unwrap()
        });
        let noisy: Vec<Ciphertext> = noisy.collect();
        let lowered = keys.public.switch(&noisy, level + 1).unwrap();
        assert_eq!(keys.private.decrypt(&lowered).unwrap(), bits);
        let least = Ciphertext::from_parts(key.id(), key.parameters(), fresh[0].value().to_vec(), 1.0).unwrap();
        let bound = keys.public.switch(&[least], level + 1).unwrap()[0].noise();
        let (p, q) = (integer(keys.secret(level).expose_prime()), integer(keys.secret(level + 1).expose_prime()));
        for ((before, after), bit) in noisy.iter().zip(&lowered).zip(&bits) {
            let (r, found) = (keys.noise(level, before), keys.noise(level + 1, after));
            assert_eq!(found.is_odd(), *bit);
            assert!(found.to_f64().abs().log2() < after.noise(), "{parameters} level {level}: {after:?}");
            // The noise added to the scaled previous noise.
            let added = (&found - r * &q / &p).to_f64().abs().log2();
            assert!(added < bound, "{added} of {bound} bits");
            nearest = nearest.min(bound - added);
        }
        assert!(below.parameters().lengths().secret < key.parameters().lengths().secret);
    }
    // Thousands of terms of both signs sum to less than the bound, but not to nothing.
    assert!(nearest < 12.0, "{nearest} bits from the bound");
    println!("{parameters}: {nearest:.1} bits from the bound");
}

#[test]
fn bounds_on_noise_hold() {
    for &scheme in Scheme::ALL {
        bounds_hold(&tiny(scheme), Ladder::most_rungs(&tiny(scheme)), 150);
        bounds_hold(&toy(scheme), 2, 40);
    }
}

/// Runs a circuit that is too deep for the key without a ladder, on rows of random bits.
fn goes_deeper(keys: &Keys, circuit: &Circuit, rows: usize, state: &mut RandState<'_>) {
    let inputs: Vec<Vec<bool>> = (0..rows).map(|_| random_bits(circuit.input_bits(), state)).collect();
    let encrypted: Vec<Vec<Ciphertext>> = inputs.iter().map(|row| keys.public.key.encrypt(row).unwrap()).collect();
    let alone = Evaluator::new(&keys.public.key).evaluate(circuit, &encrypted).unwrap_err();
    assert!(matches!(alone.kind(), ErrorKind::NoiseExhausted { .. }), "{alone}");
    let start = Instant::now();
    let evaluator = keys.public.evaluator();
    let work = evaluator.work(circuit, &encrypted).unwrap();
    let results = evaluator.evaluate(circuit, &encrypted).unwrap();
    let level = keys.public.level_of(&results[0][0]).unwrap();
    println!("{circuit:?}: {rows} rows with {} switches in {:?}", work.switches, start.elapsed());
    assert_eq!((work.level, work.recryptions), (level, 0));
    for (input, result) in inputs.iter().zip(&results) {
        assert!(result.iter().all(|bit| keys.public.level_of(bit).unwrap() == level));
        assert_eq!(keys.private.decrypt(result).unwrap(), circuit.evaluate_plain(input), "{circuit:?} of {input:?}");
    }
}

#[test]
fn circuits_go_deeper() {
    let mut state = RandState::new();
    for keys in &*TOYS {
        goes_deeper(keys, &library::adder(8), 2, &mut state);
    }
    goes_deeper(&TOYS[1], &Circuit::parse(library::AES_SBOX).unwrap(), 1, &mut state);
}

/// Multiplies until the noise budget is exhausted: many more times than a single key allows.
#[test]
fn powers_go_on_to_the_last_rung() {
    for (scheme, keys) in Scheme::ALL.iter().zip(&*TOYS) {
        let bits = [true, false];
        let mut powers = keys.public.key.encrypt(&bits).unwrap();
        let alone = powers[0].levels_left(keys.public.key.parameters());
        let mut products = 0;
        let error = loop {
            match keys.public.multiply(&powers, &powers) {
                Ok(next) => powers = next,
                Err(error) => break error,
            }
            products += 1;
            assert_eq!(keys.private.decrypt(&powers).unwrap(), bits, "{scheme}: product {products}");
        };
        assert!(matches!(error.kind(), ErrorKind::NoiseExhausted { .. }), "{error}");
        assert_eq!(keys.public.level_of(&powers[0]).unwrap(), keys.rungs().len());
        println!("{scheme}: {products} products, {alone} without the ladder");
        assert!(products >= 5 * alone, "{scheme}: {products} products, {alone} without the ladder");
    }
}

#[test]
#[ignore = "takes minutes: keys of 10 MiB a rung"]
fn small_ladders_go_deeper() {
    let mut state = RandState::new();
    for &scheme in Scheme::ALL {
        let parameters = Parameters::historical(scheme, Size::Small).with_short_coefficients();
        let start = Instant::now();
        let keys = keys(&parameters, 6);
        println!("{scheme} small: a ladder of 6 rungs in {:?}", start.elapsed());
        goes_deeper(&keys, &library::adder(4), 1, &mut state);
    }
}

#[test]
fn operands_meet_at_the_lower_level() {
    let keys = keys(&tiny(Scheme::Cnt), 2);
    let (a, b) = ([false, false, true, true], [false, true, false, true]);
    let (x, y) = (keys.public.key.encrypt(&a).unwrap(), keys.public.key.encrypt(&b).unwrap());
    for (of_x, of_y) in [(0, 1), (2, 1), (2, 0), (1, 1)] {
        let (x, y) = (keys.public.switch(&x, of_x).unwrap(), keys.public.switch(&y, of_y).unwrap());
        let sum = keys.public.add(&x, &y).unwrap();
        assert_eq!(keys.public.level_of(&sum[0]).unwrap(), of_x.max(of_y));
        assert_eq!(keys.private.decrypt(&sum).unwrap(), [false, true, true, false]);
        assert_eq!(keys.private.decrypt(&keys.public.multiply(&x, &y).unwrap()).unwrap(), [false, false, false, true]);
    }
    // A batch with bits of several levels and constants, which stay without noise.
    let mixed = [&keys.public.switch(&x[..2], 1).unwrap()[..], &keys.public.key.constants(&[true]), &x[3..]].concat();
    let below = keys.public.switch(&mixed, 2).unwrap();
    assert_eq!(keys.private.decrypt(&below).unwrap(), [false, false, true, true]);
    assert_eq!((below[2].noise(), below[2].value()[0]), (0.0, 1));
    let mut odd = keys.public.add(&mixed, &below).unwrap();
    assert_eq!(keys.private.decrypt(&odd).unwrap(), [false; 4]);
    odd.truncate(1);
    assert_eq!(*keys.public.add(&odd, &below).unwrap_err().kind(), ErrorKind::UnequalLengths { left: 1, right: 4 });
}

#[test]
fn a_ladder_that_is_too_short_leaves_it_to_recryption() {
    let lengths = Lengths { secret: 400, ..*tiny(Scheme::Cnt).lengths() };
    let Keys { private, mut public } = keys(&Parameters::custom(Scheme::Cnt, lengths).unwrap(), 1);
    let recryption = RecryptionKey::generate(&private.key, &public.key, INSECURE).unwrap();
    let bits = |value: usize| (0..16).map(|bit| value >> bit & 1 == 1).collect::<Vec<_>>();
    let rows = [public.key.encrypt(&bits(0x37c9)).unwrap()];
    let adder = library::adder(8);
    let error = public.evaluator().evaluate(&adder, &rows).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoiseExhausted { .. }) && error.row().is_none(), "{error}");
    public.recryption = Some(recryption);
    let work = public.evaluator().work(&adder, &rows).unwrap();
    assert!(work.recryptions > 0 && (work.switches, work.level) == (0, 0), "{work:?}");
    let sums = public.evaluator().evaluate(&adder, &rows).unwrap();
    assert_eq!(private.decrypt(&sums[0]).unwrap(), adder.evaluate_plain(&bits(0x37c9)));
    // A row that has been switched down cannot be recrypted.
    let below = public.switch(&rows[0], 1).unwrap();
    assert!(matches!(
        public.evaluator().evaluate(&adder, &[below]).unwrap_err().kind(),
        ErrorKind::NoiseExhausted { .. }
    ));
}

#[test]
fn progress_ends_with_everything_done() {
    let keys = keys(&tiny(Scheme::Cmnt), 3);
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |done, all| told.lock().unwrap().push((done, all));
    let evaluator = keys.public.evaluator().with_progress(&tell);
    let rows = [keys.public.key.encrypt(&[true; 8]).unwrap(), keys.public.key.encrypt(&[false; 8]).unwrap()];
    let switches = evaluator.work(&library::adder(4), &rows).unwrap().switches;
    evaluator.evaluate(&library::adder(4), &rows).unwrap();
    let told = told.into_inner().unwrap();
    let all = 2 * 4 + switches as u64;
    assert!(switches > 0 && told.iter().all(|step| step.1 == all) && told.is_sorted(), "{told:?}");
    assert_eq!(told.last(), Some(&(all, all)));
}

#[test]
fn unreasonable_ladders_are_refused() {
    let parameters = tiny(Scheme::Cnt);
    let KeyPair { private, public } = KeyPair::generate(&parameters, Engine::best(), INSECURE).unwrap();
    let most = Ladder::most_rungs(&parameters);
    for rungs in [0, most + 1] {
        let error = Ladder::generate(&private, &public, rungs, INSECURE).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Ladder { rungs, most });
    }
    let medium = Parameters::historical(Scheme::Cmnt, Size::Medium);
    let error = Ladder::check_rungs(&medium, 1).unwrap_err();
    assert!(error.to_string().starts_with("a ladder of these parameters needs "), "{error}");
    let short = Parameters::custom(Scheme::Cnt, Lengths { secret: 100, ..*parameters.lengths() }).unwrap();
    assert_eq!(*Ladder::check_rungs(&short, 1).unwrap_err().kind(), ErrorKind::NoLadder);
    let other = KeyPair::generate(&parameters, Engine::best(), INSECURE).unwrap();
    assert_eq!(*Ladder::generate(&other.private, &public, 1, INSECURE).unwrap_err().kind(), ErrorKind::KeysDiffer);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (one, other) = (keys(&tiny(Scheme::Cnt), 2), keys(&tiny(Scheme::Cnt), 2));
    let bits = one.public.key.encrypt(&[true, false]).unwrap();
    let error = other.public.switch(&bits, 1).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(0), &ErrorKind::OtherKey));
    let below = one.public.switch(&bits, 2).unwrap();
    let error = one.public.switch(&[&bits[..], &below[..]].concat(), 1).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(2), &ErrorKind::Level { from: 2, to: 1, levels: 2 }));
    let error = one.public.switch(&bits, 3).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(0), &ErrorKind::Level { from: 0, to: 3, levels: 2 }));
    assert!(one.public.at_level(3).is_none());
    // Bits of a lower level do not belong to the top key, and vice versa.
    assert_eq!(*one.public.key.add(&bits, &below).unwrap_err().kind(), ErrorKind::OtherKey);
    assert_eq!(*one.private.key.decrypt(&below).unwrap_err().kind(), ErrorKind::OtherKey);
    assert_eq!(*other.private.decrypt(&below).unwrap_err().kind(), ErrorKind::OtherKey);
    assert_eq!(*one.private.check(&other.public).unwrap_err().kind(), ErrorKind::KeysDiffer);
    let shorter = PrivateKeys { key: one.private.key.clone(), rungs: vec![] };
    assert_eq!(*shorter.check(&one.public).unwrap_err().kind(), ErrorKind::KeysDiffer);
    // A switch with other keys than its own, a ciphertext that is not below its modulus, and noise
    // that would be too large after the switch.
    let Rung { key, switching } = &one.rungs()[0];
    let switch = |ciphertext: &Ciphertext| switching.switch(&one.public.key, key, &[&bits[0], ciphertext]);
    let error = switching.switch(&other.public.key, key, &[&bits[0]]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::KeysDiffer);
    let made = |value: Vec<u64>, noise| Ciphertext::from_parts(bits[0].key_id(), &tiny(Scheme::Cnt), value, noise);
    let error = switch(&made(one.public.key.modulus().to_vec(), 9.0).unwrap()).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(1), &ErrorKind::OutOfRange));
    let error = switch(&made(bits[1].value().to_vec(), 458.0).unwrap()).unwrap_err();
    assert!(matches!((error.row(), error.kind()), (Some(1), ErrorKind::NoiseExhausted { .. })), "{error}");
}

#[test]
fn parts_make_the_same_key() {
    let (one, other) = (keys(&tiny(Scheme::Cnt), 2), keys(&tiny(Scheme::Cmnt), 1));
    let bits = one.public.key.encrypt(&[true, false]).unwrap();
    let expected = one.public.switch(&bits, 1).unwrap();
    let Rung { key, switching } = &one.rungs()[0];
    let parts = |to, first: &[u64], corrections: &[u64]| {
        SwitchingKey::from_parts(&one.public.key, to, *switching.seed(), first.to_vec(), corrections.to_vec(), INSECURE)
    };
    let again = parts(key, switching.first(), switching.corrections()).unwrap();
    let found = again.switch(&one.public.key, key, &bits.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(found, expected);
    let long = vec![u64::MAX; switching.corrections().len()];
    for refused in [
        parts(key, &switching.first()[1..], switching.corrections()),
        parts(key, switching.first(), &switching.corrections()[1..]),
        parts(key, switching.first(), &long),
        // The key two rungs below, and a key of the other scheme.
        parts(&one.rungs()[1].key, switching.first(), switching.corrections()),
        parts(&other.rungs()[0].key, switching.first(), switching.corrections()),
    ] {
        assert!(matches!(refused.unwrap_err().kind(), ErrorKind::MalformedKey { .. }));
    }
    // Rungs of another key, and no rungs.
    let stray = Rung { switching: again, key: key_again(key) };
    for rungs in [vec![stray], Vec::new()] {
        let error = Ladder::from_rungs(&other.public.key, rungs, INSECURE).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::MalformedKey { .. }), "{error}");
    }
}

fn key_again(key: &PublicKey) -> PublicKey {
    let (modulus, corrections) = (key.modulus().to_vec(), key.corrections().to_vec());
    PublicKey::from_parts(key.parameters().clone(), key.engine(), *key.seed(), modulus, corrections, INSECURE).unwrap()
}
