//! What a model offers beside its ports: waveforms, and its memories.

use hearith_rtl::{AXIL_WORDS, AXIS_PASS};
use hearith_verilated::bench::Bench;

/// The header of an FST file: a block of type 0 of 329 bytes with first and last time, and e to tell the byte order of numbers by.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn waveforms_are_written() {
    let path = std::env::temp_dir().join(format!("hearith-waves-{}.fst", std::process::id()));
    let mut model = AXIS_PASS.model();
    let first = std::env::var_os("HEARITH_WAVES").is_none();
    assert_eq!(model.record(&path), first, "one file a model");
    if !first {
        return;
    }
    assert!(!model.record(&path));
    let mut bench = Bench::new(model, 1);
    let (source, sink) = (bench.packet_source("s_axis_"), bench.packet_sink("m_axis_", 8));
    (0..20).for_each(|byte| bench.send(source, &[byte; 9]));
    bench.run_packets(sink, 20, 200);
    let cycles = bench.cycle();
    drop(bench);
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let number = |at: usize| u64::from_be_bytes(file[at..][..8].try_into().unwrap());
    assert_eq!((file[0], number(1)), (0, 329));
    // Two values a cycle, two cycles of reset included.
    assert_eq!((number(9), number(17)), (0, 2 * (cycles + 2) - 1));
    assert_eq!(f64::from_ne_bytes(file[25..33].try_into().unwrap()), std::f64::consts::E);
    assert!(file.len() > 329 + 100, "{} bytes", file.len());
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_file_that_cannot_be_made_and_a_model_without_waves_say_so() {
    let nowhere = std::path::Path::new("/nowhere/at/all.fst");
    assert!(!AXIS_PASS.model().record(nowhere));
    assert!(!AXIL_WORDS.model().record(nowhere));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn memories_are_read_and_written_behind_the_design() {
    let mut bench = Bench::new(AXIL_WORDS.model(), 1);
    let bus = bench.axi_lite("axil_");
    assert_eq!(bench.model.memory_words("words"), 8);
    for word in 0..8 {
        bench.write(bus, 4 * word, 0x1111_1111 * word).unwrap();
        assert_eq!(bench.model.peek("words", word as usize), [0x1111_1111 * word]);
        bench.model.poke("words", word as usize, &[0xdead_0000 + word]);
    }
    for word in 0..8 {
        assert_eq!(bench.read(bus, 4 * word), Ok(0xdead_0000 + word));
    }
}

#[test]
#[should_panic(expected = "axil_words has no data_q that tests can reach")]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_the_build_script_does_not_name_stays_hidden() {
    AXIL_WORDS.model().peek("data_q", 0);
}

#[test]
#[should_panic(expected = "words of 32 bits")]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_word_takes_no_more_than_its_bits() {
    AXIL_WORDS.model().poke("words", 0, &[1 << 32]);
}

#[test]
#[should_panic(expected = "words has 8 words, no number 8")]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_ends_where_it_ends() {
    AXIL_WORDS.model().peek("words", 8);
}
