//! The designs that the tests in this package simulate, compiled by `build.rs` from `lib/`,
//! `arith/` and `mesa/`.

hearith_verilated::designs!();
