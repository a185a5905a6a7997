//! The options of commands that make and change keys.

#[cfg(feature = "distributed")]
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use hearith_bfv::Set;
use hearith_paillier::Variant;
use hearith_threshold::MAX_TRUSTEES;

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
    /// Scheme: paillier (row by row) or bfv (whole columns)
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
    /// Share a Paillier key: any W of L trustees, at most 20, decrypt; takes minutes
    #[arg(long, value_name = "W/L")]
    pub shares: Option<Sharing>,
    /// Generate a shared key with other trustees: any W of L, 3 to 9, decrypt
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
    /// Replace an existing key: without a copy, data encrypted with it is lost
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

/// The sharing of a private key, `W/L`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The number of trustees needed to decrypt.
    pub needed: u32,
    /// The number of all trustees.
    pub trustees: u32,
}

/// The address of a trustee.
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
        let (number, address) = numbered(text).ok_or("expected N=HOST:PORT, such as 1=trustee.example:7001")?;
        match address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
            true => Ok(Self { number, address: address.to_owned() }),
            false => Err("expected N=HOST:PORT, such as 1=trustee.example:7001".to_owned()),
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
        let (number, file) = numbered(text).ok_or("expected N=FILE, such as 1=one.json")?;
        Ok(Self { number, file: file.into() })
    }
}

/// Splits `N=REST` into a trustee's number and the rest, which must not be empty.
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
            _ => Err(format!("expected W/L, such as 3/5, with 1 <= W <= L <= {MAX_TRUSTEES}")),
        }
    }
}

fn set(text: &str) -> Result<Set, String> {
    text.parse().map_err(|error: hearith_bfv::Error| error.to_string())
}

fn variant(text: &str) -> Result<Variant, String> {
    text.parse().map_err(|_| "expected standard, djn or subgroup".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shared_by_some_of_many() {
        assert_eq!("3/5".parse(), Ok(Sharing { needed: 3, trustees: 5 }));
        for text in ["", "3", "3/", "/5", "0/5", "6/5", "1/21", "3/5/7", "-1/5", "a/b"] {
            assert!(text.parse::<Sharing>().is_err(), "{text}");
        }
    }
}
