//! Faults of a card, its driver, or the connection to them.

use std::sync::Arc;

use thiserror::Error;

/// The oldest supported driver, in CUDA's and in NVIDIA's numbering.
pub(crate) const OLDEST: (i32, &str) = (13000, "580");
/// The oldest cards that have kernels: compute capability 8.0.
pub(crate) const OLDEST_CARD: (i32, i32) = (8, 0);

/// The reason why there is no card, or why it failed. No fault carries a key or a plaintext.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The driver's library is not on this machine.
    #[error("no driver: {library} cannot be loaded")]
    NoDriver {
        /// The library's name.
        library: String,
        /// The error of the system's loader.
        #[source]
        cause: Arc<libloading::Error>,
    },
    /// A library of that name is no driver, or an incomplete one.
    #[error("broken driver: {library} lacks {function}")]
    BrokenDriver {
        /// The library's name.
        library: String,
        /// The first missing function.
        function: &'static str,
    },
    /// The driver is older than the kernels.
    #[error("driver too old: it supports CUDA {}.{}, but the kernels need {} (CUDA {}.{}) or newer", .found / 1000, .found % 1000 / 10, OLDEST.1, OLDEST.0 / 1000, OLDEST.0 % 1000 / 10)]
    DriverTooOld {
        /// CUDA's version, 1000 times the major plus 10 times the minor number.
        found: i32,
    },
    /// The driver finds no card.
    #[error("no card: the driver finds none")]
    NoCard,
    /// There is no card of that number.
    #[error("no card {number}: there are {count}, counted from 0")]
    NoSuchCard {
        /// The requested number.
        number: usize,
        /// The number of cards.
        count: usize,
    },
    /// The card is older than those that have kernels.
    #[error("card too old: {name} has compute capability {major}.{minor}, but the kernels need {}.{}", OLDEST_CARD.0, OLDEST_CARD.1)]
    CardTooOld {
        /// The card.
        name: String,
        /// Major number of its compute capability.
        major: i32,
        /// Minor number of its compute capability.
        minor: i32,
    },
    /// A call of the driver failed.
    #[error("the driver's {call} failed: {text} ({code})")]
    Call {
        /// The function.
        call: &'static str,
        /// The driver's description of the error.
        text: String,
        /// The driver's error code.
        code: i32,
    },
    /// The process was forked from the one that started the driver. The driver does not work in
    /// child processes.
    #[error(
        "this process was forked from one that uses cards, and the driver does not work in it: start a new process instead (Python's multiprocessing: 'spawn')"
    )]
    Forked,
    /// An environment variable has an invalid value.
    #[error("{variable} is '{value}': {choices}")]
    Choice {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        choices: &'static str,
    },
    /// There is no engine of this name, or this machine lacks it.
    #[error(transparent)]
    Engine(#[from] hearith_arith::ArithError),
    /// The kernels in the program are damaged.
    #[error("the program's kernels are damaged")]
    Images,
}
