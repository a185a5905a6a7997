//! The blocks of `rtl/lib`: every item once, in order, under any pressure; also constants and bus
//! transactions.

use hearith_rtl::{
    AXIL_PORT_8, BIT_SYNC_3, CONFIG_REGISTER_70, RESET_SYNC, STREAM_ARBITER_3, STREAM_DEMUX_3, STREAM_FIFO_16X2,
    STREAM_FIFO_16X5, STREAM_FIFO_RAM_16X5, STREAM_FORK_1, STREAM_FORK_3, STREAM_JOIN_3, STREAM_MUX_3,
    STREAM_NARROW_8X3, STREAM_NARROW_64X8, STREAM_NARROW_GAPLESS_8X3, STREAM_NARROW_GAPLESS_64X2, STREAM_SKID_72,
    STREAM_WIDEN_8X3, STREAM_WIDEN_64X8, STREAM_WIDEN_GAPLESS_8X3, STREAM_WIDEN_GAPLESS_64X2,
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

/// The item made of beats, lowest first.
fn joined(beats: &[Vec<u64>], width: usize) -> Vec<u64> {
    match width {
        64 => beats.concat(),
        _ => vec![beats.iter().rev().fold(0, |item, beat| item << width | beat[0])],
    }
}

fn widens(design: &'static Design, width: usize, beats: usize, interval: u64) {
    under_pressure(design, |mut bench, pressures| {
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        press(&mut bench, source, &[sink], pressures);
        let (mut expected, mut dropped) = (Vec::new(), 0);
        for packet in 0..60 {
            // Some packets are too short, some too long.
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
        // The last packet is valid, so all reports have been seen.
        assert_eq!(reported, dropped);
    });
    // An item every `interval` cycles, the first a cycle after its last beat.
    let mut bench = Bench::new(design.model(), 1);
    let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    for at in 0..20 * beats {
        let beat = bench.random().bits(width);
        bench.push(source, &[&beat, &[u64::from(at % beats == beats - 1)]]);
    }
    let received = bench.run(sink, 20, 1000).iter().map(|transfer| transfer.cycle);
    assert!(received.eq((0..20).map(|item| beats as u64 + item * interval)));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn widening_joins_packets_and_drops_those_of_the_wrong_length() {
    widens(&STREAM_WIDEN_8X3, 8, 3, 4);
    widens(&STREAM_WIDEN_64X8, 64, 8, 9);
    widens(&STREAM_WIDEN_GAPLESS_8X3, 8, 3, 3);
    widens(&STREAM_WIDEN_GAPLESS_64X2, 64, 2, 2);
}

fn narrows(design: &'static Design, width: usize, beats: usize, interval: u64) {
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
            // An item every `interval` cycles, the first a cycle after it was accepted, with its
            // beats in sequence.
            let expected = (0..40).flat_map(|item| (0..beats as u64).map(move |beat| 1 + item * interval + beat));
            assert!(bench.received(sink).iter().map(|transfer| transfer.cycle).eq(expected));
        }
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn narrowing_cuts_items_into_packets() {
    narrows(&STREAM_NARROW_8X3, 8, 3, 4);
    narrows(&STREAM_NARROW_64X8, 64, 8, 9);
    narrows(&STREAM_NARROW_GAPLESS_8X3, 8, 3, 3);
    narrows(&STREAM_NARROW_GAPLESS_64X2, 64, 2, 2);
}

/// Every item once, in order; as many items as the block can hold if none is accepted; none
/// accepted in reset; both sides registered.
fn waits_in_line(design: &'static Design, width: usize, depth: usize, [latency, first]: [u64; 2]) {
    under_pressure(design, |mut bench, pressures| {
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        // The block is filled first, so that every entry is used.
        bench.set_sink_pressure(sink, Pressure::Stalled);
        let items: Vec<Vec<u64>> = (0..200).map(|_| bench.random().bits(width)).collect();
        items.iter().for_each(|item| bench.push(source, &[item]));
        bench.idle(first + depth as u64 + 10);
        assert_eq!(bench.taken(source).len(), depth);
        press(&mut bench, source, &[sink], pressures);
        for _ in 0..60_000 {
            bench.step();
            let held = bench.taken(source).len() - bench.received(sink).len();
            assert!(held <= depth);
            if bench.received(sink).len() == items.len() {
                break;
            }
        }
        bench.idle(10);
        assert!(bench.received(sink).iter().map(|transfer| &transfer.fields[0]).eq(&items));
    });
    let mut bench = Bench::new(design.model(), 9);
    let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    (0..40).for_each(|_| bench.push(source, &[&[7]]));
    // Not ready in the first cycles, then an item per cycle with constant latency.
    bench.run(sink, 40, 100);
    assert!(bench.taken(source).iter().copied().eq(first..first + 40));
    assert!(bench.received(sink).iter().map(|transfer| transfer.cycle).eq(first + latency..first + latency + 40));
    // Outputs change only at the clock.
    let (mut model, mut random) = (design.model(), Random::new(3));
    model.reset();
    for _ in 0..500 {
        let (valid, ready) = (random.below(2) == 1, random.below(2) == 1);
        let shown = |model: &Model| (model.bit("in_ready_o"), model.bit("out_valid_o"), model.get("out_data_o"));
        model.settle();
        let before = shown(&model);
        model.set("in_valid_i", valid);
        model.set("out_ready_i", ready);
        model.set_limbs("in_data_i", &random.bits(width));
        model.settle();
        assert_eq!(shown(&model), before);
        model.edge();
    }
    // In reset it is empty and not ready, and its content is lost.
    model.set("rst_ni", false);
    model.set("in_valid_i", true);
    for _ in 0..3 {
        model.clock();
        assert!(!model.bit("in_ready_o") && !model.bit("out_valid_o"));
    }
    model.set("rst_ni", true);
    model.set("in_valid_i", false);
    (1..first).for_each(|_| model.clock());
    assert!(model.get("out_data_o").iter().all(|&limb| limb == 0));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn items_wait_in_line() {
    waits_in_line(&STREAM_SKID_72, 72, 2, [1, 1]);
    waits_in_line(&STREAM_FIFO_16X2, 16, 2, [1, 1]);
    waits_in_line(&STREAM_FIFO_16X5, 16, 5, [1, 1]);
    waits_in_line(&STREAM_FIFO_RAM_16X5, 16, 5, [2, 7]);
}

fn forks(design: &'static Design, takers: usize) {
    under_pressure(design, |mut bench, [before, after]| {
        let source = bench.source("in_valid_i", "in_ready_o", &[]);
        let pressures = [after, Pressure::Random(100), Pressure::Random(30)];
        let sinks: Vec<Sink> = (0..takers)
            .map(|taker| {
                let sink = bench.sink(&format!("out_valid_o[{taker}]"), &format!("out_ready_i[{taker}]"), &[]);
                bench.set_sink_pressure(sink, pressures[taker]);
                sink
            })
            .collect();
        bench.set_source_pressure(source, before);
        (0..100).for_each(|_| bench.push(source, &[]));
        for _ in 0..20_000 {
            bench.step();
            // An item is complete exactly when all receivers have it. Receivers wait for each other
            // only before the next item.
            let counts: Vec<usize> = sinks.iter().map(|&sink| bench.received(sink).len()).collect();
            let (least, most) = (*counts.iter().min().expect("takers"), *counts.iter().max().expect("takers"));
            assert_eq!(bench.taken(source).len(), least);
            assert!(most - least <= 1);
        }
        assert!(sinks.iter().all(|&sink| bench.received(sink).len() == 100));
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_fork_gives_every_item_to_all() {
    forks(&STREAM_FORK_1, 1);
    forks(&STREAM_FORK_3, 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_join_takes_all_parts_together() {
    // Combinational only: tests every case.
    let mut model = STREAM_JOIN_3.model();
    for case in 0..16_u64 {
        let (valid, ready) = (case & 7, case >> 3 == 1);
        model.set("in_valid_i", valid);
        model.set("out_ready_i", ready);
        model.eval();
        assert_eq!(model.bit("out_valid_o"), valid == 7);
        assert_eq!(model.get_u64("in_ready_o"), if valid == 7 && ready { 7 } else { 0 });
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_multiplexer_passes_the_source_that_is_named() {
    let (mut model, mut random) = (STREAM_MUX_3.model(), Random::new(8));
    for _ in 0..1000 {
        let (select, valid, ready) = (random.below(4), random.below(8), random.below(2));
        let data = random.bits(48);
        model.set("select_i", select);
        model.set("in_valid_i", valid);
        model.set("out_ready_i", ready);
        model.set_limbs("in_data_i", &data);
        model.eval();
        // Number 3 selects none.
        let named = select < 3;
        assert_eq!(model.bit("out_valid_o"), named && valid >> select & 1 == 1);
        assert_eq!(model.get_u64("in_ready_o"), if named { ready << select } else { 0 });
        if named {
            assert_eq!(model.get_u64("out_data_o"), data[0] >> (16 * select) & 0xffff);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_demultiplexer_gives_to_the_taker_that_is_named() {
    let mut model = STREAM_DEMUX_3.model();
    for case in 0..64_u64 {
        let (select, valid, ready) = (case & 3, case >> 2 & 1, case >> 3);
        model.set("select_i", select);
        model.set("in_valid_i", valid);
        model.set("out_ready_i", ready);
        model.eval();
        let named = select < 3;
        assert_eq!(model.get_u64("out_valid_o"), if named { valid << select } else { 0 });
        assert_eq!(model.bit("in_ready_o"), named && ready >> select & 1 == 1);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_arbiter_keeps_packets_whole_and_is_fair() {
    under_pressure(&STREAM_ARBITER_3, |mut bench, [before, after]| {
        let pressures = [before, Pressure::Random(100), before];
        let sources = [0, 1, 2].map(|source: usize| {
            let data = format!("in_data_i[{}:{}]", 16 * source + 15, 16 * source);
            let last = format!("in_last_i[{source}]");
            let valid = format!("in_valid_i[{source}]");
            let stream = bench.source(&valid, &format!("in_ready_o[{source}]"), &[&data, &last]);
            bench.set_source_pressure(stream, pressures[source]);
            stream
        });
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o", "out_last_o", "out_source_o"]);
        bench.set_sink_pressure(sink, after);
        let mut beats = 0;
        for (number, &source) in (0..).zip(&sources) {
            for packet in 0..20_u64 {
                let length = 1 + bench.random().below(4);
                beats += length as usize;
                for beat in 0..length {
                    // The source, the packet, and the beat.
                    bench.push(source, &[&[number << 12 | packet << 4 | beat], &[u64::from(beat + 1 == length)]]);
                }
            }
        }
        let received = bench.run(sink, beats, 100_000).to_vec();
        let (mut next, mut beat, mut busy) = ([0; 3], 0, None);
        for transfer in &received {
            let (data, last, source) = (transfer.fields[0][0], transfer.fields[1][0] == 1, transfer.fields[2][0]);
            assert!(busy.is_none_or(|busy| busy == source), "a packet was cut");
            assert_eq!(data, source << 12 | next[source as usize] << 4 | beat);
            (busy, beat) = if last { (None, 0) } else { (Some(source), beat + 1) };
            next[source as usize] += u64::from(last);
        }
        assert_eq!(next, [20; 3]);
        if [before, after] == [Pressure::None; 2] {
            // No cycle is lost after a packet, since the third source always has another. Within a
            // packet its own source may wait.
            let ended = received.windows(2).take(60).filter(|pair| pair[0].fields[1][0] == 1);
            assert!(ended.clone().count() > 10);
            assert!(ended.into_iter().all(|pair| pair[1].cycle - pair[0].cycle == 1));
        }
    });
    // If all sources always have data, each waits for at most one packet of every other.
    let mut bench = Bench::new(STREAM_ARBITER_3.model(), 2);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_source_o"]);
    for source in 0..3 {
        let fields = [&*format!("in_data_i[{}:{}]", 16 * source + 15, 16 * source), &format!("in_last_i[{source}]")];
        let stream = bench.source(&format!("in_valid_i[{source}]"), &format!("in_ready_o[{source}]"), &fields);
        (0..50).for_each(|_| bench.push(stream, &[&[1], &[1]]));
    }
    let order = bench.run(sink, 150, 150).iter().map(|transfer| transfer.fields[0][0]);
    assert!(order.eq((0..150).map(|turn| turn % 3)));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bits_from_outside_follow_after_some_edges() {
    let mut random = Random::new(6);
    let bits: Vec<bool> = (0..200).map(|_| random.below(2) == 1).collect();
    let follow = |model: &mut Model, input: &str, output: &str, stages: usize| {
        for (at, &bit) in bits.iter().enumerate() {
            model.set(input, bit);
            model.clock();
            if at + 1 >= stages {
                assert_eq!(model.bit(output), bits[at + 1 - stages]);
            }
        }
    };
    follow(&mut RESET_SYNC.model(), "rst_ni", "rst_no", 2);
    let mut model = BIT_SYNC_3.model();
    model.reset();
    assert!(model.bit("bit_o"));
    follow(&mut model, "bit_i", "bit_o", 3);
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
            // 70 bits: the top word has six.
            Some(word) if write => *word = if index == 2 { data & 0x3f } else { data },
            _ => (),
        }
        let low = u64::from(expected[1]) << 32 | u64::from(expected[0]);
        assert_eq!(value(&model), [low, expected[2].into()], "round {round}");
    }
}

/// A register file of four words behind the port. Word 3 refuses reads and writes.
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
        let whole = bench.model.bit("write_whole_o");
        bench.model.set("write_refused_i", write_word == 3 || !whole);
        bench.model.set("read_refused_i", read_word == 3);
        bench.model.set("read_data_i", 0x1000 + read_word);
        bench.step_watching(|model| {
            if model.bit("write_o") && model.bit("write_whole_o") {
                seen.push((model.get_u64("write_address_o"), model.get_u64("write_data_o")));
            }
        });
    }
    assert_eq!(seen, writes);
    assert!(bench.received(written).iter().map(|transfer| transfer.fields[0][0]).eq(responses));
    let read = bench.received(read).iter().map(|transfer| (transfer.fields[0][0], transfer.fields[1][0]));
    assert!(read.eq(reads));
}
