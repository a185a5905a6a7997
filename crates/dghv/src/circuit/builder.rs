//! Building circuits gate by gate.

use super::{Circuit, Gate};

/// A wire of a circuit under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire(u32);

/// Builds a [`Circuit`] gate by gate. Loops are impossible because a gate can only read existing
/// wires.
///
/// ```
/// use hearith_dghv::circuit::Builder;
/// let mut builder = Builder::new(&[1, 1, 1]);
/// let [a, b, c] = builder.inputs()[..] else { unreachable!() };
/// let (sum, carry) = builder.full_adder(a, b, c);
/// let circuit = builder.finish(&[&[sum, carry]]);
/// assert_eq!(circuit.evaluate_plain(&[true, false, true]), [false, true]);
/// ```
pub struct Builder {
    inputs: Vec<usize>,
    gates: Vec<Gate>,
    wires: u32,
}

impl Builder {
    /// Starts a circuit with one input value per entry, each of the given number of bits.
    pub fn new(inputs: &[usize]) -> Self {
        let wires = u32::try_from(inputs.iter().sum::<usize>()).expect("far fewer inputs than 2^32");
        Builder { inputs: inputs.to_vec(), gates: Vec::new(), wires }
    }

    /// The bits of all inputs, starting with the least significant bit of the first value.
    pub fn inputs(&self) -> Vec<Wire> {
        (0..).map(Wire).take(self.inputs.iter().sum()).collect()
    }

    /// `a xor b`.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(|out| Gate::Xor { a: a.0, b: b.0, out })
    }

    /// `a and b`.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(|out| Gate::And { a: a.0, b: b.0, out })
    }

    /// `not a`.
    pub fn not(&mut self, a: Wire) -> Wire {
        self.gate(|out| Gate::Not { a: a.0, out })
    }

    /// A constant.
    pub fn constant(&mut self, value: bool) -> Wire {
        self.gate(|out| Gate::Constant { value, out })
    }

    /// The majority of three bits with a single AND: `(a xor c)(b xor c) xor c`.
    pub fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let (left, right) = (self.xor(a, c), self.xor(b, c));
        let both = self.and(left, right);
        self.xor(both, c)
    }

    /// Sum and carry of three bits.
    pub fn full_adder(&mut self, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
        let carry = self.majority(a, b, c);
        let ab = self.xor(a, b);
        (self.xor(ab, c), carry)
    }

    /// Returns the circuit with these output values, each least significant bit first.
    ///
    /// # Panics
    /// If there is no output bit.
    pub fn finish(mut self, outputs: &[&[Wire]]) -> Circuit {
        let mut last: Vec<u32> = Vec::new();
        for &wire in outputs.iter().copied().flatten() {
            let taken = (wire.0 as usize) < self.inputs.iter().sum::<usize>() || last.contains(&wire.0);
            let wire = if taken { self.gate(|out| Gate::Copy { a: wire.0, out }) } else { wire };
            last.push(wire.0);
        }
        assert!(!last.is_empty(), "a circuit needs at least one output");
        self.move_to_end(&last);
        let outputs = outputs.iter().map(|value| value.len()).collect();
        Circuit::by_level(self.inputs, outputs, self.wires as usize, self.gates).expect("a gate reads earlier wires")
    }

    /// Renumbers the wires so that these come last.
    fn move_to_end(&mut self, last: &[u32]) {
        let others = (0..self.wires).filter(|wire| !last.contains(wire));
        let mut names = vec![0; self.wires as usize];
        (0..).zip(others.chain(last.iter().copied())).for_each(|(new, old)| names[old as usize] = new);
        self.gates.iter_mut().for_each(|gate| *gate = gate.renamed(|wire| names[wire as usize]));
    }

    fn gate(&mut self, gate: impl FnOnce(u32) -> Gate) -> Wire {
        let out = self.wires;
        self.gates.push(gate(out));
        self.wires += 1;
        Wire(out)
    }
}
