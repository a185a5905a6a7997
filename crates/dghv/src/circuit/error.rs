//! Errors in the text of a circuit.

use std::fmt;

/// An error in the text of a circuit, with its line.
///
/// ```
/// use hearith_dghv::circuit::Circuit;
/// let error = Circuit::parse("1 2\n1 1\n1 1\n\n1 1 1 1 INV\n").unwrap_err();
/// assert_eq!((error.line(), error.to_string().as_str()), (5, "line 5: wire 1 is part of a loop: the gate that drives it depends on it"));
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

    /// The line of the error, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The kind of error.
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

/// The kinds of errors in a circuit's text. Their messages omit the line; see [`CircuitError`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitErrorKind {
    /// The text ends before the three header lines.
    #[error("the text ends before the numbers of gates, wires, inputs and outputs")]
    NoHeader,
    /// The header is in the older format.
    #[error(
        "this is the older Bristol Format: Bristol Fashion has one line for the inputs and one for the outputs, each with the number of values and the bits of each value"
    )]
    OldFormat,
    /// A count or a wire is not a number.
    #[error("expected a number, not {0}")]
    NotANumber(String),
    /// A line has too many or too few words.
    #[error("expected {expected} words, not {found}")]
    Words {
        /// Words found in the line.
        found: usize,
        /// Words expected.
        expected: usize,
    },
    /// A number exceeds [`MAX_WIRES`](super::MAX_WIRES).
    #[error("{0} exceeds the limit of {most}", most = super::MAX_WIRES)]
    TooMany(u64),
    /// A value has no bits, or the circuit has no output.
    #[error("a circuit needs at least one output, and each value at least one bit")]
    Empty,
    /// Inputs or outputs have more bits than the circuit has wires.
    #[error("the values have {bits} bits, but the circuit has only {wires} wires")]
    MoreBitsThanWires {
        /// Bits of the inputs, or of the outputs.
        bits: usize,
        /// Wires of the circuit.
        wires: usize,
    },
    /// An unknown kind of gate, or a gate with wrong counts of inputs and outputs.
    #[error("unknown gate {name} with {inputs} inputs and {outputs} outputs")]
    Gate {
        /// The name, quoted for error messages.
        name: String,
        /// Inputs stated in the line.
        inputs: usize,
        /// Outputs stated in the line.
        outputs: usize,
    },
    /// A constant that is neither 0 nor 1.
    #[error("a constant must be 0 or 1, not {0}")]
    Constant(usize),
    /// The index of a wire is too large.
    #[error("wire {wire} does not exist: the circuit has {wires} wires, counted from 0")]
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
    /// A gate depends on its own output through other gates.
    #[error("wire {0} is part of a loop: the gate that drives it depends on it")]
    Loop(usize),
    /// The number of gates differs from the count in the first line.
    #[error("the header announces {expected} gates, but the circuit has {found}")]
    Gates {
        /// Gates found in the text.
        found: usize,
        /// Gates stated in the first line.
        expected: usize,
    },
}
