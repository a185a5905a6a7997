//! The proofs of zk-paillier, measured on one thread, for `bench/python/zk_paillier.py`. Arguments:
//! bits of the key and rows. Prints medians of seconds a proof as JSON.

use curv::BigInt;
use curv::arithmetic::traits::{Samplable, Zero};
use paillier::{EncryptWithChosenRandomness, EncryptionKey, KeyGeneration, Paillier, Randomness, RawPlaintext};
use std::time::Instant;
use zk_paillier::zkproofs::{
    CorrectMessageProof, NiCorrectKeyProof, SALT_STRING, ZeroProof, ZeroStatement, ZeroWitness,
};

/// The median of the seconds that `work` takes, and what it gave.
fn measured<T>(rows: usize, mut work: impl FnMut(usize) -> T) -> (f64, Vec<T>) {
    let mut timed = |row| {
        let start = Instant::now();
        let made = work(row);
        (start.elapsed().as_secs_f64(), made)
    };
    let (mut seconds, made): (Vec<f64>, Vec<T>) = (0..rows).map(&mut timed).unzip();
    seconds.sort_by(f64::total_cmp);
    (seconds[rows / 2], made)
}

fn zero(ek: &EncryptionKey) -> (ZeroWitness, ZeroStatement) {
    let r = BigInt::sample_below(&ek.n);
    let plain = RawPlaintext::from(BigInt::zero());
    let c = Paillier::encrypt_with_chosen_randomness(ek, plain, &Randomness(r.clone()));
    (ZeroWitness { r }, ZeroStatement { ek: ek.clone(), c: c.0.into_owned() })
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let (bits, rows) = (arguments.next().expect("bits"), arguments.next().expect("rows"));
    // Its check of the key is spread over rayon's threads.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("one thread");
    let (ek, dk) = Paillier::keypair_with_modulus_size(bits).keys();

    let messages = [BigInt::from(0), BigInt::from(1)];
    let (member_prove, proofs) = measured(rows, |row| CorrectMessageProof::prove(&ek, &messages, &messages[row % 2]));
    let (member_verify, held) = measured(rows, |row| proofs[row].verify().is_ok());
    assert!(held.iter().all(|&held| held));

    let statements: Vec<_> = (0..rows).map(|_| zero(&ek)).collect();
    let (zero_prove, proofs) = measured(rows, |row| ZeroProof::prove(&statements[row].0, &statements[row].1));
    let (zero_verify, held) = measured(rows, |row| proofs[row].verify(&statements[row].1).is_ok());
    assert!(held.iter().all(|&held| held));

    let (key_prove, proofs) = measured(rows, |_| NiCorrectKeyProof::proof(&dk, None));
    let (key_verify, held) = measured(rows, |row| proofs[row].verify(&ek, SALT_STRING).is_ok());
    assert!(held.iter().all(|&held| held));

    println!(
        r#"{{"member":{{"prove":{member_prove},"verify":{member_verify}}},"zero":{{"prove":{zero_prove},"verify":{zero_verify}}},"key":{{"prove":{key_prove},"verify":{key_verify}}}}}"#
    );
}
