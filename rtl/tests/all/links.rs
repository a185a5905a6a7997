//! The wires of the ballot machine and the links over them (`rtl/links`): bytes and messages arrive
//! once and in order, over lines with bit errors, between ends that are reset, silent, slow or send
//! too much.

use std::cell::Cell;

use crate::wires::{End, Fault, Pair, Wires, crc32, frame};
use hearith_rtl::{SPI_CONTROLLER, SPI_PERIPHERAL, UART_LINK, UART_RX, UART_RX_24, UART_TX};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};

// ---- bytes over a serial line -------------------------------------------------------------------

/// The levels of bytes on the line, one per cycle, with `period` cycles per bit.
fn levels(bytes: impl IntoIterator<Item = u8>, period: f64) -> Vec<bool> {
    let byte = |byte: u8| [false].into_iter().chain((0..8).map(move |at| byte >> at & 1 == 1)).chain([true]);
    let bits: Vec<bool> = bytes.into_iter().flat_map(byte).collect();
    (0..(bits.len() as f64 * period) as usize).map(|cycle| bits[(cycle as f64 / period) as usize]).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bytes_go_onto_the_line_as_the_form_says() {
    for pressure in [Pressure::None, Pressure::Random(3)] {
        let mut bench = Bench::new(UART_TX.model(), 1);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
        bench.set_source_pressure(source, pressure);
        (0..256).for_each(|byte| bench.push(source, &[&[byte]]));
        let mut line = Vec::new();
        while bench.queued(source) > 0 || line.len() < 110 + *bench.taken(source).last().unwrap() as usize {
            bench.step_watching(|model| line.push(model.bit("tx_o")));
        }
        let taken = bench.taken(source).to_vec();
        if pressure == Pressure::None {
            assert!(taken.windows(2).all(|pair| pair[1] - pair[0] == 110), "a byte every ten bits");
        }
        let mut expected = vec![true; line.len()];
        for (byte, start) in (0..=255).zip(taken) {
            let place = start as usize + 1;
            levels([byte], 11.0).into_iter().enumerate().filter(|(at, _)| place + at < line.len()).for_each(
                |(at, level)| {
                    expected[place + at] = level;
                },
            );
        }
        assert!(line == expected);
    }
}

/// Sends levels to a receiver, and returns the bytes, framing errors, overruns and cycles.
fn hear(levels: impl IntoIterator<Item = bool>, pressure: Pressure) -> (Vec<u64>, u32, u32, Vec<u64>) {
    heard_by(&UART_RX, levels, pressure)
}

/// The same with another receiver.
fn heard_by(
    design: &'static Design,
    levels: impl IntoIterator<Item = bool>,
    pressure: Pressure,
) -> (Vec<u64>, u32, u32, Vec<u64>) {
    let mut bench = Bench::new(design.model(), 2);
    bench.model.set("rx_i", true);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    bench.set_sink_pressure(sink, pressure);
    let (mut framing, mut overrun) = (0, 0);
    let quiet = std::iter::repeat_n(true, 60);
    for level in quiet.clone().chain(levels).chain(quiet) {
        bench.model.set("rx_i", level);
        bench.step_watching(|model| {
            framing += u32::from(model.bit("framing_o"));
            overrun += u32::from(model.bit("overrun_o"));
        });
    }
    let bytes = bench.received(sink).iter().map(|transfer| transfer.fields[0][0]).collect();
    let cycles = bench.received(sink).iter().map(|transfer| transfer.cycle).collect();
    (bytes, framing, overrun, cycles)
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bytes_are_heard_with_clocks_that_differ_and_samples_that_lie() {
    let all: Vec<u64> = (0..256).collect();
    // The sender's bits are up to four percent shorter or longer than the receiver's 40 cycles.
    for period in [38.4, 40.0, 41.6] {
        let (bytes, framing, overrun, cycles) = hear(levels(0..=255, period), Pressure::None);
        assert_eq!((bytes, framing, overrun), (all.clone(), 0, 0), "{period} cycles");
        if period == 40.0 {
            let expected = (0..256).map(|byte| 60 + 400 * byte + 2 + 9 * 40 + 20 + 2);
            assert!(cycles.into_iter().eq(expected));
        }
    }
    // The same with the fewest cycles per bit for which four percent are promised.
    for tenths_of_a_percent in (-40..=40).step_by(4) {
        let period = 24.0 * (1.0 + f64::from(tenths_of_a_percent) / 1000.0);
        let (bytes, framing, overrun, _) = heard_by(&UART_RX_24, levels(0..=255, period), Pressure::None);
        assert_eq!((bytes, framing, overrun), (all.clone(), 0, 0), "{period} cycles");
    }
    // Received bytes may be accepted slowly.
    assert_eq!(hear(levels(0..=255, 40.0), Pressure::Random(9)).0, all);
    // One of the three samples of every bit is wrong, except around the edge that starts the first
    // byte.
    let spoil = |(at, level)| level ^ (at > 40 && at % 40 == [11, 21, 31][at / 40 % 3]);
    let spoiled = levels(0..=255, 40.0).into_iter().enumerate().map(spoil);
    assert_eq!(hear(spoiled, Pressure::None).0, all);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_line_that_breaks_the_form_is_reported() {
    // A break: no byte, one error, and the byte after it is received.
    let after_break = std::iter::repeat_n(false, 1800).chain(std::iter::repeat_n(true, 80)).chain(levels([0x5a], 40.0));
    let (bytes, framing, overrun, _) = hear(after_break, Pressure::None);
    assert_eq!((bytes, framing, overrun), (vec![0x5a], 1, 0));
    // A start bit that is too short is ignored.
    let glitch = std::iter::repeat_n(false, 12).chain(std::iter::repeat_n(true, 80)).chain(levels([0xc3], 40.0));
    assert_eq!(hear(glitch, Pressure::None).0, [0xc3]);
    // Bytes that are not accepted: the first is kept, and the others are reported.
    let (bytes, _, overrun, _) = hear(levels(1..5, 40.0), Pressure::Stalled);
    assert_eq!((bytes.len(), overrun), (0, 3));
}

// ---- bytes over the peripheral interface --------------------------------------------------------

/// A controller and a peripheral with joined wires. Each step is one cycle of both.
struct Spi {
    controller: Bench,
    peripheral: Bench,
}

impl Spi {
    fn step(&mut self) {
        for wire in ["cs_n", "sck", "copi"] {
            let output = if wire == "cs_n" { "cs_no".into() } else { format!("{wire}_o") };
            let input = if wire == "cs_n" { "cs_ni".into() } else { format!("{wire}_i") };
            let level = self.controller.model.bit(&output);
            self.peripheral.model.set(&input, level);
        }
        let level = self.peripheral.model.bit("cipo_o");
        self.controller.model.set("cipo_i", level);
        self.controller.step();
        self.peripheral.step();
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bytes_are_exchanged() {
    for (seed, pressure) in [(1, Pressure::None), (2, Pressure::Random(9))] {
        let mut spi = Spi {
            controller: Bench::new(SPI_CONTROLLER.model(), seed),
            peripheral: Bench::new(SPI_PERIPHERAL.model(), seed),
        };
        spi.peripheral.model.set("cs_ni", true);
        let out = spi.controller.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let back = spi.controller.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        let given = spi.peripheral.source("in_valid_i", "in_ready_o", &["in_data_i"]);
        let heard = spi.peripheral.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        spi.controller.set_source_pressure(out, pressure);
        spi.controller.set_sink_pressure(back, pressure);
        spi.peripheral.set_source_pressure(given, pressure);
        let mut random = Random::new(seed);
        let sent: Vec<u64> = (0..200).map(|_| random.below(256)).collect();
        let answers: Vec<u64> = (0..60).map(|_| random.below(0x7e)).collect();
        for (at, &byte) in sent.iter().enumerate() {
            let last = random.below(4) == 0 || at + 1 == sent.len();
            spi.controller.push(out, &[&[byte], &[u64::from(last)]]);
        }
        answers.iter().for_each(|&byte| spi.peripheral.push(given, &[&[byte]]));
        while spi.controller.received(back).len() < sent.len() {
            spi.step();
            assert!(!spi.peripheral.model.bit("short_o") && !spi.peripheral.model.bit("overrun_o"));
            assert!(spi.controller.cycle() < 200_000);
        }
        (0..40).for_each(|_| spi.step());
        assert!(spi.peripheral.received(heard).iter().map(|item| item.fields[0][0]).eq(sent.iter().copied()));
        // The waiting bytes arrive in order, with idle bytes between them.
        let returned = spi.controller.received(back).iter().map(|item| item.fields[0][0]);
        assert!(returned.filter(|&byte| byte != 0x7e).eq(answers.iter().copied()));
        assert!(spi.controller.model.bit("cs_no"));
        if pressure == Pressure::None {
            let starts = spi.controller.taken(out);
            assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 80), "16 halves of 5 cycles");
            assert_eq!(spi.controller.received(back)[0].cycle - starts[0], 81);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_byte_that_is_cut_short_is_dropped_and_reported() {
    let mut bench = Bench::new(SPI_PERIPHERAL.model(), 1);
    bench.model.set("cs_ni", true);
    let given = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
    let heard = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    bench.push(given, &[&[0x42]]);
    let short = Cell::new(0);
    let exchange = |bench: &mut Bench, byte: u8, bits: u32| {
        let mut back = 0_u8;
        let run = |bench: &mut Bench| {
            (0..6).for_each(|_| bench.step_watching(|model| short.set(short.get() + u32::from(model.bit("short_o")))));
        };
        bench.model.set("cs_ni", false);
        for at in 0..bits {
            bench.model.set("copi_i", byte >> (7 - at) & 1 == 1);
            run(bench);
            back = back << 1 | u8::from(bench.model.bit("cipo_o"));
            bench.model.set("sck_i", true);
            run(bench);
            bench.model.set("sck_i", false);
        }
        run(bench);
        bench.model.set("cs_ni", true);
        run(bench);
        back
    };
    bench.idle(5);
    exchange(&mut bench, 0xff, 5);
    assert_eq!(exchange(&mut bench, 0x81, 8), 0x42, "what was not sent waits");
    assert_eq!(exchange(&mut bench, 0x18, 8), 0x7e, "and then there is nothing");
    // The next bytes are not accepted.
    assert!(bench.received(heard).iter().map(|item| item.fields[0][0]).eq([0x81, 0x18]));
    assert_eq!(short.get(), 1);
    bench.set_sink_pressure(heard, Pressure::Stalled);
    exchange(&mut bench, 1, 8);
    let mut overrun = 0;
    for at in 0..110 {
        bench.model.set("cs_ni", at > 100);
        bench.model.set("sck_i", at / 6 % 2 == 1);
        bench.step_watching(|model| overrun += u32::from(model.bit("overrun_o")));
    }
    assert_eq!(overrun, 1);
}

// ---- messages -----------------------------------------------------------------------------------

/// Messages in both directions over a line with a rate of wrong bits, and resets every `resets`
/// cycles on average. Between resets each message arrives once and in order, and no reset loses
/// one.
fn arrives(wires: Wires, rate: f64, resets: Option<u64>, messages: usize, limit: u64) -> Pair {
    let mut pair = Pair::new(wires, 1 + (rate * 1e6) as u64, rate);
    let mut random = Random::new(77);
    for end in &mut pair.ends {
        for number in 0..messages as u64 {
            let words = 1 + random.below(5);
            end.send((0..words).map(|at| if at == 0 { number } else { random.next() & 0xffff_ffff }).collect());
        }
        end.pressure([Pressure::None, Pressure::Random(20)][usize::from(rate > 0.0)]);
    }
    while !pair.is_done() {
        assert!(pair.cycle < limit, "{wires:?} at {rate}: {:?} arrived", pair.arrived());
        if resets.is_some_and(|every| random.below(every) == 0) {
            let end = random.below(2) as usize;
            pair.reset(end);
        }
        pair.step();
    }
    pair
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn messages_arrive_once_and_in_order() {
    for wires in [Wires::Uart, Wires::Spi] {
        let pair = arrives(wires, 0.0, None, 12, 400_000);
        assert!(pair.ends.iter().all(|end| end.up() && end.faults.is_empty() && end.doubled == 0), "{wires:?}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn messages_arrive_over_noisy_lines() {
    for wires in [Wires::Uart, Wires::Spi] {
        for (rate, messages, limit) in
            [(1e-6, 6, 200_000), (1e-4, 6, 200_000), (1e-3, 6, 400_000), (1e-2, 1, 1_500_000)]
        {
            let pair = arrives(wires, rate, None, messages, limit);
            assert!(pair.ends.iter().all(|end| end.doubled == 0), "{wires:?} at {rate}");
            if rate >= 1e-2 {
                assert!(pair.ends.iter().any(|end| end.faults.contains(&Fault::BadFrame)), "{wires:?} saw its noise");
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn messages_arrive_over_resets() {
    for wires in [Wires::Uart, Wires::Spi] {
        for rate in [0.0, 1e-3] {
            let pair = arrives(wires, rate, Some(9_000), 6, 1_000_000);
            assert!(pair.resets > 0 && pair.ends.iter().any(|end| end.faults.contains(&Fault::PartnerReset)));
        }
    }
}

#[test]
#[ignore = "a long test: hours of a noisy line"]
#[cfg_attr(not(verilator), allow(unused))]
fn messages_arrive_over_very_noisy_lines_and_resets() {
    for wires in [Wires::Uart, Wires::Spi] {
        arrives(wires, 1e-2, Some(400_000), 40, 100_000_000);
        arrives(wires, 1e-3, Some(10_000), 200, 100_000_000);
        arrives(wires, 1e-6, None, 3000, 100_000_000);
    }
}

/// The first end is reset when the second has just learned its tag and begins to greet it. So the
/// first end knows the second, but its own greeting is lost, and the second keeps the former tag.
/// Both must still find each other.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn messages_arrive_after_a_reset_that_the_partner_did_not_see() {
    for wires in [Wires::Uart, Wires::Spi] {
        let mut unseen = 0;
        for offset in (0..2000).step_by(20) {
            let mut pair = Pair::new(wires, 5, 0.0);
            pair.cut[1] = true;
            pair.run(offset);
            pair.reset(1);
            while !pair.ends[1].up() {
                pair.step();
            }
            pair.reset(0);
            pair.cut = [true, false];
            pair.run(5000);
            pair.cut[0] = false;
            unseen += u64::from(pair.ends.iter().all(End::up));
            pair.ends.iter_mut().for_each(|end| end.send(vec![offset, 1]));
            while !pair.is_done() {
                assert!(pair.cycle < 200_000, "{wires:?}, offset {offset}: {:?} arrived", pair.arrived());
                pair.step();
            }
        }
        // Over SPI, frames of both ends move together, and the case does not occur.
        assert!(unseen > 0 || matches!(wires, Wires::Spi));
    }
}

// ---- partners that misbehave --------------------------------------------------------------------

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_silent_partner_is_reported() {
    for wires in [Wires::Uart, Wires::Spi] {
        let mut pair = Pair::new(wires, 3, 0.0);
        pair.ends[0].send(vec![1, 2]);
        pair.cut = [true; 2];
        pair.run(45_000);
        assert_eq!(pair.ends[0].faults, [Fault::Silent], "{wires:?}");
        assert!(!pair.ends[0].up());
        // The message is kept until the partner is back.
        pair.cut = [false; 2];
        pair.run(60_000);
        assert!(pair.ends[0].up() && pair.is_done(), "{wires:?}");
        // A partner that disappears later is noticed too.
        pair.cut = [true; 2];
        pair.ends[0].send(vec![3]);
        pair.run(60_000);
        assert!(!pair.ends[0].up() && pair.ends[0].faults.iter().filter(|&&fault| fault == Fault::Silent).count() >= 2);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_slow_taker_is_not_taken_to_be_gone() {
    for wires in [Wires::Uart, Wires::Spi] {
        let mut pair = Pair::new(wires, 4, 0.0);
        pair.ends[1].pressure(Pressure::Stalled);
        (0..3).for_each(|number| pair.ends[0].send(vec![number, 7]));
        pair.run(120_000);
        assert!(pair.ends[0].up() && pair.ends[0].faults.is_empty() && pair.ends[0].delivered == 0, "{wires:?}");
        assert!(pair.ends[1].faults.is_empty());
        pair.ends[1].pressure(Pressure::None);
        pair.run(60_000);
        assert!(pair.is_done() && pair.ends[1].doubled == 0);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn each_bad_frame_has_its_code() {
    let mut end = End::new(Bench::new(UART_LINK.model(), 5), 0xaaaa, Wires::Uart);
    let say = |end: &mut End, bytes: &[u8]| {
        end.faults.clear();
        end.hear(bytes);
        end.hear_level(true, 100);
        std::mem::take(&mut end.faults)
    };
    let partner = |kind: u32, sequence: u32, words: &[u32]| {
        frame(&[&[(words.len() as u32) << 16 | sequence << 8 | kind, 0xaaaa_0007], words].concat())
    };
    assert_eq!(say(&mut end, &frame(&[1, 0x0007])), [], "a Hello");
    assert!(end.up());
    let good = partner(3, 0, &[0x7e7d_7e7d, 5]);
    let mut wrong = good.clone();
    wrong[9] ^= 1;
    assert_eq!(say(&mut end, &wrong), [Fault::BadFrame]);
    assert_eq!(say(&mut end, &good[..9]), []);
    assert_eq!(say(&mut end, &[0x7e]), [Fault::BadFrame], "cut short");
    assert_eq!(say(&mut end, &[0x7e, 0x7d, 0x7e]), [Fault::BadFrame], "an escape left open");
    assert_eq!(say(&mut end, &[1, 0x7e]), [Fault::BadFrame], "no whole word");
    assert_eq!(say(&mut end, &frame(&[3 << 16 | 3, 0xaaaa_0007, 1, 2])), [Fault::WrongLength]);
    assert_eq!(say(&mut end, &partner(3, 0, &[])), [Fault::WrongLength], "no message");
    assert_eq!(say(&mut end, &frame(&[4])), [Fault::WrongLength], "no tags");
    assert_eq!(say(&mut end, &partner(9, 0, &[])), [Fault::UnknownKind]);
    assert_eq!(say(&mut end, &partner(0, 0, &[])), [Fault::UnknownKind]);
    assert_eq!(say(&mut end, &partner(3, 0, &[1, 2, 3, 4, 5, 6, 7])), [Fault::FrameTooLong]);
    assert_eq!(say(&mut end, &partner(3, 2, &[1])), [Fault::Sequence]);
    // None of these was accepted, nor are frames for another end or from one.
    assert_eq!(say(&mut end, &frame(&[1 << 16 | 3, 0xaaab_0007, 1])), []);
    assert_eq!(say(&mut end, &frame(&[1 << 16 | 3, 0xaaaa_0008, 1])), []);
    assert!(end.received().is_empty());
    assert_eq!(say(&mut end, &good), []);
    assert_eq!(end.received(), [vec![0x7e7d_7e7d, 5]]);
    assert_eq!(say(&mut end, &good), [], "once more: acknowledged, and not taken again");
    assert_eq!(end.received().len(), 1);
    // A partner that does not wait for its acknowledgement.
    end.pressure(Pressure::Stalled);
    assert_eq!(say(&mut end, &partner(3, 1, &[8])), []);
    assert_eq!(say(&mut end, &partner(3, 2, &[9])), [Fault::Flooding]);
    assert_eq!(say(&mut end, &frame(&[1, 0x0009])), [Fault::PartnerReset]);
    // A fault of the line itself.
    end.faults.clear();
    end.hear_level(false, 400);
    end.hear_level(true, 100);
    assert!(end.faults.contains(&Fault::Line));
    // A flood of bytes that are no frames causes one report, and the link goes on.
    end.pressure(Pressure::None);
    assert_eq!(say(&mut end, &[0x55; 300]).len(), 1);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_message_that_is_too_long_is_dropped_whole() {
    let mut pair = Pair::new(Wires::Uart, 6, 0.0);
    pair.ends[0].send_unexpected((0..9).collect());
    pair.ends[0].send((0..6).collect());
    pair.run(60_000);
    assert!(pair.is_done());
    assert_eq!(pair.ends[0].faults, [Fault::LongMessage]);
}

#[test]
fn checksums_are_those_of_ieee_802_3() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}
