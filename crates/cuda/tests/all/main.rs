//! The whole of this crate without a card: the driver's interface over kernels that are compiled
//! for this CPU (`kernels/driver.cpp` says which cards it has).

mod cards;
mod compute;
mod decrypt;
mod driver;
mod keys;
mod products;
mod shared;
