//! Circuits as text in Bristol Fashion \[Bristol19\], the format of published circuits for
//! multi-party computation.
//!
//! ```text
//! 2 4                gates and wires
//! 2 1 1              inputs: how many values, and the bits of each
//! 2 1 1              outputs likewise
//!
//! 2 1 0 1 2 XOR      a gate: how many wires it reads and drives, which, and its kind
//! 2 1 0 1 3 AND
//! ```
//!
//! The first wires are the inputs, the last ones the outputs. The kinds are `XOR`, `AND`, `INV`,
//! `EQW` (a copy), `EQ` (its input is the constant 0 or 1 instead of a wire) and `MAND`. `MAND` is
//! one AND per output: it combines the first half of its inputs with the second half. Gates may
//! come in any order that has no loop. Empty lines are skipped.
//!
//! The older Bristol Format, with one line for the bits of two inputs and of the output, is
//! rejected with an error that names it.

use super::{Circuit, CircuitError, CircuitErrorKind as Kind, Gate, MAX_WIRES};
use std::fmt::{self, Display, Write};
use std::str::SplitAsciiWhitespace;

impl Circuit {
    /// Parses a circuit in Bristol Fashion.
    ///
    /// # Errors
    /// [`CircuitError`] with the line number for malformed words, counts above [`MAX_WIRES`],
    /// inconsistent counts, wires that are driven twice or not at all, and loops.
    pub fn parse(text: &str) -> Result<Self, CircuitError> {
        let mut lines =
            text.lines().zip(1..).map(|(text, number)| Line { text, number }).filter(|line| !line.is_empty());
        let last = text.lines().count().max(1);
        let mut header = || lines.next().ok_or(CircuitError::new(last, Kind::NoHeader));
        let counts = header()?;
        let [gates, wires] = counts.numbers()?.try_into().map_err(|_| counts.words(2))?;
        let (first, second) = (header()?, header());
        if second.as_ref().is_ok_and(|second| first.is_old_header(second)) {
            return Err(first.error(Kind::OldFormat));
        }
        let (inputs, outputs) = (first.values(wires, 0)?, second?.values(wires, 1)?);

        let mut driven = Driven::new(wires, inputs.iter().sum());
        let mut parsed = Vec::new();
        let mut numbers = Vec::new();
        let mut found = 0;
        for line in lines {
            found += 1;
            if found > gates {
                return Err(line.error(Kind::Gates { found, expected: gates }));
            }
            for gate in line.gates(wires)? {
                driven.drive(gate.out()).map_err(|kind| line.error(kind))?;
                parsed.push(gate);
                numbers.push(line.number);
            }
        }
        if found < gates {
            return Err(CircuitError::new(last, Kind::Gates { found, expected: gates }));
        }
        for (gate, &number) in parsed.iter().zip(&numbers) {
            if let Some(wire) = gate.reads().find(|&wire| !driven.0[wire]) {
                return Err(CircuitError::new(number, Kind::Undriven(wire)));
            }
        }
        if let Some(wire) = driven.0.iter().position(|driven| !driven) {
            return Err(counts.error(Kind::Undriven(wire)));
        }
        let looped: Vec<usize> = parsed.iter().map(|gate| gate.out()).collect();
        Circuit::by_level(inputs, outputs, wires, parsed)
            .map_err(|index| CircuitError::new(numbers[index], Kind::Loop(looped[index])))
    }
}

/// Writes the circuit in Bristol Fashion, which [`Circuit::parse`] reads back.
impl Display for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.gates.len(), self.wires)?;
        for values in [&self.inputs, &self.outputs] {
            write!(f, "{}", values.len())?;
            values.iter().try_for_each(|bits| write!(f, " {bits}"))?;
            f.write_char('\n')?;
        }
        f.write_char('\n')?;
        self.gates.iter().try_for_each(|gate| match *gate {
            Gate::Xor { a, b, out } => writeln!(f, "2 1 {a} {b} {out} XOR"),
            Gate::And { a, b, out } => writeln!(f, "2 1 {a} {b} {out} AND"),
            Gate::Not { a, out } => writeln!(f, "1 1 {a} {out} INV"),
            Gate::Copy { a, out } => writeln!(f, "1 1 {a} {out} EQW"),
            Gate::Constant { value, out } => writeln!(f, "1 1 {} {out} EQ", u8::from(value)),
        })
    }
}

/// The wires driven so far.
struct Driven(Vec<bool>);

impl Driven {
    fn new(wires: usize, inputs: usize) -> Self {
        let mut driven = vec![false; wires];
        driven[..inputs].fill(true);
        Driven(driven)
    }

    fn drive(&mut self, wire: usize) -> Result<(), Kind> {
        if std::mem::replace(&mut self.0[wire], true) { Err(Kind::DrivenTwice(wire)) } else { Ok(()) }
    }
}

/// A line and its number, counted from 1.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    number: usize,
}

impl<'a> Line<'a> {
    fn is_empty(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    fn split(&self) -> SplitAsciiWhitespace<'a> {
        self.text.split_ascii_whitespace()
    }

    fn error(&self, kind: Kind) -> CircuitError {
        CircuitError::new(self.number, kind)
    }

    fn words(&self, expected: usize) -> CircuitError {
        self.error(Kind::Words { found: self.split().count(), expected })
    }

    fn number(&self, word: &str) -> Result<usize, CircuitError> {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<u64>().unwrap_or(u64::MAX));
        let number = digits.ok_or_else(|| self.error(Kind::NotANumber(shown(word))))?;
        usize::try_from(number).ok().filter(|&n| n <= MAX_WIRES).ok_or_else(|| self.error(Kind::TooMany(number)))
    }

    fn numbers(&self) -> Result<Vec<usize>, CircuitError> {
        self.split().map(|word| self.number(word)).collect()
    }

    /// Whether this line and the next follow the older format: the bits of two inputs and of one
    /// output, then a gate.
    fn is_old_header(&self, next: &Line<'_>) -> bool {
        let is_gate = next.split().next_back().is_some_and(|word| ["XOR", "AND", "INV"].contains(&word));
        is_gate && self.split().count() == 3 && self.numbers().is_ok()
    }

    /// The bits of each value on an inputs or outputs line.
    fn values(&self, wires: usize, least: usize) -> Result<Vec<usize>, CircuitError> {
        let numbers = self.numbers()?;
        let bits = &numbers[1..];
        if numbers[0] != bits.len() {
            return Err(self.words(numbers[0] + 1));
        }
        if bits.len() < least || bits.contains(&0) {
            return Err(self.error(Kind::Empty));
        }
        // Each value has at most 2^24 bits, so the sum cannot overflow for any text.
        let sum = bits.iter().sum();
        if sum > wires { Err(self.error(Kind::MoreBitsThanWires { bits: sum, wires })) } else { Ok(bits.to_vec()) }
    }

    /// The gates of a line: one, or for `MAND` one per output.
    fn gates(&self, wires: usize) -> Result<Vec<Gate>, CircuitError> {
        let mut words: Vec<&str> = self.split().collect();
        let name = words.pop().unwrap_or_default();
        let numbers = words.into_iter().map(|word| self.number(word)).collect::<Result<Vec<_>, _>>()?;
        let [inputs, outputs, ref ends @ ..] = numbers[..] else { return Err(self.words(5)) };
        let unknown = || self.error(Kind::Gate { name: shown(name), inputs, outputs });
        let fits = match name {
            "XOR" | "AND" => (inputs, outputs) == (2, 1),
            "INV" | "EQW" | "EQ" => (inputs, outputs) == (1, 1),
            "MAND" => outputs > 0 && inputs == 2 * outputs,
            _ => false,
        };
        if !fits {
            return Err(unknown());
        }
        if ends.len() != inputs + outputs {
            return Err(self.words(inputs + outputs + 3));
        }
        let (reads, drives) = ends.split_at(inputs);
        let wire = |&wire: &usize| match u32::try_from(wire) {
            Ok(index) if wire < wires => Ok(index),
            _ => Err(self.error(Kind::NoSuchWire { wire, wires })),
        };
        let outs = drives.iter().map(wire).collect::<Result<Vec<_>, _>>()?;
        if name == "EQ" {
            let value = match reads[0] {
                0 => false,
                1 => true,
                other => return Err(self.error(Kind::Constant(other))),
            };
            return Ok(vec![Gate::Constant { value, out: outs[0] }]);
        }
        let reads = reads.iter().map(wire).collect::<Result<Vec<_>, _>>()?;
        let gate = |index: usize, out: u32| match name {
            "XOR" => Gate::Xor { a: reads[0], b: reads[1], out },
            "INV" => Gate::Not { a: reads[0], out },
            "EQW" => Gate::Copy { a: reads[0], out },
            _ => Gate::And { a: reads[index], b: reads[outputs + index], out },
        };
        Ok(outs.iter().enumerate().map(|(index, &out)| gate(index, out)).collect())
    }
}

/// Formats a word for error messages: truncated, quoted, with unprintable characters escaped.
fn shown(word: &str) -> String {
    let mut start: String = word.chars().take(20).collect();
    if start.len() < word.len() {
        start.push('…');
    }
    format!("{start:?}")
}
