//! Benchmarks the papers' decryption methods and the product's, on every available engine with one
//! thread, in batches of 32 rows.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

const ROWS: usize = 32;

fn decryption(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let mut group = criterion.benchmark_group(engine.name());
        group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
        for bits in [1024, 2048] {
            let private = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, engine);
            let private = private.expect("a key");
            let paper = PaperKey::new(&private).expect("an engine that is there");
            let ciphertexts = private.public().zeros(ROWS);
            group.bench_function(BenchmarkId::new("decrypt", bits), |b| {
                pool.install(|| b.iter(|| private.decrypt(&ciphertexts)))
            });
            for way in Decryption::ALL {
                group.bench_function(BenchmarkId::new(format!("decrypt_{way}"), bits), |b| {
                    pool.install(|| b.iter(|| paper.decrypt(way, &ciphertexts)))
                });
            }
        }
    }
}

criterion_group!(benches, decryption);
criterion_main!(benches);
