//! What can be wrong with a circuit's text.

use std::fmt;

/// What is wrong, and in which line of the text.
///
/// ```
/// use hearith_dghv::circuit::Circuit;
/// let error = Circuit::parse("1 2\n1 1\n1 1\n\n1 1 1 1 INV\n").unwrap_err();
/// assert_eq!((error.line(), error.to_string().as_str()), (5, "line 5: wire 1 is driven by a gate that needs it: a loop"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitError {
    line: usize,
    kind: CircuitErrorKind,
}

impl CircuitError {
    pub(crate) fn new(line: usize, kind: CircuitErrorKind) -> Self {
        CircuitError { line, kind }
    }

    /// The line at fault, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong.
    pub fn kind(&self) -> &CircuitErrorKind {
        &self.kind
    }
}

impl fmt::Display for CircuitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

impl std::error::Error for CircuitError {}

/// What is wrong. The text says nothing of the line; see [`CircuitError`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitErrorKind {
    /// The text ends before the three lines that say what follows.
    #[error("the text ends before the numbers of gates, wires, inputs and outputs")]
    NoHeader,
    /// The header of the older format.
    #[error(
        "this is the older Bristol Format: Bristol Fashion has a line for the inputs and one for the outputs, each with how many values there are and the bits of each"
    )]
    OldFormat,
    /// What should be a count or a wire is none.
    #[error("a number is expected, not {0}")]
    NotANumber(String),
    /// A line has more or fewer words than it should.
    #[error("{found} words where {expected} are expected")]
    Words {
        /// Words of the line.
        found: usize,
        /// Words that it should have.
        expected: usize,
    },
    /// A count exceeds what is evaluated.
    #[error("{0} is more than the limit of {most}", most = super::MAX_WIRES)]
    TooMany(u64),
    /// A value of no bits, or none at all.
    #[error("a circuit has at least one output, and a value at least one bit")]
    Empty,
    /// Inputs or outputs have more bits than the circuit has wires.
    #[error("the values have {bits} bits, the circuit {wires} wires")]
    MoreBitsThanWires {
        /// Bits of the inputs, or of the outputs.
        bits: usize,
        /// Wires of the circuit.
        wires: usize,
    },
    /// A kind of gate that the format does not have, or with other counts of inputs and outputs.
    #[error("no gate {name} of {inputs} inputs and {outputs} outputs is known")]
    Gate {
        /// Its name, as an error line shows it.
        name: String,
        /// Inputs that the line says.
        inputs: usize,
        /// Outputs that the line says.
        outputs: usize,
    },
    /// A constant that is neither 0 nor 1.
    #[error("a constant is 0 or 1, not {0}")]
    Constant(usize),
    /// A wire beyond the last one.
    #[error("wire {wire} of {wires}, which are counted from 0")]
    NoSuchWire {
        /// The wire.
        wire: usize,
        /// Wires of the circuit.
        wires: usize,
    },
    /// Two gates drive a wire, or one drives an input.
    #[error("wire {0} is driven twice")]
    DrivenTwice(usize),
    /// No input and no gate drives a wire.
    #[error("nothing drives wire {0}")]
    Undriven(usize),
    /// A gate needs, by way of others, what it drives.
    #[error("wire {0} is driven by a gate that needs it: a loop")]
    Loop(usize),
    /// The text has another number of gates than it says.
    #[error("{found} gates where {expected} are announced")]
    Gates {
        /// Gates of the text.
        found: usize,
        /// Gates that the first line says.
        expected: usize,
    },
}
