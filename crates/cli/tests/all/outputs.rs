//! Output formats, selected by the file name.

use crate::common::{STAFF, TestDir};

#[test]
fn the_name_of_a_file_says_its_form() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.totals("--column salary,bonus --scale bonus=2", "--by dept");
    let decrypt = "decrypt -k keys/private.json totals.parquet";
    for (name, expected) in [
        ("totals.csv", "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n"),
        ("totals.TSV", "dept\trows\tsalary\tbonus\n\t1\t-7\t1.25\nlab\t3\t1480\t-2.49\nshop\t1\t900\t\n"),
        (
            "totals.json",
            "[\n{\"dept\":null,\"rows\":1,\"salary\":-7,\"bonus\":1.25},\n\
             {\"dept\":\"lab\",\"rows\":3,\"salary\":1480,\"bonus\":-2.49},\n\
             {\"dept\":\"shop\",\"rows\":1,\"salary\":900,\"bonus\":null}\n]\n",
        ),
    ] {
        dir.ok(&format!("{decrypt} -o {name}"));
        assert_eq!(dir.read(name), expected);
    }
    dir.ok(&format!("{decrypt} -o totals.txt"));
    assert!(dir.read("totals.txt").starts_with("dept  rows  salary  bonus\n----"));
    dir.fails(&format!("{decrypt} -o totals.xlsx"), "totals.xlsx: unknown format .xlsx");
    dir.ok(&format!("{decrypt} -o totals.xlsx -f json"));
    assert_eq!(dir.read("totals.xlsx"), dir.read("totals.json"));
}

#[test]
fn encrypted_tables_do_not_go_by_other_formats_names() {
    let dir = TestDir::new();
    dir.write("in.csv", "v\n5\n");
    dir.ok("encrypt -k keys/public.json -c v in.csv -o e");
    for name in ["out.csv", "out.TSV", "out.json", "out.csv.gz", "out.xlsx"] {
        let ending = name.rsplit('.').next().unwrap().to_lowercase();
        let expected = format!("{name}: this table is written as Parquet, but its name ends in .{ending}");
        for command in ["encrypt -k keys/public.json -c v in.csv", "sum -k keys/public.json e", "describe --like e e"] {
            dir.fails(&format!("{command} -o {name}"), &expected);
        }
        assert!(!dir.file(name).exists());
    }
    for name in ["out.parquet", "out.PQ", "out.v1", "out"] {
        dir.ok(&format!("sum -k keys/public.json e -o {name}"));
    }
    assert_eq!(dir.ok("decrypt -k keys/private.json out").text(), "rows,v\n1,5\n");
}

#[test]
fn null_groups_and_empty_names_are_two_in_every_text() {
    let dir = TestDir::new();
    let table = "import pyarrow as pa, pyarrow.parquet as pq\n\
                 dept = pa.array(['', None, 'lab', '', 'a,b'])\n\
                 pq.write_table(pa.table({'dept': dept, 'pay': [1, 10, 100, 1000, 7]}), 'in.parquet')";
    dir.python(table);
    dir.ok("encrypt -k keys/public.json -c pay in.parquet -o e.parquet");
    dir.ok("sum -k keys/public.json --by dept e.parquet -o t.parquet");
    for (name, mark) in [("t.csv", ","), ("t.tsv", "\t")] {
        dir.ok(&format!("decrypt -k keys/private.json t.parquet -o {name}"));
        let lines = ["dept,rows,pay", ",1,10", "\"\",2,1001", "\"a;b\",1,7", "lab,1,100"];
        let mut expected: Vec<String> = lines.iter().map(|line| line.replace(',', mark)).collect();
        expected[3] = if mark == "," { "\"a,b\",1,7".into() } else { "a,b\t1\t7".into() };
        assert_eq!(dir.read(name).lines().collect::<Vec<_>>(), expected, "{name}");
    }
    // polars is one of the readers that distinguish null from empty text.
    let read = "import polars as pl\n\
                t = pl.read_csv('t.csv').rows()\n\
                assert sorted(t, key=str) == sorted([(None, 1, 10), ('', 2, 1001), ('lab', 1, 100), ('a,b', 1, 7)], key=str), t";
    dir.python(read);
}

#[test]
fn totals_in_parquet_are_exact_for_duckdb_and_polars() {
    let dir = TestDir::new();
    // The range and the number of additions would need more than 38 digits, but the totals do not.
    dir.write("in.csv", "dept,pay\nlab,12345678901234567890123456.78\nlab,0.01\nshop,-5\n");
    dir.ok("encrypt -k keys/public.json -c pay --scale pay=2 --range pay=1e30 in.csv -o e.parquet");
    dir.ok("sum -k keys/public.json --by dept e.parquet -o t.parquet");
    dir.ok("decrypt -k keys/private.json t.parquet -o plain.parquet");
    dir.ok("decrypt -k keys/private.json e.parquet -o rows.parquet");
    dir.python(
        "import duckdb, polars as pl, pyarrow.parquet as pq\n\
         from decimal import Decimal as D\n\
         expected = [('lab', D('12345678901234567890123456.79')), ('shop', D('-5.00'))]\n\
         assert str(pq.read_schema('plain.parquet').field('pay').type) == 'decimal128(38, 2)'\n\
         assert str(pq.read_schema('rows.parquet').field('pay').type) == 'decimal128(38, 2)'\n\
         assert duckdb.sql(\"select dept, pay from 'plain.parquet' order by 1\").fetchall() == expected\n\
         assert pl.read_parquet('plain.parquet')[['dept', 'pay']].sort('dept').rows() == expected",
    );
    // Numbers that need more digits keep them.
    dir.write("big.csv", "pay\n-99999999999999999999999999999999999.99\n");
    dir.ok("encrypt -k keys/public.json -c pay --scale pay=2 --range pay=1e35 big.csv -o b.parquet");
    dir.ok(&format!("sum -k keys/public.json --allow-repeated {} -o s.parquet", "b.parquet ".repeat(20)));
    dir.ok("decrypt -k keys/private.json s.parquet -o wide.parquet");
    dir.python(
        "import pyarrow.parquet as pq\n\
         from decimal import Decimal as D, getcontext\n\
         getcontext().prec = 60\n\
         t = pq.read_table('wide.parquet')['pay']\n\
         assert str(t.type) == 'decimal256(76, 2)', t.type\n\
         assert t.to_pylist() == [20 * D('-99999999999999999999999999999999999.99')]",
    );
}

#[test]
fn shells_and_man_know_the_commands() {
    let dir = TestDir::new();
    for (shell, sign) in [("bash", "complete -F"), ("zsh", "#compdef hearith"), ("fish", "complete -c hearith")] {
        let script = dir.ok(&format!("completions {shell}")).text();
        assert!(script.contains(sign) && script.contains("min-rows"), "{shell}");
    }
    dir.ok("man -o pages");
    for page in ["hearith.1", "hearith-sum.1", "hearith-key-encrypt.1"] {
        assert!(dir.read(&format!("pages/{page}")).contains(".TH"), "{page}");
    }
    assert!(dir.read("pages/hearith-encrypt.1").contains("no\\-header"));
}
