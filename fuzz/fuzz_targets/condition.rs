//! Conditions: any text is an error, or binds and filters rows without a panic, and is the same
//! when read twice.
#![no_main]

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use hearith_columns::Predicate;
use libfuzzer_sys::fuzz_target;

static TABLE: LazyLock<RecordBatch> = LazyLock::new(|| {
    let columns: [(&str, ArrayRef); 5] = [
        ("n", Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(7), None]))),
        ("x", Arc::new(Float64Array::from(vec![5e-324, f64::MAX, f64::NAN]))),
        ("t", Arc::new(StringArray::from(vec![Some("7.5"), Some(""), Some("a%b")]))),
        ("d", Arc::new(Date32Array::from(vec![Some(0), Some(i32::MAX), None]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("columns of one length")
});

fuzz_target!(|text: &str| {
    let Ok(condition) = text.parse::<Predicate>() else { return };
    assert_eq!(text.parse().as_ref(), Ok(&condition));
    let Ok(bound) = condition.bind(&TABLE.schema()) else { return };
    if let Ok(keep) = bound.evaluate(&TABLE) {
        assert_eq!(keep.len(), TABLE.num_rows());
    }
});
