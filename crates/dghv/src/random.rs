//! Random numbers, from the operating system's generator only.

use crate::Error;
use crypto_bigint::{BoxedUint, RandomBits, RandomMod, U256, UnsignedWithMontyForm};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use hearith_arith::natural::{Secret, clear_bits_from};
use hearith_arith::random::fill;
use zeroize::Zeroizing;

/// A uniform number below `2^bits`, in `limbs` limbs.
pub(crate) fn bits(limbs: usize, bits: u32) -> Result<Secret, Error> {
    let mut number = Zeroizing::new(vec![0; limbs]);
    let drawn = limbs.min(bits.div_ceil(64) as usize);
    fill(&mut number[..drawn])?;
    clear_bits_from(&mut number, bits);
    Ok(number)
}

/// A random prime of exactly `bits` bits: the first one from a random starting point, by the
/// strengthened Baillie-PSW test.
pub(crate) fn prime(bits: u32) -> Secret {
    let found = Zeroizing::new(found::<BoxedUint>(bits));
    Zeroizing::new(found.as_words().to_vec())
}

/// A random prime of exactly 256 bits. This is much faster than [`prime`] because such numbers need
/// no heap allocations.
pub(crate) fn prime_of_256_bits() -> Secret {
    let found = Zeroizing::new(found::<U256>(U256::BITS));
    Zeroizing::new(found.as_words().to_vec())
}

fn found<T: UnsignedWithMontyForm + RandomBits + RandomMod>(bits: u32) -> T {
    let candidates = SmallFactorsSieveFactory::<T>::new(Flavor::Any, bits, SetBits::Msb);
    let suits = |_: &mut UnwrapErr<SysRng>, candidate: &T| is_prime(Flavor::Any, candidate);
    let found = candidates.ok().and_then(|sieve| sieve_and_find(&mut UnwrapErr(SysRng), sieve, suits).ok().flatten());
    found.expect("a length above one bit, and starts without end")
}
