//! Keys of the subgroup variant: the main workflow, foreign rows, and unsupported uses.

use serde_json::Value;

use crate::common::{STAFF, TestDir};

const KEYGEN: &str = "keygen --bits 1024 --insecure-key --variant subgroup --out sub";

/// A directory with a table encrypted under a subgroup key.
fn encrypted() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(KEYGEN);
    dir.ok(
        "encrypt --insecure-key --key sub/public.json --column salary,bonus --scale bonus=2 --pack in.csv --out rows.parquet",
    );
    dir
}

#[test]
fn the_main_job_is_that_of_every_key() {
    let dir = encrypted();
    dir.ok("sum --insecure-key --key sub/public.json --by dept rows.parquet --out totals.parquet");
    let expected = "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n";
    for option in ["", " --check", " --any-randomiser", " --any-randomiser --check"] {
        let line = format!("decrypt --insecure-key --key sub/private.json totals.parquet{option}");
        assert_eq!(dir.ok(&line).text(), expected, "{option}");
    }
    let found: Value = serde_json::from_str(&dir.ok("inspect --json sub/public.json").text()).unwrap();
    assert_eq!((&found["variant"], &found["exponent_bits"]), (&"subgroup".into(), &448.into()));
    assert!(dir.ok("inspect sub/public.json").text().contains("448 bits"));
}

#[test]
fn a_key_under_a_passphrase_is_the_same_key() {
    let dir = encrypted();
    dir.write("word", "a passphrase\n");
    dir.ok("key encrypt sub/private.json --passphrase-file word --insecure-key --out sealed.json");
    let line = "decrypt --insecure-key --passphrase-file word --key sealed.json rows.parquet --out plain.csv";
    dir.ok(line);
    assert!(dir.read("plain.csv").starts_with("id,"));
}

#[test]
fn numbers_of_phe_are_foreign() {
    let dir = encrypted();
    // A foreign ciphertext: phe encrypts 42 under the same modulus, with Paillier's own randomiser.
    dir.python(
        "
import json, phe
from phe.util import base64_to_int
jwk = json.load(open('sub/public.json'))
assert jwk['alg'] != 'PAI-GN1'
public = phe.PaillierPublicKey(base64_to_int(jwk['n']))
json.dump({'v': str(public.raw_encrypt(42)), 'e': 0}, open('theirs.json', 'w'))
",
    );
    let import = "import --insecure-key --key sub/public.json --column x theirs.json --out theirs.parquet";
    dir.fails(import, "sub/public.json: a subgroup key decrypts foreign numbers, and sums that contain one, only with");
    dir.ok(&format!("{import} --any-randomiser"));
    let decrypt = "decrypt --insecure-key --key sub/private.json theirs.parquet";
    dir.fails(
        decrypt,
        "theirs.parquet: row 1, column x: the ciphertext was not made with this subgroup key's randomisers",
    );
    assert_eq!(dir.ok(&format!("{decrypt} --any-randomiser")).text(), "x\n42\n");
}

#[test]
fn it_is_not_for_trustees() {
    let dir = TestDir::new();
    let shared = "keygen --bits 1024 --insecure-key --variant subgroup --shares 2/3 --out shared";
    dir.fails(shared, "a subgroup key cannot be used for shares of trustees: choose the variant standard or djn");
    let small = "keygen --bits 512 --insecure-key --variant subgroup --out small";
    dir.fails(small, "a subgroup key of 512 bits is not supported: subgroup keys must have at least 1024 bits");
    dir.fails("keygen --variant subgroups --out x", "");
}
