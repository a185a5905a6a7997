//! Limits of tables. Reading stays within these bounds or fails, whatever a file contains.
//!
//! A command holds at most [`COMMAND_BYTES`] in addition to [`GROUP_BYTES`] of groups, for inputs
//! of any size. This covers the decoded footer, the pages being decoded, and the few batches in
//! transit from reading to writing.

/// Largest memory for reading, computing and writing a table, without the groups of
/// [`Aggregator`](crate::Aggregator).
pub const COMMAND_BYTES: u64 = 6 << 30;
/// Largest memory for the groups of [`Aggregator`](crate::Aggregator): their values and one
/// ciphertext per column.
pub const GROUP_BYTES: u64 = 4 << 30;
/// Weights other than 1 that totals count individually, over all groups and columns. A weight that
/// first appears after that many others counts as occurring once.
pub const MAX_WEIGHTS: usize = 1 << 20;
/// Columns of a table, including nested and counting columns. The encrypted form of a table of 4096
/// columns, and its totals, stay below this limit.
pub const MAX_COLUMNS: usize = 20_480;
/// Bytes of the header of a CSV file.
pub const MAX_HEADER_BYTES: usize = 1 << 20;
/// Bytes of one cell.
pub const MAX_CELL_BYTES: usize = 16 << 20;
/// Bytes of one row of CSV.
pub const MAX_ROW_BYTES: usize = 64 << 20;
/// Bytes at which a reader ends a batch before it has the requested rows.
pub const BATCH_BYTES: usize = 64 << 20;
/// Bytes of a batch that cannot be divided further; a larger one is rejected. One row holds the
/// chunks of all batched columns: 1000 columns with the set `bfv-8192` need 390 MiB.
pub const MAX_BATCH_BYTES: usize = 512 << 20;
/// Bytes of the footer of a Parquet file.
pub const MAX_FOOTER_BYTES: u64 = 64 << 20;
/// Bytes to which the Arrow schema in a footer may expand.
pub const MAX_ARROW_SCHEMA_BYTES: usize = 64 << 20;
/// Levels of nested columns.
pub const MAX_DEPTH: usize = 32;
/// Bytes of the header of a Parquet page, including its smallest and largest value.
pub const MAX_PAGE_HEADER_BYTES: usize = 1 << 20;
/// Bytes of a Parquet page after decompression.
pub const MAX_PAGE_BYTES: u64 = 128 << 20;
/// Bytes of a page of dictionary values after decompression.
pub const MAX_DICTIONARY_BYTES: u64 = 32 << 20;
/// Bytes of a page whose values share parts (`DELTA_BYTE_ARRAY`), so that a single value can be as
/// long as the page.
pub const MAX_DELTA_PAGE_BYTES: u64 = 4 << 20;
/// Values of a page.
pub const MAX_PAGE_VALUES: u64 = 1 << 24;
/// Bytes of all pages decoded at the same time: one page and its dictionary per column.
pub const MAX_OPEN_PAGES_BYTES: u64 = 512 << 20;
/// Bytes of all entries that describe an encrypted column.
pub const MAX_DESCRIPTION_BYTES: usize = 1 << 20;
