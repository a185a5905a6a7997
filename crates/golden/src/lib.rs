//! The papers' algorithms, which the product does not use: it decrypts by the dual-number form and
//! converts residues by fractions.
//!
//! They serve as reference models of the hardware in `rtl/`, which follows the papers, and as a
//! comparison in benchmarks. This crate is not published.
//!
//! - [`decryption`]: Paillier's decryption with `lambda` and `mu`, and algorithms 3 and 4 of the
//!   MESA paper \[HDSST25\]. [`count`] counts their post-processing in the unit of its Table I;
//! - [`reduction`]: residue units, with a bound for every intermediate value;
//! - [`integer_fft`]: products by transforms as in the design for FHE over the integers
//!   \[CMOOH13\], and their cost;
//! - [`block_streams`]: the modules of the election machine \[GTG24\], which process numbers block
//!   by block, and their cycles.
//!
//! The decryptions are as constant-time as the product's and wipe values derived from a key:
//! `bench` measures both.

pub mod block_streams;
pub mod count;
pub mod decryption;
pub mod integer_fft;
pub mod reduction;

pub use decryption::{Decryption, PaperKey};
