#![doc = include_str!("../README.md")]

mod card;
mod choice;
mod driver;
mod engine;
mod fault;
mod images;
mod job;
mod limbs;
mod loaded;
mod overlap;
mod provider;
mod shape;
mod shared;

pub use card::KERNEL_VARIABLE;
pub use choice::{ALLOW_VARIABLE, AUTO_ROWS, Choice, engine, is_allowed};
pub use driver::{Driver, LIBRARY_VARIABLE, Properties};
pub use fault::Fault;
pub use loaded::{LoadedCard, MAX_KEY_BITS};
pub use provider::{CARDS, CUDA, Cards, describe};
pub use shape::Arithmetic;
pub use shared::LoadedCards;

/// The emulated driver, for [`Driver::open`] or `HEARITH_CUDA_DRIVER`. `kernels/driver.cpp` lists
/// its cards.
#[cfg(feature = "emulated")]
pub const EMULATED_DRIVER: &str = env!("HEARITH_EMULATED_DRIVER");

/// An emulated driver that is too old.
#[cfg(feature = "emulated")]
pub const OLD_DRIVER: &str = env!("HEARITH_OLD_DRIVER");
