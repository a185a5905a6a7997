//! Votes are converted to marks, or refused with a reason (`rtl/election/vote_processor.sv`).

use std::collections::HashSet;

use hearith_rtl::VOTE_PROCESSOR;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};

const VOTERS: u64 = 5;
/// For each contest: candidates, and the least and largest number of choices.
const CONTESTS: [[u64; 3]; 3] = [[6, 1, 1], [4, 0, 3], [2, 2, 2]];

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Vote { id: u64, voter: u64, contest: u64, marks: u64 },
    Refused { id: u64, code: u64 },
}

/// The documented rules, in order.
fn judge(message: &[u64], used: &HashSet<u64>, blocked: bool) -> Outcome {
    let at = |place: usize| message.get(place).copied().unwrap_or(0);
    let (count, contest, id, voter) = (at(0) >> 16, at(0) & 0xffff, at(1), at(2));
    let refused = |code| Outcome::Refused { id, code };
    if message.len() < 3 || message.len() as u64 != 3 + count {
        return refused(1);
    }
    if voter >= VOTERS {
        return refused(2);
    }
    let Some(&[candidates, least, most]) = CONTESTS.get(contest as usize) else { return refused(3) };
    let choices = &message[3..];
    if count > most {
        return refused(4);
    }
    if count < least {
        return refused(5);
    }
    if choices.iter().any(|&choice| choice >= candidates) {
        return refused(6);
    }
    if choices.iter().collect::<HashSet<_>>().len() < choices.len() {
        return refused(7);
    }
    if used.contains(&(contest << 24 | voter)) {
        return refused(8);
    }
    match blocked {
        true => refused(9),
        false => Outcome::Vote { id, voter, contest, marks: choices.iter().map(|choice| 1 << choice).sum() },
    }
}

struct Processor {
    bench: Bench,
    source: Source,
    votes: Sink,
    refusals: Sink,
    used: HashSet<u64>,
}

impl Processor {
    fn new(seed: u64, pressure: Pressure) -> Self {
        let mut bench = Bench::new(VOTE_PROCESSOR.model(), seed);
        for (place, port) in ["candidates_i", "least_i", "most_i"].into_iter().enumerate() {
            let bits = CONTESTS.iter().enumerate().map(|(contest, limits)| limits[place] << (8 * contest)).sum::<u64>();
            bench.model.set(port, bits);
        }
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let fields = ["vote_id_o", "vote_voter_o", "vote_contest_o", "vote_marks_o"];
        let votes = bench.sink("vote_valid_o", "vote_ready_i", &fields);
        let refusals = bench.sink("refused_valid_o", "refused_ready_i", &["refused_id_o", "refused_code_o"]);
        bench.set_source_pressure(source, pressure);
        bench.set_sink_pressure(votes, pressure);
        bench.set_sink_pressure(refusals, pressure);
        Self { bench, source, votes, refusals, used: HashSet::new() }
    }

    fn push(&mut self, message: &[u64]) {
        for (at, &word) in message.iter().enumerate() {
            self.bench.push(self.source, &[&[word], &[u64::from(at + 1 == message.len())]]);
        }
    }

    /// The outcome of a message. The processor's queries are answered after a delay.
    fn process(&mut self, message: &[u64]) -> Outcome {
        self.push(message);
        let before = [self.votes, self.refusals].map(|sink| self.bench.received(sink).len());
        for _ in 0..2000 {
            let asks = self.bench.model.bit("ask_valid_o") && self.bench.random().below(4) == 0;
            let known = self.used.contains(&self.bench.model.get_u64("ask_key_o"));
            self.bench.model.set("known_valid_i", asks);
            self.bench.model.set("known_i", known);
            self.bench.step();
            let [votes, refusals] = [self.votes, self.refusals].map(|sink| self.bench.received(sink));
            if let Some(item) = votes.get(before[0]) {
                let [id, voter, contest, marks] = [0, 1, 2, 3].map(|at: usize| item.fields[at][0]);
                assert_eq!(refusals.len(), before[1]);
                return Outcome::Vote { id, voter, contest, marks };
            }
            if let Some(item) = refusals.get(before[1]) {
                return Outcome::Refused { id: item.fields[0][0], code: item.fields[1][0] };
            }
        }
        panic!("nothing came of {message:x?}");
    }
}

/// A message that is a valid vote, or nearly one.
fn message(random: &mut Random) -> Vec<u64> {
    let contests = if random.below(10) == 0 { 5 } else { 3 };
    let contest = random.below(contests);
    let [candidates, least, most] = CONTESTS.get(contest as usize).copied().unwrap_or([3, 1, 1]);
    let count = if random.below(6) == 0 { random.below(8) } else { least + random.below(most - least + 1) };
    let mut choices: Vec<u64> = (0..candidates.max(count)).collect();
    (1..choices.len()).for_each(|at| choices.swap(at, random.below(at as u64 + 1) as usize));
    choices.truncate(count as usize);
    let wrong = random.below(8);
    if let Some(first) = choices.first_mut() {
        match wrong {
            0 => *first = candidates + random.below(3),
            1 => *first = [0x100, 0x1_0000, 0x8000_0000, 0xffff_ffff][random.below(4) as usize],
            _ => (),
        }
    }
    if wrong == 2 && choices.len() > 1 {
        choices[1] = choices[0];
    }
    let voter =
        if random.below(8) == 0 { [5, 6, 0x1_0000, 0xffff_ffff][random.below(4) as usize] } else { random.below(5) };
    let said = match random.below(12) {
        0 => random.below(0x1_0000),
        1 => random.below(count + 1),
        _ => count,
    };
    let mut message = vec![said << 16 | contest, random.below(3000), voter];
    message.extend(choices);
    if random.below(12) == 0 {
        message.truncate(1 + random.below(3) as usize);
    }
    message
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn votes_become_marks_and_all_else_is_refused() {
    let mut seen = HashSet::new();
    for (seed, pressure) in [(1, Pressure::None), (2, Pressure::Random(100)), (3, Pressure::AfterValid)] {
        let mut processor = Processor::new(seed, pressure);
        let mut random = Random::new(seed + 10);
        for _ in 0..1500 {
            if random.below(8) == 0 {
                processor.used.clear();
            }
            let blocked = random.below(12) == 0;
            processor.bench.model.set("blocked_i", blocked);
            let message = message(&mut random);
            let expected = judge(&message, &processor.used, blocked);
            assert_eq!(processor.process(&message), expected, "{message:x?}");
            match expected {
                Outcome::Vote { voter, contest, marks, .. } => {
                    processor.used.insert(contest << 24 | voter);
                    seen.insert((contest, marks));
                }
                Outcome::Refused { code, .. } => {
                    seen.insert((99, code));
                }
            }
        }
    }
    // Every possible set of marks: 6 in the first contest, 15 in the second, 1 in the third; and
    // every reason for refusal.
    let marks = seen.iter().filter(|(contest, _)| *contest < 3).count();
    assert_eq!((marks, seen.len() - marks), (6 + 15 + 1, 9));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_vote_waits_for_the_one_before_it() {
    let mut processor = Processor::new(4, Pressure::Random(20));
    processor.bench.set_source_pressure(processor.source, Pressure::None);
    let votes = [[1 << 16, 7, 1, 0], [1 << 16, 8, 2, 1]];
    for message in votes {
        processor.push(&message);
    }
    processor.bench.model.set("known_valid_i", true);
    processor.bench.run(processor.votes, 2, 2000);
    let received = processor.bench.received(processor.votes);
    let found = received.iter().map(|item| [item.fields[0][0], item.fields[1][0], item.fields[3][0]]);
    assert!(found.eq([[7, 1, 1], [8, 2, 2]]));
    assert_eq!(processor.bench.received(processor.refusals).len(), 0);
}

/// A vote can be refused for lack of randomness until the cycle before it is on offer.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_source_that_fails_while_a_vote_waits_refuses_it() {
    for late in [false, true] {
        let mut processor = Processor::new(6, Pressure::None);
        processor.bench.set_sink_pressure(processor.votes, Pressure::Stalled);
        processor.push(&[1 << 16, 7, 1, 0]);
        while !processor.bench.model.bit("ask_valid_o") {
            processor.bench.step();
        }
        processor.bench.model.set("known_valid_i", true);
        processor.bench.step();
        processor.bench.idle(u64::from(late));
        processor.bench.model.set("blocked_i", true);
        processor.bench.idle(5);
        processor.bench.set_sink_pressure(processor.votes, Pressure::None);
        processor.bench.idle(5);
        let [votes, refusals] = [processor.votes, processor.refusals].map(|sink| processor.bench.received(sink));
        assert_eq!([votes.len(), refusals.len()], [usize::from(late), usize::from(!late)]);
        assert!(refusals.iter().all(|item| item.fields == [[7], [9]]));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_reset_leaves_nothing_of_a_vote() {
    let mut processor = Processor::new(5, Pressure::Stalled);
    processor.bench.set_source_pressure(processor.source, Pressure::None);
    for word in [1 << 16, 7, 1] {
        processor.bench.push(processor.source, &[&[word], &[0]]);
    }
    processor.bench.idle(10);
    processor.bench.reset();
    processor.bench.set_sink_pressure(processor.votes, Pressure::None);
    processor.bench.set_sink_pressure(processor.refusals, Pressure::None);
    // The rest of the old vote is not a valid vote, and the next vote is.
    assert_eq!(processor.process(&[3]), Outcome::Refused { id: 0, code: 1 });
    let outcome = processor.process(&[1 << 16, 8, 4, 5]);
    assert_eq!(outcome, Outcome::Vote { id: 8, voter: 4, contest: 0, marks: 32 });
}
