//! Checks that no branch and no address depends on secrets, with the engines that valgrind can run.
//! Valgrind is told that secrets are undefined and reports every jump and every access that depends
//! on them (the method of ctgrind \[Langley10\]).
//!
//! The test runs its own executable under valgrind: once normally, where nothing may be reported,
//! and once with a deliberate leak, which must be reported.
#![cfg(target_arch = "x86_64")]

use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Square, pow_pairs, powers_of_two};
use hearith_testing::has;
use std::process::Command;

/// Selects the role of the inner run.
const ROLE: &str = "HEARITH_SECRET_TRACKING";

/// Asks valgrind (memcheck) to treat bytes as undefined or as defined. Has no effect outside
/// valgrind.
fn mark(bytes: &[u8], defined: bool) {
    // "MC" in the upper half, then 1 for undefined and 2 for defined; address, length.
    let request = 0x4d43_0001_u64 + u64::from(defined);
    let arguments = [request, bytes.as_ptr() as u64, bytes.len() as u64, 0, 0, 0];
    // SAFETY: the four rotations cancel and the exchange does nothing; valgrind recognises the
    // sequence.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0_u64 => _, options(nostack)
        );
    }
}

fn bytes(limbs: &[u64]) -> &[u8] {
    // SAFETY: limbs are plain bytes.
    unsafe { std::slice::from_raw_parts(limbs.as_ptr().cast(), 8 * limbs.len()) }
}

/// Marks the contents of the batch as secret.
fn secret(batch: Batch) -> Batch {
    mark(bytes(batch.as_limbs()), false);
    batch
}

/// Numbers without a particular pattern.
fn numbers(len: usize, limbs: usize) -> Batch {
    let mut batch = Batch::zeros(len, limbs);
    for (index, limb) in batch.as_limbs_mut().iter_mut().enumerate() {
        *limb = (index as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(index as u32);
    }
    batch
}

/// A secret modulus of the given number of limbs. Only its length and that it is odd are public.
fn modulus(limbs: usize, seed: usize) -> Vec<u64> {
    let mut m = numbers(seed + 1, limbs).row(seed).to_vec();
    m[0] |= 1;
    m[limbs - 1] |= 1 << 63;
    mark(&bytes(&m)[1..8 * limbs - 1], false);
    m
}

/// All operations on secrets, with odd and even, common and uncommon limb counts.
fn operate(engine: Engine) {
    let residue = |limbs: usize| {
        let mut rows = numbers(3, limbs);
        rows.rows_mut().for_each(|row| row[limbs - 1] >>= 1);
        secret(rows)
    };
    for limbs in [2, 3, 8] {
        let m = Modulus::new(engine, &modulus(limbs, 0)).unwrap();
        let (x, y) = (residue(limbs), residue(limbs));
        let exponents = secret(numbers(3, 2));
        for result in [
            m.mul(&x, &y),
            m.mul(&x.range(0..1), &y.range(0..1)),
            m.add(&x, &y),
            m.sub(&x, &y),
            m.neg(&x),
            m.reduce(&secret(numbers(3, 3 * limbs + 1))),
            m.mul_by(&x, &m.factor(y.row(0))),
            m.pow(&x, Exponents::Each(&exponents, 100)),
            m.pow(&x, Exponents::Shared(exponents.row(0), 100)),
            m.pow(&x, Exponents::Public(&[65537])),
            m.pow_ladder(&x, Exponents::Each(&exponents, 100)),
            m.products(&x, &[vec![0_u32, 1, 2], vec![1]]),
        ] {
            mark(bytes(result.as_limbs()), true);
        }
        let (p, q) = (modulus(limbs, 1), modulus(limbs, 2));
        let (p, q) = (Square::new(engine, &p).unwrap(), Square::new(engine, &q).unwrap());
        let wide = secret(numbers(3, 4 * limbs));
        let roots = [p.root(), q.root(), p.root()];
        _ = powers_of_two(&roots, Exponents::Each(&exponents, 100));
        let power = pow_pairs(&[&p, &q, &p], &wide, Exponents::Each(&exponents, 100));
        _ = p.join(&p.split(&wide));
        _ = p.multi_pow(&wide, &exponents, 100, &[vec![0_u32, 1, 2], vec![1]]);
        _ = FixedBase::new(&p, numbers(1, limbs).row(0), 100).pow(&exponents);
        _ = hearith_arith::natural::divide_exact(power.low.row(0), p.root().as_limbs(), limbs);
    }
}

/// A branch on a secret bit.
fn leak() {
    if std::hint::black_box(secret(numbers(1, 1)).row(0)[0]) & 1 == 1 {
        std::hint::black_box(());
        println!("odd");
    }
}

/// Runs one test of this executable under valgrind in a role and returns whether valgrind reported
/// nothing.
fn clean_under_valgrind(role: &str, engine: Engine) -> bool {
    let output = Command::new("valgrind")
        .args(["--error-exitcode=99", "--quiet", "--undef-value-errors=yes"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "secrets_decide_no_branch_and_no_address", "--test-threads=1", "--nocapture"])
        .envs([(ROLE, role), ("RAYON_NUM_THREADS", "1"), ("HEARITH_ENGINE", engine.name())])
        .output()
        .expect("this test needs valgrind: `make test` installs it, or `apt-get install valgrind`");
    let report = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => true,
        Some(99) => {
            if role == "operate" {
                eprintln!("{report}");
            }
            false
        }
        other => panic!("valgrind ended with {other:?}: {report}"),
    }
}

#[test]
fn secrets_decide_no_branch_and_no_address() {
    match std::env::var(ROLE).as_deref() {
        Ok("operate") => operate(Engine::from_env().unwrap()),
        Ok(_) => leak(),
        Err(_) => {
            assert!(!clean_under_valgrind("leak", Engine::Serial), "a deliberate leak went unnoticed");
            for engine in [Engine::Serial, Engine::Avx2] {
                if has(engine.name(), engine.is_available()) {
                    let clean = clean_under_valgrind("operate", engine);
                    assert!(clean, "{engine}: valgrind saw a secret decide a branch or an address");
                }
            }
        }
    }
}
