//! Tables with different scales, ranges, headrooms and widths have the expected sums.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::*;
use hearith_columns::csv::CellFormatter;
use hearith_columns::*;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use proptest::prelude::*;

static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap());

/// A table of one sender. Its numbers are integers times `10^-scale`.
#[derive(Clone, Debug)]
struct Sender {
    scale: u32,
    range: i64,
    max_additions: u64,
    wide: bool,
    rows: Vec<(i8, Option<i64>)>,
}

impl Sender {
    fn encrypted(&self) -> RecordBatch {
        let groups = self.rows.iter().map(|row| row.0);
        let group: ArrayRef = match self.wide {
            true => Arc::new(Int64Array::from_iter_values(groups.map(i64::from))),
            false => Arc::new(Int8Array::from_iter_values(groups)),
        };
        let text = |number: i64| decimal(number.into(), self.scale);
        let numbers: ArrayRef = Arc::new(StringArray::from_iter(self.rows.iter().map(|row| row.1.map(text))));
        let batch = RecordBatch::try_from_iter_with_nullable([("g", group, true), ("x", numbers, true)]).unwrap();
        let spec = ColumnSpec {
            name: "x".into(),
            scale: Some(self.scale),
            range: Some(decimal(self.range.into(), self.scale)),
        };
        let options = EncryptOptions { max_additions: self.max_additions, ..EncryptOptions::new(vec![spec]) };
        let encryptor = Encryptor::new(EncryptionKey::Public(KEY.public()), &batch.schema(), &options).unwrap();
        encryptor.encrypt(&batch).unwrap()
    }
}

fn decimal(number: i128, scale: u32) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", number.unsigned_abs(), scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// The totals by group as text, with a dash for null.
fn summed(tables: &[RecordBatch]) -> Result<Vec<(String, String)>, Error> {
    let schemas: Vec<_> = tables.iter().map(RecordBatch::schema).collect();
    let by = ["g".to_owned()];
    let mut alignment = Alignment::of(&schemas, &by)?;
    let mut totals = Aggregator::new(KEY.public(), &*alignment.schema(&schemas[0])?, &by)?;
    for table in tables {
        let aligned = alignment.align(KEY.public(), table)?;
        totals.begin(&aligned.schema())?;
        totals.update(&aligned)?;
    }
    let batch = totals.finish()?;
    let shown = Decryptor::new(&KEY, &batch.schema())?.decrypt(&batch)?.to_text()?;
    let (groups, numbers) = (shown.column_by_name("g").unwrap(), shown.column_by_name("x").unwrap());
    let (groups, numbers) = (CellFormatter::new(groups).unwrap(), CellFormatter::new(numbers).unwrap());
    let number = |row| numbers.text(row).map(|text| if text.is_empty() { "-".to_owned() } else { text }).unwrap();
    Ok((0..shown.num_rows()).map(|row| (groups.text(row).unwrap(), number(row))).collect())
}

fn sender() -> impl Strategy<Value = Sender> {
    let row = (-2_i8..3, prop::option::weighted(0.8, -1000_i64..1000));
    let rows = prop::collection::vec(row, 1..5);
    (0_u32..7, 1000_i64..100_000, 10_u64..1000, any::<bool>(), rows)
        .prop_map(|(scale, range, max_additions, wide, rows)| Sender { scale, range, max_additions, wide, rows })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn unlike_tables_add_up_exactly(senders in prop::collection::vec(sender(), 1..4)) {
        let tables: Vec<RecordBatch> = senders.iter().map(Sender::encrypted).collect();
        let scale = senders.iter().map(|sender| sender.scale).max().unwrap();
        let mut expected = BTreeMap::<i8, Option<i128>>::new();
        for sender in &senders {
            let factor = 10_i128.pow(scale - sender.scale);
            for &(group, number) in &sender.rows {
                let total = expected.entry(group).or_default();
                if let Some(number) = number {
                    *total = Some(total.unwrap_or(0) + i128::from(number) * factor);
                }
            }
        }
        let shown = |(group, total): (i8, Option<i128>)| {
            (group.to_string(), total.map_or("-".to_owned(), |total| decimal(total, scale)))
        };
        prop_assert_eq!(summed(&tables).unwrap(), expected.into_iter().map(shown).collect::<Vec<_>>());
    }
}

fn one(scale: u32, range: i64, max_additions: u64, number: i64) -> Sender {
    Sender { scale, range, max_additions, wide: false, rows: vec![(0, Some(number))] }
}

#[test]
fn the_largest_values_of_every_table_fit() {
    let tables = [one(0, i64::MAX, 4, i64::MAX), one(6, 1, 4, -1), one(3, i64::MAX, 4, -i64::MAX)];
    let tables = tables.map(|sender| sender.encrypted());
    let total = i128::from(i64::MAX) * 999_000 + i128::from(i64::MAX) * 1000 - 1 - i128::from(i64::MAX) * 1000;
    assert_eq!(summed(&tables).unwrap(), [("0".to_owned(), decimal(total, 6))]);
}

#[test]
fn the_fewest_additions_are_those_of_the_total() {
    let tables = [one(0, 10, 2, 1), one(1, 10, 1000, 1)].map(|sender| sender.encrypted());
    let schemas = [tables[0].schema(), tables[1].schema()];
    let alignment = Alignment::of(&schemas, &[]).unwrap();
    let columns = encrypted_columns(&alignment.schema(&schemas[1]).unwrap()).unwrap();
    assert_eq!((columns[0].max_additions, columns[0].sources[0].scale, columns[0].sources[0].range), (2, 1, 100));
    let three = [&tables[0], &tables[1], &tables[1]].map(Clone::clone);
    let mut totals = Aggregator::new(KEY.public(), &alignment.schema(&schemas[0]).unwrap(), &[]).unwrap();
    let mut alignment = alignment;
    let added = three.iter().try_for_each(|table| totals.update(&alignment.align(KEY.public(), table)?));
    assert!(matches!(added.unwrap_err().kind(), ErrorKind::Headroom { additions: 3, max_additions: 2 }));
}

#[test]
fn tables_that_cannot_be_made_alike_are_refused() {
    let tables = [one(0, i64::MAX, u64::MAX / 2, 1), one(30, 1000, u64::MAX / 2, 1)].map(|sender| sender.encrypted());
    let error = summed(&tables).unwrap_err().to_string();
    assert!(error.starts_with("column x: the scales and ranges of these tables together are too large"), "{error}");
}

#[test]
fn companions_and_ids_stay() {
    let tables = [one(0, 10, 5, 3), one(2, 10, 5, 1)].map(|sender| sender.encrypted());
    let schemas = [tables[0].schema(), tables[1].schema()];
    let mut alignment = Alignment::of(&schemas, &[]).unwrap();
    let aligned = alignment.align(KEY.public(), &tables[0]).unwrap();
    let id =
        |batch: &RecordBatch| batch.schema().field_with_name("x").unwrap().metadata().get("hearith.table").cloned();
    assert!(id(&tables[0]).is_some());
    assert_eq!(id(&aligned), id(&tables[0]));
    let counts =
        |batch: &RecordBatch| batch.column_by_name("x.additions").unwrap().as_primitive::<UInt64Type>().clone();
    assert_eq!(counts(&aligned), counts(&tables[0]));
}
