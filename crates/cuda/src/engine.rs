//! Powers and products of batches on a card: constants, and rows in chunks, one of which is
//! computed while others are copied (`card.rs`). Nothing is checked here; `loaded.rs` does that.

use std::collections::VecDeque;
use std::ops::Range;

use hearith_arith::natural;
use hearith_arith::{Batch, Exponents, Modulus, Pairs, Square};
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::card::{Buffer, Card, LANES};
use crate::fault::Fault;
use crate::job::Job;
use crate::limbs::{self, Bytes, bytes_with_capacity};
use crate::shape::{Arithmetic, Operation, Size};

/// Most pieces of a number that is converted to dual numbers: `kernels/ring.cuh` bounds their sum.
const PIECES: u32 = 4;
/// Most factors of a product that one group of threads computes: `fix` has one constant for each.
const LIST: usize = 32;
/// Fewest factors for which a list is split: each part costs a transfer and a product more.
const SHORTEST: usize = 4;
/// Bits of a digit: `kernels/operations.cuh`.
const WINDOW: u32 = 5;
const OWN_WINDOW: u32 = 4;
const TEETH: u32 = 5;
const ENTRIES: usize = 1 << TEETH;
/// Most columns of a comb's block: squarings are then a tenth of its products.
const BLOCK: u32 = 16;

/// A modulus and the constants of dual numbers modulo its square.
pub(crate) struct Dual {
    arithmetic: Arithmetic,
    size: Size,
    square: Square,
    modulus: Zeroizing<Vec<u64>>,
    /// The kernels' key for powers.
    key: Bytes,
}

/// The tables of one base, for exponents up to a fixed number of bits.
pub(crate) struct Comb {
    blocks: u32,
    block: u32,
    key: Bytes,
}

/// A modulus and the constants of ordinary products modulo it.
pub(crate) struct Plain {
    arithmetic: Arithmetic,
    size: Size,
    modulus: Vec<u64>,
    key: Bytes,
}

impl Dual {
    /// Creates the constants for numbers modulo `m^2`. `None` if no kernel is large enough.
    pub(crate) fn new(arithmetic: Arithmetic, square: &Square) -> Option<Self> {
        let size = arithmetic.modulus(square.root().bits())?;
        let modulus = Zeroizing::new(square.root().as_limbs().to_vec());
        let mut key = bytes_with_capacity(arithmetic, 3 * size.limbs + 1 + PIECES as usize * 2 * size.limbs);
        push_modulus(&mut key, arithmetic, &modulus, size);
        // R, then R^2, R^3, ... modulo m^2.
        for power in 1..=1 + PIECES as usize {
            push_pairs(&mut key, arithmetic, size, &square.split(&two_to(power * size.limbs * arithmetic.bits())));
        }
        Some(Dual { arithmetic, size, square: square.clone(), modulus, key })
    }

    /// Arithmetic modulo `m` on the CPU.
    pub(crate) fn root(&self) -> &Modulus {
        self.square.root()
    }

    /// Bits of `R`.
    fn bits(&self) -> usize {
        self.size.limbs * self.arithmetic.bits()
    }

    /// Bytes of a row in [`Raw`].
    fn row_bytes(&self) -> usize {
        2 * self.size.limbs * self.arithmetic.bytes()
    }

    /// Converts a kernel's powers to canonical form.
    pub(crate) fn pairs(&self, raw: &Raw) -> Pairs {
        let (width, row_bytes) = (self.modulus.len(), self.row_bytes());
        let len = raw.0.len() / row_bytes;
        let mut pairs = Pairs { low: Batch::zeros(len, width), high: Batch::zeros(len, width) };
        let out_rows = pairs.low.as_limbs_mut().par_chunks_exact_mut(width);
        let out_rows = out_rows.zip(pairs.high.as_limbs_mut().par_chunks_exact_mut(width));
        out_rows.zip(raw.0.par_chunks_exact(row_bytes)).for_each(|((low, high), row)| {
            let (first, second) = row.split_at(row_bytes / 2);
            let over = residue(low, self.arithmetic, first, &self.modulus, 0);
            residue(high, self.arithmetic, second, &self.modulus, over);
        });
        pairs
    }

    /// Tables for powers of a number modulo `m^2` with exponents below `2^bits`.
    pub(crate) fn comb(&self, squared: &Modulus, base: &[u64], bits: u32) -> Comb {
        let columns = bits.div_ceil(TEETH).max(1);
        let blocks = columns.div_ceil(BLOCK);
        let block = columns.div_ceil(blocks);
        // weights[t]: a row per block, base^(2^(t columns + b block)), computed in the order of
        // exponents.
        let mut weight = squared.reduce(&Batch::from_rows(base.len(), [base]));
        let mut weights = Vec::new();
        for _ in 0..TEETH {
            let mut rows = Vec::new();
            for _ in 0..blocks {
                rows.push(weight.clone());
                weight = squared.pow(&weight, Exponents::Public(&[1 << block]));
            }
            weights.push(Batch::concat(&rows.iter().collect::<Vec<_>>()));
        }
        let mut one = Batch::zeros(blocks as usize, squared.limbs());
        one.rows_mut().for_each(|row| row[0] = 1);
        let mut entries = vec![one];
        for entry in 1..ENTRIES {
            let (without, tooth) = (&entries[entry & (entry - 1)], entry.trailing_zeros() as usize);
            entries.push(squared.mul(without, &weights[tooth]));
        }
        let r = squared.factor(squared.reduce(&two_to(self.bits())).row(0));
        let entries: Vec<Pairs> = entries.iter().map(|entry| self.square.split(&squared.mul_by(entry, &r))).collect();
        let limbs = self.size.limbs;
        let mut key = bytes_with_capacity(self.arithmetic, 3 * limbs + 1 + blocks as usize * ENTRIES * 2 * limbs);
        key.extend_from_slice(&self.key[..(3 * limbs + 1) * self.arithmetic.bytes()]);
        for block in 0..blocks as usize {
            for pairs in &entries {
                limbs::push(&mut key, self.arithmetic, pairs.low.row(block), limbs);
                limbs::push(&mut key, self.arithmetic, pairs.high.row(block), limbs);
            }
        }
        Comb { blocks, block, key }
    }
}

impl Plain {
    /// Creates the constants for products modulo this modulus. `None` if no kernel is large enough.
    pub(crate) fn new(arithmetic: Arithmetic, modulus: &Modulus) -> Option<Self> {
        let size = arithmetic.square(modulus.bits())?;
        let mut key = bytes_with_capacity(arithmetic, size.limbs * (LIST + 2) + 1);
        push_modulus(&mut key, arithmetic, modulus.as_limbs(), size);
        // R, R, R^2, R^3, ...: one for each factor of a list, and one for an empty list.
        let r = modulus.reduce(&two_to(size.limbs * arithmetic.bits()));
        let times_r = modulus.factor(r.row(0));
        limbs::push(&mut key, arithmetic, r.row(0), size.limbs);
        let mut power = r;
        for _ in 0..LIST {
            limbs::push(&mut key, arithmetic, power.row(0), size.limbs);
            power = modulus.mul_by(&power, &times_r);
        }
        Some(Plain { arithmetic, size, modulus: modulus.as_limbs().to_vec(), key })
    }
}

fn push_modulus(key: &mut Bytes, arithmetic: Arithmetic, modulus: &[u64], size: Size) {
    limbs::push(key, arithmetic, modulus, size.limbs);
    let inverse = natural::inverse_word(modulus[0]).wrapping_neg();
    limbs::push_word(key, arithmetic, inverse & (u64::MAX >> (64 - arithmetic.bits())));
}

fn push_pairs(key: &mut Bytes, arithmetic: Arithmetic, size: Size, pairs: &Pairs) {
    for (low, high) in pairs.low.rows().zip(pairs.high.rows()) {
        limbs::push(key, arithmetic, low, size.limbs);
        limbs::push(key, arithmetic, high, size.limbs);
    }
}

fn two_to(bits: usize) -> Batch {
    let mut number = Batch::zeros(1, bits / 64 + 1);
    number.row_mut(0)[bits / 64] = 1 << (bits % 64);
    number
}

/// Rows in a card's memory, in words.
#[derive(Clone, Copy)]
struct Words {
    address: u64,
    rows: usize,
    words: usize,
}

/// The operands of the rows of a kernel of powers.
#[derive(Default)]
struct Operands<'a> {
    /// Numbers, the bits of their upper bound `2^bits`, and the bits of a digit of their exponents.
    numbers: Option<(&'a Batch, u32, u32)>,
    exponents: Option<&'a Batch>,
    second: Option<&'a Batch>,
}

/// Powers of all rows with one shared exponent, which may belong to a key.
pub(crate) struct Power<'a> {
    pub(crate) dual: &'a Dual,
    pub(crate) numbers: &'a Batch,
    pub(crate) exponent: &'a [u64],
}

/// Rows as a kernel of powers returns them, in a card's limbs. [`Dual::pairs`] converts them to the
/// CPU's form separately, so that the card need not wait for it. Wiped when dropped.
pub(crate) struct Raw(Vec<u8>);

impl Drop for Raw {
    fn drop(&mut self) {
        limbs::wipe(&mut self.0);
    }
}

/// One kernel of powers for all rows.
struct Work<'a> {
    dual: &'a Dual,
    operation: Operation,
    operands: Operands<'a>,
    job: Job,
}

/// Computes batches on a card, with exclusive access to it.
#[derive(Debug)]
pub(crate) struct Engine(pub(crate) Card);

impl Engine {
    /// Computes several powers of each row: of numbers below `2^bits`, with exponents below
    /// `2^length`, times `1 + s m` with the numbers `s` below `m` of `second`.
    ///
    /// `read` receives the output for some rows, one entry per power, while the card computes other
    /// rows.
    pub(crate) fn powers(
        &mut self,
        powers: &[Power<'_>],
        (bits, length): (u32, u32),
        second: Option<&Batch>,
        mut read: impl FnMut(Range<usize>, Vec<Raw>),
    ) -> Result<(), Fault> {
        let digits = length.div_ceil(WINDOW).max(1);
        let mut bytes = Zeroizing::new(Vec::with_capacity(4 * digits as usize * powers.len()));
        let mut keys = Zeroizing::new(Vec::with_capacity(powers.iter().map(|power| power.dual.key.len()).sum()));
        for power in powers {
            for digit in 0..digits {
                let digit = natural::bits_at(power.exponent, (digit * WINDOW) as usize, WINDOW) as u32;
                bytes.extend_from_slice(&digit.to_le_bytes());
            }
            keys.extend_from_slice(&power.dual.key);
        }
        let (mut key, mut exponents) = (self.0.put(Buffer::Key, &keys)?, self.0.put(Buffer::Exponent, &bytes)?);
        let mut works = Vec::new();
        for &Power { dual, numbers, .. } in powers {
            let job = Job { key, exponents, digits, ..Job::default() };
            let operands = Operands { numbers: Some((numbers, bits, WINDOW)), second, ..Operands::default() };
            works.push(Work { dual, operation: Operation::Power, operands, job });
            key += dual.key.len() as u64;
            exponents += 4 * u64::from(digits);
        }
        let len = powers.first().map_or(0, |power| power.numbers.len());
        let mut made = Vec::new();
        self.rows(&works, len, |rows, bytes| {
            made.push(Raw(bytes.to_vec()));
            if made.len() == works.len() {
                read(rows.clone(), std::mem::take(&mut made));
            }
        })
    }

    /// Powers of numbers below `2^bits`, each with its own exponent below `2^length`.
    pub(crate) fn multiples(
        &mut self,
        dual: &Dual,
        numbers: &Batch,
        bits: u32,
        exponents: &Batch,
        length: u32,
    ) -> Result<Pairs, Fault> {
        let key = self.0.put(Buffer::Key, &dual.key)?;
        let length = length.min(64 * exponents.limbs() as u32);
        let (digits, block) = (exponents.limbs() as u32, length.div_ceil(OWN_WINDOW));
        let job = Job { key, digits, block, ..Job::default() };
        let numbers = Some((numbers, bits, OWN_WINDOW));
        let operands = Operands { numbers, exponents: Some(exponents), second: None };
        let width = dual.modulus.len();
        let mut pairs = Pairs { low: Batch::zeros(0, width), high: Batch::zeros(0, width) };
        pairs.low.reserve(exponents.len());
        pairs.high.reserve(exponents.len());
        let work = Work { dual, operation: Operation::Multiple, operands, job };
        self.rows(&[work], exponents.len(), |_, bytes| {
            let some = dual.pairs(&Raw(bytes.to_vec()));
            pairs.low.append(&some.low);
            pairs.high.append(&some.high);
        })?;
        Ok(pairs)
    }

    /// Powers of a comb's base times `1 + s m`, returned through `read` as in [`Engine::powers`].
    pub(crate) fn comb(
        &mut self,
        dual: &Dual,
        comb: &Comb,
        exponents: &Batch,
        second: Option<&Batch>,
        mut read: impl FnMut(Range<usize>, Raw),
    ) -> Result<(), Fault> {
        let key = self.0.put(Buffer::Key, &comb.key)?;
        let Comb { blocks, block, .. } = *comb;
        let job = Job { key, digits: exponents.limbs() as u32, blocks, block, ..Job::default() };
        let operands = Operands { numbers: None, exponents: Some(exponents), second };
        let work = Work { dual, operation: Operation::Comb, operands, job };
        self.rows(&[work], exponents.len(), |rows, bytes| read(rows.clone(), Raw(bytes.to_vec())))
    }

    /// Runs kernels of powers, all of one size, over all rows: all kernels for some rows, then all
    /// for the next rows. `read` receives the output of each.
    fn rows(
        &mut self,
        works: &[Work<'_>],
        len: usize,
        mut read: impl FnMut(&Range<usize>, &[u8]),
    ) -> Result<(), Fault> {
        let Some(Work { dual, operation, .. }) = works.first() else { return Ok(()) };
        let chunk = self.0.chunk(dual.arithmetic.kernel(*operation, dual.size));
        let chunks = (0..len).step_by(chunk).map(|start| start..len.min(start + chunk));
        self.pipeline(
            chunks.flat_map(|rows| works.iter().map(move |work| (work, rows.clone()))),
            |engine, lane, (work, rows)| {
                engine.start(work, rows, lane)?;
                Ok(rows.len() * work.dual.row_bytes())
            },
            |(_, rows), bytes| read(rows, bytes),
        )
    }

    /// Sends chunks through the card, as many at a time as there are lanes.
    ///
    /// `start` starts everything for a chunk in a lane except the copy back, and returns the length
    /// of its output. `read` reads the output.
    fn pipeline<T>(
        &mut self,
        chunks: impl Iterator<Item = T>,
        mut start: impl FnMut(&mut Self, usize, &T) -> Result<usize, Fault>,
        mut read: impl FnMut(&T, &[u8]),
    ) -> Result<(), Fault> {
        let mut under_way: VecDeque<(usize, T, usize)> = VecDeque::new();
        let all = || {
            for (number, chunk) in chunks.enumerate() {
                let lane = number % LANES;
                // Collect the previous chunk of this lane.
                if number >= LANES
                    && let Some((lane, before, bytes)) = under_way.pop_front()
                {
                    read(&before, self.0.collect(lane, bytes)?);
                }
                let bytes = start(self, lane, &chunk)?;
                self.0.leave(lane, bytes)?;
                under_way.push_back((lane, chunk, bytes));
            }
            for (lane, chunk, bytes) in under_way {
                read(&chunk, self.0.collect(lane, bytes)?);
            }
            Ok(())
        };
        let done = all();
        if done.is_err() {
            self.0.abandon();
        }
        done
    }

    /// Starts a kernel of powers over some rows.
    fn start(&mut self, work: &Work<'_>, rows: &Range<usize>, lane: usize) -> Result<(), Fault> {
        let Work { dual, operation, operands, job } = work;
        let (arithmetic, size) = (dual.arithmetic, dual.size);
        let kernel = arithmetic.kernel(*operation, size);
        let mut job = Job { rows: rows.len() as u64, ..*job };
        let numbers = operands.numbers.map(|(numbers, ..)| self.send(Buffer::Words(lane), numbers, rows));
        let numbers = numbers.transpose()?;
        let second = operands.second.map(|second| self.send(Buffer::SecondWords(lane), second, rows)).transpose()?;
        if let Some(exponents) = operands.exponents {
            job.exponents = self.send(Buffer::RowExponents(lane), exponents, rows)?.address;
        }
        job.output = self.0.reserve(Buffer::Output(lane), rows.len() * 2 * size.limbs * arithmetic.bytes())?;
        if let Some((_, _, window)) = operands.numbers {
            let groups = rows.len().next_multiple_of(self.0.block(size)).min(self.0.groups(kernel));
            let words = (groups * 2 * size.limbs) << window;
            job.scratch = self.0.reserve(Buffer::Scratch, words * arithmetic.bytes())?;
        }
        self.0.begin(lane)?;
        if let (Some(numbers), Some((_, bits, _))) = (numbers, operands.numbers) {
            let pieces = (bits as usize).div_ceil(dual.bits()).max(1);
            assert!(pieces <= PIECES as usize, "a number of so many bits does not enter");
            job.chunks = pieces as u32;
            job.input = self.unpacked(arithmetic, numbers, pieces * size.limbs, Buffer::Input)?;
        }
        if let Some(second) = second {
            job.second = self.unpacked(arithmetic, second, size.limbs, Buffer::Second)?;
        }
        // SAFETY: the kernel's input was sent, and every buffer has the length that the job states.
        unsafe { self.0.run(kernel, &job) }
    }

    /// Starts to copy rows to a buffer of a lane.
    fn send(&mut self, buffer: Buffer, numbers: &Batch, rows: &Range<usize>) -> Result<Words, Fault> {
        let words = numbers.limbs();
        let limbs = &numbers.as_limbs()[rows.start * words..rows.end * words];
        let address = self.0.send(buffer, 8 * limbs.len(), |bytes| {
            bytes.chunks_exact_mut(8).zip(limbs).for_each(|(bytes, limb)| bytes.copy_from_slice(&limb.to_le_bytes()));
        })?;
        Ok(Words { address, rows: rows.len(), words })
    }

    /// Converts rows of words to `limbs` limbs each in the card's memory.
    fn unpacked(&mut self, arithmetic: Arithmetic, from: Words, limbs: usize, buffer: Buffer) -> Result<u64, Fault> {
        let count = from.rows * limbs;
        let output = self.0.reserve(buffer, count * arithmetic.bytes())?;
        let (words, limbs) = (from.words as u32, limbs as u32);
        let job = Job { rows: count as u64, input: from.address, output, words, limbs, ..Job::default() };
        let kernel = arithmetic.kernel(Operation::Unpack, Size { limbs: 0, threads: 1 });
        // SAFETY: the input has this many words, and the output has capacity for this many limbs.
        unsafe { self.0.run(kernel, &job) }?;
        Ok(output)
    }

    /// Computes the product of each group's rows modulo the modulus; 1 for an empty group.
    ///
    /// Numbers are below the modulus. `other_way` computes the same in reverse order: rows, groups
    /// and factors have other positions, and other threads multiply them in another order.
    ///
    /// # Panics
    /// If a group lists a row that does not exist.
    pub(crate) fn products<G: AsRef<[u32]>>(
        &mut self,
        plain: &Plain,
        numbers: &Batch,
        groups: &[G],
        other_way: bool,
    ) -> Result<Batch, Fault> {
        let width = plain.modulus.len();
        let mut lists: Vec<Vec<u32>> = groups.iter().map(|group| group.as_ref().to_vec()).collect();
        let mut totals = Batch::zeros(groups.len(), width).public();
        let mut open: Vec<usize> = (0..groups.len()).collect();
        let mut intermediate = None;
        while !open.is_empty() {
            let numbers = intermediate.as_ref().unwrap_or(numbers);
            let kernel = plain.arithmetic.kernel(Operation::Product, plain.size);
            let chunk = self.0.rows();
            let parts = parts(&lists, numbers.len(), chunk, self.0.groups(kernel));
            let mut made = Batch::zeros(parts.len(), width).public();
            let key = self.0.put(Buffer::Key, &plain.key)?;
            let row_bytes = plain.size.limbs * plain.arithmetic.bytes();
            self.pipeline(
                parts.chunk_by(|a, b| a.window == b.window),
                |engine, lane, parts| {
                    let window = parts[0].window;
                    let rows = window * chunk..numbers.len().min((window + 1) * chunk);
                    engine.window(plain, key, numbers, rows, parts, (lane, other_way))?;
                    Ok(parts.len() * row_bytes)
                },
                |parts, bytes| {
                    let made = &mut made.as_limbs_mut()[parts[0].number * width..][..parts.len() * width];
                    made.par_chunks_exact_mut(width).enumerate().for_each(|(part, out)| {
                        let at = if other_way { parts.len() - 1 - part } else { part };
                        _ = residue(out, plain.arithmetic, &bytes[at * row_bytes..][..row_bytes], &plain.modulus, 0);
                    });
                },
            )?;
            let mut of_lists = vec![Vec::new(); lists.len()];
            parts.iter().for_each(|part| of_lists[part.group].push(part.number));
            // The remaining parts of a group are adjacent. Their number falls in each round,
            // because those of the first group are in one chunk.
            let (mut order, mut again, mut left) = (Vec::new(), Vec::new(), Vec::new());
            for (numbers, group) in of_lists.iter().zip(open) {
                if let [one] = numbers[..] {
                    totals.row_mut(group).copy_from_slice(made.row(one));
                } else {
                    again.push((order.len() as u32..).take(numbers.len()).collect());
                    order.extend_from_slice(numbers);
                    left.push(group);
                }
            }
            (lists, open, intermediate) = (again, left, Some(made.select(&order)));
        }
        Ok(totals)
    }

    /// Starts the products of parts whose rows all lie in one range, in forward or reverse order.
    fn window(
        &mut self,
        plain: &Plain,
        key: u64,
        numbers: &Batch,
        rows: Range<usize>,
        parts: &[Part],
        (lane, other_way): (usize, bool),
    ) -> Result<(), Fault> {
        let Plain { arithmetic, size, .. } = *plain;
        // In reverse order, the positions of rows and parts are mirrored.
        let position = |row: u32| {
            let row = row as usize - rows.start;
            (if other_way { rows.len() - 1 - row } else { row }) as u32
        };
        let at = |index: usize| if other_way { parts.len() - 1 - index } else { index };
        let (mut starts, mut factors) = (vec![0u32], Vec::new());
        for index in 0..parts.len() {
            let list = &parts[at(index)].rows;
            match other_way {
                true => factors.extend(list.iter().rev().map(|&row| position(row))),
                false => factors.extend(list.iter().map(|&row| position(row))),
            }
            starts.push(factors.len() as u32);
        }
        let sent = match other_way {
            true => {
                let reversed = numbers.select(&rows.clone().rev().collect::<Vec<_>>());
                self.send(Buffer::Words(lane), &reversed, &(0..rows.len()))?
            }
            false => self.send(Buffer::Words(lane), numbers, &rows)?,
        };
        let index = self.0.send(Buffer::Index(lane), 4 * (starts.len() + factors.len()), |bytes| {
            let numbers = starts.iter().chain(&factors);
            bytes.chunks_exact_mut(4).zip(numbers).for_each(|(bytes, number)| {
                bytes.copy_from_slice(&number.to_le_bytes());
            });
        })?;
        let row_bytes = size.limbs * arithmetic.bytes();
        let output = self.0.reserve(Buffer::Output(lane), parts.len() * row_bytes)?;
        self.0.begin(lane)?;
        let input = match rows.is_empty() {
            true => self.0.reserve(Buffer::Input, row_bytes)?,
            false => self.unpacked(arithmetic, sent, size.limbs, Buffer::Input)?,
        };
        let job = Job { rows: parts.len() as u64, input, output, key, index, ..Job::default() };
        // SAFETY: lists name rows of this range, no list is longer than the constants, and every
        // buffer has the length that the job states.
        unsafe { self.0.run(arithmetic.kernel(Operation::Product, size), &job) }
    }
}

/// Some factors of a group's product, all in one chunk.
struct Part {
    group: usize,
    window: usize,
    rows: Vec<u32>,
    /// Its position among the parts.
    number: usize,
}

/// Splits lists into parts of rows in one chunk, ordered by chunks. The parts of a list in a chunk
/// have equal lengths, give or take one.
fn parts(lists: &[Vec<u32>], rows: usize, chunk: usize, groups: usize) -> Vec<Part> {
    let mut pieces: Vec<Vec<(usize, Vec<u32>)>> = vec![Vec::new(); rows.div_ceil(chunk).max(1)];
    for (group, list) in lists.iter().enumerate() {
        let mut windows = vec![Vec::new(); pieces.len()];
        list.iter().for_each(|&row| windows[row as usize / chunk].push(row));
        for (window, rows) in windows.into_iter().enumerate() {
            // An empty list has one empty part.
            if !rows.is_empty() || (list.is_empty() && window == 0) {
                pieces[window].push((group, rows));
            }
        }
    }
    let mut parts = Vec::new();
    for (window, pieces) in pieces.iter().enumerate() {
        let length = length(pieces.iter().map(|(_, rows)| rows.len()), groups);
        for (group, rows) in pieces {
            let number = rows.len().div_ceil(length).max(1);
            for part in 0..number {
                let rows = &rows[part * rows.len() / number..(part + 1) * rows.len() / number];
                parts.push(Part { group: *group, window, rows: rows.to_vec(), number: parts.len() });
            }
        }
    }
    parts
}

/// The most factors of a part with which `groups` groups of threads finish lists of these lengths
/// first. Products that a group waits for count as its own, and each part counts as one more
/// product, since a later round multiplies it.
fn length(lists: impl Iterator<Item = usize> + Clone, groups: usize) -> usize {
    let cost = |length: usize| {
        let parts: usize = lists.clone().map(|list| list.div_ceil(length).max(1)).sum();
        let longest = lists.clone().map(|list| list.div_ceil(list.div_ceil(length).max(1))).max().unwrap_or(0);
        parts.div_ceil(groups) * groups * longest + parts
    };
    (SHORTEST..=LIST).min_by_key(|&length| cost(length)).unwrap_or(LIST)
}

/// The residue of a card's limbs plus `plus` (0 or 1), provided that the sum is below twice the
/// modulus. Returns 1 if the modulus was subtracted. Constant time.
fn residue(out: &mut [u64], arithmetic: Arithmetic, limbs: &[u8], modulus: &[u64], plus: u64) -> u64 {
    let mut wide = Zeroizing::new(vec![0; out.len() + 1]);
    limbs::unpack(&mut wide, arithmetic, limbs);
    natural::add_assign(&mut wide, &[plus]);
    let (number, top) = wide.split_at_mut(out.len());
    let taken = natural::reduce_once(number, top[0], modulus);
    out.copy_from_slice(number);
    taken
}

/// The kernels against GMP, at the edges of the bounds that their comments state.
#[cfg(all(test, feature = "emulated"))]
mod tests {
    use super::*;
    use crate::driver::Driver;
    use hearith_arith::Engine as Cpu;
    use rug::{Integer, integer::Order};

    /// Every size of each arithmetic and both products: an emulated card, its arithmetic and the
    /// size.
    fn sizes(of: fn(Arithmetic, u32) -> Option<Size>) -> Vec<(usize, Arithmetic, Size)> {
        let mut sizes = Vec::new();
        for (card, arithmetic) in [(0, Arithmetic::Wide), (1, Arithmetic::Wide), (2, Arithmetic::Narrow)] {
            for bits in (512..=8192).step_by(512) {
                let Some(size) = of(arithmetic, bits) else { continue };
                if sizes.last() != Some(&(card, arithmetic, size)) {
                    sizes.push((card, arithmetic, size));
                }
            }
        }
        sizes
    }

    fn engine(card: usize) -> Engine {
        let driver = Driver::open(crate::EMULATED_DRIVER.as_ref()).unwrap();
        Engine(Card::open_with(&driver, card, None).unwrap())
    }

    /// Powers of all rows with one exponent below `2^length`.
    fn powers(engine: &mut Engine, power: Power<'_>, bits: (u32, u32), second: Option<&Batch>) -> Pairs {
        let (dual, mut parts, mut next) = (power.dual, Vec::new(), 0);
        let read = |rows: Range<usize>, mut raw: Vec<Raw>| {
            assert_eq!((rows.start, raw.len()), (next, 1));
            next = rows.end;
            parts.push(dual.pairs(&raw.remove(0)));
        };
        engine.powers(&[power], bits, second, read).unwrap();
        joined(&parts)
    }

    fn combs(engine: &mut Engine, (dual, comb): (&Dual, &Comb), exponents: &Batch, second: Option<&Batch>) -> Pairs {
        let mut parts = Vec::new();
        engine.comb(dual, comb, exponents, second, |_, raw| parts.push(dual.pairs(&raw))).unwrap();
        joined(&parts)
    }

    fn joined(parts: &[Pairs]) -> Pairs {
        let all = |part: fn(&Pairs) -> &Batch| Batch::concat(&parts.iter().map(part).collect::<Vec<_>>());
        Pairs { low: all(|pairs| &pairs.low), high: all(|pairs| &pairs.high) }
    }

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn batch(numbers: &[Integer], limbs: usize) -> Batch {
        let rows: Vec<Vec<u64>> = numbers.iter().map(|number| number.to_digits(Order::Lsf)).collect();
        Batch::from_rows(limbs, rows.iter().map(Vec::as_slice))
    }

    /// The largest modulus of a size, `R = 2^8 (m + 1)`; one with long runs of equal bits; and the
    /// smallest with as many bits, whose products carry least.
    fn moduli(bits: usize) -> [Integer; 3] {
        let top = Integer::from(1) << bits as u32;
        let runs = (Integer::from(1) << (bits as u32 - 60)) - 1u32;
        [top.clone() - 1u32, top.clone() - 1u32 - (runs << 30u32), (top >> 1u32) + 1u32]
    }

    fn modulus(m: &Integer) -> Modulus {
        Modulus::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap()
    }

    /// Numbers with boundary limbs, below `2^bits`.
    fn numbers(bits: usize, limb: usize) -> Vec<Integer> {
        let top = Integer::from(1) << bits as u32;
        let mut pattern = Integer::new();
        for at in (0..bits).step_by(2 * limb) {
            pattern |= ((Integer::from(1) << limb as u32) - 1u32) << at as u32;
        }
        [top.clone() - 1u32, pattern % &top, Integer::from(0), Integer::from(1)].to_vec()
    }

    fn check(found: &Pairs, row: usize, m: &Integer, expected: &Integer, what: &dyn std::fmt::Debug) {
        let (low, high) = (integer(found.low.row(row)), integer(found.high.row(row)));
        assert!(low < *m && high < *m, "{what:?}, row {row}");
        assert_eq!(low + high * m, *expected, "{what:?}, row {row}");
    }

    #[test]
    fn powers_with_a_shared_exponent_are_those_of_gmp() {
        for (card, arithmetic, size) in sizes(Arithmetic::modulus) {
            let mut engine = engine(card);
            let bits = size.limbs * arithmetic.bits() - SPARE;
            for (m, exponent) in moduli(bits).into_iter().zip([0x1f_ffff_ffffu64, 1, 0b10000_00001]) {
                let square = Square::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap();
                let dual = Dual::new(arithmetic, &square).unwrap();
                assert_eq!(dual.size, size);
                let squared = Integer::from(m.square_ref());
                // Four full pieces: the input is below 8 m, no less.
                let widest = PIECES as usize * dual.bits();
                let inputs = numbers(widest, arithmetic.bits());
                let rows = batch(&inputs, widest.div_ceil(64));
                let seconds = [m.clone() - 1u32, Integer::from(0), Integer::from(1), m.clone() - 2u32];
                let second = batch(&seconds, square.root().limbs());
                let exponent_limbs = [exponent];
                let power = || Power { dual: &dual, numbers: &rows, exponent: &exponent_limbs };
                let found = powers(&mut engine, power(), (widest as u32, 38), Some(&second));
                let alone = powers(&mut engine, power(), (widest as u32, 38), None);
                for (row, (x, s)) in inputs.iter().zip(&seconds).enumerate() {
                    let power = x.clone().pow_mod(&Integer::from(exponent), &squared).unwrap();
                    check(&alone, row, &m, &power, &(card, size));
                    let expected = power * (Integer::from(s * &m) + 1u32) % &squared;
                    check(&found, row, &m, &expected, &(card, size));
                }
            }
        }
    }

    #[test]
    fn powers_with_exponents_of_their_own_are_those_of_gmp() {
        for (card, arithmetic, size) in sizes(Arithmetic::modulus).into_iter().filter(|(.., size)| size.limbs > 10) {
            let mut engine = engine(card);
            for m in &moduli(size.limbs * arithmetic.bits() - SPARE)[..2] {
                let square = Square::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap();
                let dual = Dual::new(arithmetic, &square).unwrap();
                let squared = Integer::from(m.square_ref());
                let widest = 2 * dual.bits();
                let inputs = numbers(widest, arithmetic.bits());
                let rows = batch(&inputs, widest.div_ceil(64));
                let exponents = [Integer::from(1) << 65, Integer::from(0), Integer::from(0x8421), Integer::from(1)];
                let exponents = exponents.map(|exponent| exponent);
                let found = engine.multiples(&dual, &rows, widest as u32, &batch(&exponents, 2), 66).unwrap();
                for (row, (x, exponent)) in inputs.iter().zip(&exponents).enumerate() {
                    let power = x.clone().pow_mod(exponent, &squared).unwrap();
                    check(&found, row, m, &power, &(card, size));
                }
            }
        }
    }

    #[test]
    fn combs_are_powers_of_gmp() {
        for (card, arithmetic, size) in sizes(Arithmetic::modulus).into_iter().filter(|(.., size)| size.limbs > 10) {
            let mut engine = engine(card);
            let m = &moduli(size.limbs * arithmetic.bits() - SPARE)[0];
            let square = Square::new(Cpu::best(), &m.to_digits::<u64>(Order::Lsf)).unwrap();
            let squared = modulus(&Integer::from(m.square_ref()));
            let dual = Dual::new(arithmetic, &square).unwrap();
            let base = Integer::from(m.square_ref()) - 3u32;
            // One block, and several. The last bits of the exponents are beyond the last word.
            for bits in [1, 64, 170] {
                let comb = dual.comb(&squared, &base.to_digits::<u64>(Order::Lsf), bits);
                let limbs = (bits as usize).div_ceil(64);
                let top = Integer::from(1) << bits;
                let exponents = [top.clone() - 1u32, top.clone() >> 1u32, Integer::from(0), Integer::from(1)];
                let seconds = [m.clone() - 1u32, Integer::from(0), Integer::from(1), m.clone() - 2u32];
                let second = batch(&seconds, square.root().limbs());
                let found = combs(&mut engine, (&dual, &comb), &batch(&exponents, limbs), Some(&second));
                let modulus = Integer::from(m.square_ref());
                for (row, (exponent, s)) in exponents.iter().zip(&seconds).enumerate() {
                    let power = base.clone().pow_mod(exponent, &modulus).unwrap();
                    let expected = power * (Integer::from(s * m) + 1u32) % &modulus;
                    check(&found, row, m, &expected, &(card, size, bits));
                }
            }
        }
    }

    #[test]
    fn products_are_those_of_gmp_from_both_ends() {
        for (card, arithmetic, size) in sizes(Arithmetic::square) {
            let mut engine = engine(card);
            for m in moduli(size.limbs * arithmetic.bits() - SPARE) {
                let plain = Plain::new(arithmetic, &modulus(&m)).unwrap();
                assert_eq!(plain.size, size);
                // Inputs as large as those passed from one kernel to the next: below 2 m, not below
                // m.
                let inputs =
                    [Integer::from(&m * 2u32) - 1u32, m.clone() - 1u32, m.clone(), Integer::from(7), m.clone() >> 1];
                let rows = batch(&inputs, plain.modulus.len() + 1);
                let longest: Vec<u32> = (0..LIST as u32 + 1).map(|row| row % 5).collect();
                let groups = [vec![], vec![0], vec![0, 0, 1], vec![2, 1], longest, vec![4; LIST], vec![3, 0]];
                for other_way in [false, true] {
                    let found = engine.products(&plain, &rows, &groups, other_way).unwrap();
                    for (row, group) in groups.iter().enumerate() {
                        let product =
                            group.iter().fold(Integer::from(1), |product, &row| product * &inputs[row as usize] % &m);
                        assert_eq!(integer(found.row(row)), product, "card {card}, {size:?}, group {row}");
                    }
                }
            }
        }
    }

    /// `kernels/ring.cuh` requires R >= 2^8 m, no more.
    const SPARE: usize = 8;

    /// More chunks than lanes, with a shorter last chunk. The emulated driver delays every
    /// operation as long as possible, so a missing wait or an overwritten copy shows.
    #[test]
    fn rows_go_through_a_card_in_chunks() {
        let m = &moduli(1032)[1];
        let squared = Integer::from(m.square_ref());
        let square = Square::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap();
        for (card, arithmetic) in [(0, Arithmetic::Wide), (2, Arithmetic::Narrow)] {
            let dual = Dual::new(arithmetic, &square).unwrap();
            let plain = Plain::new(arithmetic, &modulus(&squared)).unwrap();
            let inputs: Vec<Integer> = (0..11u32).map(|row| Integer::from(&squared >> 3) - row).collect();
            let (rows, width) = (batch(&inputs, 33), 2 * square.root().bits());
            let seconds = batch(&(0..11).map(Integer::from).collect::<Vec<_>>(), square.root().limbs());
            // More groups than a chunk has rows, with rows in every chunk.
            let mut groups: Vec<Vec<u32>> = vec![vec![10, 0], vec![], vec![5; 40]];
            groups.extend((0..9).map(|first| (first..11).collect()));
            for chunk in [2, 3, 4, 6, 11] {
                let Engine(card) = engine(card);
                let mut engine = Engine(card.with_rows(chunk));
                let power = Power { dual: &dual, numbers: &rows, exponent: &[5] };
                let found = powers(&mut engine, power, (width, 3), Some(&seconds));
                let exponents = batch(&(0..11).map(Integer::from).collect::<Vec<_>>(), 1);
                let own = engine.multiples(&dual, &rows, width, &exponents, 4).unwrap();
                for (row, x) in inputs.iter().enumerate() {
                    let power = |exponent: usize| x.clone().pow_mod(&Integer::from(exponent), &squared).unwrap();
                    let second = Integer::from(m * row) + 1u32;
                    check(&found, row, m, &(power(5) * second % &squared), &(chunk, row));
                    check(&own, row, m, &power(row), &(chunk, row));
                }
                for other_way in [false, true] {
                    let found = engine.products(&plain, &rows, &groups, other_way).unwrap();
                    for (row, group) in groups.iter().enumerate() {
                        let all =
                            group.iter().fold(Integer::from(1), |all, &row| all * &inputs[row as usize] % &squared);
                        assert_eq!(integer(found.row(row)), all, "chunks of {chunk}, group {row}");
                    }
                }
            }
        }
    }

    /// Two powers of each row, of different numbers modulo different squares, are returned
    /// together.
    #[test]
    fn several_powers_of_a_row_come_together() {
        let moduli = &moduli(1032)[..2];
        let squares = moduli.iter().map(|m| Square::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap());
        let squares: Vec<Square> = squares.collect();
        let inputs: [Vec<Integer>; 2] = [5u32, 9].map(|step| (0..11u32).map(|row| Integer::from(step * row)).collect());
        let numbers = inputs.each_ref().map(|inputs| batch(inputs, 33));
        for (card, arithmetic) in [(0, Arithmetic::Wide), (2, Arithmetic::Narrow)] {
            let duals: Vec<Dual> = squares.iter().map(|square| Dual::new(arithmetic, square).unwrap()).collect();
            for chunk in [1, 2, 5, 11, 64] {
                let Engine(card) = engine(card);
                let mut engine = Engine(card.with_rows(chunk));
                let power = |half: usize| Power {
                    dual: &duals[half],
                    numbers: &numbers[half],
                    exponent: [&[77][..], &[1000]][half],
                };
                let mut next = 0;
                let read = |rows: Range<usize>, raw: Vec<Raw>| {
                    assert_eq!((rows.start, raw.len()), (next, 2));
                    next = rows.end;
                    for (half, raw) in raw.iter().enumerate() {
                        let (found, squared) = (duals[half].pairs(raw), Integer::from(moduli[half].square_ref()));
                        for (at, row) in rows.clone().enumerate() {
                            let exponent = Integer::from([77, 1000][half]);
                            let expected = inputs[half][row].clone().pow_mod(&exponent, &squared).unwrap();
                            check(&found, at, &moduli[half], &expected, &(chunk, half, row));
                        }
                    }
                };
                engine.powers(&[power(0), power(1)], (2064, 10), None, read).unwrap();
                assert_eq!(next, 11);
            }
        }
    }

    /// Ten times as many rows need no more memory, on the card or pinned, and copies start before
    /// kernels have run.
    #[test]
    fn memory_is_bounded_and_copies_overlap() {
        // SAFETY: the library is this crate's own, and this is the type of its functions.
        let asked = |name: &[u8]| unsafe {
            let library = libloading::Library::new(crate::EMULATED_DRIVER).unwrap();
            let most: libloading::Symbol<'_, unsafe extern "C" fn(i32) -> usize> = library.get(name).unwrap();
            most(8)
        };
        let m = &moduli(1032)[1];
        let square = Square::new(Cpu::Serial, &m.to_digits::<u64>(Order::Lsf)).unwrap();
        let dual = Dual::new(Arithmetic::Wide, &square).unwrap();
        let plain = Plain::new(Arithmetic::Wide, &modulus(&Integer::from(m.square_ref()))).unwrap();
        let Engine(card) = engine(8);
        let mut engine = Engine(card.with_rows(8));
        let mut most = |rows: u32| {
            let numbers = batch(&(0..rows).map(|row| Integer::from(m - row)).collect::<Vec<_>>(), 33);
            let power = Power { dual: &dual, numbers: &numbers, exponent: &[3] };
            powers(&mut engine, power, (2 * square.root().bits(), 2), Some(&numbers));
            let groups: Vec<Vec<u32>> = (0..4).map(|group| (group..rows).step_by(4).collect()).collect();
            engine.products(&plain, &numbers, &groups, false).unwrap();
            asked(b"hearith_emulated_most\0")
        };
        let few = most(16);
        assert!(few > 0);
        assert_eq!(most(160), few);
        assert!(asked(b"hearith_emulated_overlaps\0") > 40);
    }

    #[test]
    fn columns_have_the_room_that_the_kernels_state() {
        let fits = |bound: u128| bound < 1 << 63;
        // wide.cuh: six halves below 2^52 and a carry in every step.
        let wide = |limbs: u128| (6 * limbs + 1) << 52;
        assert!(fits(wide(341)) && !fits(wide(342)));
        // narrow.cuh: three products below 2^56 in every step between two settlements.
        let narrow = |limbs: u128| ((3 * limbs) << 56) + (1 << 38);
        assert!(fits(narrow(42)) && !fits(narrow(43)));
        for (_, arithmetic, Size { limbs, threads }) in [sizes(Arithmetic::modulus), sizes(Arithmetic::square)].concat()
        {
            match arithmetic {
                Arithmetic::Wide => assert!(fits(wide(limbs as u128))),
                Arithmetic::Narrow => assert!(fits(narrow((limbs / threads) as u128))),
            }
        }
    }

    #[test]
    fn parts_cover_every_row_once() {
        let chunk = 100;
        // The last list has more rows than 5 groups of threads multiply at a time.
        let longest = vec![2; 5 * LIST + 1];
        let lists = vec![vec![0, chunk as u32, 1, 2, 3], vec![], vec![chunk as u32 + 1; 9], longest];
        let parts = parts(&lists, chunk + 2, chunk, 5);
        for (number, part) in parts.iter().enumerate() {
            assert!(part.number == number && part.rows.len() <= LIST);
            assert!(part.rows.iter().all(|&row| row as usize / chunk == part.window));
        }
        for (group, list) in lists.iter().enumerate() {
            let mut rows: Vec<u32> =
                parts.iter().filter(|part| part.group == group).flat_map(|part| part.rows.clone()).collect();
            let mut expected = list.clone();
            rows.sort_unstable();
            expected.sort_unstable();
            assert_eq!(rows, expected);
        }
    }

    /// Products that one group of threads computes one after the other, for all rounds of the sum
    /// of `rows` rows in `sums` groups, in chunks of `chunk` rows, where `groups` groups of threads
    /// compute.
    fn steps(rows: usize, sums: usize, chunk: usize, groups: usize) -> usize {
        let (mut left, mut steps) = (rows, 0);
        loop {
            let lists: Vec<Vec<u32>> = match left == rows {
                true => (0..sums).map(|sum| (sum as u32..rows as u32).step_by(sums).collect()).collect(),
                false => (0..sums)
                    .map(|sum| (sum * left / sums..(sum + 1) * left / sums).map(|row| row as u32).collect())
                    .collect(),
            };
            let parts = parts(&lists, left, chunk, groups);
            for window in parts.chunk_by(|a, b| a.window == b.window) {
                steps += window
                    .chunks(groups)
                    .map(|wave| wave.iter().map(|part| part.rows.len()).max().unwrap())
                    .sum::<usize>();
            }
            if parts.len() == sums {
                return steps;
            }
            left = parts.len();
        }
    }

    /// A card is never far from as fast as if all groups of threads multiplied all the time, beyond
    /// a few products to combine their results.
    #[test]
    fn sums_keep_all_groups_of_threads_busy() {
        for (rows, sums) in [(262_144, 960), (262_144, 1), (65_536, 5), (65_536, 8448), (65_536, 20_000), (9000, 40)] {
            let found = steps(rows, sums, 65_536, 8448);
            let least = rows.div_ceil(8448);
            assert!(found <= least * 3 / 2 + 24, "{rows} rows in {sums} sums: {found} products, at least {least}");
        }
    }
}
