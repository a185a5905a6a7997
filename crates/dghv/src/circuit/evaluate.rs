//! Circuits evaluated: level by level, over anything that has XOR, AND and NOT.

use super::{Circuit, Gate};
use std::convert::Infallible;

/// Bits that circuits are evaluated over. What a level asks for comes in one call, for all rows of a batch: so implementations
/// spread it over cores.
pub trait Bits {
    /// A bit.
    type Bit: Clone;
    /// What can go wrong.
    type Error;

    /// A constant.
    ///
    /// # Errors
    /// The implementation's.
    fn constant(&mut self, value: bool) -> Result<Self::Bit, Self::Error>;

    /// `not a` for each wire.
    ///
    /// # Errors
    /// The implementation's.
    fn not(&mut self, wires: &mut Wires<Self::Bit>, of: &[usize]) -> Result<Vec<Self::Bit>, Self::Error>;

    /// `a xor b` for each pair of wires. A wire may be given another bit of the same value.
    ///
    /// # Errors
    /// The implementation's.
    fn xor(&mut self, wires: &mut Wires<Self::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<Self::Bit>, Self::Error>;

    /// `a and b` for each pair of wires. A wire may be given another bit of the same value: fresher, for a start.
    ///
    /// # Errors
    /// The implementation's.
    fn and(&mut self, wires: &mut Wires<Self::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<Self::Bit>, Self::Error>;
}

/// The wires of a batch that is being evaluated.
#[derive(Debug)]
pub struct Wires<B>(Vec<Option<B>>);

impl<B> Wires<B> {
    /// The bit on a wire.
    ///
    /// # Panics
    /// If it has not come there, or is no longer needed. Wires of which an implementation is told hold one.
    pub fn get(&self, wire: usize) -> &B {
        self.0[wire].as_ref().expect("a gate's inputs are there until it has been evaluated")
    }

    /// Puts another bit of the same value on a wire.
    pub fn replace(&mut self, wire: usize, bit: B) {
        self.0[wire] = Some(bit);
    }
}

impl Circuit {
    /// Evaluates a batch of rows. A row has the bits of all inputs in order, [`Circuit::input_bits`] of them, and its result
    /// those of all outputs.
    ///
    /// # Errors
    /// Those of the bits.
    ///
    /// # Panics
    /// If a row has another number of bits.
    pub fn evaluate<A: Bits>(&self, bits: &mut A, rows: Vec<Vec<A::Bit>>) -> Result<Vec<Vec<A::Bit>>, A::Error> {
        let count = rows.len();
        let mut wires = Wires(Vec::with_capacity(count * self.wires));
        for row in rows {
            assert_eq!(row.len(), self.input_bits(), "a row has a bit for every input");
            wires.0.extend(row.into_iter().map(Some));
            wires.0.resize_with(wires.0.len() + self.wires - self.input_bits(), || None);
        }
        let mut uses = self.uses();
        for level in self.levels() {
            self.evaluate_level(bits, level, count, &mut wires)?;
            for wire in level.iter().flat_map(|gate| gate.reads()) {
                uses[wire] -= 1;
                if uses[wire] == 0 {
                    (0..count).for_each(|row| wires.0[row * self.wires + wire] = None);
                }
            }
        }
        let outputs = self.wires - self.output_bits()..self.wires;
        Ok((0..count)
            .map(|row| outputs.clone().map(|wire| wires.get(row * self.wires + wire).clone()).collect())
            .collect())
    }

    /// Evaluates the circuit on truth values.
    ///
    /// # Panics
    /// If there is not one for every input bit.
    pub fn evaluate_plain(&self, inputs: &[bool]) -> Vec<bool> {
        let Ok(mut rows) = self.evaluate(&mut Plain, vec![inputs.to_vec()]);
        rows.pop().unwrap_or_default()
    }

    fn evaluate_level<A: Bits>(
        &self,
        bits: &mut A,
        level: &[Gate],
        rows: usize,
        wires: &mut Wires<A::Bit>,
    ) -> Result<(), A::Error> {
        let (mut xors, mut ands, mut nots) = (Asked::default(), Asked::default(), Asked::default());
        for row in 0..rows {
            let at = |wire: u32| row * self.wires + wire as usize;
            for &gate in level {
                match gate {
                    Gate::Xor { a, b, out } => xors.push((at(a), at(b)), at(out)),
                    Gate::And { a, b, out } => ands.push((at(a), at(b)), at(out)),
                    Gate::Not { a, out } => nots.push(at(a), at(out)),
                    Gate::Copy { a, out } => wires.0[at(out)] = wires.0[at(a)].clone(),
                    Gate::Constant { value, out } => wires.0[at(out)] = Some(bits.constant(value)?),
                }
            }
        }
        if !ands.from.is_empty() {
            let results = bits.and(wires, &ands.from)?;
            ands.put(wires, results);
        }
        if !xors.from.is_empty() {
            let results = bits.xor(wires, &xors.from)?;
            xors.put(wires, results);
        }
        if !nots.from.is_empty() {
            let results = bits.not(wires, &nots.from)?;
            nots.put(wires, results);
        }
        Ok(())
    }

    /// How many times each wire is read, an output once more.
    fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.wires];
        let reads = self.gates.iter().flat_map(|gate| gate.reads());
        reads.chain(self.wires - self.output_bits()..self.wires).for_each(|wire| uses[wire] += 1);
        uses
    }
}

/// What a level asks of one operation, and where it goes.
struct Asked<F> {
    from: Vec<F>,
    to: Vec<usize>,
}

impl<F> Default for Asked<F> {
    fn default() -> Self {
        Asked { from: Vec::new(), to: Vec::new() }
    }
}

impl<F> Asked<F> {
    fn push(&mut self, from: F, to: usize) {
        self.from.push(from);
        self.to.push(to);
    }

    fn put<B>(self, wires: &mut Wires<B>, results: Vec<B>) {
        self.to.into_iter().zip(results).for_each(|(to, bit)| wires.replace(to, bit));
    }
}

/// Truth values.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Bits for Plain {
    type Bit = bool;
    type Error = Infallible;

    fn constant(&mut self, value: bool) -> Result<bool, Infallible> {
        Ok(value)
    }

    fn not(&mut self, wires: &mut Wires<bool>, of: &[usize]) -> Result<Vec<bool>, Infallible> {
        Ok(of.iter().map(|&a| !wires.get(a)).collect())
    }

    fn xor(&mut self, wires: &mut Wires<bool>, pairs: &[(usize, usize)]) -> Result<Vec<bool>, Infallible> {
        Ok(pairs.iter().map(|&(a, b)| wires.get(a) ^ wires.get(b)).collect())
    }

    fn and(&mut self, wires: &mut Wires<bool>, pairs: &[(usize, usize)]) -> Result<Vec<bool>, Infallible> {
        Ok(pairs.iter().map(|&(a, b)| wires.get(a) & wires.get(b)).collect())
    }
}
