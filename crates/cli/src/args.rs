//! The arguments of the command line.

#[cfg(feature = "service")]
mod config;
mod csv;
#[cfg(feature = "dghv")]
mod dghv;
#[cfg(feature = "election")]
mod election;
mod list;
#[cfg(all(test, feature = "dghv", feature = "election", feature = "service"))]
mod reference;
#[cfg(feature = "service")]
mod serve;

use std::ffi::OsString;
#[cfg(feature = "distributed")]
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hearith_bfv::Set;
use hearith_columns::Predicate;
use hearith_columns::metadata::DEFAULT_MAX_ADDITIONS;
use hearith_paillier::Variant;
use hearith_threshold::MAX_TRUSTEES;

use crate::failure::Failure;
use crate::printable::Printable;

#[cfg(not(all(feature = "dghv", feature = "election", feature = "service")))]
use crate::parts::Absent;
pub use csv::{Character, Csv, Mark};
#[cfg(feature = "dghv")]
pub use dghv::{
    Dghv, DghvCombine, DghvCommand, DghvDecrypt, DghvEncrypt, DghvEvaluate, DghvInspect, DghvKeygen, DghvSwitch,
};
#[cfg(feature = "election")]
pub use election::{
    AtServer, Election, ElectionAudit, ElectionBackup, ElectionCeremony, ElectionChallenge, ElectionDecryptShare,
    ElectionDeliver, ElectionFinish, ElectionInit, ElectionLimits, ElectionRegister, ElectionRepairHeads,
    ElectionRestore, ElectionResult, ElectionServe, ElectionTally, ElectionTrusteeKey, ElectionVerify, ElectionVote,
    Language, NamedIn,
};
pub use list::{Columns, List, Name, Setting, all};
#[cfg(feature = "service")]
pub use serve::{Serve, ServeLimits};

/// Threads that can be asked for: more than any machine has cores, few enough to be started in no
/// time.
pub const MAX_THREADS: u16 = 1024;

/// Add up private columns: encrypt numbers, sum them without the private key, decrypt the totals.
#[derive(Clone, Debug, Parser)]
#[command(name = "hearith", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Engine or device, else HEARITH_ENGINE's or the fastest (see `hearith engines`)
    #[arg(long, global = true, value_name = "NAME")]
    pub engine: Option<String>,
    /// Let a graphics card compute large batches of columns if no engine is named
    #[arg(long, global = true)]
    pub allow_card: bool,
    /// Compute on this many cores instead of all, at most 1024
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    pub threads: Option<u16>,
    /// Report in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Report nothing but errors and warnings
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Allow a key that protects nothing: below 2048 bits, or with close primes
    #[arg(long, global = true, alias = "insecure-key-size", overrides_with = "insecure_key")]
    pub insecure_key: bool,
    /// Read the passphrase of an encrypted key from a file's first line
    #[arg(long, global = true, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Read the passphrase from an open file descriptor
    #[arg(long, global = true, value_name = "N", conflicts_with = "passphrase_file")]
    pub passphrase_fd: Option<u16>,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Make a key pair: DIR/public.json encrypts and sums, DIR/private.json decrypts
    Keygen(Keygen),
    /// Encrypt or decrypt a private key's file, or write its public half
    #[command(subcommand)]
    Key(Key),
    /// Encrypt columns of a table (CSV or Parquet in, Parquet out)
    Encrypt(Encrypt),
    /// Sum the encrypted columns of tables by groups, without the private key
    Sum(Sum),
    /// Decrypt totals, or any encrypted table
    Decrypt(Decrypt),
    /// Make a trustee's share of a decryption, with a proof that it is right
    DecryptShare(DecryptShare),
    /// Decrypt with the shares of enough trustees; report wrong shares
    Combine(Combine),
    /// Prove that totals are right without revealing the key
    #[command(subcommand)]
    Prove(Prove),
    /// Check proofs by others
    #[command(subcommand)]
    Verify(Verify),
    /// Run a service that computes for `encrypt`, `sum` and `decrypt` with --remote
    #[cfg(feature = "service")]
    Serve(Serve),
    /// Compute for others: a service that `encrypt`, `sum` and `decrypt` use with --remote; not
    /// built in
    #[cfg(not(feature = "service"))]
    #[command(hide = true)]
    Serve(Absent),
    /// Describe a key or an encrypted file
    Inspect(Inspect),
    /// Restore descriptions that pandas, polars or DuckDB dropped from a table
    Describe(Describe),
    /// List the engines that this machine can run
    Engines(Engines),
    /// Measure how many operations this machine does per second
    Bench(Bench),
    /// Write an encrypted column as python-paillier's JSON, or a table for a database
    Export(Export),
    /// Read ciphertexts from python-paillier's JSON, or a table from a database
    Import(Import),
    /// Write a shell's completion script: `hearith completions bash`
    Completions(Completions),
    /// Write man pages, one for each command
    Man(Man),
    /// Residue number systems: special primes, integers to residues and back
    #[command(subcommand)]
    Rns(Rns),
    /// Secret ballots whose result everybody can check
    #[cfg(feature = "election")]
    #[command(subcommand)]
    Election(Election),
    /// Secret ballots whose result everybody can check; not built in
    #[cfg(not(feature = "election"))]
    #[command(hide = true)]
    Election(Absent),
    /// FHE over the integers: sums and products of encrypted bits, with BROKEN historical
    /// parameters
    #[cfg(feature = "dghv")]
    Dghv(Dghv),
    /// FHE over the integers: sums and products of encrypted bits, with BROKEN historical
    /// parameters; not built in
    #[cfg(not(feature = "dghv"))]
    #[command(hide = true)]
    Dghv(Absent),
}

/// Who and where the trustees are that generate a key together.
#[cfg(feature = "distributed")]
#[derive(Clone, Debug, Args)]
pub struct Meet {
    /// With --distributed: this trustee's number
    #[arg(long, value_name = "N", requires = "distributed")]
    pub trustee: Option<u32>,
    /// With --distributed: where trustees with higher numbers connect
    #[arg(long, value_name = "ADDRESS", requires = "distributed")]
    pub listen: Option<SocketAddr>,
    /// With --distributed: where each trustee with a lower number listens
    #[arg(long, value_name = "N=HOST:PORT", requires = "distributed")]
    pub peer: Vec<Peer>,
    /// With --distributed: exchange files in this folder, a call for each exchange
    #[arg(long, value_name = "FOLDER", requires = "distributed", conflicts_with_all = ["listen", "peer"])]
    pub offline: Option<PathBuf>,
    /// With --offline: go on without this trustee's file, which ends the run
    #[arg(long, value_name = "N", requires = "offline")]
    pub absent: Vec<u32>,
}

/// `hearith keygen`.
#[derive(Clone, Debug, Args)]
pub struct Keygen {
    /// Scheme: paillier, row by row, or bfv, whole columns
    #[arg(long, default_value = "paillier", hide_possible_values = true)]
    pub scheme: Scheme,
    /// Parameters of a bfv key: bfv-4096, bfv-8192 or bfv-16384 [default: bfv-8192]
    #[arg(long, value_name = "NAME", value_parser = set)]
    pub set: Option<Set>,
    /// Size of a Paillier key: 2048 or more, an even number up to 8192 [default: 3072]
    #[arg(long)]
    pub bits: Option<u32>,
    /// Directory for the two files; created if missing
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Paillier variant: standard, djn (encrypts faster) or subgroup [default: standard]
    #[arg(long, value_parser = variant)]
    pub variant: Option<Variant>,
    /// Share a Paillier key: of L trustees, at most 20, any W decrypt; takes minutes
    #[arg(long, value_name = "W/L")]
    pub shares: Option<Sharing>,
    /// Generate a shared key with other trustees: of L, 3 to 9, any W decrypt
    #[cfg(feature = "distributed")]
    #[arg(long, value_name = "W/L", conflicts_with_all = ["scheme", "set", "shares", "signing"])]
    pub distributed: Option<Sharing>,
    /// With --distributed: who and where the trustees are
    #[cfg(feature = "distributed")]
    #[command(flatten)]
    pub at: Meet,
    /// With --distributed: this trustee's private key, signing-private.json
    #[cfg(feature = "distributed")]
    #[arg(long, value_name = "FILE", requires = "distributed")]
    pub identity: Option<PathBuf>,
    /// With --distributed: each other trustee's key, signing-public.json
    #[cfg(feature = "distributed")]
    #[arg(long, value_name = "N=FILE", requires = "distributed")]
    pub peer_key: Vec<PeerKey>,
    /// Make a key that signs tables: DIR/signing-public.json and DIR/signing-private.json
    #[arg(long, conflicts_with_all = ["scheme", "set", "bits", "variant", "shares"])]
    pub signing: bool,
    /// Encrypt the private key under a passphrase, from the terminal or as given below
    #[arg(long)]
    pub passphrase: bool,
    /// Replace an existing key: without a copy of it, what it encrypted is lost
    #[arg(long)]
    pub force: bool,
}

/// Schemes for columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheme {
    /// Paillier
    Paillier,
    /// BFV
    Bfv,
}

/// `hearith key`.
#[derive(Clone, Debug, Subcommand)]
pub enum Key {
    /// Write a private key encrypted under a passphrase (a JSON Web Encryption, RFC 7517 section 7)
    Encrypt(KeyFiles),
    /// Write an encrypted private key unencrypted
    Decrypt(KeyFiles),
    /// Write the public half of a private key
    Public(KeyFiles),
}

/// A key file made of another.
#[derive(Clone, Debug, Args)]
pub struct KeyFiles {
    /// The private key
    #[arg(value_name = "KEY")]
    pub input: PathBuf,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
}

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
    /// Sum tables and totals even if they have common rows or are given twice
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
    /// Check decryptions by this CPU: a computing fault would leak the key
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

/// How a private key is shared, `W/L`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Trustees that it takes to decrypt.
    pub needed: u32,
    /// Trustees that there are.
    pub trustees: u32,
}

/// Where a trustee listens.
#[cfg(feature = "distributed")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The trustee's number.
    pub number: u32,
    /// Host and port.
    pub address: String,
}

#[cfg(feature = "distributed")]
impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, address) = numbered(text).ok_or("N=HOST:PORT, such as 1=trustee.example:7001")?;
        match address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
            true => Ok(Self { number, address: address.to_owned() }),
            false => Err("N=HOST:PORT, such as 1=trustee.example:7001".to_owned()),
        }
    }
}

/// The file of a trustee's public key.
#[cfg(feature = "distributed")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerKey {
    /// The trustee's number.
    pub number: u32,
    /// The file.
    pub file: PathBuf,
}

#[cfg(feature = "distributed")]
impl FromStr for PeerKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, file) = numbered(text).ok_or("N=FILE, such as 1=one.json")?;
        Ok(Self { number, file: file.into() })
    }
}

/// A trustee's number, and what follows the sign behind it.
#[cfg(feature = "distributed")]
fn numbered(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.split_once('=')?;
    Some((number.parse().ok()?, rest)).filter(|(_, rest)| !rest.is_empty())
}

impl FromStr for Sharing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(w, l)| Some((w.parse().ok()?, l.parse().ok()?)));
        match numbers {
            Some((needed, trustees)) if (1..=MAX_TRUSTEES).contains(&trustees) && (1..=trustees).contains(&needed) => {
                Ok(Self { needed, trustees })
            }
            _ => Err(format!("W/L, such as 3/5, with 1 <= W <= L <= {MAX_TRUSTEES}")),
        }
    }
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
    /// Reject tables that this key did not sign, or changed since; repeatable
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

/// `hearith completions`.
#[derive(Clone, Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `hearith man`.
#[derive(Clone, Debug, Args)]
pub struct Man {
    /// The folder to write to; created if missing
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
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

/// `hearith engines`.
#[derive(Clone, Debug, Args)]
pub struct Engines {
    /// Compare the engine's instruction counts with this machine's peak (half a minute)
    #[arg(long)]
    pub explain: bool,
}

/// `hearith bench`.
#[derive(Clone, Debug, Args)]
pub struct Bench {
    /// Key sizes
    #[arg(long, value_delimiter = ',', default_value = "1024,2048,3072", value_name = "N,...")]
    pub bits: Vec<u32>,
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

/// `hearith rns`.
#[derive(Clone, Debug, Subcommand)]
pub enum Rns {
    /// List the special primes 2^v - beta that a transform and a residue unit can use
    Primes(Primes),
    /// Convert integers to their residues, or back (integers as text, residues as Parquet or CSV)
    Convert(Convert),
}

/// `hearith rns primes`.
#[derive(Clone, Debug, Args)]
pub struct Primes {
    /// What is searched for.
    #[command(flatten)]
    pub search: Search,
    /// List only the N largest
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
}

/// Which special primes are wanted.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Special primes")]
pub struct Search {
    /// Degree of the polynomials, a power of two: a prime is 1 modulo twice the degree
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub degree: u64,
    /// Bits of the integers whose residues are wanted
    #[arg(long, value_name = "BITS", default_value_t = 360)]
    pub modulus_bits: u32,
    /// Bits of a word: primes are just below 2^BITS
    #[arg(long, value_name = "BITS", default_value_t = 30)]
    pub word_bits: u32,
    /// Number of signed powers of two that sum to a prime
    #[arg(long, value_name = "P", default_value_t = 5)]
    pub terms: u32,
    /// Longest word that the residue unit's Barrett reduction may use
    #[arg(long, value_name = "BITS", default_value_t = 62)]
    pub max_word: u32,
    /// Allow beta one more bit, which the paper's bound leaves unused
    #[arg(long)]
    pub tight: bool,
}

/// `hearith rns convert`.
#[derive(Clone, Debug, Args)]
pub struct Convert {
    /// From residues to integers
    #[arg(long)]
    pub back: bool,
    /// Moduli, pairwise coprime [default: as many of the special primes as hold every integer of
    /// --modulus-bits; with --back those that a Parquet file names]
    #[arg(long, value_delimiter = ',', value_name = "Q,...")]
    pub primes: Vec<u64>,
    /// Where the moduli come from otherwise.
    #[command(flatten)]
    pub search: Search,
    /// Write integers in hexadecimal
    #[arg(long, requires = "back")]
    pub hex: bool,
    /// Write integers from -Q/2 to below Q/2, where Q is the product of the moduli, instead of
    /// those from 0 to below Q
    #[arg(long, requires = "back")]
    pub centred: bool,
    /// Skip the check of residues from the device that --engine names
    #[arg(long, conflicts_with = "back")]
    pub unchecked_device: bool,
    /// Integers from -Q/2 to below Q, one per line, decimal or 0x...; with --back residues, Parquet
    /// or CSV; - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Residues, Parquet or CSV by the name; with --back integers; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
}

/// Whether the arguments ask for JSON, whatever else is wrong with them.
pub(crate) fn ask_for_json() -> bool {
    std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Reads the arguments of the process, or ends it with the help that they ask for.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn read() -> Result<Arguments, Failure> {
    let line = line()?;
    Arguments::try_parse_from(&line).map_err(|error| {
        // What is wrong is said of arguments that steer no terminal: a file's name can be among
        // them.
        let printable = line.iter().map(|argument| Printable(&argument.to_string_lossy()).to_string());
        let error = Arguments::try_parse_from(printable).err().unwrap_or(error);
        match error.kind() {
            clap::error::ErrorKind::DisplayHelp
            | clap::error::ErrorKind::DisplayVersion
            | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
            _ => Failure::new(sentence(&error.render().to_string())),
        }
    })
}

/// What Rust says of a number that it cannot read, and what it means to whoever wrote it.
const NUMBERS: [(&str, &str); 4] = [
    ("invalid digit found in string", "expected a whole number, in digits"),
    ("cannot parse integer from empty string", "expected a whole number, in digits"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

/// What clap says over several lines, on one and without the usage.
fn sentence(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut said = String::new();
    for line in lines {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        // What clap says of this holds for names of files alone.
        let begins = line.starts_with("tip: to pass '-");
        let line = if begins { "tip: write --OPTION=VALUE if a value begins with -" } else { line };
        said += match line {
            _ if said.is_empty() => "",
            line if said.ends_with(':') || line.starts_with('[') => " ",
            line if line.starts_with("tip:") => "; ",
            _ => ", ",
        };
        said += line;
    }
    NUMBERS.iter().fold(said, |said, (rust, meant)| said.replace(rust, meant))
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        other => other.map_err(|error: std::num::ParseIntError| error.to_string()),
    }
}

/// What the process was started with, and what a file of options adds.
fn line() -> Result<Vec<OsString>, Failure> {
    let line = std::env::args_os().collect();
    #[cfg(feature = "service")]
    let line = config::expanded(<Arguments as clap::CommandFactory>::command, line)?;
    Ok(line)
}

fn set(text: &str) -> Result<Set, String> {
    text.parse().map_err(|error: hearith_bfv::Error| error.to_string())
}

fn variant(text: &str) -> Result<Variant, String> {
    text.parse().map_err(|_| "standard, djn or subgroup".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    /// The options of a command and of those below it, with their short forms.
    fn forms(command: &clap::Command) -> Vec<(String, Option<char>)> {
        let named = |argument: &clap::Arg| Some((argument.get_long()?.to_owned(), argument.get_short()));
        let own = command.get_arguments().filter_map(named);
        own.chain(command.get_subcommands().flat_map(forms)).collect()
    }

    #[test]
    fn an_option_has_one_short_form_in_all_commands() {
        let forms = forms(&Arguments::command());
        for (long, short) in &forms {
            for (other, of_other) in &forms {
                assert!(
                    long != other || short == of_other,
                    "--{long} is {short:?} in one command, {of_other:?} in another"
                );
                assert!(short.is_none() || short != of_other || long == other, "{short:?} is --{long} and --{other}");
            }
        }
        assert!(forms.contains(&("key".to_owned(), Some('k'))));
    }

    #[test]
    fn keys_are_shared_by_some_of_many() {
        assert_eq!("3/5".parse(), Ok(Sharing { needed: 3, trustees: 5 }));
        for text in ["", "3", "3/", "/5", "0/5", "6/5", "1/21", "3/5/7", "-1/5", "a/b"] {
            assert!(text.parse::<Sharing>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_arguments_panic(words in proptest::collection::vec("[a-z0-9=,./-]{0,12}", 0..8)) {
            let _ = Arguments::try_parse_from(std::iter::once("hearith".to_owned()).chain(words));
        }
    }
}
