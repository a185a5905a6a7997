//! Evaluation of circuits, level by level, over any type with XOR, AND and NOT.

use super::{Circuit, Gate};
use std::convert::Infallible;
use std::ops::Range;

/// Bits that circuits are evaluated over. Each method receives all gates of its kind in a level,
/// for all rows of a batch, so that implementations can spread them over cores.
pub trait Bits {
    /// A bit.
    type Bit: Clone;
    /// The error of an operation.
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

    /// `a xor b` for each pair of wires. The implementation may replace the bit on a wire by
    /// another of the same value.
    ///
    /// # Errors
    /// The implementation's.
    fn xor(&mut self, wires: &mut Wires<Self::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<Self::Bit>, Self::Error>;

    /// `a and b` for each pair of wires. The implementation may replace the bit on a wire by
    /// another of the same value, for example a less noisy one.
    ///
    /// # Errors
    /// The implementation's.
    fn and(&mut self, wires: &mut Wires<Self::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<Self::Bit>, Self::Error>;
}

/// The wires of a batch under evaluation.
#[derive(Debug)]
pub struct Wires<B>(Vec<Option<B>>);

impl<B> Wires<B> {
    /// The bit on a wire.
    ///
    /// # Panics
    /// If the bit is not yet computed or is no longer needed. Wires passed to an implementation
    /// always hold a bit.
    pub fn get(&self, wire: usize) -> &B {
        self.0[wire].as_ref().expect("a gate's inputs are there until it has been evaluated")
    }

    /// Puts another bit of the same value on a wire.
    pub fn replace(&mut self, wire: usize, bit: B) {
        self.0[wire] = Some(bit);
    }
}

impl Circuit {
    /// Evaluates a batch of rows. A row holds the [`Circuit::input_bits`] bits of all inputs in
    /// order, its result the bits of all outputs.
    ///
    /// # Errors
    /// Those of `bits`.
    ///
    /// # Panics
    /// If a row has a wrong number of bits.
    pub fn evaluate<A: Bits>(&self, bits: &mut A, rows: Vec<Vec<A::Bit>>) -> Result<Vec<Vec<A::Bit>>, A::Error> {
        let mut results: Vec<Vec<A::Bit>> = rows.iter().map(|_| Vec::with_capacity(self.output_bits())).collect();
        self.evaluate_in_pieces(bits, rows, usize::MAX, |_, row, outputs| -> Result<(), A::Error> {
            results[row].extend(outputs);
            Ok(())
        })?;
        Ok(results)
    }

    /// Evaluates like [`Circuit::evaluate`], but at most `piece` gates of a level at a time. Passes
    /// output bits to `give` in order, with their row, as soon as they and all earlier outputs are
    /// computed, at most `piece` per call. Drops them as soon as no gate needs them.
    pub(crate) fn evaluate_in_pieces<A: Bits, E: From<A::Error>>(
        &self,
        bits: &mut A,
        rows: Vec<Vec<A::Bit>>,
        piece: usize,
        mut give: impl FnMut(&mut A, usize, Vec<A::Bit>) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = rows.len();
        let mut wires = Wires(Vec::with_capacity(count * self.wires));
        for row in rows {
            assert_eq!(row.len(), self.input_bits(), "a row must have one bit per input");
            wires.0.extend(row.into_iter().map(Some));
            wires.0.resize_with(wires.0.len() + self.wires - self.input_bits(), || None);
        }
        let mut live = LiveWires::new(self);
        let drop_unused = |wires: &mut Wires<A::Bit>, unused: &[usize]| {
            unused.iter().for_each(|&wire| (0..count).for_each(|row| wires.0[row * self.wires + wire] = None));
        };
        drop_unused(&mut wires, &live.unread_inputs());
        let mut step = |bits: &mut A, gates: &[Gate]| -> Result<(), E> {
            self.evaluate_gates(bits, gates, count, &mut wires)?;
            drop_unused(&mut wires, &live.mark_evaluated(gates));
            loop {
                let ready = live.ready(piece);
                if ready.is_empty() {
                    return Ok(());
                }
                for row in 0..count {
                    let output = |wire: usize| {
                        let bit = &mut wires.0[row * self.wires + wire];
                        let bit = if live.is_last(wire) { bit.take() } else { bit.clone() };
                        bit.expect("an output that is ready is there")
                    };
                    let outputs = ready.clone().map(output).collect();
                    give(bits, row, outputs)?;
                }
                live.mark_passed_on(ready);
            }
        };
        // Outputs that are inputs, and circuits without gates.
        step(bits, &[])?;
        self.levels().flat_map(|level| level.chunks(piece)).try_for_each(|gates| step(bits, gates))
    }

    /// Maximum number of bits per row that [`Circuit::evaluate_in_pieces`] holds at a time.
    pub(crate) fn max_live_bits(&self, piece: usize) -> usize {
        let mut live = LiveWires::new(self);
        let mut now = self.input_bits();
        let mut most = now;
        now -= live.unread_inputs().len();
        for gates in std::iter::once(&[][..]).chain(self.levels().flat_map(|level| level.chunks(piece))) {
            now += gates.len();
            most = most.max(now);
            now -= live.mark_evaluated(gates).len();
            loop {
                let ready = live.ready(piece);
                if ready.is_empty() {
                    break;
                }
                // An output that a gate reads later exists twice.
                let last = ready.clone().filter(|&wire| live.is_last(wire)).count();
                most = most.max(now + ready.len() - last);
                now -= last;
                live.mark_passed_on(ready);
            }
        }
        most
    }

    /// Evaluates the circuit on truth values.
    ///
    /// # Panics
    /// If the number of values differs from the number of input bits.
    pub fn evaluate_plain(&self, inputs: &[bool]) -> Vec<bool> {
        let Ok(mut rows) = self.evaluate(&mut Plain, vec![inputs.to_vec()]);
        rows.pop().unwrap_or_default()
    }

    /// Evaluates gates of one level.
    fn evaluate_gates<A: Bits>(
        &self,
        bits: &mut A,
        gates: &[Gate],
        rows: usize,
        wires: &mut Wires<A::Bit>,
    ) -> Result<(), A::Error> {
        let (mut xors, mut ands, mut nots) =
            (LevelOperation::default(), LevelOperation::default(), LevelOperation::default());
        for row in 0..rows {
            let at = |wire: u32| row * self.wires + wire as usize;
            for &gate in gates {
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
}

/// Tracks which wires of a row hold a bit that is still needed.
struct LiveWires<'a> {
    circuit: &'a Circuit,
    /// How many more times each wire will be read. Being an output counts as one read.
    uses: Vec<u32>,
    driven: Vec<bool>,
    /// The next output wire to pass on.
    next: usize,
}

impl<'a> LiveWires<'a> {
    fn new(circuit: &'a Circuit) -> Self {
        let first = circuit.wires - circuit.output_bits();
        let mut uses = vec![0; circuit.wires];
        circuit.gates.iter().flat_map(|gate| gate.reads()).chain(first..circuit.wires).for_each(|wire| uses[wire] += 1);
        let mut driven = vec![false; circuit.wires];
        driven[..circuit.input_bits()].fill(true);
        LiveWires { circuit, uses, driven, next: first }
    }

    /// Inputs that no gate reads and that are not outputs.
    fn unread_inputs(&self) -> Vec<usize> {
        (0..self.circuit.input_bits()).filter(|&wire| self.uses[wire] == 0).collect()
    }

    /// Marks these gates as evaluated and returns the wires no longer needed.
    fn mark_evaluated(&mut self, gates: &[Gate]) -> Vec<usize> {
        let mut unused = Vec::new();
        for gate in gates {
            self.driven[gate.out()] = true;
            if self.uses[gate.out()] == 0 {
                unused.push(gate.out());
            }
            for wire in gate.reads() {
                self.uses[wire] -= 1;
                if self.uses[wire] == 0 {
                    unused.push(wire);
                }
            }
        }
        unused
    }

    /// Outputs that can be passed on now, up to `most` of them.
    fn ready(&self, most: usize) -> Range<usize> {
        let there = self.driven[self.next..].iter().take(most).take_while(|&&driven| driven).count();
        self.next..self.next + there
    }

    /// Whether no gate reads this output any more.
    fn is_last(&self, wire: usize) -> bool {
        self.uses[wire] == 1
    }

    fn mark_passed_on(&mut self, outputs: Range<usize>) {
        self.next = outputs.end;
        outputs.for_each(|wire| self.uses[wire] -= 1);
    }
}

/// The operands of one operation in a level, and the wires of its results.
struct LevelOperation<F> {
    from: Vec<F>,
    to: Vec<usize>,
}

impl<F> Default for LevelOperation<F> {
    fn default() -> Self {
        LevelOperation { from: Vec::new(), to: Vec::new() }
    }
}

impl<F> LevelOperation<F> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::library;
    use std::cell::Cell;
    use std::rc::Rc;

    /// Truth values that count how many of them exist.
    #[derive(Default)]
    struct Counted {
        now: Rc<Cell<usize>>,
        most: Rc<Cell<usize>>,
    }

    struct One {
        value: bool,
        counts: [Rc<Cell<usize>>; 2],
    }

    impl Counted {
        fn bit(&self, value: bool) -> One {
            self.now.set(self.now.get() + 1);
            self.most.set(self.most.get().max(self.now.get()));
            One { value, counts: [self.now.clone(), self.most.clone()] }
        }
    }

    impl Clone for One {
        fn clone(&self) -> Self {
            let [now, most] = self.counts.clone();
            Counted { now, most }.bit(self.value)
        }
    }

    impl Drop for One {
        fn drop(&mut self) {
            self.counts[0].set(self.counts[0].get() - 1);
        }
    }

    impl Bits for Counted {
        type Bit = One;
        type Error = Infallible;

        fn constant(&mut self, value: bool) -> Result<One, Infallible> {
            Ok(self.bit(value))
        }

        fn not(&mut self, wires: &mut Wires<One>, of: &[usize]) -> Result<Vec<One>, Infallible> {
            Ok(of.iter().map(|&a| self.bit(!wires.get(a).value)).collect())
        }

        fn xor(&mut self, wires: &mut Wires<One>, pairs: &[(usize, usize)]) -> Result<Vec<One>, Infallible> {
            Ok(pairs.iter().map(|&(a, b)| self.bit(wires.get(a).value ^ wires.get(b).value)).collect())
        }

        fn and(&mut self, wires: &mut Wires<One>, pairs: &[(usize, usize)]) -> Result<Vec<One>, Infallible> {
            Ok(pairs.iter().map(|&(a, b)| self.bit(wires.get(a).value & wires.get(b).value)).collect())
        }
    }

    #[test]
    fn no_more_bits_are_held_than_is_counted() {
        // Many outputs of few inputs, outputs that are inputs, outputs that are read again, outputs
        // that come late, and wires that nothing reads.
        let many: String = (2..5002).map(|wire| format!("2 1 {} 1 {wire} XOR\n", wire % 2)).collect();
        let texts = [
            format!("5000 5002\n1 2\n1 5000\n\n{many}"),
            "0 2\n1 2\n1 2\n".to_owned(),
            "4 6\n1 2\n1 3\n\n2 1 0 1 2 AND\n1 1 4 3 INV\n2 1 2 0 4 XOR\n2 1 4 4 5 AND\n".to_owned(),
            "3 4\n1 1\n1 1\n\n1 1 0 1 INV\n1 1 0 2 EQW\n1 1 1 3 EQ\n".to_owned(),
        ];
        let texts = texts.iter().map(|text| Circuit::parse(text).unwrap());
        let sbox = Circuit::parse(include_str!("../../circuits/aes_sbox.txt")).unwrap();
        for circuit in texts.chain([library::adder(8), library::majority(3), sbox]) {
            let inputs: Vec<bool> = (0..circuit.input_bits()).map(|bit| bit % 3 == 0).collect();
            let expected = circuit.evaluate_plain(&inputs);
            for piece in [1, 7, 300, usize::MAX] {
                let mut bits = Counted::default();
                let most = bits.most.clone();
                let row = inputs.iter().map(|&value| bits.bit(value)).collect();
                let mut outputs = Vec::new();
                let Ok(()) = circuit.evaluate_in_pieces(&mut bits, vec![row], piece, |_, row, given| {
                    assert!(row == 0 && given.len() <= piece);
                    outputs.extend(given.iter().map(|bit: &One| bit.value));
                    Ok::<(), Infallible>(())
                });
                assert_eq!(outputs, expected);
                assert_eq!(most.get(), circuit.max_live_bits(piece), "{circuit:?}, {piece} at a time");
            }
        }
        let wide = Circuit::parse(&format!("5000 5002\n1 2\n1 5000\n\n{many}")).unwrap();
        assert_eq!((wide.max_live_bits(10), wide.max_live_bits(usize::MAX)), (12, 5002));
    }
}
