//! Boolean circuits, evaluated on encrypted bits.
//!
//! A [`Circuit`] is parsed from Bristol Fashion ([`Circuit::parse`]), the usual format for
//! published circuits, or built with a [`Builder`]. A few circuits are predefined in [`library`].
//! Circuits are evaluated over any type with XOR, AND and NOT ([`Bits`]), such as plaintext truth
//! values or ciphertexts.

mod bristol;
mod builder;
mod descending;
mod encrypted;
mod error;
mod evaluate;
pub mod library;

pub use builder::{Builder, Wire};
pub(crate) use encrypted::{Encrypted, Noise};
pub use encrypted::{Evaluator, Work};
pub use error::{CircuitError, CircuitErrorKind};
pub use evaluate::{Bits, Plain, Wires};

use std::fmt;

/// Maximum number of wires in a circuit, and of gates.
pub const MAX_WIRES: usize = 1 << 24;

/// A gate. Wires are counted from 0, the inputs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Xor { a: u32, b: u32, out: u32 },
    And { a: u32, b: u32, out: u32 },
    Not { a: u32, out: u32 },
    Copy { a: u32, out: u32 },
    Constant { value: bool, out: u32 },
}

impl Gate {
    /// The wire that it drives.
    pub(crate) fn out(self) -> usize {
        match self {
            Gate::Xor { out, .. }
            | Gate::And { out, .. }
            | Gate::Not { out, .. }
            | Gate::Copy { out, .. }
            | Gate::Constant { out, .. } => out as usize,
        }
    }

    /// The same gate with renumbered wires.
    pub(crate) fn renamed(self, name: impl Fn(u32) -> u32) -> Self {
        match self {
            Gate::Xor { a, b, out } => Gate::Xor { a: name(a), b: name(b), out: name(out) },
            Gate::And { a, b, out } => Gate::And { a: name(a), b: name(b), out: name(out) },
            Gate::Not { a, out } => Gate::Not { a: name(a), out: name(out) },
            Gate::Copy { a, out } => Gate::Copy { a: name(a), out: name(out) },
            Gate::Constant { value, out } => Gate::Constant { value, out: name(out) },
        }
    }

    /// The wires that it reads.
    pub(crate) fn reads(self) -> impl Iterator<Item = usize> {
        let (a, b) = match self {
            Gate::Xor { a, b, .. } | Gate::And { a, b, .. } => (Some(a), Some(b)),
            Gate::Not { a, .. } | Gate::Copy { a, .. } => (Some(a), None),
            Gate::Constant { .. } => (None, None),
        };
        [a, b].into_iter().flatten().map(|wire| wire as usize)
    }
}

/// A circuit without loops in which exactly one input or gate drives each wire.
///
/// Each input and output is a value of one or more bits, least significant bit first. The first
/// wires carry the input bits, the last wires the output bits.
///
/// ```
/// use hearith_dghv::circuit::Circuit;
/// let half_adder = Circuit::parse("2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n")?;
/// assert_eq!((half_adder.inputs(), half_adder.outputs()), (&[1, 1][..], &[1, 1][..]));
/// assert_eq!((half_adder.ands(), half_adder.and_depth()), (1, 1));
/// assert_eq!(half_adder.evaluate_plain(&[true, true]), [false, true]);
/// # Ok::<(), hearith_dghv::circuit::CircuitError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Circuit {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    wires: usize,
    /// Sorted by level: a gate reads only wires that inputs or gates of earlier levels drive.
    gates: Vec<Gate>,
    /// The end of each level in `gates`.
    ends: Vec<usize>,
    and_depth: usize,
}

impl Circuit {
    /// The number of bits in each input value.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The number of bits in each output value.
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The total number of input bits.
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The total number of output bits.
    pub fn output_bits(&self) -> usize {
        self.outputs.iter().sum()
    }

    /// The number of wires, including inputs and outputs.
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// The number of gates of all kinds.
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// The number of AND gates.
    pub fn ands(&self) -> usize {
        self.gates.iter().filter(|gate| matches!(gate, Gate::And { .. })).count()
    }

    /// The largest number of gates, of any kind, on a path from an input to an output.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// The largest number of AND gates on a path from an input to an output. It determines how the
    /// noise grows.
    pub fn and_depth(&self) -> usize {
        self.and_depth
    }

    /// The gates level by level. The gates of a level read only wires driven before it.
    pub(crate) fn levels(&self) -> impl Iterator<Item = &[Gate]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.gates[start..end])
    }

    /// Sorts gates by level.
    ///
    /// Every wire that is read must be an input or driven by one of the gates.
    ///
    /// # Errors
    /// The index in `gates` of a gate on a loop.
    pub(crate) fn by_level(
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        wires: usize,
        gates: Vec<Gate>,
    ) -> Result<Self, usize> {
        let mut driver = vec![usize::MAX; wires];
        for (gate_index, gate) in gates.iter().enumerate() {
            driver[gate.out()] = gate_index;
        }
        let mut waiting: Vec<usize> = Vec::with_capacity(gates.len());
        let readers = Readers::new(wires, &gates);
        let mut ready = Vec::new();
        for (gate_index, gate) in gates.iter().enumerate() {
            waiting.push(gate.reads().filter(|&wire| driver[wire] != usize::MAX).count());
            if waiting[gate_index] == 0 {
                ready.push(gate_index);
            }
        }
        let (mut sorted, mut ends) = (Vec::with_capacity(gates.len()), Vec::new());
        let mut and_depths = vec![0_usize; wires];
        while !ready.is_empty() {
            let mut next = Vec::new();
            for gate_index in ready {
                let gate = gates[gate_index];
                let and = usize::from(matches!(gate, Gate::And { .. }));
                and_depths[gate.out()] = and + gate.reads().map(|wire| and_depths[wire]).max().unwrap_or(0);
                sorted.push(gate);
                for &reader in readers.of(gate.out()) {
                    waiting[reader] -= 1;
                    if waiting[reader] == 0 {
                        next.push(reader);
                    }
                }
            }
            ends.push(sorted.len());
            next.sort_unstable();
            ready = next;
        }
        if sorted.len() < gates.len() {
            return Err(loop_of(&gates, &driver, &waiting));
        }
        let and_depth = and_depths.into_iter().max().unwrap_or(0);
        Ok(Circuit { inputs, outputs, wires, gates: sorted, ends, and_depth })
    }
}

impl fmt::Debug for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Circuit({:?} -> {:?}, {} gates, {} AND, ", self.inputs, self.outputs, self.gates(), self.ands())?;
        write!(f, "AND depth {})", self.and_depth)
    }
}

/// The gates that read each wire. A gate that reads a wire twice is listed twice.
struct Readers {
    starts: Vec<usize>,
    gate_indices: Vec<usize>,
}

impl Readers {
    fn new(wires: usize, gates: &[Gate]) -> Self {
        let mut starts = vec![0; wires + 1];
        for wire in gates.iter().flat_map(|gate| gate.reads()) {
            starts[wire + 1] += 1;
        }
        for wire in 0..wires {
            starts[wire + 1] += starts[wire];
        }
        let mut gate_indices = vec![0; starts[wires]];
        let mut free = starts.clone();
        for (gate_index, gate) in gates.iter().enumerate() {
            for wire in gate.reads() {
                gate_indices[free[wire]] = gate_index;
                free[wire] += 1;
            }
        }
        Readers { starts, gate_indices }
    }

    fn of(&self, wire: usize) -> &[usize] {
        &self.gate_indices[self.starts[wire]..self.starts[wire + 1]]
    }
}

/// Finds a gate on a loop. Following unevaluated gates backwards from one to the next eventually
/// reaches the same gate twice.
fn loop_of(gates: &[Gate], driver: &[usize], waiting: &[usize]) -> usize {
    let mut seen = vec![false; gates.len()];
    let mut gate_index = waiting.iter().position(|&count| count > 0).unwrap_or(0);
    while !seen[gate_index] {
        seen[gate_index] = true;
        let before = gates[gate_index].reads().map(|wire| driver[wire]).find(|&d| d != usize::MAX && waiting[d] > 0);
        gate_index = before.unwrap_or(gate_index);
    }
    gate_index
}
