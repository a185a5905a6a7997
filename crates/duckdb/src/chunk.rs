//! DuckDB's vectors: reads and writes the columns of a chunk of rows.

use std::ffi::c_char;
use std::marker::PhantomData;

use libduckdb_sys as ffi;

/// Largest size in bytes of a value stored inline in the vector.
const INLINED: u32 = 12;

/// A function's arguments for a chunk of rows.
pub(crate) struct Chunk<'a> {
    raw: ffi::duckdb_data_chunk,
    rows: usize,
    columns: usize,
    borrowed: PhantomData<&'a ()>,
}

/// One column of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Column<'a> {
    data: *const u8,
    validity: *const u64,
    kind: ffi::duckdb_type,
    rows: usize,
    borrowed: PhantomData<&'a ()>,
}

/// The column that a function fills.
pub(crate) struct Output<'a> {
    raw: ffi::duckdb_vector,
    offset: usize,
    borrowed: PhantomData<&'a ()>,
}

impl Chunk<'_> {
    /// # Safety
    /// `raw` must be a chunk of flat vectors, as DuckDB passes to functions, and must outlive the
    /// result.
    pub(crate) unsafe fn new(raw: ffi::duckdb_data_chunk) -> Self {
        // SAFETY: guaranteed by the caller.
        let (rows, columns) =
            unsafe { (ffi::duckdb_data_chunk_get_size(raw), ffi::duckdb_data_chunk_get_column_count(raw)) };
        Self { raw, rows: rows as usize, columns: columns as usize, borrowed: PhantomData }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A column, `None` beyond the last.
    pub(crate) fn column(&self, index: usize) -> Option<Column<'_>> {
        if index >= self.columns {
            return None;
        }
        // SAFETY: the chunk is alive and has this column. The type is destroyed after use.
        unsafe {
            let vector = ffi::duckdb_data_chunk_get_vector(self.raw, index as ffi::idx_t);
            let mut kind = ffi::duckdb_vector_get_column_type(vector);
            let column = Column {
                data: ffi::duckdb_vector_get_data(vector).cast(),
                validity: ffi::duckdb_vector_get_validity(vector),
                kind: ffi::duckdb_get_type_id(kind),
                rows: self.rows,
                borrowed: PhantomData,
            };
            ffi::duckdb_destroy_logical_type(&mut kind);
            Some(column)
        }
    }
}

impl<'a> Column<'a> {
    /// Whether a row is not null.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        assert!(row < self.rows, "a row of the chunk");
        // SAFETY: a validity mask has one bit per row. Without a mask, all rows are valid.
        self.validity.is_null() || unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 1
    }

    /// The bytes of a row's `BLOB` or `VARCHAR`, `None` for null.
    pub(crate) fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        assert!(self.is_text(), "a column of values of any length");
        if !self.is_valid(row) {
            return None;
        }
        // SAFETY: the column has such values, and `row` is valid. The union holds the bytes inline
        // if they are few, and a pointer to them otherwise. They live as long as the chunk.
        unsafe {
            let value = &*self.data.cast::<ffi::duckdb_string_t>().add(row);
            let length = value.value.inlined.length;
            let start: *const c_char = match length <= INLINED {
                true => value.value.inlined.inlined.as_ptr(),
                false => value.value.pointer.ptr,
            };
            Some(std::slice::from_raw_parts(start.cast(), length as usize))
        }
    }

    /// The text of a row's `VARCHAR`, `None` for null.
    pub(crate) fn text(&self, row: usize) -> Option<&'a str> {
        // DuckDB's texts are UTF-8.
        std::str::from_utf8(self.bytes(row)?).ok()
    }

    /// Whether the column holds texts.
    pub(crate) fn is_varchar(&self) -> bool {
        self.kind == ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR
    }

    fn is_text(&self) -> bool {
        self.is_varchar() || self.kind == ffi::DUCKDB_TYPE_DUCKDB_TYPE_BLOB
    }

    /// Bits of the column's signed integers, `None` if it holds something else.
    pub(crate) fn integer_bits(&self) -> Option<u32> {
        match self.kind {
            // A byte of value 0 or 1.
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => Some(1),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => Some(8),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => Some(16),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Some(32),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Some(64),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Some(128),
            _ => None,
        }
    }

    /// A row's integer, `None` for null.
    pub(crate) fn integer(&self, row: usize) -> Option<i128> {
        let bits = self.integer_bits().expect("a column of integers");
        if !self.is_valid(row) {
            return None;
        }
        // SAFETY: the column is an array of integers of this size, and `row` is within it.
        Some(unsafe {
            match bits {
                1 => (*self.data.cast::<u8>().add(row) & 1).into(),
                8 => (*self.data.cast::<i8>().add(row)).into(),
                16 => (*self.data.cast::<i16>().add(row)).into(),
                32 => (*self.data.cast::<i32>().add(row)).into(),
                64 => (*self.data.cast::<i64>().add(row)).into(),
                _ => {
                    let wide = &*self.data.cast::<ffi::duckdb_hugeint>().add(row);
                    i128::from(wide.upper) << 64 | i128::from(wide.lower)
                }
            }
        })
    }
}

impl Output<'_> {
    /// The rows of a vector from `offset` on.
    ///
    /// # Safety
    /// `raw` must be a vector that DuckDB passes to a function to fill, and must outlive the
    /// result.
    pub(crate) unsafe fn new(raw: ffi::duckdb_vector, offset: usize) -> Self {
        Self { raw, offset, borrowed: PhantomData }
    }

    /// Makes a row null.
    pub(crate) fn set_null(&mut self, row: usize) {
        // SAFETY: the vector is alive. Once requested, its mask has one bit per row.
        unsafe {
            ffi::duckdb_vector_ensure_validity_writable(self.raw);
            let validity = ffi::duckdb_vector_get_validity(self.raw);
            ffi::duckdb_validity_set_row_invalid(validity, (self.offset + row) as ffi::idx_t);
        }
    }

    /// Writes a row of a vector of `BLOB` or `VARCHAR`.
    pub(crate) fn set_bytes(&mut self, row: usize, bytes: &[u8]) {
        let (index, length) = ((self.offset + row) as ffi::idx_t, bytes.len() as ffi::idx_t);
        // SAFETY: the vector is alive and holds such values. DuckDB copies the bytes.
        unsafe { ffi::duckdb_vector_assign_string_element_len(self.raw, index, bytes.as_ptr().cast(), length) }
    }

    /// Writes a row of a vector of `BIGINT`.
    ///
    /// # Safety
    /// The vector must have that type and that row.
    pub(crate) unsafe fn set_long(&mut self, row: usize, value: i64) {
        // SAFETY: guaranteed by the caller; the vector's data is an array of such numbers.
        unsafe { *ffi::duckdb_vector_get_data(self.raw).cast::<i64>().add(self.offset + row) = value }
    }

    /// Writes a row of a vector of `HUGEINT`.
    ///
    /// # Safety
    /// The vector must have that type and that row.
    pub(crate) unsafe fn set_integer(&mut self, row: usize, value: i128) {
        let value = ffi::duckdb_hugeint { lower: value as u64, upper: (value >> 64) as i64 };
        // SAFETY: guaranteed by the caller; the vector's data is an array of such numbers.
        unsafe { *ffi::duckdb_vector_get_data(self.raw).cast::<ffi::duckdb_hugeint>().add(self.offset + row) = value }
    }

    /// Writes a count to a row of a vector of `BIGINT`.
    ///
    /// # Safety
    /// The vector must have that type and that row.
    pub(crate) unsafe fn set_count(&mut self, row: usize, count: u64) {
        // SAFETY: guaranteed by the caller; the vector's data is an array of such numbers.
        unsafe { *ffi::duckdb_vector_get_data(self.raw).cast::<i64>().add(self.offset + row) = count as i64 }
    }
}
