//! Helpers that the tests share: servers on the loopback network, small keys, clients.

#![allow(missing_docs)]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant};
use hearith_service::client::{self, RemoteKey, Service};
use hearith_service::limits::Limits;
use hearith_service::server::{Options, Server};

/// Far too small for anything but tests.
pub const BITS: u32 = 256;

pub static KEY: LazyLock<PrivateKey> = LazyLock::new(|| key(Variant::Standard));
pub static DJN: LazyLock<PrivateKey> = LazyLock::new(|| key(Variant::Djn));

/// With the minimum size of a subgroup key.
pub static SUBGROUP: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, Engine::best()).unwrap());

pub fn key(variant: Variant) -> PrivateKey {
    PrivateKey::generate(BITS, variant, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

pub fn options() -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        metrics: None,
        public_metrics: false,
        collector: None,
        tls: None,
        rights: None,
        audit: None,
        keys: vec![KEY.clone()],
        policy: KeyPolicy::AllowInsecure,
        engine: Engine::best(),
        devices: vec![],
        cpu_fallback_only: false,
        limits: Limits::default(),
    }
}

pub fn start() -> Server {
    Server::start(options()).unwrap()
}

pub fn start_with(change: impl FnOnce(&mut Options)) -> Server {
    let mut options = options();
    change(&mut options);
    Server::start(options).unwrap()
}

pub fn url(server: &Server) -> String {
    format!("http://{}", server.address())
}

pub fn connect(server: &Server) -> Arc<Service> {
    Arc::new(Service::connect(&url(server), &client::Options::default()).unwrap())
}

pub fn remote(server: &Server, key: &PublicKey) -> RemoteKey {
    connect(server).key(key).unwrap()
}

pub fn numbers(count: usize) -> Vec<i128> {
    (0..count as i128).map(|number| (number - 7) * 1_000_003).collect()
}

pub fn plaintexts(key: &PublicKey, count: usize) -> Plaintexts {
    encode_signed(key, &numbers(count)).unwrap()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Decrypts ciphertexts.
pub fn opened(key: &PrivateKey, ciphertexts: &Ciphertexts) -> Vec<i128> {
    let plaintexts = key.decrypt(ciphertexts).unwrap();
    integers(key.public(), &plaintexts)
}

pub fn integers(key: &PublicKey, plaintexts: &Plaintexts) -> Vec<i128> {
    let signed = decode_signed(key, plaintexts).unwrap();
    signed.iter().map(|number| number.to_string().parse().unwrap()).collect()
}

/// Waits until a condition holds, for up to five minutes, since a busy machine is slow and must not
/// fail a test.
pub fn eventually(what: &str, so: impl Fn() -> bool) {
    for _ in 0..30_000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {what}");
}

/// The sum of a metric's samples whose lines begin with `beginning`.
pub fn metric(server: &Server, beginning: &str) -> f64 {
    let text = server.metrics().text();
    let of = text.lines().filter(|line| line.starts_with(beginning));
    of.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}
