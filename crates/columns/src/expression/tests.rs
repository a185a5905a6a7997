use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::i256;
use proptest::prelude::*;
use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX};

use super::*;

fn table() -> RecordBatch {
    let decimals = Decimal128Array::from(vec![150, -25, 0, 1]).with_precision_and_scale(10, 2).unwrap();
    let long = Decimal128Array::from(vec![12_345_678_901_234_567_890, 12_345_678_901_234_567_891, 0, -1]);
    let wide = Decimal256Array::from(vec![Some(i256::MAX), None, Some(i256::from(10)), Some(i256::MIN)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(Int8Array::from(vec![Some(-3), Some(0), None, Some(7)]))),
        ("u", Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 1, 0, 1]))),
        ("name", Arc::new(StringArray::from(vec![Some("lab"), Some("it's"), None, Some("")]))),
        ("text", Arc::new(StringArray::from(vec!["100", "", "30", "7.5"]))),
        ("view", Arc::new(StringViewArray::from(vec!["100", "99", "30", "7.50"]))),
        ("large", Arc::new(LargeStringArray::from(vec!["a%b", "a_b", "axb", "ab"]))),
        (
            "dict",
            Arc::new(vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ),
        ("day", Arc::new(Date32Array::from(vec![Some(18_262), Some(18_263), Some(18_264), None]))),
        ("day64", Arc::new(Date64Array::from(vec![0, 86_400_000, -86_400_000, 1]))),
        ("price", Arc::new(decimals)),
        ("long", Arc::new(long.with_precision_and_scale(38, 3).unwrap())),
        ("wide", Arc::new(wide.with_precision_and_scale(76, 1).unwrap())),
        ("x", Arc::new(Float64Array::from(vec![-0.0, 0.1, f64::NAN, f64::NEG_INFINITY]))),
        ("f", Arc::new(Float32Array::from(vec![0.1, 0.5, f32::NAN, 16_777_216.0]))),
        ("yes", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(false)]))),
        ("milli", Arc::new(TimestampMillisecondArray::from(vec![Some(1), Some(2), None, Some(-1)]))),
        ("nano", Arc::new(TimestampNanosecondArray::from(vec![1_000_000, 1_000_001, 0, -1]))),
        ("zoned", Arc::new(TimestampSecondArray::from(vec![0, 3600, 7200, 1]).with_timezone("Europe/Berlin"))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![0, 1, 43_200_000_000, 86_399_999_999]))),
        ("a b\"c", Arc::new(Int8Array::from(vec![1, 2, 3, 4]))),
        ("n.additions", Arc::new(UInt64Array::from(vec![1, 2, 3, 4]))),
        ("raw", Arc::new(BinaryArray::from(vec![&b"x"[..]; 4]))),
        ("nothing", Arc::new(NullArray::new(4))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn selected(text: &str) -> Result<Vec<usize>, String> {
    let table = table();
    let predicate = text.parse::<Predicate>().map_err(|error| error.to_string())?;
    let mask = predicate.bind(&table.schema()).and_then(|bound| bound.evaluate(&table));
    let mask = mask.map_err(|error| error.to_string())?;
    Ok((0..4).filter(|&row| mask.value(row)).collect())
}

fn check(cases: &[(&str, &[usize])]) {
    for (text, rows) in cases {
        assert_eq!(selected(text).as_deref(), Ok(*rows), "{text}");
    }
}

fn check_errors(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let error = selected(text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn constants_finer_than_the_column_keep_their_digits() {
    check(&[
        ("day < '2020-01-02 00:00:01'", &[0, 1]),
        ("day <= '2020-01-01 23:59:59.999'", &[0]),
        ("day < timestamp '2020-01-02 00:00:01'", &[0, 1]),
        ("long < 12345678901234567.891", &[0, 2, 3]),
        ("long = 12345678901234567.8905", &[]),
        ("price < 1.505", &[0, 1, 2, 3]),
        ("price > 1.495", &[0]),
        ("milli < '1970-01-01 00:00:00.0015'", &[0, 3]),
        ("milli = '1970-01-01 00:00:00.0015'", &[]),
        ("n < 300", &[0, 1, 3]),
        ("n > -1000 and n < 6.5", &[0, 1]),
        ("n = 1.5 or n <> 0.5", &[0, 1, 3]),
        ("u = 18446744073709551615", &[0]),
        ("u > -1", &[0, 1, 2, 3]),
        ("u < 18446744073709551616", &[0, 1, 2, 3]),
        ("x < 1e-1", &[0, 3]),
        ("wide > 1e75", &[0]),
    ]);
}

#[test]
fn text_is_compared_as_what_is_written_beside_it() {
    check(&[
        ("text >= 30", &[0, 2]),
        ("text >= '30'", &[2, 3]),
        ("text = 7.50", &[3]),
        ("text = '7.50'", &[]),
        ("text < 1e76", &[0, 2, 3]),
        ("text > -0", &[0, 2, 3]),
        ("view = 7.5", &[3]),
        ("cast(text as decimal) = cast(view as decimal)", &[0, 2, 3]),
        ("cast(text as text) = view", &[0, 2]),
        ("text::decimal > n", &[0, 3]),
        ("name = ''", &[3]),
        ("name < 'lab'", &[1, 3]),
        ("name = 'it''s'", &[1]),
        ("dict = 'a'", &[0, 3]),
        ("dict is null", &[1]),
    ]);
    check_errors(&[
        ("text < view", "column text of untyped text cannot be compared with column view of untyped text: cast one"),
        ("text < n", "column text of untyped text cannot be compared with column n of type Int8: cast one"),
        ("name > 1", "row 0, column name: is not a number"),
        ("cast(name as date) < '2020-01-01'", "row 0, column name: is not a date (YYYY-MM-DD)"),
        ("text = 1_000", "the end, `and` or `or` expected, found: _000"),
        ("text > 10k", "the end, `and` or `or` expected, found: k"),
        ("dict = a", "column a: there is no such column (text is quoted: 'a'; there are: n, u,"),
        ("dict != null", "nothing equals null: write `is null` or `is not null`"),
        ("null = dict", "nothing equals null"),
        ("dict in ('a', null)", "nothing equals null"),
    ]);
}

#[test]
fn logic_is_three_valued() {
    check(&[
        ("yes", &[0]),
        ("not yes", &[1, 3]),
        ("yes is not true", &[1, 2, 3]),
        ("yes is false", &[1, 3]),
        ("n > 0 or yes", &[0, 3]),
        ("not (n > 0 or yes)", &[1]),
        ("not (n > 0 and yes)", &[0, 1, 3]),
        ("n > 0 is null", &[2]),
        ("(n > 0) is null", &[2]),
        ("n in (7, -3, 400)", &[0, 3]),
        ("n not in (7, 400)", &[0, 1]),
        ("n between -3 and 0", &[0, 1]),
        ("n not between -3 and 0", &[3]),
        ("nothing is null", &[0, 1, 2, 3]),
        ("nothing = 1", &[]),
        ("nothing < n or n = 7", &[3]),
        ("raw is null", &[]),
        ("raw is not null", &[0, 1, 2, 3]),
        ("n is null", &[2]),
        ("n IS NOT NULL", &[0, 1, 3]),
        ("(yes = (n < 0)) is true", &[0, 1, 3]),
        // The deciding operand comes first, so no other cell is read.
        ("name = 'x' and name > 1", &[]),
    ]);
}

#[test]
fn columns_of_all_types_compare_on_both_sides() {
    check(&[
        ("n==0", &[1]),
        ("n != 0", &[0, 3]),
        ("0 < n", &[3]),
        ("n>=+7", &[3]),
        ("n < u", &[0, 1]),
        ("price < x", &[1, 2]),
        ("x = f", &[2]),
        ("f = 0.1", &[0]),
        ("f = 16777217", &[]),
        ("x = 0.1", &[1]),
        ("x = cast(0.1 as decimal)", &[]),
        ("x > 0.1", &[2]),
        ("x = 0", &[0]),
        ("x < -1e300", &[3]),
        ("day = '2020-01-01'", &[0]),
        ("day > date '2020-01-01'", &[1, 2]),
        ("day64 < '1970-01-01 00:00:00.0005'", &[0, 2]),
        ("nano = milli", &[0]),
        ("day > milli", &[0, 1]),
        ("zoned = '1970-01-01 02:00:00+01:00'", &[1]),
        ("zoned > '1970-01-01T00:59:59Z'", &[1, 2]),
        ("clock < '12:00'", &[0, 1]),
        ("clock > '00:00:00.0000005'", &[1, 2, 3]),
        ("\"a b\"\"c\" >= 3", &[2, 3]),
        ("n.additions > 3", &[3]),
        ("\"n.additions\" > 3", &[3]),
    ]);
}

#[test]
fn patterns_are_those_of_sql() {
    check(&[
        ("large like 'a%b'", &[0, 1, 2, 3]),
        ("large like 'a_b'", &[0, 1, 2]),
        ("large like 'a!%b' escape '!'", &[0]),
        ("large like 'a!_b' escape '!'", &[1]),
        ("large not like '%x%'", &[0, 1, 3]),
        ("large like ''", &[]),
        ("large like '%'", &[0, 1, 2, 3]),
        ("name like '%s'", &[1]),
    ]);
    check_errors(&[
        ("n like '1%'", "column n of type Int8 cannot be compared with the pattern '1%'"),
        ("large like name", "the pattern name is not supported"),
        ("large like 'a!b' escape '!'", "the pattern 'a!b' is not supported"),
        ("large ilike 'A%'", "is not supported"),
    ]);
}

#[test]
fn casts_lose_nothing() {
    check(&[
        ("cast(n as integer) = 7", &[3]),
        ("cast(day as timestamp) < '2020-01-02'", &[0]),
        ("cast(text as decimal(4, 1)) > 29.9", &[0, 2]),
        ("cast('0.1' as double) = x", &[1]),
        ("cast('2020-01-02' as date) < day", &[2]),
        ("cast(dict as text) = 'b'", &[2]),
    ]);
    check_errors(&[
        ("cast(text as integer) > 1", "row 3, column text: is not a 32-bit integer"),
        ("cast(price as integer) = 1", "row 0, column price: is not a 32-bit integer"),
        ("cast(u as bigint) = 1", "row 0, column u: is not a 64-bit integer"),
        ("cast(milli as date) = '1970-01-01'", "row 0, column milli: is not a date"),
        ("cast(300 as tinyint) = n", "the number 300 is not an 8-bit integer"),
        ("cast(yes as integer) = 1", "column yes of type Boolean cannot be cast to a number"),
        ("cast(n as text) = '7'", "column n of type Int8 cannot be cast to text"),
        ("try_cast(text as integer) = 1", "is not supported"),
        ("cast(text as blob) = 1", "the type BLOB is not supported"),
        ("cast('2020-02-30' as date) = day", "the text '2020-02-30' is not a date (YYYY-MM-DD)"),
        ("date '2020-13-01' = day", "the text '2020-13-01' is not a date"),
    ]);
}

#[test]
fn what_does_not_fit_is_named() {
    check_errors(&[
        ("m = 1", "column m: there is no such column"),
        ("n = 'x'", "'x' is not a number"),
        ("n = yes", "column n of type Int8 cannot be compared with column yes of type Boolean"),
        ("day = 5", "column day of type Date32 cannot be compared with the number 5"),
        ("day = 'lab'", "'lab' is not a date"),
        ("milli < '1970-01-01 00:00:00Z'", "is not a timestamp without time zone"),
        ("zoned < '1970-01-01 00:00:00'", "is not a timestamp with time zone"),
        ("zoned < milli", "cannot be compared with column milli"),
        ("yes = 'perhaps'", "'perhaps' is not true or false"),
        ("yes = 1", "cannot be compared with the number 1"),
        ("raw = 'x'", "column raw: holds Binary, which cannot be compared"),
        ("n", "invalid condition: column n of type Int8 is a number, neither true nor false"),
        ("name and yes", "neither true nor false"),
        ("n + 1 = 2", "the operator + is not supported"),
        ("abs(n) = 2", "the function abs is not supported"),
        ("n = (select 1)", "is not supported"),
        ("case when yes then n else 0 end = 1", "is not supported"),
        ("n = 1 -- all", "a comment"),
        ("", "invalid condition: "),
        ("n =", "invalid condition: "),
        ("n = 'x", "invalid condition: Unterminated string literal"),
        ("n = 1 n = 2", "found: n"),
        ("n = 1;", "found: ;"),
        ("n ! 1", "invalid condition: "),
    ]);
}

#[test]
fn conditions_look_at_a_column() {
    for text in ["2020 >= 2", "true", "null is null", "not 1 = 2", "'name' = 'lab'", "date '2020-01-31' < '2021-01-01'"]
    {
        assert_eq!(selected(text), Err("invalid condition: it names no column".to_owned()), "{text}");
    }
}

#[test]
fn names_that_are_words_of_sql_need_quotes() {
    let needs = "a column whose name is an SQL keyword needs quotes:";
    check_errors(&[
        ("user = 'a'", &format!("the function user is not supported ({needs} \"user\")")),
        (
            "n = 1 and current_date > '2020-01-01'",
            &format!("function current_date is not supported ({needs} \"current_date\")"),
        ),
        ("interval > 3", &format!("({needs} \"interval\")")),
        ("name = 'x' and trim = day and Exists", &format!("({needs} \"trim\", \"Exists\")")),
        ("(Select not in (2))", &format!("the subquery SELECT NOT in(2) is not supported ({needs} \"Select\")")),
        ("user = 1 or milli < cast(name as timestamp with time zone)", &format!("({needs} \"user\")")),
        ("\"user\" = 'a'", "column user: there is no such column"),
    ]);
    // If quotes do not help, the error does not mention them.
    for text in ["trim(name) = 'x'", "n = (select 1)", "day > interval '1 day'", "n ilike 'A%'", "user = 1 + 2"] {
        let error = selected(text).unwrap_err();
        assert!(!error.contains(needs), "{text}: {error}");
    }
}

#[test]
fn every_word_of_sql_is_a_column_or_said_to_need_quotes() {
    let forms = ["@ = 1", "(1 < @)", "(@ not in (2))", "@ is null", "n = 1 and @ like 'a'", "cast(@ as text) = 'a'"];
    let others =
        ALL_KEYWORDS.iter().zip(ALL_KEYWORDS_INDEX).filter(|(_, keyword)| !names::GRAMMAR_WORDS.contains(keyword));
    // `END-EXEC` is not a single word here.
    for word in others.map(|(word, _)| word.to_lowercase()).filter(|word| !word.contains('-')) {
        for text in forms.map(|form| form.replace('@', &word)) {
            match text.parse::<Predicate>() {
                Ok(predicate) => assert!(predicate.columns().any(|column| column == word), "{text}"),
                Err(error) => assert!(error.to_string().contains(&format!("\"{word}\"")), "{text}: {error}"),
            }
        }
    }
}

#[test]
fn what_is_long_or_deep_is_an_error_and_lists_may_be_long() {
    let list = (0..5000).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(selected(&format!("n in ({list})")), Ok(vec![1, 3]));
    assert!(selected(&["n = 0"; 300].join(" or ")).unwrap_err().contains("more than 256 operators"));
    assert_eq!(selected(&["n = 0"; 100].join(" or ")), Ok(vec![1]));
    for deep in ["(".repeat(200) + "yes" + &")".repeat(200), "not ".repeat(200) + "yes", "-".repeat(9000) + "1 = n"] {
        assert!(selected(&deep).is_err());
    }
    let nested = |levels: usize| selected(&("(".repeat(levels) + "yes" + &")".repeat(levels)));
    assert_eq!(nested(12), Ok(vec![0]));
    assert_eq!(nested(17), Err("invalid condition: nested more than 16 levels deep".to_owned()));
}

#[test]
fn conditions_join_and_name_their_columns() {
    let both = "n > 0".parse::<Predicate>().unwrap().and("yes or text = 1".parse().unwrap());
    assert_eq!(both.columns().collect::<Vec<_>>(), ["n", "yes", "text"]);
    let table = table();
    let mask = both.bind(&table.schema()).unwrap().evaluate(&table).unwrap();
    assert_eq!(mask.true_count(), 0);
}

proptest! {
    #[test]
    fn no_text_panics(text in "[a-z0-9'\"()<>=!.,:%_ -]{0,40}|(n|x|day|text|and|or|not|in|like|between|is|null|1|'a'|[(),<=-]| ){0,20}") {
        let _ = selected(&text);
    }

    #[test]
    fn doubles_compare_with_decimals_as_rationals(value in any::<f64>(), mantissa in any::<i64>(), scale in 0_i8..18) {
        prop_assume!(value.is_finite() && value.abs() < 1e15);
        // Scaled by powers of two and ten that f64 holds, both are integers. This oracle does not
        // use the module's numbers.
        let value = (value * 1024.0).trunc() / 1024.0;
        let decimal = Decimal128Array::from(vec![i128::from(mantissa)]).with_precision_and_scale(38, scale).unwrap();
        let columns: [(&str, ArrayRef); 2] =
            [("x", Arc::new(Float64Array::from(vec![value]))), ("d", Arc::new(decimal))];
        let table = RecordBatch::try_from_iter(columns).unwrap();
        let left = i256::from_i128((value * 1024.0) as i128).wrapping_mul(i256::from_i128(10_i128.pow(scale as u32)));
        let right = i256::from_i128(i128::from(mantissa) * 1024);
        for (sign, expected) in [("<", left < right), ("=", left == right), (">", left > right)] {
            let bound = format!("x {sign} d").parse::<Predicate>().unwrap().bind(&table.schema()).unwrap();
            prop_assert_eq!(bound.evaluate(&table).unwrap().value(0), expected, "{} {} {}", value, sign, mantissa);
        }
    }
}
