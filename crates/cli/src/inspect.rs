//! `hearith inspect`.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use arrow_schema::Field;
use hearith_columns::lattice::{LatticeColumn, lattice_columns};
use hearith_columns::metadata::counts_rows;
use hearith_columns::{Encoding, EncryptedColumn, SourceColumn, VerifyingKey, encrypted_columns};
use hearith_paillier::encoding::format_decimal;
use hearith_paillier::{EncryptedJwk, KeyId, MIN_SECURE_BITS, PublicKey, Weakness};
use serde_json::{Value, json};

use crate::args::Inspect;
#[cfg(feature = "dghv")]
use crate::dghv;
use crate::engines::{print, print_json};
use crate::failure::{CliError, name};
use crate::input::{ParquetFile, fixed_bytes};
use crate::keys::{AnyKey, Key, Shown};
use crate::lattice;
#[cfg(not(feature = "dghv"))]
use crate::parts;
use crate::printable::Printable;
use crate::session::Session;
use crate::signing::Signers;

/// Describes a key or an encrypted table.
pub(crate) fn run(session: &Session, command: &Inspect) -> Result<(), CliError> {
    let path = &command.file;
    let signers = Signers::read(&command.signers)?;
    let description = match first_byte(path).map_err(|error| CliError::reading(&name(path), error))? {
        b'P' => describe_table(session, &ParquetFile::open(path)?, &signers)?,
        // In compact form, an encrypted key begins with its header's brace in base64url.
        byte if byte == b'{' || byte == b'e' || byte.is_ascii_whitespace() => match Key::show(session, path)? {
            Shown::Key(AnyKey::Paillier(Key::Public(key))) => describe_key(&name(path), "public key", &key, None),
            Shown::Key(AnyKey::Paillier(Key::Private(key))) => {
                describe_key(&name(path), "private key", key.public(), None)
            }
            Shown::Key(AnyKey::Lattice(key)) => lattice::describe_key(&name(path), &key),
            Shown::Shared(key) => {
                let sharing = format!("{} of {} trustees decrypt", key.needed(), key.trustees());
                describe_key(&name(path), "public key, shared", key.key(), Some(sharing))
            }
            Shown::Share(share) => {
                let sharing =
                    format!("trustee {} of {}; {} decrypt", share.trustee(), share.trustees(), share.needed());
                describe_key(&name(path), "share of a private key", share.key(), Some(sharing))
            }
            Shown::Signs(key, is_private) => describe_signer(&name(path), &key, is_private),
            Shown::Encrypted(key) => describe_encrypted(&name(path), &key),
        },
        #[cfg(feature = "dghv")]
        b'H' => return dghv::inspect(session, path),
        #[cfg(not(feature = "dghv"))]
        b'H' => return Err(CliError::at(name(path), parts::absent("the reader of files of `hearith dghv`", "dghv"))),
        _ => return Err(CliError::at(name(path), "neither a key nor an encrypted table")),
    };
    match session.json {
        true => print_json(&description.json),
        false => print(&description.text),
    }
}

/// Returns the first byte, which distinguishes a key from a table, or 0 for an empty file. Standard
/// input holds a table.
fn first_byte(path: &Path) -> io::Result<u8> {
    if path == Path::new("-") {
        return Ok(b'P');
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a directory"));
    }
    Ok(BufReader::new(file).fill_buf()?.first().copied().unwrap_or(0))
}

/// The same description as text and as JSON.
pub(crate) struct Description {
    pub(crate) text: String,
    pub(crate) json: Value,
}

fn describe_key(file: &str, kind: &str, public: &PublicKey, sharing: Option<String>) -> Description {
    let weakness = public.weakness();
    let warning = match weakness {
        None => String::new(),
        Some(Weakness::Short { .. }) => " INSECURE".to_owned(),
        Some(weakness) => format!(" INSECURE: {weakness}"),
    };
    let mut lines = vec![
        ("scheme", "paillier".to_owned()),
        ("key", public.id().to_string()),
        ("bits", format!("{}{warning}", public.bits())),
        ("variant", public.variant().to_string()),
        ("comment", public.comment().to_owned()),
    ];
    let exponents = public.exponent_bits().map(|bits| ("exponents", format!("{bits} bits")));
    lines.splice(4..4, exponents);
    lines.extend(sharing.clone().map(|sharing| ("sharing", sharing)));
    let text = listed(file, kind, &lines);
    let mut json = json!({
        "kind": kind,
        "scheme": "paillier",
        "key": public.id().to_string(),
        "bits": public.bits(),
        "insecure": weakness.is_some(),
        "variant": public.variant().to_string(),
        "comment": public.comment(),
    });
    if let Some(bits) = public.exponent_bits() {
        json["exponent_bits"] = bits.into();
    }
    if let Some(sharing) = sharing {
        json["sharing"] = sharing.into();
    }
    Description { text, json }
}

/// Describes a signing key.
fn describe_signer(file: &str, key: &VerifyingKey, is_private: bool) -> Description {
    let kind = if is_private { "private key, signs" } else { "public key of a signer" };
    let id = key.id().to_string();
    let text = listed(file, kind, &[("scheme", "ed25519".to_owned()), ("key", id.clone())]);
    let json = json!({ "kind": kind, "scheme": "ed25519", "key": id });
    Description { text, json }
}

/// Describes a private key without its passphrase. The ID is what the file claims.
fn describe_encrypted(file: &str, key: &EncryptedJwk) -> Description {
    let kind = "encrypted private key";
    let id = key.key_id().as_ref().map(KeyId::to_string);
    let lines = [
        ("key", id.clone().unwrap_or_else(|| "not named".to_owned())),
        ("wrapped", format!("{}, {} rounds of PBKDF2", key.algorithm(), key.iterations())),
        ("cipher", key.encryption().to_owned()),
    ];
    let text = listed(file, kind, &lines);
    let json = json!({
        "kind": kind,
        "key": id,
        "algorithm": key.algorithm(),
        "iterations": key.iterations(),
        "encryption": key.encryption(),
    });
    Description { text, json }
}

pub(crate) fn listed(file: &str, kind: &str, lines: &[(&str, String)]) -> String {
    let mut text = format!("{}: {kind}\n", Printable(file));
    for (what, value) in lines {
        let _ = writeln!(text, "  {what:<8} {}", Printable(value));
    }
    text
}

fn describe_table(session: &Session, table: &ParquetFile, signers: &Signers) -> Result<Description, CliError> {
    let source = table.source()?;
    let schema = source.schema();
    signers.verify(table, session.ciphertext_batch_rows(fixed_bytes(&schema)))?;
    let signature = source.signature().map_err(|error| CliError::at(&table.name, error))?;
    let signer = signature.map(|signature| signature.signer().id().to_string());
    let at = |error| CliError::at(&table.name, error);
    let encrypted = match lattice_columns(&schema).map_err(at)? {
        none if none.is_empty() => Encrypted::Paillier(encrypted_columns(&schema).map_err(at)?),
        columns => Encrypted::Lattice(columns),
    };
    let (rows, row_groups) = (source.rows(), source.row_groups());
    let scheme = encrypted.scheme();
    let kind = if scheme.is_none() { "table, not encrypted" } else { "encrypted table" };
    let mut text = format!("{}: {kind}, {rows} rows in {row_groups} row groups\n", Printable(&table.name));
    if let Some(signer) = &signer {
        let checked = if signers.are_required() { "" } else { ", which --require-signature would check" };
        let _ = writeln!(text, "  signed by key {signer}{checked}");
    }
    let names: Vec<String> = schema.fields().iter().map(|field| Printable(field.name()).to_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut columns = Vec::new();
    for (field, name) in schema.fields().iter().zip(names) {
        let (says, json) = describe_column(field, &encrypted);
        let _ = writeln!(text, "  {name:<width$}  {}", Printable(&says));
        columns.push(json);
    }
    let json = json!({
        "kind": kind,
        "scheme": scheme,
        "rows": rows,
        "row_groups": row_groups,
        "signer": signer,
        "signature_checked": signers.are_required(),
        "columns": columns,
    });
    Ok(Description { text, json })
}

/// The encrypted columns of a table.
enum Encrypted {
    Paillier(Vec<EncryptedColumn>),
    Lattice(Vec<LatticeColumn>),
}

impl Encrypted {
    fn scheme(&self) -> Option<&'static str> {
        match self {
            Self::Paillier(columns) => (!columns.is_empty()).then_some("paillier"),
            Self::Lattice(_) => Some("bfv"),
        }
    }
}

fn describe_column(field: &Field, encrypted: &Encrypted) -> (String, Value) {
    let kind = field.data_type().to_string();
    let encrypted = match encrypted {
        Encrypted::Paillier(columns) => &columns[..],
        Encrypted::Lattice(columns) => match lattice::describe_column(field, columns) {
            Some(described) => return described,
            None => &[],
        },
    };
    if let Some(column) = encrypted.iter().find(|column| column.name == *field.name()) {
        return (says(column), says_json(column));
    }
    let mut sources = encrypted.iter().flat_map(|column| &column.sources);
    let counts =
        |source: &&SourceColumn| source.additions == *field.name() || source.values.as_ref() == Some(field.name());
    match sources.find(counts) {
        Some(source) => describe_count(field, source),
        None if counts_rows(field) => {
            (format!("{kind}, rows in each group"), json!({ "name": field.name(), "type": kind, "counts_rows": true }))
        }
        None => (kind.clone(), json!({ "name": field.name(), "type": kind })),
    }
}

/// Describes a column that counts the additions or values of `source`.
pub(crate) fn describe_count(field: &Field, source: &SourceColumn) -> (String, Value) {
    let kind = field.data_type().to_string();
    let (what, entry) = match source.additions == *field.name() {
        true => ("additions", "additions_of"),
        false => ("encrypted values", "values_of"),
    };
    (format!("{kind}, {what} in {}", source.name), json!({ "name": field.name(), "type": kind, entry: source.name }))
}

/// `paillier, key 0123..., 3072 bits, fixed (scale 2), range 100.00, up to 4294967296 additions`.
fn says(column: &EncryptedColumn) -> String {
    let insecure = if column.bits < MIN_SECURE_BITS { " INSECURE" } else { "" };
    let mut text = format!("paillier, key {}, {} bits{insecure}, ", column.key, column.bits);
    text += &match column.encoding {
        Encoding::Integer => format!("integer, {}", range(&column.sources[0])),
        Encoding::Fixed => {
            format!("fixed, scale {}, {}", column.sources[0].scale, range(&column.sources[0]))
        }
        Encoding::Base16(exponent) => {
            format!("base16, exponent {exponent}, {}", range(&column.sources[0]))
        }
        Encoding::Slots => {
            let slot = |source: &SourceColumn| format!("{} (scale {}, {})", source.name, source.scale, range(source));
            let slots: Vec<String> = column.sources.iter().map(slot).collect();
            format!("{} slots: {}", slots.len(), slots.join(", "))
        }
    };
    let _ = write!(text, ", up to {} additions", column.max_additions);
    text
}

fn says_json(column: &EncryptedColumn) -> Value {
    let source = |source: &SourceColumn| {
        json!({
            "name": source.name,
            "scale": source.scale,
            "range": range_text(source),
            "additions": source.additions,
        })
    };
    let (encoding, exponent) = match column.encoding {
        Encoding::Integer => ("integer", None),
        Encoding::Fixed => ("fixed", None),
        Encoding::Slots => ("slots", None),
        Encoding::Base16(exponent) => ("base16", Some(exponent)),
    };
    json!({
        "name": column.name,
        "encrypted": true,
        "key": column.key.to_string(),
        "bits": column.bits,
        "insecure": column.bits < MIN_SECURE_BITS,
        "encoding": encoding,
        "exponent": exponent,
        "slots": column.sources.len(),
        "columns": column.sources.iter().map(source).collect::<Vec<_>>(),
        "max_additions": column.max_additions,
    })
}

fn range(source: &SourceColumn) -> String {
    format!("range {}", range_text(source))
}

/// The range in the column's own unit.
pub(crate) fn range_text(source: &SourceColumn) -> String {
    format_decimal(i128::try_from(source.range).unwrap_or(i128::MAX), source.scale)
}
