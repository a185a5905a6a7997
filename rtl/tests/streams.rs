//! The blocks of `rtl/lib`: every item once, in order, whatever the pressure; constants and bus transactions.

use hearith_rtl::{
    AXIL_PORT_8, CONFIG_REGISTER_70, STREAM_FORK, STREAM_NARROW_8X3, STREAM_NARROW_64X8, STREAM_WIDEN_8X3,
    STREAM_WIDEN_64X8,
};
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use hearith_verilated::{Design, Model};

const PRESSURES: [Pressure; 4] = [Pressure::None, Pressure::Random(200), Pressure::Random(128), Pressure::Random(20)];

/// A bench for each pair of pressures.
fn under_pressure(design: &'static Design, mut test: impl FnMut(Bench, [Pressure; 2])) {
    for (round, before) in (0..).zip(PRESSURES) {
        for (other, after) in (0..).zip(PRESSURES) {
            test(Bench::new(design.model(), 4 * round + other), [before, after]);
        }
    }
}

fn press(bench: &mut Bench, source: Source, sinks: &[Sink], [before, after]: [Pressure; 2]) {
    bench.set_source_pressure(source, before);
    sinks.iter().for_each(|&sink| bench.set_sink_pressure(sink, after));
}

/// The low end first: the item made of beats.
fn joined(beats: &[Vec<u64>], width: usize) -> Vec<u64> {
    match width {
        64 => beats.concat(),
        _ => vec![beats.iter().rev().fold(0, |item, beat| item << width | beat[0])],
    }
}

fn widens(design: &'static Design, width: usize, beats: usize) {
    under_pressure(design, |mut bench, pressures| {
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        press(&mut bench, source, &[sink], pressures);
        let (mut expected, mut dropped) = (Vec::new(), 0);
        for packet in 0..60 {
            // Some are too short, some too long.
            let length = match packet % 7 {
                2 => 1 + bench.random().below(beats as u64 - 1) as usize,
                5 => beats + 1 + bench.random().below(2 * beats as u64) as usize,
                _ => beats,
            };
            let data: Vec<Vec<u64>> = (0..length).map(|_| bench.random().bits(width)).collect();
            for (at, beat) in data.iter().enumerate() {
                bench.push(source, &[beat, &[u64::from(at + 1 == length)]]);
            }
            match length == beats {
                true => expected.push(joined(&data, width)),
                false => dropped += 1,
            }
        }
        let mut reported = 0;
        for _ in 0..60_000 {
            bench.step_watching(|model| reported += u32::from(model.bit("bad_packet_o")));
            if bench.queued(source) == 0 && bench.received(sink).len() == expected.len() {
                break;
            }
        }
        bench.idle(100);
        let received = bench.received(sink).iter().map(|transfer| &transfer.fields[0]);
        assert!(received.eq(&expected));
        // The last packet is a good one, so that all reports have been seen.
        assert_eq!(reported, dropped);
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn widening_joins_packets_and_drops_those_of_the_wrong_length() {
    widens(&STREAM_WIDEN_8X3, 8, 3);
    widens(&STREAM_WIDEN_64X8, 64, 8);
}

fn narrows(design: &'static Design, width: usize, beats: usize) {
    under_pressure(design, |mut bench, pressures| {
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o", "out_last_o"]);
        press(&mut bench, source, &[sink], pressures);
        let items: Vec<Vec<u64>> = (0..40).map(|_| bench.random().bits(width * beats)).collect();
        items.iter().for_each(|item| bench.push(source, &[item]));
        bench.run(sink, 40 * beats, 60_000);
        bench.idle(100);
        let received = bench.received(sink);
        assert_eq!(received.len(), 40 * beats);
        for (packet, item) in received.chunks(beats).zip(&items) {
            let data: Vec<Vec<u64>> = packet.iter().map(|transfer| transfer.fields[0].clone()).collect();
            assert_eq!(&joined(&data, width), item);
            assert!(packet.iter().enumerate().all(|(at, beat)| (beat.fields[1] == [1]) == (at + 1 == beats)));
        }
        if pressures == [Pressure::None; 2] {
            // An item every Beats + 1 cycles, the first a cycle after it was taken.
            assert!(bench.taken(source).iter().copied().eq((0..40).map(|item| item * (beats as u64 + 1))));
            assert_eq!(bench.received(sink)[0].cycle, 1);
        }
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn narrowing_cuts_items_into_packets() {
    narrows(&STREAM_NARROW_8X3, 8, 3);
    narrows(&STREAM_NARROW_64X8, 64, 8);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_fork_gives_every_item_to_both() {
    under_pressure(&STREAM_FORK, |mut bench, [before, after]| {
        let source = bench.source("in_valid_i", "in_ready_o", &[]);
        let sinks = [("first", after), ("second", Pressure::Random(100))].map(|(name, pressure)| {
            let sink = bench.sink(&format!("{name}_valid_o"), &format!("{name}_ready_i"), &[]);
            bench.set_sink_pressure(sink, pressure);
            sink
        });
        bench.set_source_pressure(source, before);
        (0..100).for_each(|_| bench.push(source, &[]));
        for _ in 0..20_000 {
            bench.step();
            // An item is gone exactly when both have it.
            let [first, second] = sinks.map(|sink| bench.received(sink).len());
            assert_eq!(bench.taken(source).len(), first.min(second));
            assert!(first.abs_diff(second) <= 1);
        }
        assert!(sinks.iter().all(|&sink| bench.received(sink).len() == 100));
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn constants_are_written_by_words_and_wiped_at_once() {
    let (mut model, mut random) = (CONFIG_REGISTER_70.model(), Random::new(5));
    model.reset();
    let mut expected = [0_u32; 3];
    let value = |model: &Model| model.get("value_o");
    for round in 0..500 {
        let (write, index, data) = (random.below(2) == 1, random.below(8), random.next() as u32);
        let wipe = round % 50 == 49;
        model.set("write_i", write);
        model.set("index_i", index);
        model.set("data_i", u64::from(data));
        model.set("wipe_i", wipe);
        model.clock();
        match expected.get_mut(index as usize) {
            _ if wipe => expected = [0; 3],
            // 70 bits: six of the top word.
            Some(word) if write => *word = if index == 2 { data & 0x3f } else { data },
            _ => (),
        }
        let low = u64::from(expected[1]) << 32 | u64::from(expected[0]);
        assert_eq!(value(&model), [low, expected[2].into()], "round {round}");
    }
}

/// A register file of four words behind the port: word 3 refuses both.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bus_transactions_become_single_writes_and_reads() {
    let mut bench = Bench::new(AXIL_PORT_8.model(), 3);
    let address = bench.source("axil_awvalid_i", "axil_awready_o", &["axil_awaddr_i"]);
    let data = bench.source("axil_wvalid_i", "axil_wready_o", &["axil_wdata_i", "axil_wstrb_i"]);
    let written = bench.sink("axil_bvalid_o", "axil_bready_i", &["axil_bresp_o"]);
    let wanted = bench.source("axil_arvalid_i", "axil_arready_o", &["axil_araddr_i"]);
    let read = bench.sink("axil_rvalid_o", "axil_rready_i", &["axil_rdata_o", "axil_rresp_o"]);
    for source in [address, data, wanted] {
        bench.set_source_pressure(source, Pressure::Random(90));
    }
    for sink in [written, read] {
        bench.set_sink_pressure(sink, Pressure::Random(90));
    }
    let (mut responses, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..200 {
        let (word, value) = (bench.random().below(4), bench.random().next() & 0xffff_ffff);
        let strobe = if bench.random().below(4) == 0 { 0b0111 } else { 0b1111 };
        bench.push(address, &[&[4 * word]]);
        bench.push(data, &[&[value], &[strobe]]);
        let whole = strobe == 0b1111;
        responses.push(if word == 3 || !whole { 2 } else { 0 });
        if whole {
            writes.push((4 * word, value));
        }
        let word = bench.random().below(4);
        bench.push(wanted, &[&[4 * word]]);
        reads.push((0x1000 + word, if word == 3 { 2 } else { 0 }));
    }
    let mut seen = Vec::new();
    for _ in 0..20_000 {
        // The register file answers in the same cycle.
        bench.model.settle();
        let (write_word, read_word) =
            (bench.model.get_u64("write_address_o") / 4, bench.model.get_u64("read_address_o") / 4);
        bench.model.set("write_refused_i", write_word == 3);
        bench.model.set("read_refused_i", read_word == 3);
        bench.model.set("read_data_i", 0x1000 + read_word);
        bench.step_watching(|model| {
            if model.bit("write_o") {
                seen.push((model.get_u64("write_address_o"), model.get_u64("write_data_o")));
            }
        });
    }
    assert_eq!(seen, writes);
    assert!(bench.received(written).iter().map(|transfer| transfer.fields[0][0]).eq(responses));
    let read = bench.received(read).iter().map(|transfer| (transfer.fields[0][0], transfer.fields[1][0]));
    assert!(read.eq(reads));
}
