//! Sums of encrypted columns by groups, without the private key.
//!
//! Batches stream in and only one ciphertext a group and column is kept. The result has the group
//! columns, a row count, the encrypted totals and their companions: it is itself a table of
//! encrypted columns, so totals of parts can be added up again.
//!
//! Who sees a table and its totals can tell which rows went into which total: a total is the
//! product of its rows' ciphertexts, and that of a single value is that value's own ciphertext.
//! [`Release`] breaks the link and leaves out what too little went into.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use hearith_paillier::{Ciphertexts, Compute, ComputeError, PublicKey};

use crate::ciphers::{self, Present};
use crate::contents::Contents;
use crate::encrypt::{EncryptionKey, batch_of, find};
use crate::error::{Error, ErrorKind};
use crate::groups::{Groups, as_plain, plain};
use crate::lattice::LatticeColumn;
use crate::limits::GROUP_BYTES;
use crate::metadata::{self, EncryptedColumn, Part, counts_rows, encrypted_columns, rows_field};

/// Bytes that a total takes beside its ciphertext and counts: that of a batch of one row, and of
/// the entry that leads there.
const GROUP_OVERHEAD: usize = 160;

/// Running totals of the encrypted columns of a table, by groups.
///
/// After an error the totals are of no use: a part of the batch may have been added.
pub struct Totals {
    key: Arc<dyn Compute>,
    by: Vec<Field>,
    columns: Vec<EncryptedColumn>,
    groups: Groups,
    rows: Vec<u64>,
    sums: Vec<Sums>,
    schema: SchemaRef,
    /// The tables that were added.
    contents: Contents,
    allow_repeated: bool,
    /// The schema of the last batch that was found to add up, and the columns in it that count
    /// values.
    checked: Option<SchemaRef>,
    counting: Vec<Vec<Option<String>>>,
}

/// What of the totals is given out, and how: by default everything, as it was added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Release<'a> {
    /// Groups of fewer rows are left out, and a total of fewer encrypted values, however large
    /// their additions, is null, with 0 additions, as where there are none. 0 and 1 hold back
    /// nothing that has a row. The columns that are packed into one ciphertext stand and fall
    /// together: to take one number out of it takes another ciphertext of that number.
    ///
    /// Differences are not looked at: whoever can decrypt a total of all rows, or the same groups
    /// cut otherwise, can still compute what is missing.
    pub min_rows: u64,
    /// Makes every total a new ciphertext with this key, the one that the totals are under: nobody
    /// can then link it to those that were added up without the private key.
    pub rerandomise: Option<EncryptionKey<'a>>,
}

/// Totals given out.
#[derive(Clone, Debug)]
pub struct Released {
    /// One row a group, in ascending order of the group columns.
    pub batch: RecordBatch,
    /// What was left out.
    pub withheld: Withheld,
}

/// How much of the totals was not given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Groups.
    pub groups: u64,
    /// The rows of these groups.
    pub rows: u64,
    /// Totals of single columns, in the groups given out.
    pub totals: u64,
}

/// The totals of one encrypted column, indexed by group.
struct Sums {
    /// One ciphertext a group, `None` where nothing was added yet.
    ciphertexts: Vec<Option<Ciphertexts>>,
    /// For each part, the additions of each group.
    additions: Vec<Vec<u64>>,
    /// For each part, the encrypted values of each group.
    values: Vec<Vec<u64>>,
}

impl Totals {
    /// Starts totals of all encrypted columns of tables like this one, grouped by the values of
    /// the columns `by` (one group when there are none).
    ///
    /// # Errors
    /// No encrypted column, one under another key or with a damaged description; a group column
    /// that is missing, named twice, encrypted, or named like a column of the totals.
    pub fn new(key: &PublicKey, schema: &Schema, by: &[String]) -> Result<Self, Error> {
        Self::with(Arc::new(key.clone()), schema, by)
    }

    /// The same with a service that adds up.
    ///
    /// # Errors
    /// As [`Totals::new`].
    pub fn with(key: Arc<dyn Compute>, schema: &Schema, by: &[String]) -> Result<Self, Error> {
        let mut columns = columns_under(key.public(), schema)?;
        let by = group_fields(schema, by, &columns)?;
        name_counts(&by, &mut columns);
        let types: Vec<DataType> = by.iter().map(|field| field.data_type().clone()).collect();
        let groups = Groups::new(&types).map_err(Error::from)?;
        let schema = Arc::new(output_schema(&by, &columns));
        metadata::check_names(&schema)?;
        let sums = columns.iter().map(Sums::new).collect();
        let (contents, allow_repeated) = (Contents::default(), false);
        let (rows, checked, counting) = (Vec::new(), None, Vec::new());
        let mut totals =
            Self { key, by, columns, groups, rows, sums, schema, contents, allow_repeated, checked, counting };
        totals.grow()?;
        Ok(totals)
    }

    /// The schema of the totals of the tables that were added so far.
    pub fn schema(&self) -> SchemaRef {
        described(&self.schema, &self.contents)
    }

    /// Lets [`Totals::begin`] take a table whose rows were added already.
    pub fn allow_repeated(&mut self) {
        self.allow_repeated = true;
    }

    /// Turns to the next table: batches of one table may then come in any number.
    ///
    /// # Errors
    /// As [`Totals::check_schema`]; [`ErrorKind::Repeated`] for a table that has rows of one that
    /// was added already, as far as their metadata name them ([`Contents`]).
    pub fn begin(&mut self, schema: &Schema) -> Result<(), Error> {
        self.check_schema(schema)?;
        let here = Contents::of(schema)?;
        match self.allow_repeated {
            true => self.contents.merge(&here),
            false => self.contents.add(&here)?,
        }
        Ok(())
    }

    /// The encrypted columns being added up.
    pub fn columns(&self) -> &[EncryptedColumn] {
        &self.columns
    }

    /// How many groups there are so far.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The names of the columns that [`Totals::update`] reads; a reader may leave out the rest.
    pub fn needed(&self, schema: &Schema) -> HashSet<String> {
        let counting = schema.fields().iter().filter(|field| counts_rows(field));
        let encrypted = self.columns.iter().flat_map(|column| {
            let companions = column.parts.iter().map(|part| &part.additions);
            companions.chain([&column.name])
        });
        let grouping = self.by.iter().chain(counting.map(|field| &**field)).map(Field::name);
        let values = encrypted_columns(schema).unwrap_or_default().into_iter().flat_map(|column| column.parts);
        grouping.chain(encrypted).cloned().chain(values.filter_map(|part| part.values)).collect()
    }

    /// Checks that tables of another schema can be added to these totals.
    ///
    /// # Errors
    /// [`ErrorKind::Differs`] when its encrypted columns or group columns are others, of another
    /// scale, or under another key.
    pub fn check_schema(&self, schema: &Schema) -> Result<(), Error> {
        let columns = columns_under(self.key.public(), schema)?;
        for column in &self.columns {
            let same = columns.iter().find(|other| other.name == column.name);
            same.ok_or_else(|| missing(&column.name))?.check_adds_to(column)?;
        }
        let more = |column: &&EncryptedColumn| self.columns.iter().all(|c| c.name != column.name);
        if let Some(column) = columns.iter().find(more) {
            let (here, before) = ("encrypted".to_owned(), "absent".to_owned());
            return Err(ErrorKind::Differs { what: "the column", here, before }.in_column(&column.name));
        }
        for field in &self.by {
            let here = plain(find(schema, field.name())?.data_type());
            if !here.equals_datatype(field.data_type()) {
                let (here, before) = (here.to_string(), field.data_type().to_string());
                return Err(ErrorKind::Differs { what: "the type", here, before }.in_column(field.name()));
            }
        }
        Ok(())
    }

    /// Adds the rows of a batch to the totals, whichever table they are of ([`Totals::begin`]).
    /// Columns that are not [needed](Totals::needed) may be missing.
    ///
    /// # Errors
    /// As [`Totals::check_schema`]; the first row whose ciphertext is malformed or shares a factor
    /// with n, or with which a total has more additions than there is headroom for; more groups
    /// than [`GROUP_BYTES`] hold.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.checked.as_ref().is_none_or(|checked| !Arc::ptr_eq(checked, batch.schema_ref())) {
            self.check_schema(batch.schema_ref())?;
            self.contents.merge(&Contents::of(batch.schema_ref())?);
            self.counting = self.value_columns(batch.schema_ref())?;
            self.checked = Some(batch.schema());
        }
        let keys = self.by.iter().map(|field| group_column(field, batch));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let groups = self.groups.assign(&keys, batch.num_rows()).map_err(Error::from)?;
        self.grow()?;
        self.count_rows(batch, &groups)?;
        for ((column, sums), counting) in self.columns.iter().zip(&mut self.sums).zip(&self.counting) {
            sums.count(column, batch, &groups)?;
            sums.count_values(column, batch, &groups, counting)?;
            sums.add(&*self.key, column, &Present::read(self.key.public(), column, batch)?, &groups)?;
        }
        Ok(())
    }

    /// Adds those rows of a batch for which `keep` says true.
    ///
    /// # Errors
    /// As [`Totals::update`].
    pub fn update_where(&mut self, batch: &RecordBatch, keep: &BooleanArray) -> Result<(), Error> {
        let kept = filter_record_batch(batch, keep)?;
        let row_of = |row: u64| (0..keep.len()).filter(|&row| keep.is_valid(row) && keep.value(row)).nth(row as usize);
        self.update(&kept).map_err(|error| match error.row().and_then(row_of) {
            Some(row) => error.at_row(row as u64),
            None => error,
        })
    }

    /// Adds other totals, of another part of the data, to these.
    ///
    /// # Errors
    /// As [`Totals::check_schema`] and [`Totals::update`]; rows are those of the other totals.
    pub fn merge(&mut self, other: Self) -> Result<(), Error> {
        self.check_schema(&other.schema)?;
        self.update(&other.finish()?)
    }

    /// The totals, one row a group, in ascending order of the group columns. A total to which
    /// nothing was added is null, with 0 additions.
    ///
    /// A total is not randomised anew: that of a single value is the value's own ciphertext.
    /// [`Totals::release`] does it.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn finish(self) -> Result<RecordBatch, Error> {
        self.release(&Release::default()).map(|released| released.batch)
    }

    /// The totals as [`Totals::finish`] gives them, but for what is to be withheld, and
    /// re-randomised if asked for.
    ///
    /// # Errors
    /// A key to re-randomise with that is another one, or a failure of the random generator.
    pub fn release(mut self, release: &Release<'_>) -> Result<Released, Error> {
        let small: Vec<u64> = self.rows.iter().copied().filter(|&rows| rows < release.min_rows).collect();
        let rows = small.iter().fold(0_u64, |sum, &rows| sum.saturating_add(rows));
        let mut withheld = Withheld { groups: small.len() as u64, rows, totals: 0 };
        let is_large = |group: u32| self.rows[group as usize] >= release.min_rows;
        let (order, mut arrays) = self.groups.sorted(is_large)?;
        arrays.push(gather(&self.rows, &order));
        for (column, sums) in self.columns.iter().zip(&mut self.sums) {
            withheld.totals += sums.withhold(&order, release.min_rows);
            arrays.push(sums.ciphertexts(self.key.public(), column, &order, release.rerandomise)?);
            let counts = sums.additions.iter().zip(&sums.values).flat_map(|(additions, values)| [additions, values]);
            arrays.extend(counts.map(|counts| gather(counts, &order)));
        }
        let batch = batch_of(&described(&self.schema, &self.contents), arrays)?;
        Ok(Released { batch, withheld })
    }

    /// Makes room for the groups that there are.
    fn grow(&mut self) -> Result<(), Error> {
        let groups = self.groups.len();
        let ciphertexts =
            self.columns.iter().map(|column| column.ciphertext_bytes() + column.parts.len() * 16 + GROUP_OVERHEAD);
        if self.groups.bytes() + groups as u64 * ciphertexts.sum::<usize>() as u64 > GROUP_BYTES {
            return Err(ErrorKind::TooLarge { what: "bytes of groups", limit: GROUP_BYTES }.into());
        }
        self.rows.resize(groups, 0);
        for sums in &mut self.sums {
            sums.ciphertexts.resize(groups, None);
            sums.additions.iter_mut().chain(&mut sums.values).for_each(|part| part.resize(groups, 0));
        }
        Ok(())
    }

    /// The columns of a table that count the values of each part.
    fn value_columns(&self, schema: &Schema) -> Result<Vec<Vec<Option<String>>>, Error> {
        let here = encrypted_columns(schema)?;
        let values = |column: &EncryptedColumn| column.parts.iter().map(|part| part.values.clone()).collect();
        let of = |column: &EncryptedColumn| here.iter().find(|here| here.name == column.name).map(values);
        self.columns.iter().map(|column| of(column).ok_or_else(|| missing(&column.name))).collect()
    }

    /// Counts rows; a row of totals counts for the rows that it counts.
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

impl fmt::Debug for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        f.debug_struct("Totals").field("columns", &names).field("groups", &self.groups.len()).finish_non_exhaustive()
    }
}

impl Sums {
    fn new(column: &EncryptedColumn) -> Self {
        let counts = vec![vec![]; column.parts.len()];
        Self { ciphertexts: vec![], additions: counts.clone(), values: counts }
    }

    /// Counts the encrypted values: those that columns of `counting` say, or each ciphertext as
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

    /// Adds up the additions, refusing the row that exceeds the headroom.
    fn count(&mut self, column: &EncryptedColumn, batch: &RecordBatch, groups: &[u32]) -> Result<(), Error> {
        let companions = ciphers::companions(column, batch)?;
        for ((part, totals), added) in column.parts.iter().zip(&mut self.additions).zip(companions) {
            for (row, (&group, &added)) in groups.iter().zip(added.values()).enumerate() {
                let total = &mut totals[group as usize];
                match total.checked_add(added) {
                    Some(additions) if additions <= column.max_additions => *total = additions,
                    beyond => {
                        let (additions, max_additions) = (beyond.unwrap_or(u64::MAX), column.max_additions);
                        return Err(ErrorKind::Headroom { additions, max_additions }.at(row, &part.name));
                    }
                }
            }
        }
        ciphers::check_counts(column, batch)
    }

    /// Adds up the ciphertexts: a product for each group among the rows, then one multiplication
    /// with what the group has already.
    fn add(
        &mut self,
        key: &dyn Compute,
        column: &EncryptedColumn,
        present: &Present,
        groups: &[u32],
    ) -> Result<(), Error> {
        let (touched, members) = members(present, groups);
        if touched.is_empty() {
            return Ok(());
        }
        let fault = |error| ciphers::bad(column, &[], error);
        let computed = |error: ComputeError| ciphers::not_computed(column, error);
        let sums = key.sum_groups(&present.ciphertexts, &members).map_err(computed)?;
        // A factor shared with n survives in the product: few products tell of many rows.
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

    /// Keeps the rows of `from` numbered `rows` as the totals of `groups`.
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

    /// Forgets the totals of groups in which some part is of fewer values than `min`; says how many
    /// totals, of single columns, that were.
    fn withhold(&mut self, groups: &[u32], min: u64) -> u64 {
        let mut totals = 0;
        for &group in groups {
            let group = group as usize;
            let is_total = |additions: &Vec<u64>| additions[group] > 0;
            let few = |(additions, values): (&Vec<u64>, &Vec<u64>)| is_total(additions) && values[group] < min;
            if self.additions.iter().zip(&self.values).any(few) {
                totals += self.additions.iter().filter(|additions| is_total(additions)).count() as u64;
                self.ciphertexts[group] = None;
                self.additions.iter_mut().chain(&mut self.values).for_each(|part| part[group] = 0);
            }
        }
        totals
    }

    /// The totals as a column, null where nothing was added; re-randomised with the key given for
    /// that.
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
                Ciphertexts::concat(first, rest).map_err(|error| ciphers::bad(column, &[], error))?
            }
        };
        let present = match rerandomise {
            None => present,
            Some(key) => key.rerandomise(&present).map_err(|error| ciphers::not_computed(column, error))?,
        };
        let nulls = NullBuffer::from_iter(ordered().map(|total| total.is_some()));
        ciphers::write(column, &present, Some(&nulls))
    }
}

/// The groups that occur among the ciphertexts present, and the ciphertexts of each.
fn members(present: &Present, groups: &[u32]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut place = std::collections::HashMap::new();
    let (mut touched, mut members) = (Vec::new(), Vec::<Vec<u32>>::new());
    for (index, &row) in present.rows.iter().enumerate() {
        let group = groups[row];
        let at = *place.entry(group).or_insert_with(|| {
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
            |column: &EncryptedColumn| column.name == *name || column.parts.iter().any(|part| part.name == *name);
        if columns.iter().any(encrypted) {
            return Err(ErrorKind::GroupEncrypted.in_column(name));
        }
        let counts = |part: &Part| part.additions == *name || part.values.as_ref() == Some(name);
        let companion = |column: &EncryptedColumn| column.parts.iter().any(counts);
        if columns.iter().any(companion) {
            return Err(ErrorKind::ReservedName.in_column(name));
        }
        let field = find(schema, name)?;
        if counts_rows(field) {
            return Err(ErrorKind::ReservedName.in_column(name));
        }
        let kind = plain(metadata::bare(field).data_type());
        Ok(Field::new(name, kind, true))
    };
    by.iter().map(field).collect()
}

/// Names the columns of the totals that count values.
fn name_counts(by: &[Field], columns: &mut [EncryptedColumn]) {
    let mut taken: HashSet<String> = by.iter().map(|field| field.name().clone()).collect();
    for column in &*columns {
        let parts = column.parts.iter().flat_map(|part| [part.name.clone(), part.additions.clone()]);
        taken.extend(parts.chain([column.name.clone()]));
    }
    for part in columns.iter_mut().flat_map(|column| &mut column.parts) {
        part.values = Some(count_name(&part.name, "values", &mut taken));
    }
}

/// The name of a column of totals that counts `what`, none of those that are taken.
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

/// The schema of totals: the group columns, the number of rows, the encrypted columns with their
/// companions.
pub(crate) fn totals_schema(by: &[Field], encrypted: Vec<Field>) -> Schema {
    // Decryption names a packed column's parts anew.
    let parts = encrypted.iter().filter_map(|field| LatticeColumn::from_field(field).ok().flatten());
    let parts: Vec<String> = parts.map(|column| column.part.name).collect();
    let packed = encrypted.iter().filter_map(|field| EncryptedColumn::from_field(field).ok().flatten());
    let packed: Vec<String> = packed.flat_map(|column| column.parts).map(|part| part.name).collect();
    let fields = by.iter().chain(&encrypted).map(|field| field.name());
    let rows = metadata::rows_name(fields.chain(&parts).chain(&packed).map(String::as_str));
    Schema::new(by.iter().cloned().chain([rows_field(&rows)]).chain(encrypted).collect::<Vec<_>>())
}

/// The schema of totals with the tables that they contain.
pub(crate) fn described(schema: &SchemaRef, contents: &Contents) -> SchemaRef {
    let field = |field: &FieldRef| match counts_rows(field) {
        true => Arc::new(contents.describe(Field::clone(field))),
        false => field.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Fields>()))
}

fn group_column(field: &Field, batch: &RecordBatch) -> Result<ArrayRef, Error> {
    let column = batch.column_by_name(field.name()).ok_or_else(|| missing(field.name()))?;
    as_plain(column).map_err(|error| Error::from(error).in_column(field.name()))
}

fn gather(counts: &[u64], order: &[u32]) -> ArrayRef {
    let ordered = order.iter().map(|&group| counts[group as usize]);
    Arc::new(UInt64Array::from_iter_values(ordered))
}

fn missing(column: &str) -> Error {
    let (here, before) = ("absent".to_owned(), "encrypted".to_owned());
    ErrorKind::Differs { what: "the column", here, before }.in_column(column)
}
