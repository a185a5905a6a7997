//! Conversion from a number's digits to residues, and from residues to the number. A run of 16
//! coefficients is a whole number of words.

use super::Word;
use super::loops::{Factor, Moduli};
use crate::memory::Prefetch;
use crate::plan::{DIGITS, Digits, INVERSE, RUN, mask};
use crate::primes::{LANES, Lanes, RADIX};

/// Number of digits in a run.
const COUNT: usize = DIGITS * RUN;

#[inline(always)]
fn eight<W: Word>(words: &[u64], from: usize) -> W {
    W::load_words(words[from..].first_chunk().expect("eight words"))
}

/// Extracts the digits of a run from its words. At the end of a number there may be fewer words.
#[inline(always)]
fn cut<W: Word>(words: &[u64], digits: &Digits, out: &mut [u64; COUNT]) {
    let mask = W::splat(mask(digits.bits));
    // The last load of eight words may extend beyond the run.
    let mut padded = [0; COUNT];
    let words = match words.get(..COUNT) {
        Some(words) => words,
        None => {
            padded[..words.len()].copy_from_slice(words);
            &padded
        }
    };
    for (cut, out) in digits.cut.iter().zip(out.as_chunks_mut().0) {
        let words = eight::<W>(words, cut.word);
        let [low, high] = cut.index.each_ref().map(|index| words.pick(words, W::load(index)));
        let low = low.shift_right_each(W::load(&cut.right));
        low.or(high.shift_left_each(W::load(&cut.left))).and(mask).store_words(out);
    }
}

/// See [`Kernel::residues`](super::Kernel::residues). Digits are below 2^47. So the sum of the
/// first digit and the upper halves of three products is below `0.6 p`, and residues lie between 0
/// and `2 p`.
#[inline(always)]
pub(super) fn residues<W: Word>(
    out: &mut [Lanes],
    number: &[u64],
    from: usize,
    digits: &Digits,
    soon: Option<Prefetch>,
) {
    let m = Moduli::<W>::new();
    let inverse = W::load(&INVERSE);
    let [first, second, third] = &digits.weights;
    let weights = [W::load(&first.value), W::load(&second.value), W::load(&third.value)];
    let mut run = [0; COUNT];
    let size = digits.bits as usize;
    for (i, out) in out.chunks_exact_mut(RUN).enumerate() {
        if let Some(soon) = soon {
            soon.request(RUN * i..RUN * (i + 1));
        }
        let words = number.get((from / RUN + i) * size..).unwrap_or(&[]);
        // The part beyond the number is zero.
        if words.is_empty() {
            out.fill(Lanes::default());
            continue;
        }
        cut::<W>(words, digits, &mut run);
        for (out, run) in out.iter_mut().zip(run.as_chunks::<DIGITS>().0) {
            let (mut low, mut high) = (m.zero, W::splat(run[0]));
            for (&digit, &weight) in run[1..].iter().zip(&weights) {
                let digit = W::splat(digit);
                low = low.add_low(digit, weight);
                high = high.add_high(digit, weight);
            }
            m.reduced(low, high, inverse).store(out);
        }
    }
}

/// Converts signed sums to digits and returns the carry above them.
#[inline(always)]
fn carry_out(sums: &mut [u64], bits: u32, mut carry: i64) -> i64 {
    for sum in sums {
        let digit = (*sum as i64).wrapping_add(carry);
        *sum = digit as u64 & mask(bits);
        carry = digit >> bits;
    }
    carry
}

/// Packs the digits of a run into words.
#[inline(always)]
fn pack<W: Word>(run: &[u64], digits: &Digits, out: &mut [u64]) {
    for pack in &digits.pack {
        let (low, high) = (eight::<W>(run, pack.digit), eight::<W>(run, pack.digit + LANES));
        let [a, b, c] = pack.index.each_ref().map(|index| low.pick(high, W::load(index)));
        let [b_left, c_left] = pack.left.each_ref().map(W::load);
        let words =
            a.shift_right_each(W::load(&pack.right)).or(b.shift_left_each(b_left)).or(c.shift_left_each(c_left));
        words.store_words(out[pack.word..].first_chunk_mut().expect("eight words"));
    }
}

/// See [`Kernel::combine`](super::Kernel::combine).
///
/// With `y = v (M / p)^-1` for each prime, below `2 p`, a coefficient is `sum y (M / p) - t M` with
/// `t = floor(sum y / p)`. The sum of fractions has 47 bits after the point. A coefficient is less
/// than half of `M`, so adding a quarter does not change the floor. As `t` is at most 16, its
/// products with digits are below 2^52.
#[inline(always)]
pub(super) fn combine<W: Word>(
    out: &mut [u64],
    coefficients: &[Lanes],
    digits: &Digits,
    soon: Option<Prefetch>,
) -> [u64; 4] {
    let m = Moduli::<W>::new();
    let scale = Factor::<W>::load(&digits.scale);
    let (fractions, quarter) = (W::load(&digits.fractions), W::splat(1 << 45));
    let (modulus, modulus_top) = (W::load(&digits.modulus), W::load(&digits.modulus_top));
    let cofactors = digits.cofactors.each_ref().map(W::load);
    let bits = digits.bits;
    // Parts of earlier coefficients above the current position: the upper digits of the last one,
    // the parts above these of the last two, and the carry.
    let (mut upper, mut tops, mut carry) = (m.zero, [m.zero; 2], 0);
    let (mut ys, mut ts) = ([Lanes::default(); RUN], [Lanes::default(); RUN]);
    let mut run = [0; COUNT + 2 * LANES];
    for (i, (out, coefficients)) in out.chunks_exact_mut(bits as usize).zip(coefficients.chunks_exact(RUN)).enumerate()
    {
        if let Some(soon) = soon {
            soon.request(RUN * i..RUN * (i + 1));
        }
        // Stored and loaded again, because loading a word into all lanes needs no shuffle.
        for ((coefficient, ys), t) in coefficients.iter().zip(&mut ys).zip(&mut ts) {
            let y = scale.times_positive(W::load(coefficient), &m);
            y.store(ys);
            m.zero.add_high(y, fractions).lane_sum().add(quarter).shift_right(47).store(t);
        }
        for (j, (ys, t)) in ys.iter().zip(&ts).enumerate() {
            let t = W::load(t);
            let (mut low, mut high) = (m.zero, m.zero);
            for (&y, &cofactor) in ys.0.iter().zip(&cofactors) {
                low = low.add_low(W::splat(y), cofactor);
                high = high.add_high(W::splat(y), cofactor);
            }
            let sums = low.shift_right(RADIX - bits).add(high.lane_up()).sub(m.zero.add_low(t, modulus));
            let sums = sums.add(upper).add(tops[0]);
            upper = sums.upper_half();
            tops = [tops[1], high.last_lane().sub(m.zero.add_low(t, modulus_top))];
            // The next coefficient overwrites the upper four.
            sums.store_words(run[DIGITS * j..].first_chunk_mut().expect("eight digits"));
        }
        carry = carry_out(&mut run[..COUNT], bits, carry);
        pack::<W>(&run, digits, out);
    }
    let (mut above, mut top) = (Lanes::default(), Lanes::default());
    upper.add(tops[0]).store(&mut above);
    tops[1].store(&mut top);
    carry = carry_out(&mut above.0[..DIGITS], bits, carry);
    // This sum is not negative.
    above.0[DIGITS] = top.0[0].wrapping_add(carry as u64);
    let mut words = [0; 4];
    for (k, &digit) in above.0[..=DIGITS].iter().enumerate() {
        let (word, shift) = (k * bits as usize / 64, k as u32 * bits % 64);
        let wide = u128::from(digit) << shift;
        words[word] |= wide as u64;
        if word < 3 {
            words[word + 1] |= (wide >> 64) as u64;
        }
    }
    words
}
