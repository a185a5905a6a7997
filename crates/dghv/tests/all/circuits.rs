//! Tests of circuits: their text, the order of gates and their results, against definitions
//! computed here.

use hearith_dghv::circuit::{Bits, Builder, Circuit, CircuitErrorKind as Kind, Plain, Wires, library};
use std::convert::Infallible;

const FILES: [(&str, &str); 4] = [
    ("adder8", include_str!("../../circuits/adder8.txt")),
    ("less_than8", include_str!("../../circuits/less_than8.txt")),
    ("majority7", include_str!("../../circuits/majority7.txt")),
    ("aes_sbox", library::AES_SBOX),
];

fn bits(value: usize, count: usize) -> Vec<bool> {
    (0..count).map(|bit| value >> bit & 1 == 1).collect()
}

fn value(bits: &[bool]) -> usize {
    bits.iter().enumerate().map(|(position, &bit)| usize::from(bit) << position).sum()
}

fn file(name: &str) -> Circuit {
    let (_, text) = FILES.into_iter().find(|file| file.0 == name).unwrap();
    Circuit::parse(text).unwrap()
}

fn error(text: &str) -> (usize, Kind) {
    let error = Circuit::parse(text).unwrap_err();
    (error.line(), error.kind().clone())
}

#[test]
fn adder_adds_all_bytes() {
    let adder = file("adder8");
    let pairs = || (0..1 << 16).map(|pair| (pair & 255, pair >> 8));
    let rows = pairs().map(|(a, b)| [bits(a, 8), bits(b, 8)].concat()).collect();
    let Ok(sums) = adder.evaluate(&mut Plain, rows);
    for ((a, b), sum) in pairs().zip(sums) {
        assert_eq!(value(&sum), a + b, "{a} + {b}");
    }
}

#[test]
fn comparison_compares_all_bytes() {
    let less = file("less_than8");
    let pairs = || (0..1 << 16).map(|pair| (pair & 255, pair >> 8));
    let rows = pairs().map(|(a, b)| [bits(a, 8), bits(b, 8)].concat()).collect();
    let Ok(results) = less.evaluate(&mut Plain, rows);
    for ((a, b), result) in pairs().zip(results) {
        assert_eq!(result, [a < b], "{a} < {b}");
    }
}

#[test]
fn majority_counts() {
    for k in 1..5 {
        let (count, majority) = ((1_usize << k) - 1, library::majority(k));
        assert_eq!(majority.ands(), count - k as usize);
        for input in 0..1_usize << count {
            let most = 2 * input.count_ones() as usize > count;
            assert_eq!(majority.evaluate_plain(&bits(input, count)), [most], "{input:b} of {count}");
        }
    }
}

/// The product in the field of AES, by shifts modulo x^8 + x^4 + x^3 + x + 1.
fn field_product(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        product ^= if b & 1 == 1 { a } else { 0 };
        a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

/// FIPS 197, section 5.1.1: the inverse, then an affine map.
fn sbox(x: u8) -> u8 {
    let inverse = (0..=255).find(|&y| field_product(x, y) == 1).unwrap_or(0);
    (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
}

#[test]
fn sbox_is_that_of_aes() {
    let circuit = file("aes_sbox");
    assert_eq!((circuit.ands(), circuit.and_depth()), (34, 4));
    assert_eq!((sbox(0), sbox(0x53)), (0x63, 0xed), "the example of FIPS 197");
    for input in 0..=255_u8 {
        let output = circuit.evaluate_plain(&bits(input.into(), 8));
        assert_eq!(value(&output), usize::from(sbox(input)), "{input}");
    }
}

#[test]
fn files_are_what_the_library_builds() {
    let built =
        [("adder8", library::adder(8)), ("less_than8", library::less_than(8)), ("majority7", library::majority(3))];
    for (name, circuit) in built {
        let (_, text) = FILES.into_iter().find(|file| file.0 == name).unwrap();
        assert!(circuit.to_string() == text, "{name}.txt should be\n{circuit}");
    }
}

#[test]
fn counts_and_depths() {
    let figures = |circuit: &Circuit| (circuit.ands(), circuit.and_depth());
    assert_eq!(figures(&library::adder(8)), (8, 8));
    assert_eq!(figures(&library::less_than(8)), (8, 8));
    assert_eq!(figures(&library::majority(3)), (4, 2));
    let chain = Circuit::parse("3 4\n1 1\n1 1\n1 1 0 1 INV\n1 1 1 2 INV\n2 1 0 2 3 XOR").unwrap();
    assert_eq!((chain.depth(), chain.and_depth(), chain.gates()), (3, 0, 3));
}

#[test]
fn text_comes_back() {
    for (name, text) in FILES {
        let circuit = Circuit::parse(text).unwrap();
        assert_eq!(Circuit::parse(&circuit.to_string()).unwrap(), circuit, "{name}");
    }
}

#[test]
fn every_kind_of_gate() {
    let text = "6 10\r\n2 2 1\n2 3 4\n\n4 2 0 1 1 2 3 4 MAND\n1 1 1 5 EQ\n1 1 0 6 EQ\n\n1 1 2 7 EQW\n1 1 0 8 INV\n2 1 0 1 9 XOR";
    let circuit = Circuit::parse(text).unwrap();
    assert_eq!((circuit.inputs(), circuit.outputs()), (&[2, 1][..], &[3, 4][..]));
    for input in 0..8 {
        let (a, b, c) = (input & 1 == 1, input & 2 == 2, input & 4 == 4);
        assert_eq!(circuit.evaluate_plain(&[a, b, c]), [a & b, b & c, true, false, c, !a, a ^ b]);
    }
}

#[test]
fn gates_in_any_order() {
    let circuit = Circuit::parse("3 5\n1 2\n1 1\n2 1 2 3 4 XOR\n1 1 2 3 INV\n2 1 0 1 2 AND").unwrap();
    assert_eq!(circuit.evaluate_plain(&[true, true]), [true]);
    assert_eq!(circuit.depth(), 3);
}

#[test]
fn headers_that_say_nothing() {
    assert_eq!(error(""), (1, Kind::NoHeader));
    assert_eq!(error("1 2\n1 1\n\n"), (3, Kind::NoHeader));
    // The beginning of a circuit in the older format.
    assert_eq!(error("36663 36919\n128 128 128\n\n2 1 128 0 33254 XOR\n"), (2, Kind::OldFormat));
    assert_eq!(error("1\n1 1\n1 1"), (1, Kind::Words { found: 1, expected: 2 }));
    assert_eq!(error("x 2\n1 1\n1 1"), (1, Kind::NotANumber("\"x\"".into())));
    assert_eq!(error("-1 2\n1 1\n1 1"), (1, Kind::NotANumber("\"-1\"".into())));
    assert_eq!(error("1 16777217\n1 1\n1 1"), (1, Kind::TooMany(16_777_217)));
    assert_eq!(error("1 99999999999999999999999\n1 1\n1 1"), (1, Kind::TooMany(u64::MAX)));
    assert_eq!(error("1 2\n2 1\n1 1"), (2, Kind::Words { found: 2, expected: 3 }));
    assert_eq!(error("1 2\n1 0\n1 1"), (2, Kind::Empty));
    assert_eq!(error("1 2\n1 1\n0"), (3, Kind::Empty));
    assert_eq!(error("1 2\n1 3\n1 1"), (2, Kind::MoreBitsThanWires { bits: 3, wires: 2 }));
    assert_eq!(error("1 2\n1 1\n1 3"), (3, Kind::MoreBitsThanWires { bits: 3, wires: 2 }));
}

#[test]
fn gates_that_are_none() {
    let gate = |line: &str| error(&format!("1 3\n1 2\n1 1\n\n{line}\n"));
    let unknown = |name: &str, inputs, outputs| (5, Kind::Gate { name: format!("{name:?}"), inputs, outputs });
    assert_eq!(gate("2 1 0 1 2 NAND"), unknown("NAND", 2, 1));
    assert_eq!(gate("1 1 0 2 XOR"), unknown("XOR", 1, 1));
    assert_eq!(gate("3 1 0 1 1 2 MAND"), unknown("MAND", 3, 1));
    assert_eq!(gate("0 0 MAND"), unknown("MAND", 0, 0));
    assert_eq!(gate("2 1 0 1 XOR"), (5, Kind::Words { found: 5, expected: 6 }));
    assert_eq!(gate("2 1 0 1 2 2 XOR"), (5, Kind::Words { found: 7, expected: 6 }));
    assert_eq!(gate("XOR"), (5, Kind::Words { found: 1, expected: 5 }));
    assert_eq!(gate("2 1 0 b 2 XOR"), (5, Kind::NotANumber("\"b\"".into())));
    assert_eq!(gate("2 1 0 3 2 XOR"), (5, Kind::NoSuchWire { wire: 3, wires: 3 }));
    assert_eq!(gate("2 1 0 1 3 XOR"), (5, Kind::NoSuchWire { wire: 3, wires: 3 }));
    assert_eq!(gate("1 1 2 2 EQ"), (5, Kind::Constant(2)));
    assert_eq!(gate("2 1 0 1 2 a\u{1b}[31m-----------------"), unknown("a\u{1b}[31m--------------…", 2, 1));
}

#[test]
fn wires_that_do_not_fit() {
    assert_eq!(error("2 4\n1 2\n1 1\n2 1 0 1 2 XOR\n2 1 0 1 2 AND"), (5, Kind::DrivenTwice(2)));
    assert_eq!(error("1 3\n1 2\n1 1\n2 1 0 1 1 XOR"), (4, Kind::DrivenTwice(1)));
    assert_eq!(error("1 4\n1 2\n1 1\n\n2 1 0 2 3 XOR"), (5, Kind::Undriven(2)));
    assert_eq!(error("1 4\n1 2\n1 1\n2 1 0 1 3 XOR"), (1, Kind::Undriven(2)));
    assert_eq!(error("2 3\n1 2\n1 1\n2 1 0 1 2 XOR"), (4, Kind::Gates { found: 1, expected: 2 }));
    assert_eq!(error("0 3\n1 2\n1 1\n2 1 0 1 2 XOR"), (4, Kind::Gates { found: 1, expected: 0 }));
}

#[test]
fn loops_are_found_where_they_are() {
    assert_eq!(error("1 2\n1 1\n1 1\n2 1 0 1 1 AND"), (4, Kind::Loop(1)));
    // The first two gates depend on the loop but are not on it.
    let text = "5 6\n1 1\n1 1\n1 1 2 1 INV\n1 1 3 2 INV\n2 1 0 4 3 XOR\n2 1 0 3 4 AND\n1 1 1 5 EQW";
    let (line, kind) = error(text);
    assert!(matches!((line, &kind), (6, Kind::Loop(3)) | (7, Kind::Loop(4))), "line {line}: {kind}");
}

/// Truth values that count the calls and the ANDs.
#[derive(Default)]
struct Counted {
    and_calls: usize,
    ands: usize,
}

impl Bits for Counted {
    type Bit = bool;
    type Error = Infallible;

    fn constant(&mut self, value: bool) -> Result<bool, Infallible> {
        Plain.constant(value)
    }

    fn not(&mut self, wires: &mut Wires<bool>, of: &[usize]) -> Result<Vec<bool>, Infallible> {
        Plain.not(wires, of)
    }

    fn xor(&mut self, wires: &mut Wires<bool>, pairs: &[(usize, usize)]) -> Result<Vec<bool>, Infallible> {
        Plain.xor(wires, pairs)
    }

    fn and(&mut self, wires: &mut Wires<bool>, pairs: &[(usize, usize)]) -> Result<Vec<bool>, Infallible> {
        self.and_calls += 1;
        self.ands += pairs.len();
        Plain.and(wires, pairs)
    }
}

#[test]
fn outputs_that_are_inputs_or_stand_twice() {
    let mut builder = Builder::new(&[2]);
    let [a, b] = builder.inputs()[..] else { unreachable!() };
    let sum = builder.xor(a, b);
    let circuit = builder.finish(&[&[sum, a], &[sum]]);
    assert_eq!((circuit.evaluate_plain(&[true, false]), circuit.wires()), (vec![true, true, true], 5));
}

#[test]
fn a_level_is_one_call_for_all_rows() {
    let (mut counted, sbox) = (Counted::default(), file("aes_sbox"));
    let Ok(_) = sbox.evaluate(&mut counted, (0..5).map(|row| bits(row, 8)).collect());
    assert_eq!(counted.ands, 5 * 34);
    assert!(counted.and_calls < 34, "{} calls", counted.and_calls);
}
