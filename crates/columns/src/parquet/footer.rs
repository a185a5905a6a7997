//! The footer of a Parquet file, checked against limits before it is decoded.
//!
//! The decoder recurses into nested columns and allocates as many children as a column claims to
//! have. The Arrow schema in the footer may expand far beyond its size. This module bounds both
//! first.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use base64ct::{Base64, Encoding};
use flatbuffers::VerifierOptions;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaDataReader;

use super::thrift::{BINARY, Fault, I32, LIST, Reader, STRUCT};
use crate::error::{Error, ErrorKind, ParquetFault};
use crate::guard::catch_panic;
use crate::limits::{MAX_ARROW_SCHEMA_BYTES, MAX_CELL_BYTES, MAX_COLUMNS, MAX_DEPTH, MAX_FOOTER_BYTES};

const MAGIC: &[u8; 4] = b"PAR1";
/// The magic bytes of a file with an encrypted footer.
const ENCRYPTED_MAGIC: &[u8] = b"PARE";
/// The field of an unencrypted footer that describes how columns are encrypted.
const ENCRYPTION_ALGORITHM: i16 = 8;
/// Bytes of the footer's length and the magic bytes after it.
const TAIL: u64 = 8;
/// The bytes before an Arrow schema that state its length, and their start.
const IPC_PREFIX: (usize, [u8; 4]) = (8, [0xff; 4]);

/// Reads the file's metadata.
pub(super) fn read(file: &File) -> Result<ArrowReaderMetadata, Error> {
    let footer = bytes(file)?;
    check_limits(&footer)?;
    let decode = || {
        let metadata = ParquetMetaDataReader::decode_metadata(&footer)?;
        ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
    };
    let decoded = catch_panic(decode).ok_or(ErrorKind::NotParquet(ParquetFault::Panicked))?;
    decoded.map_err(|error| ErrorKind::NotParquet(error.into()).into())
}

/// Checks that a footer stays within the limits.
pub(super) fn check_limits(footer: &[u8]) -> Result<(), Error> {
    check(footer)?.into_iter().try_for_each(check_arrow_schema)
}

/// The footer at the end of a file in memory.
pub(super) fn of_bytes(file: &[u8]) -> &[u8] {
    let (rest, tail) = file.split_last_chunk::<{ TAIL as usize }>().unwrap_or((file, &[0; TAIL as usize]));
    let size = tail.first_chunk().map_or(0, |size| u32::from_le_bytes(*size)) as usize;
    &rest[rest.len().saturating_sub(size)..]
}

fn bytes(file: &File) -> Result<Vec<u8>, Error> {
    let ends = || Error::from(ErrorKind::NotParquet(ParquetFault::Ends));
    let length = file.metadata()?.len();
    let (mut head, mut tail) = ([0; MAGIC.len()], [0; TAIL as usize]);
    let start = length.checked_sub(TAIL).filter(|&start| start >= MAGIC.len() as u64).ok_or_else(ends)?;
    file.read_exact_at(&mut head, 0)?;
    file.read_exact_at(&mut tail, start)?;
    let (size, magic) = tail.split_at(MAGIC.len());
    if magic == ENCRYPTED_MAGIC {
        return Err(ErrorKind::EncryptedParquet.into());
    }
    if head != *MAGIC || magic != MAGIC {
        return Err(ends());
    }
    let size = u64::from(u32::from_le_bytes(size.try_into().unwrap_or_default()));
    if size > MAX_FOOTER_BYTES {
        return Err(ErrorKind::TooLarge { what: "bytes in the footer", limit: MAX_FOOTER_BYTES }.into());
    }
    let start = start.checked_sub(size).filter(|&start| start >= MAGIC.len() as u64).ok_or_else(ends)?;
    let mut footer = vec![0; size as usize];
    file.read_exact_at(&mut footer, start)?;
    Ok(footer)
}

/// Checks the columns and returns the Arrow schemas.
fn check(footer: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let (mut schema, mut hints, mut encrypted) = (Tree::default(), Vec::new(), false);
    let read = Reader::new(footer).fields(|reader, id, kind| match (id, kind) {
        (2, LIST) => schema.read(reader).map(|()| true),
        (5, LIST) => arrow_schemas(reader, &mut hints).map(|()| true),
        (ENCRYPTION_ALGORITHM, _) => {
            encrypted = true;
            Ok(false)
        }
        _ => Ok(false),
    });
    if encrypted {
        return Err(ErrorKind::EncryptedParquet.into());
    }
    if let Some(kind) = schema.rejected.take() {
        return Err(kind.into());
    }
    match read {
        Ok(()) if schema.remaining.is_empty() => Ok(hints),
        _ => Err(ErrorKind::NotParquet(ParquetFault::Structure("its footer")).into()),
    }
}

/// The columns as a tree in depth-first order, each before its children.
#[derive(Default)]
struct Tree {
    /// For each column that encloses the next one, the number of children still to come.
    remaining: Vec<u64>,
    columns: usize,
    rejected: Option<ErrorKind>,
}

impl Tree {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let (kind, size) = reader.list()?;
        if kind != STRUCT {
            return Err(Fault::Broken);
        }
        for index in 0..size {
            let (mut length, mut children) = (0, 0);
            reader.fields(|reader, id, kind| {
                match (id, kind) {
                    // Writers omit lengths, or write -1, for types without one.
                    (2, I32) => length = reader.integer()?,
                    (5, I32) => children = reader.count()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            if let Err(kind) = self.add(index, length, children) {
                self.rejected = Some(kind);
                return Err(Fault::Broken);
            }
        }
        Ok(())
    }

    fn add(&mut self, index: usize, length: i64, children: u64) -> Result<(), ErrorKind> {
        let too_large = |what, limit: usize| Err(ErrorKind::TooLarge { what, limit: limit as u64 });
        match self.remaining.last_mut() {
            Some(left) => *left -= 1,
            None if index == 0 => {}
            None => return Err(ErrorKind::NotParquet(ParquetFault::Structure("its list of columns"))),
        }
        self.columns += usize::from(index > 0 && children == 0);
        self.remaining.push(children);
        // The root is not a column.
        if self.remaining.len() - 1 > MAX_DEPTH {
            return too_large("levels of nested columns", MAX_DEPTH);
        }
        // A list has two levels that are not columns themselves.
        if self.columns > MAX_COLUMNS || index > 4 * MAX_COLUMNS || children > MAX_COLUMNS as u64 {
            return too_large("columns", MAX_COLUMNS);
        }
        if length > MAX_CELL_BYTES as i64 {
            return too_large("bytes in a cell", MAX_CELL_BYTES);
        }
        while self.remaining.last() == Some(&0) {
            self.remaining.pop();
        }
        Ok(())
    }
}

/// Collects the values of the key that holds an Arrow schema.
fn arrow_schemas<'a>(reader: &mut Reader<'a>, found: &mut Vec<&'a [u8]>) -> Result<(), Fault> {
    let (kind, size) = reader.list()?;
    if kind != STRUCT {
        return Err(Fault::Broken);
    }
    for _ in 0..size {
        let (mut key, mut value) = (&[][..], &[][..]);
        reader.fields(|reader, id, kind| {
            match (id, kind) {
                (1, BINARY) => key = reader.binary()?,
                (2, BINARY) => value = reader.binary()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if key == ARROW_SCHEMA_META_KEY.as_bytes() {
            found.push(value);
        }
    }
    Ok(())
}

/// Checks an Arrow schema. Its tables may be shared, so a few bytes can expand to a large tree.
fn check_arrow_schema(encoded: &[u8]) -> Result<(), Error> {
    let broken = || Error::from(ErrorKind::NotParquet(ParquetFault::Structure("the Arrow schema in its footer")));
    let text = std::str::from_utf8(encoded).map_err(|_| broken())?;
    let message = Base64::decode_vec(text).map_err(|_| broken())?;
    let (length, magic) = IPC_PREFIX;
    let message = match message.get(length..) {
        Some(rest) if message.starts_with(&magic) => rest,
        _ => &message,
    };
    let options = VerifierOptions {
        max_depth: 3 * MAX_DEPTH,
        max_tables: 16 * MAX_COLUMNS,
        max_apparent_size: MAX_ARROW_SCHEMA_BYTES,
        ..Default::default()
    };
    match catch_panic(|| arrow_ipc::root_as_message_with_opts(&options, message).is_ok()) {
        Some(true) => Ok(()),
        _ => Err(broken()),
    }
}
