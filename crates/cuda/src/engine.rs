//! Powers and products of batches on a card: constants, rows in and out, as many at a time as its
//! memory is to hold. Nothing here is checked; `loaded.rs` does that.

use hearith_arith::natural;
use hearith_arith::{Batch, Exponents, Modulus, Pairs, Square};
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::card::{Card, Place};
use crate::fault::Fault;
use crate::job::Job;
use crate::limbs::{self, Bytes, room};
use crate::shape::{Arithmetic, Operation, Size};

/// Rows that are on the card at a time: enough to fill it, and at most 400 MB of them.
pub(crate) const ROWS: usize = 1 << 16;
/// Pieces that a number can have when it enters dual numbers: `kernels/ring.cuh` bounds their sum.
const PIECES: u32 = 4;
/// Factors of a product that one group of threads computes: `fix` has as many constants.
const LIST: usize = 32;
/// Bits of a digit: `kernels/operations.cuh`.
const WINDOW: u32 = 5;
const OWN_WINDOW: u32 = 4;
const TEETH: u32 = 5;
const ENTRIES: usize = 1 << TEETH;
/// Columns of a comb's block at most: squarings are then a tenth of its products.
const BLOCK: u32 = 16;

/// A modulus and the constants of dual numbers modulo its square.
pub(crate) struct Dual {
    arithmetic: Arithmetic,
    size: Size,
    square: Square,
    modulus: Zeroizing<Vec<u64>>,
    /// What kernels of powers take as their key.
    key: Bytes,
}

/// The tables of one base, for exponents of so many bits.
pub(crate) struct Comb {
    blocks: u32,
    block: u32,
    key: Bytes,
}

/// A modulus and the constants of plain products modulo it.
pub(crate) struct Plain {
    arithmetic: Arithmetic,
    size: Size,
    modulus: Vec<u64>,
    key: Bytes,
}

impl Dual {
    /// For numbers modulo `m^2`; none if no kernel is large enough.
    pub(crate) fn new(arithmetic: Arithmetic, square: &Square) -> Option<Self> {
        let size = arithmetic.modulus(square.root().bits())?;
        let modulus = Zeroizing::new(square.root().as_limbs().to_vec());
        let mut key = room(arithmetic, 3 * size.limbs + 1 + PIECES as usize * 2 * size.limbs);
        push_modulus(&mut key, arithmetic, &modulus, size);
        // R, then R^2, R^3, ... modulo m^2.
        for power in 1..=1 + PIECES as usize {
            push_pairs(&mut key, arithmetic, size, &square.split(&two_to(power * size.limbs * arithmetic.bits())));
        }
        Some(Dual { arithmetic, size, square: square.clone(), modulus, key })
    }

    /// Bits of `R`.
    fn bits(&self) -> usize {
        self.size.limbs * self.arithmetic.bits()
    }

    /// Tables of the powers of a number modulo `m^2` whose exponents are below `2^bits`.
    pub(crate) fn comb(&self, squared: &Modulus, base: &[u64], bits: u32) -> Comb {
        let columns = bits.div_ceil(TEETH).max(1);
        let blocks = columns.div_ceil(BLOCK);
        let block = columns.div_ceil(blocks);
        // weights[t]: a row a block, base^(2^(t columns + b block)), met in the order of exponents.
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
        let mut key = room(self.arithmetic, 3 * limbs + 1 + blocks as usize * ENTRIES * 2 * limbs);
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
    /// For products modulo this modulus; none if no kernel is large enough.
    pub(crate) fn new(arithmetic: Arithmetic, modulus: &Modulus) -> Option<Self> {
        let size = arithmetic.square(modulus.bits())?;
        let mut key = room(arithmetic, size.limbs * (LIST + 2) + 1);
        push_modulus(&mut key, arithmetic, modulus.as_limbs(), size);
        // R, R, R^2, R^3, ...: as many as a list has factors, and one for an empty list.
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

/// Words for a card.
fn words(numbers: &Batch) -> Bytes {
    let mut bytes = Zeroizing::new(Vec::with_capacity(8 * numbers.as_limbs().len()));
    numbers.as_limbs().iter().for_each(|limb| bytes.extend_from_slice(&limb.to_le_bytes()));
    bytes
}

/// Powers with one exponent, which may be a key's but is no row's own.
pub(crate) struct Shared<'a> {
    pub(crate) exponent: &'a [u64],
    /// Below `2^bits`.
    pub(crate) bits: u32,
}

/// Computes batches on a card that it has to itself.
#[derive(Debug)]
pub(crate) struct Engine(pub(crate) Card);

impl Engine {
    /// Powers of numbers below `2^bits`, times `1 + s m` with the numbers `s` below `m` of
    /// `second`.
    pub(crate) fn powers(
        &mut self,
        dual: &Dual,
        numbers: &Batch,
        bits: u32,
        shared: &Shared<'_>,
        second: Option<&Batch>,
    ) -> Result<Pairs, Fault> {
        let digits = shared.bits.div_ceil(WINDOW).max(1);
        let mut bytes = Zeroizing::new(Vec::with_capacity(4 * digits as usize));
        for digit in 0..digits {
            let digit = natural::bits_at(shared.exponent, (digit * WINDOW) as usize, WINDOW) as u32;
            bytes.extend_from_slice(&digit.to_le_bytes());
        }
        let key = self.0.put(Place::Key, &dual.key)?;
        let exponents = self.0.put(Place::Exponents, &bytes)?;
        self.rows(dual, Operation::Power, numbers.len(), |engine, rows, job| {
            *job = Job { key, exponents, digits, ..*job };
            engine.enter(dual, job, &numbers.range(rows.clone()), bits, WINDOW)?;
            engine.second(dual, job, second.map(|second| second.range(rows)))
        })
    }

    /// Powers of numbers below `2^bits` with exponents of their own, below `2^length`.
    pub(crate) fn multiples(
        &mut self,
        dual: &Dual,
        numbers: &Batch,
        bits: u32,
        exponents: &Batch,
        length: u32,
    ) -> Result<Pairs, Fault> {
        let key = self.0.put(Place::Key, &dual.key)?;
        let length = length.min(64 * exponents.limbs() as u32);
        self.rows(dual, Operation::Multiple, numbers.len(), |engine, rows, job| {
            let block = length.div_ceil(OWN_WINDOW);
            *job = Job { key, digits: exponents.limbs() as u32, block, ..*job };
            job.exponents = engine.0.put(Place::Exponents, &words(&exponents.range(rows.clone())))?;
            engine.enter(dual, job, &numbers.range(rows), bits, OWN_WINDOW)
        })
    }

    /// Powers of a comb's base, times `1 + s m` as in [`Engine::powers`].
    pub(crate) fn comb(
        &mut self,
        dual: &Dual,
        comb: &Comb,
        exponents: &Batch,
        second: Option<&Batch>,
    ) -> Result<Pairs, Fault> {
        let key = self.0.put(Place::Key, &comb.key)?;
        self.rows(dual, Operation::Comb, exponents.len(), |engine, rows, job| {
            let Comb { blocks, block, .. } = *comb;
            *job = Job { key, digits: exponents.limbs() as u32, blocks, block, ..*job };
            job.exponents = engine.0.put(Place::Exponents, &words(&exponents.range(rows.clone())))?;
            engine.second(dual, job, second.map(|second| second.range(rows)))
        })
    }

    /// A kernel of powers over all rows; `prepare` says what a job needs.
    fn rows(
        &mut self,
        dual: &Dual,
        operation: Operation,
        len: usize,
        mut prepare: impl FnMut(&mut Self, std::ops::Range<usize>, &mut Job) -> Result<(), Fault>,
    ) -> Result<Pairs, Fault> {
        let width = dual.modulus.len();
        let mut pairs = Pairs { low: Batch::zeros(len, width), high: Batch::zeros(len, width) };
        let row_bytes = 2 * dual.size.limbs * dual.arithmetic.bytes();
        for start in (0..len).step_by(ROWS) {
            let rows = start..len.min(start + ROWS);
            let mut job = Job { rows: rows.len() as u64, ..Job::default() };
            prepare(self, rows.clone(), &mut job)?;
            job.output = self.0.at_least(Place::Output, rows.len() * row_bytes)?;
            // SAFETY: `prepare` wrote what the kernel reads, and every place is as long as it says.
            unsafe { self.0.run(dual.arithmetic.kernel(operation, dual.size), &job) }?;
            let mut bytes = Zeroizing::new(vec![0; rows.len() * row_bytes]);
            self.0.get(Place::Output, &mut bytes)?;
            let places = pairs.low.as_limbs_mut().par_chunks_exact_mut(width).skip(start);
            let places = places.zip(pairs.high.as_limbs_mut().par_chunks_exact_mut(width).skip(start));
            places.zip(bytes.par_chunks_exact(row_bytes)).for_each(|((low, high), bytes)| {
                let (first, second) = bytes.split_at(row_bytes / 2);
                let over = residue(low, dual.arithmetic, first, &dual.modulus, 0);
                residue(high, dual.arithmetic, second, &dual.modulus, over);
            });
        }
        Ok(pairs)
    }

    /// Numbers below `2^bits` as a job's input, in pieces, with scratch for tables of so many bits.
    fn enter(&mut self, dual: &Dual, job: &mut Job, numbers: &Batch, bits: u32, window: u32) -> Result<(), Fault> {
        let pieces = (bits as usize).div_ceil(dual.bits()).max(1);
        assert!(pieces <= PIECES as usize, "a number of so many bits does not enter");
        job.chunks = pieces as u32;
        job.input = self.unpacked(dual.arithmetic, numbers, pieces * dual.size.limbs, Place::Input)?;
        let groups = numbers.len().next_multiple_of(self.0.block(dual.size)).min(self.0.groups(dual.size));
        let words = (groups * 2 * dual.size.limbs) << window;
        job.scratch = self.0.at_least(Place::Scratch, words * dual.arithmetic.bytes())?;
        Ok(())
    }

    fn second(&mut self, dual: &Dual, job: &mut Job, numbers: Option<Batch>) -> Result<(), Fault> {
        if let Some(numbers) = numbers {
            job.second = self.unpacked(dual.arithmetic, &numbers, dual.size.limbs, Place::Second)?;
        }
        Ok(())
    }

    /// Rows of `limbs` limbs each in the card's memory.
    fn unpacked(&mut self, arithmetic: Arithmetic, numbers: &Batch, limbs: usize, place: Place) -> Result<u64, Fault> {
        let input = self.0.put(Place::Words, &words(numbers))?;
        let count = numbers.len() * limbs;
        let output = self.0.at_least(place, count * arithmetic.bytes())?;
        let (words, limbs) = (numbers.limbs() as u32, limbs as u32);
        let job = Job { rows: count as u64, input, output, words, limbs, ..Job::default() };
        let kernel = arithmetic.kernel(Operation::Unpack, Size { limbs: 0, threads: 1 });
        // SAFETY: so many words are there, and there is room for so many limbs.
        unsafe { self.0.run(kernel, &job) }?;
        Ok(output)
    }

    /// The product of the rows that each group lists, modulo the modulus; 1 for an empty group.
    /// Numbers are below the modulus. `other_way` computes the same from the other end: rows,
    /// groups and the factors of each lie elsewhere, and other threads multiply in another order.
    ///
    /// # Panics
    /// If a group lists a row that is not there.
    pub(crate) fn products<G: AsRef<[u32]>>(
        &mut self,
        plain: &Plain,
        numbers: &Batch,
        groups: &[G],
        other_way: bool,
    ) -> Result<Batch, Fault> {
        let width = plain.modulus.len();
        let mut lists: Vec<Vec<u32>> = groups.iter().map(|group| group.as_ref().to_vec()).collect();
        let mut held = None;
        loop {
            let numbers = held.as_ref().unwrap_or(numbers);
            let total: usize = lists.iter().map(Vec::len).sum();
            let length = total.div_ceil(self.0.groups(plain.size)).clamp(4, LIST);
            let parts = parts(&lists, numbers.len(), length);
            let mut made = Batch::zeros(parts.len(), width).public();
            let key = self.0.put(Place::Key, &plain.key)?;
            for window in parts.chunk_by(|a, b| a.window == b.window) {
                let start = window[0].number;
                let rows = window[0].window * ROWS..numbers.len().min((window[0].window + 1) * ROWS);
                let found = self.window(plain, key, numbers, rows, window, other_way)?;
                let mut places = made.rows_mut().skip(start);
                found.rows().for_each(|row| places.next().expect("a place a part").copy_from_slice(row));
            }
            let mut next = vec![Vec::new(); lists.len()];
            parts.iter().for_each(|part| next[part.group].push(part.number as u32));
            if next.iter().all(|parts| parts.len() == 1) {
                let order: Vec<usize> = next.iter().map(|parts| parts[0] as usize).collect();
                return Ok(made.select(&order));
            }
            (lists, held) = (next, Some(made));
        }
    }

    /// The products of parts, whose rows all lie in one range.
    fn window(
        &mut self,
        plain: &Plain,
        key: u64,
        numbers: &Batch,
        rows: std::ops::Range<usize>,
        parts: &[Part],
        other_way: bool,
    ) -> Result<Batch, Fault> {
        let Plain { arithmetic, size, .. } = *plain;
        // From the other end: the row's place, and the part's.
        let place = |row: u32| {
            let row = row as usize - rows.start;
            (if other_way { rows.len() - 1 - row } else { row }) as u32
        };
        let at = |index: usize| if other_way { parts.len() - 1 - index } else { index };
        let (mut starts, mut factors) = (vec![0u32], Vec::new());
        for index in 0..parts.len() {
            let list = &parts[at(index)].rows;
            match other_way {
                true => factors.extend(list.iter().rev().map(|&row| place(row))),
                false => factors.extend(list.iter().map(|&row| place(row))),
            }
            starts.push(factors.len() as u32);
        }
        let mut input = numbers.range(rows.clone());
        if other_way {
            input = input.select(&(0..input.len()).rev().collect::<Vec<_>>());
        }
        let input = match input.is_empty() {
            true => self.0.at_least(Place::Input, size.limbs * arithmetic.bytes())?,
            false => self.unpacked(arithmetic, &input, size.limbs, Place::Input)?,
        };
        let index: Vec<u8> = starts.iter().chain(&factors).flat_map(|number| number.to_le_bytes()).collect();
        let index = self.0.put(Place::Index, &index)?;
        let row_bytes = size.limbs * arithmetic.bytes();
        let output = self.0.at_least(Place::Output, parts.len() * row_bytes)?;
        let job = Job { rows: parts.len() as u64, input, output, key, index, ..Job::default() };
        // SAFETY: lists name rows of this range, no list is longer than the constants, and every
        // place is as long as it says.
        unsafe { self.0.run(arithmetic.kernel(Operation::Product, size), &job) }?;
        let mut bytes = vec![0; parts.len() * row_bytes];
        self.0.get(Place::Output, &mut bytes)?;
        let mut found = Batch::zeros(parts.len(), plain.modulus.len()).public();
        let limbs = found.limbs();
        found.as_limbs_mut().par_chunks_exact_mut(limbs).enumerate().for_each(|(part, out)| {
            _ = residue(out, arithmetic, &bytes[at(part) * row_bytes..][..row_bytes], &plain.modulus, 0);
        });
        Ok(found)
    }
}

/// Some factors of a group's product, all in one range of `ROWS` rows.
struct Part {
    group: usize,
    window: usize,
    rows: Vec<u32>,
    /// Its place among the parts.
    number: usize,
}

/// Cuts lists into parts of at most so many rows each, ordered by where their rows are.
fn parts(lists: &[Vec<u32>], rows: usize, length: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    for (group, list) in lists.iter().enumerate() {
        let mut windows = vec![Vec::new(); rows.div_ceil(ROWS).max(1)];
        list.iter().for_each(|&row| windows[row as usize / ROWS].push(row));
        if list.is_empty() {
            parts.push(Part { group, window: 0, rows: Vec::new(), number: 0 });
        }
        for (window, list) in windows.iter().enumerate() {
            let part = |rows: &[u32]| Part { group, window, rows: rows.to_vec(), number: 0 };
            parts.extend(list.chunks(length).map(part));
        }
    }
    // Stable: a group's parts stay in their order.
    parts.sort_by_key(|part| part.window);
    parts.iter_mut().enumerate().for_each(|(number, part)| part.number = number);
    parts
}

/// The residue in a card's limbs plus `plus` (0 or 1), if that is below twice the modulus. Returns
/// 1 if the modulus was taken away. Constant time.
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

    /// Every size of each arithmetic and both products: an emulated card, limbs, bits of a limb.
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

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn batch(numbers: &[Integer], limbs: usize) -> Batch {
        let rows: Vec<Vec<u64>> = numbers.iter().map(|number| number.to_digits(Order::Lsf)).collect();
        Batch::from_rows(limbs, rows.iter().map(Vec::as_slice))
    }

    /// The largest modulus of a size, `R = 2^8 (m + 1)`; one with long runs of equal bits; the
    /// least that has as many bits, whose products carry least.
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
                // Four pieces whole: what enters is below 8 m, no less.
                let widest = PIECES as usize * dual.bits();
                let inputs = numbers(widest, arithmetic.bits());
                let rows = batch(&inputs, widest.div_ceil(64));
                let seconds = [m.clone() - 1u32, Integer::from(0), Integer::from(1), m.clone() - 2u32];
                let second = batch(&seconds, square.root().limbs());
                let shared = Shared { exponent: &[exponent], bits: 38 };
                let found = engine.powers(&dual, &rows, widest as u32, &shared, Some(&second)).unwrap();
                let alone = engine.powers(&dual, &rows, widest as u32, &shared, None).unwrap();
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
            // One block, and several; the last bits of the exponents lie beyond the last word.
            for bits in [1, 64, 170] {
                let comb = dual.comb(&squared, &base.to_digits::<u64>(Order::Lsf), bits);
                let limbs = (bits as usize).div_ceil(64);
                let top = Integer::from(1) << bits;
                let exponents = [top.clone() - 1u32, top.clone() >> 1u32, Integer::from(0), Integer::from(1)];
                let seconds = [m.clone() - 1u32, Integer::from(0), Integer::from(1), m.clone() - 2u32];
                let second = batch(&seconds, square.root().limbs());
                let found = engine.comb(&dual, &comb, &batch(&exponents, limbs), Some(&second)).unwrap();
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
                // Up to what one kernel hands to the next: below 2 m, not below m.
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

    /// `kernels/ring.cuh`: R >= 2^8 m, no more.
    const SPARE: usize = 8;

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
        let lists = vec![vec![0, ROWS as u32, 1, 2, 3], vec![], vec![ROWS as u32 + 1; 9]];
        let parts = parts(&lists, ROWS + 2, 4);
        for (number, part) in parts.iter().enumerate() {
            assert!(part.number == number && part.rows.len() <= 4);
            assert!(part.rows.iter().all(|&row| row as usize / ROWS == part.window));
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
}
