//! The kernel, with batches as input and output: encryption, sums, decryption, and their errors.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, UInt64Type};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, Fields, Schema};
use hearith_columns::*;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};
use proptest::prelude::*;

fn new_key(variant: Variant) -> PrivateKey {
    PrivateKey::generate(256, variant, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| new_key(Variant::Standard));
static OTHER_KEY: LazyLock<PrivateKey> = LazyLock::new(|| new_key(Variant::Djn));

fn public() -> &'static PublicKey {
    KEY.public()
}

fn spec(name: &str) -> ColumnSpec {
    ColumnSpec { name: name.into(), ..Default::default() }
}

fn array<T: Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Departments, sites, and two columns of numbers, all with nulls.
fn staff() -> RecordBatch {
    table(vec![
        ("dept", array(StringArray::from(vec![Some("lab"), Some("shop"), None, Some("lab"), Some("lab")]))),
        ("pay", array(Int64Array::from(vec![Some(1500), Some(900), Some(-7), None, Some(-20)]))),
        ("site", array(Int32Array::from(vec![Some(1), Some(1), Some(1), Some(2), Some(2)]))),
        ("bonus", array(Float64Array::from(vec![Some(0.5), None, Some(1.25), Some(-3.0), Some(0.01)]))),
    ])
}

fn both(pack: bool) -> EncryptOptions {
    let bonus = ColumnSpec { scale: Some(2), ..spec("bonus") };
    EncryptOptions { pack, ..EncryptOptions::new(vec![spec("pay"), bonus]) }
}

fn encrypt(batch: &RecordBatch, options: &EncryptOptions) -> Result<RecordBatch, Error> {
    Encryptor::new(EncryptionKey::Public(public()), &batch.schema(), options)?.encrypt(batch)
}

fn sum(batches: &[&RecordBatch], by: &[&str]) -> Result<RecordBatch, Error> {
    let by: Vec<String> = by.iter().map(|name| name.to_string()).collect();
    let mut totals = Aggregator::new(public(), &batches[0].schema(), &by)?;
    for batch in batches {
        totals.update(batch)?;
    }
    totals.finish()
}

fn decrypt(batch: &RecordBatch) -> Result<Decrypted, Error> {
    Decryptor::new(&KEY, &batch.schema())?.decrypt(batch)
}

/// The text of a decrypted column, with "-" for nulls.
fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let text = decrypt(batch).unwrap().to_text().unwrap();
    let cells = hearith_columns::csv::CellFormatter::new(text.column_by_name(column).unwrap()).unwrap();
    let cell = |row| cells.text(row).unwrap();
    (0..text.num_rows()).map(|row| if cell(row).is_empty() { "-".into() } else { cell(row) }).collect()
}

/// The batch with the column of this name replaced.
fn with_column(batch: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let at = batch.schema().index_of(name).unwrap();
    let mut columns = batch.columns().to_vec();
    columns[at] = column;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// The batch with the ciphertext of one row replaced.
fn with_ciphertext(batch: &RecordBatch, name: &str, row: usize, bytes: &[u8]) -> RecordBatch {
    let column = batch.column_by_name(name).unwrap().as_fixed_size_binary();
    let width = column.value_length();
    let cells = (0..column.len()).map(|at| match at {
        _ if at == row => Some(bytes.to_vec()),
        _ => column.is_valid(at).then(|| column.value(at).to_vec()),
    });
    let cells = FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells, width).unwrap();
    with_column(batch, name, array(cells))
}

fn be(number: &[u8], width: usize) -> Vec<u8> {
    let mut bytes = vec![0; width - number.len()];
    bytes.extend(number);
    bytes
}

#[test]
fn columns_give_way_to_ciphertexts_in_place() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let schema = encrypted.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["dept", "pay", "pay.additions", "site", "bonus", "bonus.additions"]);
    let pay = encrypted.column_by_name("pay").unwrap().as_fixed_size_binary();
    assert_eq!((pay.value_length(), pay.null_count()), (64, 1));
    assert!(pay.is_null(3));
    let additions = encrypted.column_by_name("bonus.additions").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(additions, &UInt64Array::from(vec![1, 0, 1, 1, 1]));
    assert_eq!(encrypted.column_by_name("dept"), staff().column_by_name("dept"));
    assert_eq!(texts(&encrypted, "pay"), ["1500", "900", "-7", "-", "-20"]);
    assert_eq!(texts(&encrypted, "bonus"), ["0.50", "-", "1.25", "-3.00", "0.01"]);
}

#[test]
fn packed_columns_share_a_ciphertext() {
    let encrypted = encrypt(&staff(), &both(true)).unwrap();
    let schema = encrypted.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["dept", "pay+bonus", "pay.additions", "bonus.additions", "site"]);
    assert_eq!(texts(&encrypted, "pay"), ["1500", "900", "-7", "-", "-20"]);
    assert_eq!(texts(&encrypted, "bonus"), ["0.50", "-", "1.25", "-3.00", "0.01"]);
    let totals = sum(&[&encrypted], &["dept"]).unwrap();
    assert_eq!(texts(&totals, "dept"), ["-", "lab", "shop"]);
    assert_eq!(texts(&totals, "rows"), ["1", "3", "1"]);
    assert_eq!(texts(&totals, "pay"), ["-7", "1480", "900"]);
    assert_eq!(texts(&totals, "bonus"), ["1.25", "-2.49", "-"]);
}

#[test]
fn equal_numbers_have_different_ciphertexts() {
    let batch = table(vec![("x", array(Int64Array::from(vec![5, 5])))]);
    let encrypted = encrypt(&batch, &EncryptOptions::new(vec![spec("x")])).unwrap();
    let cells = encrypted.column(0).as_fixed_size_binary();
    assert_ne!(cells.value(0), cells.value(1));
}

#[test]
fn the_owner_encrypts_to_the_same_numbers() {
    let key = EncryptionKey::Owner(&KEY);
    let encrypted = Encryptor::new(key, &staff().schema(), &both(false)).unwrap().encrypt(&staff()).unwrap();
    assert_eq!(texts(&encrypted, "pay"), ["1500", "900", "-7", "-", "-20"]);
}

#[test]
fn totals_by_several_columns_over_several_batches() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let totals = sum(&[&encrypted, &encrypted.slice(1, 3), &encrypted.slice(4, 1)], &["dept", "site"]).unwrap();
    assert_eq!(texts(&totals, "dept"), ["-", "lab", "lab", "shop"]);
    assert_eq!(texts(&totals, "site"), ["1", "1", "2", "1"]);
    assert_eq!(texts(&totals, "rows"), ["2", "1", "4", "2"]);
    assert_eq!(texts(&totals, "pay"), ["-14", "1500", "-40", "1800"]);
    assert_eq!(texts(&totals, "bonus"), ["2.50", "0.50", "-5.98", "-"]);
    let additions = totals.column_by_name("pay.additions").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(additions, &UInt64Array::from(vec![2, 1, 2, 2]), "nulls are not added");
    let all = sum(&[&encrypted], &[]).unwrap();
    assert_eq!((texts(&all, "pay"), texts(&all, "rows")), (vec!["2373".into()], vec!["5".into()]));
}

#[test]
fn totals_of_totals_and_merged_totals() {
    let encrypted = encrypt(&staff(), &both(true)).unwrap();
    let parts = [sum(&[&encrypted.slice(0, 2)], &["dept", "site"]), sum(&[&encrypted.slice(2, 3)], &["dept", "site"])];
    let parts: Vec<RecordBatch> = parts.into_iter().map(Result::unwrap).collect();
    let again = sum(&[&parts[0], &parts[1]], &["dept"]).unwrap();
    let direct = sum(&[&encrypted], &["dept"]).unwrap();
    for column in ["dept", "rows", "pay", "bonus"] {
        assert_eq!(texts(&again, column), texts(&direct, column));
    }
    let by = ["dept".to_owned()];
    let part = |rows: RecordBatch| {
        let mut totals = Aggregator::new(public(), &encrypted.schema(), &by).unwrap();
        totals.update(&rows).unwrap();
        totals
    };
    let mut left = part(encrypted.slice(3, 2));
    left.merge(part(encrypted.slice(0, 3))).unwrap();
    let merged = left.finish().unwrap();
    for column in ["dept", "rows", "pay", "bonus"] {
        assert_eq!(texts(&merged, column), texts(&direct, column));
    }
}

#[test]
fn sums_without_rows() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap().slice(0, 0);
    let all = sum(&[&encrypted], &[]).unwrap();
    assert_eq!((texts(&all, "rows"), texts(&all, "pay")), (vec!["0".into()], vec!["-".into()]));
    assert_eq!(sum(&[&encrypted], &["dept"]).unwrap().num_rows(), 0);
    assert_eq!(encrypt(&staff().slice(0, 0), &both(true)).unwrap().num_rows(), 0);
}

#[test]
fn decrypted_types_hold_every_declared_total() {
    let batch = table(vec![("x", array(StringArray::from(vec!["-99999999999999999999.75"])))]);
    let column = ColumnSpec { scale: Some(2), range: Some("1e30".into()), ..spec("x") };
    let options = EncryptOptions { max_additions: 10, ..EncryptOptions::new(vec![column]) };
    let narrow = decrypt(&encrypt(&batch, &options).unwrap()).unwrap().to_batch().unwrap();
    assert_eq!(*narrow.column(0).data_type(), DataType::Decimal128(38, 2));
    assert_eq!(narrow.column(0).as_primitive::<Decimal128Type>().value(0), -9_999_999_999_999_999_999_975);
    let options = EncryptOptions { max_additions: 1 << 40, ..options };
    let wide = decrypt(&encrypt(&batch, &options).unwrap()).unwrap().to_batch().unwrap();
    assert_eq!(*wide.column(0).data_type(), DataType::Decimal256(76, 2));
    let expected = i256::from_i128(-9_999_999_999_999_999_999_975);
    assert_eq!(wide.column(0).as_primitive::<Decimal256Type>().value(0), expected);
}

#[test]
fn numbers_that_fit_38_digits_become_narrower() {
    let wide = |units: &[Option<&str>]| {
        let numbers = units.iter().map(|text| text.map(|text| i256::from_string(text).unwrap()));
        let numbers: Decimal256Array = numbers.collect();
        array(numbers.with_precision_and_scale(76, 2).unwrap())
    };
    let most = "9".repeat(38);
    let least = format!("-{most}");
    let beyond = format!("1{}", "0".repeat(38));
    let fitting = [Some(most.as_str()), None, Some(least.as_str()), Some("0")];
    let beside = wide(&[None, Some(&beyond), None, Some("1")]);
    let batch = table(vec![("dept", wide(&fitting)), ("x", wide(&fitting)), ("y", beside)]);
    let halves = [batch.slice(0, 1), batch.slice(1, 3)];
    let (schema, narrow) = hearith_columns::narrowed(&batch.schema(), &[1, 2], &halves).unwrap();
    let kinds: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    let kept = DataType::Decimal256(76, 2);
    assert_eq!(kinds, [kept.clone(), DataType::Decimal128(38, 2), kept], "only numbers, and only where all fit");
    let numbers: Vec<_> = narrow.iter().flat_map(|batch| batch.column(1).as_primitive::<Decimal128Type>()).collect();
    assert_eq!(numbers, [most.parse().ok(), None, least.parse().ok(), Some(0)]);
    assert_eq!(narrow[1].column(2), &batch.column(2).slice(1, 3));
}

#[test]
fn a_decimal_column_keeps_its_scale() {
    let cents = Decimal128Array::from(vec![1250, -5]).with_precision_and_scale(10, 2).unwrap();
    let batch = table(vec![("x", array(cents))]);
    let encrypted = encrypt(&batch, &EncryptOptions::new(vec![spec("x")])).unwrap();
    assert_eq!(texts(&encrypted, "x"), ["12.50", "-0.05"]);
}

#[test]
fn what_cannot_be_encrypted_is_refused() {
    let refused = |options: EncryptOptions| encrypt(&staff(), &options).unwrap_err().to_string();
    let one = |spec| EncryptOptions::new(vec![spec]);
    assert!(refused(one(spec("nope"))).contains("column nope: there is no such column (there are: dept, pay"));
    assert!(refused(EncryptOptions::new(vec![spec("pay"), spec("pay")])).contains("column pay: two columns would"));
    assert!(refused(EncryptOptions::new(vec![])).contains("no column named"));
    assert_eq!(refused(one(spec("dept"))), "row 0, column dept: is not a number");
    assert!(refused(one(spec("bonus"))).starts_with("row 0, column bonus: has more than 0 fractional digits"));
    let tight = ColumnSpec { range: Some("1000".into()), ..spec("pay") };
    assert!(refused(one(tight)).starts_with("row 0, column pay: is out of range: at most 1000"));
    assert!(refused(one(ColumnSpec { scale: Some(39), ..spec("pay") })).contains("at most 38"));
    assert!(refused(one(ColumnSpec { range: Some("-1".into()), ..spec("pay") })).contains("is not a range"));
    let greedy = EncryptOptions { max_additions: u64::MAX, ..both(true) };
    assert!(refused(greedy).starts_with("column pay+bonus: "));
    assert!(refused(EncryptOptions { max_additions: 0, ..both(false) }).starts_with("column pay: "));
    let flags = table(vec![("x", array(Date32Array::from(vec![1])))]);
    let error = encrypt(&flags, &one(spec("x"))).unwrap_err();
    assert_eq!(error.to_string(), "column x: holds Date32, not numbers");
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    assert_eq!(encrypt(&encrypted, &one(spec("pay"))).unwrap_err().to_string(), "column pay: is already encrypted");
}

#[test]
fn names_that_are_taken_are_refused() {
    let numbers = || array(Int64Array::from(vec![1]));
    let companion = table(vec![("x", numbers()), ("x.additions", numbers())]);
    let error = encrypt(&companion, &EncryptOptions::new(vec![spec("x")])).unwrap_err();
    assert_eq!(error.to_string(), "column x.additions: two columns would have this name");
    let rows = table(vec![("x", numbers()), ("rows", numbers())]);
    let encrypted = encrypt(&rows, &EncryptOptions::new(vec![spec("x")])).unwrap();
    let by_rows = sum(&[&encrypted], &["rows"]).unwrap();
    assert_eq!(texts(&by_rows, "rows.1"), ["1"], "counted beside the user's column of that name");
    let error = sum(&[&by_rows], &["rows.1"]).unwrap_err();
    assert_eq!(error.to_string(), "column rows.1: the totals already have a column with this name");
    assert_eq!(texts(&sum(&[&encrypted], &[]).unwrap(), "rows"), ["1"], "a user's rows are no row count");
}

#[test]
fn groups_must_be_plain_and_single() {
    let encrypted = encrypt(&staff(), &both(true)).unwrap();
    let refused = |by: &[&str]| sum(&[&encrypted], by).unwrap_err().to_string();
    assert_eq!(refused(&["pay"]), "column pay: is encrypted: group by an unencrypted column");
    assert_eq!(refused(&["pay+bonus"]), "column pay+bonus: is encrypted: group by an unencrypted column");
    assert!(refused(&["nope"]).starts_with("column nope: there is no such column"));
    assert!(refused(&["dept", "dept"]).starts_with("column dept: two columns would"));
    assert!(sum(&[&staff()], &[]).unwrap_err().to_string().contains("holds no encrypted column"));
}

#[test]
fn tables_that_differ_do_not_add_up() {
    let first = encrypt(&staff(), &both(false)).unwrap();
    let refused = |second: &RecordBatch, by: &[&str]| sum(&[&first, second], by).unwrap_err().to_string();
    let scaled = ColumnSpec { scale: Some(3), ..spec("bonus") };
    let second = encrypt(&staff(), &EncryptOptions::new(vec![spec("pay"), scaled])).unwrap();
    assert!(refused(&second, &[]).starts_with("column bonus: the scale is 3, not 2 as before"));
    let second = encrypt(&staff(), &EncryptOptions::new(vec![spec("pay")])).unwrap();
    assert!(refused(&second, &[]).starts_with("column bonus: the column is absent, not encrypted as before"));
    let second = encrypt(&staff(), &both(true)).unwrap();
    assert!(refused(&second, &[]).starts_with("column pay: "));
    let site = array(StringArray::from(vec!["1"; 5]));
    let other = table(vec![
        ("dept", staff().column(0).clone()),
        ("site", site),
        ("pay", staff().column(1).clone()),
        ("bonus", staff().column(3).clone()),
    ]);
    let second = encrypt(&other, &both(false)).unwrap();
    assert!(refused(&second, &["site"]).starts_with("column site: the type is Utf8, not Int32 as before"));
    assert!(sum(&[&first, &second], &["dept"]).is_ok());
}

#[test]
fn a_wrong_key_is_named() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let (ours, theirs) = (public().id(), OTHER_KEY.public().id());
    let expected = format!("column pay: encrypted under key {ours}, but the key given is {theirs}");
    let error = Aggregator::new(OTHER_KEY.public(), &encrypted.schema(), &[]).unwrap_err();
    assert_eq!(error.to_string(), expected);
    let error = Decryptor::new(&OTHER_KEY, &encrypted.schema()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn malformed_ciphertexts_are_found() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let modulus = public().modulus_be();
    let square = {
        use crypto_bigint::{BoxedUint, ConcatenatingSquare};
        let n = BoxedUint::from_be_slice(&modulus, 256).unwrap();
        n.concatenating_square().to_be_bytes().to_vec()
    };
    let p = {
        let jwk: serde_json::Value = serde_json::from_str(&KEY.to_jwk()).unwrap();
        base64_url(jwk["p"].as_str().unwrap())
    };
    let cases = [
        (be(&[], 64), "the ciphertext is 0"),
        (be(&square, 64), "the ciphertext is not below n^2"),
        (vec![0xff; 64], "the ciphertext is not below n^2"),
        (be(&modulus, 64), "the ciphertext shares a factor with n"),
        (be(&p, 64), "the ciphertext shares a factor with n"),
    ];
    for (bytes, what) in cases {
        let bad = with_ciphertext(&encrypted, "bonus", 3, &bytes);
        let expected = format!("row 3, column bonus: {what}");
        assert_eq!(sum(&[&bad], &[]).unwrap_err().to_string(), expected);
        assert_eq!(sum(&[&bad], &["dept"]).unwrap_err().to_string(), expected);
        assert_eq!(decrypt(&bad).unwrap_err().to_string(), expected);
        // Rows after a null are counted correctly too.
        let bad = with_ciphertext(&encrypted, "pay", 4, &bytes);
        assert_eq!(sum(&[&bad], &[]).unwrap_err().to_string(), format!("row 4, column pay: {what}"));
        assert_eq!(decrypt(&bad).unwrap_err().to_string(), format!("row 4, column pay: {what}"));
    }
}

fn base64_url(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'-' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = text.bytes().flat_map(|c| (0..6).rev().map(move |bit| value(c) >> bit & 1)).collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

#[test]
fn headroom_is_not_exceeded_by_sums() {
    let options = EncryptOptions { max_additions: 3, ..both(true) };
    let encrypted = encrypt(&staff(), &options).unwrap();
    let error = sum(&[&encrypted], &[]).unwrap_err();
    assert_eq!(error.to_string(), "row 4, column pay: 4 additions exceed the 3 that there is headroom for");
    let by_dept = sum(&[&encrypted], &["dept"]).unwrap();
    assert_eq!(texts(&by_dept, "bonus"), ["1.25", "-2.49", "-"]);
    let again = sum(&[&by_dept, &encrypted], &["dept"]).unwrap_err();
    assert_eq!(again.to_string(), "row 4, column pay: 4 additions exceed the 3 that there is headroom for");
    let unbounded = ColumnSpec { range: Some("1500".into()), ..spec("pay") };
    let options = EncryptOptions { max_additions: u64::MAX, ..EncryptOptions::new(vec![unbounded]) };
    let most = encrypt(&staff().slice(0, 2), &options).unwrap();
    let most = with_column(&most, "pay.additions", array(UInt64Array::from(vec![u64::MAX, 1])));
    assert!(sum(&[&most], &[]).unwrap_err().to_string().starts_with("row 1, column pay: 2^64 - 1 or more additions"));
    let lying = with_column(&encrypted, "pay.additions", array(UInt64Array::from(vec![u64::MAX; 5])));
    assert!(sum(&[&lying], &["dept"]).unwrap_err().to_string().contains("row 0, column pay: 2^64 - 1 or more"));
}

#[test]
fn totals_beyond_their_headroom_are_not_believed() {
    let options = |pack| EncryptOptions { max_additions: 3, ..both(pack) };
    let encrypted = encrypt(&staff(), &options(true)).unwrap();
    // A companion that claims fewer additions than there were, too many, or none.
    for claimed in [4, 0, u64::MAX] {
        let claimed = array(UInt64Array::from(vec![1, claimed, 1, 0, 1]));
        let bad = with_column(&encrypted, "pay.additions", claimed);
        let decrypted = decrypt(&bad).unwrap();
        assert_eq!(decrypted.overflows(), 2, "the neighbours in the ciphertext, too");
        assert_eq!(
            decrypted.overflow().unwrap().to_string(),
            "row 1, column pay: overflowed its headroom: the total is not reliable"
        );
        assert_eq!(texts(&bad, "pay"), ["1500", OVERFLOW, "-7", "-", "-20"]);
        assert_eq!(texts(&bad, "bonus"), ["0.50", OVERFLOW, "1.25", "-3.00", "0.01"]);
        assert!(matches!(decrypted.to_batch().unwrap_err().kind(), ErrorKind::Overflow));
    }
    // A total larger than its additions allow: two ciphertexts added without counting.
    let range = |name: &str| ColumnSpec { range: Some("1500".into()), ..spec(name) };
    let single = encrypt(&staff(), &EncryptOptions::new(vec![range("pay")])).unwrap();
    let totals = sum(&[&single, &single], &["dept"]).unwrap();
    assert_eq!(texts(&totals, "pay"), ["-14", "2960", "1800"]);
    let bad = with_column(&totals, "pay.additions", array(UInt64Array::from(vec![1, 1, 1])));
    assert_eq!(texts(&bad, "pay"), ["-14", OVERFLOW, OVERFLOW]);
}

#[test]
fn an_overflowed_slot_spoils_its_row_only() {
    let narrow = |name: &str| ColumnSpec { range: Some("100".into()), ..spec(name) };
    let batch =
        table(vec![("a", array(Int64Array::from(vec![100, 1]))), ("b", array(Int64Array::from(vec![-100, 2])))]);
    let options =
        EncryptOptions { pack: true, max_additions: 2, ..EncryptOptions::new(vec![narrow("a"), narrow("b")]) };
    let encrypted = encrypt(&batch, &options).unwrap();
    // 300 in a slot of range 200, added with a companion that claims no additions.
    let quiet = with_column(&encrypted, "a.additions", array(UInt64Array::from(vec![0, 0])));
    let quiet = with_column(&quiet, "b.additions", array(UInt64Array::from(vec![0, 0])));
    let mut totals = sum(&[&encrypted, &quiet, &quiet], &[]).unwrap();
    assert_eq!(texts(&totals, "a"), [OVERFLOW]);
    assert_eq!(texts(&totals, "b"), [OVERFLOW]);
    totals = sum(&[&encrypted.slice(1, 1), &encrypted.slice(1, 1)], &[]).unwrap();
    assert_eq!((texts(&totals, "a"), texts(&totals, "b")), (vec!["2".into()], vec!["4".into()]));
}

#[test]
fn companions_must_be_sound() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let drop_column = |name: &str| {
        let keep: Vec<usize> =
            (0..encrypted.num_columns()).filter(|&at| encrypted.schema().field(at).name() != name).collect();
        encrypted.project(&keep).unwrap()
    };
    let missing = drop_column("pay.additions");
    let expected = "column pay: its companion column pay.additions is missing";
    assert_eq!(sum(&[&missing], &[]).unwrap_err().to_string(), expected);
    assert_eq!(decrypt(&missing).unwrap_err().to_string(), expected);
    let claiming = with_column(&encrypted, "pay.additions", array(UInt64Array::from(vec![1; 5])));
    let expected = "row 3, column pay: null, yet its companion counts additions";
    assert_eq!(sum(&[&claiming], &[]).unwrap_err().to_string(), expected);
    assert_eq!(decrypt(&claiming).unwrap_err().to_string(), expected);
}

/// The effect of a library's `ffill`: a number that was copied without its companion.
#[test]
fn numbers_that_no_companion_counts_are_refused() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let cell = encrypted.column_by_name("pay").unwrap().as_fixed_size_binary().value(2).to_vec();
    let filled = with_ciphertext(&encrypted, "pay", 3, &cell);
    // The same in rows without a null.
    for (bad, row) in [(&filled, 3), (&filled.slice(2, 3), 1), (&filled.slice(3, 1), 0)] {
        let expected = format!(
            "row {row}, column pay: holds a number, but its companion pay.additions counts no additions: \
             copy or fill both columns together, or fill before encryption"
        );
        assert_eq!(sum(&[bad], &["dept"]).unwrap_err().to_string(), expected);
        assert_eq!(decrypt(bad).unwrap_err().to_string(), expected);
    }
    let counted = with_column(&filled, "pay.additions", array(UInt64Array::from(vec![1; 5])));
    assert_eq!(texts(&sum(&[&counted], &[]).unwrap(), "pay"), ["2366"]);
    // Rows of only nulls are packed, and totals of weights 0 have no additions.
    let nulls = table(vec![
        ("pay", array(Int64Array::from(vec![None, Some(3)]))),
        ("bonus", array(Float64Array::from(vec![None, None]))),
    ]);
    let packed = encrypt(&nulls, &both(true)).unwrap();
    assert_eq!(texts(&sum(&[&packed], &[]).unwrap(), "pay"), ["3"]);
    let totals = sum(&[&encrypted], &["dept"]).unwrap();
    let weightless = with_column(&totals, "pay.additions", array(UInt64Array::from(vec![0; 3])));
    assert!(sum(&[&weightless], &["dept"]).is_ok());
}

#[test]
fn companions_without_a_count_are_refused() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let holed = UInt64Array::from(vec![Some(1), None, Some(1), Some(0), Some(1)]);
    let mut fields: Vec<_> = encrypted.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[2] = fields[2].clone().with_nullable(true);
    let mut columns = encrypted.columns().to_vec();
    columns[2] = array(holed);
    let bad = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    assert_eq!(sum(&[&bad], &[]).unwrap_err().to_string(), "row 1, column pay.additions: must not be null");
    assert_eq!(decrypt(&bad).unwrap_err().to_string(), "row 1, column pay.additions: must not be null");
}

/// The row count and the two totals of a group.
type PlainTotal = (u64, Option<i64>, Option<i64>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn grouped_sums_are_those_of_the_plain_numbers(
        rows in proptest::collection::vec((0_i32..4, proptest::option::of(-1000_i64..1000), proptest::option::of(any::<i32>())), 0..40),
        pack: bool,
        cut in 0_usize..40,
    ) {
        let groups = Int32Array::from_iter_values(rows.iter().map(|row| row.0));
        let a = Int64Array::from_iter(rows.iter().map(|row| row.1));
        let b = Int32Array::from_iter(rows.iter().map(|row| row.2));
        let batch = table(vec![("g", array(groups)), ("a", array(a)), ("b", array(b))]);
        let options = EncryptOptions { pack, ..EncryptOptions::new(vec![spec("a"), spec("b")]) };
        let encrypted = encrypt(&batch, &options).unwrap();
        let cut = cut.min(rows.len());
        let totals = sum(&[&encrypted.slice(0, cut), &encrypted.slice(cut, rows.len() - cut)], &["g"]).unwrap();
        let mut expected = std::collections::BTreeMap::<i32, PlainTotal>::new();
        for &(group, a, b) in &rows {
            let total = expected.entry(group).or_default();
            total.0 += 1;
            let add = |total: &mut Option<i64>, more: Option<i64>| if let Some(more) = more { *total = Some(total.unwrap_or(0) + more) };
            add(&mut total.1, a);
            add(&mut total.2, b.map(i64::from));
        }
        let shown = |value: Option<i64>| value.map_or("-".to_owned(), |value| value.to_string());
        let column = |each: fn(&PlainTotal) -> Option<i64>| expected.values().map(|total| shown(each(total))).collect::<Vec<_>>();
        prop_assert_eq!(texts(&totals, "rows"), column(|total| Some(total.0 as i64)));
        prop_assert_eq!(texts(&totals, "a"), column(|total| total.1));
        prop_assert_eq!(texts(&totals, "b"), column(|total| total.2));
    }
}

/// The batch with one field changed in its schema only.
fn with_field(batch: &RecordBatch, name: &str, change: impl Fn(Field) -> Field) -> RecordBatch {
    let fields = batch.schema_ref().fields().iter().map(|field| match field.name() == name {
        true => change(field.as_ref().clone()),
        false => field.as_ref().clone(),
    });
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), batch.columns().to_vec()).unwrap()
}

fn with_entry(batch: &RecordBatch, name: &str, key: &str, value: &str) -> RecordBatch {
    with_field(batch, name, |field| {
        let metadata = field.metadata().clone().with(key.to_owned(), value.to_owned());
        field.with_metadata(metadata)
    })
}

#[test]
fn batches_of_other_tables_are_refused() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let packed = encrypt(&staff(), &both(true)).unwrap();
    let key = OTHER_KEY.public();
    let other_key = Encryptor::new(EncryptionKey::Public(key), &staff().schema(), &both(false)).unwrap();
    let cents = ColumnSpec { scale: Some(2), ..spec("pay") };
    let bonus = ColumnSpec { scale: Some(2), ..spec("bonus") };
    let others = [
        ("another key", other_key.encrypt(&staff()).unwrap()),
        ("another layout", packed),
        ("another scale", encrypt(&staff(), &EncryptOptions::new(vec![cents, bonus])).unwrap()),
        ("other columns encrypted", encrypt(&staff(), &EncryptOptions::new(vec![spec("pay")])).unwrap()),
        (
            "no description",
            with_field(&encrypted, "pay", |field| field.with_metadata(arrow_schema::Metadata::default())),
        ),
        ("another range", with_entry(&encrypted, "pay", "hearith.range", "5")),
        ("fewer columns", encrypted.project(&[0, 1, 2]).unwrap()),
        ("nothing of it", staff()),
    ];
    for (what, other) in others {
        let mut totals = Aggregator::new(public(), &encrypted.schema(), &["dept".to_owned()]).unwrap();
        totals.update(&encrypted).unwrap();
        assert!(totals.update(&other).is_err(), "{what}");
        let decryptor = Decryptor::new(&KEY, &encrypted.schema()).unwrap();
        decryptor.decrypt(&encrypted).unwrap();
        let error = decryptor.decrypt(&other).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Differs { .. }), "{what}: {error}");
    }
    let encryptor = Encryptor::new(EncryptionKey::Public(public()), &staff().schema(), &both(false)).unwrap();
    for other in [staff().project(&[0, 1]).unwrap(), staff().project(&[0, 3, 2, 1]).unwrap(), encrypted] {
        assert!(matches!(encryptor.encrypt(&other).unwrap_err().kind(), ErrorKind::Differs { .. }));
    }
}

#[test]
fn columns_that_are_not_needed_may_be_missing_from_a_sum() {
    let encrypted = encrypt(&staff(), &both(false)).unwrap();
    let mut totals = Aggregator::new(public(), &encrypted.schema(), &["site".to_owned()]).unwrap();
    totals.update(&encrypted.project(&[1, 2, 3, 4, 5]).unwrap()).unwrap();
    assert_eq!(totals.finish().unwrap().num_rows(), 2);
}

#[test]
fn zeros_of_either_sign_are_one_group() {
    let groups = Float64Array::from(vec![0.0, -0.0, f64::NAN, -f64::NAN, 1.5]);
    let batch = table(vec![("g", array(groups)), ("x", array(Int64Array::from(vec![1, 2, 3, 4, 5])))]);
    let encrypted = encrypt(&batch, &EncryptOptions::new(vec![spec("x")])).unwrap();
    let totals = sum(&[&encrypted], &["g"]).unwrap();
    assert_eq!(texts(&totals, "g"), ["0.0", "1.5", "NaN"]);
    assert_eq!(texts(&totals, "x"), ["3", "5", "7"]);
}

#[test]
fn metadata_of_the_source_are_not_kept() {
    let secret = |field: Field| {
        field.with_metadata(HashMap::from(
            [("mean", "1234.5"), ("ARROW:extension:name", "mine")]
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
        ))
    };
    let inner = Fields::from(vec![secret(Field::new("i", DataType::Int64, true))]);
    let nested = StructArray::new(inner.clone(), vec![array(Int64Array::from(vec![1, 2]))], None);
    let schema = Schema::new(vec![
        secret(Field::new("g", DataType::Int64, false)),
        secret(Field::new("s", DataType::Struct(inner), true)),
        secret(Field::new("x", DataType::Int64, true)),
    ]);
    let schema = schema.with_metadata(HashMap::from([("pandas".to_owned(), "1234.5".to_owned())]));
    let numbers = || array(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![numbers(), array(nested), numbers()]).unwrap();
    let encrypted = encrypt(&batch, &EncryptOptions::new(vec![spec("x")])).unwrap();
    // One encrypted and one unencrypted column are encrypted again, summed and decrypted.
    let twice = encrypt(&encrypted, &EncryptOptions::new(vec![spec("g")])).unwrap();
    let secret_batch = |batch: &RecordBatch| {
        let fields = batch.schema_ref().fields().iter().map(|field| {
            let metadata = field.metadata().clone().with("mean".to_owned(), "1234.5".to_owned());
            field.as_ref().clone().with_metadata(metadata)
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let schema = schema.with_metadata(HashMap::from([("k".to_owned(), "1234.5".to_owned())]));
        RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap()
    };
    let totals = sum(&[&secret_batch(&encrypted)], &["g"]).unwrap();
    let by_struct = sum(&[&secret_batch(&encrypted)], &["s"]).unwrap();
    let decrypted = decrypt(&secret_batch(&encrypted)).unwrap();
    let (plain, text) = (decrypted.to_batch().unwrap(), decrypted.to_text().unwrap());
    for batch in [
        &encrypted,
        &twice,
        &encrypt(&secret_batch(&totals), &EncryptOptions::new(vec![spec("g")])).unwrap(),
        &totals,
        &by_struct,
        &plain,
        &text,
    ] {
        let told = format!("{:?}", batch.schema());
        assert!(!told.contains("1234.5") && !told.contains("extension"), "{told}");
        assert!(batch.schema().metadata().is_empty());
    }
    assert_eq!(encrypted.schema().field(0), &Field::new("g", DataType::Int64, false), "type and nullability stay");
    assert_eq!((texts(&twice, "x"), texts(&twice, "g")), (vec!["1".into(), "2".into()], vec!["1".into(), "2".into()]));
    assert_eq!(texts(&totals, "x"), ["1", "2"]);
    // A written and re-read table has no such metadata either.
    let mut sink = hearith_columns::parquet::ParquetWriter::new(Vec::new(), encrypted.schema()).unwrap();
    sink.write(&encrypted).unwrap();
    let file = sink.finish().unwrap();
    assert!(!file.windows(6).any(|bytes| bytes == b"1234.5"));
}

#[test]
fn companions_are_not_encrypted() {
    let encrypted = encrypt(&staff(), &both(true)).unwrap();
    for companion in ["pay.additions", "bonus.additions"] {
        let error = encrypt(&encrypted, &EncryptOptions::new(vec![spec(companion)])).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::IsCompanion { of } if of == "pay+bonus"), "{error}");
        assert_eq!(error.column(), Some(companion));
    }
    // A column that only has such a name is an ordinary column.
    let batch = table(vec![("pay.additions", array(Int64Array::from(vec![7])))]);
    assert!(encrypt(&batch, &EncryptOptions::new(vec![spec("pay.additions")])).is_ok());
}

#[test]
fn imported_ciphertexts_hold_a_number_at_least() {
    use hearith_columns::phe::{ImportOptions, Importer};
    let options = ImportOptions { additions: 0, ..ImportOptions::new("x") };
    let error = Importer::new(public(), &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoAdditions), "{error}");
    assert!(Importer::new(public(), &ImportOptions::new("x")).is_ok());
}

#[test]
fn no_error_holds_a_cell_unless_it_shall() {
    let column = |cell: &str| table(vec![("x", array(StringArray::from(vec!["1", cell])))]);
    for (cell, of) in [("canary", ""), ("777.5", ""), ("77777", "100")] {
        let range = (!of.is_empty()).then(|| of.to_owned());
        let options = EncryptOptions::new(vec![ColumnSpec { range, ..spec("x") }]);
        let error = encrypt(&column(cell), &options).unwrap_err();
        let told = format!("{error} {error:?}");
        assert!(!told.contains(cell), "{told}");
        assert_eq!((error.row(), error.column()), (Some(1), Some("x")));
        let error = encrypt(&column(cell), &EncryptOptions { show_cells: true, ..options }).unwrap_err();
        assert_eq!(error.cell(), Some(&*format!("{cell:?}")));
    }
}
