//! The measuring instruments of the project: what its programs share.
//!
//! - `compare`: every way of every operation beside python-paillier and GMP, on one thread
//!   (`results/paillier.md`);
//! - `everywhere`: the engines of machines without AVX-512 beside GMP and HEU
//!   (`results/everywhere.md`);
//! - `seeds`: the papers' figures beside ours (`results/seeds.md`);
//! - `rns`: residue conversion beside NTL and FLINT (`results/rns-software.md`);
//! - `ntt`: products and remainders of very long numbers beside FLINT, GMP and tfhe-ntt
//!   (`results/ntt.md`, `ntt.svg`);
//! - `proofs`: proofs about ciphertexts, and shares of decryptions, beside gmpy2
//!   (`results/proofs.md`);
//! - `timing`: statistical tests that secret values do not show in running times
//!   (`results/timing.md`).

pub mod contestant;
pub mod gmp;
pub mod heu;
pub mod machine;
pub mod number;
pub mod options;
pub mod ours;
pub mod phe;
pub mod plot;
pub mod report;
pub mod rounds;
pub mod shares;
pub mod statistics;
pub mod welch;
pub mod workload;

/// What the programs end with: any error, as text.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The examples of the page on the Rust library, compiled and run with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../docs/reference/rust.md")]
struct RustPage;
