//! Blocks between two clock domains: every item and every event crosses once, in order, for any
//! ratio and phase of the clocks.

use std::collections::VecDeque;

use hearith_rtl::{PULSE_SYNC, STREAM_CDC_4, STREAM_CDC_8, STREAM_CDC_16};
use hearith_verilated::bench::Random;
use hearith_verilated::{Design, Model};

/// Two clocks with independent rising edges.
struct Clocks {
    names: [&'static str; 2],
    /// In units of time.
    periods: [u64; 2],
    next: [u64; 2],
}

/// Periods of the source's and the receiver's clock. A prime near 100 makes every phase occur.
const PERIODS: [[u64; 2]; 7] = [[100, 100], [97, 100], [100, 97], [100, 31], [31, 100], [100, 913], [913, 100]];

impl Clocks {
    fn new(names: [&'static str; 2], periods: [u64; 2], phase: u64) -> Self {
        Self { names, periods, next: [0, phase] }
    }

    /// The clocks whose edge comes next; both if they coincide.
    fn rising(&self) -> [bool; 2] {
        let now = self.next[0].min(self.next[1]);
        self.next.map(|next| next == now)
    }

    /// Applies the next edge.
    fn rise(&mut self, model: &mut Model) {
        let rising = self.rising();
        for clock in [0, 1] {
            if rising[clock] {
                model.set(self.names[clock], true);
                self.next[clock] += self.periods[clock];
            }
        }
        model.eval();
        self.names.iter().for_each(|name| model.set(name, false));
        model.eval();
    }
}

/// True in `share` of 256 cycles, at random.
fn acts(random: &mut Random, share: u64) -> bool {
    random.below(256) < share
}

/// Sends `items`, and returns the times at which they were received. Checks the stream contract at
/// the output.
fn cross(model: &mut Model, clocks: &mut Clocks, random: &mut Random, items: &[u64], shares: [u64; 2]) -> Vec<u64> {
    let (mut sent, mut offering, mut ready) = (0, false, false);
    let (mut received, mut times) = (Vec::new(), Vec::new());
    let mut waiting = None;
    for _ in 0..400_000 {
        if received.len() == items.len() {
            break;
        }
        let [source, taker] = clocks.rising();
        let now = clocks.next[0].min(clocks.next[1]);
        // Each side's action was decided after its last edge. The model is sampled before this
        // edge.
        let valid = model.bit("out_valid_o");
        let data = model.get_u64("out_data_o");
        if taker {
            if let Some(waiting) = waiting {
                assert!(valid && data == waiting, "an item did not stay");
            }
            waiting = (valid && !ready).then_some(data);
            if valid && ready {
                received.push(data);
                times.push(now);
            }
        }
        let taken = source && offering && model.bit("in_ready_o");
        clocks.rise(model);
        if source {
            sent += usize::from(taken);
            offering = sent < items.len() && (offering && !taken || acts(random, shares[0]));
            model.set("in_valid_i", offering);
            model.set("in_data_i", if offering { items[sent] } else { random.below(1 << 16) });
        }
        if taker {
            ready = acts(random, shares[1]);
            model.set("out_ready_i", ready);
        }
        model.eval();
    }
    assert_eq!(received, items);
    model.set("in_valid_i", false);
    model.set("out_ready_i", false);
    times
}

fn reset(model: &mut Model, clocks: &mut Clocks, names: &[&str]) {
    names.iter().for_each(|name| model.set(name, false));
    model.eval();
    let end = clocks.next[0].max(clocks.next[1]) + 7 * clocks.periods[0].max(clocks.periods[1]);
    while clocks.next[0].min(clocks.next[1]) < end {
        clocks.rise(model);
    }
    // Each side obeys the other's reset once it has seen it.
    assert!(!model.bit("in_ready_o") && !model.bit("out_valid_o"));
    // The reset ends at an edge of its own clock, as if synchronised to it.
    for name in names {
        let clock = usize::from(name.starts_with("out"));
        while !clocks.rising()[clock] {
            clocks.rise(model);
        }
        clocks.rise(model);
        model.set(name, true);
        model.eval();
    }
}

fn crosses(design: &'static Design) {
    for periods in PERIODS {
        for (round, shares) in (0..).zip([[256, 256], [256, 60], [60, 256], [100, 100]]) {
            let mut random = Random::new(round);
            let mut model = design.model();
            let mut clocks = Clocks::new(["in_clk_i", "out_clk_i"], periods, random.below(100));
            reset(&mut model, &mut clocks, &["in_rst_ni", "out_rst_ni"]);
            // Repeats after a reset of only one side, with items in transit.
            for names in [&["in_rst_ni"], &["out_rst_ni"], &["in_rst_ni"]] {
                let items: Vec<u64> = (0..150).map(|_| random.below(1 << 16)).collect();
                cross(&mut model, &mut clocks, &mut random, &items, shares);
                // Leaves some items inside.
                model.set("in_valid_i", true);
                (0..40).for_each(|_| clocks.rise(&mut model));
                model.set("in_valid_i", false);
                reset(&mut model, &mut clocks, names);
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn streams_cross_from_clock_to_clock() {
    crosses(&STREAM_CDC_4);
    crosses(&STREAM_CDC_8);
    crosses(&STREAM_CDC_16);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_deep_crossing_passes_an_item_a_cycle() {
    // Two stages with eight entries, and three with sixteen: at least 2 Stages + 4.
    for (design, stages) in [(&STREAM_CDC_8, 2), (&STREAM_CDC_16, 3)] {
        let (mut model, mut random) = (design.model(), Random::new(4));
        let mut clocks = Clocks::new(["in_clk_i", "out_clk_i"], [100, 100], 40);
        reset(&mut model, &mut clocks, &["in_rst_ni", "out_rst_ni"]);
        for _ in 0..20 {
            clocks.rise(&mut model);
        }
        let items: Vec<u64> = (0..100).collect();
        let start = clocks.next[0];
        let times = cross(&mut model, &mut clocks, &mut random, &items, [256, 256]);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 100), "{times:?}");
        // Decided at `start`, accepted an edge later, offered after Stages + 1 or Stages + 2 edges
        // of the other clock.
        let latency = (times[0] - start - 100) / 100;
        assert!((stages + 1..=stages + 2).contains(&latency), "{latency}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_event_crosses_once() {
    for periods in PERIODS {
        for share in [256, 30] {
            let (mut model, mut random) = (PULSE_SYNC.model(), Random::new(share));
            let mut clocks = Clocks::new(["src_clk_i", "dst_clk_i"], periods, random.below(100));
            for _ in 0..60 {
                clocks.rise(&mut model);
            }
            model.set("src_rst_ni", true);
            model.set("dst_rst_ni", true);
            model.eval();
            // The times at which events were accepted that the other side has not seen yet.
            let (mut under_way, mut sent, mut last) = (VecDeque::new(), 0, 0);
            while sent < 200 || !under_way.is_empty() {
                let [source, taker] = clocks.rising();
                let now = clocks.next[0].min(clocks.next[1]);
                if taker && model.bit("pulse_o") {
                    let taken: u64 = under_way.pop_front().expect("an event that was sent");
                    // Two or three flip-flops of the other clock, plus the cycle in which the event
                    // is seen.
                    let edges = (now - taken).div_ceil(periods[1]);
                    assert!((3..=5).contains(&edges), "{edges} edges");
                    last = now;
                }
                if source && model.bit("pulse_i") && model.bit("ready_o") {
                    // The previous event may still be visible.
                    assert!(under_way.len() <= 1);
                    under_way.push_back(now);
                    sent += 1;
                }
                clocks.rise(&mut model);
                if source {
                    let pulse = sent < 200 && acts(&mut random, share);
                    model.set("pulse_i", pulse);
                    model.eval();
                }
                assert!(now < last + 400 * periods[0].max(periods[1]), "no event comes any more");
            }
            // No further event may occur.
            for _ in 0..40 {
                clocks.rise(&mut model);
                assert!(!model.bit("pulse_o"));
            }
        }
    }
}
