//! Tables that pandas, polars and DuckDB have rewritten.

use crate::common::{STAFF, TestDir};

/// Programs that rewrite `rows.parquet` as `bare.parquet` with each library: without metadata and
/// with the library's types.
const LIBRARIES: [&str; 3] = [
    "import pandas as pd\npd.read_parquet('rows.parquet').to_parquet('bare.parquet')",
    "import polars as pl\npl.read_parquet('rows.parquet').write_parquet('bare.parquet')",
    "import duckdb\nduckdb.sql(\"copy (select * from 'rows.parquet') to 'bare.parquet' (format parquet)\")",
];

#[test]
fn descriptions_are_attached_again() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    let expected = "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n";
    // Python starts slowly, so not every combination is tested.
    let cases = [("keys", "", &LIBRARIES[..]), ("keys", "--pack", &LIBRARIES[..1]), ("bfv", "", &LIBRARIES[1..])];
    for (keys, options, libraries) in cases {
        let encrypt = format!("encrypt -k {keys}/public.json {options} -c salary,bonus --scale bonus=2");
        dir.ok(&format!("{encrypt} in.csv -o rows.parquet"));
        let decrypt = format!("decrypt -k {keys}/private.json");
        for library in libraries {
            dir.python(library);
            dir.fails(&format!("{decrypt} bare.parquet"), "bare.parquet: holds no encrypted column");
            dir.ok("describe bare.parquet --like rows.parquet -o again.parquet");
            dir.ok(&format!("sum -k {keys}/public.json -b dept again.parquet -o totals.parquet"));
            assert_eq!(dir.ok(&format!("{decrypt} totals.parquet")).text(), expected, "{options} {library}");
            // Totals lose their metadata as well.
            dir.python(&library.replace("rows.parquet", "totals.parquet"));
            dir.ok("describe bare.parquet -l totals.parquet -o again.parquet");
            assert_eq!(dir.ok(&format!("{decrypt} again.parquet")).text(), expected, "{options} {library}");
            // It is the same table: summed together, its rows would count twice.
            dir.fails(
                &format!("sum -k {keys}/public.json rows.parquet again.parquet -o both.parquet"),
                "again.parquet: has rows of table",
            );
        }
    }
}

#[test]
fn what_is_not_described_is_named() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt -k keys/public.json -c salary in.csv -o rows.parquet");
    dir.python(
        "import pyarrow as pa, pyarrow.parquet as pq\n\
         t = pq.read_table('rows.parquet').replace_schema_metadata()\n\
         t = pa.table({f.name: c for f, c in zip(t.schema, t.columns)})\n\
         pq.write_table(t.drop_columns('salary.additions'), 'no-companion.parquet')\n\
         pq.write_table(t.drop_columns('salary'), 'nothing.parquet')\n\
         pq.write_table(t.set_column(t.schema.get_field_index('salary'), 'salary', pa.array(['x'] * 5)), 'text.parquet')",
    );
    for (table, expected) in [
        ("no-companion", "column salary: its companion column salary.additions is missing"),
        ("nothing", "holds no encrypted column"),
        ("text", "column salary: is Utf8, which cannot be converted to FixedSizeBinary(128)"),
    ] {
        let line = format!("describe {table}.parquet --like rows.parquet -o out.parquet");
        dir.fails(&line, &format!("{table}.parquet: {expected}"));
    }
    dir.fails("describe in.csv --like rows.parquet -o out.parquet", "in.csv: not a Parquet file");
}
