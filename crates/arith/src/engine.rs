//! The one run-time choice: which kernel carries the arithmetic out.

use crate::ArithError;
use std::fmt;
use std::str::FromStr;

/// A way of carrying out the arithmetic on this CPU. All engines give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Portable code on 64-bit words, one operation at a time on each core.
    Serial,
    /// Eight operations side by side on each core, with AVX-512 IFMA.
    Ifma,
}

impl Engine {
    /// Every engine of this build, the preferred one last.
    pub const ALL: &[Engine] = &[Engine::Serial, Engine::Ifma];

    /// Name of the environment variable that forces an engine.
    pub const VARIABLE: &str = "HEARITH_ENGINE";

    /// The name by which users choose the engine.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Serial => "serial",
            Engine::Ifma => "ifma",
        }
    }

    /// What the engine needs from the machine, in words.
    pub fn requires(self) -> &'static str {
        match self {
            Engine::Serial => "any 64-bit CPU",
            Engine::Ifma => "an x86-64 CPU with AVX-512 F, DQ and IFMA",
        }
    }

    /// Independent operations that one core carries out side by side.
    pub fn lanes(self) -> usize {
        match self {
            Engine::Serial => 1,
            Engine::Ifma => 8,
        }
    }

    /// Whether this machine can run the engine.
    pub fn is_available(self) -> bool {
        match self {
            Engine::Serial => true,
            #[cfg(target_arch = "x86_64")]
            Engine::Ifma => crate::backend::ifma::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Engine::Ifma => false,
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
    /// [`ArithError::UnknownEngine`] or, if this machine cannot run it, [`ArithError::EngineUnavailable`].
    pub fn named(name: &str) -> Result<Engine, ArithError> {
        let engine: Engine = name.parse()?;
        if engine.is_available() {
            Ok(engine)
        } else {
            Err(ArithError::EngineUnavailable { engine: engine.name(), needs: engine.requires() })
        }
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
}
