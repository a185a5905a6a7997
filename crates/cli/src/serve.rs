//! `hearith serve`.

use std::path::PathBuf;
use std::time::Duration;

use hearith_device::DeviceProvider;
use hearith_paillier::PrivateKey;
use hearith_service::limits::Limits;
use hearith_service::processor::{Computer, Decryptor};
use hearith_service::rights::Rights;
use hearith_service::scheduler::Worker;
use hearith_service::server::{Options, Server, Tls};

use crate::args::{Serve, ServeLimits};
use crate::device::failed;
use crate::failure::{CliError, name};
use crate::input::pem;
use crate::interrupt;
use crate::keys::Key;
use crate::log;
use crate::serving;
use crate::session::Session;

/// Serves until told to stop, then finishes the accepted requests.
pub(crate) fn run(session: &Session, command: &Serve) -> Result<(), CliError> {
    let keys = command.key.iter().map(|path| Key::read_private(session, path)).collect::<Result<Vec<_>, _>>()?;
    let devices = devices(session, command, &keys)?;
    let lines = log::start(session)?;
    let signals = interrupt::take_over().map_err(|error| CliError::because("cannot wait for signals", error))?;
    let options = Options {
        listen: command.listen,
        metrics: command.metrics,
        public_metrics: command.public_metrics,
        collector: command.otlp,
        tls: tls(command)?,
        rights: rights(command)?,
        audit: command.audit.clone(),
        keys,
        policy: session.policy,
        engine: session.engine,
        devices,
        cpu_fallback_only: session.device.is_some(),
        limits: limits(&command.limits),
    };
    let decrypts: Vec<String> = options.keys.iter().map(|key| key.public().id().to_string()).collect();
    let server = Server::start(options).map_err(CliError::new)?;
    let (address, metrics) = (server.address(), server.metrics_address());
    let engine = session.engine_name();
    match metrics {
        None => tracing::info!(%address, engine, decrypts = decrypts.join(","), "listening"),
        Some(metrics) => tracing::info!(%address, engine, decrypts = decrypts.join(","), %metrics, "listening"),
    }
    let reload = || {
        if command.tls_cert.is_none() {
            return false;
        }
        serving::reloaded(read_again(&server, command).map_err(|failure| failure.to_string()));
        true
    };
    serving::wait(signals, reload);
    log::end(&lines, server.stop())
}

/// Reloads certificates, revocation lists and rights.
fn read_again(server: &Server, command: &Serve) -> Result<(), CliError> {
    let (tls, rights) = (tls(command)?, rights(command)?);
    if let Some(tls) = tls {
        server.replace_tls(&tls).map_err(CliError::new)?;
    }
    if let Some(rights) = rights {
        server.replace_rights(rights);
    }
    Ok(())
}

/// Reads the clients' rights, if a file lists them.
fn rights(command: &Serve) -> Result<Option<Rights>, CliError> {
    let read = |path: &PathBuf| Rights::read(&pem(path)?).map_err(|error| CliError::at(name(path), error));
    command.rights.as_ref().map(read).transpose()
}

/// The selected devices.
fn devices(session: &Session, command: &Serve, keys: &[PrivateKey]) -> Result<Vec<Worker>, CliError> {
    let named = command.device.iter().map(|name| {
        let unknown = || CliError::new(format!("there is no device '{name}'{}", session.devices.choice()));
        session.devices.named(name)?.ok_or_else(unknown)
    });
    let providers = session.device.into_iter().map(Ok).chain(named).collect::<Result<Vec<_>, _>>()?;
    let workers = providers.into_iter().map(|provider| workers(provider, keys)).collect::<Result<Vec<_>, _>>()?;
    Ok(workers.into_iter().flatten().collect())
}

/// Creates the workers for a provider's devices: a decrypting one for each private key, and one
/// that computes with the public keys of all clients, as far as the provider supports these.
fn workers(provider: &'static dyn DeviceProvider, keys: &[PrivateKey]) -> Result<Vec<Worker>, CliError> {
    let (system, computer) = (provider.system(), Computer::new(provider));
    if computer.is_none() && provider.decrypts().is_none() {
        return Err(CliError::new(format!("the engine '{}' only {}", system.name, system.does)));
    }
    if computer.is_none() && keys.is_empty() {
        return Err(CliError::new("a device that decrypts needs a private key: pass one with --key"));
    }
    let decryptors = keys.iter().filter_map(|key| Decryptor::load(provider, key));
    let decryptors = decryptors.collect::<Result<Vec<_>, _>>().map_err(|error| failed(provider, error))?;
    let state = provider.state();
    if !state.available {
        return Err(CliError::new(format!("engine {}: it needs {}", system.name, state.requires)));
    }
    Ok(decryptors.into_iter().map(Worker::device).chain(computer.map(Worker::device)).collect())
}

fn tls(command: &Serve) -> Result<Option<Tls>, CliError> {
    let (Some(certificate), Some(key)) = (&command.tls_cert, &command.tls_key) else { return Ok(None) };
    let clients = command.client_ca.as_deref().map(pem).transpose()?;
    let revoked = command.client_crl.as_deref().map(pem).transpose()?;
    Ok(Some(Tls { certificate: pem(certificate)?, key: pem(key)?, clients, revoked }))
}

fn limits(limits: &ServeLimits) -> Limits {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    Limits {
        clients: limits.max_clients as usize,
        handshakes: limits.max_handshakes as usize,
        handshake_timeout: seconds(limits.handshake_timeout),
        streams: limits.max_streams as usize,
        stream_timeout: seconds(limits.stream_timeout),
        idle_timeout: seconds(limits.idle_timeout),
        age: seconds(limits.max_age),
        keys: limits.max_keys as usize,
        message_bytes: (limits.max_message as usize) << 10,
        queue_bytes: (limits.max_queue as usize) << 20,
        unread_bytes: (limits.max_unread as usize) << 20,
        waiting: limits.max_waiting as usize,
        send_timeout: seconds(limits.send_timeout),
        device_timeout: seconds(limits.device_timeout),
        shutdown_timeout: seconds(limits.shutdown_timeout),
    }
}
