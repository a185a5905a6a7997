//! Tables for databases: CSV whose encrypted cells describe themselves.

use crate::common::{STAFF, TestDir};

const ENCRYPT: &str = "encrypt --key keys/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet";
const IMPORT: &str = "import --values --key keys/public.json --column salary --column bonus";

#[test]
fn a_table_goes_through_text_and_keeps_its_totals() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(ENCRYPT);
    dir.ok("sum --key keys/public.json --by dept rows.parquet --out before.parquet");
    let before = dir.ok("decrypt --key keys/private.json before.parquet").text();
    dir.ok("export --values --key keys/public.json rows.parquet --out rows.csv");
    let text = dir.read("rows.csv");
    let header = text.lines().next().unwrap();
    assert_eq!(header, STAFF.lines().next().unwrap());
    assert!(text.lines().nth(1).unwrap().contains(",he1:"), "{text}");
    dir.ok(&format!("{IMPORT} rows.csv --out again.parquet"));
    dir.ok("sum --key keys/public.json --by dept again.parquet --out after.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json after.parquet").text(), before);
}

/// phe decrypts a cell's ciphertext without knowing the description around it.
#[test]
fn phe_decrypts_the_cells() {
    let dir = TestDir::new();
    dir.write("in.csv", "pay\n-12.25\n");
    dir.ok("encrypt --key keys/public.json --column pay --scale pay=2 in.csv --out rows.parquet");
    dir.ok("export --values --key keys/public.json rows.parquet --out rows.csv");
    let said = dir.python(
        "
import base64, json, phe
from phe.util import base64_to_int
jwk = json.load(open('keys/private.json'))
public = phe.PaillierPublicKey(base64_to_int(jwk['pub']['n']))
private = phe.PaillierPrivateKey(public, base64_to_int(jwk['p']), base64_to_int(jwk['q']))
version, key, bits, scale, limit, headroom, additions, cell = open('rows.csv').read().split()[1].split(':')
number = private.decrypt(phe.EncryptedNumber(public, base64_to_int(cell), 0))
print(version, int(bits) == public.n.bit_length(), scale, limit, headroom, additions, number)
",
    );
    assert_eq!(said, "he1 True 2 9223372036854775807 4294967296 1 -1225\n");
}

#[test]
fn what_cannot_be_exchanged_is_refused() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(ENCRYPT);
    dir.ok("export --values --key keys/public.json rows.parquet --out rows.csv");
    dir.write("plain.csv", "salary,bonus\n5,6\n");
    dir.fails(
        &format!("{IMPORT} plain.csv --out again.parquet"),
        "plain.csv: row 1, column salary: not an encrypted number: expected \
         he1:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT",
    );
    dir.write("empty.csv", "salary,bonus\n,\n");
    dir.fails(
        &format!("{IMPORT} empty.csv --out again.parquet"),
        "empty.csv: column salary: has no values, so its description is unknown",
    );
    dir.ok("encrypt --key keys/public.json --column salary,bonus --scale bonus=2 --pack in.csv --out packed.parquet");
    let said = dir.run("export --values --key keys/public.json packed.parquet").complaints().join("");
    assert!(said.contains("packed columns"), "{said}");
    assert!(!dir.files().contains(&"again.parquet".to_owned()));
}
