//! The arguments of the command line.

#[cfg(feature = "service")]
mod config;
mod csv;
#[cfg(feature = "dghv")]
mod dghv;
#[cfg(feature = "election")]
mod election;
mod keys;
mod list;
#[cfg(all(test, feature = "dghv", feature = "election", feature = "service"))]
mod reference;
mod rns;
#[cfg(feature = "service")]
mod serve;
mod tables;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::failure::CliError;
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
pub use keys::{Key, KeyFiles, Keygen, Scheme, Sharing};
#[cfg(feature = "distributed")]
pub use keys::{Meet, Peer, PeerKey};
pub use list::{Columns, List, Name, Setting, all};
pub use rns::{Convert, Primes, Rns, Search};
#[cfg(feature = "service")]
pub use serve::{Serve, ServeLimits};
pub use tables::{
    Combine, Decrypt, DecryptShare, Describe, Encrypt, Export, Format, Import, Inspect, Prove, ProveDecryption, Remote,
    Signers, Sum, Verify, VerifyDecryption,
};

/// Maximum number of threads: more than any machine has cores, and few enough to start quickly.
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
    /// Engine or device (see `hearith engines`) [default: HEARITH_ENGINE or fastest]
    #[arg(long, global = true, value_name = "NAME")]
    pub engine: Option<String>,
    /// Let a GPU compute large batches of columns if no engine is named
    #[arg(long, global = true)]
    pub allow_card: bool,
    /// Compute on this many cores instead of all, at most 1024
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    pub threads: Option<u16>,
    /// Report in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Report only errors and warnings
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Allow an insecure key: below 2048 bits, or with close primes
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

/// Whether the arguments request JSON, even if others are invalid.
pub(crate) fn ask_for_json() -> bool {
    std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Reads the arguments of the process. If they request help, prints it and ends the process.
///
/// # Errors
/// The arguments are invalid.
pub(crate) fn read() -> Result<Arguments, CliError> {
    let line = line()?;
    Arguments::try_parse_from(&line).map_err(|error| {
        // The error message shows escaped arguments, since a file name may contain characters that
        // control the terminal.
        let printable = line.iter().map(|argument| Printable(&argument.to_string_lossy()).to_string());
        let error = Arguments::try_parse_from(printable).err().unwrap_or(error);
        match error.kind() {
            clap::error::ErrorKind::DisplayHelp
            | clap::error::ErrorKind::DisplayVersion
            | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
            _ => CliError::new(sentence(&error.render().to_string())),
        }
    })
}

/// Rust's messages for invalid numbers, and their replacements for users.
const NUMBERS: [(&str, &str); 4] = [
    ("invalid digit found in string", "expected a whole number, in digits"),
    ("cannot parse integer from empty string", "expected a whole number, in digits"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

/// Joins clap's message, without the usage, into one line.
fn sentence(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut said = String::new();
    for line in lines {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        // clap's original tip is correct only for file names.
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

/// The process's arguments, and those that a file of options adds.
fn line() -> Result<Vec<OsString>, CliError> {
    let line = std::env::args_os().collect();
    #[cfg(feature = "service")]
    let line = config::expanded(<Arguments as clap::CommandFactory>::command, line)?;
    Ok(line)
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

    /// The options of a command and its subcommands, with their short forms.
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

    proptest! {
        #[test]
        fn no_arguments_panic(words in proptest::collection::vec("[a-z0-9=,./-]{0,12}", 0..8)) {
            let _ = Arguments::try_parse_from(std::iter::once("hearith".to_owned()).chain(words));
        }
    }
}
