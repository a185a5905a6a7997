//! Features of a model other than its ports: waveforms, and its memories.

use hearith_rtl::{AXIL_WORDS, AXIS_PASS, RAM_1R1W_12X6};
use hearith_verilated::bench::{Bench, Random};

/// The header of an FST file: a block of type 0 of 329 bytes, with the first and last time, and the
/// constant e, which shows the byte order.
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
    // Two values per cycle, including four cycles of reset.
    assert_eq!((number(9), number(17)), (0, 2 * (cycles + 4) - 1));
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

/// Not visible at the ports: a wiped memory is zero, including its parity bits, and a bit that
/// flips inside is reported.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_wiped_memory_is_zero_and_a_flipped_bit_is_found() {
    let (mut model, mut random) = (RAM_1R1W_12X6.model(), Random::new(7));
    model.reset();
    let until_ready = |model: &mut hearith_verilated::Model| {
        for _ in 0..20 {
            model.settle();
            if model.bit("ready_o") {
                return;
            }
            model.edge();
        }
        panic!("it is never ready");
    };
    until_ready(&mut model);
    assert_eq!(model.memory_words("word_q"), 6);
    for word in 0..6 {
        let value = random.below(1 << 12) | 1;
        model.set("write_i", true);
        model.set("write_address_i", word);
        model.set("write_data_i", value);
        model.clock();
        model.set("write_i", false);
        // The parity bit is above the word.
        assert_eq!(model.peek("word_q", word as usize)[0] & 0xfff, value);
        for bit in 0..13 {
            let kept = model.peek("word_q", word as usize)[0];
            model.poke("word_q", word as usize, &[kept ^ 1 << bit]);
            model.set("read_i", true);
            model.set("read_address_i", word);
            model.clock();
            assert!(model.bit("error_o"), "bit {bit} of word {word}");
            model.poke("word_q", word as usize, &[kept]);
            model.clock();
            assert!(!model.bit("error_o"));
            assert_eq!(model.get_u64("read_data_o"), value);
        }
        model.set("read_i", false);
    }
    model.set("wipe_i", true);
    model.clock();
    model.set("wipe_i", false);
    // Not all words are zero at once: the wipe proceeds word by word.
    assert!((0..6).any(|word| model.peek("word_q", word) != [0]));
    until_ready(&mut model);
    assert!((0..6).all(|word| model.peek("word_q", word) == [0]));
}
