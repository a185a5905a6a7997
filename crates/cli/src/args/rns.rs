//! The options of `hearith rns`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    /// Bits of the integers to represent
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
    /// Moduli, pairwise coprime [default: the special primes that --modulus-bits needs; with --back
    /// those of the Parquet file]
    #[arg(long, value_delimiter = ',', value_name = "Q,...")]
    pub primes: Vec<u64>,
    /// Where the moduli come from otherwise.
    #[command(flatten)]
    pub search: Search,
    /// Write integers in hexadecimal
    #[arg(long, requires = "back")]
    pub hex: bool,
    /// Write integers from -Q/2 to below Q/2, where Q is the product of the moduli, instead of
    /// from 0 to below Q
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
