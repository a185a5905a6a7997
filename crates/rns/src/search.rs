//! The search for special primes usable by a transform and a residue unit.

use crate::special::{ceil_log2, check_word_bits};
use crate::{Error, ErrorKind, SpecialPrime};
use hearith_arith::natural::word::is_prime;
use hearith_arith::natural::{bit_length, product};

/// How the length of the residue unit's sum before folding is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// As in the paper: `v_a = 2v + ceil(log2 beta) + ceil(log2 d) + 1`.
    #[default]
    Paper,
    /// The actual length: the sum never needs the last bit, so beta may have one bit more.
    Tight,
}

impl Bounds {
    /// The number of bits of `v_a` that are never needed.
    pub(crate) fn spare(self) -> u32 {
        match self {
            Bounds::Paper => 1,
            Bounds::Tight => 0,
        }
    }
}

/// The special primes to search for: `q = 2^v - beta` prime with `q = 1 mod 2n`.
///
/// `beta = 2^e1 +- 2^e2 +- ... - 1` has `p - 2` exponents `v > e1 > e2 > ... > 0`. It is so short
/// that a residue unit for integers of `modulus_bits` bits needs no word longer than `max_word`
/// (\[CP24\], equation 5):
///
/// ```text
/// beta <= 2^bound,   bound = 2c - 3v - ceil(log2 d) - 3 (+ 1 when tight),   d = ceil(t / 2),   t = ceil(modulus_bits / v)
/// ```
///
/// ```
/// use hearith_rns::{Bounds, PrimeSearch};
/// let search = PrimeSearch { degree: 8192, modulus_bits: 360, word_bits: 30, max_word: 62, terms: 5, bounds: Bounds::Paper };
/// assert_eq!(search.primes()?.count(), 120);
/// assert_eq!(search.primes()?.next().unwrap().to_string(), "2^30 - 2^16 + 2^14 + 1");
/// # Ok::<(), hearith_rns::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrimeSearch {
    /// `n`, the degree of the polynomials, a power of two. The primes have a primitive `2n`-th root
    /// of unity.
    pub degree: u64,
    /// Length in bits of the integers to convert.
    pub modulus_bits: u32,
    /// `v`, the length of a word in bits, 4 to 60.
    pub word_bits: u32,
    /// `c`, the longest word in bits that the unit's Barrett reduction may use.
    pub max_word: u32,
    /// `p`, the number of signed powers of two in `q`, including its `2^v` and 1: 3 to 6.
    pub terms: u32,
    /// How the bound on beta is counted.
    pub bounds: Bounds,
}

impl PrimeSearch {
    /// `t`, the number of words of an integer.
    pub fn words(&self) -> u32 {
        self.modulus_bits.div_ceil(self.word_bits)
    }

    /// The largest allowed `ceil(log2 beta)`. If it is below 1, no beta is short enough.
    pub fn most_beta_bits(&self) -> i64 {
        let d = self.words().div_ceil(2);
        let spare = i64::from(self.bounds.spare());
        2 * i64::from(self.max_word) - 3 * i64::from(self.word_bits) - i64::from(ceil_log2(d.into())) - 2 - spare
    }

    /// The primes, each once, in decreasing order (with growing beta). Candidates are listed
    /// immediately; primality is tested as the iterator advances.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) with the parameter out of range.
    pub fn primes(&self) -> Result<impl Iterator<Item = SpecialPrime> + use<>, Error> {
        self.check()?;
        let most = self.most_beta_bits().clamp(0, i64::from(self.word_bits)) as u32;
        // The degree requires q = 1 mod 2n, so beta + 1 is a multiple of 2n, and its last exponent
        // is the number of trailing zeros.
        let last = self.degree.trailing_zeros() + 1;
        let mut betas = Vec::new();
        for leading in last..self.word_bits {
            extend(1 << leading, leading, last, self.terms - 3, &mut betas);
        }
        betas.retain(|&beta| beta <= 1 << most);
        betas.sort_unstable();
        betas.dedup();
        let word_bits = self.word_bits;
        let moduli = betas.into_iter().map(move |beta| (1 << word_bits) - beta);
        Ok(moduli.filter(|&modulus| is_prime(modulus)).map(move |modulus| SpecialPrime::found(word_bits, modulus)))
    }

    /// The fewest of the largest primes whose product exceeds every integer of `modulus_bits` bits,
    /// in the order of [`primes`](Self::primes).
    ///
    /// This is often one more than an integer has words, as each prime is a little below `2^v`. The
    /// residues determine every unsigned integer below `2^modulus_bits`, or every signed one from
    /// `-2^(modulus_bits - 1)` to `2^(modulus_bits - 1) - 1`.
    ///
    /// # Errors
    /// As [`primes`](Self::primes); [`ErrorKind::TooFewPrimes`](crate::ErrorKind::TooFewPrimes).
    pub fn moduli(&self) -> Result<Vec<u64>, Error> {
        let (mut whole, mut moduli) = (vec![1], Vec::new());
        for prime in self.primes()? {
            moduli.push(prime.modulus());
            whole = product(&whole, &[prime.modulus()]);
            whole.truncate(bit_length(&whole).div_ceil(64) as usize);
            if bit_length(&whole) > self.modulus_bits {
                return Ok(moduli);
            }
        }
        let (found, bits) = (moduli.len(), self.modulus_bits);
        Err(ErrorKind::TooFewPrimes { found, bits }.into())
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |name, value: u64, allowed| Err(Error::parameter(name, value, allowed));
        check_word_bits(self.word_bits)?;
        if !self.degree.is_power_of_two() {
            return wrong("the degree", self.degree, "it must be a power of two");
        }
        if self.degree >> (self.word_bits - 1) != 0 {
            return wrong("the degree", self.degree, "twice the degree must be below 2^v");
        }
        if !(self.word_bits + 1..=1 << 20).contains(&self.modulus_bits) {
            return wrong(
                "the modulus length",
                self.modulus_bits.into(),
                "it must be longer than a word and at most 2^20 bits",
            );
        }
        if !(3..=6).contains(&self.terms) {
            return wrong("the number of terms", self.terms.into(), "3 to 6 are supported");
        }
        if self.max_word > 4 * self.word_bits {
            return wrong("the longest word", self.max_word.into(), "it must be at most four times the word length");
        }
        Ok(())
    }
}

/// Collects `sum +- 2^e +- ... - 1` over `more` decreasing exponents below `above` and at least
/// `last`.
fn extend(sum: u64, above: u32, last: u32, more: u32, betas: &mut Vec<u64>) {
    if more == 0 {
        betas.push(sum - 1);
        return;
    }
    for exponent in last..above {
        extend(sum + (1 << exponent), exponent, last, more - 1, betas);
        extend(sum - (1 << exponent), exponent, last, more - 1, betas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root_of_unity;

    fn search(log_degree: u32, modulus_bits: u32, max_word: u32, terms: u32, bounds: Bounds) -> PrimeSearch {
        PrimeSearch { degree: 1 << log_degree, modulus_bits, word_bits: 30, max_word, terms, bounds }
    }

    /// The rows of Table I: log2 n, bits of the modulus, c, largest bits of beta, p, number of
    /// primes.
    const TABLE_I: [(u32, u32, u32, i64, u32, usize); 8] = [
        (13, 360, 60, 24, 4, 9),
        (13, 360, 62, 28, 4, 24),
        (13, 360, 60, 24, 5, 35),
        (13, 360, 62, 28, 5, 120),
        (14, 720, 63, 29, 4, 20),
        (14, 720, 63, 29, 5, 121),
        (15, 1440, 63, 28, 4, 14),
        (15, 1440, 63, 28, 5, 70),
    ];

    #[test]
    fn the_papers_table_i() {
        for (log_degree, bits, max_word, beta_bits, terms, count) in TABLE_I {
            let search = search(log_degree, bits, max_word, terms, Bounds::Paper);
            assert_eq!(search.most_beta_bits(), beta_bits);
            assert_eq!(search.primes().unwrap().count(), count, "{search:?}");
        }
    }

    #[test]
    fn one_more_bit_of_beta() {
        let pools = [(13, 360, 62, [26, 154]), (14, 720, 63, [22, 133]), (15, 1440, 63, [15, 92])];
        for (log_degree, bits, max_word, counts) in pools {
            for (terms, count) in [4, 5].into_iter().zip(counts) {
                assert_eq!(search(log_degree, bits, max_word, terms, Bounds::Tight).primes().unwrap().count(), count);
            }
        }
    }

    #[test]
    fn every_prime_is_what_was_asked_for() {
        for (log_degree, bits, max_word, beta_bits, terms, _) in TABLE_I {
            let primes: Vec<_> = search(log_degree, bits, max_word, terms, Bounds::Paper).primes().unwrap().collect();
            assert!(primes.windows(2).all(|pair| pair[0] > pair[1]));
            for prime in primes {
                assert!(i64::from(prime.beta_bits()) <= beta_bits);
                assert!(prime.beta_terms().len() < terms as usize);
                assert!(root_of_unity(prime.modulus(), 2 << log_degree).is_some());
                assert_eq!(SpecialPrime::new(30, prime.modulus()), Ok(prime));
            }
        }
    }

    /// At a small word length, a search through all numbers finds the same pool.
    #[test]
    fn nothing_is_missed() {
        let search =
            PrimeSearch { degree: 4, modulus_bits: 60, word_bits: 12, max_word: 26, terms: 5, bounds: Bounds::Tight };
        let most = search.most_beta_bits();
        assert_eq!(most, 12);
        let two_more = |sum: i64, above: u32| {
            (1..above).flat_map(move |e| (1..e).map(move |f| (e, f))).flat_map(move |(e, f)| {
                [1, -1].into_iter().flat_map(move |s| [1, -1].map(|u| sum + (s << e) + (u << f) - 1))
            })
        };
        let betas: Vec<i64> = (3..12).flat_map(|leading| two_more(1 << leading, leading)).collect();
        let wanted = |q: &u64| is_prime(*q) && q % 8 == 1 && betas.contains(&(4096 - *q as i64));
        let expected: Vec<u64> = (2..4096).rev().filter(wanted).collect();
        let found: Vec<u64> = search.primes().unwrap().map(|prime| prime.modulus()).collect();
        assert!(found.len() > 20);
        assert_eq!(found, expected);
    }

    #[test]
    fn the_moduli_hold_every_integer_and_none_is_too_many() {
        for bits in (31..700).step_by(7).chain([60, 61, 64, 120, 359, 360, 390]) {
            let search = PrimeSearch { modulus_bits: bits, ..search(13, 360, 62, 5, Bounds::Paper) };
            let moduli = search.moduli().unwrap();
            let exact = |moduli: &[u64]| moduli.iter().fold(rug::Integer::from(1), |product, &prime| product * prime);
            assert!(exact(&moduli) >= rug::Integer::from(1) << bits, "{bits} bits");
            assert!(exact(&moduli[1..]) < rug::Integer::from(1) << bits, "{bits} bits");
            let largest: Vec<u64> = search.primes().unwrap().take(moduli.len()).map(|prime| prime.modulus()).collect();
            assert_eq!(moduli, largest);
        }
        let error = search(13, 360, 60, 4, Bounds::Paper).moduli().unwrap_err();
        assert_eq!(error.to_string(), "the 9 special primes are too few for integers of 360 bits");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let good = search(13, 360, 62, 5, Bounds::Paper);
        let refused = |search: PrimeSearch| search.primes().err().unwrap().to_string();
        assert_eq!(refused(PrimeSearch { degree: 12, ..good }), "the degree is 12; it must be a power of two");
        assert!(refused(PrimeSearch { degree: 1 << 29, ..good }).starts_with("the degree is 536870912;"));
        assert!(refused(PrimeSearch { degree: 1 << 63, ..good }).starts_with("the degree is"));
        assert_eq!(refused(PrimeSearch { word_bits: 64, ..good }), "the word length is 64; 4 to 60 bits are supported");
        assert!(refused(PrimeSearch { modulus_bits: 30, ..good }).starts_with("the modulus length is 30;"));
        assert_eq!(refused(PrimeSearch { terms: 2, ..good }), "the number of terms is 2; 3 to 6 are supported");
        assert!(refused(PrimeSearch { max_word: 121, ..good }).starts_with("the longest word is 121;"));
        let none = PrimeSearch { max_word: 40, ..good };
        assert_eq!(none.primes().unwrap().count(), 0);
    }
}
