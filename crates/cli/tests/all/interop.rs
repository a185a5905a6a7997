//! Other programs read our files and we read theirs: pyarrow for Parquet, phe for ciphertexts.

use std::process::Command;

use crate::common::{STAFF, TestDir, python};
use serde_json::Value;

/// Runs a Python program in a directory and returns its output.
fn run_python(dir: &TestDir, program: &str) -> String {
    let output = Command::new(python()).args(["-c", program]).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Loads phe's keys from our key files, as pheutil does.
const LOAD_KEYS: &str = "
import json, phe
from phe.util import base64_to_int
jwk = json.load(open('keys/private.json'))
assert jwk['kty'] == 'DAJ' and jwk['key_ops'] == ['decrypt'] and jwk['pub']['alg'] == 'PAI-GN1'
public = phe.PaillierPublicKey(base64_to_int(jwk['pub']['n']))
private = phe.PaillierPrivateKey(public, base64_to_int(jwk['p']), base64_to_int(jwk['q']))
";

#[test]
fn pyarrow_reads_our_parquet_and_decrypts_with_phe() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt --key keys/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet");
    let program = format!(
        "{LOAD_KEYS}
import pyarrow as pa, pyarrow.parquet as pq
table = pq.read_table('rows.parquet')
field = table.schema.field('bonus')
assert field.type == pa.binary(128), field.type
meta = {{k.decode(): v.decode() for k, v in field.metadata.items() if k.startswith(b'hearith.')}}
assert meta['hearith.scheme'] == 'paillier' and meta['hearith.scale'] == '2', meta
assert json.loads(meta['hearith.columns']) == ['bonus']
assert table.column('bonus.additions').to_pylist() == [1, 0, 1, 1, 1]
def number(cell):
    return None if cell is None else private.decrypt(phe.EncryptedNumber(public, int.from_bytes(cell, 'big'), 0))
print([number(cell) for cell in table.column('bonus').to_pylist()], table.column('id').to_pylist()[0])
pq.write_table(table.slice(1, 3), 'theirs.parquet', compression='gzip', row_group_size=2)
"
    );
    assert_eq!(run_python(&dir, &program), "[50, None, 125, -300, 1] 007\n");
    dir.ok("sum --key keys/public.json theirs.parquet --out totals.parquet");
    let totals = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    assert_eq!(totals, "rows,salary,bonus\n3,893,-1.75\n", "written by pyarrow, metadata and all");
}

#[test]
fn we_read_pyarrows_parquet_of_any_type_and_compression() {
    let dir = TestDir::new();
    for compression in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"] {
        let program = format!(
            "
import decimal, pyarrow as pa, pyarrow.parquet as pq
table = pa.table({{
    'g': pa.array(['a', 'b', 'a']).dictionary_encode(),
    'i': pa.array([1, None, -3], pa.int8()),
    'u': pa.array([2**64 - 1, 0, 1], pa.uint64()),
    'f': pa.array([0.5, -0.25, None], pa.float32()),
    'd': pa.array([decimal.Decimal('1.25'), None, decimal.Decimal('-7.50')], pa.decimal128(9, 2)),
    's': pa.array(['10', '-2.5', None], pa.large_string()),
    't': pa.array([0, 1, 2], pa.timestamp('us', tz='UTC')),
}})
pq.write_table(table, 'in.parquet', compression='{compression}')
"
        );
        run_python(&dir, &program);
        dir.ok("encrypt --key keys/public.json --column i,u,f,d,s --scale f=2,s=1 --range u=2e19 in.parquet --out rows.parquet");
        dir.ok("sum --key keys/public.json --by g rows.parquet --out totals.parquet");
        assert_eq!(
            dir.ok("decrypt --key keys/private.json totals.parquet").text(),
            "g,rows,i,u,f,d,s\na,2,-2,18446744073709551616,0.50,-6.25,10.0\nb,1,,0,-0.25,,-2.5\n",
            "{compression}"
        );
        let back = dir.ok("decrypt --key keys/private.json rows.parquet").text();
        assert!(back.lines().nth(2).unwrap().ends_with("1970-01-01T00:00:00.000001Z"), "{back}");
    }
}

#[test]
fn columns_go_to_phe_and_come_back() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt --key keys/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet");
    dir.ok("export --key keys/public.json --column salary rows.parquet --out salary.json");
    assert_eq!(dir.read("salary.json").lines().nth(3), Some("null"));
    // phe decrypts our ciphertexts and encrypts their negatives.
    let program = format!(
        "{LOAD_KEYS}
lines = [json.loads(line) for line in open('salary.json')]
load = lambda it: phe.EncryptedNumber(public, int(it['v']), exponent=it['e'])
print([it and private.decrypt(load(it)) for it in lines])
with open('negative.json', 'w') as out:
    for it in lines:
        negative = it and load(it) * -1
        json.dump(it and {{'v': str(negative.ciphertext()), 'e': negative.exponent}}, out)
        out.write('\\n')
"
    );
    assert_eq!(run_python(&dir, &program), "[1500, 900, -7, None, -20]\n");
    dir.ok("import --key keys/public.json --column salary negative.json --out negative.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json negative.parquet").text(), "salary\n-1500\n-900\n7\n\"\"\n20\n");
    dir.ok("sum --key keys/public.json negative.parquet --out totals.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), "rows,salary\n5,-2373\n");

    let run = dir.ok("export --key keys/public.json --column bonus rows.parquet --out bonus.json");
    assert!(run.stderr.contains("numbers are times 10^2"), "{}", run.stderr);
    dir.ok("import --key keys/public.json --column bonus --scale 2 bonus.json --out bonus.parquet");
    let back = dir.ok("decrypt --key keys/private.json bonus.parquet").text();
    assert_eq!(back, "bonus\n0.50\n\"\"\n1.25\n-3.00\n0.01\n");
}

#[test]
fn floats_of_phe_are_added_up_exactly() {
    let dir = TestDir::new();
    let program = format!(
        "{LOAD_KEYS}
from phe.command_line import serialise_encrypted
numbers = [0.1, -2.5, 3e10, 7, 1e-9]
mixed = [public.encrypt(number) for number in numbers]
with open('mixed.json', 'w') as out:
    json.dump([{{'v': str(c.ciphertext()), 'e': c.exponent}} for c in mixed], out)
with open('pheutil.json', 'w') as out:
    out.write('\\n'.join(serialise_encrypted(public.encrypt(number)) for number in numbers))
"
    );
    run_python(&dir, &program);
    let exact = run_python(
        &dir,
        "
import decimal
decimal.getcontext().prec = 200
print(format(sum(map(decimal.Decimal, [0.1, -2.5, 3e10, 7, 1e-9])).normalize(), 'f'))
",
    );
    for input in ["mixed", "pheutil"] {
        dir.ok(&format!("import --key keys/public.json --column x {input}.json --out x.parquet"));
        assert!(dir.ok("inspect x.parquet").text().contains("base16"));
        dir.ok("sum --key keys/public.json x.parquet --out totals.parquet");
        let rows = dir.ok("decrypt --key keys/private.json x.parquet").text();
        let floats: Vec<f64> = rows.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        assert_eq!(floats, [0.1, -2.5, 3e10, 7.0, 1e-9]);
        assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), format!("rows,x\n5,{exact}"));
        dir.ok("decrypt --key keys/private.json totals.parquet --out totals.plain.parquet");
        dir.ok("export --key keys/public.json --column x totals.parquet --out total.json");
        let program = format!(
            "{LOAD_KEYS}
import pyarrow.parquet as pq
it = json.load(open('total.json'))
print(private.decrypt(phe.EncryptedNumber(public, int(it['v']), it['e'])), pq.read_table('totals.plain.parquet')['x'].to_pylist())
"
        );
        assert_eq!(run_python(&dir, &program), "30000000004.6 [30000000004.6]\n");
    }
}

#[test]
fn json_that_is_no_ciphertext() {
    let dir = TestDir::new();
    let import = "import --key keys/public.json --column x bad.json --out out.parquet";
    let object = |v: &str, e: &str| format!("{{\"v\": \"{v}\", \"e\": {e}}}\n");
    let good = object("5", "0");
    let cases = [
        ("{".to_owned(), "bad.json: row 1: not JSON: "),
        (format!("{good}nonsense"), "bad.json: row 2: not JSON: "),
        (format!("[{good} {good}]"), "bad.json: row 2: not JSON: "),
        (object(&"9".repeat(70_000), "0"), "bad.json: row 1: a value of more than 65536 bytes"),
        (format!("{good}{{}}"), "bad.json: row 2, column x: "),
        (format!("{good}17"), "bad.json: row 2, column x: "),
        (
            format!("{good}null {}", object("abc", "0")),
            "bad.json: row 3, column x: member 'v' is not a decimal integer",
        ),
        (format!("{good}{}", object("0", "0")), "bad.json: row 2, column x: the ciphertext is 0"),
        (format!("{good}{}", object(&"9".repeat(400), "0")), "bad.json: row 2, column x: "),
        (format!("{good}{}", object("5", "-5000")), "bad.json: column x: the exponent -5000 is too low"),
        (format!("{good}{}", object("5", "1000000")), "bad.json: row 2, column x: the exponent 1000000 is outside"),
        (format!("[{good}, 3]"), "bad.json: row 2, column x: "),
    ];
    for (text, expected) in cases {
        dir.write("bad.json", &text);
        dir.fails(import, expected);
    }
    dir.write("bad.json", object("5", "-1"));
    dir.fails(&format!("{import} --scale 2"), "bad.json: column x: a scale applies to integers only");
    dir.fails(&format!("{import} --additions 9 --max-additions 5"), "bad.json: column x: 9 additions exceed the 5");
    dir.fails(
        "import --key keys/public.json --column x none.json --out out.parquet",
        "none.json: cannot read: No such",
    );
}

#[test]
fn what_phe_has_no_word_for() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt --key keys/public.json --pack --column salary,site in.csv --out rows.parquet");
    dir.fails(
        "export --key keys/public.json --column salary+site rows.parquet --out out.json",
        "rows.parquet: column salary+site: python-paillier does not support packed slots",
    );
    dir.fails(
        "export --key keys/public.json --column dept rows.parquet",
        "rows.parquet: column dept: there is no such column",
    );
}

#[test]
fn keys_of_phe_are_ours() {
    let dir = TestDir::new();
    let program = "
import json, phe
from phe.util import int_to_base64
public, private = phe.generate_paillier_keypair(n_length=512)
pub = {'kty': 'DAJ', 'alg': 'PAI-GN1', 'key_ops': ['encrypt'], 'n': int_to_base64(public.n), 'kid': 'theirs'}
json.dump(pub, open('public.json', 'w'))
json.dump({'kty': 'DAJ', 'key_ops': ['decrypt'], 'p': int_to_base64(private.p), 'q': int_to_base64(private.q), 'pub': pub, 'kid': 'theirs'}, open('private.json', 'w'))
";
    run_python(&dir, program);
    dir.write("in.csv", "x\n5\n-8\n");
    dir.ok("encrypt --key public.json --column x in.csv --out rows.parquet");
    dir.ok("sum --key public.json rows.parquet --out totals.parquet");
    assert_eq!(dir.ok("decrypt --key private.json totals.parquet").text(), "rows,x\n2,-3\n");
    let said: Value = serde_json::from_str(&dir.ok("inspect --json private.json").text()).unwrap();
    assert_eq!((&said["kind"], &said["comment"]), (&"private key".into(), &"theirs".into()));
}
