//! The engines' kernels, side by side behind [`crate::kernel::Kernel`].

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
pub(crate) mod serial;

/// Calls a function generic over the [`Kernel`](crate::kernel::Kernel) with that of an engine.
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
