//! Special primes, and conversion of integers to residues and back.

use std::fmt::Write;
use std::fs::File;

use crate::common::TestDir;
use arrow_schema::DataType;
use hearith_arith::Engine;
use hearith_columns::parquet::ParquetReader;
use serde_json::Value;

/// The largest special primes of the paper's 360-bit ring, found with another program. Twelve are
/// for its words. One more is needed because the product of the twelve is slightly below 2^360.
const PRIMES: [u64; 13] = [
    1_073_692_673,
    1_073_643_521,
    1_073_479_681,
    1_073_430_529,
    1_073_299_457,
    1_073_233_921,
    1_073_184_769,
    1_073_135_617,
    1_073_053_697,
    1_072_857_089,
    1_072_611_329,
    1_072_496_641,
    1_071_628_289,
];

/// Reduces a decimal number modulo a word, digit by digit.
fn residue(decimal: &str, modulus: u64) -> u64 {
    let digits = decimal.bytes().map(|digit| u128::from(digit - b'0'));
    digits.fold(0, |rest, digit| (rest * 10 + digit) % u128::from(modulus)) as u64
}

/// Decimal numbers of up to `digits` digits, the same in every run.
fn numbers(count: usize, digits: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut digit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 33) as u8 % 10)
    };
    let number = |length: usize| -> String {
        let text: String = (0..length).map(|_| digit()).collect();
        let significant = text.trim_start_matches('0');
        if significant.is_empty() { "0".to_owned() } else { significant.to_owned() }
    };
    (0..count).map(|index| 1 + index % digits).map(number).collect()
}

fn moduli(dir: &TestDir) -> Vec<u64> {
    let found: Value = serde_json::from_str(&dir.ok("rns primes --count 13 --json").text()).unwrap();
    found["primes"].as_array().unwrap().iter().map(|prime| prime["modulus"].as_u64().unwrap()).collect()
}

#[test]
fn primes_are_listed_for_people() {
    let dir = TestDir::new();
    let text = dir.ok("rns primes --degree 8192 --modulus-bits 360 --terms 5 --max-word 62").text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("120 primes 2^30 - beta, beta up to 2^28, for degree 8192"), "{}", lines[0]);
    assert_eq!(lines.len(), 3 + 120);
    let evaluated = lines.iter().find(|line| line.trim_start().starts_with("1073692673 ")).unwrap();
    let cells = ["2^30 - 2^16 + 2^14 + 1", " 16 ", " 80 ", " 56 ", "56 x 27", "28 x 28"];
    assert!(cells.iter().all(|cell| evaluated.contains(cell)), "{evaluated}");
    let tight = dir.ok("rns primes --tight").text();
    assert!(tight.starts_with("154 primes 2^30 - beta, beta up to 2^29,"), "{tight}");
    let long = dir.ok("rns primes --word-bits 50 --modulus-bits 400 --max-word 110 --count 3").text();
    assert_eq!(long.lines().count(), 6, "{long}");
}

#[test]
fn primes_are_listed_for_programs() {
    let dir = TestDir::new();
    let found: Value = serde_json::from_str(&dir.ok("rns primes --json").text()).unwrap();
    assert_eq!((&found["words"], &found["most_beta_bits"]), (&12.into(), &28.into()));
    let primes = found["primes"].as_array().unwrap();
    assert_eq!(primes.len(), 120);
    for prime in primes {
        let q = prime["modulus"].as_u64().unwrap();
        let terms = prime["beta_terms"].as_array().unwrap();
        let beta: i64 = terms.iter().map(|term| (1 << term[0].as_i64().unwrap()) * term[1].as_i64().unwrap()).sum();
        assert_eq!(beta, (1 << 30) - q as i64);
        // The root's 8192nd power is -1.
        let mut power = prime["root"].as_u64().unwrap();
        (0..13).for_each(|_| power = (u128::from(power) * u128::from(power) % u128::from(q)) as u64);
        assert_eq!(power, q - 1);
        let (k, m) = (prime["unit"]["k"].as_u64().unwrap(), prime["unit"]["m"].as_u64().unwrap());
        assert_eq!(u128::from(m), (1 << k) / u128::from(q));
    }
}

#[test]
fn searches_that_cannot_be_are_refused() {
    let dir = TestDir::new();
    dir.fails("rns primes --degree 12", "the degree is 12; it must be a power of two");
    dir.fails("rns primes --word-bits 64", "the word length is 64; 4 to 60 bits are supported");
    dir.fails("rns primes --terms 7", "the number of terms is 7; 3 to 6 are supported");
    dir.fails("rns primes --modulus-bits 20", "the modulus length is 20; it must be longer than a word");
    dir.write("in.txt", "1\n");
    dir.fails(
        "rns convert --terms 4 --max-word 60 in.txt --out out.csv",
        "the 9 special primes are too few for integers of 360 bits (allow more --terms or a longer --max-word)",
    );
}

#[test]
fn integers_become_residues_and_come_back() {
    let dir = TestDir::new();
    let moduli = moduli(&dir);
    assert_eq!(moduli, PRIMES);
    let numbers = numbers(9000, 108);
    dir.write("in.txt", numbers.join("\n") + "\n");
    let mut expected: String = (0..13).map(|index| format!("r{index}")).collect::<Vec<_>>().join(",") + "\n";
    for number in &numbers {
        let residues: Vec<String> = moduli.iter().map(|&modulus| residue(number, modulus).to_string()).collect();
        writeln!(expected, "{}", residues.join(",")).unwrap();
    }
    for engine in
        ["cpu", "serial", "avx2", "ifma"].into_iter().filter(|name| Engine::named(name).is_ok() || *name == "cpu")
    {
        let run = dir.ok(&format!("rns convert --engine {engine} in.txt --out out.csv"));
        assert!(run.stderr.starts_with("convert: 9000 rows in "), "{}", run.stderr);
        assert_eq!(dir.read("out.csv"), expected, "{engine}");
        dir.ok(&format!("rns convert --engine {engine} in.txt --out out.parquet"));
        for table in ["out.csv", "out.parquet"] {
            let back = dir.ok(&format!("rns convert --back --engine {engine} {table}")).text();
            assert_eq!(back, numbers.join("\n") + "\n", "{engine} {table}");
        }
    }
}

/// Reduces a signed hexadecimal integer modulo a word, digit by digit.
fn signed_residue(hexadecimal: &str, modulus: u64) -> u64 {
    let (negative, digits) = match hexadecimal.strip_prefix("-0x") {
        Some(digits) => (true, digits),
        None => (false, hexadecimal.strip_prefix("0x").unwrap()),
    };
    let wide = u128::from(modulus);
    let rest = digits.chars().fold(0, |rest, digit| (rest * 16 + u128::from(digit.to_digit(16).unwrap())) % wide);
    (if negative { (wide - rest) % wide } else { rest }) as u64
}

/// `2^bits` and its two neighbours, in hexadecimal without leading zeros.
fn near_power(bits: u32) -> [String; 3] {
    let (top, zeros) = (1 << (bits % 4), (bits / 4) as usize);
    let below = format!("{:x}{}", top - 1, "f".repeat(zeros));
    let below = below.trim_start_matches('0');
    let above = format!("{top:x}{}1", "0".repeat(zeros.max(1) - 1));
    [format!("0x{below}"), format!("0x{top:x}{}", "0".repeat(zeros)), format!("0x{above}")]
}

#[test]
fn every_integer_of_the_promised_length_converts_and_comes_back() {
    let dir = TestDir::new();
    let mut state = 7_u64;
    let mut random = |bits: u32| {
        let digits: String = (0..bits / 4)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from_digit((state >> 60) as u32, 16).unwrap()
            })
            .collect();
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() { "0x0".to_owned() } else { format!("0x{digits}") }
    };
    for bits in [31, 32, 33, 59, 60, 61, 63, 64, 65, 89, 90, 91, 127, 128, 150, 256, 300, 359, 360, 361, 390, 600, 1000]
    {
        let [all_ones, ..] = near_power(bits);
        let [most, half, _] = near_power(bits - 1);
        let mut natural = vec!["0x0".to_owned(), "0x1".to_owned(), all_ones, most.clone(), half.clone()];
        natural.extend((0..20).map(|_| random(bits)));
        let mut centred = vec!["0x0".to_owned(), "-0x1".to_owned(), "0x1".to_owned(), most.clone()];
        centred.extend([format!("-{most}"), format!("-{half}")]);
        centred.extend(
            (0..20).map(|_| random(bits - 1)).filter(|it| it != "0x0").map(|magnitude| format!("-{magnitude}")),
        );
        for (integers, sign) in [(natural, ""), (centred, "--centred")] {
            dir.write("in.txt", integers.join("\n"));
            let options = format!("--quiet --terms 6 --modulus-bits {bits}");
            dir.ok(&format!("rns convert {options} in.txt --out out.csv"));
            dir.ok(&format!("rns convert {options} in.txt --out out.parquet"));
            let found: Value =
                serde_json::from_str(&dir.ok(&format!("rns primes --terms 6 --modulus-bits {bits} --json")).text())
                    .unwrap();
            let primes = found["primes"].as_array().unwrap().iter().map(|prime| prime["modulus"].as_u64().unwrap());
            let primes: Vec<u64> = primes.collect();
            let table = dir.read("out.csv");
            for (line, integer) in table.lines().skip(1).zip(&integers) {
                let residues = line.split(',').zip(&primes).map(|(cell, &prime)| (cell.parse::<u64>().unwrap(), prime));
                let wrong = residues.clone().find(|&(residue, prime)| residue != signed_residue(integer, prime));
                assert_eq!(wrong, None, "{bits} bits, {integer}");
            }
            assert_eq!(table.lines().count(), 1 + integers.len());
            for name in ["out.csv", "out.parquet"] {
                let back = dir.ok(&format!("rns convert --back --hex {sign} {options} {name}")).text();
                assert_eq!(back.lines().collect::<Vec<_>>(), integers, "{bits} bits, {name}");
            }
        }
    }
}

#[test]
fn tables_with_a_prime_a_word_are_still_read() {
    let dir = TestDir::new();
    let columns: Vec<String> = (0..12).map(|index| format!("r{index}")).collect();
    let residues: Vec<String> = PRIMES[..12].iter().map(|prime| (1_000_000_007 % prime).to_string()).collect();
    dir.write("old.csv", format!("{}\n{}\n", columns.join(","), residues.join(",")));
    assert_eq!(dir.ok("rns convert --back old.csv").text(), "1000000007\n");
    dir.write("less.csv", "r0\n5\n");
    dir.fails("rns convert --back less.csv --out out.txt", "less.csv: 1 columns for 13 moduli");
}

#[test]
fn standard_input_and_hexadecimal() {
    let dir = TestDir::new();
    let run = dir.run_with("rns convert --quiet --primes 7,11,13 -", b"0x3e8\n 1000\r\n0\n1");
    assert_eq!((run.status, run.text()), (Some(0), "r0,r1,r2\n6,10,12\n6,10,12\n0,0,0\n1,1,1\n".to_owned()));
    let back = dir.run_with("rns convert --quiet --back --hex --primes 7,11,13 - --out back.txt", &run.stdout);
    assert_eq!(back.status, Some(0), "{}", back.stderr);
    assert_eq!(dir.read("back.txt"), "0x3e8\n0x3e8\n0x0\n0x1\n");
    let empty = dir.run_with("rns convert --quiet --primes 7,11 -", b"");
    assert_eq!((empty.status, empty.text()), (Some(0), "r0,r1\n".to_owned()));
}

#[test]
fn columns_are_as_wide_as_their_moduli() {
    let dir = TestDir::new();
    dir.write("in.txt", "12345678901234567890\n");
    dir.ok("rns convert --primes 4294967291,4294967311 in.txt --out out.parquet");
    let source = ParquetReader::open(File::open(dir.file("out.parquet")).unwrap()).unwrap();
    let schema = source.schema();
    assert_eq!(*schema.field(0).data_type(), DataType::UInt32);
    assert_eq!(*schema.field(1).data_type(), DataType::UInt64);
    assert_eq!(schema.field(1).metadata()["hearith.rns.modulus"], "4294967311");
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let dir = TestDir::new();
    let fails = |content: &str, expected: &str| {
        dir.write("in.txt", content);
        for out in ["out.csv", "out.parquet"] {
            dir.fails(&format!("rns convert --primes 7,11 in.txt --out {out}"), &format!("in.txt: {expected}"));
        }
    };
    fails("1\n2\n3.5\n", "line 3: not an integer");
    fails("1\n-39\n", "line 2: below minus half the product of the moduli, which has 7 bits");
    fails("76\n77\n", "line 2: not below the product of the moduli, which has 7 bits");
    fails("1\n\n3\n", "line 2: an integer is missing");
    fails(&("5\n".repeat(20_000) + "x\n"), "line 20001: not an integer");
    dir.fails("rns convert missing.txt --out out.csv", "missing.txt: cannot read: No such file");
    dir.fails("rns convert keys --out out.csv", "keys: cannot read: is a directory");
    dir.write("in.txt", "1\n");
    dir.fails("rns convert in.txt --out in.txt", "in.txt: the output would replace the input");
    dir.fails("rns convert --primes 6,35,77 in.txt --out out.csv", "the moduli 35 and 77 are not coprime");
    dir.fails("rns convert --primes 1 in.txt --out out.csv", "a modulus is 1; 2 to 2^60 - 1 are supported");
    dir.fails("rns convert --engine abacus in.txt --out out.csv", "unknown engine 'abacus'");
}

#[test]
fn residues_that_are_none_are_named_with_row_and_column() {
    let dir = TestDir::new();
    let fails = |content: &str, expected: &str| {
        dir.write("in.csv", content);
        dir.fails("rns convert --back --primes 7,11 in.csv --out out.txt", &format!("in.csv: {expected}"));
    };
    fails("r0,r1\n1,2\n6,11\n", "row 2, column r1: not a residue modulo 11");
    fails("r0,r1\n1,x\n", "row 1, column r1: not a residue modulo 11");
    fails("r0,r1\n1,-1\n", "row 1, column r1: not a residue modulo 11");
    fails("r0,r1\n1,2\n,2\n", "row 2, column r0: ");
    fails("r0\n1\n", "1 columns for 2 moduli");
    fails("r1,r0\n1,2\n", "column r1: should be r0");
    dir.write("in.txt", "5\n");
    dir.ok("rns convert --primes 7,11 in.txt --out in.parquet");
    dir.ok("rns convert --back --primes 7,11 in.parquet --out out.txt");
    dir.fails(
        "rns convert --back --primes 7,13 in.parquet --out other.txt",
        "in.parquet: its residues have other moduli than --primes names",
    );
}
