//! Benchmarks of the batch operations of every available engine, on one thread with eight rows at a
//! time.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Square};

const ROWS: usize = 8;

/// Numbers without a particular pattern, with the top bit clear.
fn numbers(limbs: usize) -> Batch {
    let mut batch = Batch::zeros(ROWS, limbs);
    for (index, limb) in batch.as_limbs_mut().iter_mut().enumerate() {
        *limb = (index as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(index as u32);
    }
    batch.rows_mut().for_each(|row| row[limbs - 1] >>= 1);
    batch
}

fn modulus(limbs: usize) -> Vec<u64> {
    let mut m = numbers(limbs).row(ROWS - 1).to_vec();
    m[0] |= 1;
    m[limbs - 1] |= 1 << 63;
    m
}

fn arithmetic(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let mut group = criterion.benchmark_group(engine.name());
        group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
        for bits in [512_u32, 1024, 1536, 2048] {
            let limbs = bits as usize / 64;
            let (m, square) = (Modulus::new(engine, &modulus(limbs)), Square::new(engine, &modulus(limbs)));
            let (m, square) = (m.expect("odd"), square.expect("odd"));
            let (x, e) = (numbers(limbs), numbers(limbs));
            let exponents = Exponents::Each(&e, bits);
            let comb = FixedBase::new(&square, x.row(0), bits / 2);
            let mut bench = |name: &str, run: &(dyn Fn() + Sync)| {
                group.bench_function(BenchmarkId::new(name, bits), |b| pool.install(|| b.iter(run)));
            };
            bench("mul", &|| drop(m.mul(&x, &e)));
            bench("pow", &|| drop(m.pow(&x, exponents)));
            bench("pow_ladder", &|| drop(m.pow_ladder(&x, exponents)));
            bench("dual_pow", &|| drop(square.pow(&x, exponents)));
            bench("fixed_base", &|| drop(comb.pow(&e)));
        }
    }
}

criterion_group!(benches, arithmetic);
criterion_main!(benches);
