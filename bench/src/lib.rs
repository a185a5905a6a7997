//! The project's measuring tools: the code that its programs share.
//!
//! - `compare`: every way of every operation compared with python-paillier and GMP, on one thread
//!   (`results/paillier.md`);
//! - `everywhere`: the engines for machines without AVX-512 compared with GMP and HEU
//!   (`results/everywhere.md`);
//! - `seeds`: the papers' figures compared with ours (`results/seeds.md`);
//! - `rns`: residue conversion compared with NTL and FLINT (`results/rns-software.md`);
//! - `ntt`: products and remainders of very long numbers compared with FLINT, GMP and tfhe-ntt
//!   (`results/ntt.md`, `ntt.svg`);
//! - `proofs`: proofs about ciphertexts, and shares of decryptions, compared with gmpy2
//!   (`results/proofs.md`);
//! - `timing`: statistical tests that running times do not depend on secret values
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

/// The result type of the programs, with any error as text.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The examples of the page on the Rust library, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/reference/rust.md")]
struct RustPage;
