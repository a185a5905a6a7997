//! Integration tests of the SystemVerilog modules, linked into one executable.

#[cfg(feature = "election")]
mod ballot_machine;
#[cfg(feature = "blocks")]
mod block_streams;
#[cfg(feature = "ntt")]
mod blocks;
#[cfg(feature = "arith")]
mod boards;
mod buses;
#[cfg(feature = "election")]
mod challenges;
mod clocks;
#[cfg(feature = "arith")]
mod division;
#[cfg(feature = "arith")]
mod dual;
#[cfg(feature = "blocks")]
mod dual_encryptor;
#[cfg(feature = "arith")]
mod dual_products;
#[cfg(feature = "dghv")]
mod elements;
#[cfg(feature = "dghv")]
mod encryptor;
#[cfg(feature = "ntt")]
mod folded;
#[cfg(feature = "dghv")]
mod four_step;
#[cfg(any(feature = "arith", feature = "blocks", feature = "dghv", feature = "ntt", feature = "rns"))]
#[cfg_attr(
    not(all(feature = "arith", feature = "blocks", feature = "dghv", feature = "ntt", feature = "rns")),
    allow(dead_code, reason = "the tests of each feature use their part")
)]
mod golden;
#[cfg(any(feature = "arith", feature = "blocks"))]
mod idle;
#[cfg(feature = "arith")]
mod ladder;
#[cfg(feature = "arith")]
mod large_digits;
#[cfg(feature = "election")]
mod links;
#[cfg(feature = "ntt")]
mod long_product;
mod memories;
mod memory;
mod model;
mod monitors;
#[cfg(feature = "arith")]
mod montgomery;
#[cfg(feature = "election")]
mod noise;
#[cfg(feature = "ntt")]
mod ntt;
#[cfg(feature = "arith")]
mod pair;
mod parameters;
#[cfg(feature = "ntt")]
mod pipe;
#[cfg(feature = "rns")]
mod rns;
#[cfg(feature = "election")]
mod shares;
mod streams;
#[cfg(feature = "arith")]
mod sums;
#[cfg(feature = "dghv")]
mod super_size;
mod verilator;
#[cfg(feature = "election")]
mod vote_log;
#[cfg(feature = "election")]
mod vote_processor;
#[cfg(feature = "election")]
mod wires;
#[cfg(feature = "dghv")]
mod words;
