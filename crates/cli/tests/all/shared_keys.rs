//! Keys shared among trustees, through the program.

use crate::common::{STAFF, TestDir};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A directory with a shared key and totals encrypted under it. Returns the expected totals too.
fn shared(sharing: &str, columns: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(&format!("keygen --bits 512 --shares {sharing} --out shared"));
    // For comparison, the same numbers under the key of a single holder.
    let plain = dir.totals(columns, "--by dept");
    dir.ok(&format!("encrypt --key shared/public.json {columns} in.csv --out rows.parquet"));
    dir.ok("sum --key shared/public.json --by dept rows.parquet --out totals.parquet");
    (dir, plain)
}

fn decrypt(dir: &TestDir, trustee: u32) {
    let line =
        format!("decrypt-share --share shared/share-{trustee}.json totals.parquet --out share-{trustee}.parquet");
    dir.ok(&line);
}

const COMBINE: &str = "combine --key shared/verification.json totals.parquet";

#[test]
fn any_so_many_trustees_decrypt_what_one_holder_would() {
    for columns in ["--column salary,bonus --scale bonus=2", "--column salary,bonus --scale 2 --pack"] {
        let (dir, plain) = shared("2/3", columns);
        (1..=3).for_each(|trustee| decrypt(&dir, trustee));
        for shares in
            ["share-1.parquet share-2.parquet", "share-3.parquet share-1.parquet", "share-2.parquet share-3.parquet"]
        {
            assert_eq!(dir.ok(&format!("{COMBINE} {shares}")).text(), plain);
        }
        let all = "share-1.parquet share-2.parquet share-3.parquet --out numbers.csv --quiet";
        assert_eq!(dir.ok(&format!("{COMBINE} {all}")).complaints(), [""; 0]);
        assert_eq!(dir.read("numbers.csv"), plain);
    }
}

#[test]
fn a_wrong_share_is_named_and_left_aside() {
    let (dir, plain) = shared("2/3", "--column salary");
    (1..=3).for_each(|trustee| decrypt(&dir, trustee));
    // Trustee 2 sends shares of another table: these totals, re-randomised.
    dir.ok("sum --key shared/public.json --by dept --rerandomise rows.parquet --out other.parquet");
    dir.ok("decrypt-share --share shared/share-2.json other.parquet --out share-2.parquet");
    let run = dir.ok(&format!("{COMBINE} share-1.parquet share-2.parquet share-3.parquet --quiet"));
    assert_eq!(run.text(), plain);
    let expected = "totals.parquet: column salary: trustee 2: made for a table that differs in a name, plaintext \
                    value, count, ciphertext, description or order";
    assert_eq!(run.complaints(), [format!("hearith: {expected}: ignored")]);
    dir.fails(&format!("{COMBINE} share-1.parquet share-2.parquet --out numbers.csv"), expected);
}

#[test]
fn many_rows_and_nulls_are_decrypted_row_by_row() {
    let (dir, _) = shared("1/1", "--column salary");
    let rows: String =
        (0..700).map(|row| if row % 7 == 0 { format!("{row},\n") } else { format!("{row},{row}\n") }).collect();
    dir.write("in.csv", format!("id,x\n{rows}"));
    dir.ok("encrypt --key shared/verification.json --column x in.csv --out totals.parquet");
    decrypt(&dir, 1);
    assert_eq!(dir.ok(&format!("{COMBINE} share-1.parquet")).text(), format!("id,x\n{rows}"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (dir, _) = shared("2/3", "--column salary");
    (1..=3).for_each(|trustee| decrypt(&dir, trustee));
    dir.ok("sum --key shared/public.json rows.parquet --out one.parquet");
    dir.ok("keygen --bits 512 --shares 2/3 --out theirs");
    let fails = |what: &str, expected: &str| dir.fails(&format!("{what} --out numbers.csv"), expected);
    let combine = |shares: &str, expected: &str| fails(&format!("{COMBINE} {shares}"), expected);
    combine("share-1.parquet", "totals.parquet: 1 shares, but 2 are needed");
    combine("share-1.parquet share-1.parquet", "share-1.parquet: trustee 1: the share is given twice");
    combine("share-1.parquet totals.parquet", "totals.parquet: not shares of the decryption of this table");
    combine("share-1.parquet none.parquet", "none.parquet: cannot read: No such file or directory");
    let other = "combine --key shared/verification.json one.parquet share-1.parquet share-2.parquet";
    fails(other, "share-1.parquet: has 3 rows, but one.parquet has 1");
    let combine_with = |key: &str| format!("combine --key {key} totals.parquet share-1.parquet share-2.parquet");
    fails(&combine_with("theirs/verification.json"), "totals.parquet: column salary: encrypted under key ");
    fails(
        &combine_with("shared/public.json"),
        "shared/public.json: this key does not verify shares: use verification.json",
    );
    fails(&combine_with("keys/private.json"), "keys/private.json: a private key: use verification.json");
    fails(&combine_with("shared/share-1.json"), "shared/share-1.json: a private key: use verification.json");
    fails(&combine_with("in.csv"), "in.csv: not the JSON of a verification file (line 1, column 1)");
    let share_with = |key: &str| format!("decrypt-share --share {key} totals.parquet");
    fails(&share_with("theirs/share-1.json"), "totals.parquet: column salary: encrypted under key ");
    fails(&share_with("shared/verification.json"), "shared/verification.json: a public key: a trustee decrypts with");
    fails(
        &share_with("keys/private.json"),
        "keys/private.json: a private key: `hearith decrypt` decrypts with it alone",
    );
    fails("decrypt-share --share shared/share-1.json in.csv", "in.csv: not a Parquet file");
    fails(
        "decrypt --key shared/share-1.json totals.parquet",
        "shared/share-1.json: this is a share of a private key, which decrypts",
    );
    let share = dir.read("shared/share-1.json");
    let other = dir.read("shared/share-2.json");
    let secret = |text: &str| text.split("\"s\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    dir.write("mixed.json", share.replace(&secret(&share), &secret(&other)));
    fs::set_permissions(dir.file("mixed.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(&share_with("mixed.json"), "mixed.json: trustee 1: the trustee's secret does not belong to the key");
    let replaces = "decrypt-share --share shared/share-1.json totals.parquet --out totals.parquet";
    dir.fails(replaces, "totals.parquet: the output would replace the input");
}

#[test]
fn keys_are_dealt_into_files_of_their_own() {
    let dir = TestDir::new();
    dir.ok("keygen --bits 512 --shares 3/5 --out new/deep");
    for trustee in 1..=5 {
        let file = format!("new/deep/share-{trustee}.json");
        assert_eq!(fs::metadata(dir.file(&file)).unwrap().permissions().mode() & 0o777, 0o600);
        let said = dir.ok(&format!("inspect {file}")).text();
        assert!(
            said.contains("share of a private key\n") && said.contains(&format!("trustee {trustee} of 5; 3 decrypt"))
        );
    }
    assert!(dir.ok("inspect new/deep/verification.json").text().contains("3 of 5 trustees decrypt"));
    assert!(!dir.file("new/deep/private.json").exists());
    let expected = "new/deep/share-1.json: there is a key already; --force";
    dir.fails("keygen --bits 512 --shares 2/2 --out new/deep", expected);
    dir.ok("keygen --bits 512 --shares 2/2 --out new/deep --force");
    assert!(!dir.file("new/deep/share-3.json").exists());
    // A key of a single holder and a shared one cannot be in one directory, not even with --force.
    let expected = "new/deep/verification.json: there is a shared key here";
    dir.fails("keygen --bits 512 --out new/deep --force", expected);
    dir.fails(
        "keygen --bits 512 --shares 2/2 --out keys --force",
        "keys/private.json: there is a key with one holder here",
    );
    for sharing in ["0/3", "4/3", "3/21", "3", "a/b"] {
        let run = dir.run(&format!("keygen --bits 512 --shares {sharing} --out none"));
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("W/L, such as 3/5") && !dir.file("none").exists(), "{}", run.stderr);
    }
}

#[test]
fn shares_are_kept_under_a_passphrase() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.write("word", "open sesame\n");
    fs::set_permissions(dir.file("word"), fs::Permissions::from_mode(0o600)).unwrap();
    dir.ok("keygen --bits 512 --shares 1/2 --out shared --passphrase-file word");
    assert!(dir.read("shared/share-2.json").contains("\"ciphertext\""));
    dir.ok("encrypt --key shared/public.json --column salary in.csv --out totals.parquet");
    let line = "decrypt-share --share shared/share-2.json totals.parquet --out share-2.parquet";
    dir.fails(line, "shared/share-2.json: its passphrase is needed");
    dir.ok(&format!("{line} --passphrase-file word"));
    dir.ok(&format!("{COMBINE} share-2.parquet"));
}
