//! Integration tests of the reference models, linked into one executable.

mod decryption;
mod integer_fft;
mod table_one;
