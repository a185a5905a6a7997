//! Forms of results, by the name of the file.

use crate::common::{Place, STAFF};

#[test]
fn the_name_of_a_file_says_its_form() {
    let place = Place::new();
    place.write("in.csv", STAFF);
    place.totals("--column salary,bonus --scale bonus=2", "--by dept");
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
        place.ok(&format!("{decrypt} -o {name}"));
        assert_eq!(place.read(name), expected);
    }
    place.ok(&format!("{decrypt} -o totals.txt"));
    assert!(place.read("totals.txt").starts_with("dept  rows  salary  bonus\n----"));
    place.fails(&format!("{decrypt} -o totals.xlsx"), "totals.xlsx: no format goes by .xlsx");
    place.ok(&format!("{decrypt} -o totals.xlsx -f json"));
    assert_eq!(place.read("totals.xlsx"), place.read("totals.json"));
}

#[test]
fn shells_and_man_know_the_commands() {
    let place = Place::new();
    for (shell, sign) in [("bash", "complete -F"), ("zsh", "#compdef hearith"), ("fish", "complete -c hearith")] {
        let script = place.ok(&format!("completions {shell}")).text();
        assert!(script.contains(sign) && script.contains("min-rows"), "{shell}");
    }
    place.ok("man -o pages");
    for page in ["hearith.1", "hearith-sum.1", "hearith-key-encrypt.1"] {
        assert!(place.read(&format!("pages/{page}")).contains(".TH"), "{page}");
    }
    assert!(place.read("pages/hearith-encrypt.1").contains("no\\-header"));
}
