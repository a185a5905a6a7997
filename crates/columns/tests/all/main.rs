//! Integration tests of encrypted columns, linked into one executable.

mod alignment;
mod bad_files;
mod csv;
mod damage;
mod expressions;
mod kernel;
mod lattice;
mod metadata;
mod written;
