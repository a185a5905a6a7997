//! The engines' kernels, side by side behind [`crate::kernel::Kernel`].

pub(crate) mod serial;

/// Calls a function generic over the kernel with the kernel of an engine chosen at run time.
macro_rules! with_kernel {
    ($engine:expr, $kernel:ident => $call:expr) => {
        match $engine {
            $crate::Engine::Serial => {
                type $kernel = $crate::backend::serial::Serial;
                $call
            }
        }
    };
}
pub(crate) use with_kernel;
