//! Integration tests of products and reductions, linked into one executable.

mod barrett;
mod products;
