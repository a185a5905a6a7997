//! Means next to sums.

use crate::common::{STAFF, TestDir};

#[test]
fn means_are_written_behind_their_sums() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    for (encrypt, sum, decrypt) in [
        ("encrypt -k keys/public.json", "sum -k keys/public.json", "decrypt -k keys/private.json"),
        ("encrypt --pack -k keys/public.json", "sum -k keys/public.json", "decrypt -k keys/private.json"),
        ("encrypt -k bfv/public.json --range 100000", "sum -k bfv/public.json", "decrypt -k bfv/private.json"),
    ] {
        dir.ok(&format!("{encrypt} -c salary,bonus --scale bonus=2 in.csv -o rows.parquet"));
        dir.ok(&format!("{sum} -b dept rows.parquet -o totals.parquet"));
        let expected = "dept,rows,salary,salary.mean,bonus,bonus.mean\n,1,-7,-7.0,1.25,1.25\n\
                        lab,3,1480,740.0,-2.49,-0.83\nshop,1,900,900.0,,\n";
        assert_eq!(dir.ok(&format!("{decrypt} --mean totals.parquet")).text(), expected, "{encrypt}");
        dir.ok(&format!("{decrypt} --mean totals.parquet -o means.parquet"));
        dir.python(
            "import pyarrow.parquet as pq\n\
             t = pq.read_table('means.parquet')\n\
             assert t['bonus.mean'].to_pylist() == [1.25, -0.83, None], t\n\
             assert t['salary.mean'].to_pylist() == [-7, 740, 900]",
        );
        let json = dir.ok(&format!("{decrypt} --mean -f json totals.parquet")).text();
        assert!(json.contains("\"salary.mean\":740.0"), "{json}");
        dir.fails(
            &format!("{decrypt} --mean rows.parquet -o x.csv"),
            "rows.parquet: column salary: holds no totals with value counts",
        );
    }
}

#[test]
fn weights_leave_no_mean() {
    let dir = TestDir::new();
    dir.write("in.csv", "pay,hours\n10,1\n20,3\n");
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    dir.ok("encrypt -k bfv/public.json --range 100000 -c pay in.csv -o rows.parquet");
    dir.ok("sum -k bfv/public.json --weight hours rows.parquet -o totals.parquet");
    dir.fails(
        "decrypt -k bfv/private.json --mean totals.parquet -o x.csv",
        "totals.parquet: row 1, column pay.rarest: has weights other than 1, so its mean is not known",
    );
    dir.ok("sum -k bfv/public.json rows.parquet -o plain.parquet");
    assert_eq!(dir.ok("decrypt -k bfv/private.json --mean plain.parquet").text(), "rows,pay,pay.mean\n2,30,15.0\n");
}

#[test]
fn proved_and_combined_totals_have_means_as_decrypted_ones_do() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("keygen --bits 512 --shares 2/2 --out shared");
    let expected = "dept,rows,salary,salary.mean\n,1,-7,-7.0\nlab,3,1480,740.0\nshop,1,900,900.0\n";
    for key in ["keys/public.json", "shared/public.json"] {
        dir.ok(&format!("encrypt -k {key} -c salary in.csv -o rows.parquet"));
        dir.ok(&format!("sum -k {key} -b dept rows.parquet -o totals.parquet"));
        let (read, rows) = match key {
            "keys/public.json" => {
                let prove = |table: &str| format!("prove decryption --key keys/private.json {table}");
                dir.ok(&format!("{} --out proof.parquet", prove("totals.parquet")));
                dir.ok(&format!("{} --out rows-proof.parquet", prove("rows.parquet")));
                let verify = "verify decryption --key keys/public.json --mean";
                (format!("{verify} totals.parquet proof.parquet"), format!("{verify} rows.parquet rows-proof.parquet"))
            }
            _ => {
                for (trustee, table) in [(1, "totals"), (2, "totals"), (1, "rows"), (2, "rows")] {
                    dir.ok(&format!(
                        "decrypt-share --share shared/share-{trustee}.json {table}.parquet --out {table}-{trustee}.parquet"
                    ));
                }
                let combine = "combine --key shared/verification.json --mean";
                (
                    format!("{combine} totals.parquet totals-1.parquet totals-2.parquet"),
                    format!("{combine} rows.parquet rows-1.parquet rows-2.parquet"),
                )
            }
        };
        assert_eq!(dir.ok(&read).text(), expected, "{key}");
        dir.ok(&format!("{read} --out means.parquet"));
        dir.python(
            "import pyarrow.parquet as pq\nassert pq.read_table('means.parquet')['salary.mean'][1].as_py() == 740",
        );
        dir.fails(&format!("{rows} --out x.csv"), "rows.parquet: column salary: holds no totals with value counts");
    }
}
