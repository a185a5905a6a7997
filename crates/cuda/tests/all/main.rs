//! The whole crate without a card: the driver's interface over kernels compiled for this CPU
//! (`kernels/driver.cpp` lists its cards).

mod cards;
mod compute;
mod decrypt;
mod driver;
mod keys;
mod products;
mod shared;
