//! Plans, which all senders of tables follow so that their tables can be summed.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::metadata::DEFAULT_MAX_ADDITIONS;
use hearith_columns::{Error, TypedColumn, described, is_number, type_name};
use hearith_paillier::encoding::format_decimal;
use serde::{Deserialize, Serialize};

use crate::args::{Character, Csv, Encrypt, List, Mark, Name, Setting};
use crate::failure::{CliError, name};
use crate::input::Table;
use crate::output::{Access, Output};

/// Maximum size of a plan in bytes.
const MAX_PLAN_BYTES: u64 = 4 << 20;
/// The supported version of plans.
const VERSION: u32 = 1;

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    /// The version of the format.
    hearith_plan: u32,
    /// The ID of the public key.
    key: String,
    max_additions: u64,
    pack: bool,
    csv: Marks,
    encrypted: Vec<Encrypted>,
    plain: Vec<Plain>,
}

/// The format of CSV files.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marks {
    delimiter: Option<char>,
    header: bool,
    null: Vec<String>,
    decimal_comma: bool,
    thousands: Option<char>,
}

/// A column to encrypt.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encrypted {
    name: String,
    scale: u32,
    /// The largest magnitude, in the column's unit.
    range: String,
}

/// An unencrypted column, and its type as named in a cast.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    name: String,
    r#type: String,
}

/// An encryption command, with the plan that it follows or writes.
pub(crate) struct Planned {
    /// The command, completed by the plan.
    pub(crate) command: Encrypt,
    state: State,
}

enum State {
    None,
    /// The plan exists.
    Follows {
        name: String,
        plan: Plan,
    },
    /// The plan is to be written, with these unencrypted columns.
    Writes {
        output: Output,
        key: String,
        plain: Vec<Plain>,
    },
}

impl Planned {
    /// Reads the plan that the command names, or begins a new one.
    pub(crate) fn begin(command: &Encrypt, key: &impl ToString) -> Result<Self, CliError> {
        let Some(path) = &command.plan else { return Ok(Self { command: command.clone(), state: State::None }) };
        let key = key.to_string();
        if !path.exists() {
            if command.column.is_empty() {
                return Err(CliError::at(
                    name(path),
                    "does not exist yet: choose the columns to encrypt with --column",
                ));
            }
            let output = Output::file(path, Access::Usual, false)?;
            let state = State::Writes { output, key, plain: Vec::new() };
            return Ok(Self { command: command.clone(), state });
        }
        let (file, plan) = (name(path), Plan::read(path)?);
        if plan.key != key {
            let what = format!("is for key {}, but the key given is {key}", plan.key);
            return Err(CliError::at(file, what));
        }
        check_unplanned(command, &file)?;
        Ok(Self { command: plan.complete(command), state: State::Follows { name: file, plan } })
    }

    /// The format of a CSV table: the options', or else the plan's.
    pub(crate) fn csv(&self) -> Csv {
        match &self.state {
            State::Follows { plan, .. } => self.command.csv.or(&plan.csv.to_options()),
            _ => self.command.csv.clone(),
        }
    }

    /// The numeric columns of a CSV table: those to encrypt, and those that are numbers in the
    /// plan.
    pub(crate) fn numbers(&self) -> Vec<String> {
        let mut numbers = self.command.columns();
        if let State::Follows { plan, .. } = &self.state {
            let plain = plan.plain.iter().filter(|plain| is_number(&plain.r#type));
            numbers.extend(plain.map(|plain| plain.name.clone()));
        }
        numbers
    }

    /// Converts the table's unencrypted columns to the plan's types.
    pub(crate) fn table(&mut self, table: Table) -> Result<Table, CliError> {
        let columns = self.command.columns();
        let plain = match &mut self.state {
            State::None => return Ok(table),
            State::Follows { plan, .. } => &plan.plain,
            State::Writes { plain, .. } => {
                let fields = table.schema.fields().iter().filter(|field| !columns.contains(field.name()));
                let named = |name: &str, kind| Some(Plain { name: name.to_owned(), r#type: type_name(kind)? });
                *plain = fields.filter_map(|field| named(field.name(), field.data_type())).collect();
                &*plain
            }
        };
        let typed = plain.iter().map(|Plain { name, r#type }| TypedColumn::new(&table.schema, name, r#type));
        let typed = typed.collect::<Result<Vec<_>, _>>();
        let typed = typed.map_err(|error| self.explained(table.failure(error)))?;
        Ok(retyped(table, typed))
    }

    /// Writes a new plan, with the encrypted columns' resulting scales and ranges.
    pub(crate) fn finish(self, encrypted: &Schema) -> Result<(), CliError> {
        let State::Writes { mut output, key, plain } = self.state else { return Ok(()) };
        let described = described(encrypted).map_err(CliError::new)?;
        let command = self.command;
        let of = |name: String| {
            let source = described.iter().map(|it| &it.source).find(|source| source.name == name)?;
            let range = i128::try_from(source.range).unwrap_or(i128::MAX);
            Some(Encrypted { name, scale: source.scale, range: format_decimal(range, source.scale) })
        };
        let plan = Plan {
            hearith_plan: VERSION,
            key,
            max_additions: command.max_additions,
            pack: command.pack,
            csv: Marks::of(&command.csv),
            encrypted: command.columns().into_iter().filter_map(of).collect(),
            plain,
        };
        let text = serde_json::to_string_pretty(&plan).map_err(CliError::new)?;
        writeln!(output, "{text}").map_err(|error| CliError::writing(output.name(), error))?;
        output.commit()
    }

    /// Adds the plan's name to a failure about a planned column.
    fn explained(&self, failure: CliError) -> CliError {
        match &self.state {
            State::Follows { name, .. } => failure.with_note(format!("according to the plan {name}")),
            _ => failure,
        }
    }
}

impl Plan {
    fn read(path: &Path) -> Result<Self, CliError> {
        let file = name(path);
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_PLAN_BYTES + 1).read_to_string(&mut text));
        read.map_err(|error| CliError::reading(&file, error))?;
        if text.len() as u64 > MAX_PLAN_BYTES {
            return Err(CliError::at(file, format!("invalid plan: more than {MAX_PLAN_BYTES} bytes")));
        }
        let plan: Self =
            serde_json::from_str(&text).map_err(|error| CliError::at(&file, format!("invalid plan: {error}")))?;
        match plan.hearith_plan {
            VERSION => Ok(plan),
            other => {
                Err(CliError::at(file, format!("a plan of version {other}: this program reads version {VERSION}")))
            }
        }
    }

    /// Completes the command with the plan's settings.
    fn complete(&self, command: &Encrypt) -> Encrypt {
        let columns = self.encrypted.iter();
        let setting = |column: &Encrypted| Some(column.name.clone());
        Encrypt {
            column: vec![List(columns.clone().map(|column| Name(column.name.clone())).collect())],
            scale: vec![List(columns.clone().map(|it| Setting { column: setting(it), value: it.scale }).collect())],
            range: vec![List(columns.map(|it| Setting { column: setting(it), value: it.range.clone() }).collect())],
            max_additions: self.max_additions,
            pack: self.pack,
            ..command.clone()
        }
    }
}

impl Marks {
    fn of(csv: &Csv) -> Self {
        let mark = |mark: &Option<Character>| mark.map(|Character(mark)| mark);
        Self {
            delimiter: mark(&csv.delimiter),
            header: csv.no_header != Some(true),
            null: csv.null.clone(),
            decimal_comma: csv.decimal_comma == Some(true),
            thousands: csv.thousands.and_then(|Mark(mark)| mark),
        }
    }

    fn to_options(&self) -> Csv {
        Csv {
            delimiter: self.delimiter.map(Character),
            no_header: Some(!self.header),
            null: self.null.clone(),
            decimal_comma: Some(self.decimal_comma),
            thousands: Some(Mark(self.thousands)),
        }
    }
}

/// Rejects options that the plan sets.
fn check_unplanned(command: &Encrypt, plan: &str) -> Result<(), CliError> {
    let given = [
        ("--column", !command.column.is_empty()),
        ("--scale", !command.scale.is_empty()),
        ("--range", !command.range.is_empty()),
        ("--pack", command.pack),
        ("--max-additions", command.max_additions != DEFAULT_MAX_ADDITIONS),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => {
            Err(CliError::at(plan, format!("the plan exists and already sets {option}: omit the option")))
        }
    }
}

/// Replaces columns by the typed columns of the same names.
fn retyped(table: Table, typed: Vec<TypedColumn>) -> Table {
    let fields: Vec<_> = typed.iter().map(TypedColumn::field).collect();
    let of = |name: &str| fields.iter().position(|field| field.name() == name);
    let all = table.schema.fields().iter();
    let fields = all.map(|field| of(field.name()).map_or_else(|| field.clone(), |place| fields[place].clone()));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let (to, file, places) =
        (schema.clone(), table.name.clone(), schema.fields().iter().map(|field| of(field.name())).collect::<Vec<_>>());
    let pieces = table.pieces.map(move |piece| {
        let mut piece = piece?;
        let columns = places.iter().zip(piece.batch.columns()).map(|(place, column)| match place {
            Some(place) => typed[*place].values(&piece.batch),
            None => Ok(column.clone()),
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>();
        let columns = columns.map_err(|error| CliError::at(&file, error.offset_rows(piece.first_row)))?;
        piece.batch = RecordBatch::try_new(to.clone(), columns).map_err(|error| CliError::at(&file, error))?;
        Ok(piece)
    });
    Table { schema, pieces: Box::new(pieces), ..table }
}
