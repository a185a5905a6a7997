//! Benchmarks of the scheme's operations on every available engine, on one thread with batches of
//! 32 rows.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};

const ROWS: usize = 32;

fn scheme(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let mut group = criterion.benchmark_group(engine.name());
        group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
        for bits in [1024, 2048] {
            let private = PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, engine).expect("a key");
            let djn = private.public();
            let be = |limbs: &[u64]| -> Vec<u8> { limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect() };
            let [p, q] = private.primes().map(be);
            let owner = PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine).expect("a key");
            let standard = PublicKey::new(&djn.modulus_be(), None, KeyPolicy::AllowInsecure, engine).expect("a key");
            let values: Vec<i128> = (0..ROWS as i128).map(|row| row - 7).collect();
            let plaintexts = encode_signed(djn, &values).expect("small numbers");
            let ciphertexts = djn.encrypt(&plaintexts).expect("valid plaintexts");
            let mut bench = |name: &str, run: &(dyn Fn() + Sync)| {
                group.bench_function(BenchmarkId::new(name, bits), |b| pool.install(|| b.iter(run)));
            };
            bench("encrypt", &|| drop(standard.encrypt(&plaintexts)));
            bench("encrypt_djn", &|| drop(djn.encrypt(&plaintexts)));
            bench("encrypt_owner", &|| drop(owner.encrypt(&plaintexts)));
            bench("decrypt", &|| drop(private.decrypt(&ciphertexts)));
            bench("add", &|| drop(djn.add(&ciphertexts, &ciphertexts)));
            bench("scale", &|| drop(djn.multiply_deterministic(&ciphertexts, &values, 128)));
            bench("sum", &|| drop(djn.sum(&ciphertexts)));
            bench("dot", &|| drop(djn.dot_deterministic(&ciphertexts, &values, ROWS, 128)));
        }
    }
}

criterion_group!(benches, scheme);
criterion_main!(benches);
