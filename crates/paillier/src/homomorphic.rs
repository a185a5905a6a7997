//! Operations on ciphertexts without the private key.

mod add;
mod blocks;
mod euclid;
mod inverse;
mod multiply;
mod sum;

pub(crate) use multiply::row_numbers;
