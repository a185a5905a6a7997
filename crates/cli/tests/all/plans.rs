//! Plans that senders share, and tables whose folders name columns.

use crate::common::{STAFF, TestDir};

/// A German spreadsheet and a Parquet table of other types, with the keys of both schemes.
fn two_parties() -> TestDir {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    dir.write(
        "a.csv",
        "Abteilung;site;day;pay\nlab;1;2020-01-31;1.234,50\nshop;2;2020-02-01;-7,25\nlab;1;2020-01-31;\n",
    );
    dir.python(
        "import pyarrow as pa, pyarrow.parquet as pq, datetime as dt\n\
         t = pa.table({'pay': pa.array([100, None, 3], pa.int32()),\n\
                       'day': pa.array([dt.date(2020, 1, 31), dt.date(2020, 2, 1), None]),\n\
                       'site': pa.array([1, 2, 1], pa.uint8()),\n\
                       'Abteilung': pa.array(['lab', 'shop', None]).dictionary_encode()})\n\
         pq.write_table(t, 'b.parquet')",
    );
    dir
}

const OPTIONS: &str = "-c pay --scale pay=2 --range pay=1000000 --delimiter ; --decimal-comma --thousands .";

#[test]
fn tables_of_two_parties_add_up_by_their_plan() {
    let dir = two_parties();
    for keys in ["keys", "bfv"] {
        let encrypt = format!("encrypt -k {keys}/public.json --plan {keys}.plan.json");
        // The first sender's options create the plan. The second sender follows it, and so does the
        // first from then on.
        dir.ok(&format!("{encrypt} {OPTIONS} a.csv -o a.parquet"));
        let plan = dir.read(&format!("{keys}.plan.json"));
        dir.ok(&format!("{encrypt} b.parquet -o e-b.parquet"));
        dir.ok(&format!("{encrypt} a.csv -o again.parquet"));
        assert_eq!(dir.read(&format!("{keys}.plan.json")), plan, "a plan is not written again");
        dir.ok(&format!(
            "sum -k {keys}/public.json -b Abteilung,site,day a.parquet e-b.parquet again.parquet -o totals.parquet"
        ));
        let expected =
            "Abteilung,site,day,rows,pay\n,1,,1,3.00\nlab,1,2020-01-31,5,2569.00\nshop,2,2020-02-01,3,-14.50\n";
        let decrypt = format!("decrypt -k {keys}/private.json totals.parquet");
        assert_eq!(dir.ok(&decrypt).text(), expected, "{keys}");
    }
}

#[test]
fn a_plan_made_of_parquet_types_the_cells_of_csv() {
    let dir = two_parties();
    let encrypt = "encrypt -k keys/public.json --plan plan.json";
    dir.ok(&format!("{encrypt} -c pay --scale pay=2 b.parquet -o b-e.parquet"));
    let types = ["\"type\": \"date\"", "\"type\": \"smallint\"", "\"type\": \"text\""];
    let plan = dir.read("plan.json");
    assert!(types.iter().all(|kind| plan.contains(kind)), "{plan}");
    // Options still set the format of a sender's own CSV file.
    let marks = "--delimiter ; --decimal-comma --thousands .";
    dir.ok(&format!("{encrypt} {marks} a.csv -o a-e.parquet"));
    dir.ok("sum -k keys/public.json -b day --where site=1 a-e.parquet b-e.parquet -o totals.parquet");
    let expected = "day,rows,pay\n,1,3.00\n2020-01-31,3,1334.50\n";
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), expected);
    dir.write("bad.csv", "Abteilung,site,day,pay\nlab,1,2020-01-31,1\nlab,one,2020-01-31,1\n");
    let bad = "bad.csv: row 2, column site: is not a 16-bit integer";
    dir.fails(&format!("{encrypt} bad.csv -o out.parquet"), bad);
    dir.write("less.csv", "Abteilung,day,pay\nlab,2020-01-31,1\n");
    dir.fails(&format!("{encrypt} less.csv -o out.parquet"), "less.csv: column site: the first line does not name it");
}

/// Each option of a sender's dialect replaces the plan's, and leaves the others.
#[test]
fn options_replace_a_plans_dialect_one_by_one() {
    let dir = TestDir::new();
    let encrypt = "encrypt -k keys/public.json --plan plan.json";
    dir.write("a.csv", "g;pay\nx;1.950,5\nNA;2\n");
    let dialect = "--delimiter ; --decimal-comma --thousands . --null NA";
    dir.ok(&format!("{encrypt} -c pay --scale 1 {dialect} a.csv -o a.parquet"));
    for (text, options, expected) in [
        ("g\tpay\nx\t1.000\nNA\t1,5\n", "--delimiter tab", ",1,1.5\nx,1,1000.0\n"),
        ("g;pay\nx;1.000\n", "--delimiter ;", "x,1,1000.0\n"),
        ("g,pay\nx,7\n", "--delimiter ,", "x,1,7.0\n"),
        ("g;pay\nx;1'000,5\n", "--thousands '", "x,1,1000.5\n"),
        ("g;pay\nx;1000.5\n", "--decimal-comma=false --thousands none", "x,1,1000.5\n"),
        ("g;pay\n-;1.000\nNA;2\n", "--null -", ",1,1000.0\nNA,1,2.0\n"),
        ("x;1.000\n", "--no-header --null -", ""),
    ] {
        dir.write("b.csv", text);
        let line = format!("{encrypt} {options} b.csv -o b.parquet");
        if expected.is_empty() {
            // Its columns have other names.
            dir.fails(&line, "b.csv: column g: does not exist, there are only c1 to c2");
            continue;
        }
        dir.ok(&line);
        dir.ok("sum -k keys/public.json -b g b.parquet -o totals.parquet");
        let totals = dir.ok("decrypt -k keys/private.json totals.parquet").text();
        assert_eq!(totals, format!("g,rows,pay\n{expected}"), "{options}");
    }
}

/// Numbers that stay unencrypted are parsed like those to encrypt.
#[test]
fn the_dialect_is_that_of_all_planned_numbers() {
    let dir = TestDir::new();
    let encrypt = "encrypt -k keys/public.json --plan plan.json";
    dir.python(
        "import pyarrow as pa, pyarrow.parquet as pq, decimal\n\
         t = pa.table({'n': pa.array([7], pa.int32()), 'd': pa.array([decimal.Decimal('1.25')]),\n\
                       't': pa.array(['1.000']), 'pay': pa.array([1], pa.int32())})\n\
         pq.write_table(t, 'a.parquet')",
    );
    dir.ok(&format!("{encrypt} -c pay a.parquet -o a-e.parquet"));
    dir.write("b.csv", "n;d;t;pay\n1.000;1,5;1.000;2.000\n");
    let marks = "--delimiter ; --decimal-comma --thousands .";
    dir.ok(&format!("{encrypt} {marks} b.csv -o b-e.parquet"));
    dir.ok("sum -k keys/public.json -b n,d,t a-e.parquet b-e.parquet -o totals.parquet");
    let expected = "n,d,t,rows,pay\n7,1.25,1.000,1,1\n1000,1.50,1.000,1,2000\n";
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), expected);
    dir.write("c.csv", "n;d;t;pay\n1,5;1,5;1;2\n");
    dir.fails(&format!("{encrypt} {marks} c.csv -o c-e.parquet"), "c.csv: row 1, column n: is not a 32-bit integer");
    dir.write("c.csv", "n;d;t;pay\n10.00;1,5;1;2\n");
    dir.fails(
        &format!("{encrypt} {marks} c.csv -o c-e.parquet"),
        "c.csv: row 1: cell 1: is not a number with these decimal and thousands marks",
    );
}

/// Groups of integers and decimals of all widths can be combined in any order of the tables.
#[test]
fn group_columns_widen_in_any_order() {
    let dir = TestDir::new();
    dir.python(
        "import pyarrow as pa, pyarrow.parquet as pq, decimal\n\
         kinds = dict(a=pa.int8(), b=pa.uint64(), c=pa.int64(), d=pa.decimal128(3, 2), e=pa.uint8())\n\
         for name, kind in kinds.items():\n\
         \x20   g = pa.array([decimal.Decimal(3) if pa.types.is_decimal(kind) else 3], kind)\n\
         \x20   pq.write_table(pa.table({'g': g, 'pay': pa.array([1], pa.int8())}), name + '.in.parquet')",
    );
    for name in ["a", "b", "c", "d", "e"] {
        dir.ok(&format!("encrypt -k keys/public.json -c pay {name}.in.parquet -o {name}.parquet"));
    }
    for (order, expected) in [
        ("abc", "3,3,3"),
        ("bac", "3,3,3"),
        ("cba", "3,3,3"),
        ("eba", "3,3,3"),
        ("abcde", "3.00,5,5"),
        ("debca", "3.00,5,5"),
    ] {
        let files: Vec<String> = order.chars().map(|name| format!("{name}.parquet")).collect();
        dir.ok(&format!("sum -k keys/public.json -b g {} -o totals.parquet", files.join(" ")));
        let totals = dir.ok("decrypt -k keys/private.json totals.parquet").text();
        assert_eq!(totals, format!("g,rows,pay\n{expected}\n"), "{order}");
    }
}

#[test]
fn what_contradicts_a_plan_is_named() {
    let dir = two_parties();
    dir.write("in.csv", STAFF);
    let encrypt = "encrypt -k keys/public.json --plan plan.json";
    dir.fails(&format!("{encrypt} in.csv -o out.parquet"), "plan.json: does not exist yet: choose the columns");
    dir.fails(&format!("{encrypt} -c dept in.csv -o out.parquet"), "in.csv: row 1, column dept: is not a number");
    dir.ok(&format!("{encrypt} -c salary,bonus --scale bonus=2 --pack --max-additions 9 in.csv -o out.parquet"));
    for option in ["-c salary", "--scale 2", "--range 5", "--pack", "--max-additions 10"] {
        let line = format!("{encrypt} {option} in.csv -o other.parquet");
        dir.fails(&line, "plan.json: the plan exists and already sets --");
    }
    let other = "encrypt -k other/public.json --plan plan.json in.csv -o other.parquet";
    dir.fails(other, "plan.json: is for key ");
    dir.fails(&format!("{encrypt} in.csv -o plan.json"), "plan.json: the output would replace the input");
    for (text, expected) in [
        ("", "plan.json: invalid plan: EOF while parsing"),
        ("{}", "plan.json: invalid plan: missing field `hearith_plan`"),
        (
            &dir.read("plan.json").replace("\"hearith_plan\": 1", "\"hearith_plan\": 2"),
            "plan.json: a plan of version 2",
        ),
        (&dir.read("plan.json").replace("\"text\"", "\"money\""), "in.csv: '"),
    ] {
        dir.write("plan.json", text);
        dir.fails(&format!("{encrypt} in.csv -o other.parquet"), expected);
    }
}

#[test]
fn folders_name_columns_to_group_by() {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    for keys in ["keys", "bfv"] {
        for (folder, pay) in [("dept=lab/year=2024", 5), ("dept=lab/year=2025", 20), ("dept=a%20b/year=2025", 7)] {
            let folder = format!("{keys}.tables/{folder}");
            std::fs::create_dir_all(dir.file(&folder)).unwrap();
            dir.write("in.csv", format!("pay\n{pay}\n{pay}\n"));
            dir.ok(&format!("encrypt -k {keys}/public.json -c pay in.csv -o {folder}/part.parquet"));
        }
        let sum = format!("sum -k {keys}/public.json");
        let decrypt = format!("decrypt -k {keys}/private.json t.parquet");
        dir.ok(&format!("{sum} -b dept {keys}.tables -o t.parquet"));
        assert_eq!(dir.ok(&decrypt).text(), "dept,rows,pay\na b,2,14\nlab,4,50\n");
        dir.ok(&format!("{sum} -w year>2024 -b year {keys}.tables -o t.parquet"));
        assert_eq!(dir.ok(&decrypt).text(), "year,rows,pay\n2025,4,54\n");
        dir.ok(&format!("{sum} {keys}.tables/dept=lab/year=2025/part.parquet -b year,dept -o t.parquet"));
        assert_eq!(dir.ok(&decrypt).text(), "year,dept,rows,pay\n2025,lab,2,40\n");
        dir.fails(
            &format!("{sum} -b site {keys}.tables -o x.parquet"),
            &format!("{keys}.tables/dept=a%20b/year=2025/part.parquet: "),
        );
    }
}

#[test]
fn folders_name_columns_of_what_is_encrypted() {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    let folder = |dept: &str| {
        let folder = format!("dept={dept}/year=2024");
        std::fs::create_dir_all(dir.file(&folder)).unwrap();
        folder
    };
    let (lab, nobody) = (folder("a%20b"), folder("__HIVE_DEFAULT_PARTITION__"));
    dir.write(&format!("{lab}/in.csv"), "pay\n5\n6\n");
    dir.write(&format!("{nobody}/in.csv"), "pay,dept\n7,shop\n");
    dir.python(&format!(
        "import pyarrow as pa, pyarrow.parquet as pq\n\
         pq.write_table(pa.table({{'pay': [20, 30]}}), '{nobody}/in.parquet')"
    ));
    for keys in ["keys", "bfv"] {
        let (encrypt, sum) = (format!("encrypt -k {keys}/public.json"), format!("sum -k {keys}/public.json"));
        for (number, file) in
            [format!("{lab}/in.csv"), format!("{nobody}/in.parquet"), format!("{nobody}/in.csv")].iter().enumerate()
        {
            dir.ok(&format!("{encrypt} -c pay --plan {keys}.{number}.json {file} -o {number}.parquet"));
        }
        dir.ok(&format!("{sum} -b dept,year 0.parquet 1.parquet 2.parquet -o t.parquet"));
        // A column of the table itself takes precedence over the folder's.
        let expected = "dept,year,rows,pay\n,2024,2,50\na b,2024,2,11\nshop,2024,1,7\n";
        assert_eq!(dir.ok(&format!("decrypt -k {keys}/private.json t.parquet")).text(), expected, "{keys}");
    }
    // A plan sets their types, and they can be encrypted.
    let plan =
        dir.read("keys.0.json").replace("\"year\",\n      \"type\": \"text\"", "\"year\",\n      \"type\": \"bigint\"");
    assert!(plan.contains("bigint"), "{plan}");
    dir.write("typed.json", plan);
    dir.ok(&format!("encrypt -k keys/public.json --plan typed.json {lab}/in.csv -o t.parquet"));
    dir.ok("sum -k keys/public.json -w year>2023 t.parquet -o totals.parquet");
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), "rows,pay\n2,11\n");
    dir.ok(&format!("encrypt -k keys/public.json -c pay,year {lab}/in.csv -o t.parquet"));
    dir.ok("sum -k keys/public.json t.parquet -o totals.parquet");
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), "rows,pay,year\n2,11,4048\n");
}
