//! The bench's own models of buses: they accept correct behaviour under any pressure, and catch
//! every violation.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hearith_rtl::{AXI_COPY, AXIL_WORDS, AXIS_PASS};
use hearith_verilated::bench::{
    AxiLite, AxiMemory, Bench, BusError, MemorySettings, PacketSink, PacketSource, Pressure, Random, Response,
};

const PRESSURES: [Pressure; 4] = [Pressure::None, Pressure::Random(150), Pressure::Random(40), Pressure::AfterValid];

/// The bench's panic message for a design that breaks a rule.
fn complaint(broken: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(broken)).expect_err("a broken rule is caught");
    panic.downcast_ref::<String>().cloned().unwrap_or_else(|| (*panic.downcast::<&str>().unwrap()).to_string())
}

// AXI4-Lite.

fn words(seed: u64, fault: u64) -> (Bench, AxiLite) {
    let mut bench = Bench::new(AXIL_WORDS.model(), seed);
    let bus = bench.axi_lite("axil_");
    bench.model.set("fault_i", fault);
    (bench, bus)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_axi_lite_manager_writes_and_reads() {
    let (mut bench, bus) = words(1, 0);
    assert_eq!(bench.write(bus, 8, 0x1234_5678), Ok(()));
    assert_eq!(bench.read(bus, 8), Ok(0x1234_5678));
    bench.queue_write(bus, 8, 0xffff_ffff, 0b0101);
    assert_eq!(bench.write(bus, 0x20, 1), Err(BusError::Refused(Response::SubordinateError)));
    assert_eq!(bench.read(bus, 8), Ok(0x12ff_56ff));
    assert_eq!(bench.read(bus, 0x84), Err(BusError::Refused(Response::DecodeError)));
    assert_eq!(bench.write_answers(bus), [Response::Okay, Response::Okay, Response::SubordinateError]);
    assert_eq!(bench.read_answers(bus).len(), 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn its_five_channels_stall_on_their_own() {
    for (round, pressure) in (0..).zip(PRESSURES) {
        let (mut bench, bus) = words(round, 0);
        bench.set_axi_lite_pressure(bus, pressure);
        // Addresses arrive long before or long after their data.
        match round % 2 {
            0 => bench.set_source_pressure(bus.write_address, Pressure::Random(20)),
            _ => bench.set_source_pressure(bus.write_data, Pressure::Random(20)),
        }
        let mut random = Random::new(round);
        let mut expected = Vec::new();
        for _ in 0..200 {
            let (address, value) = (4 * random.below(16), random.next() & 0xffff_ffff);
            bench.queue_write(bus, address, value, 0xf);
            expected.push((address, value));
            bench.queue_read(bus, 4 * random.below(8));
        }
        bench.run_until(60_000, |bench| bench.axi_lite_is_idle(bus));
        let answers = expected.iter().map(|&(address, _)| match address < 0x20 {
            true => Response::Okay,
            false => Response::SubordinateError,
        });
        assert!(bench.write_answers(bus).iter().copied().eq(answers));
        assert!(bench.read_answers(bus).iter().all(|answer| answer.response == Response::Okay));
        for address in (0..0x20).step_by(4) {
            let last = expected.iter().rev().find(|write| write.0 == address).expect("there are many");
            assert_eq!(bench.read(bus, address), Ok(last.1));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn it_writes_and_reads_at_the_same_time() {
    let (mut bench, bus) = words(5, 0);
    bench.set_sink_pressure(bus.write_response, Pressure::Stalled);
    bench.queue_write(bus, 0, 7, 0xf);
    assert_eq!(bench.write(bus, 4, 8), Err(BusError::Silent(1000)));
    assert!(bench.read(bus, 0).is_ok());
    bench.set_sink_pressure(bus.write_response, Pressure::None);
    bench.run_until(100, |bench| bench.axi_lite_is_idle(bus));
    assert_eq!(bench.read(bus, 4), Ok(8));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn it_catches_a_broken_subordinate() {
    let broken = |fault| {
        complaint(|| {
            let (mut bench, bus) = words(9, fault);
            bench.set_axi_lite_pressure(bus, Pressure::Random(60));
            for word in 0..20 {
                bench.queue_write(bus, 4 * (word % 8), word, 0xf);
                bench.queue_read(bus, 4 * (word % 8));
            }
            bench.run_until(5000, |bench| bench.axi_lite_is_idle(bus));
        })
    };
    assert!(broken(1).contains("answers a write whose address or data was not taken"), "{}", broken(1));
    assert!(broken(2).contains("axil_bvalid_o was withdrawn"), "{}", broken(2));
    assert!(broken(3).contains("the item at axil_rvalid_o changed"), "{}", broken(3));
    assert!(broken(4).contains("answers a read whose address was not taken"), "{}", broken(4));
    // With ready at random, an offer that depends on ready shows only when ready falls again.
    let (mut bench, bus) = words(9, 5);
    bench.set_sink_pressure(bus.read_data, Pressure::AfterValid);
    assert_eq!(bench.read(bus, 0), Err(BusError::Silent(1000)));
    assert!(broken(6).contains("no EXOKAY"), "{}", broken(6));
    let (mut bench, bus) = words(9, 7);
    assert_eq!(bench.read(bus, 0), Err(BusError::Silent(1000)));
    // After a reset it works again.
    bench.model.set("fault_i", 0_u64);
    bench.reset();
    assert_eq!(bench.write(bus, 0, 3).and_then(|()| bench.read(bus, 0)), Ok(3));
}

// AXI4-Stream.

fn pass(seed: u64, fault: u64) -> (Bench, PacketSource, PacketSink) {
    let mut bench = Bench::new(AXIS_PASS.model(), seed);
    let (source, sink) = (bench.packet_source("s_axis_"), bench.packet_sink("m_axis_", 8));
    bench.model.set("fault_i", fault);
    (bench, source, sink)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn packets_pass_whole() {
    for (round, pressure) in (0..).zip(PRESSURES) {
        let (mut bench, source, sink) = pass(round, 0);
        bench.set_source_pressure(source.source(), pressure);
        bench.set_sink_pressure(sink.sink(), pressure);
        let mut random = Random::new(round);
        let packets: Vec<Vec<u8>> =
            (0..50).map(|_| (0..=random.below(32)).map(|_| random.next() as u8).collect()).collect();
        packets.iter().for_each(|packet| bench.send(source, packet));
        let received = bench.run_packets(sink, packets.len(), 10_000);
        assert!(received.iter().map(|packet| &packet.bytes).eq(&packets));
        assert!(received.windows(2).all(|pair| pair[0].last < pair[1].first));
        // Every kind of cycle occurs if there was pressure.
        let (counts, beats) =
            (bench.sink_counts(sink.sink()), packets.iter().map(|packet| packet.len().div_ceil(4) as u64));
        assert_eq!(counts.transfers, beats.clone().sum::<u64>());
        match pressure {
            Pressure::None => assert_eq!((counts.waiting, counts.back_to_back), (0, counts.transfers - 1)),
            Pressure::AfterValid => {
                assert_eq!((counts.waiting, counts.starved, counts.back_to_back), (counts.transfers, 0, 0))
            }
            _ => assert!(counts.waiting > 20 && counts.starved > 20),
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_broken_stream_is_caught() {
    let broken = |fault| {
        complaint(|| {
            let (mut bench, source, sink) = pass(3, fault);
            bench.set_sink_pressure(sink.sink(), Pressure::Random(60));
            (0..20).for_each(|_| bench.send(source, &[7; 20]));
            bench.run_packets(sink, 20, 2000);
        })
    };
    assert!(broken(1).contains("no tlast within 8 beats at m_axis_tvalid"), "{}", broken(1));
    assert!(broken(2).contains("m_axis_tvalid was withdrawn"), "{}", broken(2));
    assert!(broken(3).contains("the item at m_axis_tvalid changed"), "{}", broken(3));
    assert!(broken(4).contains("tkeep of m_axis_tvalid has a gap"), "{}", broken(4));
    assert!(broken(5).contains("no tlast within 8 beats"), "{}", broken(5));
    let short = complaint(|| {
        let (mut bench, source, sink) = pass(3, 1);
        bench.send(source, &[7; 20]);
        bench.run_packets(sink, 1, 100);
    });
    assert!(short.contains("0 of 1 packets within 100 cycles, and 5 beats of the next"), "{short}");
}

// AXI4.

const BASE: u64 = 0x4000_0000;
const INCR: u64 = 1;
const WRAP: u64 = 2;

fn copier(seed: u64, settings: MemorySettings) -> (Bench, AxiMemory) {
    let mut bench = Bench::new(AXI_COPY.model(), seed);
    let memory = bench.axi_memory("m_axi_", BASE, 0x4000, settings);
    let bytes = bench.random().bits(8 * 0x4000).into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    bench.content_mut(memory).copy_from_slice(&bytes);
    (bench, memory)
}

/// Copies a burst. Returns whether the design saw an error, and the number of cycles.
fn copy(bench: &mut Bench, from: u64, to: u64, beats: u64, size: u64, kind: u64) -> (bool, u64) {
    for (port, value) in [("from_i", from), ("to_i", to), ("beats_i", beats - 1), ("size_i", size), ("kind_i", kind)] {
        bench.model.set(port, value);
    }
    let start = bench.cycle();
    bench.model.set("start_i", true);
    bench.step();
    bench.model.set("start_i", false);
    bench.run_until(50_000, |bench| !bench.model.bit("busy_o"));
    (bench.model.bit("failed_o"), bench.cycle() - start)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_carries_out_bursts() {
    for (round, pressure) in (0..).zip(PRESSURES) {
        let (mut bench, memory) = copier(round, MemorySettings::default());
        bench.set_memory_pressure(memory, pressure);
        let mut random = Random::new(round);
        let mut beats_in_all = 0;
        for _ in 0..40 {
            // Both bursts begin at the same offset within a beat of the bus.
            let (size, beats) = (random.below(4), 1 + random.below(16));
            let offset = random.below(8);
            let place = |random: &mut Random| 8 * random.below(0x1000 / 8 - 32) + offset;
            let (from, to) = (place(&mut random), 0x2000 + place(&mut random));
            assert!(!copy(&mut bench, BASE + from, BASE + to, beats, size, INCR).0);
            let bytes = ((offset >> size << size) + (beats << size) - offset) as usize;
            let content = bench.content(memory);
            assert_eq!(content[from as usize..][..bytes], content[to as usize..][..bytes]);
            beats_in_all += beats;
        }
        let counts = bench.memory_counts(memory);
        assert_eq!((counts.read_bursts, counts.write_bursts, counts.failed), (40, 40, 0));
        assert_eq!((counts.read_beats, counts.write_beats), (beats_in_all, beats_in_all));
        assert_eq!(counts.read_bytes, counts.write_bytes);
        bench.idle(3);
        assert!(bench.memory_is_idle(memory));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bursts_wrap_at_their_length_and_do_so_whole() {
    let (mut bench, memory) = copier(1, MemorySettings::default());
    let before = bench.content(memory).to_vec();
    assert!(!copy(&mut bench, BASE + 0x28, BASE + 0x138, 4, 3, WRAP).0);
    // 0x28, 0x30, 0x38, 0x20 go to 0x138, 0x120, 0x128, 0x130.
    let content = bench.content(memory);
    for (from, to) in [(0x28, 0x138), (0x30, 0x120), (0x38, 0x128), (0x20, 0x130)] {
        assert_eq!(before[from..][..8], content[to..][..8]);
    }
    assert_eq!((&content[..0x120], &content[0x140..]), (&before[..0x120], &before[0x140..]));
    // A burst of 256 beats.
    assert!(!copy(&mut bench, BASE + 0x800, BASE + 0x2000, 256, 3, INCR).0);
    assert_eq!(bench.content(memory)[0x2000..0x2800], before[0x800..0x1000]);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn latency_and_bandwidth_are_what_was_set() {
    let time = |settings| copy(&mut copier(2, settings).0, BASE, BASE + 0x1000, 64, 3, INCR).1;
    let base = time(MemorySettings::default());
    // A cycle per beat in each direction, plus the hand-overs.
    assert!((128..140).contains(&base), "{base}");
    // The design looks for its write response one cycle late, so one of two cycles of latency does
    // not show.
    for latency in [2, 10, 100] {
        assert_eq!(time(MemorySettings { latency, ..Default::default() }), base + 2 * (latency - 1) - 1);
    }
    for interval in [2, 3, 8] {
        // 63 intervals in each direction.
        assert_eq!(time(MemorySettings { interval, ..Default::default() }), base + 126 * (interval - 1));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn errors_come_by_address_and_at_random() {
    let (mut bench, memory) = copier(3, MemorySettings::default());
    bench.set_memory_fault(memory, BASE + 0x1010..BASE + 0x1011, Response::SubordinateError);
    let before = bench.content(memory).to_vec();
    // On a write, the one beat with that address stays unchanged.
    assert!(copy(&mut bench, BASE, BASE + 0x1000, 4, 3, INCR).0);
    let content = bench.content(memory);
    assert_eq!((&content[0x1000..0x1010], &content[0x1018..0x1020]), (&before[..0x10], &before[0x18..0x20]));
    assert_eq!(content[0x1010..0x1018], before[0x1010..0x1018]);
    // On a read, and beyond the end.
    assert!(copy(&mut bench, BASE + 0x1000, BASE, 4, 3, INCR).0);
    assert!(copy(&mut bench, BASE - 0x20, BASE, 4, 3, INCR).0);
    assert!(copy(&mut bench, BASE, BASE + 0x4000, 4, 3, INCR).0);
    assert_eq!(bench.memory_counts(memory).failed, 4);
    assert!(!copy(&mut bench, BASE + 0x20, BASE, 4, 3, INCR).0);

    let (mut bench, memory) = copier(4, MemorySettings { failing: 64, ..Default::default() });
    let failures = (0..200).filter(|_| copy(&mut bench, BASE, BASE + 0x800, 2, 3, INCR).0).count();
    // 7 of 16 copies fail: 87.5 expected, with a deviation of 7.
    assert!((60..115).contains(&failures), "{failures}");
    assert!(bench.memory_counts(memory).failed >= failures as u64);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_broken_manager_is_caught() {
    let run = |fault: u64, from: u64, beats: u64, size: u64, kind: u64| {
        complaint(|| {
            let (mut bench, memory) = copier(5, MemorySettings::default());
            bench.set_sink_pressure(memory.write_address, Pressure::Random(20));
            bench.model.set("fault_i", fault);
            for to in 1..8 {
                copy(&mut bench, BASE + from, BASE + 0x100 * to, beats, size, kind);
            }
        })
    };
    let broken = |fault| run(fault, 0, 4, 2, INCR);
    assert!(broken(1).contains("m_axi_awvalid_o was withdrawn"), "{}", broken(1));
    assert!(broken(2).contains("the item at m_axi_awvalid_o changed"), "{}", broken(2));
    assert!(broken(3).contains("wlast of m_axi_, beat 2 of 4"), "{}", broken(3));
    assert!(broken(4).contains("wlast of m_axi_, beat 3 of 4"), "{}", broken(4));
    assert!(broken(5).contains("strobe 4 outside of the bytes of m_axi_, beat 0"), "{}", broken(5));
    for (from, beats, size, kind, rule) in [
        (0xff8, 2, 3, INCR, "crosses a boundary of 4 KiB"),
        (0xffd, 2, 2, INCR, "crosses a boundary of 4 KiB"),
        (0, 4, 4, INCR, "on a bus of 8 bytes"),
        (0, 4, 3, 0, "of kind 0, which is neither INCR nor WRAP"),
        (0, 3, 3, WRAP, "cannot wrap"),
        (0, 32, 3, WRAP, "cannot wrap"),
        (4, 4, 3, WRAP, "wraps and is not aligned"),
    ] {
        let complaint = run(0, from, beats, size, kind);
        assert!(complaint.contains(rule), "{complaint}");
    }
}
