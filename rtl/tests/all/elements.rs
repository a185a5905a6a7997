//! The elements of a DGHV key, generated from its seed: AES against its standard's known answers
//! and another implementation, words against the definition of `hearith-dghv`.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hearith_rtl::{AES_CTR_1, AES_CTR_2, AES_CTR_5, AES_CTR_10, ELEMENT_ROWS_5};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};

const PRESSURES: [Pressure; 4] = [Pressure::None, Pressure::Random(150), Pressure::Random(40), Pressure::AfterValid];

fn ciphers() -> [(&'static Design, u64); 4] {
    [(&AES_CTR_1, 1), (&AES_CTR_2, 2), (&AES_CTR_5, 5), (&AES_CTR_10, 10)]
}

/// Bytes as limbs, in little-endian order.
fn limbs(bytes: &[u8; 16]) -> [u64; 2] {
    let number = u128::from_le_bytes(*bytes);
    [number as u64, (number >> 64) as u64]
}

/// A block's number as limbs.
fn number(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// A block of a seed's stream, as limbs.
fn block(seed: &[u8; 16], number: u128) -> [u64; 2] {
    let mut block = number.to_be_bytes().into();
    Aes128::new(seed.into()).encrypt_block(&mut block);
    limbs(&block.into())
}

fn load(bench: &mut Bench, [valid, value]: [&str; 2], key: &[u8; 16]) {
    bench.model.set(value, limbs(key));
    bench.model.set(valid, true);
    bench.step();
    bench.model.set(valid, false);
    bench.model.set(value, 0_u64);
}

/// The standard's example (FIPS 197, appendix B), and the first blocks of SP 800-38A's for counter
/// mode (F.5.1), without their plaintexts.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn known_answers() {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let counter = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128;
    let known = [
        (0x3243_f6a8_885a_308d_3131_98a2_e037_0734, 0x3925_841d_02dc_09fb_dc11_8597_196a_0b32_u128),
        (counter, 0xec8c_df73_9860_7cb0_f2d2_1675_ea9e_a1e4),
        (counter + 1, 0x362b_7c3c_6773_5163_18a0_77d7_fc50_73ae),
    ];
    for (design, _) in ciphers() {
        let mut bench = Bench::new(design.model(), 1);
        let source = bench.source("in_valid_i", "in_ready_o", &["number_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["block_o"]);
        load(&mut bench, ["load_i", "key_i"], &key);
        known.iter().for_each(|&(plain, _)| bench.push(source, &[&number(plain)]));
        let found = bench.run(sink, known.len(), 200);
        assert!(found.iter().zip(&known).all(|(found, (_, block))| found.fields[0] == limbs(&block.to_be_bytes())));
    }
}

/// Random keys and numbers under every pressure. Without pressure, a block takes 10 / Rounds
/// cycles.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn blocks_are_those_of_another_implementation() {
    let mut random = Random::new(2);
    for (design, rounds) in ciphers() {
        for pressure in PRESSURES {
            let mut bench = Bench::new(design.model(), random.next());
            let source = bench.source("in_valid_i", "in_ready_o", &["number_i"]);
            let sink = bench.sink("out_valid_o", "out_ready_i", &["block_o"]);
            bench.set_source_pressure(source, pressure);
            bench.set_sink_pressure(sink, pressure);
            for round in 0..3 {
                let key: [u8; 16] = std::array::from_fn(|_| random.next() as u8);
                load(&mut bench, ["load_i", "key_i"], &key);
                let numbers: Vec<u128> =
                    (0..60).map(|_| u128::from(random.next()) << 64 | u128::from(random.next())).collect();
                numbers.iter().for_each(|&value| bench.push(source, &[&number(value)]));
                let found = bench.run(sink, 60 * (round + 1), 60_000)[60 * round..].to_vec();
                assert!(found.iter().zip(&numbers).all(|(found, &number)| found.fields[0] == block(&key, number)));
                if pressure == Pressure::None {
                    let cycles = found[40].cycle - found[0].cycle;
                    assert_eq!(cycles, 40 * 10 / rounds, "{}", design.name());
                    assert_eq!(found[0].cycle - bench.taken(source)[60 * round], 21);
                }
            }
        }
    }
}

/// The words of rows of an element's stream, by its definition.
fn rows(seed: &[u8; 16], index: u32, rows: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    let blocks = (4 * rows.start..4 * rows.end).map(move |at| u128::from(index) << 64 | u128::from(at));
    blocks.flat_map(|number| block(seed, number)).collect::<Vec<_>>().into_iter()
}

/// A reset, a wipe or another seed drops everything in progress. Without a seed there is no output.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_wiped_seed_is_gone() {
    for after in 0..60 {
        for way in ["wipe_i", "rst_ni", "seed_load_i"] {
            let mut bench = Bench::new(ELEMENT_ROWS_5.model(), after);
            let requests = bench.source("req_valid_i", "req_ready_o", &["req_index_i", "req_row_i", "req_count_i"]);
            let sink = bench.sink("valid_o", "ready_i", &["word_o"]);
            bench.set_sink_pressure(sink, Pressure::Stalled);
            load(&mut bench, ["seed_load_i", "seed_i"], &[9; 16]);
            bench.push(requests, &[&[1], &[0], &[40]]);
            bench.idle(after);
            match way {
                "seed_load_i" => load(&mut bench, ["seed_load_i", "seed_i"], &[8; 16]),
                _ => {
                    bench.model.set(way, way != "rst_ni");
                    bench.step();
                    bench.model.set(way, way == "rst_ni");
                }
            }
            bench.excuse(sink);
            bench.step();
            assert!(!bench.model.bit("valid_o"), "{way} after {after}");
            bench.set_sink_pressure(sink, Pressure::None);
            bench.forget(requests);
            bench.push(requests, &[&[2], &[5], &[2]]);
            bench.idle(100);
            let expected: Vec<u64> = if way == "seed_load_i" { rows(&[8; 16], 2, 5..7).collect() } else { Vec::new() };
            let found = bench.received(sink);
            assert!(found.iter().map(|transfer| transfer.fields[0][0]).eq(expected), "{way} after {after}");
        }
    }
}

/// Rows of several elements, from any row on. Without stalls, a word per cycle.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn rows_are_those_of_the_streams() {
    let seed = [0x5a; 16];
    for pressure in PRESSURES {
        let mut bench = Bench::new(ELEMENT_ROWS_5.model(), 8);
        let requests = bench.source("req_valid_i", "req_ready_o", &["req_index_i", "req_row_i", "req_count_i"]);
        let sink = bench.sink("valid_o", "ready_i", &["word_o"]);
        bench.set_source_pressure(requests, pressure);
        bench.set_sink_pressure(sink, pressure);
        load(&mut bench, ["seed_load_i", "seed_i"], &seed);
        let mut expected = Vec::new();
        for (index, row, count) in [(0_u32, 0_u64, 1_u64), (7, 1000, 20), (u32::MAX, (1 << 24) - 2, 2)] {
            bench.push(requests, &[&[index.into()], &[row], &[count]]);
            expected.extend(rows(&seed, index, row..row + count));
        }
        let found = bench.run(sink, expected.len(), 50_000);
        assert!(found.iter().map(|transfer| transfer.fields[0][0]).eq(expected.iter().copied()));
        if pressure == Pressure::None {
            assert_eq!(found[167].cycle - found[8].cycle, 159);
        }
    }
}
