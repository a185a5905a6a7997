//! Integration tests of the arithmetic, linked into one executable.

mod against_gmp;
mod engines_agree;
