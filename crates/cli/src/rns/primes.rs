//! `hearith rns primes`.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use hearith_rns::{ResidueUnitWidths, SpecialPrime, root_of_unity};
use serde::Serialize;

use crate::args::Primes;
use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;
use crate::table::TableSink;

/// The result of a search.
#[derive(Serialize)]
struct Found {
    degree: u64,
    modulus_bits: u32,
    word_bits: u32,
    /// The number of words of an integer.
    words: u32,
    /// The maximum of `ceil(log2 beta)`.
    most_beta_bits: i64,
    primes: Vec<Row>,
}

/// A prime in the report.
#[derive(Serialize)]
struct Row {
    modulus: u64,
    /// The signed powers of two that sum to it.
    terms: String,
    beta: u64,
    /// The terms of beta, each as `[exponent, sign]`.
    beta_terms: Vec<(u32, i32)>,
    /// `ceil(log2 beta)`.
    beta_bits: u32,
    /// A primitive root of unity whose order is twice the degree.
    root: u64,
    /// `None` if words are longer than a unit supports.
    unit: Option<Unit>,
}

/// The word lengths of a residue unit in bits, and the parameters of its Barrett reduction.
#[derive(Serialize)]
struct Unit {
    /// The sum before the fold.
    v_a: u32,
    /// The bit at which the fold splits the sum.
    split: u32,
    /// The input of the Barrett reduction.
    k: u32,
    /// `floor(2^k / q)`.
    m: u64,
    /// The operand lengths of the Barrett reduction's multiplier.
    multiplier: (u32, u32),
    /// The same for the truncated multiplier.
    truncated_multiplier: (u32, u32),
}

/// Lists the primes of a search.
pub(super) fn run(session: &Session, command: &Primes) -> Result<(), CliError> {
    let primes = command.search.primes()?.take(command.count.unwrap_or(usize::MAX));
    let search = command.search.search();
    let found = Found {
        degree: search.degree,
        modulus_bits: search.modulus_bits,
        word_bits: search.word_bits,
        words: search.words(),
        most_beta_bits: search.most_beta_bits(),
        primes: primes.map(|prime| Row::new(prime, command)).collect(),
    };
    match session.json {
        true => print_json(&found),
        false => print(&(found.heading() + &table(&found.primes)?)),
    }
}

impl Found {
    /// Describes the search, and what a unit for all these primes has in common.
    fn heading(&self) -> String {
        let Found { degree, modulus_bits, word_bits, words, most_beta_bits, primes } = self;
        let (count, pairs) = (primes.len(), words.div_ceil(2));
        format!(
            "{count} primes 2^{word_bits} - beta, beta up to 2^{most_beta_bits}, for degree {degree} and integers of \
             {modulus_bits} bits: {words} words in {pairs} pairs\n"
        )
    }
}

impl Row {
    fn new(prime: SpecialPrime, command: &Primes) -> Self {
        let (search, q) = (&command.search, prime.modulus());
        let sign = |negative| if negative { -1 } else { 1 };
        Self {
            modulus: q,
            terms: prime.to_string(),
            beta: prime.beta(),
            beta_terms: prime.beta_terms().iter().map(|term| (term.exponent, sign(term.negative))).collect(),
            beta_bits: prime.beta_bits(),
            // The search returns primes that are 1 modulo twice the degree.
            root: root_of_unity(q, 2 * search.degree).unwrap_or_default(),
            unit: Unit::new(prime, command),
        }
    }
}

impl Unit {
    fn new(prime: SpecialPrime, command: &Primes) -> Option<Self> {
        let lengths = ResidueUnitWidths::new(prime, command.search.modulus_bits, command.search.bounds()).ok()?;
        Some(Self {
            v_a: lengths.sum,
            split: lengths.split,
            k: lengths.barrett,
            m: lengths.constant() as u64,
            multiplier: lengths.multiplier(),
            truncated_multiplier: lengths.truncated_multiplier(),
        })
    }
}

fn table(rows: &[Row]) -> Result<String, CliError> {
    let numbers = |of: &dyn Fn(&Row) -> Option<u64>| Arc::new(UInt64Array::from_iter(rows.iter().map(of))) as ArrayRef;
    let texts = |of: &dyn Fn(&Row) -> Option<String>| Arc::new(StringArray::from_iter(rows.iter().map(of))) as ArrayRef;
    let of_unit = |of: &dyn Fn(&Unit) -> u64| numbers(&|row| row.unit.as_ref().map(of));
    let size =
        |of: &dyn Fn(&Unit) -> (u32, u32)| texts(&|row| row.unit.as_ref().map(of).map(|(a, b)| format!("{a} x {b}")));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("prime", numbers(&|row| Some(row.modulus)), true),
        ("terms", texts(&|row| Some(row.terms.clone())), true),
        ("beta bits", numbers(&|row| Some(row.beta_bits.into())), true),
        ("root", numbers(&|row| Some(row.root)), true),
        ("v_a", of_unit(&|unit| unit.v_a.into()), true),
        ("split", of_unit(&|unit| unit.split.into()), true),
        ("k", of_unit(&|unit| unit.k.into()), true),
        ("m", of_unit(&|unit| unit.m), true),
        ("multiplier", size(&|unit| unit.multiplier), true),
        ("truncated", size(&|unit| unit.truncated_multiplier), true),
    ])
    .map_err(CliError::new)?;
    let mut sink = TableSink::new(Vec::new(), &batch.schema());
    sink.write(&batch).map_err(|error| CliError::from_write("the table", error))?;
    let text = sink.finish().map_err(|error| CliError::from_write("the table", error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
