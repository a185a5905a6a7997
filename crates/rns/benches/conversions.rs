//! Benchmarks the conversion of integers to residues and back, for bases of the paper's special
//! primes, on every available engine with one thread.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hearith_arith::{Batch, Engine};
use hearith_rns::{Basis, Bounds, PrimeSearch};

const ROWS: usize = 1024;

/// As many special primes as an integer of `modulus_bits` bits has words of 30 bits.
fn moduli(log_degree: u32, modulus_bits: u32, max_word: u32) -> Vec<u64> {
    let bounds = Bounds::Paper;
    let search = PrimeSearch { degree: 1 << log_degree, modulus_bits, word_bits: 30, max_word, terms: 5, bounds };
    let primes = search.primes().expect("the paper's parameters").map(|prime| prime.modulus());
    primes.take(search.words() as usize).collect()
}

/// Numbers without a particular pattern, below half of `Q`.
fn numbers(basis: &Basis) -> Batch {
    let mut batch = Batch::zeros(ROWS, basis.limbs()).public();
    for (index, limb) in batch.as_limbs_mut().iter_mut().enumerate() {
        *limb = (index as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(index as u32);
    }
    let top = basis.product().last().map_or(1, |top| top / 2);
    batch.rows_mut().for_each(|row| row[basis.limbs() - 1] %= top);
    batch
}

fn conversions(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let mut group = criterion.benchmark_group(engine.name());
        group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
        for (log_degree, bits, max_word) in [(13, 360, 60), (14, 720, 63), (15, 1440, 63)] {
            let basis = Basis::new(engine, &moduli(log_degree, bits, max_word)).expect("coprime moduli");
            let numbers = numbers(&basis);
            let residues = basis.residues(&numbers).expect("numbers below the product");
            let mut bench = |name: &str, run: &(dyn Fn() + Sync)| {
                group.bench_function(BenchmarkId::new(name, bits), |b| pool.install(|| b.iter(run)));
            };
            bench("residues", &|| drop(basis.residues(&numbers)));
            bench("numbers", &|| drop(basis.numbers(&residues)));
        }
    }
}

criterion_group!(benches, conversions);
criterion_main!(benches);
