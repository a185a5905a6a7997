//! Tables to read: Parquet or CSV, from a file or a stream.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, Write};
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use hearith_columns::ErrorKind;
use hearith_columns::csv::{CsvReader, Dialect};
use hearith_columns::parquet::ParquetReader;

use crate::compressed::Codec;
use crate::failure::{CliError, name};
use crate::progress::Length;

/// The first bytes of every Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// The first bytes of a Parquet file with an encrypted footer. It is not supported, but is not CSV
/// either.
const ENCRYPTED_PARQUET: &[u8] = b"PARE";

/// Reads a certificate or its key, in PEM.
#[cfg(any(feature = "election", feature = "service"))]
pub(crate) fn pem(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| CliError::reading(&name(path), error))
}

/// A batch of rows on its way through a command.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The rows.
    pub(crate) batch: RecordBatch,
    /// The number of its first row in the file, from 0.
    pub(crate) first_row: u64,
    /// How much of the input has been read, in the units of its length.
    pub(crate) position: u64,
}

impl Piece {
    /// The number of the row after its last one, from 0.
    pub(crate) fn end_row(&self) -> u64 {
        self.first_row + self.batch.num_rows() as u64
    }
}

/// The batches of a table as they are read.
pub(crate) type Pieces = Box<dyn Iterator<Item = Result<Piece, CliError>> + Send>;

/// A table that can be read once, from start to end.
pub(crate) struct Table {
    /// Its name in messages.
    pub(crate) name: String,
    /// Whether it is CSV. Its column names may then be cells, because the file may lack the
    /// expected header.
    pub(crate) is_csv: bool,
    /// Whether its columns have their own names.
    pub(crate) is_headed: bool,
    /// Its columns.
    pub(crate) schema: SchemaRef,
    /// Its length.
    pub(crate) length: Length,
    /// Its rows.
    pub(crate) pieces: Pieces,
}

impl Table {
    /// Opens a table of either format; `-` is standard input. Stores a Parquet stream in a
    /// temporary file first, because its schema comes last.
    pub(crate) fn open(path: &Path, batch_rows: usize) -> Result<Self, CliError> {
        Self::read(path, batch_rows, &Dialect::default(), &[])
    }

    /// Like [`open`](Self::open), but reads CSV in a dialect. Its number format applies to the
    /// columns called `numbers`.
    pub(crate) fn read(
        path: &Path,
        batch_rows: usize,
        dialect: &Dialect,
        numbers: &[String],
    ) -> Result<Self, CliError> {
        match Opened::open(path)? {
            Opened::Parquet(file) => {
                let source = file.source()?;
                let (schema, length) = (source.schema(), Length::Rows(source.rows()));
                let pieces = file.pieces(source, batch_rows, None)?;
                Ok(Self { name: file.name, is_csv: false, is_headed: true, schema, length, pieces })
            }
            Opened::Csv { name, input, bytes } => Self::csv(name, input, bytes, batch_rows, dialect, numbers),
        }
    }

    /// The failure for a fault of the columns. Does not list the columns of a CSV file.
    pub(crate) fn failure(&self, error: hearith_columns::Error) -> CliError {
        match (self.is_csv, error.kind()) {
            (true, ErrorKind::NoSuchColumn { .. }) => {
                let column = error.column().unwrap_or_default();
                if !self.is_headed {
                    let what = format!(
                        "column {column}: does not exist, there are only c1 to c{}",
                        self.schema.fields().len()
                    );
                    return CliError::at(&self.name, what);
                }
                let what = format!("column {column}: the first line does not name it");
                CliError::at(&self.name, what).with_note("--no-header: the first line is a row")
            }
            _ => CliError::at(&self.name, error),
        }
    }

    fn csv(
        name: String,
        input: Box<dyn Read + Send>,
        bytes: Option<u64>,
        batch_rows: usize,
        dialect: &Dialect,
        numbers: &[String],
    ) -> Result<Self, CliError> {
        let read = Arc::new(AtomicU64::new(0));
        let counter = read.clone();
        let input = Counted::new(input, move |read| counter.store(read, Ordering::Relaxed));
        let source = CsvReader::with(input, batch_rows, dialect, numbers);
        let source = source.map_err(|error| CliError::at(&name, error))?;
        let length = bytes.map_or(Length::Unknown, Length::Bytes);
        let (schema, file) = (source.schema(), name.clone());
        let mut first_row = 0;
        let pieces = source.map(move |batch| {
            let batch = batch.map_err(|error| CliError::at(&file, error))?;
            let position = read.load(Ordering::Relaxed);
            let piece = Piece { batch, first_row, position };
            first_row = piece.end_row();
            Ok(piece)
        });
        Ok(Self { name, is_csv: true, is_headed: dialect.has_header(), schema, length, pieces: Box::new(pieces) })
    }
}

/// A Parquet file that can be read more than once.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    /// Its name in messages.
    pub(crate) name: String,
    origin: Origin,
}

/// The location of a Parquet file.
#[derive(Debug)]
enum Origin {
    /// An unnamed temporary file with the content of a stream.
    Stored(File),
    /// A named file, opened for each reading, since a process may have few open files and there may
    /// be many inputs.
    Named(PathBuf, State),
}

/// Metadata that changes if a file is replaced or modified.
#[derive(Debug, PartialEq, Eq)]
struct State {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        let (file, modified) = ((metadata.dev(), metadata.ino()), (metadata.mtime(), metadata.mtime_nsec()));
        Self { file, length: metadata.len(), modified }
    }
}

impl ParquetFile {
    /// Opens a file. Stores a stream in a temporary file first.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        match Opened::open(path)? {
            Opened::Parquet(file) => Ok(file),
            Opened::Csv { name, .. } => Err(CliError::at(name, "not a Parquet file")),
        }
    }

    /// Reads the footer.
    pub(crate) fn source(&self) -> Result<ParquetReader, CliError> {
        let file = match &self.origin {
            Origin::Stored(file) => file.try_clone(),
            Origin::Named(path, state) => {
                match File::open(path).and_then(|file| Ok((State::of(&file.metadata()?), file))) {
                    Ok((now, _)) if now != *state => {
                        return Err(CliError::at(&self.name, "changed while it was being read"));
                    }
                    found => found.map(|(_, file)| file),
                }
            }
        };
        let file = file.map_err(|error| CliError::reading(&self.name, error))?;
        ParquetReader::open(file).map_err(|error| CliError::at(&self.name, error))
    }

    /// Reads the rows of the file, with only the columns in `only`, if given.
    pub(crate) fn pieces(
        &self,
        source: ParquetReader,
        batch_rows: usize,
        only: Option<&HashSet<String>>,
    ) -> Result<Pieces, CliError> {
        let name = self.name.clone();
        let batches = source.batches(batch_rows, only).map_err(|error| CliError::at(&name, error))?;
        let mut first_row = 0;
        Ok(Box::new(batches.map(move |batch| {
            let batch = batch.map_err(|error| CliError::at(&name, error))?;
            let mut piece = Piece { batch, first_row, position: 0 };
            first_row = piece.end_row();
            piece.position = first_row;
            Ok(piece)
        })))
    }
}

/// The rows of a table, regrouped to match another table's batches.
pub(crate) struct Rows {
    pieces: Pieces,
    pending: RecordBatch,
    position: u64,
}

impl Rows {
    pub(crate) fn new(pieces: Pieces, schema: SchemaRef) -> Self {
        Self { pieces, pending: RecordBatch::new_empty(schema), position: 0 }
    }

    /// Returns pieces of `len` rows each. The last one may be shorter.
    pub(crate) fn by(mut self, len: usize) -> impl Iterator<Item = Result<Piece, CliError>> + Send {
        let mut first_row = 0;
        iter::from_fn(move || {
            let piece = self.take(len).map(|batch| Piece { batch, first_row, position: self.position });
            match piece {
                Ok(piece) if piece.batch.num_rows() == 0 => None,
                Ok(piece) => {
                    first_row = piece.end_row();
                    Some(Ok(piece))
                }
                Err(failure) => Some(Err(failure)),
            }
        })
    }

    /// The next `len` rows, or fewer at the end.
    pub(crate) fn take(&mut self, len: usize) -> Result<RecordBatch, CliError> {
        while self.pending.num_rows() < len {
            let Some(piece) = self.pieces.next() else { break };
            let schema: SchemaRef = self.pending.schema();
            let Piece { batch, position, .. } = piece?;
            self.position = position;
            self.pending =
                concat_batches(&schema, [&self.pending, &batch]).map_err(|error| CliError::new(error.to_string()))?;
        }
        let batch = self.pending.slice(0, len.min(self.pending.num_rows()));
        self.pending = self.pending.slice(batch.num_rows(), self.pending.num_rows() - batch.num_rows());
        Ok(batch)
    }
}

/// The number of bytes of a row's fixed-size binary columns, which include ciphertexts.
pub(crate) fn fixed_bytes(schema: &Schema) -> usize {
    let width = |kind: &DataType| match kind {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0),
        _ => 0,
    };
    schema.fields().iter().map(|field| width(field.data_type())).sum()
}

/// The number of rows that fit in about `bytes` bytes, between 256 and 8192.
pub(crate) fn rows_of(schema: &Schema, bytes: usize) -> usize {
    /// Assumed bytes of a text or similar value.
    const USUAL: usize = 32;
    let width = |kind: &DataType| match kind {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(USUAL),
        other => other.primitive_width().unwrap_or(USUAL),
    };
    let row: usize = schema.fields().iter().map(|field| width(field.data_type())).sum();
    (bytes / row.max(1)).clamp(256, 8192)
}

/// A file or stream with its detected format.
enum Opened {
    Parquet(ParquetFile),
    Csv { name: String, input: Box<dyn Read + Send>, bytes: Option<u64> },
}

impl Opened {
    fn open(path: &Path) -> Result<Self, CliError> {
        let standard = path == Path::new("-");
        let name = if standard { "standard input".to_owned() } else { name(path) };
        match standard {
            true => Self::stream(name, Box::new(io::stdin())),
            false => Self::path(name, path),
        }
    }

    fn path(name: String, path: &Path) -> Result<Self, CliError> {
        let unreadable = |error| CliError::reading(&name, error);
        let mut file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(unreadable(io::Error::other("is a directory")));
        }
        if !metadata.is_file() {
            return Self::stream(name, Box::new(file));
        }
        let first_bytes = first_bytes(&mut file).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        if let Some(codec) = Codec::of(&first_bytes) {
            let plain = codec.decoder(file).map_err(unreadable)?;
            return Self::plain(name, plain);
        }
        match is_called_parquet(path) || is_parquet(&first_bytes) {
            true => {
                Ok(Self::Parquet(ParquetFile { name, origin: Origin::Named(path.to_owned(), State::of(&metadata)) }))
            }
            false => Ok(Self::Csv { name, input: Box::new(file), bytes: Some(metadata.len()) }),
        }
    }

    fn stream(name: String, mut stream: Box<dyn Read + Send>) -> Result<Self, CliError> {
        let unreadable = |error| CliError::reading(&name, error);
        let first_bytes = first_bytes(&mut stream).map_err(unreadable)?;
        let codec = Codec::of(&first_bytes);
        let input = Cursor::new(first_bytes).chain(stream);
        let plain = match codec {
            Some(codec) => codec.decoder(input).map_err(unreadable)?,
            None => Box::new(input),
        };
        Self::plain(name, plain)
    }

    /// Opens an uncompressed or decompressed stream.
    fn plain(name: String, mut stream: Box<dyn Read + Send>) -> Result<Self, CliError> {
        let first_bytes = first_bytes(&mut stream).map_err(|error| CliError::reading(&name, error))?;
        let is_parquet = is_parquet(&first_bytes);
        let mut input = Cursor::new(first_bytes).chain(stream);
        if !is_parquet {
            return Ok(Self::Csv { name, input: Box::new(input), bytes: None });
        }
        let file = stored(&name, &mut input)?;
        Ok(Self::Parquet(ParquetFile { name, origin: Origin::Stored(file) }))
    }
}

/// Copies a stream to a temporary file.
fn stored(name: &str, input: &mut impl Read) -> Result<File, CliError> {
    let folder = std::env::temp_dir();
    let full = |error: io::Error| {
        let what = format!("cannot be stored temporarily in {}: {error}", folder.display());
        CliError::at(name, what).with_note("set TMPDIR to another folder")
    };
    let mut file = tempfile::tempfile_in(&folder).map_err(full)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => file.write_all(&buffer[..count]).map_err(full)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::reading(name, error)),
        }
    }
    file.rewind().map_err(full)?;
    Ok(file)
}

/// Whether a file has the extension of a Parquet file.
pub(crate) fn is_called_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Whether the first bytes are those of a Parquet file.
fn is_parquet(first_bytes: &[u8]) -> bool {
    first_bytes == PARQUET || first_bytes == ENCRYPTED_PARQUET
}

/// Reads the first bytes of an input, as many as identify Parquet.
fn first_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(PARQUET.len());
    input.take(PARQUET.len() as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A reader that reports how many bytes have been read.
pub(crate) struct Counted<R, F> {
    input: R,
    read: u64,
    on_read: F,
}

impl<R: Read, F: FnMut(u64)> Counted<R, F> {
    /// Calls `on_read` after every read with the total number of bytes.
    pub(crate) fn new(input: R, on_read: F) -> Self {
        Self { input, read: 0, on_read }
    }
}

impl<R: Read, F: FnMut(u64)> Read for Counted<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.read += count as u64;
        (self.on_read)(self.read);
        Ok(count)
    }
}

/// Opens a file as a stream, and returns its name for errors; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<(String, Box<dyn BufRead + Send>), CliError> {
    if path == Path::new("-") {
        return Ok(("standard input".to_owned(), Box::new(BufReader::new(io::stdin()))));
    }
    let name = name(path);
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::Error::other("is a directory")),
        false => Ok(file),
    });
    match opened {
        Ok(file) => Ok((name, Box::new(BufReader::with_capacity(1 << 16, file)))),
        Err(error) => Err(CliError::reading(&name, error)),
    }
}
