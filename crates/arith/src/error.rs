//! Errors in the input of an arithmetic operation.

use thiserror::Error;

/// An error of the arithmetic layer. None of them carries a value, only shapes and names.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArithError {
    /// Montgomery arithmetic needs an odd modulus.
    #[error("the modulus is even")]
    EvenModulus,
    /// The modulus is shorter or longer than the kernels accept.
    #[error("the modulus has {bits} bits; {least} to {most} are supported")]
    ModulusSize {
        /// Bits of the modulus given.
        bits: u32,
        /// Fewest bits accepted.
        least: u32,
        /// Most bits accepted.
        most: u32,
    },
    /// No engine has this name.
    #[error("unknown engine '{0}' (known: {known})", known = crate::Engine::names())]
    UnknownEngine(String),
    /// The engine exists, but this machine cannot run it.
    #[error("engine '{engine}' needs {needs}, which this machine lacks")]
    EngineUnavailable {
        /// The engine asked for.
        engine: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// A text that should be a natural number is empty.
    #[error("there is no integer")]
    NoNumber,
    /// A text is no natural number.
    #[error("not a natural number, decimal or hexadecimal after 0x")]
    NotANumber,
    /// A text is a negative number.
    #[error("a negative number")]
    Negative,
    /// A number has more limbs than it may have.
    #[error("too large")]
    TooLarge,
}
