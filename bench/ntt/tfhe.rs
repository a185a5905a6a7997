//! The transforms of tfhe-ntt for bench/src/bin/ntt: one request a line, one answer a line.
//!   version                  -> its name and version
//!   transform LOG REPEATS    -> seconds for transforms of 2^LOG residues modulo each of the eight primes of hearith-ntt

use rustix::time::{ClockId, clock_gettime};
use tfhe_ntt::prime64::Plan;

/// As crates/ntt/src/primes.rs has them.
const PRIMES: [u64; 8] = {
    let mut primes = [40, 45, 46, 61, 84, 88, 99, 103];
    let mut i = 0;
    while i < 8 {
        primes[i] = (1 << 48) - (primes[i] << 24) + 1;
        i += 1;
    }
    primes
};

fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn transform(log: u32, repeats: usize) -> f64 {
    let plans = PRIMES.map(|p| Plan::try_new(1 << log, p).expect("the primes have roots of that order"));
    assert!(plans.iter().all(Plan::use_ifma), "the vector instructions of the same kind");
    let mut residues = PRIMES.map(|p| (0..1 << log).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % p).collect::<Vec<_>>());
    let mut all = || plans.iter().zip(&mut residues).for_each(|(plan, residues)| plan.fwd(residues));
    all();
    let start = processor_time();
    (0..repeats).for_each(|_| all());
    processor_time() - start
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.expect("requests are text");
        match *line.split(' ').collect::<Vec<_>>() {
            ["transform", log, repeats] => {
                println!("{:.9}", transform(log.parse().expect("a number"), repeats.parse().expect("a number")));
            }
            _ => println!("tfhe-ntt {}", env!("TFHE_NTT_VERSION")),
        }
    }
}
