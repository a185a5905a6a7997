//! Limits of tables. Whatever a file contains, reading it stays within these bounds or ends in an
//! error.
//!
//! With them a command holds at most [`COMMAND_BYTES`] beside its groups and [`GROUP_BYTES`] of
//! groups, however small or large its input is: the footer that was decoded, the pages being
//! decoded, and the few batches that are on their way from reading to writing.

/// Memory that reading, computing and writing a table take at most, beside the groups of
/// [`Totals`](crate::Totals).
pub const COMMAND_BYTES: u64 = 6 << 30;
/// Memory that the groups of [`Totals`](crate::Totals) may take: their values and one ciphertext a
/// column each.
pub const GROUP_BYTES: u64 = 4 << 30;
/// Weights other than 1 that totals count one by one, those of all groups and columns together. A
/// weight that appears after that many others counts as one that occurs once.
pub const MAX_WEIGHTS: usize = 1 << 20;
/// Columns of a table, those within nested columns and those that count included: what is encrypted
/// of a table of 4096 columns, and totals of it, stay below.
pub const MAX_COLUMNS: usize = 20_480;
/// Bytes of the header of a CSV file.
pub const MAX_HEADER_BYTES: usize = 1 << 20;
/// Bytes of one cell.
pub const MAX_CELL_BYTES: usize = 16 << 20;
/// Bytes of one row of CSV.
pub const MAX_ROW_BYTES: usize = 64 << 20;
/// Bytes of a batch, at which a reader ends it before it has the rows asked for.
pub const BATCH_BYTES: usize = 64 << 20;
/// Bytes of a batch that cannot be divided any further: one that takes more is refused. One row
/// holds the chunks of all columns that are encrypted whole: 1000 of the set `bfv-8192` take 390
/// MiB.
pub const MAX_BATCH_BYTES: usize = 512 << 20;
/// Bytes of the footer of a Parquet file.
pub const MAX_FOOTER_BYTES: u64 = 64 << 20;
/// Bytes that the Arrow schema in a footer may stand for.
pub const MAX_ARROW_SCHEMA_BYTES: usize = 64 << 20;
/// Levels of nested columns.
pub const MAX_DEPTH: usize = 32;
/// Bytes of the header of a Parquet page, smallest and largest value included.
pub const MAX_PAGE_HEADER_BYTES: usize = 1 << 20;
/// Bytes of a Parquet page after decompression.
pub const MAX_PAGE_BYTES: u64 = 128 << 20;
/// Bytes of a page of dictionary values after decompression.
pub const MAX_DICTIONARY_BYTES: u64 = 32 << 20;
/// Bytes of a page whose values repeat parts of one another (`DELTA_BYTE_ARRAY`), so that one can
/// be as long as the page.
pub const MAX_DELTA_PAGE_BYTES: u64 = 4 << 20;
/// Values of a page.
pub const MAX_PAGE_VALUES: u64 = 1 << 24;
/// Bytes of all pages that are decoded at a time, one and its dictionary a column.
pub const MAX_OPEN_PAGES_BYTES: u64 = 512 << 20;
/// Bytes of the description of an encrypted column, all entries together.
pub const MAX_DESCRIPTION_BYTES: usize = 1 << 20;
