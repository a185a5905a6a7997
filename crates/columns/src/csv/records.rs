//! Records of CSV according to RFC 4180 (Y. Shafranovich, "Common Format and MIME Type for
//! Comma-Separated Values (CSV) Files", 2005). A quote in a place that RFC 4180 does not allow is a
//! fault, not text.
//!
//! There are three extensions: a line may end in a line feed alone, a byte order mark may come
//! first, and another character may separate fields. Each line is a record, and an empty line is a
//! record with one empty field.

use std::io::{self, Read};

use zeroize::Zeroizing;

use crate::csv::CsvFault;
use crate::error::ErrorKind;
use crate::limits::{MAX_CELL_BYTES, MAX_COLUMNS, MAX_ROW_BYTES};
use crate::wipe;

/// Bytes per read.
const BUFFER: usize = 1 << 18;
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The fields of a record, one after another.
#[derive(Default)]
pub(super) struct Record {
    bytes: Zeroizing<Vec<u8>>,
    ends: Vec<usize>,
}

impl Record {
    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The total length of all fields in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The text of each field, or a fault if it is not UTF-8.
    pub(super) fn fields(&self) -> impl Iterator<Item = Result<&str, Fault>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).enumerate().map(|(field, (&start, &end))| {
            let text = std::str::from_utf8(&self.bytes[start..end]);
            text.map_err(|_| Fault { field, kind: CsvFault::NotUtf8.into() })
        })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        wipe::append(&mut self.bytes, bytes);
        let start = self.ends.last().copied().unwrap_or(0);
        let (what, limit) = match self.bytes.len() {
            row if row > MAX_ROW_BYTES => ("bytes in a row", MAX_ROW_BYTES),
            row if row - start > MAX_CELL_BYTES => ("bytes in a cell", MAX_CELL_BYTES),
            _ => return Ok(()),
        };
        Err(self.fault(ErrorKind::TooLarge { what, limit: limit as u64 }))
    }

    fn end_field(&mut self) -> Result<(), Fault> {
        if self.ends.len() == MAX_COLUMNS {
            return Err(self.fault(ErrorKind::TooLarge { what: "columns", limit: MAX_COLUMNS as u64 }));
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// A fault in the current field.
    fn fault(&self, kind: impl Into<ErrorKind>) -> Fault {
        Fault { field: self.ends.len(), kind: kind.into() }
    }
}

/// A fault and its field in the record, from 0.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: usize,
    pub(super) kind: ErrorKind,
}

/// The parser state before the next byte.
#[derive(Clone, Copy)]
enum State {
    /// At the start of a line.
    Line,
    /// At the start of a field after the first.
    Field,
    /// In an unquoted field.
    Unquoted,
    /// Between quotes.
    Quoted,
    /// After a quote, which closes the field unless another quote follows.
    QuoteInQuoted,
    /// After a carriage return, which must be followed by a line feed.
    CarriageReturn,
}

/// A stream of records.
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    buffer: Zeroizing<Vec<u8>>,
    /// The part of the buffer that holds unread bytes.
    rest: std::ops::Range<usize>,
}

impl<R: Read> Records<R> {
    /// Starts reading, after a byte order mark if there is one.
    pub(super) fn new(input: R, delimiter: u8) -> io::Result<Self> {
        let mut records = Self { input, delimiter, buffer: Zeroizing::new(vec![0; BUFFER]), rest: 0..0 };
        while records.rest.len() < BYTE_ORDER_MARK.len() && records.fill()? > 0 {}
        if records.buffer[records.rest.clone()].starts_with(&BYTE_ORDER_MARK) {
            records.rest.start += BYTE_ORDER_MARK.len();
        }
        Ok(records)
    }

    /// Reads the next record. Returns whether there was one.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, Fault> {
        record.clear();
        let mut state = State::Line;
        loop {
            if self.rest.is_empty() {
                self.rest = 0..0;
                if self.fill().map_err(|error| record.fault(error))? == 0 {
                    return ended(state, record);
                }
            }
            let (consumed, complete) = step(&self.buffer[self.rest.clone()], self.delimiter, &mut state, record)?;
            self.rest.start += consumed;
            if complete {
                return Ok(true);
            }
        }
    }

    /// Appends more input to the buffer. Returns the number of bytes.
    fn fill(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.buffer[self.rest.end..]) {
                Ok(count) => {
                    self.rest.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Consumes bytes up to the end of the record or of `bytes`. Returns their number and whether the
/// record is complete.
fn step(bytes: &[u8], delimiter: u8, state: &mut State, record: &mut Record) -> Result<(usize, bool), Fault> {
    let mut at = 0;
    while at < bytes.len() {
        // Consume the text in one step, then handle the byte that ends it.
        let text = match state {
            State::Unquoted => {
                bytes[at..].iter().position(|&byte| byte == delimiter || matches!(byte, b'\n' | b'\r' | b'"'))
            }
            State::Quoted => bytes[at..].iter().position(|&byte| byte == b'"'),
            _ => Some(0),
        };
        let length = text.unwrap_or(bytes.len() - at);
        record.push(&bytes[at..at + length])?;
        at += length;
        let Some(&byte) = bytes.get(at) else { break };
        *state = match (*state, byte) {
            (State::Line | State::Field, b'"') | (State::QuoteInQuoted, b'"') => {
                if let State::QuoteInQuoted = state {
                    record.push(b"\"")?;
                }
                State::Quoted
            }
            (State::Quoted, _) => State::QuoteInQuoted,
            (State::Unquoted, b'"') => return Err(record.fault(CsvFault::BareQuote)),
            (State::CarriageReturn, b'\n')
            | (State::Line | State::Field | State::Unquoted | State::QuoteInQuoted, b'\n') => {
                record.end_field()?;
                return Ok((at + 1, true));
            }
            (State::CarriageReturn, _) => return Err(record.fault(CsvFault::BareReturn)),
            (_, b'\r') => State::CarriageReturn,
            (_, byte) if byte == delimiter => {
                record.end_field()?;
                State::Field
            }
            (State::QuoteInQuoted, _) => return Err(record.fault(CsvFault::TextAfterQuote)),
            (State::Line | State::Field | State::Unquoted, _) => {
                *state = State::Unquoted;
                continue;
            }
        };
        at += 1;
    }
    Ok((at, false))
}

/// Handles the end of the stream within a record.
fn ended(state: State, record: &mut Record) -> Result<bool, Fault> {
    match state {
        State::Line => Ok(false),
        State::Field | State::Unquoted | State::QuoteInQuoted => record.end_field().map(|()| true),
        State::Quoted => Err(record.fault(CsvFault::UnclosedQuote)),
        State::CarriageReturn => Err(record.fault(CsvFault::BareReturn)),
    }
}
