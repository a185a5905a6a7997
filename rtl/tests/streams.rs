//! The blocks of `rtl/lib` that pass streams on: every item once, in order, whatever the pressure.

use hearith_rtl::{STREAM_REGISTER_8, STREAM_REGISTER_100};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure};

const PRESSURES: [Pressure; 4] = [Pressure::None, Pressure::Random(200), Pressure::Random(128), Pressure::Random(20)];

/// Sends random items and expects the same items.
fn passes_everything_on(design: &'static Design, width: usize) {
    for (round, (before, after)) in
        PRESSURES.iter().flat_map(|&before| PRESSURES.map(|after| (before, after))).enumerate()
    {
        let mut bench = Bench::new(design.model(), round as u64);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        bench.set_source_pressure(source, before);
        bench.set_sink_pressure(sink, after);
        let items: Vec<Vec<u64>> = (0..200).map(|_| bench.random().bits(width)).collect();
        items.iter().for_each(|item| bench.push(source, &[item]));
        let received = bench.run(sink, items.len(), 20_000);
        assert!(received.iter().map(|transfer| &transfer.fields[0]).eq(&items));
        bench.idle(20);
        assert_eq!(bench.received(sink).len(), items.len());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn registers_pass_everything_on() {
    passes_everything_on(&STREAM_REGISTER_8, 8);
    passes_everything_on(&STREAM_REGISTER_100, 100);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_register_adds_one_cycle_and_takes_an_item_every_cycle() {
    let mut bench = Bench::new(STREAM_REGISTER_8.model(), 1);
    let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    (0..50_u64).for_each(|item| bench.push(source, &[&[item]]));
    bench.run(sink, 50, 60);
    let cycles: Vec<u64> = bench.received(sink).iter().map(|transfer| transfer.cycle).collect();
    assert!(cycles.iter().copied().eq(1..51));
    assert!(bench.taken(source).iter().copied().eq(0..50));
}
