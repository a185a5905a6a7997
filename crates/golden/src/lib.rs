//! The papers' algorithms, which the product does not use: it decrypts by the dual-number form and
//! converts residues by fractions. Here they serve as reference models of the hardware in `rtl/`,
//! which follows the papers, and benchmarks compare with them. Not published.
//!
//! - [`decryption`]: Paillier's decryption with `lambda` and `mu`, and algorithms 3 and 4 of the
//!   MESA paper \[HDSST25\], with [`count`], in which its Table I counts their post-processing;
//! - [`reduction`]: residue units, with the bound of every intermediate value;
//! - [`integer_fft`]: products by transforms, as the design for FHE over the integers \[CMOOH13\]
//!   makes them, and what they cost;
//! - [`block_streams`]: the modules of the election machine \[GTG24\], whose numbers move block by
//!   block, and their cycles.
//!
//! The decryptions are as constant in time as the product's, and wipe what they derive from a key:
//! `bench` measures both.

pub mod block_streams;
pub mod count;
pub mod decryption;
pub mod integer_fft;
pub mod reduction;

pub use decryption::{Decryption, PaperKey};
