//! Errors for invalid input of an arithmetic operation.

use thiserror::Error;

/// An error of the arithmetic layer. Errors carry shapes and names, but no values.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArithError {
    /// Montgomery arithmetic needs an odd modulus.
    #[error("the modulus is even")]
    EvenModulus,
    /// The length of the modulus is outside the range that the kernels accept.
    #[error("the modulus has {bits} bits; {least} to {most} are supported")]
    ModulusSize {
        /// Length of the modulus in bits.
        bits: u32,
        /// Minimum length in bits.
        least: u32,
        /// Maximum length in bits.
        most: u32,
    },
    /// No engine has this name.
    #[error("unknown engine '{0}' (known: {known})", known = crate::Engine::names())]
    UnknownEngine(String),
    /// The engine exists, but this machine cannot run it.
    #[error("engine '{engine}' needs {needs}, which this machine lacks")]
    EngineUnavailable {
        /// The requested engine.
        engine: &'static str,
        /// Its requirements.
        needs: &'static str,
    },
    /// A text is empty where a natural number is expected.
    #[error("an integer is missing")]
    NoNumber,
    /// A text is not a natural number.
    #[error("not a natural number (decimal, or hexadecimal with the prefix 0x)")]
    NotANumber,
    /// A text is a negative number.
    #[error("the number is negative")]
    Negative,
    /// A number has too many limbs.
    #[error("the number is too large")]
    TooLarge,
}
