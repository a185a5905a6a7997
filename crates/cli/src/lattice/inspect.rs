//! `hearith inspect` for keys and columns of the lattice scheme.

use arrow_schema::Field;
use hearith_columns::lattice::{Form, LatticeColumn};
use serde_json::{Value, json};

use super::Key;
use crate::inspect::{Description, describe_count, listed, range_text};

/// Describes a key.
pub(crate) fn describe_key(file: &str, key: &Key) -> Description {
    let kind = if matches!(key, Key::Private(_)) { "private key" } else { "public key" };
    let (set, id) = (key.public().set(), key.public().id().to_string());
    let lines = [("scheme", "bfv".to_owned()), ("key", id.clone()), ("set", set.to_string())];
    let json = json!({
        "kind": kind,
        "scheme": "bfv",
        "key": id,
        "set": set.name(),
        "chunk_rows": set.degree(),
        "insecure": false,
    });
    Description { text: listed(file, kind, &lines), json }
}

/// Describes a field of a table, as text and as JSON.
pub(crate) fn describe_column(field: &Field, encrypted: &[LatticeColumn]) -> Option<(String, Value)> {
    let kind = field.data_type().to_string();
    let name = field.name();
    if let Some(column) = encrypted.iter().find(|column| column.name == *name) {
        return Some((says(column), says_json(column)));
    }
    if encrypted.iter().any(|column| column.index.as_ref() == Some(name)) {
        let json = json!({ "name": name, "type": kind, "role": "row_numbers" });
        return Some((format!("{kind}, numbers of the rows"), json));
    }
    if let Some(of) = encrypted.iter().find(|column| column.rarest.as_ref() == Some(name)) {
        let json = json!({ "name": name, "type": kind, "rarest_weight_of": of.source.name });
        return Some((format!("{kind}, values of the rarest weight in {}", of.source.name), json));
    }
    let of = encrypted.iter().find(|column| column.counts_in(field))?;
    Some(describe_count(field, &of.source))
}

/// `bfv, key 0123..., bfv-8192, chunks of 8192 rows, 97 bits, scale 2, range 100.00, up to
/// 4294967296 additions`.
fn says(column: &LatticeColumn) -> String {
    let LatticeColumn { key, set, bits, source, max_additions, .. } = column;
    let form = match column.form {
        Form::Chunks { .. } => format!("chunks of {} rows", set.degree()),
        Form::Totals => "totals".to_owned(),
    };
    let (scale, range) = (source.scale, range_text(source));
    format!("bfv, key {key}, {set}, {form}, {bits} bits, scale {scale}, range {range}, up to {max_additions} additions")
}

fn says_json(column: &LatticeColumn) -> Value {
    let source = &column.source;
    json!({
        "name": column.name,
        "encrypted": true,
        "key": column.key,
        "set": column.set.name(),
        "form": if column.form == Form::Totals { "totals" } else { "chunks" },
        "bits": column.bits,
        "insecure": false,
        "columns": [{ "name": source.name, "scale": source.scale, "range": range_text(source), "additions": source.additions }],
        "max_additions": column.max_additions,
    })
}
