//! Circuits over ciphertexts that descend a ladder of keys as their noise grows.
//!
//! Both operands of an XOR or AND must be at the same level, so the higher one descends to the
//! level of the lower one. Before an AND, both descend further while that increases the noise
//! budget left to the product: switching must reduce the product's noise by more than the secret
//! shrinks. The decision depends only on the noise, which is public. A first pass over the circuit
//! therefore plans all switches from the noise alone.

use super::{Bits, Circuit, Wires};
use crate::ciphertext::check_noise;
use crate::ladder::Levels;
use crate::{Ciphertext, Error, noise};
use std::collections::BTreeMap;

/// The level of a bit, and its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelledNoise {
    level: usize,
    noise: f64,
}

impl LevelledNoise {
    pub(super) fn of(levels: Levels<'_>, bit: &Ciphertext) -> Result<Self, Error> {
        Ok(LevelledNoise { level: levels.level_of(bit.key_id())?, noise: bit.noise() })
    }

    /// Moves to this level unless already at or below it.
    fn at(mut self, levels: Levels<'_>, level: usize) -> Self {
        while self.level < level {
            // A plaintext bit stays free of noise.
            self.noise = if self.noise == 0.0 { 0.0 } else { levels.noise_below(self.level, self.noise) };
            self.level += 1;
        }
        self
    }

    /// The level at which a product of two bits has the most noise budget left.
    fn of_product(self, other: LevelledNoise, levels: Levels<'_>) -> usize {
        let budget = |level: usize| {
            let noise = self.at(levels, level).noise + other.at(levels, level).noise;
            levels.key(level).parameters().noise_limit() - noise
        };
        let mut level = self.level.max(other.level);
        while level < levels.lowest() && budget(level + 1) > budget(level) {
            level += 1;
        }
        level
    }
}

/// Bits at the levels of a ladder.
trait Levelled: Bits {
    fn state(&self, bit: &Self::Bit) -> LevelledNoise;
    /// Switches bits from one level to the next lower one.
    fn switch_down(&mut self, level: usize, bits: &[&Self::Bit]) -> Result<Vec<Self::Bit>, Self::Error>;
}

/// Bits represented by their level and noise only.
struct Planned<'a>(Levels<'a>);

impl Planned<'_> {
    fn each(
        &self,
        wires: &Wires<LevelledNoise>,
        pairs: &[(usize, usize)],
        noise: fn(f64, f64) -> f64,
    ) -> Result<Vec<LevelledNoise>, Error> {
        let one = |&(a, b): &(usize, usize)| {
            let (a, b) = (wires.get(a), wires.get(b));
            let state = LevelledNoise { level: a.level, noise: noise(a.noise, b.noise) };
            check_noise(state.noise, self.0.key(state.level).parameters())?;
            Ok(state)
        };
        pairs.iter().map(one).collect()
    }
}

impl Bits for Planned<'_> {
    type Bit = LevelledNoise;
    type Error = Error;

    fn constant(&mut self, _: bool) -> Result<LevelledNoise, Error> {
        Ok(LevelledNoise { level: 0, noise: 0.0 })
    }

    fn not(&mut self, wires: &mut Wires<LevelledNoise>, of: &[usize]) -> Result<Vec<LevelledNoise>, Error> {
        let pairs: Vec<(usize, usize)> = of.iter().map(|&a| (a, a)).collect();
        self.each(wires, &pairs, |a, _| noise::sum(a, 0.0))
    }

    fn xor(&mut self, wires: &mut Wires<LevelledNoise>, pairs: &[(usize, usize)]) -> Result<Vec<LevelledNoise>, Error> {
        self.each(wires, pairs, noise::sum)
    }

    fn and(&mut self, wires: &mut Wires<LevelledNoise>, pairs: &[(usize, usize)]) -> Result<Vec<LevelledNoise>, Error> {
        self.each(wires, pairs, |a, b| a + b)
    }
}

impl Levelled for Planned<'_> {
    fn state(&self, bit: &LevelledNoise) -> LevelledNoise {
        *bit
    }

    fn switch_down(&mut self, level: usize, bits: &[&LevelledNoise]) -> Result<Vec<LevelledNoise>, Error> {
        let lowered = |bit: &&LevelledNoise| {
            let state = bit.at(self.0, level + 1);
            check_noise(state.noise, self.0.key(level + 1).parameters()).map(|()| state)
        };
        bits.iter().map(lowered).collect()
    }
}

/// Ciphertexts at the levels of a ladder.
struct Encrypted<'a, 'p> {
    levels: Levels<'a>,
    /// Called with the number of products or switches just done.
    step: &'p mut dyn FnMut(usize),
}

impl Encrypted<'_, '_> {
    /// Applies an operation of each level's key to the pairs of bits at that level.
    fn each(
        &self,
        wires: &Wires<Ciphertext>,
        pairs: &[(usize, usize)],
        compute: impl Fn(&crate::PublicKey, &[&Ciphertext], &[&Ciphertext]) -> Result<Vec<Ciphertext>, Error>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut results = vec![None; pairs.len()];
        for level in 0..=self.levels.lowest() {
            let here: Vec<usize> =
                (0..pairs.len()).filter(|&at| self.state(wires.get(pairs[at].0)).level == level).collect();
            let (a, b): (Vec<_>, Vec<_>) =
                here.iter().map(|&at| (wires.get(pairs[at].0), wires.get(pairs[at].1))).unzip();
            let computed = compute(self.levels.key(level), &a, &b).map_err(Error::without_row)?;
            here.into_iter().zip(computed).for_each(|(at, bit)| results[at] = Some(bit));
        }
        Ok(results.into_iter().map(|bit| bit.expect("every pair has a level")).collect())
    }
}

impl Bits for Encrypted<'_, '_> {
    type Bit = Ciphertext;
    type Error = Error;

    fn constant(&mut self, value: bool) -> Result<Ciphertext, Error> {
        Ok(self.levels.key(0).constants(&[value]).remove(0))
    }

    fn not(&mut self, wires: &mut Wires<Ciphertext>, of: &[usize]) -> Result<Vec<Ciphertext>, Error> {
        let pairs: Vec<(usize, usize)> = of.iter().map(|&a| (a, a)).collect();
        self.each(wires, &pairs, |key, bits, _| key.not(bits))
    }

    fn xor(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        self.each(wires, pairs, |key, a, b| key.add(a, b))
    }

    fn and(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        let products = self.each(wires, pairs, |key, a, b| key.multiply(a, b))?;
        (self.step)(pairs.len());
        Ok(products)
    }
}

impl Levelled for Encrypted<'_, '_> {
    fn state(&self, bit: &Ciphertext) -> LevelledNoise {
        LevelledNoise::of(self.levels, bit).expect("bits of the ladder's keys, as checked at the beginning")
    }

    fn switch_down(&mut self, level: usize, bits: &[&Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        let lowered = self.levels.switch_down(level, bits).map_err(Error::without_row)?;
        (self.step)(bits.len());
        Ok(lowered)
    }
}

/// Lowers operands where a gate requires it.
struct Descending<'a, B> {
    bits: B,
    levels: Levels<'a>,
    switches: usize,
}

impl<'a, B: Levelled<Error = Error>> Descending<'a, B> {
    fn new(bits: B, levels: Levels<'a>) -> Self {
        Descending { bits, levels, switches: 0 }
    }

    /// Lowers the operands of each pair to the level that the pair requires.
    fn align_levels(
        &mut self,
        wires: &mut Wires<B::Bit>,
        pairs: &[(usize, usize)],
        level: impl Fn(LevelledNoise, LevelledNoise) -> usize,
    ) -> Result<(), Error> {
        let mut states = BTreeMap::new();
        for wire in pairs.iter().flat_map(|&(a, b)| [a, b]) {
            states.entry(wire).or_insert_with(|| self.bits.state(wires.get(wire)));
        }
        let mut settled = false;
        // A wire in several pairs descends to the lowest level that any of them requires, and takes
        // its partners along.
        while !settled {
            settled = true;
            for &(a, b) in pairs {
                let to = level(states[&a], states[&b]);
                for wire in [a, b] {
                    let state = states[&wire];
                    if state.level < to {
                        states.insert(wire, state.at(self.levels, to));
                        settled = false;
                    }
                }
            }
        }
        for level in 0..self.levels.lowest() {
            let must_descend =
                |wire: &usize| self.bits.state(wires.get(*wire)).level == level && states[wire].level > level;
            let chosen: Vec<usize> = states.keys().copied().filter(must_descend).collect();
            self.switch_down(wires, level, &chosen)?;
        }
        Ok(())
    }

    fn switch_down(&mut self, wires: &mut Wires<B::Bit>, level: usize, chosen: &[usize]) -> Result<(), Error> {
        if chosen.is_empty() {
            return Ok(());
        }
        self.switches += chosen.len();
        let lowered = self.bits.switch_down(level, &chosen.iter().map(|&wire| wires.get(wire)).collect::<Vec<_>>())?;
        chosen.iter().zip(lowered).for_each(|(&wire, bit)| wires.replace(wire, bit));
        Ok(())
    }

    /// Lowers bits to a level.
    fn lower_all(&mut self, bits: &mut [B::Bit], level: usize) -> Result<(), Error> {
        for from in 0..level {
            let mut above: Vec<&mut B::Bit> =
                bits.iter_mut().filter(|bit| self.bits.state(bit).level == from).collect();
            if above.is_empty() {
                continue;
            }
            self.switches += above.len();
            let lowered = self.bits.switch_down(from, &above.iter().map(|bit| &**bit).collect::<Vec<_>>())?;
            above.iter_mut().zip(lowered).for_each(|(bit, lowered)| **bit = lowered);
        }
        Ok(())
    }
}

impl<B: Levelled<Error = Error>> Bits for Descending<'_, B> {
    type Bit = B::Bit;
    type Error = Error;

    fn constant(&mut self, value: bool) -> Result<B::Bit, Error> {
        self.bits.constant(value)
    }

    fn not(&mut self, wires: &mut Wires<B::Bit>, of: &[usize]) -> Result<Vec<B::Bit>, Error> {
        self.bits.not(wires, of)
    }

    fn xor(&mut self, wires: &mut Wires<B::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<B::Bit>, Error> {
        self.align_levels(wires, pairs, |a, b| a.level.max(b.level))?;
        self.bits.xor(wires, pairs)
    }

    fn and(&mut self, wires: &mut Wires<B::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<B::Bit>, Error> {
        let levels = self.levels;
        self.align_levels(wires, pairs, |a, b| a.of_product(b, levels))?;
        self.bits.and(wires, pairs)
    }
}

/// Counts the switches needed to evaluate these rows, `piece` gates at a time, and returns the
/// count with the level of the results.
///
/// # Errors
/// [`ErrorKind::NoiseExhausted`](crate::ErrorKind::NoiseExhausted) if the ladder is too short, and
/// an error for bits of other keys.
pub(super) fn plan(
    levels: Levels<'_>,
    circuit: &Circuit,
    rows: &[Vec<Ciphertext>],
    piece: usize,
) -> Result<(usize, usize), Error> {
    let states = |row: &Vec<Ciphertext>| row.iter().map(|bit| LevelledNoise::of(levels, bit)).collect::<Result<_, _>>();
    let states = rows.iter().map(states).collect::<Result<_, _>>()?;
    let mut descending = Descending::new(Planned(levels), levels);
    let mut results: Vec<LevelledNoise> = Vec::new();
    circuit.evaluate_in_pieces(&mut descending, states, piece, |_, _, bits| -> Result<(), Error> {
        results.extend(bits);
        Ok(())
    })?;
    // All results are lowered to the lowest level that one of them requires.
    let lowest = results.iter().map(|state| state.level).max().unwrap_or(0);
    descending.lower_all(&mut results, lowest)?;
    Ok((descending.switches, lowest))
}

/// Evaluates a batch of rows, `piece` gates at a time, and lowers all results to the planned level.
/// Calls `step` with the number of products or switches just done.
pub(super) fn evaluate<E: From<Error>>(
    levels: Levels<'_>,
    circuit: &Circuit,
    rows: Vec<Vec<Ciphertext>>,
    (level, piece): (usize, usize),
    step: &mut dyn FnMut(usize),
    give: &mut dyn FnMut(usize, Vec<Ciphertext>) -> Result<(), E>,
) -> Result<(), E> {
    let mut descending = Descending::new(Encrypted { levels, step }, levels);
    circuit.evaluate_in_pieces(&mut descending, rows, piece, |descending, row, mut bits| {
        descending.lower_all(&mut bits, level)?;
        give(row, bits)
    })
}
