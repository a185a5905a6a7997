//! The options of commands that read and write tables.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hearith_columns::Predicate;
use hearith_columns::metadata::DEFAULT_MAX_ADDITIONS;

use super::{Columns, Csv, List, Name, Setting, all};

/// `hearith encrypt`.
#[derive(Clone, Debug, Args)]
pub struct Encrypt {
    /// The public key, or the private key (its owner encrypts faster)
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Columns to encrypt; the others pass through unchanged
    #[arg(long, short, required_unless_present = "plan", value_name = "NAME,...")]
    pub column: Vec<List<Name>>,
    /// A plan that all senders follow, to make files summable; written if missing
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Decimal places to keep: one number for all columns, or NAME=N,...
    #[arg(long, value_name = "N")]
    pub scale: Vec<List<Setting<u32>>>,
    /// Largest magnitude of values: R or NAME=R,... [default: 2^63 - 1 after scaling]
    #[arg(long, value_name = "R")]
    pub range: Vec<List<Setting<String>>>,
    /// Additions to leave headroom for (bfv: what noise allows)
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_ADDITIONS)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub max_additions: u64,
    /// Put the columns of a row into one ciphertext: smaller files, faster sums
    #[arg(long)]
    pub pack: bool,
    /// Round numbers with more decimal places than --scale, half to even
    #[arg(long)]
    pub round: bool,
    /// Show invalid cells in messages, which contain no plaintext otherwise
    #[arg(long)]
    pub show_cells: bool,
    /// Skip the check of a device: a faulty one may encrypt other numbers
    #[arg(long, conflicts_with = "remote")]
    pub unchecked_device: bool,
    /// The table, Parquet or CSV (also .gz or .zst); - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The encrypted table, Parquet; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Sign the table with this key (`hearith keygen --signing`)
    #[arg(long, value_name = "FILE")]
    pub sign: Option<PathBuf>,
    /// How a CSV input is written.
    #[command(flatten)]
    pub csv: Csv,
    /// A service that computes instead.
    #[command(flatten)]
    pub remote: Remote,
}

impl Encrypt {
    /// The columns to encrypt.
    pub fn columns(&self) -> Vec<String> {
        all(&self.column).into_iter().map(|Name(name)| name).collect()
    }
}

/// `hearith describe`.
#[derive(Clone, Debug, Args)]
pub struct Describe {
    /// The table, as another program wrote it, Parquet; - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The encrypted table that it was made from, Parquet
    #[arg(long, short, value_name = "FILE")]
    pub like: PathBuf,
    /// The encrypted table, Parquet; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Sign the table with this key (`hearith keygen --signing`)
    #[arg(long, value_name = "FILE")]
    pub sign: Option<PathBuf>,
}

/// `hearith sum`.
#[derive(Clone, Debug, Args)]
pub struct Sum {
    /// The public key, or the private key (its owner re-randomises faster)
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Columns or expressions to group by, such as "age >= 30 as senior"
    #[arg(long, short, value_name = "NAME,...")]
    pub by: Vec<Columns>,
    /// Sum only rows that meet a condition on unencrypted columns: "age >= 30"
    #[arg(long = "where", short = 'w', value_name = "CONDITION", allow_hyphen_values = true)]
    pub conditions: Vec<Predicate>,
    /// Multiply each number by an unencrypted column or expression (bfv only)
    #[arg(long, value_name = "NAME")]
    pub weight: Option<String>,
    /// Suppress groups of fewer rows, totals of fewer values or of rarer weights
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub min_rows: Option<u64>,
    /// Count all weights together for --min-rows: rare ones can reveal a value
    #[arg(long, requires = "min_rows")]
    pub allow_rare_weights: bool,
    /// Sum tables and totals even if they share rows or are given twice
    #[arg(long)]
    pub allow_repeated: bool,
    /// Hide which rows a total covers; else a one-row total is the row itself
    #[arg(long)]
    pub rerandomise: bool,
    /// Skip the check of a device: a faulty one may return other totals
    #[arg(long, conflicts_with = "remote")]
    pub unchecked_device: bool,
    /// Encrypted tables or totals: Parquet files, folders of them, patterns; - for standard input
    #[arg(required = true, value_name = "IN")]
    pub input: Vec<PathBuf>,
    /// The encrypted totals, Parquet; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Sign the totals with this key (`hearith keygen --signing`)
    #[arg(long, value_name = "FILE")]
    pub sign: Option<PathBuf>,
    /// Who must have signed the tables.
    #[command(flatten)]
    pub signers: Signers,
    /// A service that computes instead.
    #[command(flatten)]
    pub remote: Remote,
}

/// `hearith decrypt`.
#[derive(Clone, Debug, Args)]
pub struct Decrypt {
    /// The private key; with --remote the public key suffices
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted totals, or any encrypted table; - for standard input
    #[arg(value_name = "TOTALS")]
    pub input: PathBuf,
    /// The result; - for standard output, which is the default
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// csv, tsv, json, parquet or table [default: by --out; on a terminal table]
    #[arg(long, short, hide_possible_values = true)]
    pub format: Option<Format>,
    /// Add X.mean after each sum X: the sum divided by the number of values
    #[arg(long)]
    pub mean: bool,
    /// Check this CPU's decryptions: a computing fault would leak the key
    #[arg(long, conflicts_with = "remote")]
    pub check: bool,
    /// Decrypt foreign rows under a subgroup key: several times slower
    #[arg(long, conflicts_with = "remote")]
    pub any_randomiser: bool,
    /// Skip the check of a device. DANGEROUS: a faulty one leaks the key
    #[arg(long, conflicts_with_all = ["check", "remote"])]
    pub unchecked_device: bool,
    /// Who must have signed the table.
    #[command(flatten)]
    pub signers: Signers,
    /// A service that computes instead.
    #[command(flatten)]
    pub remote: Remote,
}

/// `hearith decrypt-share`.
#[derive(Clone, Debug, Args)]
pub struct DecryptShare {
    /// The trustee's share of the private key, share-N.json
    #[arg(long, value_name = "FILE")]
    pub share: PathBuf,
    /// Encrypted totals; check first where they come from
    #[arg(value_name = "TOTALS")]
    pub input: PathBuf,
    /// The shares of their decryption, a Parquet file
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Who must have signed the totals.
    #[command(flatten)]
    pub signers: Signers,
}

/// `hearith combine`.
#[derive(Clone, Debug, Args)]
pub struct Combine {
    /// The key to verify shares with, verification.json
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted totals
    #[arg(value_name = "TOTALS")]
    pub input: PathBuf,
    /// The trustees' shares from `hearith decrypt-share`, one file each
    #[arg(required = true, value_name = "SHARES")]
    pub shares: Vec<PathBuf>,
    /// The result; - for standard output, which is the default
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// csv, tsv, json, parquet or table [default: by --out; on a terminal table]
    #[arg(long, short, hide_possible_values = true)]
    pub format: Option<Format>,
    /// Add X.mean after each sum X: the sum divided by the number of values
    #[arg(long)]
    pub mean: bool,
    /// Who must have signed the totals.
    #[command(flatten)]
    pub signers: Signers,
}

/// `hearith prove`.
#[derive(Clone, Debug, Subcommand)]
pub enum Prove {
    /// Write the plaintexts of an encrypted table, with proofs that they are right
    Decryption(ProveDecryption),
}

/// `hearith prove decryption`.
#[derive(Clone, Debug, Args)]
pub struct ProveDecryption {
    /// The private key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted totals; everybody who gets the proof can read them
    #[arg(value_name = "TOTALS")]
    pub input: PathBuf,
    /// The proof, a Parquet file
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Who must have signed the totals.
    #[command(flatten)]
    pub signers: Signers,
}

/// `hearith verify`.
#[derive(Clone, Debug, Subcommand)]
pub enum Verify {
    /// Check a proof against encrypted totals, and write the proved numbers
    Decryption(VerifyDecryption),
}

/// `hearith verify decryption`.
#[derive(Clone, Debug, Args)]
pub struct VerifyDecryption {
    /// The public key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted totals
    #[arg(value_name = "TOTALS")]
    pub input: PathBuf,
    /// The proof from `hearith prove decryption`
    #[arg(value_name = "PROOF")]
    pub proof: PathBuf,
    /// The numbers; - for standard output, which is the default
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// csv, tsv, json, parquet or table [default: by --out; on a terminal table]
    #[arg(long, short, hide_possible_values = true)]
    pub format: Option<Format>,
    /// Add X.mean after each sum X: the sum divided by the number of values
    #[arg(long)]
    pub mean: bool,
    /// Who must have signed the totals.
    #[command(flatten)]
    pub signers: Signers,
}

/// Who must have signed what is read.
#[derive(Clone, Debug, Default, Args)]
pub struct Signers {
    /// Reject tables not signed by this key, or changed since; repeatable
    #[arg(long, value_name = "PUBLIC")]
    pub require_signature: Vec<PathBuf>,
}

/// A service and how to reach it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A service (`hearith serve`)")]
pub struct Remote {
    /// Let a service compute: http://HOST:PORT on this machine, else https
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
    /// The root of the service's certificate, in PEM: needed for https
    #[arg(long, value_name = "FILE", requires = "remote")]
    pub ca: Option<PathBuf>,
    /// The certificate to show the service, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["ca", "client_key"])]
    pub client_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
}

/// Forms of a decrypted table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated text
    Csv,
    /// The same, separated by tabs
    Tsv,
    /// An array with an object for each row
    Json,
    /// Parquet, numbers as decimals
    Parquet,
    /// Aligned text for people
    Table,
}

/// `hearith inspect`.
#[derive(Clone, Debug, Args)]
pub struct Inspect {
    /// A key or an encrypted table; - for a table on standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Who must have signed the table.
    #[command(flatten)]
    pub signers: Signers,
}

/// `hearith export`.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// The public key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// The encrypted column
    #[arg(long, short, value_name = "NAME", required_unless_present = "values")]
    pub column: Option<String>,
    /// Write the whole table as CSV for a database, with described ciphertexts
    #[arg(long, conflicts_with = "column")]
    pub values: bool,
    /// The encrypted table; - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// JSON lines as pheutil writes them, null for nulls; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
}

/// `hearith import`.
#[derive(Clone, Debug, Args)]
pub struct Import {
    /// The public key that the numbers were encrypted with
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Name for the encrypted column; with --values each encrypted column of the table
    #[arg(long, short, value_name = "NAME", required = true)]
    pub column: Vec<String>,
    /// Read a table in CSV, as `export --values` and PostgreSQL write it
    #[arg(long, conflicts_with_all = ["scale", "range", "max_additions", "additions"])]
    pub values: bool,
    /// The integers are numbers times 10^N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub scale: u32,
    /// Largest magnitude of one of the numbers [default: 2^63 - 1 after scaling]
    #[arg(long, value_name = "R")]
    pub range: Option<String>,
    /// Additions to leave headroom for in every ciphertext
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_ADDITIONS)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub max_additions: u64,
    /// How many numbers each ciphertext sums
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub additions: u64,
    /// Accept foreign numbers under a subgroup key; `decrypt` needs the same option
    #[arg(long)]
    pub any_randomiser: bool,
    /// JSON objects {"v": "...", "e": 0}, one after another or in a list; - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The encrypted column, Parquet; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("expected at least 1".to_owned()),
        other => other.map_err(|error: std::num::ParseIntError| error.to_string()),
    }
}
