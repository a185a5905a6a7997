//! Random numbers of the ballot machine (`rtl/election`): SHA-256 compared with the standard's
//! vectors, the health tests compared with an independent implementation of the standard, and a
//! port without output after its source has failed.

use hearith_rtl::{HEALTH_TESTS, NOISE_SOURCE_PORT, SHA256};
use hearith_verilated::bench::{Bench, Pressure, Random};
use sha2::{Digest, Sha256};

/// The design's digest of a message, and the cycles from the last word to the digest. Missing bytes
/// of the last word are ignored.
fn digest(bench: &mut Bench, message: &[u8], pressure: Pressure) -> (Vec<u8>, u64) {
    bench.reset();
    let (source, sink) = (
        bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]),
        bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]),
    );
    bench.model.set("in_bytes_i", message.len() as u64 % 4);
    bench.set_source_pressure(source, pressure);
    bench.set_sink_pressure(sink, pressure);
    let words = message.len().div_ceil(4);
    for (at, four) in message.chunks(4).enumerate() {
        let mut word = [0xa5; 4];
        word[..four.len()].copy_from_slice(four);
        bench.push(source, &[&[u32::from_be_bytes(word).into()], &[u64::from(at + 1 == words)]]);
    }
    bench.run(sink, 1, 20_000);
    let limbs = bench.received(sink)[0].fields[0].clone();
    let bytes = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    (bytes, bench.received(sink)[0].cycle - bench.taken(source).last().unwrap())
}

fn expected(words: &[u32]) -> Vec<u8> {
    Sha256::digest(words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()).to_vec()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn digests_are_the_standards() {
    let fresh = || Bench::new(SHA256.model(), 1);
    // FIPS 180-4's example of two blocks: 448 bits.
    let text = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let known = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    let hex: String = digest(&mut fresh(), text, Pressure::None).0.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, known);
    // Every length in bytes around the ends of blocks, and the cycles that the header states.
    let mut random = Random::new(5);
    for length in 1..=200_usize {
        let message: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let (bytes, cycles) = digest(&mut fresh(), &message, Pressure::None);
        assert_eq!(bytes, Sha256::digest(&message).to_vec(), "{length} bytes");
        let left = 15 - (length.div_ceil(4) as u64 - 1) % 16;
        // The marker bit is in the last word if that has a free byte.
        let room = left + u64::from(!length.is_multiple_of(4));
        assert_eq!(cycles, left + 66 + if room < 3 { 81 } else { 0 }, "{length} bytes");
        if length % 7 == 1 {
            assert_eq!(digest(&mut fresh(), &message, Pressure::Random(60)).0, bytes);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn digests_follow_each_other() {
    let mut bench = Bench::new(SHA256.model(), 8);
    let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
    bench.set_sink_pressure(sink, Pressure::Random(5));
    let messages: Vec<Vec<u32>> =
        (1..8).map(|length| (0..3 * length).map(|word| word * 0x0101_4567).collect()).collect();
    for words in &messages {
        for (at, &word) in words.iter().enumerate() {
            bench.push(source, &[&[word.into()], &[u64::from(at + 1 == words.len())]]);
        }
    }
    bench.run(sink, messages.len(), 20_000);
    for (words, transfer) in messages.iter().zip(bench.received(sink)) {
        let bytes: Vec<u8> = transfer.fields[0].iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
        assert_eq!(bytes, expected(words));
    }
}

// ---- health tests -------------------------------------------------------------------------------

/// The standard's pseudocode (4.4.1): the samples at which the count reaches the cutoff. The count
/// restarts afterwards, as after an alarm.
fn repetitions(samples: &[bool], cutoff: usize) -> Vec<usize> {
    let (mut alarms, mut last, mut count) = (Vec::new(), None, 0);
    for (at, &sample) in samples.iter().enumerate() {
        count = if last == Some(sample) { count + 1 } else { 1 };
        last = Some(sample);
        if count >= cutoff {
            alarms.push(at);
            (last, count) = (None, 0);
        }
    }
    alarms
}

/// 4.4.2: the samples at which the first sample of a window has occurred `cutoff` times in it.
fn proportions(samples: &[bool], window: usize, cutoff: usize) -> Vec<usize> {
    let alarm = |(number, window_samples): (usize, &[bool])| {
        let same = window_samples.iter().enumerate().filter(|(_, sample)| **sample == window_samples[0]);
        same.map(|(at, _)| number * window + at).nth(cutoff - 1)
    };
    samples.chunks(window).enumerate().filter_map(alarm).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn health_tests_sound_when_the_standard_says_so() {
    let mut random = Random::new(3);
    // A fair source, one that prefers ones more and more, one that gets stuck, and runs that just
    // reach the cutoff.
    let mut samples: Vec<bool> = (0..2000).map(|_| random.next() & 1 == 1).collect();
    (0..6000).for_each(|at| samples.push(random.below(6000) < 3000 + at / 2));
    samples.extend([false; 100]);
    for run in 18..24 {
        (0..run).for_each(|_| samples.push(run % 2 == 0));
    }
    let mut bench = Bench::new(HEALTH_TESTS.model(), 4);
    let (mut heard, mut at) = ([Vec::new(), Vec::new()], 0);
    while at < samples.len() {
        let valid = bench.random().below(3) > 0;
        bench.model.set("valid_i", valid);
        bench.model.set("sample_i", samples[at] ^ !valid);
        bench.step();
        for (port, list) in ["repetition_o", "proportion_o"].iter().zip(&mut heard) {
            list.extend(bench.model.bit(port).then_some(at));
            assert!(valid || !bench.model.bit(port), "nothing came");
        }
        at += usize::from(valid);
    }
    assert_eq!(heard, [repetitions(&samples, 21), proportions(&samples, 128, 90)]);
    assert!(heard.iter().all(|list| list.len() > 3));
}

/// The smallest count that a binomial variable exceeds with a probability of at most 2^-alpha. The
/// tail is summed from its small end.
fn critical(window: u32, chance: f64, alpha: i32) -> u32 {
    let ways = |count: u32| (1..=count).map(|at| (f64::from(window - count + at) / f64::from(at)).ln()).sum::<f64>();
    let share = |count: u32| {
        (ways(count) + f64::from(count) * chance.ln() + f64::from(window - count) * (1.0 - chance).ln()).exp()
    };
    let mut tail = 0.0;
    (0..=window)
        .rev()
        .find(|&count| {
            tail += share(count);
            tail > 2_f64.powi(-alpha)
        })
        .unwrap()
}

#[test]
fn cutoffs_are_those_of_the_standard() {
    let sources = ["health_tests.sv", "noise_source_port.sv"]
        .map(|file| std::fs::read_to_string(format!("{}/election/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let [repetition, proportion] = [1 + 40 * 2, 1 + critical(1024, 0.5_f64.sqrt(), 40)];
    for source in sources {
        for (name, value) in [("Repetition", repetition), ("Proportion", proportion), ("Window", 1024)] {
            let line =
                source.lines().find(|line| line.contains("parameter") && line.contains(&format!(" {name} "))).unwrap();
            let set = line.split('=').nth(1).unwrap().split(',').next().unwrap().split("//").next().unwrap().trim();
            assert_eq!(set.parse(), Ok(value), "{name}");
        }
    }
    // The standard's own examples of the repetition count's cutoff: alpha = 2^-30.
    assert_eq!([2, 3, 6].map(|h: u32| 1 + 30_u32.div_ceil(h)), [16, 11, 6]);
}

// ---- the port -----------------------------------------------------------------------------------

/// The port with a test source of samples.
struct Port {
    bench: Bench,
    sink: hearith_verilated::bench::Sink,
    random: Random,
    /// Every sample used for digests.
    samples: Vec<bool>,
}

impl Port {
    fn new(seed: u64) -> Self {
        let mut bench = Bench::new(NOISE_SOURCE_PORT.model(), seed);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
        bench.set_sink_pressure(sink, Pressure::Random(100));
        Self { bench, sink, random: Random::new(seed), samples: Vec::new() }
    }

    /// Sends `count` samples of a source, at least a cycle apart.
    fn feed(&mut self, count: usize, mut source: impl FnMut(&mut Random) -> bool) {
        for _ in 0..count {
            let sample = source(&mut self.random);
            self.samples.push(sample);
            self.bench.model.set("noise_valid_i", true);
            self.bench.model.set("noise_i", sample);
            self.bench.step();
            self.bench.model.set("noise_valid_i", false);
            // Long enough for the conditioner, so that all samples are used.
            let pause = if self.samples.len().is_multiple_of(32) { 170 } else { self.random.below(3) };
            self.bench.idle(pause);
        }
    }

    fn words(&self) -> Vec<u32> {
        self.bench.received(self.sink).iter().map(|transfer| transfer.fields[0][0] as u32).collect()
    }

    fn failed(&self) -> Option<u64> {
        let failed = self.bench.model.bit("failed_o");
        assert!(!failed || !self.bench.model.bit("ready_o"));
        failed.then(|| self.bench.model.get_u64("cause_o"))
    }
}

fn fair(random: &mut Random) -> bool {
    random.next() & 1 == 1
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn words_are_digests_of_samples() {
    let mut port = Port::new(6);
    port.feed(1023, fair);
    assert!(!port.bench.model.bit("ready_o"), "the start-up test is not over");
    port.feed(1, fair);
    port.feed(3 * 576, fair);
    assert!(port.bench.model.bit("ready_o") && port.failed().is_none());
    let digests = port.samples[1024..].chunks(576).flat_map(|samples| {
        let word = |bits: &[bool]| bits.iter().fold(0_u32, |word, &bit| word << 1 | u32::from(bit));
        let bytes = expected(&samples.chunks(32).map(word).collect::<Vec<u32>>());
        bytes.chunks(4).map(|four| u32::from_be_bytes(four.try_into().unwrap())).collect::<Vec<u32>>()
    });
    assert!(port.words().into_iter().eq(digests) && port.words().len() == 24);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_source_that_fails_is_not_used_again() {
    // Stuck at either value, with the fault before or after the end of the start-up test.
    for (level, good) in [(false, 100), (true, 2000), (false, 3000)] {
        let mut port = Port::new(7 + good as u64);
        port.feed(good, fair);
        port.bench.set_sink_pressure(port.sink, Pressure::Stalled);
        let before = port.words().len();
        port.feed(100, |_| level);
        assert_eq!(port.failed().map(|cause| cause & 1), Some(1));
        port.bench.set_sink_pressure(port.sink, Pressure::None);
        // The failure is permanent, even if the source recovers.
        port.feed(1800, fair);
        assert!(port.failed().is_some() && port.words().len() == before);
        port.bench.reset();
        port.samples.clear();
        port.feed(1024 + 576, fair);
        assert!(port.failed().is_none() && port.words().len() == 8, "a reset begins anew");
    }
    // A source that prefers ones, without long runs.
    let mut port = Port::new(20);
    port.feed(1024, fair);
    let mut at = 0;
    port.feed(1100, |_| {
        at += 1;
        at % 8 != 0
    });
    assert_eq!(port.failed(), Some(2));
    // A silent source.
    let mut port = Port::new(21);
    port.feed(1024, fair);
    assert!(port.failed().is_none());
    port.bench.idle(401);
    assert_eq!(port.failed(), Some(4));
}
