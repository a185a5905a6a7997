//! Signed tables: different signers, and later changes.

use crate::common::{STAFF, TestDir};

/// Changes of every part of a table by a program that keeps the signature: the name of the change,
/// and a statement about the pyarrow table `t`.
const CHANGES: [(&str, &str); 16] = [
    ("a plain cell", "t = put(t, 'dept', [*t['dept'].to_pylist()[:-1], 'shop'])"),
    ("a null", "t = put(t, 'site', [None, *t['site'].to_pylist()[1:]])"),
    ("a ciphertext", "t = put(t, 'salary', flipped(t['salary']))"),
    ("a count", "t = put(t, 'salary.additions', [2, *t['salary.additions'].to_pylist()[1:]])"),
    ("the order of rows", "t = t.take([1, 0, 2, 3, 4])"),
    ("a row less", "t = t.slice(0, 4)"),
    ("a row twice", "t = pa.concat_tables([t, t.slice(0, 1)])"),
    ("the name of a plain column", "t = t.rename_columns(['x' if n == 'site' else n for n in t.column_names])"),
    ("a column less", "t = t.drop_columns(['site'])"),
    ("a column more", "t = t.append_column('x', pa.array([1] * t.num_rows))"),
    ("the order of columns", "t = t.select(sorted(t.column_names))"),
    ("a type", "t = t.set_column(t.column_names.index('id'), 'id', t['id'].cast('binary'))"),
    ("the scale", "t = entry(t, 'salary', 'hearith.scale', '0', 'hearith.encoding', 'integer')"),
    ("the range", "t = entry(t, 'salary', 'hearith.range', '1000000')"),
    ("the headroom", "t = entry(t, 'salary', 'hearith.max_additions', '1000')"),
    ("the id", "t = entry(t, 'salary', 'hearith.table', 32 * 'a')"),
];

/// Functions for [`CHANGES`].
const PROGRAM: &str = "\
import pyarrow as pa, pyarrow.parquet as pq
def put(t, name, values):
    i = t.column_names.index(name)
    field = t.schema.field(i)
    return t.set_column(i, field, pa.array(values, field.type))
def flipped(column):
    cells = column.to_pylist()
    return [cells[0][:-1] + bytes([cells[0][-1] ^ 1]), *cells[1:]]
def entry(t, name, *pairs):
    i = t.column_names.index(name)
    field = t.schema.field(i)
    metadata = dict(field.metadata)
    metadata.update({k.encode(): v.encode() for k, v in zip(pairs[::2], pairs[1::2])})
    return t.set_column(i, field.with_metadata(metadata), t.column(i))
def signed(t, **changes):
    return t.replace_schema_metadata({**t.schema.metadata, **{b'hearith.' + k.encode(): v for k, v in changes.items()}})
t = pq.read_table('rows.parquet')
";

fn signed_rows(encrypt: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("keygen --signing --out ada");
    dir.ok("keygen --signing --out bob");
    dir.ok(&format!("encrypt {encrypt} --sign ada/signing-private.json in.csv -o rows.parquet"));
    dir
}

fn rewrite(dir: &TestDir, change: &str) {
    dir.python(&format!("{PROGRAM}{change}\npq.write_table(t, 'forged.parquet')"));
}

const REQUIRED: &str = "--require-signature ada/signing-public.json";
const PAILLIER: &str = "-k keys/public.json -c salary --scale salary=2";

#[test]
fn every_part_of_a_file_is_signed() {
    let dir = signed_rows(PAILLIER);
    dir.ok(&format!("sum -k keys/public.json {REQUIRED} -b dept rows.parquet -o totals.parquet"));
    let expected = "dept,rows,salary\n,1,-7.00\nlab,3,1480.00\nshop,1,900.00\n";
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), expected);
    for (name, change) in CHANGES {
        // Some of these make pyarrow drop the file's metadata.
        rewrite(&dir, &format!("m = t.schema.metadata\n{change}\nt = t.replace_schema_metadata(m)"));
        dir.fails(
            &format!("sum -k keys/public.json {REQUIRED} -b dept forged.parquet -o t.parquet"),
            "forged.parquet: was changed after key ",
        );
        // Only the signature reveals the change.
        let unsigned = dir.run("sum -k keys/public.json -b dept forged.parquet -o totals.parquet");
        assert_eq!(unsigned.status, Some(0), "{name}: {}", unsigned.stderr);
        dir.fails(
            &format!("decrypt -k keys/private.json {REQUIRED} forged.parquet"),
            "forged.parquet: was changed after key ",
        );
        assert!(dir.run(&format!("decrypt -k keys/private.json {REQUIRED} forged.parquet")).stdout.is_empty());
    }
}

#[test]
fn other_programs_may_store_a_signed_file_otherwise() {
    let dir = signed_rows(PAILLIER);
    let ways = [
        "pq.write_table(t, 'forged.parquet', compression='brotli', row_group_size=2, use_dictionary=False)",
        "pq.write_table(t.set_column(1, t.schema.field(1).with_type(pa.dictionary(pa.int8(), pa.string())), \
         t['dept'].dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))), 'forged.parquet')",
        "pq.write_table(t.set_column(1, t.schema.field(1).with_type(pa.large_string()), \
         t['dept'].cast(pa.large_string())), 'forged.parquet', write_page_index=True)",
    ];
    for way in ways {
        dir.python(&format!("{PROGRAM}{way}"));
        dir.ok(&format!("sum -k keys/public.json {REQUIRED} -b dept forged.parquet -o totals.parquet"));
    }
}

#[test]
fn signers_are_told_apart() {
    let dir = signed_rows(PAILLIER);
    let sum = |required: &str, file: &str| format!("sum -k keys/public.json {required} {file} -o t.parquet");
    let bob = "--require-signature bob/signing-public.json";
    let ada = dir.ok("inspect --json ada/signing-public.json").text();
    let ada = ada.split('"').find(|part| part.len() == 32).unwrap().to_owned();
    dir.fails(
        &sum(bob, "rows.parquet"),
        &format!("rows.parquet: signed by key {ada}, which is not one of the given keys"),
    );
    dir.ok(&sum(&format!("{bob} {REQUIRED}"), "rows.parquet"));
    // Both public keys in one file.
    let set =
        format!("{{\"keys\": [{}, {}]}}", dir.read("ada/signing-public.json"), dir.read("bob/signing-public.json"));
    dir.write("senders.json", set);
    dir.ok(&sum("--require-signature senders.json", "rows.parquet"));
    dir.ok(&format!("encrypt {PAILLIER} in.csv -o unsigned.parquet"));
    dir.fails(&sum(REQUIRED, "rows.parquet unsigned.parquet"), "unsigned.parquet: is not signed");
    // A signer's name alone, or another's signature, is worthless.
    dir.ok(&format!("encrypt {PAILLIER} --sign bob/signing-private.json in.csv -o bobs.parquet"));
    for (change, expected) in [
        ("t = pq.read_table('bobs.parquet'); t = signed(t, signer=ada)", "was changed after key "),
        ("t = signed(t, signature='AA')", "hearith.signature is malformed"),
        ("t = signed(t, signer='AA')", "hearith.signer is malformed"),
        ("t = signed(t, signature=64 * 'A')", "hearith.signature is malformed"),
        ("t = signed(t, signature=86 * 'A')", "was changed after key "),
        (
            "m = t.schema.metadata; m.pop(b'hearith.signature'); t = t.replace_schema_metadata(m)",
            "hearith.signature is malformed",
        ),
        ("t = t.replace_schema_metadata(None)", "is not signed"),
    ] {
        rewrite(&dir, &format!("ada = t.schema.metadata[b'hearith.signer'].decode()\n{change}"));
        dir.fails(&sum(REQUIRED, "forged.parquet"), &format!("forged.parquet: {expected}"));
    }
}

#[test]
fn totals_are_signed_to_their_decryption() {
    let dir = signed_rows(PAILLIER);
    dir.ok("keygen --bits 512 --shares 2/2 --out shared");
    let sign = "--sign bob/signing-private.json";
    let bob = "--require-signature bob/signing-public.json";
    dir.ok(&format!("sum -k keys/public.json {REQUIRED} {sign} -b dept rows.parquet -o totals.parquet"));
    dir.ok(&format!("decrypt -k keys/private.json {bob} totals.parquet"));
    dir.ok(&format!("prove decryption --key keys/private.json {bob} totals.parquet --out proof.parquet"));
    let verify = format!("verify decryption --key keys/public.json {bob}");
    dir.ok(&format!("{verify} totals.parquet proof.parquet"));
    dir.ok(&format!("encrypt -k shared/public.json -c salary {sign} in.csv -o shared.parquet"));
    for trustee in [1, 2] {
        let share = format!("decrypt-share --share shared/share-{trustee}.json {bob}");
        dir.ok(&format!("{share} shared.parquet --out share-{trustee}.parquet"));
        dir.fails(&format!("{share} rows.parquet --out x.parquet"), "rows.parquet: signed by key ");
    }
    dir.ok(&format!(
        "combine --key shared/verification.json {bob} shared.parquet share-1.parquet share-2.parquet --out x.csv"
    ));
    dir.python(&format!(
        "{PROGRAM}t = pq.read_table('totals.parquet')\nt = put(t, 'dept', ['x', 'y', 'z'])\n\
                           pq.write_table(t, 'forged.parquet')"
    ));
    for line in [
        format!("decrypt -k keys/private.json {bob} forged.parquet"),
        format!("sum -k keys/public.json {bob} forged.parquet -o t.parquet"),
        format!("prove decryption --key keys/private.json {bob} forged.parquet --out p.parquet"),
        format!("{verify} forged.parquet proof.parquet"),
        format!("inspect {bob} forged.parquet"),
    ] {
        dir.fails(&line, "forged.parquet: was changed after key ");
    }
    let said = dir.ok(&format!("inspect {bob} totals.parquet")).text();
    assert!(said.contains("  signed by key ") && !said.contains("would check"), "{said}");
    assert!(dir.ok("inspect totals.parquet").text().contains(", which --require-signature would check"));
    assert!(dir.ok("inspect --json totals.parquet").text().contains("\"signature_checked\":false"));
}

#[test]
fn columns_encrypted_whole_are_signed_as_well() {
    let dir = signed_rows(PAILLIER);
    dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    let sign = "--sign ada/signing-private.json";
    dir.ok(&format!("encrypt -k bfv/public.json -c salary --range 100000 {sign} in.csv -o rows.parquet"));
    dir.ok(&format!("sum -k bfv/public.json {REQUIRED} {sign} -b dept rows.parquet -o totals.parquet"));
    let expected = "dept,rows,salary\n,1,-7\nlab,3,1480\nshop,1,900\n";
    let decrypt = format!("decrypt -k bfv/private.json {REQUIRED}");
    assert_eq!(dir.ok(&format!("{decrypt} totals.parquet")).text(), expected);
    dir.ok(&format!("{decrypt} rows.parquet"));
    for (name, change) in [
        ("a plain cell", "t = put(t, 'dept', [*t['dept'].to_pylist()[:-1], 'shop'])"),
        ("the order of rows", "t = t.take([0, 1, 2, 4, 3])"),
        ("a count", "t = put(t, 'salary.additions', [0, *t['salary.additions'].to_pylist()[1:]])"),
        ("the range", "t = entry(t, 'salary', 'hearith.range', '100')"),
        ("the id", "t = entry(t, 'salary', 'hearith.table', 32 * 'a')"),
    ] {
        rewrite(&dir, change);
        let line = format!("sum -k bfv/public.json {REQUIRED} -b dept forged.parquet -o t.parquet");
        let run = dir.run(&line);
        run.failed(name, "forged.parquet: ");
        assert!(!dir.file("t.parquet").exists(), "{name}");
    }
    dir.python(&format!(
        "{PROGRAM}t = pq.read_table('totals.parquet')\nt = put(t, 'dept', ['x', 'y', 'z'])\n\
                           pq.write_table(t, 'forged.parquet')"
    ));
    dir.fails(&format!("{decrypt} forged.parquet"), "forged.parquet: was changed after key ");
}

#[test]
fn names_of_folders_are_not_signed() {
    let dir = signed_rows(PAILLIER);
    std::fs::create_dir(dir.file("team=red")).unwrap();
    std::fs::copy(dir.file("rows.parquet"), dir.file("team=red/rows.parquet")).unwrap();
    dir.ok("sum -k keys/public.json -b team team=red/rows.parquet -o totals.parquet");
    dir.fails(
        &format!("sum -k keys/public.json {REQUIRED} -b team team=red/rows.parquet -o t.parquet"),
        "team=red/rows.parquet: column team: there is no such column",
    );
}

#[test]
fn keys_that_sign_are_no_others() {
    let dir = signed_rows(PAILLIER);
    let signing = "ada/signing-private.json: a signing key: this needs an encryption key";
    dir.fails("encrypt -k ada/signing-private.json -c salary in.csv -o x.parquet", signing);
    dir.fails("sum -k ada/signing-private.json rows.parquet -o x.parquet", signing);
    dir.fails("decrypt -k ada/signing-private.json rows.parquet", signing);
    let encrypt = format!("encrypt {PAILLIER} in.csv -o x.parquet --sign");
    dir.fails(&format!("{encrypt} keys/private.json"), "keys/private.json: not a signing key");
    dir.fails(&format!("{encrypt} ada/signing-public.json"), "ada/signing-public.json: a public key: signing needs");
    dir.fails(
        "sum -k keys/public.json --require-signature keys/public.json rows.parquet -o x.parquet",
        "keys/public.json: not a signing key",
    );
    dir.fails(
        &format!("encrypt {PAILLIER} in.csv -o ada/signing-private.json --sign ada/signing-private.json"),
        "ada/signing-private.json: the output would replace the input",
    );
    dir.fails("keygen --signing --out ada", "ada/signing-private.json: there is a key already");
    // Encrypted under a passphrase, decrypted again, and its public key.
    dir.write("passphrase", "correct horse battery staple\n");
    let with = "--passphrase-file passphrase";
    dir.ok(&format!("{with} key encrypt ada/signing-private.json --out sealed.json"));
    dir.ok(&format!("{with} encrypt {PAILLIER} in.csv -o sealed.parquet --sign sealed.json"));
    dir.ok(&format!("sum -k keys/public.json {REQUIRED} sealed.parquet -o totals.parquet"));
    dir.ok(&format!("{with} key decrypt sealed.json --out again.json"));
    assert_eq!(dir.read("again.json"), dir.read("ada/signing-private.json"));
    dir.ok("key public again.json --out public.json");
    assert_eq!(dir.read("public.json"), dir.read("ada/signing-public.json"));
    dir.ok(&format!("{with} keygen --signing --out hidden"));
    assert!(dir.read("hidden/signing-private.json").contains("ciphertext"));
    let said = dir.ok("inspect ada/signing-private.json").text();
    assert!(said.contains("private key, signs") && said.contains("ed25519"), "{said}");
}
