//! Measures how other clients, with heavy load or idle connections, affect one client: latencies of
//! single encryptions, the time to connect, and the time of a shutdown.
//!
//! Prints Markdown tables for `bench/results/service.md`. `service_fairness [SECONDS]` measures
//! each load for SECONDS (20 by default).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};
use hearith_service::client::{self, RemoteKey, Service};
use hearith_service::limits::Limits;
use hearith_service::server::{Options, Server};

/// Rows per message of a client with heavy load.
const ROWS: usize = 1000;

fn start() -> Server {
    let limits = Limits { message_bytes: 4 << 20, ..Limits::default() };
    Server::start(Options {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        metrics: None,
        public_metrics: false,
        collector: None,
        tls: None,
        rights: None,
        audit: None,
        keys: vec![],
        policy: KeyPolicy::Secure,
        engine: Engine::best(),
        devices: vec![],
        cpu_fallback_only: false,
        limits,
    })
    .expect("the server starts")
}

fn remote(server: &Server, key: &PublicKey) -> RemoteKey {
    let url = format!("http://{}", server.address());
    let service = Service::connect(&url, &client::Options::default()).expect("it connects");
    Arc::new(service).key(key).expect("the key is taken")
}

/// Returns a public key. Large moduli have no known factors, since nobody decrypts here.
fn public(bits: u32) -> PublicKey {
    if bits <= 2048 {
        let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::Secure, Engine::best());
        return key.expect("a key").public().clone();
    }
    let mut n = vec![0x5a_u8; bits as usize / 8];
    (0..n.len()).for_each(|at| n[at] = n[at].wrapping_mul(at as u8 | 1).wrapping_add(at as u8));
    let last = n.len() - 1;
    n[0] = 0xff;
    let mut moduli = (1..=255).step_by(2).filter_map(|end| {
        n[last] = end;
        PublicKey::new(&n, None, KeyPolicy::Secure, Engine::best()).ok()
    });
    moduli.next().expect("a modulus without small factors")
}

/// Measures latencies of single encryptions while heavy clients encrypt without pause. Also returns
/// the number of rows that the heavy clients got.
fn measure(server: &Server, light: &PublicKey, heavy: &[PublicKey], seconds: f64) -> (Vec<f64>, usize) {
    let (ended, rows) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for key in heavy {
            let (ended, rows) = (&ended, &rows);
            scope.spawn(move || {
                let remote = remote(server, key);
                let numbers: Vec<i128> = (0..ROWS as i128).collect();
                // Fewer rows for large keys, so that the last message ends soon.
                let most = (ROWS * 2048 / key.bits() as usize).max(1);
                let plaintexts = encode_signed(key, &numbers[..most]).expect("they fit");
                while !ended.load(Ordering::Relaxed) {
                    rows.fetch_add(remote.encrypt(&plaintexts).expect("an answer").len(), Ordering::Relaxed);
                }
            });
        }
        let remote = remote(server, light);
        let one = encode_signed(light, &[42]).expect("it fits");
        thread::sleep(Duration::from_secs(2));
        let before = rows.load(Ordering::Relaxed);
        let (start, mut latencies) = (Instant::now(), Vec::new());
        while start.elapsed().as_secs_f64() < seconds {
            let asked = Instant::now();
            remote.encrypt(&one).expect("an answer");
            latencies.push(asked.elapsed().as_secs_f64() * 1e3);
            thread::sleep(Duration::from_millis(5));
        }
        ended.store(true, Ordering::Relaxed);
        let rows = rows.load(Ordering::Relaxed) - before;
        latencies.sort_by(f64::total_cmp);
        (latencies, rows)
    })
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

fn fairness(seconds: f64) {
    let server = start();
    let light = public(2048);
    let (middle, large) = (public(2048), public(8192));
    println!("| beside | requests | p50 | p99 | most |\n| --- | ---: | ---: | ---: | ---: |");
    for (name, heavy) in [
        ("nobody", vec![]),
        ("one client, 1000 rows of 2048 bits a batch", vec![middle.clone()]),
        ("four clients, 1000 rows of 2048 bits a batch", vec![middle.clone(); 4]),
        ("one client, 250 rows of 8192 bits a batch", vec![large.clone()]),
        ("one of 8192 and four of 2048 bits", [vec![large], vec![middle; 4]].concat()),
    ] {
        let (latencies, _) = measure(&server, &light, &heavy, seconds);
        let [p50, p99] = [0.5, 0.99].map(|part| quantile(&latencies, part));
        let most = quantile(&latencies, 1.0);
        println!("| {name} | {} | {p50:.1} ms | {p99:.1} ms | {most:.1} ms |", latencies.len());
    }
}

fn handshakes() {
    println!("\n| silent connections | one more client connects and registers a key |\n| ---: | ---: |");
    for count in [0, 500, 5000] {
        let server = start();
        let key = public(2048);
        let held: Vec<TcpStream> = (0..count).filter_map(|_| TcpStream::connect(server.address()).ok()).collect();
        let began = Instant::now();
        drop(remote(&server, &key));
        println!("| {} | {:.0} ms |", held.len(), began.elapsed().as_secs_f64() * 1e3);
    }
}

fn shutdowns() {
    println!("\n| open | shutdown |\n| --- | ---: |");
    for (name, silent, idle) in [("nothing", 0, 0), ("100 silent connections", 100, 0), ("100 idle clients", 0, 100)] {
        let server = start();
        let connect = |_| TcpStream::connect(server.address()).expect("it connects");
        let silent = (0..silent).map(connect);
        // One handshake after another, because an address may have only a few unfinished ones.
        let idle = (0..idle).map(connect).inspect(|mut stream| {
            stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").expect("it is sent");
            stream.read_exact(&mut [0; 9]).expect("the server's settings");
        });
        let _held: Vec<TcpStream> = silent.chain(idle).collect();
        let began = Instant::now();
        assert!(server.stop());
        println!("| {name} | {:.2} s |", began.elapsed().as_secs_f64());
    }
}

fn main() {
    let seconds = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20.0);
    println!("Engine {}, {} threads.\n", Engine::best().name(), rayon::current_num_threads());
    fairness(seconds);
    handshakes();
    shutdowns();
}
