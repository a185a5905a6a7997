//! The arguments of `hearith election`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hearith_election_server::store::Location;
use hearith_paillier::DEFAULT_BITS;
use hearith_serving::networks::Network;

use super::{Meet, Sharing};

/// `hearith election`.
#[derive(Clone, Debug, Subcommand)]
pub enum Election {
    /// Set up an election: the organiser's and the board's keys, and the contests
    Init(ElectionInit),
    /// Make a trustee's key to sign shares with, before the ceremony, and print its public half
    TrusteeKey(ElectionTrusteeKey),
    /// Make a registrar's key, which signs lists of voters instead of the organiser's, and print
    /// its public half
    RegistrarKey(ElectionTrusteeKey),
    /// Make the key, share it among trustees, and publish the election
    Ceremony(ElectionCeremony),
    /// List voters, and make a credential for each; or replace lost credentials
    Register(ElectionRegister),
    /// Hand out credentials: a file, a letter or an e-mail for each voter
    Deliver(ElectionDeliver),
    /// Make a ballot and cast it; or first make it, then cast or challenge it
    Vote(ElectionVote),
    /// Reveal the content of a prepared ballot instead of casting it: the ballot never counts
    Challenge(ElectionChallenge),
    /// End the vote, and publish the encrypted sums
    Tally(ElectionTally),
    /// Verify the record, then make a trustee's share of the sums' decryption
    DecryptShare(ElectionDecryptShare),
    /// Publish the decryption, and the result
    Finish(ElectionFinish),
    /// Check everything that a published record claims
    Verify(ElectionVerify),
    /// Write a verified result as a table or as a page to print
    Result(ElectionResult),
    /// List a record's events, and compare it with what somebody else was shown
    Audit(ElectionAudit),
    /// Run the board of an election as a server
    Serve(Box<ElectionServe>),
    /// Write the record of a server's store into a folder, or add new entries to the record there
    Backup(ElectionBackup),
    /// Verify a record and put it into an empty store
    Restore(ElectionRestore),
    /// Remove signed heads that go back in time, which a clock set back can cause
    RepairHeads(ElectionRepairHeads),
}

/// A server that holds the election, in place of the organiser's directory.
#[derive(Clone, Debug, Default, Args)]
pub struct AtServer {
    /// The server that holds the election
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// `hearith election serve`.
#[derive(Clone, Debug, Args)]
pub struct ElectionServe {
    /// Where the board is kept: sqlite:PATH or postgres://HOST/DATABASE
    #[arg(long, value_name = "STORE")]
    pub store: Location,
    /// The board's key: board.json of the organiser's directory
    #[arg(long, value_name = "FILE")]
    pub board_key: PathBuf,
    /// Public key, as base64url, of the organiser whose election may begin on an empty store
    #[arg(long, value_name = "KEY")]
    pub organiser: Option<String>,
    /// Listening address; any but loopback needs --tls-cert
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// The certificate to show clients, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Address or network of a proxy that names its clients (repeatable); no other client's header
    /// is used
    #[arg(long = "trusted-proxy", value_name = "ADDRESS", value_delimiter = ',')]
    pub trusted_proxies: Vec<Network>,
    /// The header in which these proxies name clients; they must replace or extend what clients
    /// send in it
    #[arg(long, value_enum, value_name = "HEADER", default_value = "x-forwarded-for", requires = "trusted_proxies")]
    pub proxy_header: NamedIn,
    /// File for the last head, to recognise an older backup; STORE.head if STORE is a file
    #[arg(long, value_name = "FILE")]
    pub last_head: Option<PathBuf>,
    /// The folder of the built pages
    #[arg(long, value_name = "DIR")]
    pub web: Option<PathBuf>,
    /// Other elections, served below /NAME/: TOML with a table for each (`store`, `board_key`,
    /// other options)
    #[arg(long, value_name = "FILE")]
    pub elections: Option<PathBuf>,
    /// Address of /metrics, /healthz and /readyz, on this machine only
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// The file of the audit log; new lines are appended
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// How much clients may ask for.
    #[command(flatten)]
    pub limits: ElectionLimits,
}

/// The header that proxies name clients in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NamedIn {
    /// `X-Forwarded-For`
    XForwardedFor,
    /// `Forwarded` (RFC 7239)
    Forwarded,
}

/// The limits of `hearith election serve`.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct ElectionLimits {
    /// Connections
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_clients: u32,
    /// Connections from one address
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_clients_an_address: u32,
    /// Connections during their handshake
    #[arg(long, hide = true, value_name = "N", default_value_t = 512)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_handshakes: u32,
    /// Requests per second from one address; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub max_rate: u32,
    /// KiB of a request
    #[arg(long, value_name = "KIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(4..=8192))]
    pub max_body: u32,
    /// Entries that wait to be verified or written
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_waiting: u32,
    /// Ballots and challenges of one voter in a day; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub max_ballots: u32,
    /// Ballots of one voter, or shares of one trustee, with wrong proofs in a minute
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_bad_ballots: u32,
    /// Seconds for a request's head, and again for its body
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub request_timeout: u32,
    /// Seconds that an entry waits for a store that fails
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub store_timeout: u32,
    /// Seconds that a shutdown waits for accepted requests
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub shutdown_timeout: u32,
}

/// `hearith election backup`.
#[derive(Clone, Debug, Args)]
pub struct ElectionBackup {
    /// Where the board is kept
    #[arg(long, value_name = "STORE")]
    pub store: Location,
    /// The folder of the record
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
}

/// `hearith election restore`.
#[derive(Clone, Debug, Args)]
pub struct ElectionRestore {
    /// Where the board will be kept
    #[arg(long, value_name = "STORE")]
    pub store: Location,
    /// The record
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
}

/// `hearith election repair-heads`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("storage").required(true).args(["record", "store"]))]
pub struct ElectionRepairHeads {
    /// The folder of the record
    #[arg(value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// A server's store, while no server runs over it
    #[arg(long, value_name = "STORE")]
    pub store: Option<Location>,
    /// The board's key: board.json of the organiser's directory
    #[arg(long, value_name = "FILE")]
    pub board_key: PathBuf,
}

/// `hearith election init`.
#[derive(Clone, Debug, Args)]
pub struct ElectionInit {
    /// Name of the election
    #[arg(long)]
    pub title: String,
    /// The contests: a JSON list with title, candidates and method of each
    #[arg(long, value_name = "FILE")]
    pub contests: PathBuf,
    /// Voters may vote again: the last ballot counts
    #[arg(long)]
    pub revoting: bool,
    /// Information for voters: a text file of at most 4000 bytes
    #[arg(long, value_name = "FILE")]
    pub about: Option<PathBuf>,
    /// When voting begins, such as 2026-11-20T08:00:00Z; only the board can open it
    #[arg(long, value_name = "TIME")]
    pub opens: Option<String>,
    /// When voting ends: the board closes it then; nobody can close it earlier
    #[arg(long, value_name = "TIME")]
    pub closes: Option<String>,
    /// Voters may be added, and lost credentials replaced, during the vote; everybody sees which
    #[arg(long)]
    pub late: bool,
    /// A trial, whose result is not binding: all pages say so
    #[arg(long)]
    pub trial: bool,
    /// Public key, from `registrar-key`, of the registrar who lists voters instead of the organiser
    #[arg(long, value_name = "KEY")]
    pub registrar: Option<String>,
    /// Directory of the election, only for its organiser; created if missing
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
}

/// `hearith election trustee-key` and `registrar-key`.
#[derive(Clone, Debug, Args)]
pub struct ElectionTrusteeKey {
    /// File for the secret half, which stays where it is made
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// `hearith election ceremony`.
#[derive(Clone, Debug, Args)]
pub struct ElectionCeremony {
    /// The organiser's directory; none for a trustee with --distributed
    #[arg(value_name = "DIR", required_unless_present = "distributed")]
    pub directory: Option<PathBuf>,
    /// Size of the key: 2048 or more, an even number up to 8192
    #[arg(long, default_value_t = DEFAULT_BITS)]
    pub bits: u32,
    /// Any W of L trustees, at most 20, decrypt; without, one holder decrypts alone
    #[arg(long, value_name = "W/L", requires = "trustee_keys")]
    pub shares: Option<Sharing>,
    /// Generate the key with other trustees: any W of L, 3 to 9, decrypt; each runs this on its own
    /// machine
    #[arg(
        long,
        value_name = "W/L",
        requires = "trustee_keys",
        conflicts_with_all = ["shares", "directory", "statements"]
    )]
    pub distributed: Option<Sharing>,
    /// Who and where the trustees are
    #[command(flatten)]
    pub at: Meet,
    /// With --distributed: this trustee's own signing key, which `trustee-key` made
    #[arg(long, value_name = "FILE", requires = "distributed")]
    pub trustee_key: Option<PathBuf>,
    /// Use the key that the trustees generated, with the statement of each, statement-N.json
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "trustee_keys", conflicts_with_all = ["bits", "shares", "out"])]
    pub statements: Vec<PathBuf>,
    /// The public keys from `trustee-key`, one per line, in the trustees' order
    #[arg(long, value_name = "FILE")]
    pub trustee_keys: Option<PathBuf>,
    /// Directory for shares or the private key; created if missing
    #[arg(long, short, value_name = "DIR", required_unless_present = "statements")]
    pub out: Option<PathBuf>,
}

/// `hearith election register`.
#[derive(Clone, Debug, Args)]
pub struct ElectionRegister {
    /// The organiser's directory; for a registrar elsewhere, the server's URL
    #[arg(value_name = "DIR")]
    pub location: PathBuf,
    /// CSV with a column `voter` and optional columns `weight` and `key` (the voter's own Ed25519
    /// key)
    #[arg(value_name = "VOTERS", requires = "out")]
    pub voters: Option<PathBuf>,
    /// File for the new credentials, one per line: hand each voter theirs
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace lost credentials of voters who are listed and have not voted
    #[arg(long, requires = "voters", conflicts_with = "aliases")]
    pub replace: bool,
    /// List voters by random aliases; keep --codes, the only file with the names
    #[arg(long, requires = "codes")]
    pub aliases: bool,
    /// Repeat an earlier attempt with the same --out and its credentials, after a lost answer
    #[arg(long, requires = "out", conflicts_with_all = ["voters", "codes"])]
    pub again: bool,
    /// The registrar's key, if the election has one
    #[arg(long, value_name = "FILE")]
    pub registrar: Option<PathBuf>,
    /// CSV for the same credentials as codes to type into the pages; with --server also as links
    #[arg(long, value_name = "FILE", requires = "voters")]
    pub codes: Option<PathBuf>,
    /// Open the vote: voters can be added afterwards only if the election was set up with --late
    #[arg(long)]
    pub open: bool,
    /// Where the election is held.
    #[command(flatten)]
    pub at: AtServer,
}

/// `hearith election deliver`.
#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("way").required(true).args(["files", "letters", "smtp"]))]
pub struct ElectionDeliver {
    /// The output of `register`: --codes for letters and e-mail, --out for files
    #[arg(value_name = "CREDENTIALS")]
    pub credentials: PathBuf,
    /// Directory for a file with each voter's credential; created if missing
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// PDF for a letter to each voter, with the code, and its link as a QR code
    #[arg(long, value_name = "FILE")]
    pub letters: Option<PathBuf>,
    /// Settings of the mail server, in TOML; each voter gets an e-mail with the code and the link
    #[arg(long, value_name = "FILE", requires = "addresses")]
    pub smtp: Option<PathBuf>,
    /// CSV with the columns `voter` and `email`
    #[arg(long, value_name = "FILE", requires = "smtp")]
    pub addresses: Option<PathBuf>,
    /// File that records who was sent an e-mail: nobody gets two
    #[arg(long, value_name = "FILE", requires = "smtp")]
    pub sent: Option<PathBuf>,
    /// Name of the election, for letters and e-mails
    #[arg(long, default_value = "")]
    pub title: String,
    /// The language of letters and e-mails
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "en")]
    pub language: Language,
    /// Text instead of the usual one, with {voter}, {title}, {code} and {link} filled in
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
    /// A TrueType font to embed in letters, for names that Helvetica (Western European letters)
    /// cannot show
    #[arg(long, value_name = "FILE", requires = "letters")]
    pub font: Option<PathBuf>,
}

/// A language of texts for voters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// English
    En,
    /// German
    De,
    /// French
    Fr,
    /// Spanish
    Es,
}

/// `hearith election result`.
#[derive(Clone, Debug, Args)]
pub struct ElectionResult {
    /// The published record: a folder, or the URL of a server that shows it; it is verified first
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// CSV table: contest, candidate, votes, percent, outcome[, points, ranks]
    #[arg(long, value_name = "FILE", required_unless_present = "pdf")]
    pub csv: Option<PathBuf>,
    /// File for a PDF to print
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
    /// The language of the PDF
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "en")]
    pub language: Language,
    /// A TrueType font to embed in the PDF, for names that Helvetica (Western European letters)
    /// cannot show
    #[arg(long, value_name = "FILE", requires = "pdf")]
    pub font: Option<PathBuf>,
}

/// `hearith election vote`.
#[derive(Clone, Debug, Args)]
pub struct ElectionVote {
    /// The organiser's directory or a server's URL; to --prepare, a record
    #[arg(value_name = "DIR")]
    pub location: PathBuf,
    /// The voter's credential; if the file has several, that of --voter
    #[arg(long, value_name = "FILE")]
    pub credential: PathBuf,
    /// The voter whose credential to use
    #[arg(long, value_name = "ID")]
    pub voter: Option<String>,
    /// A candidate for a contest, repeated for each vote; for ranks, the first rank first
    #[arg(long, value_name = "CONTEST=CANDIDATE", conflicts_with_all = ["cast", "ballots"])]
    pub choose: Vec<String>,
    /// Make the ballot and cast NOTHING: the file contains your choice, so keep it secret
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cast", "ballots"])]
    pub prepare: Option<PathBuf>,
    /// Cast a prepared ballot
    #[arg(long, value_name = "FILE", conflicts_with = "ballots")]
    pub cast: Option<PathBuf>,
    /// Have a ballot machine make the ballot; SETTINGS describe the machine
    #[arg(
        long,
        value_name = "SETTINGS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["prepare", "cast", "ballots"]
    )]
    pub machine: Option<String>,
    /// Have the machine's ballot opened and published instead of cast: it never counts
    #[arg(long, requires = "machine", conflicts_with = "receipt")]
    pub challenge: bool,
    /// Cast ballots of many voters: CSV with a column `voter` and one per contest, candidates
    /// separated by `;`
    #[arg(long, value_name = "FILE", conflicts_with = "voter")]
    pub ballots: Option<PathBuf>,
    /// File for the board's receipt
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prepare", "ballots"])]
    pub receipt: Option<PathBuf>,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// `hearith election challenge`.
#[derive(Clone, Debug, Args)]
pub struct ElectionChallenge {
    /// The organiser's directory, or a server's URL
    #[arg(value_name = "DIR")]
    pub location: PathBuf,
    /// The ballot, as `vote --prepare` wrote it
    #[arg(value_name = "PREPARED")]
    pub prepared: PathBuf,
    /// The voter's credential; if the file has several, that of the ballot's voter
    #[arg(long, value_name = "FILE")]
    pub credential: PathBuf,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// `hearith election tally`.
#[derive(Clone, Debug, Args)]
pub struct ElectionTally {
    /// The organiser's directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Where the election is held.
    #[command(flatten)]
    pub at: AtServer,
}

/// `hearith election decrypt-share`.
#[derive(Clone, Debug, Args)]
pub struct ElectionDecryptShare {
    /// The published record: a folder, or the URL of a server that shows it
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The trustee's share of the private key, share-N.json
    #[arg(long, value_name = "FILE")]
    pub share: PathBuf,
    /// The trustee's own signing key, which `trustee-key` made
    #[arg(long, value_name = "FILE")]
    pub trustee_key: PathBuf,
    /// Have a ballot machine's tally board count the ballots and make the share; SETTINGS describe
    /// the machine
    #[arg(long, value_name = "SETTINGS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub machine: Option<String>,
    /// The share of the decryption, for the organiser
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
}

/// `hearith election finish`.
#[derive(Clone, Debug, Args)]
pub struct ElectionFinish {
    /// The organiser's directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The trustees' shares from `decrypt-share`, one file each
    #[arg(value_name = "SHARES", conflicts_with = "key")]
    pub shares: Vec<PathBuf>,
    /// The private key of an election whose key is not shared
    #[arg(long, short, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Where the election is held.
    #[command(flatten)]
    pub at: AtServer,
}

/// `hearith election verify`.
#[derive(Clone, Debug, Args)]
pub struct ElectionVerify {
    /// The published record: a folder, or the URL of a server that shows it
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Root of the server's certificate, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// `hearith election audit`.
#[derive(Clone, Debug, Args)]
pub struct ElectionAudit {
    /// The published record: a folder, or the URL of a server that shows it
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Another copy of the record: both must be equal, but one may have more entries at the end
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
    /// Root of the servers' certificates, in PEM, if the system does not have it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Heads that somebody was shown, one per line
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
    /// A voter's receipt
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// A ballot's tracker
    #[arg(long)]
    pub tracker: Option<String>,
    /// List who voted and who did not
    #[arg(long)]
    pub voters: bool,
}
