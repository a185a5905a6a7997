//! The engines' kernels, behind [`crate::kernel::Kernel`].

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
pub(crate) mod serial;

use crate::Engine;
use crate::constants::MontgomeryParams;

/// Evaluates an expression that is generic over the [`Kernel`](crate::kernel::Kernel) with the
/// kernel of an engine.
macro_rules! with_kernel {
    ($engine:expr, $kernel:ident => $call:expr) => {
        $crate::dispatch!($engine, $kernel in {
            serial: $crate::backend::serial::Serial,
            avx2: $crate::backend::avx2::Avx2,
            ifma: $crate::backend::ifma::Ifma,
        } => $call)
    };
}
pub(crate) use with_kernel;

/// Like `with_kernel`, for a given number of rows and the constants of a modulus. A few rows use a
/// separate kernel with the same constants.
macro_rules! with_kernel_for {
    ($constants:expr, $rows:expr, $kernel:ident => $call:expr) => {
        match $crate::backend::uses_across_kernel($constants, $rows) {
            #[cfg(target_arch = "x86_64")]
            true => {
                type $kernel = $crate::backend::ifma::across::Across;
                $call
            }
            _ => $crate::backend::with_kernel!($constants.engine, $kernel => $call),
        }
    };
}
pub(crate) use with_kernel_for;

/// Whether this number of rows uses the kernel for few rows, given the modulus and its engine.
pub(crate) fn uses_across_kernel(constants: &MontgomeryParams, rows: usize) -> bool {
    match constants.engine.engine() {
        #[cfg(target_arch = "x86_64")]
        Engine::Ifma => ifma::across::few(constants.k, rows),
        _ => false,
    }
}
