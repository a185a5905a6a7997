//! Circuits over ciphertexts, which are recrypted where their noise asks for it.

use super::{Bits, Circuit, Wires, descending};
use crate::ladder::Levels;
use crate::{Ciphertext, Error, ErrorKind, Ladder, PublicKey, RecryptionKey, noise};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// Bytes of the results that are computed at a time.
const PIECE_BYTES: usize = 16 << 20;
/// Gates that are evaluated at a time, at least: enough for every core.
const LEAST_PIECE: usize = 16;

/// Evaluates circuits on ciphertexts of one public key.
///
/// With neither a ladder nor a recryption key it goes as far as the noise allows. With a ladder,
/// bits go down its rungs where that leaves more room for noise, and all results are at the lowest
/// level that one of them needs. With a recryption key, and if the circuit is too deep for the
/// ladder or there is none, what an AND or an XOR would bring above the noise that can be recrypted
/// is recrypted before: the noisier operand first. That depends on noise alone, which is public, so
/// how often it will be is counted beforehand, and if it is less often so, all inputs are recrypted
/// at the start.
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
    /// Evaluates without recryption.
    pub fn new(public: &'a PublicKey) -> Self {
        Evaluator { public, ladder: None, recryption: None, progress: None }
    }

    /// Evaluates with a ladder below the key.
    pub fn with_ladder(self, ladder: &'a Ladder) -> Self {
        Evaluator { ladder: Some(ladder), ..self }
    }

    /// Evaluates with recryption.
    pub fn with_recryption(self, key: &'a RecryptionKey) -> Self {
        Evaluator { recryption: Some(key), ..self }
    }

    /// Tells how many ANDs, switches and recryptions of all rows are done, and of how many.
    pub fn with_progress(self, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        Evaluator { progress: Some(progress), ..self }
    }

    /// Evaluates a batch of rows. A row has the bits of all inputs in order, and its result those
    /// of all outputs.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::Inputs`] for another number of bits, [`ErrorKind::OtherKey`],
    /// [`ErrorKind::OutOfRange`]. Without one [`ErrorKind::NoiseExhausted`] if the circuit is too
    /// deep to be evaluated without recryption.
    pub fn evaluate(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<Vec<Vec<Ciphertext>>, Error> {
        let mut results: Vec<Vec<Ciphertext>> = vec![Vec::new(); rows.len()];
        self.evaluate_into(circuit, rows.to_vec(), &mut |row, outputs| -> Result<(), Error> {
            results[row].extend(outputs);
            Ok(())
        })?;
        Ok(results)
    }

    /// The same, but that results are given as they are computed: the outputs of each row in order,
    /// some at a time, with the number of their row. So those that nothing waits for take no
    /// memory; [`Evaluator::memory`] says how much is needed.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and those of `give`.
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

    /// Gates of a level that are evaluated at a time, in so many rows: some 16 MiB of results.
    fn piece(&self, rows: usize) -> usize {
        (PIECE_BYTES / (8 * self.public.parameters().limbs() * rows.max(1))).max(LEAST_PIECE)
    }

    /// Bytes that an evaluation of so many rows takes at most: inputs, what gates wait for, and
    /// outputs that are not given yet. The keys and what is prepared from them are not counted.
    pub fn memory(&self, circuit: &Circuit, rows: usize) -> u64 {
        let ciphertext = 8 * self.public.parameters().limbs() as u64;
        let held = circuit.most_held(self.piece(rows)) as u64;
        let wires = (size_of::<Option<Ciphertext>>() + size_of::<Option<f64>>()) as u64 * circuit.wires() as u64;
        // Beside them, on each core, a product and its transforms.
        let working = 32 * ciphertext * rayon::current_num_threads() as u64;
        (rows as u64).saturating_mul(held.saturating_mul(ciphertext).saturating_add(wires)).saturating_add(working)
    }

    /// How many recryptions the evaluation of these rows takes; none without a recryption key, or
    /// where a ladder is enough.
    ///
    /// # Errors
    /// As [`Evaluator::work`].
    pub fn recryptions(&self, circuit: &Circuit, rows: &[Vec<Ciphertext>]) -> Result<usize, Error> {
        self.work(circuit, rows).map(|work| work.recryptions)
    }

    /// What the evaluation of these rows takes besides gates, and where it ends.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::Inputs`], [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`].
    /// Without one [`ErrorKind::NoiseExhausted`] if the circuit is too deep for the ladder and
    /// nothing recrypts.
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

    /// The levels to go down, and what that takes. Nothing without a ladder, or where it is too
    /// short and recryption helps.
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

/// What an evaluation takes besides its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Ciphertexts that are recrypted.
    pub recryptions: usize,
    /// Ciphertexts that are switched to the next rung of a ladder, once for each rung.
    pub switches: usize,
    /// The level of the results.
    pub level: usize,
}

/// Whether all inputs are recrypted, and how many recryptions there are then.
struct Plan {
    inputs: bool,
    recryptions: usize,
}

/// Counts what is done.
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

/// Ciphertexts, as long as their noise allows.
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

/// Ciphertexts of which nothing but the noise is known.
pub(crate) struct Noise;

impl Noise {
    /// Bits of noise at a circuit's only output, all inputs having as many.
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

/// Bits with noise that can be recrypted.
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

/// Bits that are recrypted where it is necessary, so that all noise stays such as can be recrypted.
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

    /// Recrypts operands until what is made of each pair, whose noise is this, stays below the
    /// limit.
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
