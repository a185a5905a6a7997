//! Ciphertexts and totals as `crates/bfv/README.md` describes their bytes, read and written
//! without the crate that makes them.

/// Bytes before the polynomials, of a ciphertext and of a total.
const CIPHERTEXT: usize = 44;
const TOTAL: usize = 40;

/// A polynomial's coefficients: residues, prime after prime.
pub type Residues = Vec<Vec<u64>>;

/// The halves of a ciphertext, with what its bytes say of its noise.
pub struct Halves {
    pub b: Residues,
    pub a: Residues,
    pub bound: u128,
}

/// What is in the bytes of a ciphertext without a seed.
pub fn ciphertext(bytes: &[u8], moduli: &[u64], degree: usize) -> Halves {
    assert!(bytes.starts_with(b"HBC1") && bytes[5] == 0, "a seed is not read here");
    let (a, b) = bytes[CIPHERTEXT..].split_at(moduli.len() * degree / 8 * 50);
    Halves {
        b: residues(b, moduli.len()),
        a: coefficients(&residues(a, moduli.len()), moduli),
        bound: bound(&bytes[28..44]),
    }
}

/// What is in the bytes of a total; the other half has one coefficient.
pub fn total(bytes: &[u8], moduli: &[u64]) -> Halves {
    assert!(bytes.starts_with(b"HBT1"));
    let (b, a) = bytes[TOTAL..].split_at(8 * moduli.len());
    let b = b.as_chunks::<8>().0.iter().map(|word| vec![u64::from_le_bytes(*word)]).collect();
    Halves { b, a: coefficients(&residues(a, moduli.len()), moduli), bound: bound(&bytes[24..40]) }
}

/// The bytes of a ciphertext of `count` numbers that has the set, key and length of plaintexts of
/// another.
pub fn ciphertext_bytes(like: &[u8], halves: &Halves, moduli: &[u64], count: usize) -> Vec<u8> {
    let mut bytes = like[..CIPHERTEXT].to_vec();
    (bytes[5], bytes[7]) = (0, 0);
    bytes[24..28].copy_from_slice(&(count as u32).to_le_bytes());
    bytes[28..44].copy_from_slice(&halves.bound.to_le_bytes());
    for residues in values(&halves.a, moduli) {
        pack(&mut bytes, &residues);
    }
    for residues in &halves.b {
        pack(&mut bytes, &residues[..count.next_multiple_of(8)]);
    }
    bytes
}

fn bound(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes.try_into().expect("16 bytes"))
}

/// Residues of 50 bits, the lowest bits first.
fn residues(bytes: &[u8], primes: usize) -> Residues {
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let words = |prime: usize| {
        let each = bytes.len() * 8 / 50 / primes;
        (each * prime..each * (prime + 1)).map(|word| (0..50).fold(0, |sum, i| sum | bit(50 * word + i) << i)).collect()
    };
    (0..primes).map(words).collect()
}

fn pack(bytes: &mut Vec<u8>, residues: &[u64]) {
    let bits: Vec<u8> = residues.iter().flat_map(|word| (0..50).map(move |i| (word >> i & 1) as u8)).collect();
    bytes.extend(bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)));
}

/// The exponent of the root at whose power the value at `place` is taken.
fn exponent(place: usize, degree: usize) -> usize {
    // Blocks of 64 values are transposed; apart from that they lie in the order of reversed bits.
    let index = place / 64 * 64 + place % 8 * 8 + place / 8 % 8;
    2 * (index.reverse_bits() >> (usize::BITS - degree.trailing_zeros())) + 1
}

/// The values of polynomials, in their order.
pub fn values(a: &Residues, moduli: &[u64]) -> Residues {
    let of_prime = |(a, &q): (&Vec<u64>, &u64)| {
        let degree = a.len();
        let root = root(q, 2 * degree as u64);
        let twisted: Vec<u64> = a.iter().zip(powers(root, q)).map(|(&a, power)| times(a, power, q)).collect();
        let by_power = cyclic(&twisted, times(root, root, q), q);
        (0..degree).map(|place| by_power[exponent(place, degree) / 2]).collect()
    };
    a.iter().zip(moduli).map(of_prime).collect()
}

/// The polynomials that have these values.
fn coefficients(values: &Residues, moduli: &[u64]) -> Residues {
    let of_prime = |(values, &q): (&Vec<u64>, &u64)| {
        let degree = values.len();
        let inverse = power(root(q, 2 * degree as u64), q - 2, q);
        let mut by_power = vec![0; degree];
        values.iter().enumerate().for_each(|(place, &value)| by_power[exponent(place, degree) / 2] = value);
        let twisted = cyclic(&by_power, times(inverse, inverse, q), q);
        let per_degree = power(degree as u64, q - 2, q);
        twisted.iter().zip(powers(inverse, q)).map(|(&a, power)| times(times(a, power, q), per_degree, q)).collect()
    };
    values.iter().zip(moduli).map(of_prime).collect()
}

/// The values at all powers of a root of unity, by halves.
fn cyclic(a: &[u64], root: u64, q: u64) -> Vec<u64> {
    if a.len() == 1 {
        return a.to_vec();
    }
    let half = |odd: usize| {
        let a: Vec<u64> = a.iter().skip(odd).step_by(2).copied().collect();
        cyclic(&a, times(root, root, q), q)
    };
    let (even, odd) = (half(0), half(1));
    let odd: Vec<u64> = odd.iter().zip(powers(root, q)).map(|(&odd, power)| times(odd, power, q)).collect();
    let sums = even.iter().zip(&odd).map(|(even, odd)| (even + odd) % q);
    let differences = even.iter().zip(&odd).map(|(even, odd)| (even + q - odd) % q);
    sums.chain(differences).collect()
}

/// The first of the numbers `x^((q - 1) / order)`, `x` from 2, that has this order.
fn root(q: u64, order: u64) -> u64 {
    (2..).map(|x| power(x, (q - 1) / order, q)).find(|&root| power(root, order / 2, q) == q - 1).expect("there is one")
}

fn powers(root: u64, q: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1), move |&power| Some(times(power, root, q)))
}

pub fn power(a: u64, e: u64, q: u64) -> u64 {
    (0..64).rev().fold(1, |result, bit| {
        let square = times(result, result, q);
        if e >> bit & 1 == 1 { times(square, a, q) } else { square }
    })
}

pub fn times(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}
