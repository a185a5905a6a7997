//! Sums batched columns by groups and with weights, without the private key.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter;
use hearith_bfv::{Ciphertext, NO_GROUP, PublicKey, Sums, Total};

use super::chunk::{self, Chunks};
use super::column::{self, Form, LatticeColumn, lattice_columns};
use super::values::Values;
use crate::ciphers;
use crate::contents::Contents;
use crate::encrypt::{batch_of, find};
use crate::error::{CompanionFault, Error, ErrorKind};
use crate::groups::{Groups, canonical_type, to_canonical};
use crate::limits::{GROUP_BYTES, MAX_WEIGHTS};
use crate::metadata::{self, counts_rows};
use crate::totals::{Aggregates, Withheld, count_name, totals_schema, with_contents};

/// Running totals of batched columns, by groups.
///
/// After an error, discard the totals: part of the data may have been added.
pub struct LatticeAggregator {
    key: PublicKey,
    by: Vec<Field>,
    weight: Option<String>,
    columns: Vec<ColumnState>,
    groups: Groups,
    rows: Vec<u64>,
    schema: SchemaRef,
    /// The tables that were added, and which of their rows.
    contents: Contents,
    /// The contents that the current table's metadata state.
    current_contents: Contents,
    /// Whether the current input is an entire table rather than a part.
    is_whole_table: bool,
    allow_repeated: bool,
    allow_rare_weights: bool,
}

/// One column: its description in the totals and in the current table, and its sums.
struct ColumnState {
    reference: LatticeColumn,
    current: LatticeColumn,
    sums: Sums,
    additions: Vec<u64>,
    /// Groups that have a total, even one of numbers that all have weight 0.
    present: Vec<bool>,
    values: Values,
    chunks: Chunks,
    /// Groups and weights of the rows in the current chunk.
    groups: Vec<u32>,
    weights: Vec<i64>,
}

impl LatticeAggregator {
    /// Starts totals of all columns of tables with this schema, grouped by the values of the
    /// columns `by`. If `weight` names an unencrypted column, each number is multiplied by its
    /// row's value there.
    ///
    /// # Errors
    /// As [`Aggregator::new`](crate::Aggregator::new), and for a weight that is encrypted or does
    /// not hold integers.
    pub fn new(key: &PublicKey, schema: &Schema, by: &[String], weight: Option<&str>) -> Result<Self, Error> {
        let found = column::under(key, schema)?;
        let by = by.iter().map(|name| group_field(schema, &found, by, name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(name) = weight {
            weight_field(schema, &found, name)?;
        }
        let types: Vec<DataType> = by.iter().map(|field| field.data_type().clone()).collect();
        let groups = Groups::new(&types)?;
        let current_contents = Contents::of(schema)?;
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        let mut taken: HashSet<String> = by.iter().map(|field| field.name().clone()).collect();
        let names =
            |column: &LatticeColumn| [&column.name, &column.source.name, &column.source.additions].map(String::clone);
        taken.extend(found.iter().flat_map(names));
        let limit = MAX_WEIGHTS / found.len();
        for current in found {
            let mut reference = LatticeColumn { form: Form::Totals, index: None, ..current.clone() };
            reference.source.values = Some(count_name(&reference.name, "values", &mut taken));
            reference.rarest = Some(count_name(&reference.name, "rarest", &mut taken));
            fields.extend(std::iter::once(reference.field()).chain(reference.companion_fields()));
            let sums = Sums::new(key, reference.bits).map_err(|error| fault(&reference, &error))?;
            let (additions, present, values) = (Vec::new(), Vec::new(), Values::new(limit));
            let (chunks, groups, weights) = (Chunks::new(), Vec::new(), Vec::new());
            columns.push(ColumnState { reference, current, sums, additions, present, values, chunks, groups, weights });
        }
        let schema = Arc::new(totals_schema(&by, fields));
        metadata::check_names(&schema)?;
        let (key, weight) = (key.clone(), weight.map(str::to_owned));
        let (contents, rows) = (Contents::default(), Vec::new());
        let mut totals = Self {
            key,
            by,
            weight,
            columns,
            groups,
            rows,
            schema,
            contents,
            current_contents,
            is_whole_table: true,
            allow_repeated: false,
            allow_rare_weights: false,
        };
        // Without group columns there is one total, even of no rows.
        totals.grow()?;
        Ok(totals)
    }

    /// The schema of the totals of the tables added so far.
    pub fn schema(&self) -> SchemaRef {
        with_contents(&self.schema, &self.contents)
    }

    /// Allows tables whose rows were already added.
    pub fn allow_repeated(&mut self) {
        self.allow_repeated = true;
    }

    /// Lets [`LatticeAggregator::finish_with`] return totals in which a weight belongs to few
    /// values. Such totals can reveal these values.
    pub fn allow_rare_weights(&mut self) {
        self.allow_rare_weights = true;
    }

    /// The names of the columns of a table that are read, in addition to those of a predicate.
    pub fn needed(&self, schema: &Schema) -> HashSet<String> {
        let counting = schema.fields().iter().filter(|field| counts_rows(field)).map(|field| field.name());
        let encrypted =
            self.columns.iter().flat_map(|column| [&column.reference.name, &column.reference.source.additions]);
        let found = lattice_columns(schema).unwrap_or_default().into_iter();
        let others = found.flat_map(|column| [column.index, column.source.values, column.rarest]).flatten();
        let grouping = self.by.iter().map(Field::name);
        grouping.chain(&self.weight).chain(counting).chain(encrypted).cloned().chain(others).collect()
    }

    /// Starts the next table.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] when its encrypted columns or group columns differ or are under
    /// another key. [`ErrorKind::Repeated`] for a table that shares rows with one already added, as
    /// far as their metadata identify the rows ([`Contents`]).
    pub fn begin(&mut self, schema: &Schema) -> Result<(), Error> {
        self.begin_input(schema, true, Chunks::new)?;
        match self.allow_repeated {
            true => Ok(()),
            false => self.contents.check_other(&self.current_contents),
        }
    }

    /// Starts a part of a table: consecutive whole chunks, starting at any chunk, such as the row
    /// groups of a file. Parts of a table may come in any order, each once. Completeness is not
    /// checked.
    ///
    /// # Errors
    /// As [`LatticeAggregator::begin`]. [`LatticeAggregator::end`] reports a part that was already
    /// added.
    pub fn begin_part(&mut self, schema: &Schema) -> Result<(), Error> {
        self.begin_input(schema, false, Chunks::of_part)
    }

    /// Starts a part of a table whose first row is known.
    ///
    /// # Errors
    /// As [`LatticeAggregator::begin_part`]. A part that starts elsewhere is rejected when its rows
    /// arrive.
    pub fn begin_part_at(&mut self, schema: &Schema, row: u64) -> Result<(), Error> {
        self.begin_input(schema, false, || Chunks::from_row(row))
    }

    fn begin_input(&mut self, schema: &Schema, is_whole_table: bool, chunks: impl Fn() -> Chunks) -> Result<(), Error> {
        let found = column::under(&self.key, schema)?;
        (self.current_contents, self.is_whole_table) = (Contents::of(schema)?, is_whole_table);
        let absent = |name: &str, here: &str, before: &str| {
            ErrorKind::Differs { what: "the column", here: here.into(), before: before.into() }.in_column(name)
        };
        if let Some(more) =
            found.iter().find(|found| self.columns.iter().all(|column| column.reference.name != found.name))
        {
            return Err(absent(&more.name, "encrypted", "absent"));
        }
        for field in &self.by {
            let here = canonical_type(find(schema, field.name())?.data_type());
            if !here.equals_datatype(field.data_type()) {
                let (here, before) = (here.to_string(), field.data_type().to_string());
                return Err(ErrorKind::Differs { what: "the type", here, before }.in_column(field.name()));
            }
        }
        if let Some(name) = &self.weight {
            weight_field(schema, &found, name)?;
        }
        for column in &mut self.columns {
            let name = &column.reference.name;
            let current =
                found.iter().find(|found| found.name == *name).ok_or_else(|| absent(name, "absent", "encrypted"))?;
            current.check_compatible(&column.reference)?;
            (column.current, column.chunks) = (current.clone(), chunks());
            column.groups.clear();
            column.weights.clear();
        }
        Ok(())
    }

    /// Adds the next rows of the table, or only those for which `mask` is true.
    ///
    /// # Errors
    /// When a chunk is not the expected one, or the groups exceed [`GROUP_BYTES`]. Reports the
    /// first row whose weight is invalid, or whose additions exceed the headroom of a total.
    pub fn update(&mut self, batch: &RecordBatch, mask: Option<&BooleanArray>) -> Result<(), Error> {
        let groups = self.group_ids(batch, mask)?;
        self.grow()?;
        self.count_rows(batch, &groups)?;
        let weights = self.weight.as_ref().map(|name| weights(name, batch)).transpose()?;
        for column in &mut self.columns {
            match column.current.form {
                Form::Totals => column.add_totals(&self.key, batch, &groups, weights.as_deref())?,
                Form::Chunks { .. } => column.add_chunks(&self.key, batch, &groups, weights.as_deref())?,
            }
        }
        Ok(())
    }

    /// Checks that the table or part was complete and was added only once.
    ///
    /// # Errors
    /// [`ErrorKind::Chunk`], [`ErrorKind::Repeated`].
    pub fn end(&mut self) -> Result<(), Error> {
        self.columns.iter().try_for_each(|column| column.chunks.end(&column.current))?;
        let tables = self.columns.iter().filter_map(|column| Some((column.table()?, column.chunks.rows())));
        let tables: Vec<([u8; 16], Range<u64>)> = tables.collect();
        if tables.iter().any(|(_, rows)| *rows != tables[0].1) {
            return Err(ErrorKind::Chunk("covers different rows than another column's").into());
        }
        let mut added = Contents::default();
        match self.is_whole_table || tables.is_empty() {
            true => added.merge(&self.current_contents),
            false => tables.iter().for_each(|(table, rows)| added.merge(&Contents::rows(*table, rows.clone()))),
        }
        match self.allow_repeated {
            true => self.contents.merge(&added),
            false => self.contents.add(&added)?,
        }
        Ok(())
    }

    /// Returns the totals of groups with at least `min_rows` rows, one row per group, in ascending
    /// order.
    ///
    /// A total is null if fewer than `min_rows` values with a weight other than 0 entered it. It is
    /// also null if fewer values share one of its weights, unless that is
    /// [allowed](LatticeAggregator::allow_rare_weights). The key holder learns only the numbers
    /// from totals.
    ///
    /// # Errors
    /// [`hearith_bfv::ErrorKind::NoRoom`], or a failure of the random generator.
    pub fn finish_with(self, min_rows: u64) -> Result<Aggregates, Error> {
        let small: Vec<u64> = self.rows.iter().copied().filter(|&rows| rows < min_rows).collect();
        let rows = small.iter().fold(0_u64, |sum, &rows| sum.saturating_add(rows));
        let mut withheld = Withheld { groups: small.len() as u64, rows, totals: 0 };
        let (order, mut arrays) = self.groups.sorted(|group| self.rows[group as usize] >= min_rows)?;
        let take = |counts: &[u64]| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(order.iter().map(|&group| counts[group as usize])))
        };
        arrays.push(take(&self.rows));
        for mut column in self.columns {
            let mut values = column.values.finish();
            let few = |(values, rarest): (u64, Option<u64>)| match self.allow_rare_weights {
                true => values < min_rows,
                false => rarest.unwrap_or(values) < min_rows,
            };
            for &group in &order {
                let group = group as usize;
                // A sum whose weights are all 0 is 0, so it reveals no value.
                if column.additions[group] > 0 && few(values[group]) {
                    (column.additions[group], column.present[group], values[group]) = (0, false, (0, None));
                    withheld.totals += 1;
                }
            }
            let wanted: HashSet<u32> = order.iter().copied().filter(|&group| column.present[group as usize]).collect();
            let reference = &column.reference;
            let totals =
                column.sums.release_only(|group| wanted.contains(&group)).map_err(|error| fault(reference, &error))?;
            let mut cells = BinaryBuilder::new();
            for &group in &order {
                cells.append_option(
                    wanted.contains(&group).then(|| totals[group as usize].as_ref()).flatten().map(Total::to_bytes),
                );
            }
            let (values, rarest): (Vec<u64>, Vec<Option<u64>>) = values.into_iter().unzip();
            let rarest = UInt64Array::from_iter(order.iter().map(|&group| rarest[group as usize]));
            let cells: ArrayRef = Arc::new(cells.finish());
            arrays.extend([cells, take(&column.additions), take(&values), Arc::new(rarest)]);
        }
        let schema = with_contents(&self.schema, &self.contents);
        Ok(Aggregates { batch: batch_of(&schema, arrays)?, withheld })
    }

    /// The group of each row, or [`NO_GROUP`] for a row that is left out.
    fn group_ids(&mut self, batch: &RecordBatch, mask: Option<&BooleanArray>) -> Result<Vec<u32>, Error> {
        let array = |field: &Field| {
            let array = find(batch.schema_ref(), field.name()).map(|_| batch.column_by_name(field.name()))?;
            let array = array.ok_or(ErrorKind::NothingEncrypted)?;
            let array = mask.map_or(Ok(array.clone()), |mask| filter(array, mask))?;
            to_canonical(&array).map_err(|error| Error::from(error).in_column(field.name()))
        };
        let keys = self.by.iter().map(array).collect::<Result<Vec<_>, _>>()?;
        let Some(mask) = mask else { return Ok(self.groups.group_ids(&keys, batch.num_rows())?) };
        let is_selected = |row: usize| mask.is_valid(row) && mask.value(row);
        let count = (0..batch.num_rows()).filter(|&row| is_selected(row)).count();
        let mut ids = self.groups.group_ids(&keys, count)?.into_iter();
        Ok((0..batch.num_rows())
            .map(|row| if is_selected(row) { ids.next().unwrap_or(NO_GROUP) } else { NO_GROUP })
            .collect())
    }

    /// Allocates entries for all current groups.
    fn grow(&mut self) -> Result<(), Error> {
        let groups = self.groups.len();
        let sums = self.columns.len() * Sums::group_bytes(self.key.set());
        if self.groups.bytes() + groups as u64 * sums as u64 > GROUP_BYTES {
            return Err(ErrorKind::TooLarge { what: "bytes of groups", limit: GROUP_BYTES }.into());
        }
        self.rows.resize(groups, 0);
        for column in &mut self.columns {
            column.additions.resize(groups, 0);
            column.present.resize(groups, false);
            column.values.grow(groups);
        }
        Ok(())
    }

    /// Counts rows. A row of totals counts as many rows as it covers.
    fn count_rows(&mut self, batch: &RecordBatch, groups: &[u32]) -> Result<(), Error> {
        let counting = batch.schema_ref().fields().iter().find(|field| counts_rows(field));
        let counted = counting.map(|field| ciphers::counts(field.name(), batch)).transpose()?.flatten();
        for (row, &group) in groups.iter().enumerate().filter(|(_, group)| **group != NO_GROUP) {
            let total = &mut self.rows[group as usize];
            let more = total.checked_add(counted.map_or(1, |counted| counted.value(row)));
            *total = more.ok_or_else(|| ErrorKind::TooManyRows.at_row(row as u64))?;
        }
        Ok(())
    }
}

impl fmt::Debug for LatticeAggregator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|column| column.reference.name.as_str()).collect();
        f.debug_struct("LatticeAggregator")
            .field("columns", &names)
            .field("groups", &self.groups.len())
            .finish_non_exhaustive()
    }
}

impl ColumnState {
    /// The id of the current table, if it consists of chunks.
    fn table(&self) -> Option<[u8; 16]> {
        match self.current.form {
            Form::Chunks { table } => Some(table),
            Form::Totals => None,
        }
    }

    /// Counts values and additions, where a number with a weight counts as that many additions.
    /// Returns [`NO_GROUP`] for rows with nothing to add.
    fn count(&mut self, batch: &RecordBatch, groups: &[u32], weights: Option<&[i64]>) -> Result<Vec<u32>, Error> {
        let additions = additions(&self.current, batch)?;
        let (name, max_additions) = (&self.current.name, self.reference.max_additions);
        let totals = match self.current.form {
            Form::Totals => Some((chunk::cells(&self.current, batch)?, Counts::of(&self.current, batch)?)),
            Form::Chunks { .. } => None,
        };
        let mut counted = Vec::with_capacity(groups.len());
        for (row, (&group, &added)) in groups.iter().zip(additions.values()).enumerate() {
            if self.current.form != Form::Totals && added > 1 {
                return Err(ErrorKind::Headroom { additions: added, max_additions: 1 }.at(row, name));
            }
            let is_present = added > 0 || totals.as_ref().is_some_and(|(cells, _)| cells.is_valid(row));
            if group == NO_GROUP || !is_present {
                counted.push(NO_GROUP);
                continue;
            }
            let weight = weights.map_or(1, |weights| weights[row]);
            let times = weight.unsigned_abs();
            self.present[group as usize] = true;
            match &totals {
                None => self.values.count(group, weight),
                Some(_) if added == 0 => {}
                Some((_, counts)) => self.values.merge(group, counts.values(row), counts.rarest(row)),
            }
            let total = &mut self.additions[group as usize];
            let more = added.checked_mul(times).and_then(|added| total.checked_add(added));
            *total = more.filter(|&additions| additions <= max_additions).ok_or_else(|| {
                ErrorKind::Headroom { additions: more.unwrap_or(u64::MAX), max_additions }.at(row, name)
            })?;
            counted.push(group);
        }
        Ok(counted)
    }

    fn add_chunks(
        &mut self,
        key: &PublicKey,
        batch: &RecordBatch,
        groups: &[u32],
        weights: Option<&[i64]>,
    ) -> Result<(), Error> {
        let groups = self.count(batch, groups, weights)?;
        let ColumnState { current, sums, chunks, groups: chunk_groups, weights: chunk_weights, .. } = self;
        let mut state = (chunk_groups, chunk_weights, sums);
        let on_row = |state: &mut (&mut Vec<u32>, &mut Vec<i64>, &mut Sums), row: usize, position: usize| {
            put(state.0, position, groups[row], NO_GROUP);
            if let Some(weights) = weights {
                put(state.1, position, weights[row], 0);
            }
        };
        let on_chunk = |state: &mut (&mut Vec<u32>, &mut Vec<i64>, &mut Sums), ciphertext: &Ciphertext| {
            let added = state.2.add(ciphertext, state.0, weights.map(|_| &state.1[..]));
            state.0.clear();
            state.1.clear();
            added.map_err(|error| fault(current, &error))
        };
        chunks.pass((key, current, batch), &mut state, on_row, on_chunk)
    }

    fn add_totals(
        &mut self,
        key: &PublicKey,
        batch: &RecordBatch,
        groups: &[u32],
        weights: Option<&[i64]>,
    ) -> Result<(), Error> {
        if weights.is_some() {
            return Err(ErrorKind::Chunk("is a total, which cannot be weighted").in_column(&self.current.name));
        }
        let groups = self.count(batch, groups, None)?;
        let cells = chunk::cells(&self.current, batch)?;
        for (row, &group) in groups.iter().enumerate().filter(|(_, group)| **group != NO_GROUP) {
            let at = |error: hearith_bfv::Error| fault(&self.current, &error).at_row(row as u64);
            if cells.is_null(row) {
                return Err(ErrorKind::CountedNull.at(row, &self.current.name));
            }
            let total = Total::from_bytes(cells.value(row), key).map_err(at)?;
            self.sums.add_total(&total, group).map_err(at)?;
        }
        Ok(())
    }
}

/// The counts of values in a table of totals.
struct Counts<'a> {
    values: Option<&'a UInt64Array>,
    /// The column, if the description names one. `Some(None)` if the batch lacks it.
    rarest: Option<Option<&'a UInt64Array>>,
}

impl<'a> Counts<'a> {
    fn of(column: &LatticeColumn, batch: &'a RecordBatch) -> Result<Self, Error> {
        let values = column.source.values.as_ref().map(|name| ciphers::counts(name, batch)).transpose()?.flatten();
        let array = |name: &String| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
        Ok(Self { values, rarest: column.rarest.as_ref().map(array) })
    }

    /// A total without a count of values counts as one value.
    fn values(&self, row: usize) -> u64 {
        self.values.map_or(1, |values| values.value(row))
    }

    fn rarest(&self, row: usize) -> Option<u64> {
        match self.rarest? {
            Some(rarest) => rarest.is_valid(row).then(|| rarest.value(row)),
            None => Some(1),
        }
    }
}

/// Sets `values[position]`, filling missing entries before it with `none`.
fn put<T: Copy>(values: &mut Vec<T>, position: usize, value: T, none: T) {
    if values.len() <= position {
        values.resize(position + 1, none);
    }
    values[position] = value;
}

/// Converts an error of the scheme to an error in this column.
pub(super) fn fault(column: &LatticeColumn, error: &hearith_bfv::Error) -> Error {
    ErrorKind::from(error.kind().clone()).in_column(&column.name)
}

/// The companion column with the additions.
pub(super) fn additions<'a>(column: &LatticeColumn, batch: &'a RecordBatch) -> Result<&'a UInt64Array, Error> {
    let companion = &column.source.additions;
    ciphers::counts(companion, batch)?.ok_or_else(|| {
        let (companion, fault) = (companion.clone(), CompanionFault::Missing);
        ErrorKind::Companion { companion, fault }.in_column(&column.name)
    })
}

fn group_field(schema: &Schema, columns: &[LatticeColumn], by: &[String], name: &String) -> Result<Field, Error> {
    if by.iter().filter(|other| *other == name).count() > 1 {
        return Err(ErrorKind::DuplicateColumn.in_column(name));
    }
    if columns.iter().any(|column| column.name == *name) {
        return Err(ErrorKind::GroupEncrypted.in_column(name));
    }
    if columns.iter().any(|column| column.counts_in(&Field::new(name, DataType::UInt64, true))) {
        return Err(ErrorKind::ReservedName.in_column(name));
    }
    let field = find(schema, name)?;
    if counts_rows(field) {
        return Err(ErrorKind::ReservedName.in_column(name));
    }
    Ok(Field::new(name, canonical_type(metadata::without_metadata(field).data_type()), true))
}

fn weight_field(schema: &Schema, columns: &[LatticeColumn], name: &str) -> Result<(), Error> {
    if columns.iter().any(|column| column.name == name) {
        return Err(ErrorKind::WeightEncrypted.in_column(name));
    }
    match find(schema, name)?.data_type() {
        // A text column, as in CSV, holds integers or causes an error. True is 1 and false 0.
        kind if kind.is_integer() || [DataType::Utf8, DataType::Boolean].contains(&canonical_type(kind)) => Ok(()),
        kind => Err(ErrorKind::WeightType { found: kind.to_string() }.in_column(name)),
    }
}

/// The weights of a batch.
fn weights(name: &str, batch: &RecordBatch) -> Result<Vec<i64>, Error> {
    find(batch.schema_ref(), name)?;
    let array = batch.column_by_name(name).ok_or(ErrorKind::NothingEncrypted)?;
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let weights = cast_with_options(array, &DataType::Int64, &options)?;
    match (0..weights.len()).find(|&row| weights.is_null(row)) {
        Some(row) if array.logical_nulls().is_some_and(|nulls| nulls.is_null(row)) => {
            Err(ErrorKind::NullWeight.at(row, name))
        }
        Some(row) => Err(ErrorKind::NotAWeight.at(row, name)),
        None => Ok(weights.as_primitive::<Int64Type>().values().to_vec()),
    }
}
