//! Sums of encrypted columns by groups, without the private key.
//!
//! Batches stream in, and only one ciphertext per group and column is kept. The result contains the
//! group columns, a row count, the encrypted totals and their companions. It is itself a table of
//! encrypted columns, so partial totals can be summed again.
//!
//! Anyone who sees a table and its totals can determine which rows each total covers. A total is
//! the product of its rows' ciphertexts, and the total of a single value is that value's own
//! ciphertext. [`FinishOptions`] can re-randomise totals to break this link and withhold totals of
//! too few rows or values.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use hearith_paillier::{Ciphertexts, ComputeError, PublicKey, PublicKeyBackend};

use crate::ciphers::{self, NonNullCiphertexts};
use crate::contents::Contents;
use crate::encrypt::{EncryptionKey, batch_of, find};
use crate::error::{Error, ErrorKind};
use crate::groups::{Groups, canonical_type, to_canonical};
use crate::lattice::LatticeColumn;
use crate::limits::GROUP_BYTES;
use crate::metadata::{self, EncryptedColumn, SourceColumn, counts_rows, encrypted_columns, rows_field};

/// Bytes of a total in addition to its ciphertext and counts: those of a one-row batch and of the
/// entry that refers to it.
const GROUP_OVERHEAD: usize = 160;

/// Running totals of the encrypted columns of a table, by groups.
///
/// After an error, discard the totals: part of the batch may have been added.
pub struct Aggregator {
    key: Arc<dyn PublicKeyBackend>,
    by: Vec<Field>,
    columns: Vec<EncryptedColumn>,
    groups: Groups,
    rows: Vec<u64>,
    sums: Vec<ColumnAccumulator>,
    schema: SchemaRef,
    /// The tables that were added.
    contents: Contents,
    allow_repeated: bool,
    /// The schema of the last batch that passed the check, and its columns that count values.
    checked: Option<SchemaRef>,
    counting: Vec<Vec<Option<String>>>,
}

/// Options for [`Aggregator::finish_with`]. By default, all totals are returned without
/// re-randomisation.
#[derive(Clone, Copy, Debug, Default)]
pub struct FinishOptions<'a> {
    /// Omits groups with fewer rows. A total of fewer encrypted values, whatever their additions,
    /// becomes null with 0 additions, like a total of no values. 0 and 1 withhold no group that has
    /// a row. Columns packed into one ciphertext are withheld together, because removing one number
    /// from a ciphertext needs another ciphertext of that number.
    ///
    /// Differences are not checked. Anyone who can decrypt a total of all rows, or totals by a
    /// different grouping, can still compute what is missing.
    pub min_rows: u64,
    /// Re-randomises every total with this key, which must be the key of the totals. Nobody without
    /// the private key can then link a total to the ciphertexts it sums.
    pub rerandomise: Option<EncryptionKey<'a>>,
}

/// The result of [`Aggregator::finish_with`].
#[derive(Clone, Debug)]
pub struct Aggregates {
    /// One row per group, in ascending order of the group columns.
    pub batch: RecordBatch,
    /// What was withheld.
    pub withheld: Withheld,
}

/// Counts of withheld groups, rows and totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Withheld groups.
    pub groups: u64,
    /// Rows of the withheld groups.
    pub rows: u64,
    /// Withheld totals of single columns, in the groups that were returned.
    pub totals: u64,
}

/// The totals of one encrypted column, indexed by group.
struct ColumnAccumulator {
    /// One ciphertext per group, `None` before the first addition.
    ciphertexts: Vec<Option<Ciphertexts>>,
    /// For each source column, the additions of each group.
    additions: Vec<Vec<u64>>,
    /// For each source column, the encrypted values of each group.
    values: Vec<Vec<u64>>,
}

impl Aggregator {
    /// Starts totals of all encrypted columns of tables with this schema, grouped by the columns
    /// `by`. An empty `by` makes a single group.
    ///
    /// # Errors
    /// When there is no encrypted column, or one is under another key or has a damaged description.
    /// When a group column is missing, named twice, encrypted, or named like a column of the
    /// totals.
    pub fn new(key: &PublicKey, schema: &Schema, by: &[String]) -> Result<Self, Error> {
        Self::with(Arc::new(key.clone()), schema, by)
    }

    /// Like [`Aggregator::new`], but computes with a service.
    ///
    /// # Errors
    /// As [`Aggregator::new`].
    pub fn with(key: Arc<dyn PublicKeyBackend>, schema: &Schema, by: &[String]) -> Result<Self, Error> {
        let mut columns = columns_under(key.public(), schema)?;
        let by = group_fields(schema, by, &columns)?;
        name_counts(&by, &mut columns);
        let types: Vec<DataType> = by.iter().map(|field| field.data_type().clone()).collect();
        let groups = Groups::new(&types).map_err(Error::from)?;
        let schema = Arc::new(output_schema(&by, &columns));
        metadata::check_names(&schema)?;
        let sums = columns.iter().map(ColumnAccumulator::new).collect();
        let (contents, allow_repeated) = (Contents::default(), false);
        let (rows, checked, counting) = (Vec::new(), None, Vec::new());
        let mut totals =
            Self { key, by, columns, groups, rows, sums, schema, contents, allow_repeated, checked, counting };
        totals.grow()?;
        Ok(totals)
    }

    /// The schema of the totals of the tables added so far.
    pub fn schema(&self) -> SchemaRef {
        with_contents(&self.schema, &self.contents)
    }

    /// Lets [`Aggregator::begin`] accept a table whose rows were already added.
    pub fn allow_repeated(&mut self) {
        self.allow_repeated = true;
    }

    /// Starts the next table. Any number of its batches may follow.
    ///
    /// # Errors
    /// As [`Aggregator::check_schema`]. [`ErrorKind::Repeated`] for a table that shares rows with
    /// one already added, as far as their metadata identify the rows ([`Contents`]).
    pub fn begin(&mut self, schema: &Schema) -> Result<(), Error> {
        self.check_schema(schema)?;
        let here = Contents::of(schema)?;
        match self.allow_repeated {
            true => self.contents.merge(&here),
            false => self.contents.add(&here)?,
        }
        Ok(())
    }

    /// The encrypted columns being summed.
    pub fn columns(&self) -> &[EncryptedColumn] {
        &self.columns
    }

    /// The number of groups so far.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The names of the columns that [`Aggregator::update`] reads. Readers may omit the others.
    pub fn needed(&self, schema: &Schema) -> HashSet<String> {
        let counting = schema.fields().iter().filter(|field| counts_rows(field));
        let encrypted = self.columns.iter().flat_map(|column| {
            let companions = column.sources.iter().map(|source| &source.additions);
            companions.chain([&column.name])
        });
        let grouping = self.by.iter().chain(counting.map(|field| &**field)).map(Field::name);
        let values = encrypted_columns(schema).unwrap_or_default().into_iter().flat_map(|column| column.sources);
        grouping.chain(encrypted).cloned().chain(values.filter_map(|source| source.values)).collect()
    }

    /// Checks that tables with another schema can be added to these totals.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] when the encrypted columns or group columns differ, have another
    /// scale, or are under another key.
    pub fn check_schema(&self, schema: &Schema) -> Result<(), Error> {
        let columns = columns_under(self.key.public(), schema)?;
        for column in &self.columns {
            let same = columns.iter().find(|other| other.name == column.name);
            same.ok_or_else(|| missing(&column.name))?.check_compatible(column)?;
        }
        let more = |column: &&EncryptedColumn| self.columns.iter().all(|c| c.name != column.name);
        if let Some(column) = columns.iter().find(more) {
            let (here, before) = ("encrypted".to_owned(), "absent".to_owned());
            return Err(ErrorKind::Differs { what: "the column", here, before }.in_column(&column.name));
        }
        for field in &self.by {
            let here = canonical_type(find(schema, field.name())?.data_type());
            if !here.equals_datatype(field.data_type()) {
                let (here, before) = (here.to_string(), field.data_type().to_string());
                return Err(ErrorKind::Differs { what: "the type", here, before }.in_column(field.name()));
            }
        }
        Ok(())
    }

    /// Adds the rows of a batch to the totals, whichever table it belongs to
    /// ([`Aggregator::begin`]). Columns that are not [needed](Aggregator::needed) may be missing.
    ///
    /// # Errors
    /// As [`Aggregator::check_schema`]. Reports the first row whose ciphertext is malformed or
    /// shares a factor with n, or whose additions exceed the headroom of a total. Also fails when
    /// the groups exceed [`GROUP_BYTES`].
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.checked.as_ref().is_none_or(|checked| !Arc::ptr_eq(checked, batch.schema_ref())) {
            self.check_schema(batch.schema_ref())?;
            self.contents.merge(&Contents::of(batch.schema_ref())?);
            self.counting = self.value_columns(batch.schema_ref())?;
            self.checked = Some(batch.schema());
        }
        let keys = self.by.iter().map(|field| group_column(field, batch));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let groups = self.groups.group_ids(&keys, batch.num_rows()).map_err(Error::from)?;
        self.grow()?;
        self.count_rows(batch, &groups)?;
        for ((column, sums), counting) in self.columns.iter().zip(&mut self.sums).zip(&self.counting) {
            sums.count(column, batch, &groups)?;
            sums.count_values(column, batch, &groups, counting)?;
            sums.add(&*self.key, column, &NonNullCiphertexts::read(self.key.public(), column, batch)?, &groups)?;
        }
        Ok(())
    }

    /// Adds the rows of a batch for which `mask` is true.
    ///
    /// # Errors
    /// As [`Aggregator::update`].
    pub fn update_where(&mut self, batch: &RecordBatch, mask: &BooleanArray) -> Result<(), Error> {
        let selected = filter_record_batch(batch, mask)?;
        let row_of = |row: u64| (0..mask.len()).filter(|&row| mask.is_valid(row) && mask.value(row)).nth(row as usize);
        self.update(&selected).map_err(|error| match error.row().and_then(row_of) {
            Some(row) => error.at_row(row as u64),
            None => error,
        })
    }

    /// Adds other totals, computed over another part of the data, to these.
    ///
    /// # Errors
    /// As [`Aggregator::check_schema`] and [`Aggregator::update`]. Rows in errors are those of the
    /// other totals.
    pub fn merge(&mut self, other: Self) -> Result<(), Error> {
        self.check_schema(&other.schema)?;
        self.update(&other.finish()?)
    }

    /// Returns the totals, one row per group, in ascending order of the group columns. A total to
    /// which nothing was added is null, with 0 additions.
    ///
    /// Totals are not re-randomised: the total of a single value is the value's own ciphertext. Use
    /// [`Aggregator::finish_with`] to re-randomise them.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn finish(self) -> Result<RecordBatch, Error> {
        self.finish_with(&FinishOptions::default()).map(|aggregates| aggregates.batch)
    }

    /// Returns the totals like [`Aggregator::finish`], withholding and re-randomising as the
    /// options say.
    ///
    /// # Errors
    /// When the key to re-randomise with is another one, or the random generator fails.
    pub fn finish_with(mut self, options: &FinishOptions<'_>) -> Result<Aggregates, Error> {
        let small: Vec<u64> = self.rows.iter().copied().filter(|&rows| rows < options.min_rows).collect();
        let rows = small.iter().fold(0_u64, |sum, &rows| sum.saturating_add(rows));
        let mut withheld = Withheld { groups: small.len() as u64, rows, totals: 0 };
        let is_large = |group: u32| self.rows[group as usize] >= options.min_rows;
        let (order, mut arrays) = self.groups.sorted(is_large)?;
        arrays.push(take(&self.rows, &order));
        for (column, sums) in self.columns.iter().zip(&mut self.sums) {
            withheld.totals += sums.withhold(&order, options.min_rows);
            arrays.push(sums.ciphertexts(self.key.public(), column, &order, options.rerandomise)?);
            let counts = sums.additions.iter().zip(&sums.values).flat_map(|(additions, values)| [additions, values]);
            arrays.extend(counts.map(|counts| take(counts, &order)));
        }
        let batch = batch_of(&with_contents(&self.schema, &self.contents), arrays)?;
        Ok(Aggregates { batch, withheld })
    }

    /// Allocates entries for all current groups.
    fn grow(&mut self) -> Result<(), Error> {
        let groups = self.groups.len();
        let ciphertexts =
            self.columns.iter().map(|column| column.ciphertext_bytes() + column.sources.len() * 16 + GROUP_OVERHEAD);
        if self.groups.bytes() + groups as u64 * ciphertexts.sum::<usize>() as u64 > GROUP_BYTES {
            return Err(ErrorKind::TooLarge { what: "bytes of groups", limit: GROUP_BYTES }.into());
        }
        self.rows.resize(groups, 0);
        for sums in &mut self.sums {
            sums.ciphertexts.resize(groups, None);
            sums.additions.iter_mut().chain(&mut sums.values).for_each(|counts| counts.resize(groups, 0));
        }
        Ok(())
    }

    /// The columns of a table that count the values of each source column.
    fn value_columns(&self, schema: &Schema) -> Result<Vec<Vec<Option<String>>>, Error> {
        let here = encrypted_columns(schema)?;
        let values = |column: &EncryptedColumn| column.sources.iter().map(|source| source.values.clone()).collect();
        let of = |column: &EncryptedColumn| here.iter().find(|here| here.name == column.name).map(values);
        self.columns.iter().map(|column| of(column).ok_or_else(|| missing(&column.name))).collect()
    }

    /// Counts rows. A row of totals counts as many rows as it covers.
    fn count_rows(&mut self, batch: &RecordBatch, groups: &[u32]) -> Result<(), Error> {
        let counting = batch.schema_ref().fields().iter().find(|field| counts_rows(field));
        let counted = counting.map(|field| ciphers::counts(field.name(), batch)).transpose()?.flatten();
        for (row, &group) in groups.iter().enumerate() {
            let total = &mut self.rows[group as usize];
            *total = total
                .checked_add(counted.map_or(1, |counted| counted.value(row)))
                .ok_or_else(|| ErrorKind::TooManyRows.at_row(row as u64))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Aggregator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        f.debug_struct("Aggregator")
            .field("columns", &names)
            .field("groups", &self.groups.len())
            .finish_non_exhaustive()
    }
}

impl ColumnAccumulator {
    fn new(column: &EncryptedColumn) -> Self {
        let counts = vec![vec![]; column.sources.len()];
        Self { ciphertexts: vec![], additions: counts.clone(), values: counts }
    }

    /// Counts the encrypted values: as the columns in `counting` state, or else each ciphertext as
    /// one.
    fn count_values(
        &mut self,
        column: &EncryptedColumn,
        batch: &RecordBatch,
        groups: &[u32],
        counting: &[Option<String>],
    ) -> Result<(), Error> {
        let companions = ciphers::companions(column, batch)?;
        for ((added, counting), totals) in companions.into_iter().zip(counting).zip(&mut self.values) {
            let counted = counting.as_ref().map(|name| ciphers::counts(name, batch)).transpose()?.flatten();
            for (row, &group) in groups.iter().enumerate().filter(|(row, _)| added.value(*row) > 0) {
                let values = counted.map_or(1, |counted| counted.value(row));
                totals[group as usize] = totals[group as usize].saturating_add(values);
            }
        }
        Ok(())
    }

    /// Sums the additions and rejects the row that exceeds the headroom.
    fn count(&mut self, column: &EncryptedColumn, batch: &RecordBatch, groups: &[u32]) -> Result<(), Error> {
        let companions = ciphers::companions(column, batch)?;
        for ((source, totals), added) in column.sources.iter().zip(&mut self.additions).zip(companions) {
            for (row, (&group, &added)) in groups.iter().zip(added.values()).enumerate() {
                let total = &mut totals[group as usize];
                match total.checked_add(added) {
                    Some(additions) if additions <= column.max_additions => *total = additions,
                    beyond => {
                        let (additions, max_additions) = (beyond.unwrap_or(u64::MAX), column.max_additions);
                        return Err(ErrorKind::Headroom { additions, max_additions }.at(row, &source.name));
                    }
                }
            }
        }
        ciphers::check_counts(column, batch)
    }

    /// Sums the ciphertexts: one product for each group among the rows, then one multiplication
    /// with the group's current total.
    fn add(
        &mut self,
        key: &dyn PublicKeyBackend,
        column: &EncryptedColumn,
        present: &NonNullCiphertexts,
        groups: &[u32],
    ) -> Result<(), Error> {
        let (touched, members) = members(present, groups);
        if touched.is_empty() {
            return Ok(());
        }
        let fault = |error| ciphers::to_column_error(column, &[], error);
        let computed = |error: ComputeError| ciphers::from_compute_error(column, error);
        let sums = key.sum_groups(&present.ciphertexts, &members).map_err(computed)?;
        // A factor shared with n survives in the product, so a few products check many rows.
        if let Err(error) = key.public().check_coprime(&sums) {
            present.check_coprime(key.public(), column)?;
            return Err(fault(error));
        }
        let (known, fresh): (Vec<usize>, Vec<usize>) =
            (0..touched.len()).partition(|&index| self.ciphertexts[touched[index] as usize].is_some());
        let known_before: Vec<&Ciphertexts> =
            known.iter().filter_map(|&index| self.ciphertexts[touched[index] as usize].as_ref()).collect();
        if let Some((first, rest)) = known_before.split_first() {
            let before = Ciphertexts::concat(first, rest).map_err(fault)?;
            let added = sums.select(&known).map_err(fault)?;
            let after = key.add(&before, &added).map_err(computed)?;
            self.store(&after, 0.., known.iter().map(|&index| touched[index])).map_err(fault)?;
        }
        self.store(&sums, fresh.iter().copied(), fresh.iter().map(|&index| touched[index])).map_err(fault)
    }

    /// Stores the rows of `from` numbered `rows` as the totals of `groups`.
    fn store(
        &mut self,
        from: &Ciphertexts,
        rows: impl Iterator<Item = usize>,
        groups: impl Iterator<Item = u32>,
    ) -> Result<(), hearith_paillier::Error> {
        for (group, row) in groups.zip(rows) {
            self.ciphertexts[group as usize] = Some(from.range(row..row + 1)?);
        }
        Ok(())
    }

    /// Clears the totals of groups in which some source column has fewer than `min` values. Returns
    /// the number of single-column totals that this removed.
    fn withhold(&mut self, groups: &[u32], min: u64) -> u64 {
        let mut totals = 0;
        for &group in groups {
            let group = group as usize;
            let is_total = |additions: &Vec<u64>| additions[group] > 0;
            let few = |(additions, values): (&Vec<u64>, &Vec<u64>)| is_total(additions) && values[group] < min;
            if self.additions.iter().zip(&self.values).any(few) {
                totals += self.additions.iter().filter(|additions| is_total(additions)).count() as u64;
                self.ciphertexts[group] = None;
                self.additions.iter_mut().chain(&mut self.values).for_each(|counts| counts[group] = 0);
            }
        }
        totals
    }

    /// The totals as a column, null where nothing was added. Re-randomised if a key is given for
    /// it.
    fn ciphertexts(
        &self,
        key: &PublicKey,
        column: &EncryptedColumn,
        order: &[u32],
        rerandomise: Option<EncryptionKey<'_>>,
    ) -> Result<ArrayRef, Error> {
        let ordered = || order.iter().map(|&group| self.ciphertexts[group as usize].as_ref());
        let present: Vec<&Ciphertexts> = ordered().flatten().collect();
        let present = match present.split_first() {
            None => key.zeros(0),
            Some((first, rest)) => {
                Ciphertexts::concat(first, rest).map_err(|error| ciphers::to_column_error(column, &[], error))?
            }
        };
        let present = match rerandomise {
            None => present,
            Some(key) => key.rerandomise(&present).map_err(|error| ciphers::from_compute_error(column, error))?,
        };
        let nulls = NullBuffer::from_iter(ordered().map(|total| total.is_some()));
        ciphers::write(column, &present, Some(&nulls))
    }
}

/// The groups that occur among the ciphertexts present, and the ciphertexts of each.
fn members(present: &NonNullCiphertexts, groups: &[u32]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut index_of = std::collections::HashMap::new();
    let (mut touched, mut members) = (Vec::new(), Vec::<Vec<u32>>::new());
    for (index, &row) in present.rows.iter().enumerate() {
        let group = groups[row];
        let at = *index_of.entry(group).or_insert_with(|| {
            touched.push(group);
            members.push(Vec::new());
            members.len() - 1
        });
        members[at].push(index as u32);
    }
    (touched, members)
}

/// The encrypted columns of a table, all of which must be under this key.
fn columns_under(key: &PublicKey, schema: &Schema) -> Result<Vec<EncryptedColumn>, Error> {
    let columns = encrypted_columns(schema)?;
    if columns.is_empty() {
        return Err(ErrorKind::NothingEncrypted.into());
    }
    columns.iter().try_for_each(|column| column.check_key(key))?;
    Ok(columns)
}

fn group_fields(schema: &Schema, by: &[String], columns: &[EncryptedColumn]) -> Result<Vec<Field>, Error> {
    if let Some(twice) = repeated(by) {
        return Err(ErrorKind::DuplicateColumn.in_column(twice));
    }
    let field = |name: &String| {
        let encrypted =
            |column: &EncryptedColumn| column.name == *name || column.sources.iter().any(|source| source.name == *name);
        if columns.iter().any(encrypted) {
            return Err(ErrorKind::GroupEncrypted.in_column(name));
        }
        let counts = |source: &SourceColumn| source.additions == *name || source.values.as_ref() == Some(name);
        let companion = |column: &EncryptedColumn| column.sources.iter().any(counts);
        if columns.iter().any(companion) {
            return Err(ErrorKind::ReservedName.in_column(name));
        }
        let field = find(schema, name)?;
        if counts_rows(field) {
            return Err(ErrorKind::ReservedName.in_column(name));
        }
        let kind = canonical_type(metadata::without_metadata(field).data_type());
        Ok(Field::new(name, kind, true))
    };
    by.iter().map(field).collect()
}

/// Names the columns of the totals that count values.
fn name_counts(by: &[Field], columns: &mut [EncryptedColumn]) {
    let mut taken: HashSet<String> = by.iter().map(|field| field.name().clone()).collect();
    for column in &*columns {
        let sources = column.sources.iter().flat_map(|source| [source.name.clone(), source.additions.clone()]);
        taken.extend(sources.chain([column.name.clone()]));
    }
    for source in columns.iter_mut().flat_map(|column| &mut column.sources) {
        source.values = Some(count_name(&source.name, "values", &mut taken));
    }
}

/// A name, not in `taken`, for the column of totals that counts `what`.
pub(crate) fn count_name(column: &str, what: &str, taken: &mut HashSet<String>) -> String {
    let numbered = (1_u32..).map(|number| format!("{column}.{what}.{number}"));
    let mut names = std::iter::once(format!("{column}.{what}")).chain(numbered);
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|&name| !seen.insert(name))
}

fn output_schema(by: &[Field], columns: &[EncryptedColumn]) -> Schema {
    let encrypted = columns.iter().flat_map(|column| std::iter::once(column.field()).chain(column.companion_fields()));
    totals_schema(by, encrypted.collect())
}

/// The schema of totals: the group columns, the number of rows, and the encrypted columns with
/// their companions.
pub(crate) fn totals_schema(by: &[Field], encrypted: Vec<Field>) -> Schema {
    // Decryption restores the names of a packed column's source columns, so they are taken as well.
    let sources = encrypted.iter().filter_map(|field| LatticeColumn::from_field(field).ok().flatten());
    let sources: Vec<String> = sources.map(|column| column.source.name).collect();
    let packed = encrypted.iter().filter_map(|field| EncryptedColumn::from_field(field).ok().flatten());
    let packed: Vec<String> = packed.flat_map(|column| column.sources).map(|source| source.name).collect();
    let fields = by.iter().chain(&encrypted).map(|field| field.name());
    let rows = metadata::rows_name(fields.chain(&sources).chain(&packed).map(String::as_str));
    Schema::new(by.iter().cloned().chain([rows_field(&rows)]).chain(encrypted).collect::<Vec<_>>())
}

/// The schema of totals, with the tables that they contain.
pub(crate) fn with_contents(schema: &SchemaRef, contents: &Contents) -> SchemaRef {
    let field = |field: &FieldRef| match counts_rows(field) {
        true => Arc::new(contents.describe(Field::clone(field))),
        false => field.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Fields>()))
}

fn group_column(field: &Field, batch: &RecordBatch) -> Result<ArrayRef, Error> {
    let column = batch.column_by_name(field.name()).ok_or_else(|| missing(field.name()))?;
    to_canonical(column).map_err(|error| Error::from(error).in_column(field.name()))
}

fn take(counts: &[u64], order: &[u32]) -> ArrayRef {
    let ordered = order.iter().map(|&group| counts[group as usize]);
    Arc::new(UInt64Array::from_iter_values(ordered))
}

fn missing(column: &str) -> Error {
    let (here, before) = ("absent".to_owned(), "encrypted".to_owned());
    ErrorKind::Differs { what: "the column", here, before }.in_column(column)
}
