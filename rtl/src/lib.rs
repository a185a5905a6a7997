//! The designs that the tests in this package simulate, compiled by `build.rs` from the module
//! directories of `rtl`.

hearith_verilated::designs!();
