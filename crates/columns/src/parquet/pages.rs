//! The pages of a row group, checked against limits before they reach the decoder.
//!
//! The decoder reads every page's header and then its body through a [`ChunkReader`]. The
//! implementation here checks the headers in passing, and gives the decoder exactly the bytes that
//! were checked.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};

use super::thrift::{Fault, I32, Reader, STRUCT};
use crate::error::{ErrorKind, ParquetFault};
use crate::limits::{
    MAX_BATCH_BYTES, MAX_DELTA_PAGE_BYTES, MAX_DICTIONARY_BYTES, MAX_OPEN_PAGES_BYTES, MAX_PAGE_BYTES,
    MAX_PAGE_HEADER_BYTES, MAX_PAGE_VALUES,
};

/// Bytes read for a header at first; most headers are shorter.
const HEADER_BYTES: usize = 1 << 10;
/// Codes of page types and encodings in the format.
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;
const DELTA_BYTE_ARRAY: i64 = 7;
/// Bytes decoded per step.
const BROTLI_BUFFER: usize = 4096;
/// The first bytes of LZ4 frames, including skippable ones. The page header does not bound their
/// length after decompression; the largest expansion factor of LZ4 does.
const LZ4_FRAMES: [(u32, u32); 3] =
    [(0x184d_2204, 0xffff_ffff), (0x184d_2a50, 0xffff_fff0), (0x184c_2102, 0xffff_ffff)];
const LZ4_EXPANDS: u64 = 255;

/// The pages of the columns to read in one row group.
#[derive(Clone)]
pub(super) struct Pages(Arc<Shared>);

struct Shared {
    file: File,
    length: u64,
    state: Mutex<State>,
}

struct State {
    /// In file order, without overlap.
    chunks: Vec<Chunk>,
    /// Bytes of the pages and dictionaries of all chunks.
    open_bytes: u64,
    /// Bytes of pages that lie entirely within the current batch.
    bytes_in_batch: u64,
    /// Why a page was rejected.
    rejected: Option<ErrorKind>,
}

/// A column of the row group.
struct Chunk {
    start: u64,
    end: u64,
    compression: Compression,
    /// Bytes of a value; the minimum for byte arrays.
    width: u64,
    repeated: bool,
    /// Bytes of the longest value in its dictionary.
    max_value_len: u64,
    dictionary: u64,
    page: u64,
    /// The declared size of the page after decompression.
    uncompressed_size: u64,
    /// Whether a page started within the current batch.
    started: bool,
}

/// The relevant fields of a page header.
#[derive(Default)]
struct Header {
    kind: i64,
    uncompressed: u64,
    compressed: u64,
    values: u64,
    encoding: i64,
}

impl Pages {
    /// Prepares to read these columns of a row group, numbered as leaves of the schema.
    pub(super) fn new(file: &File, group: &RowGroupMetaData, leaves: &[usize]) -> Result<Self, ErrorKind> {
        let length = file.metadata()?.len();
        let mut chunks: Vec<Chunk> = leaves.iter().map(|&leaf| Chunk::new(group.column(leaf))).collect();
        chunks.sort_by_key(|chunk| chunk.start);
        let apart = chunks.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !apart || chunks.last().is_some_and(|last| last.end > length) {
            return Err(broken("the list of its columns' places"));
        }
        let state = Mutex::new(State { chunks, open_bytes: 0, bytes_in_batch: 0, rejected: None });
        Ok(Self(Arc::new(Shared { file: file.try_clone()?, length, state })))
    }

    /// Bytes of the longest value in the dictionary of a column, 0 if it has none. Only byte arrays
    /// are examined.
    pub(super) fn max_value_len(&self, column: &ColumnChunkMetaData) -> Result<u64, ErrorKind> {
        let (start, length) = column.byte_range();
        if column.column_type() != Type::BYTE_ARRAY
            || length == 0
            || self.0.header(start, start + length)?.0.kind != DICTIONARY_PAGE
        {
            return Ok(0);
        }
        let page = SerializedPageReader::new(Arc::new(self.clone()), column, 0, None)
            .and_then(|mut pages| pages.get_next_page())
            .map_err(|error| self.rejected().unwrap_or_else(|| ErrorKind::NotParquet(error.into())))?;
        let Some(Page::DictionaryPage { buf, .. }) = page else { return Ok(0) };
        let max_value_len = max_length(&buf);
        let mut state = self.state();
        if let Some(index) = state.index_at(start) {
            state.open_bytes -= state.chunks[index].page;
            let chunk = &mut state.chunks[index];
            (chunk.max_value_len, chunk.page, chunk.started) = (max_value_len, 0, false);
        }
        Ok(max_value_len)
    }

    /// Starts another batch.
    pub(super) fn begin_batch(&self) {
        let mut state = self.state();
        state.bytes_in_batch = 0;
        state.chunks.iter_mut().for_each(|chunk| chunk.started = false);
    }

    /// Why a page was rejected, if one was.
    pub(super) fn rejected(&self) -> Option<ErrorKind> {
        self.state().rejected.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores why a page is rejected, because the decoder would keep only the text.
    fn reject(&self, kind: ErrorKind) -> ParquetError {
        self.state().rejected = Some(kind);
        ParquetError::General("a page was refused".to_owned())
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.0.length
    }
}

impl ChunkReader for Pages {
    type T = Cursor<Vec<u8>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let end = self.state().chunk_at(start).map(|chunk| chunk.end);
        let end = end.ok_or_else(|| self.reject(broken("a page's place")))?;
        let (header, bytes) = self.0.header(start, end).map_err(|kind| self.reject(kind))?;
        let checked = self.state().check_page(start, &header);
        checked.map_err(|kind| self.reject(kind))?;
        Ok(Cursor::new(bytes))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if length as u64 > MAX_PAGE_BYTES {
            return Err(self.reject(too_large("bytes in a page", MAX_PAGE_BYTES)));
        }
        let mut bytes = vec![0; length];
        self.0.file.read_exact_at(&mut bytes, start)?;
        let found = self.state().chunk_at(start).map(|chunk| (chunk.compression, chunk.uncompressed_size));
        let (compression, uncompressed_size) = found.ok_or_else(|| self.reject(broken("a page's place")))?;
        match expands_beyond(&bytes, compression, uncompressed_size) {
            Ok(false) => Ok(bytes.into()),
            Ok(true) => Err(self.reject(broken("the length of a compressed page"))),
            Err(error) => Err(error.into()),
        }
    }
}

impl Shared {
    /// Reads the header of the page at `start` in a column that ends at `end`. Returns its fields
    /// and bytes.
    fn header(&self, start: u64, end: u64) -> Result<(Header, Vec<u8>), ErrorKind> {
        let mut length = HEADER_BYTES;
        loop {
            let most = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX).min(MAX_PAGE_HEADER_BYTES);
            let mut bytes = vec![0; length.min(most)];
            self.file.read_exact_at(&mut bytes, start)?;
            match Header::read(&bytes) {
                Ok((header, length)) => {
                    bytes.truncate(length);
                    return Ok((header, bytes));
                }
                Err(Fault::Short) if bytes.len() < most => length *= 8,
                Err(Fault::Short) if most == MAX_PAGE_HEADER_BYTES => {
                    return Err(too_large("bytes in the header of a page", MAX_PAGE_HEADER_BYTES as u64));
                }
                Err(_) => return Err(broken("the header of a page")),
            }
        }
    }
}

impl Header {
    fn read(bytes: &[u8]) -> Result<(Self, usize), Fault> {
        let (mut header, mut reader) = (Self::default(), Reader::new(bytes));
        reader.fields(|reader, id, kind| {
            match (id, kind) {
                (1, I32) => header.kind = reader.integer()?,
                (2, I32) => header.uncompressed = reader.count()?,
                (3, I32) => header.compressed = reader.count()?,
                // Fields of a data page of either version, or of a dictionary page.
                (5 | 7 | 8, STRUCT) => {
                    let encoding_id = if id == 8 { 4 } else { 2 };
                    let (values, encoding) = (&mut header.values, &mut header.encoding);
                    reader.fields(|reader, id, kind| {
                        match (id, kind) {
                            (1, I32) => *values = (*values).max(reader.count()?),
                            (id, I32) if id == encoding_id => *encoding = reader.integer()?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok((header, reader.position()))
    }
}

impl State {
    /// The index of the column chunk that contains a byte of the file.
    fn index_at(&self, byte: u64) -> Option<usize> {
        let index = self.chunks.partition_point(|chunk| chunk.start <= byte).checked_sub(1)?;
        (byte < self.chunks[index].end).then_some(index)
    }

    /// The column chunk that contains a byte of the file.
    fn chunk_at(&self, byte: u64) -> Option<&Chunk> {
        self.index_at(byte).map(|index| &self.chunks[index])
    }

    /// Accounts for a page, or returns the limit that it exceeds.
    fn check_page(&mut self, start: u64, header: &Header) -> Result<(), ErrorKind> {
        let index = self.index_at(start).ok_or_else(|| broken("a page's place"))?;
        let chunk = &mut self.chunks[index];
        let before = chunk.dictionary + chunk.page;
        let size = header.uncompressed.max(header.compressed);
        if size > MAX_PAGE_BYTES {
            return Err(too_large("bytes in a page", MAX_PAGE_BYTES));
        }
        if header.values > MAX_PAGE_VALUES {
            return Err(too_large("values in a page", MAX_PAGE_VALUES));
        }
        chunk.uncompressed_size = header.uncompressed;
        match header.kind {
            DICTIONARY_PAGE if start != chunk.start => return Err(broken("the place of a dictionary")),
            DICTIONARY_PAGE if size > MAX_DICTIONARY_BYTES => {
                return Err(too_large("bytes in a dictionary", MAX_DICTIONARY_BYTES));
            }
            DICTIONARY_PAGE if header.values * chunk.width > size => {
                return Err(broken("the number of values of a dictionary"));
            }
            DICTIONARY_PAGE => chunk.dictionary = size,
            DATA_PAGE | DATA_PAGE_V2 => {
                let delta = header.encoding == DELTA_BYTE_ARRAY;
                if delta && size > MAX_DELTA_PAGE_BYTES {
                    return Err(too_large("bytes in a page of delta byte arrays", MAX_DELTA_PAGE_BYTES));
                }
                // A page is finished when another follows. If rows are lists, one row may use all
                // of both pages.
                if chunk.started {
                    self.bytes_in_batch += chunk.page;
                }
                if chunk.repeated {
                    let value = if delta { size } else { chunk.width.max(chunk.max_value_len) };
                    self.bytes_in_batch += header.values.saturating_mul(value);
                }
                (chunk.page, chunk.started) = (size, true);
            }
            // Pages of other types hold no values.
            _ => {}
        }
        let chunk = &self.chunks[index];
        self.open_bytes = self.open_bytes - before + chunk.dictionary + chunk.page;
        if self.open_bytes > MAX_OPEN_PAGES_BYTES {
            return Err(too_large("bytes in the pages of a row", MAX_OPEN_PAGES_BYTES));
        }
        match self.bytes_in_batch > MAX_BATCH_BYTES as u64 {
            true => Err(too_large("bytes in a few rows", MAX_BATCH_BYTES as u64)),
            false => Ok(()),
        }
    }
}

impl Chunk {
    fn new(column: &ColumnChunkMetaData) -> Self {
        let (start, length) = column.byte_range();
        let descriptor = column.column_descr();
        let width = width(column);
        Self {
            start,
            end: start.saturating_add(length),
            compression: column.compression(),
            width,
            repeated: descriptor.max_rep_level() > 0,
            max_value_len: 0,
            dictionary: 0,
            page: 0,
            uncompressed_size: 0,
            started: false,
        }
    }
}

/// Smallest size in bytes of a column's value in a page; for types other than byte arrays, also the
/// largest.
pub(super) fn width(column: &ColumnChunkMetaData) -> u64 {
    match column.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(column.column_descr().type_length()).unwrap_or(0).max(1),
    }
}

/// Whether a column declares that its values share parts (delta encoding).
pub(super) fn has_deltas(column: &ColumnChunkMetaData) -> bool {
    column.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
}

/// The longest of consecutive byte arrays, each preceded by its length.
fn max_length(mut values: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((length, rest)) = values.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(length.into());
        values = rest.get(length as usize..).unwrap_or_default();
    }
    longest
}

/// Whether a page decompresses to more bytes than it declares, in formats whose decoders do not
/// stop at the declared size.
fn expands_beyond(page: &[u8], compression: Compression, declared: u64) -> io::Result<bool> {
    match compression {
        Compression::GZIP(_) => Ok(is_longer(MultiGzDecoder::new(page), declared)),
        Compression::BROTLI(_) => Ok(is_longer(brotli::Decompressor::new(page, BROTLI_BUFFER), declared)),
        Compression::LZ4 => {
            let magic = page.first_chunk::<4>().map(|magic| u32::from_le_bytes(*magic));
            let framed = magic.is_some_and(|magic| LZ4_FRAMES.iter().any(|(value, mask)| magic & mask == *value));
            Ok(framed && page.len() as u64 * LZ4_EXPANDS > MAX_PAGE_BYTES)
        }
        _ => Ok(false),
    }
}

/// Whether a decoder returns more bytes than declared. Errors are left to the actual decoding.
fn is_longer(decoder: impl Read, declared: u64) -> bool {
    io::copy(&mut decoder.take(declared + 1), &mut io::sink()).is_ok_and(|length| length > declared)
}

fn too_large(what: &'static str, limit: u64) -> ErrorKind {
    ErrorKind::TooLarge { what, limit }
}

fn broken(what: &'static str) -> ErrorKind {
    ErrorKind::NotParquet(ParquetFault::Structure(what))
}
