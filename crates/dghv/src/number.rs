//! Arithmetic on secret numbers. Its time depends only on lengths, and buffers with secrets are
//! wiped.

use hearith_arith::natural::{
    Secret, add_assign, assign_if, inverse_word, is_zero, less, mac_row, product, reduce_once, resized, sub_assign,
};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// Reduction modulo a secret odd number for inputs of a fixed length: Montgomery's word-by-word
/// reduction from the low end \[Montgomery85\].
#[derive(Clone)]
pub(crate) struct Residues {
    modulus: Secret,
    /// `-modulus^-1` modulo `2^64`.
    inverse: u64,
    /// Number of limbs of the inputs.
    length: usize,
    /// `2^(64 (length + 2 k))` modulo the modulus of `k` limbs. It compensates for the divisions of
    /// the two reductions.
    scale: Secret,
}

impl Residues {
    /// Prepares the reduction of numbers with `length` limbs.
    pub(crate) fn new(modulus: &[u64], length: usize) -> Self {
        let k = modulus.len();
        let inverse = inverse_word(modulus[0]).wrapping_neg();
        let mut residues =
            Residues { modulus: resized(modulus, k), inverse, length, scale: Zeroizing::new(vec![0; k]) };
        residues.scale = residues.power_of_two(64 * (length + 2 * k));
        residues
    }

    pub(crate) fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// `x` modulo the modulus, for an `x` with exactly `length` limbs.
    pub(crate) fn reduce(&self, x: &[u64]) -> Secret {
        assert_eq!(x.len(), self.length, "numbers of the length that was prepared for");
        self.divided(&Zeroizing::new(product(&self.divided(x), &self.scale)))
    }

    /// The parity of the residue of least absolute value. A residue above half the modulus counts
    /// as negative.
    pub(crate) fn centred_parity(&self, x: &[u64]) -> u64 {
        let residue = self.reduce(x);
        let mut doubled = resized(&residue, residue.len() + 1);
        add_assign(&mut doubled, &residue);
        let negative = less(&resized(&self.modulus, doubled.len()), &doubled);
        (residue[0] & 1) ^ negative
    }

    /// `x / 2^(64 x.len())` modulo the modulus.
    fn divided(&self, x: &[u64]) -> Secret {
        let k = self.modulus.len();
        // Limbs i.. of the remainder. They are below 2^(64 k) + modulus before each step, and below
        // 2^(64 (k + 1)) within it.
        let mut window = Zeroizing::new(vec![0; k + 1]);
        let first = k.min(x.len());
        window[..first].copy_from_slice(&x[..first]);
        for step in 0..x.len() {
            let digit = window[0].wrapping_mul(self.inverse);
            let (low, top) = window.split_at_mut(k);
            let carry = mac_row(low, &self.modulus, digit);
            top[0] = top[0].wrapping_add(carry);
            window.copy_within(1.., 0);
            window[k] = 0;
            let next = x.get(step + k).copied().unwrap_or(0);
            add_assign(&mut window[k - 1..], &[next]);
        }
        let top = window[k];
        let mut rest = resized(&window, k);
        reduce_once(&mut rest, top, &self.modulus);
        rest
    }

    /// `2^exponent` modulo the modulus for a public exponent, by squaring, and doubling for each
    /// set bit.
    fn power_of_two(&self, exponent: usize) -> Secret {
        // Powers are stored as 2^e R with R = 2^(64 k). R modulo the modulus is computed from 1 by
        // doubling.
        let k = self.modulus.len();
        let mut power = Zeroizing::new(vec![0; k]);
        power[0] = 1;
        for _ in 0..64 * k {
            self.double(&mut power);
        }
        for position in (0..usize::BITS - exponent.leading_zeros()).rev() {
            power = self.divided_product(&power, &power);
            if exponent >> position & 1 == 1 {
                self.double(&mut power);
            }
        }
        self.divided(&power)
    }

    /// `a b / 2^(64 k)` modulo the modulus. The division eliminates the low half of the product.
    fn divided_product(&self, a: &[u64], b: &[u64]) -> Secret {
        let k = self.modulus.len();
        let mut full = Zeroizing::new(vec![0; 2 * k + 1]);
        full[..2 * k].copy_from_slice(&Zeroizing::new(product(a, b)));
        for step in 0..k {
            let digit = full[step].wrapping_mul(self.inverse);
            let carry = mac_row(&mut full[step..step + k], &self.modulus, digit);
            add_assign(&mut full[step + k..], &[carry]);
        }
        let top = full[2 * k];
        let mut rest = resized(&full[k..], k);
        reduce_once(&mut rest, top, &self.modulus);
        rest
    }

    fn double(&self, x: &mut Secret) {
        let copy = resized(x, x.len());
        let carry = add_assign(x, &copy);
        reduce_once(x, carry, &self.modulus);
    }
}

impl fmt::Debug for Residues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Residues({} limbs)", self.modulus.len())
    }
}

/// Products of factors with at most this many limbs use schoolbook multiplication.
const SHORT: usize = 48;

/// `a b` in `a.len() + b.len()` limbs: Karatsuba's algorithm for factors of similar length,
/// schoolbook multiplication otherwise.
pub(crate) fn secret_product(a: &[u64], b: &[u64]) -> Secret {
    let half = a.len().max(b.len()).div_ceil(2);
    if a.len().min(b.len()) <= half.max(SHORT) {
        return Zeroizing::new(product(a, b));
    }
    let ((a0, a1), (b0, b1)) = (a.split_at(half), b.split_at(half));
    let (low, high) = (secret_product(a0, b0), secret_product(a1, b1));
    let mut middle = secret_product(&sum(a0, a1), &sum(b0, b1));
    sub_assign(&mut middle, &low);
    sub_assign(&mut middle, &high);
    let mut out = Zeroizing::new(vec![0; a.len() + b.len()]);
    out[..2 * half].copy_from_slice(&low);
    out[2 * half..].copy_from_slice(&high);
    // The limbs of `middle` beyond the end are zero.
    let kept = middle.len().min(out.len() - half);
    add_assign(&mut out[half..], &middle[..kept]);
    out
}

/// `a + b`, in one limb more than `a`, the longer of the two.
fn sum(a: &[u64], b: &[u64]) -> Secret {
    let mut sum = resized(a, a.len() + 1);
    add_assign(&mut sum, b);
    sum
}

/// The product of all factors.
pub(crate) fn product_of(factors: &[Secret]) -> Secret {
    match factors {
        [] => Zeroizing::new(vec![1]),
        [one] => one.clone(),
        _ => {
            let (left, right) = factors.split_at(factors.len() / 2);
            let (left, right) = rayon::join(|| product_of(left), || product_of(right));
            secret_product(&left, &right)
        }
    }
}

/// `x` modulo `m` for `x` in `(-m, m)`, given as two's complement with its borrow. Both have the
/// same number of limbs.
pub(crate) fn add_modulus_if_borrowed(x: &mut [u64], borrow: u64, m: &[u64]) {
    let mut raised = resized(x, x.len());
    add_assign(&mut raised, m);
    assign_if(x, &raised, borrow);
    raised.zeroize();
}

/// Length in bits of a public number.
pub(crate) fn bits_of(number: &[u64]) -> u64 {
    let top = number.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |top| 64 * top as u64 + 64 - u64::from(number[top].leading_zeros()))
}

/// Whether `a < b` for public numbers of the same length. False if their lengths differ.
pub(crate) fn is_below(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && less(a, b) == 1
}

/// Whether the number is odd and has exactly `bits` bits.
pub(crate) fn is_odd_of_bits(number: &[u64], bits: u32) -> bool {
    number.first().is_some_and(|low| low & 1 == 1) && bits_of(number) == u64::from(bits) && is_zero(number) == 0
}
