//! The engines' kernels, side by side behind [`crate::kernel::Kernel`].

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
pub(crate) mod serial;

/// Calls a function generic over the kernel with the kernel of an engine chosen at run time.
macro_rules! with_kernel {
    ($engine:expr, $kernel:ident => $call:expr) => {
        match $engine {
            $crate::Engine::Serial => {
                type $kernel = $crate::backend::serial::Serial;
                $call
            }
            #[cfg(target_arch = "x86_64")]
            $crate::Engine::Ifma => {
                type $kernel = $crate::backend::ifma::Ifma;
                $call
            }
            #[cfg(not(target_arch = "x86_64"))]
            $crate::Engine::Ifma => unreachable!("refused where a modulus is prepared"),
        }
    };
}
pub(crate) use with_kernel;
