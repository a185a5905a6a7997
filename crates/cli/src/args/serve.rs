//! `hearith serve` on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// `hearith serve`.
#[derive(Clone, Debug, Args)]
pub struct Serve {
    /// Read options from a TOML file: `max-clients = 100` for --max-clients 100
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Listening address; any but loopback needs --client-ca
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7300")]
    pub listen: SocketAddr,
    /// Private keys to decrypt with; remote clients need --rights
    #[arg(long, short, value_name = "FILE")]
    pub key: Vec<PathBuf>,
    /// Devices that compute in addition to this CPU (with --engine, instead)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub device: Vec<String>,
    /// The certificate to show clients, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The root of the certificates that clients must show, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// Revoked certificates of clients: lists of the root, in PEM
    #[arg(long, value_name = "FILE", requires = "client_ca")]
    pub client_crl: Option<PathBuf>,
    /// Rights of clients, by the names in their certificates, in JSON
    #[arg(long, value_name = "FILE", requires = "client_ca")]
    pub rights: Option<PathBuf>,
    /// A log of decryptions, each written before its answer is sent
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Address of /metrics, /healthz and /readyz
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Let other machines read the metrics, unencrypted
    #[arg(long, requires = "metrics")]
    pub public_metrics: bool,
    /// A collector on this machine that gets a span for each request (OTLP over gRPC)
    #[arg(long, value_name = "ADDRESS")]
    pub otlp: Option<SocketAddr>,
    /// How much clients may ask for.
    #[command(flatten)]
    pub limits: ServeLimits,
}

/// The limits of `hearith serve`.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct ServeLimits {
    /// Connections
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_clients: u32,
    // Hidden, to limit --help to everyday options. docs/reference/limits.md lists all.
    /// Connections during their handshake
    #[arg(long, hide = true, value_name = "N", default_value_t = 512)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_handshakes: u32,
    /// Seconds that a handshake may take
    #[arg(long, hide = true, value_name = "S", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub handshake_timeout: u32,
    /// Seconds that a connection may have no stream
    #[arg(long, hide = true, value_name = "S", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub idle_timeout: u32,
    /// Seconds after which a connection accepts no further stream
    #[arg(long, hide = true, value_name = "S", default_value_t = 21_600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub max_age: u32,
    /// Seconds that a stream may be silent
    #[arg(long, hide = true, value_name = "S", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub stream_timeout: u32,
    /// Streams, of all clients together
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_streams: u32,
    /// Public keys of clients; the least recently used is removed
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_keys: u32,
    /// KiB of a message
    #[arg(long, value_name = "KIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..=65_536))]
    pub max_message: u32,
    /// MiB of numbers in the queue
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_queue: u32,
    /// MiB of unread answers; then the slowest client is disconnected
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_unread: u32,
    /// Requests that wait for space in the queue
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_waiting: u32,
    /// Seconds that a client may leave an answer unread
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub send_timeout: u32,
    /// Seconds for a batch on a device before it is quarantined
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub device_timeout: u32,
    /// Seconds that a shutdown waits for accepted requests
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub shutdown_timeout: u32,
}
