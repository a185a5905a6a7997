//! Keys shared among trustees, through the program.

use crate::common::{Place, STAFF};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A place with a shared key and totals encrypted under it. Returns the expected totals too.
fn shared(sharing: &str, columns: &str) -> (Place, String) {
    let place = Place::new();
    place.write("in.csv", STAFF);
    place.ok(&format!("keygen --bits 512 --shares {sharing} --out shared"));
    // For comparison, the same numbers under the key of a single holder.
    let plain = place.totals(columns, "--by dept");
    place.ok(&format!("encrypt --key shared/public.json {columns} in.csv --out rows.parquet"));
    place.ok("sum --key shared/public.json --by dept rows.parquet --out totals.parquet");
    (place, plain)
}

fn decrypt(place: &Place, trustee: u32) {
    let line =
        format!("decrypt-share --share shared/share-{trustee}.json totals.parquet --out share-{trustee}.parquet");
    place.ok(&line);
}

const COMBINE: &str = "combine --key shared/verification.json totals.parquet";

#[test]
fn any_so_many_trustees_decrypt_what_one_holder_would() {
    for columns in ["--column salary,bonus --scale bonus=2", "--column salary,bonus --scale 2 --pack"] {
        let (place, plain) = shared("2/3", columns);
        (1..=3).for_each(|trustee| decrypt(&place, trustee));
        for shares in
            ["share-1.parquet share-2.parquet", "share-3.parquet share-1.parquet", "share-2.parquet share-3.parquet"]
        {
            assert_eq!(place.ok(&format!("{COMBINE} {shares}")).text(), plain);
        }
        let all = "share-1.parquet share-2.parquet share-3.parquet --out numbers.csv --quiet";
        assert_eq!(place.ok(&format!("{COMBINE} {all}")).complaints(), [""; 0]);
        assert_eq!(place.read("numbers.csv"), plain);
    }
}

#[test]
fn a_wrong_share_is_named_and_left_aside() {
    let (place, plain) = shared("2/3", "--column salary");
    (1..=3).for_each(|trustee| decrypt(&place, trustee));
    // Trustee 2 sends shares of another table: these totals, re-randomised.
    place.ok("sum --key shared/public.json --by dept --rerandomise rows.parquet --out other.parquet");
    place.ok("decrypt-share --share shared/share-2.json other.parquet --out share-2.parquet");
    let run = place.ok(&format!("{COMBINE} share-1.parquet share-2.parquet share-3.parquet --quiet"));
    assert_eq!(run.text(), plain);
    let expected = "totals.parquet: column salary: trustee 2: made for a table that differs in a name, plaintext \
                    value, count, ciphertext, description or order";
    assert_eq!(run.complaints(), [format!("hearith: {expected}: ignored")]);
    place.fails(&format!("{COMBINE} share-1.parquet share-2.parquet --out numbers.csv"), expected);
}

#[test]
fn many_rows_and_nulls_are_decrypted_row_by_row() {
    let (place, _) = shared("1/1", "--column salary");
    let rows: String =
        (0..700).map(|row| if row % 7 == 0 { format!("{row},\n") } else { format!("{row},{row}\n") }).collect();
    place.write("in.csv", format!("id,x\n{rows}"));
    place.ok("encrypt --key shared/verification.json --column x in.csv --out totals.parquet");
    decrypt(&place, 1);
    assert_eq!(place.ok(&format!("{COMBINE} share-1.parquet")).text(), format!("id,x\n{rows}"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (place, _) = shared("2/3", "--column salary");
    (1..=3).for_each(|trustee| decrypt(&place, trustee));
    place.ok("sum --key shared/public.json rows.parquet --out one.parquet");
    place.ok("keygen --bits 512 --shares 2/3 --out theirs");
    let fails = |what: &str, expected: &str| place.fails(&format!("{what} --out numbers.csv"), expected);
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
    let share = place.read("shared/share-1.json");
    let other = place.read("shared/share-2.json");
    let secret = |text: &str| text.split("\"s\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    place.write("mixed.json", share.replace(&secret(&share), &secret(&other)));
    fs::set_permissions(place.file("mixed.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(&share_with("mixed.json"), "mixed.json: trustee 1: the trustee's secret does not belong to the key");
    let replaces = "decrypt-share --share shared/share-1.json totals.parquet --out totals.parquet";
    place.fails(replaces, "totals.parquet: the output would replace the input");
}

#[test]
fn keys_are_dealt_into_files_of_their_own() {
    let place = Place::new();
    place.ok("keygen --bits 512 --shares 3/5 --out new/deep");
    for trustee in 1..=5 {
        let file = format!("new/deep/share-{trustee}.json");
        assert_eq!(fs::metadata(place.file(&file)).unwrap().permissions().mode() & 0o777, 0o600);
        let said = place.ok(&format!("inspect {file}")).text();
        assert!(
            said.contains("share of a private key\n") && said.contains(&format!("trustee {trustee} of 5; 3 decrypt"))
        );
    }
    assert!(place.ok("inspect new/deep/verification.json").text().contains("3 of 5 trustees decrypt"));
    assert!(!place.file("new/deep/private.json").exists());
    let expected = "new/deep/share-1.json: there is a key already; --force";
    place.fails("keygen --bits 512 --shares 2/2 --out new/deep", expected);
    place.ok("keygen --bits 512 --shares 2/2 --out new/deep --force");
    assert!(!place.file("new/deep/share-3.json").exists());
    // A key of a single holder and a shared one cannot be in one directory, not even with --force.
    let expected = "new/deep/verification.json: there is a shared key here";
    place.fails("keygen --bits 512 --out new/deep --force", expected);
    place.fails(
        "keygen --bits 512 --shares 2/2 --out keys --force",
        "keys/private.json: there is a key with one holder here",
    );
    for sharing in ["0/3", "4/3", "3/21", "3", "a/b"] {
        let run = place.run(&format!("keygen --bits 512 --shares {sharing} --out none"));
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("W/L, such as 3/5") && !place.file("none").exists(), "{}", run.stderr);
    }
}

#[test]
fn shares_are_kept_under_a_passphrase() {
    let place = Place::new();
    place.write("in.csv", STAFF);
    place.write("word", "open sesame\n");
    fs::set_permissions(place.file("word"), fs::Permissions::from_mode(0o600)).unwrap();
    place.ok("keygen --bits 512 --shares 1/2 --out shared --passphrase-file word");
    assert!(place.read("shared/share-2.json").contains("\"ciphertext\""));
    place.ok("encrypt --key shared/public.json --column salary in.csv --out totals.parquet");
    let line = "decrypt-share --share shared/share-2.json totals.parquet --out share-2.parquet";
    place.fails(line, "shared/share-2.json: its passphrase is needed");
    place.ok(&format!("{line} --passphrase-file word"));
    place.ok(&format!("{COMBINE} share-2.parquet"));
}
