//! The arguments of `hearith dghv`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::dghv::integers::Width;

/// `hearith dghv`.
#[derive(Clone, Debug, Args)]
pub struct Dghv {
    /// What to do.
    #[command(subcommand)]
    pub command: DghvCommand,
    /// Accept the published parameters, which are BROKEN and protect nothing
    #[arg(long, global = true)]
    pub insecure_historical_parameters: bool,
}

/// The commands of `hearith dghv`.
#[derive(Clone, Debug, Subcommand)]
pub enum DghvCommand {
    /// Make a key: DIR/public.dghv to encrypt and compute with, DIR/private.dghv to decrypt with
    Keygen(DghvKeygen),
    /// Encrypt bits, one per line
    Encrypt(DghvEncrypt),
    /// Add bits row by row, modulo 2 (exclusive or)
    Add(DghvCombine),
    /// Multiply bits row by row (and)
    Multiply(DghvCombine),
    /// Compute a circuit on encrypted bits
    Evaluate(DghvEvaluate),
    /// Move bits down a key's ladder, where they have less noise (modulus switching)
    Switch(DghvSwitch),
    /// Decrypt bits, one per line
    Decrypt(DghvDecrypt),
    /// Describe a key or a file of encrypted bits, and its remaining noise
    Inspect(DghvInspect),
}

/// `hearith dghv keygen`.
#[derive(Clone, Debug, Args)]
pub struct DghvKeygen {
    /// The scheme: cmnt (2011), or cnt (2012), whose public key is far shorter
    #[arg(long, value_name = "NAME")]
    pub scheme: String,
    /// toy, small, medium or large; or a file in the published program's format
    #[arg(long, value_name = "NAME|FILE")]
    pub parameters: String,
    /// Encrypt with coefficients as short as cmnt's, so that fresh cnt ciphertexts can be
    /// multiplied
    #[arg(long)]
    pub short_coefficients: bool,
    /// Omit the key material for recryption: the public key is half as long, circuits are shallow
    #[arg(long)]
    pub without_recryption: bool,
    /// Add a ladder of RUNGS keys with shorter secrets, for deeper circuits
    #[arg(long, value_name = "RUNGS")]
    pub ladder: Option<usize>,
    /// Directory for the two files; created if missing
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace an existing key: without a copy, data encrypted with it is lost
    #[arg(long)]
    pub force: bool,
}

/// `hearith dghv encrypt`.
#[derive(Clone, Debug, Args)]
pub struct DghvEncrypt {
    /// The public key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Bits, one per line, 0 or 1; - for standard input
    #[arg(value_name = "BITS")]
    pub input: PathBuf,
    /// Integers instead of bits.
    #[command(flatten)]
    pub integers: DghvIntegers,
    /// The encrypted bits; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Skip the check of sums from the device that --engine names
    #[arg(long)]
    pub unchecked_device: bool,
}

/// What a line is instead of a bit.
#[derive(Clone, Copy, Debug, Args)]
pub struct DghvIntegers {
    /// Lines are integers of BITS bits, 1 to 64; the lowest bit is encrypted first
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=i64::from(Width::MOST)))]
    width: Option<u8>,
    /// These integers may be negative: two's complement
    #[arg(long, requires = "width")]
    signed: bool,
}

impl DghvIntegers {
    /// The width of the integers, if lines are integers.
    pub(crate) fn width(self) -> Option<Width> {
        self.width.map(|bits| Width::new(bits, self.signed))
    }
}

/// `hearith dghv add` and `hearith dghv multiply`.
#[derive(Clone, Debug, Args)]
pub struct DghvCombine {
    /// The public key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted bits
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// As many encrypted bits
    #[arg(value_name = "B")]
    pub right: PathBuf,
    /// The results; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// `hearith dghv evaluate`.
#[derive(Clone, Debug, Args)]
pub struct DghvEvaluate {
    /// The public key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// The circuit, in Bristol Fashion
    #[arg(long, value_name = "FILE")]
    pub circuit: PathBuf,
    /// Memory to use at most, in MiB [default: what is available]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub memory: Option<u64>,
    /// Encrypted bits, a file for each input value of the circuit, its first wire first
    #[arg(required = true, value_name = "IN")]
    pub input: Vec<PathBuf>,
    /// The encrypted output values, one after the other; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// `hearith dghv switch`.
#[derive(Clone, Debug, Args)]
pub struct DghvSwitch {
    /// The public key, with a ladder
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Target level; 0 is the key's own [default: the next level]
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<usize>,
    /// Encrypted bits
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The same bits at that level; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// `hearith dghv decrypt`.
#[derive(Clone, Debug, Args)]
pub struct DghvDecrypt {
    /// The private key
    #[arg(long, short, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted bits; - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The bits, one per line; - for standard output, which is the default
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Integers instead of bits.
    #[command(flatten)]
    pub integers: DghvIntegers,
}

/// `hearith dghv inspect`.
#[derive(Clone, Debug, Args)]
pub struct DghvInspect {
    /// A key or encrypted bits; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}
