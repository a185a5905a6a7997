//! The modules between a board's buses and a top module: TKEEP, the wrapper, and the examples'
//! self-test.

use hearith_rtl::{PACKET_TKEEP_FILTER_32X3, PACKET_TKEEP_FILTER_64X1, PACKET_TKEEP_FILTER_128X2, SELF_TEST};
use hearith_verilated::bench::{Bench, Pressure};
use hearith_verilated::{Design, Model};

/// A beat: its data, its valid bytes, and whether it is the last.
type Beat = (Vec<u64>, u64, bool);

/// A packet of `length` beats, whose header promises `count` items. `partial` of its beats lack
/// bytes.
fn packet(bench: &mut Bench, width: usize, count: u64, length: usize, partial: usize) -> Vec<Beat> {
    let whole = if width == 512 { u64::MAX } else { (1 << (width / 8)) - 1 };
    let mut beats: Vec<Beat> = (0..length).map(|at| (bench.random().bits(width), whole, at + 1 == length)).collect();
    match width {
        32 if length > 1 => beats[1].0[0] = beats[1].0[0] & 0xffff | count << 16,
        32 => {}
        _ => beats[0].0[0] = beats[0].0[0] & 0xffff_ffff_ffff | count << 48,
    }
    for _ in 0..partial {
        let at = bench.random().below(length as u64) as usize;
        beats[at].1 = bench.random().below(whole);
    }
    beats
}

/// Packets pass unchanged if no bytes are missing. Otherwise their length differs from the one that
/// their header states.
fn keeps(design: &'static Design, width: usize, beats: usize) {
    let pressures = [Pressure::None, Pressure::Random(180), Pressure::Random(40)];
    for (round, (before, after)) in (0..).zip(pressures.into_iter().flat_map(|one| pressures.map(|other| (one, other))))
    {
        let mut bench = Bench::new(design.model(), round);
        let source = bench.source("s_valid_i", "s_ready_o", &["s_data_i", "s_keep_i", "s_last_i"]);
        let sink = bench.sink("m_valid_o", "m_ready_i", &["m_data_o", "m_last_o"]);
        bench.set_source_pressure(source, before);
        bench.set_sink_pressure(sink, after);
        let header = 64_usize.div_ceil(width);
        let (mut expected, mut broken) = (Vec::new(), 0);
        for number in 0..300 {
            let count = bench.random().below(4);
            let right = header + count as usize * beats;
            let length = match number % 5 {
                0 => 1 + bench.random().below(2 * right as u64) as usize,
                1 => right + 1,
                _ => right,
            };
            let partial = [0, 1, 0, 2][number % 4];
            let beats = packet(&mut bench, width, count, length, partial);
            let lacks = beats.iter().any(|beat| beat.1.count_ones() as usize != width / 8);
            let longer = lacks && length == right;
            broken += usize::from(longer);
            for (data, keep, last) in &beats {
                bench.push(source, &[data, &[*keep], &[u64::from(*last)]]);
                expected.push(vec![data.clone(), vec![u64::from(*last && !longer)]]);
            }
            if longer {
                expected.push(vec![vec![0; width.div_ceil(64)], vec![1]]);
            }
        }
        assert!(broken > 30);
        bench.run(sink, expected.len(), 100_000);
        bench.idle(50);
        let received: Vec<_> = bench.received(sink).iter().map(|transfer| transfer.fields.clone()).collect();
        assert_eq!(received, expected);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn packets_with_missing_bytes_get_the_wrong_length() {
    keeps(&PACKET_TKEEP_FILTER_32X3, 32, 3);
    keeps(&PACKET_TKEEP_FILTER_64X1, 64, 1);
    keeps(&PACKET_TKEEP_FILTER_128X2, 128, 2);
}

/// Runs the self-test with a fault in one step, or none (127). Returns whether it passed, and the
/// step at which it stopped.
fn self_test(fault: u64) -> (bool, u64) {
    let mut model: Model = SELF_TEST.model();
    model.set("fault_i", fault);
    model.reset();
    for _ in 0..1_100_000 {
        model.settle();
        if model.bit("done_o") {
            return (model.bit("pass_o"), model.get_u64("step_o"));
        }
        model.edge();
    }
    panic!("the self-test does not end");
}

/// The operation and the address of every step, from the program's own text.
fn steps() -> Vec<(u64, u64)> {
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal digits");
    let lines = include_str!("../../../boards/self_test/self_test_program.sv").lines();
    let steps = lines.filter_map(|line| line.split_once("{3'd").map(|(_, rest)| rest));
    steps.map(|rest| (number(&rest[..1]), number(&rest[rest.find("17'h").expect("an address") + 4..][..5]))).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_self_test_passes_through_the_wrapper() {
    assert_eq!(self_test(127), (true, steps().len() as u64 - 1));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_self_test_sees_what_is_wrong() {
    const WRITE: u64 = 1;
    const READ: u64 = 2;
    const EXPECT: u64 = 4;
    let steps = steps();
    let mut constants = 0;
    for (at, &(operation, address)) in (0..).zip(&steps) {
        match operation {
            // Read values and answers are compared at once.
            READ | EXPECT => assert_eq!(self_test(at), (false, at)),
            // A wrong word of the key is noticed by the next checksum.
            WRITE if address >= 0x1_0000 => {
                let (passed, stopped) = self_test(at);
                assert!(!passed && (at + 1..at + 5).contains(&stopped), "step {at} stopped at {stopped}");
                constants += 1;
            }
            _ => {}
        }
    }
    assert!(constants > 20);
}
