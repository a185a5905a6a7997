//! `hearith dghv inspect`.

use std::fmt::Write;
use std::io::{Cursor, Read};
use std::path::Path;

use hearith_arith::Engine;
use hearith_dghv::format::{FileKind, Header, MOST_HEADER_BYTES};
use hearith_dghv::{Ciphertext, InsecureHistoricalParameters, Ladder, Lengths, Parameters, PublicKeys, Rung};
use serde_json::{Map, Value, json};

use super::files::{Bits, failed, rows_at_a_time};
use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::input::open;
use crate::printable::Printable;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// Describes a file. Keys are not used, so this needs no consent to insecure parameters.
pub(crate) fn inspect(session: &Session, path: &Path) -> Result<(), CliError> {
    let (name, mut input) = open(path)?;
    let mut header_bytes = Vec::new();
    let read = (&mut input).take(MOST_HEADER_BYTES).read_to_end(&mut header_bytes);
    read.map_err(|error| CliError::reading(&name, error))?;
    let header = Header::read(&header_bytes[..]).map_err(|error| failed(&name, error))?;
    let input = Box::new(Cursor::new(header_bytes).chain(input));
    let (mut text, mut json) = general(&name, &header);
    match header.kind {
        FileKind::PublicKey => {
            let keys = public_keys(&name, input)?;
            let recrypts = keys.recryption.is_some();
            let rungs: Vec<u32> = keys.ladder.iter().flat_map(Ladder::rungs).map(secret_bits).collect();
            let _ = writeln!(text, "  {:<10} {}", "recryption", if recrypts { "yes" } else { "no" });
            let _ = writeln!(text, "  {:<10} {}", "ladder", ladder(&rungs));
            json.insert("recryption".to_owned(), recrypts.into());
            json.insert("ladder".to_owned(), rungs.into());
        }
        FileKind::PrivateKey => {}
        FileKind::Ciphertexts => {
            let rows = rows(session, Bits::new(name, input)?)?;
            let _ = writeln!(text, "  {:<10} {}", "rows", rows.len());
            runs(&rows).iter().for_each(|run| text.push_str(&run.line(&header.parameters)));
            json.insert("rows".to_owned(), rows.iter().map(|row| row.json()).collect());
        }
    }
    match session.json {
        true => print_json(&json),
        false => print(&text),
    }
}

/// The number of bits of a rung's secret.
fn secret_bits(rung: &Rung) -> u32 {
    rung.key.parameters().lengths().secret
}

/// Describes a ladder.
fn ladder(rungs: &[u32]) -> String {
    match rungs {
        [] => "no".to_owned(),
        [one] => format!("1 level below, p {one} bits"),
        [first, .., last] => format!("{} levels below, p {first} to {last} bits", rungs.len()),
    }
}

/// The description that all files have.
fn general(name: &str, header: &Header) -> (String, Map<String, Value>) {
    let Header { kind, parameters, key } = header;
    let kind = match kind {
        FileKind::PublicKey => "public key",
        FileKind::PrivateKey => "private key",
        FileKind::Ciphertexts => "encrypted bits",
    };
    let Lengths { security, key_noise, secret, modulus, elements, coefficient, encryption_noise } =
        *parameters.lengths();
    let mut text = format!("{}: {kind}\n", Printable(name));
    let lines = [
        ("scheme", parameters.scheme().to_string()),
        ("parameters", format!("{parameters} INSECURE")),
        ("key", key.to_string()),
        ("level", parameters.level().to_string()),
        ("lengths", format!("p {secret}, A_0 {modulus}, noise {key_noise} bits; {elements} elements")),
    ];
    for (what, value) in lines {
        let _ = writeln!(text, "  {what:<10} {value}");
    }
    let json = json!({
        "kind": kind,
        "scheme": parameters.scheme().name(),
        "parameters": parameters.size().map(|size| size.name()),
        "insecure": true,
        "key": key.to_string(),
        "level": parameters.level(),
        "lengths": {
            "security": security,
            "key_noise": key_noise,
            "secret": secret,
            "modulus": modulus,
            "elements": elements,
            "coefficient": coefficient,
            "encryption_noise": encryption_noise,
        },
        "noise_limit": parameters.noise_limit(),
    });
    match json {
        Value::Object(map) => (text, map),
        _ => (text, Map::new()),
    }
}

/// Reads a public key for display, not for use.
fn public_keys(name: &str, input: impl Read) -> Result<PublicKeys, CliError> {
    let key = PublicKeys::read_from(input, Engine::Serial, InsecureHistoricalParameters);
    key.map_err(|error| failed(name, error))
}

/// The noise of a row, and the levels of multiplications that it still allows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    noise: f64,
    levels: u32,
}

impl Row {
    fn of(ciphertext: &Ciphertext, parameters: &Parameters) -> Self {
        // Rounded up to a tenth of a bit.
        let noise = (ciphertext.noise() * 10.0).ceil() / 10.0;
        Self { noise, levels: ciphertext.levels_left(parameters) }
    }

    fn json(&self) -> Value {
        json!({ "noise": self.noise, "levels_left": self.levels })
    }
}

fn rows(session: &Session, mut bits: Bits) -> Result<Vec<Row>, CliError> {
    let parameters = bits.header().parameters.clone();
    let progress = Progress::start("reading", Length::Rows(bits.rows()));
    let mut rows = Vec::new();
    while (rows.len() as u64) < bits.rows() {
        let batch = bits.batch(rows_at_a_time(session, &parameters))?;
        rows.extend(batch.rows.iter().map(|row| Row::of(row, &parameters)));
        progress.set(rows.len() as u64, rows.len() as u64);
    }
    bits.finish()?;
    Ok(rows)
}

/// Consecutive rows with the same description.
#[derive(Debug, PartialEq)]
struct Run {
    first: usize,
    last: usize,
    row: Row,
}

fn runs(rows: &[Row]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (index, &row) in rows.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.row == row => run.last = index,
            _ => runs.push(Run { first: index, last: index, row }),
        }
    }
    runs
}

impl Run {
    fn line(&self, parameters: &Parameters) -> String {
        let Self { first, last, row: Row { noise, levels } } = self;
        let rows = match first == last {
            true => format!("row {}", first + 1),
            false => format!("rows {} to {}", first + 1, last + 1),
        };
        let levels = match levels {
            0 => "no multiplication left".to_owned(),
            1 => "1 level of multiplications left".to_owned(),
            levels => format!("{levels} levels of multiplications left"),
        };
        format!("  {rows}: noise {noise} of {} bits, {levels}\n", parameters.noise_limit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_kind_are_told_together() {
        let row = |noise, levels| Row { noise, levels };
        let found = runs(&[row(1.0, 2), row(1.0, 2), row(3.5, 1), row(1.0, 2)]);
        let places: Vec<(usize, usize)> = found.iter().map(|run| (run.first, run.last)).collect();
        assert_eq!(places, [(0, 1), (2, 2), (3, 3)]);
        assert!(runs(&[]).is_empty());
    }
}
