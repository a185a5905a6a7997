//! The selection of a kernel at run time.

use crate::ArithError;
use std::fmt;
use std::str::FromStr;

/// An implementation of the arithmetic on this CPU. All engines give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Portable code on 64-bit words, one operation at a time per core.
    Serial,
    /// AVX2: four parallel operations per core.
    Avx2,
    /// AVX-512 IFMA: eight parallel operations per core.
    Ifma,
}

impl Engine {
    /// Every engine of this build, from the least to the most preferred.
    pub const ALL: &[Engine] = &[Engine::Serial, Engine::Avx2, Engine::Ifma];

    /// Name of the environment variable that forces an engine.
    pub const VARIABLE: &str = "HEARITH_ENGINE";

    /// The name by which users select the engine.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Serial => "serial",
            Engine::Avx2 => "avx2",
            Engine::Ifma => "ifma",
        }
    }

    /// The engine's hardware requirements, in words.
    pub fn requires(self) -> &'static str {
        match self {
            Engine::Serial => "any 64-bit CPU",
            Engine::Avx2 => "an x86-64 CPU with AVX2",
            Engine::Ifma => "an x86-64 CPU with AVX-512 F, DQ and IFMA",
        }
    }

    /// Number of independent operations that one core performs in parallel.
    pub fn lanes(self) -> usize {
        match self {
            Engine::Serial => 1,
            Engine::Avx2 => 4,
            Engine::Ifma => 8,
        }
    }

    /// Whether this machine can run the engine.
    pub fn is_available(self) -> bool {
        match self {
            Engine::Serial => true,
            // The only features that a kernel of this engine may enable by `target_feature`.
            #[cfg(target_arch = "x86_64")]
            Engine::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Engine::Ifma => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Engine::Avx2 | Engine::Ifma => false,
        }
    }

    /// The engine as one that this machine can run, as required to select a kernel.
    ///
    /// # Errors
    /// [`ArithError::EngineUnavailable`].
    pub fn available(self) -> Result<Available, ArithError> {
        match self.is_available() {
            true => Ok(Available(self)),
            false => Err(ArithError::EngineUnavailable { engine: self.name(), needs: self.requires() }),
        }
    }

    /// The fastest engine that this machine can run.
    pub fn best() -> Engine {
        let runnable = Engine::ALL.iter().rev().find(|engine| engine.is_available());
        *runnable.expect("the serial engine runs everywhere")
    }

    /// The engine called `name`.
    ///
    /// # Errors
    /// [`ArithError::UnknownEngine`] or, if this machine cannot run it,
    /// [`ArithError::EngineUnavailable`].
    pub fn named(name: &str) -> Result<Engine, ArithError> {
        name.parse::<Engine>()?.available().map(Available::engine)
    }

    /// The engine that `HEARITH_ENGINE` names, or the best one if the variable is unset or empty.
    ///
    /// # Errors
    /// As [`Engine::named`].
    pub fn from_env() -> Result<Engine, ArithError> {
        match std::env::var(Engine::VARIABLE) {
            Ok(name) if !name.is_empty() => Engine::named(&name),
            _ => Ok(Engine::best()),
        }
    }

    /// The names of all engines, for messages.
    pub(crate) fn names() -> String {
        Engine::ALL.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ")
    }
}

/// An engine that this machine can run, as checked by [`Engine::available`], the only way to create
/// one. [`dispatch!`](crate::dispatch) accepts nothing else, so every kernel that it calls can rely
/// on its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Available(Engine);

impl Available {
    /// The engine.
    pub fn engine(self) -> Engine {
        self.0
    }
}

/// Evaluates an expression with a type name for the kernel of an engine. This is the only place
/// where an engine, chosen at run time, becomes a type.
///
/// A kernel is anything that a crate implements once per engine: types that implement one of the
/// crate's own traits. The crate lists the kernels of all engines here, and the expression is
/// compiled for each. The engine is passed as [`Available`], so a vector kernel may rely on the
/// instructions that [`Engine::requires`] names. On machines other than x86-64, the vector kernels
/// are ignored and need not exist.
///
/// ```
/// use hearith_arith::{ArithError, Available, Engine, dispatch};
///
/// /// Sums of words modulo `m`: a kernel of another shape than those of this crate.
/// trait Sum: Send + Sync {
///     fn new(m: u64) -> Self where Self: Sized;
///     fn sum(&self, words: &[u32]) -> u64;
/// }
///
/// struct Serial(u64);
/// impl Sum for Serial {
///     fn new(m: u64) -> Self {
///         Serial(m)
///     }
///     fn sum(&self, words: &[u32]) -> u64 {
///         words.iter().fold(0, |sum, &word| (sum + u64::from(word)) % self.0)
///     }
/// }
///
/// // A crate without a kernel for some engine names that of another which runs wherever the engine does.
/// type Avx2 = Serial;
///
/// #[cfg(target_arch = "x86_64")]
/// struct Ifma(u64);
/// #[cfg(target_arch = "x86_64")]
/// impl Sum for Ifma {
///     fn new(m: u64) -> Self {
///         Ifma(m)
///     }
///     fn sum(&self, words: &[u32]) -> u64 {
///         // SAFETY: only `dispatch!` reaches this kernel, so the CPU supports the instructions.
///         unsafe { sum(words) % self.0 }
///     }
/// }
///
/// #[cfg(target_arch = "x86_64")]
/// #[target_feature(enable = "avx512f")]
/// fn sum(words: &[u32]) -> u64 {
///     words.iter().map(|&word| u64::from(word)).sum()
/// }
///
/// fn kernel(engine: Engine, m: u64) -> Result<Box<dyn Sum>, ArithError> {
///     let engine: Available = engine.available()?;
///     Ok(dispatch!(engine, K in { serial: Serial, avx2: Avx2, ifma: Ifma } => Box::new(K::new(m))))
/// }
///
/// for engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
///     assert_eq!(kernel(*engine, 10)?.sum(&[7, 8, 9]), 4);
/// }
/// # Ok::<(), ArithError>(())
/// ```
#[macro_export]
macro_rules! dispatch {
    ($engine:expr, $kernel:ident in { serial: $serial:ty, avx2: $avx2:ty, ifma: $ifma:ty $(,)? } => $call:expr) => {
        match $crate::Available::engine($engine) {
            $crate::Engine::Serial => {
                type $kernel = $serial;
                $call
            }
            #[cfg(target_arch = "x86_64")]
            $crate::Engine::Avx2 => {
                type $kernel = $avx2;
                $call
            }
            #[cfg(target_arch = "x86_64")]
            $crate::Engine::Ifma => {
                type $kernel = $ifma;
                $call
            }
            #[allow(unreachable_patterns)]
            _ => ::std::unreachable!("no other engine is available"),
        }
    };
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = ArithError;

    fn from_str(name: &str) -> Result<Self, ArithError> {
        let found = Engine::ALL.iter().find(|engine| engine.name() == name);
        found.copied().ok_or_else(|| ArithError::UnknownEngine(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_found_by_its_name() {
        for &engine in Engine::ALL {
            assert_eq!(engine.name().parse(), Ok(engine));
        }
        assert_eq!(Engine::named("abacus"), Err(ArithError::UnknownEngine("abacus".into())));
        assert!(Engine::best().is_available());
    }

    #[test]
    fn only_what_runs_here_is_available() {
        for &engine in Engine::ALL {
            assert_eq!(engine.available().is_ok(), engine.is_available());
        }
        let lanes = |engine: Available| dispatch!(engine, K in { serial: [u8; 1], avx2: [u8; 4], ifma: [u8; 8] } => size_of::<K>());
        for engine in Engine::ALL.iter().filter_map(|engine| engine.available().ok()) {
            assert_eq!(lanes(engine), engine.engine().lanes());
        }
    }
}
