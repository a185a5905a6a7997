//! `hearith election serve`, `backup`, `restore` and `repair-heads`.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hearith_election::{Folder, KeyRole, Record, Source, canonical};
use hearith_election_server::backup;
use hearith_election_server::clients::{Proxies, ProxyHeader};
use hearith_election_server::limits::Limits;
use hearith_election_server::server::{Another, Options, Server};
use hearith_election_server::store::{Location, Store};
use hearith_election_server::tls::Tls;
use serde::Deserialize;

use super::organiser_dir::{of, record_folder, secret_key, text};
use crate::args::{ElectionBackup, ElectionLimits, ElectionRepairHeads, ElectionRestore, ElectionServe, NamedIn};
use crate::engines::{print, print_json};
use crate::failure::{CliError, name};
use crate::input::pem;
use crate::interrupt;
use crate::log;
use crate::progress::{Length, Progress};
use crate::serving;
use crate::session::Session;

/// Serves until told to stop, then finishes the accepted requests.
pub(super) fn serve(session: &Session, command: &ElectionServe) -> Result<(), CliError> {
    let organiser = command.organiser.as_deref().map(|key| {
        let key = canonical::parse("a public key", &canonical::to_text(&key));
        key.map_err(|_| CliError::new("--organiser: not a public key in base64url"))
    });
    let options = Options {
        store: command.store.clone(),
        listen: command.listen,
        metrics: command.metrics,
        tls: tls(command)?,
        proxies: proxies(command),
        last_head: command.last_head.clone(),
        board: secret_key(&command.board_key, KeyRole::Board)?,
        organiser: organiser.transpose()?,
        pages: command.web.clone(),
        audit: command.audit.clone(),
        policy: session.policy,
        engine: session.engine,
        limits: limits(&command.limits),
        others: command.elections.as_deref().map(others).transpose()?.unwrap_or_default(),
    };
    let lines = log::start(session)?;
    let signals = interrupt::take_over().map_err(|error| CliError::because("cannot wait for signals", error))?;
    let server = Server::start(options).map_err(CliError::new)?;
    let (address, entries) = (server.address(), server.size());
    match server.metrics_address() {
        None => tracing::info!(%address, store = %command.store, entries, "listening"),
        Some(metrics) => tracing::info!(%address, store = %command.store, entries, %metrics, "listening"),
    }
    let reload = || {
        let tls = tls(command).map_err(|failure| failure.to_string());
        let Some(tls) = tls.transpose() else { return false };
        serving::reloaded(
            tls.and_then(|tls| server.replace_tls(&tls).map_err(|error| CliError::new(error).to_string())),
        );
        true
    };
    serving::wait(signals, reload);
    log::end(&lines, server.stop())
}

/// Another election in a file. Paths are interpreted like those of options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    store: String,
    board_key: PathBuf,
    organiser: Option<String>,
    last_head: Option<PathBuf>,
    audit: Option<PathBuf>,
}

/// Reads the elections of a file, by name.
fn others(path: &Path) -> Result<Vec<Another>, CliError> {
    let table: BTreeMap<String, Entry> =
        toml::from_str(&text(path)?).map_err(|error| CliError::at(name(path), error.message()))?;
    let other = |(called, entry): (String, Entry)| -> Result<Another, CliError> {
        let wrong = |what: String| CliError::at(name(path), format!("{called}: {what}"));
        let store = entry.store.parse::<Location>().map_err(|error| wrong(error.to_string()))?;
        let organiser =
            entry.organiser.as_deref().map(|key| canonical::parse("a public key", &canonical::to_text(&key)));
        let organiser =
            organiser.transpose().map_err(|_| wrong("'organiser' is not a public key in base64url".into()))?;
        let board = secret_key(&entry.board_key, KeyRole::Board)?;
        let Entry { last_head, audit, .. } = entry;
        Ok(Another { name: called.clone(), store, last_head, board, organiser, audit })
    };
    table.into_iter().map(other).collect()
}

/// The trusted proxies.
fn proxies(command: &ElectionServe) -> Proxies {
    let header = match command.proxy_header {
        NamedIn::XForwardedFor => ProxyHeader::XForwardedFor,
        NamedIn::Forwarded => ProxyHeader::Forwarded,
    };
    Proxies { networks: command.trusted_proxies.iter().copied().collect(), header }
}

fn tls(command: &ElectionServe) -> Result<Option<Tls>, CliError> {
    let (Some(certificate), Some(key)) = (&command.tls_cert, &command.tls_key) else { return Ok(None) };
    Ok(Some(Tls { certificate: pem(certificate)?, key: pem(key)?, clients: None, revoked: None }))
}

fn limits(limits: &ElectionLimits) -> Limits {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    Limits {
        clients: limits.max_clients as usize,
        clients_an_address: limits.max_clients_an_address as usize,
        handshakes: limits.max_handshakes as usize,
        rate: limits.max_rate,
        ballots: limits.max_ballots,
        bad_ballots: limits.max_bad_ballots,
        body_bytes: (limits.max_body as usize) << 10,
        waiting: limits.max_waiting as usize,
        request_timeout: seconds(limits.request_timeout),
        store_timeout: seconds(limits.store_timeout),
        shutdown_timeout: seconds(limits.shutdown_timeout),
        ..Limits::default()
    }
}

/// Writes the record of a store to a folder.
pub(super) fn backup(session: &Session, command: &ElectionBackup) -> Result<(), CliError> {
    let entries = wait(async {
        let store = Store::open_existing(&command.store).await?;
        let entries = backup::backup(&store, &command.record).await;
        store.close().await;
        entries
    })?;
    print_count(session, "kept", entries)
}

/// Copies a record to an empty store.
pub(super) fn restore(session: &Session, command: &ElectionRestore) -> Result<(), CliError> {
    let source = Folder(record_folder(&command.record)?);
    let progress = Progress::start("verifying", source.bytes().map_or(Length::Unknown, Length::Bytes));
    let entries = wait(async {
        let store = Store::open(&command.store).await?;
        let on_bytes = |bytes| progress.set_bytes(bytes);
        let entries = backup::restore(&store, &source, session.policy, session.engine, &on_bytes).await;
        store.close().await;
        entries
    })?;
    drop(progress);
    print_count(session, "restored", entries)
}

/// Removes heads that go back in time from a record or a store.
pub(super) fn repair_heads(session: &Session, command: &ElectionRepairHeads) -> Result<(), CliError> {
    let board = secret_key(&command.board_key, KeyRole::Board)?;
    let removed = match (&command.record, &command.store) {
        (Some(record), _) => {
            let folder = record_folder(record)?;
            let record = Record::open(&folder, session.policy, session.engine);
            let removed = record.and_then(|mut record| record.repair_heads(&board));
            removed.map_err(|error| of(&folder, error))? as u64
        }
        (None, Some(store)) => wait(async {
            let store = Store::open_existing(store).await?;
            let removed = backup::repair_heads(&store, board, session.policy, session.engine).await;
            store.close().await;
            removed
        })?,
        (None, None) => return Err(CliError::new("a record or --store is missing")),
    };
    match session.json {
        true => print_json(&serde_json::json!({ "removed": removed })),
        false => print(&format!("heads removed: {removed}\n")),
    }
}

fn print_count(session: &Session, what: &str, entries: u64) -> Result<(), CliError> {
    match session.json {
        true => print_json(&serde_json::json!({ what: entries })),
        false => print(&format!("{what}: {entries} entries\n")),
    }
}

/// Runs a store's operation to completion.
fn wait<T>(work: impl Future<Output = Result<T, backup::Error>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::because("cannot start threads", error))?;
    runtime.block_on(work).map_err(CliError::new)
}
