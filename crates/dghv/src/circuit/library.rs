//! Predefined circuits. They use as few ANDs as possible, since ANDs dominate the cost on
//! ciphertexts.

use super::{Builder, Circuit, Wire};

/// The S-box of AES, which maps one 8-bit value to another.
///
/// The circuit of depth 16 by Boyar and Peralta \[BP12\]: 34 AND and 94 XOR or XNOR gates, AND
/// depth 4.
pub const AES_SBOX: &str = include_str!("../../circuits/aes_sbox.txt");

/// The sum of two values of `bits` bits, with the carry as its top bit. It has one AND per bit, in
/// sequence.
///
/// # Panics
/// If a value has no bits.
pub fn adder(bits: usize) -> Circuit {
    assert!(bits > 0, "values of no bits");
    let mut builder = Builder::new(&[bits, bits]);
    let inputs = builder.inputs();
    let (a, b) = inputs.split_at(bits);
    let mut sum = vec![builder.xor(a[0], b[0])];
    let mut carry = builder.and(a[0], b[0]);
    for (&a, &b) in a.iter().zip(b).skip(1) {
        let (bit, next) = builder.full_adder(a, b, carry);
        sum.push(bit);
        carry = next;
    }
    sum.push(carry);
    builder.finish(&[&sum])
}

/// Whether the first of two values of `bits` bits is less than the second: the borrow of their
/// difference. It has one AND per bit.
///
/// # Panics
/// If a value has no bits.
pub fn less_than(bits: usize) -> Circuit {
    assert!(bits > 0, "values of no bits");
    let mut builder = Builder::new(&[bits, bits]);
    let inputs = builder.inputs();
    let (a, b) = inputs.split_at(bits);
    let not = builder.not(a[0]);
    let mut less = builder.and(not, b[0]);
    for (&a, &b) in a.iter().zip(b).skip(1) {
        let not = builder.not(a);
        less = builder.majority(not, b, less);
    }
    builder.finish(&[&[less]])
}

/// The majority of `2^k - 1` bits: the top bit of the number of ones. It has one AND for each of
/// the `2^k - 1 - k` full adders.
///
/// # Panics
/// If `k` is 0 or more than 16.
pub fn majority(k: u32) -> Circuit {
    assert!((1..=16).contains(&k), "2^{k} - 1 bits");
    let mut builder = Builder::new(&vec![1; (1 << k) - 1]);
    let mut column: Vec<Wire> = builder.inputs();
    while column.len() > 1 {
        column = carries(&mut builder, column);
    }
    builder.finish(&[&column])
}

/// The carries of adding an odd number of bits three at a time, the earliest first.
fn carries(builder: &mut Builder, mut bits: Vec<Wire>) -> Vec<Wire> {
    let mut carries = Vec::new();
    while let [a, b, c, ..] = bits[..] {
        let (sum, carry) = builder.full_adder(a, b, c);
        bits.drain(..3);
        bits.push(sum);
        carries.push(carry);
    }
    carries
}
