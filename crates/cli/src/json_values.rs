//! JSON values one after another (lines, or any white space between), or the elements of one list.

use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use serde_json::de::{IoRead, StreamDeserializer};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Error};

use crate::failure::Failure;

/// A value as it stands, or null.
pub(crate) type Cell = Option<Box<RawValue>>;

type Input = Chain<Cursor<Vec<u8>>, BufReader<File>>;

/// The values of a file.
pub(crate) struct Values {
    name: String,
    form: Form,
    ended: bool,
}

enum Form {
    /// One after another, as they come.
    Sequence(StreamDeserializer<'static, IoRead<Input>, Cell>),
    /// A list, all in memory.
    List(std::vec::IntoIter<Cell>),
}

impl Values {
    /// Begins to read.
    pub(crate) fn new(name: &str, file: File) -> Result<Self, Failure> {
        let mut file = BufReader::new(file);
        let beginning = beginning(&mut file).map_err(|error| Failure::reading(name, error))?;
        let list = beginning.last() == Some(&b'[');
        let input = Cursor::new(beginning).chain(file);
        let form = match list {
            true => {
                let cells: Vec<Cell> = serde_json::from_reader(input).map_err(|error| wrong(name, &error))?;
                Form::List(cells.into_iter())
            }
            false => Form::Sequence(Deserializer::from_reader(input).into_iter()),
        };
        Ok(Self { name: name.to_owned(), form, ended: false })
    }
}

impl Iterator for Values {
    type Item = Result<Cell, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match &mut self.form {
            Form::List(cells) => cells.next().map(Ok),
            Form::Sequence(cells) => {
                let cell = cells.next()?.map_err(|error| wrong(&self.name, &error));
                self.ended = cell.is_err();
                Some(cell)
            }
        }
    }
}

/// Everything up to the first byte that is no white space, which tells a list.
fn beginning(file: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    for byte in file.by_ref().bytes() {
        let byte = byte?;
        read.push(byte);
        if !byte.is_ascii_whitespace() {
            break;
        }
    }
    Ok(read)
}

fn wrong(name: &str, error: &Error) -> Failure {
    match error.is_io() {
        true => Failure::at(name, format!("cannot read: {error}")),
        false => Failure::at(name, format!("not JSON: {error}")),
    }
}
