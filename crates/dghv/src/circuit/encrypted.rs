//! Circuits over ciphertexts, with recryption where the noise requires it.

use super::{Bits, Circuit, Wires, descending};
use crate::ladder::Levels;
use crate::{Ciphertext, Error, ErrorKind, Ladder, PublicKey, RecryptionKey, noise};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// Size in bytes of the results computed in one piece.
const PIECE_BYTES: usize = 16 << 20;
/// Minimum number of gates evaluated at a time, enough to occupy all cores.
const LEAST_PIECE: usize = 16;

/// Evaluates circuits on ciphertexts of one public key.
///
/// - Without a ladder or a recryption key, evaluation is limited to circuits that the noise budget
///   allows.
/// - With a ladder, bits descend its rungs where that increases the noise budget. All results are
///   at the lowest level that one of them requires.
/// - With a recryption key, operands are recrypted if there is no ladder or the circuit is too deep
///   for it. When an AND or XOR would raise the noise above the limit for recryption, the evaluator
///   first recrypts the noisier operand.
///
/// The decisions depend only on the noise, which is public, so the evaluator counts the recryptions
/// in advance. It recrypts all inputs at the start if that lowers the count.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_dghv::circuit::library;
/// use hearith_dghv::{Evaluator, InsecureHistoricalParameters, KeyPair, Parameters, Scheme, Size};
/// let parameters = Parameters::historical(Scheme::Cmnt, Size::Toy);
/// let keys = KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters)?;
/// let votes = keys.public.encrypt(&[true, false, true])?;
/// let majority = Evaluator::new(&keys.public).evaluate(&library::majority(2), &[votes])?;
/// assert_eq!(keys.private.decrypt(&majority[0])?, [true]);
/// # Ok::<(), hearith_dghv::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    public: &'a PublicKey,
    ladder: Option<&'a Ladder>,
    recryption: Option<&'a RecryptionKey>,
    progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator without ladder and recryption.
    pub fn new(public: &'a PublicKey) -> Self {
        Evaluator { public, ladder: None, recryption: None, progress: None }
    }

    /// Adds a ladder below the key.
    pub fn with_ladder(self, ladder: &'a Ladder) -> Self {
        Evaluator { ladder: Some(ladder), ..self }
    }

    /// Adds a recryption key.
    pub fn with_recryption(self, key: &'a RecryptionKey) -> Self {
        Evaluator { recryption: Some(key), ..self }
    }

    /// Reports progress: how many ANDs, switches and recryptions are done over all rows, and their
    /// total.
    pub fn with_progress(self, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        Evaluator { progress: Some(progress), ..self }
    }

    /// Evaluates a batch of rows. A row holds the bits of all inputs in order, its result the bits
    /// of all outputs.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::Inputs`] for a wrong number of bits, [`ErrorKind::OtherKey`],
    /// [`ErrorKind::OutOfRange`]. Without a row: [`ErrorKind::NoiseExhausted`] if the circuit is
    /// too deep to be evaluated without recryption.
    pub fn evaluate(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<Vec<Vec<Ciphertext>>, Error> {
        let mut results: Vec<Vec<Ciphertext>> = vec![Vec::new(); rows.len()];
        self.evaluate_into(circuit, rows.to_vec(), &mut |row, outputs| -> Result<(), Error> {
            results[row].extend(outputs);
            Ok(())
        })?;
        Ok(results)
    }

    /// Evaluates like [`Evaluator::evaluate`], but passes results to `give` as they are computed:
    /// the outputs of each row in order, a few at a time, with the row's index.
    ///
    /// Outputs that no gate still needs occupy no memory. [`Evaluator::memory`] returns the memory
    /// required.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and the errors of `give`.
    pub fn evaluate_into<E: From<Error>>(
        &self,
        circuit: &Circuit,
        mut rows: Vec<Vec<Ciphertext>>,
        give: &mut dyn FnMut(usize, Vec<Ciphertext>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_rows(circuit, &rows)?;
        let piece = self.piece(rows.len());
        if let Some((levels, work)) = self.descent(circuit, &rows)? {
            let mut steps = Steps::new((circuit.ands() * rows.len() + work.switches) as u64, self.progress);
            let step = &mut |done| steps.add(done);
            return descending::evaluate(levels, circuit, rows, (work.level, piece), step, give);
        }
        let Some(key) = self.recryption else {
            let all = (circuit.ands() * rows.len()) as u64;
            let mut encrypted = Encrypted { public: self.public, steps: Steps::new(all, self.progress) };
            return circuit.evaluate_in_pieces(&mut encrypted, rows, piece, |_, row, bits| give(row, bits));
        };
        let plan = self.plan(circuit, &rows, key);
        let all = (circuit.ands() * rows.len() + plan.recryptions) as u64;
        let encrypted = Encrypted { public: self.public, steps: Steps::new(all, self.progress) };
        let mut refreshing = Refreshing::new(WithKey { encrypted, key }, key);
        if plan.inputs {
            refreshing.refresh_inputs(&mut rows, piece)?;
        }
        circuit.evaluate_in_pieces(&mut refreshing, rows, piece, |_, row, bits| give(row, bits))
    }

    /// The number of gates of a level evaluated at a time in this many rows: about 16 MiB of
    /// results.
    fn piece(&self, rows: usize) -> usize {
        (PIECE_BYTES / (8 * self.public.parameters().limbs() * rows.max(1))).max(LEAST_PIECE)
    }

    /// Maximum memory in bytes for evaluating this many rows: inputs, intermediate bits and outputs
    /// not yet passed on. It excludes the keys and data prepared from them.
    pub fn memory(&self, circuit: &Circuit, rows: usize) -> u64 {
        let ciphertext = 8 * self.public.parameters().limbs() as u64;
        let live = circuit.max_live_bits(self.piece(rows)) as u64;
        let wires = (size_of::<Option<Ciphertext>>() + size_of::<Option<f64>>()) as u64 * circuit.wires() as u64;
        // In addition, each core needs a product and its transforms.
        let working = 32 * ciphertext * rayon::current_num_threads() as u64;
        (rows as u64).saturating_mul(live.saturating_mul(ciphertext).saturating_add(wires)).saturating_add(working)
    }

    /// The number of recryptions needed to evaluate these rows: zero without a recryption key or if
    /// the ladder is long enough.
    ///
    /// # Errors
    /// As [`Evaluator::work`].
    pub fn recryptions(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<usize, Error> {
        self.work(circuit, rows).map(|work| work.recryptions)
    }

    /// The recryptions and switches needed to evaluate these rows, and the level of the results.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::Inputs`], [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`].
    /// Without a row: [`ErrorKind::NoiseExhausted`] if the circuit is too deep for the ladder and
    /// there is no recryption key.
    pub fn work(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<Work, Error> {
        self.check_rows(circuit, rows)?;
        if let Some((_, work)) = self.descent(circuit, rows)? {
            return Ok(work);
        }
        let recryptions = self.recryption.map_or(0, |key| self.plan(circuit, rows, key).recryptions);
        Ok(Work { recryptions, switches: 0, level: 0 })
    }

    fn levels(&self) -> Levels<'a> {
        Levels::new(self.public, self.ladder)
    }

    /// The levels to descend and the work required. `None` without a ladder, or if the ladder is
    /// too short and recryption is possible.
    fn descent(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<Option<(Levels<'a>, Work)>, Error> {
        if self.ladder.is_none() {
            return Ok(None);
        }
        let levels = self.levels();
        let recrypts =
            || rows.iter().flatten().all(|bit| bit.key_id() == self.public.id()) && self.recryption.is_some();
        match descending::plan(levels, circuit, rows, self.piece(rows.len())) {
            Ok((switches, level)) => Ok(Some((levels, Work { recryptions: 0, switches, level }))),
            Err(error) if matches!(error.kind(), ErrorKind::NoiseExhausted { .. }) && recrypts() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn check_rows(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<(), Error> {
        let checked = |(row, bits): (usize, &Vec<_>)| self.check(circuit, bits).map_err(|error| error.at_row(row));
        rows.iter().enumerate().try_for_each(checked)
    }

    fn check(&self, circuit: &Circuit, bits: &[Ciphertext]) -> Result<(), Error> {
        let (found, expected) = (bits.len(), circuit.input_bits());
        if found != expected {
            return Err(ErrorKind::Inputs { found, expected }.into());
        }
        let levels = self.levels();
        bits.iter().try_for_each(|bit| levels.key(levels.level_of(bit.key_id())?).check(bit))
    }

    fn plan(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>], key: &RecryptionKey) -> Plan {
        let noise: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(Ciphertext::noise).collect()).collect();
        let count = |inputs: bool| {
            let mut refreshing = Refreshing::new(Noise, key);
            let (mut start, piece) = (noise.clone(), self.piece(rows.len()));
            if inputs {
                let Ok(()) = refreshing.refresh_inputs(&mut start, piece);
            }
            let Ok(()) = circuit.evaluate_in_pieces(&mut refreshing, start, piece, |_, _, _| Ok::<(), Infallible>(()));
            Plan { inputs, recryptions: refreshing.recryptions }
        };
        let (late, early) = (count(false), count(true));
        if early.recryptions < late.recryptions { early } else { late }
    }
}

/// The work of an evaluation besides its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Number of recryptions.
    pub recryptions: usize,
    /// Number of switches to the next rung of a ladder. A ciphertext counts once per rung.
    pub switches: usize,
    /// The level of the results.
    pub level: usize,
}

/// Whether to recrypt all inputs, and the resulting number of recryptions.
struct Plan {
    inputs: bool,
    recryptions: usize,
}

/// Counts the steps done and reports progress.
struct Steps<'a> {
    done: u64,
    all: u64,
    progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl<'a> Steps<'a> {
    fn new(all: u64, progress: Option<&'a (dyn Fn(u64, u64) + Sync)>) -> Self {
        Steps { done: 0, all, progress }
    }

    fn add(&mut self, steps: usize) {
        self.done += steps as u64;
        if let Some(progress) = self.progress {
            progress(self.done, self.all);
        }
    }
}

/// Ciphertexts without recryption.
pub(crate) struct Encrypted<'a> {
    public: &'a PublicKey,
    steps: Steps<'a>,
}

impl<'a> Encrypted<'a> {
    pub(crate) fn new(public: &'a PublicKey) -> Self {
        Encrypted { public, steps: Steps::new(0, None) }
    }
}

impl Bits for Encrypted<'_> {
    type Bit = Ciphertext;
    type Error = Error;

    fn constant(&mut self, value: bool) -> Result<Ciphertext, Error> {
        Ok(self.public.constants(&[value]).remove(0))
    }

    fn not(&mut self, wires: &mut Wires<Ciphertext>, of: &[usize]) -> Result<Vec<Ciphertext>, Error> {
        let bits: Vec<&Ciphertext> = of.iter().map(|&a| wires.get(a)).collect();
        self.public.not(&bits).map_err(Error::without_row)
    }

    fn xor(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        let (a, b): (Vec<_>, Vec<_>) = pairs.iter().map(|&(a, b)| (wires.get(a), wires.get(b))).unzip();
        self.public.add(&a, &b).map_err(Error::without_row)
    }

    fn and(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        let (a, b): (Vec<_>, Vec<_>) = pairs.iter().map(|&(a, b)| (wires.get(a), wires.get(b))).unzip();
        let products = self.public.multiply(&a, &b).map_err(Error::without_row)?;
        self.steps.add(pairs.len());
        Ok(products)
    }
}

/// Ciphertexts represented by their noise only.
pub(crate) struct Noise;

impl Noise {
    /// Noise in bits at a circuit's only output if all inputs have the same noise.
    pub(crate) fn of_output(circuit: &Circuit, inputs: f64) -> f64 {
        let Ok(rows) = circuit.evaluate(&mut Noise, vec![vec![inputs; circuit.input_bits()]]);
        rows[0][0]
    }
}

impl Bits for Noise {
    type Bit = f64;
    type Error = Infallible;

    fn constant(&mut self, _: bool) -> Result<f64, Infallible> {
        Ok(0.0)
    }

    fn not(&mut self, wires: &mut Wires<f64>, of: &[usize]) -> Result<Vec<f64>, Infallible> {
        Ok(of.iter().map(|&a| noise::sum(*wires.get(a), 0.0)).collect())
    }

    fn xor(&mut self, wires: &mut Wires<f64>, pairs: &[(usize, usize)]) -> Result<Vec<f64>, Infallible> {
        Ok(pairs.iter().map(|&(a, b)| noise::sum(*wires.get(a), *wires.get(b))).collect())
    }

    fn and(&mut self, wires: &mut Wires<f64>, pairs: &[(usize, usize)]) -> Result<Vec<f64>, Infallible> {
        Ok(pairs.iter().map(|&(a, b)| wires.get(a) + wires.get(b)).collect())
    }
}

/// Bits whose noise recryption can reset.
trait Recrypt: Bits {
    fn noise(bit: &Self::Bit) -> f64;
    fn recrypt(&mut self, bits: &[&Self::Bit], noise: f64) -> Result<Vec<Self::Bit>, Self::Error>;
}

impl Recrypt for Noise {
    fn noise(bit: &f64) -> f64 {
        *bit
    }

    fn recrypt(&mut self, bits: &[&f64], noise: f64) -> Result<Vec<f64>, Infallible> {
        Ok(vec![noise; bits.len()])
    }
}

struct WithKey<'a> {
    encrypted: Encrypted<'a>,
    key: &'a RecryptionKey,
}

impl Bits for WithKey<'_> {
    type Bit = Ciphertext;
    type Error = Error;

    fn constant(&mut self, value: bool) -> Result<Ciphertext, Error> {
        self.encrypted.constant(value)
    }

    fn not(&mut self, wires: &mut Wires<Ciphertext>, of: &[usize]) -> Result<Vec<Ciphertext>, Error> {
        self.encrypted.not(wires, of)
    }

    fn xor(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        self.encrypted.xor(wires, pairs)
    }

    fn and(&mut self, wires: &mut Wires<Ciphertext>, pairs: &[(usize, usize)]) -> Result<Vec<Ciphertext>, Error> {
        self.encrypted.and(wires, pairs)
    }
}

impl Recrypt for WithKey<'_> {
    fn noise(bit: &Ciphertext) -> f64 {
        bit.noise()
    }

    fn recrypt(&mut self, bits: &[&Ciphertext], _: f64) -> Result<Vec<Ciphertext>, Error> {
        let fresh = self.key.recrypt(self.encrypted.public, bits).map_err(Error::without_row)?;
        self.encrypted.steps.add(bits.len());
        Ok(fresh)
    }
}

/// Recrypts bits where needed to keep all noise within the limit for recryption.
struct Refreshing<R> {
    bits: R,
    limit: f64,
    fresh: f64,
    recryptions: usize,
}

impl<R: Recrypt> Refreshing<R> {
    fn new(bits: R, key: &RecryptionKey) -> Self {
        Refreshing { bits, limit: RecryptionKey::noise_limit(key.parameters()), fresh: key.noise(), recryptions: 0 }
    }

    fn refresh_inputs(&mut self, rows: &mut [Vec<R::Bit>], piece: usize) -> Result<(), R::Error> {
        for bits in rows.iter_mut().flat_map(|row| row.chunks_mut(piece)) {
            let fresh = self.recrypt(&bits.iter().collect::<Vec<_>>())?;
            bits.iter_mut().zip(fresh).for_each(|(bit, fresh)| *bit = fresh);
        }
        Ok(())
    }

    fn recrypt(&mut self, bits: &[&R::Bit]) -> Result<Vec<R::Bit>, R::Error> {
        self.recryptions += bits.len();
        self.bits.recrypt(bits, self.fresh)
    }

    /// Recrypts operands until the result of each pair, with noise given by `noise`, stays within
    /// the limit or both operands are fresh.
    fn refresh(
        &mut self,
        wires: &mut Wires<R::Bit>,
        pairs: &[(usize, usize)],
        noise: fn(f64, f64) -> f64,
    ) -> Result<(), R::Error> {
        let mut chosen = BTreeSet::new();
        for &(a, b) in pairs {
            let now = |wire, chosen: &BTreeSet<usize>| {
                if chosen.contains(&wire) { self.fresh } else { R::noise(wires.get(wire)) }
            };
            loop {
                let (of_a, of_b) = (now(a, &chosen), now(b, &chosen));
                let (wire, most) = if of_b > of_a { (b, of_b) } else { (a, of_a) };
                if noise(of_a, of_b) <= self.limit || most <= self.fresh {
                    break;
                }
                chosen.insert(wire);
            }
        }
        if chosen.is_empty() {
            return Ok(());
        }
        let fresh = self.recrypt(&chosen.iter().map(|&wire| wires.get(wire)).collect::<Vec<_>>())?;
        chosen.into_iter().zip(fresh).for_each(|(wire, bit)| wires.replace(wire, bit));
        Ok(())
    }
}

impl<R: Recrypt> Bits for Refreshing<R> {
    type Bit = R::Bit;
    type Error = R::Error;

    fn constant(&mut self, value: bool) -> Result<R::Bit, R::Error> {
        self.bits.constant(value)
    }

    fn not(&mut self, wires: &mut Wires<R::Bit>, of: &[usize]) -> Result<Vec<R::Bit>, R::Error> {
        self.bits.not(wires, of)
    }

    fn xor(&mut self, wires: &mut Wires<R::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<R::Bit>, R::Error> {
        self.refresh(wires, pairs, noise::sum)?;
        self.bits.xor(wires, pairs)
    }

    fn and(&mut self, wires: &mut Wires<R::Bit>, pairs: &[(usize, usize)]) -> Result<Vec<R::Bit>, R::Error> {
        self.refresh(wires, pairs, |a, b| a + b)?;
        self.bits.and(wires, pairs)
    }
}
