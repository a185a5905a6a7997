//! Code that serving commands share: signals, and the service manager.

use std::process;
use std::thread;

use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;

/// Tells the service manager that the server is listening, waits until the process is told to end,
/// and reports that too. From then on another signal ends the process at once.
///
/// On SIGHUP, `reload` reloads the files that can be replaced. If it returns `false`, the signal
/// ends the server like the others.
pub(crate) fn wait(mut signals: Signals, mut reload: impl FnMut() -> bool) {
    notify("READY=1");
    for signal in signals.forever() {
        if signal != SIGHUP || !reload() {
            break;
        }
    }
    notify("STOPPING=1");
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            process::exit(128 + signal);
        }
    });
}

/// Logs that certificates and rights were reloaded, or why not.
pub(crate) fn reloaded(result: Result<(), String>) {
    match result {
        Ok(()) => tracing::info!("files reloaded"),
        Err(error) => tracing::error!(error, "a file cannot be used: the previous files stay in use"),
    }
}

/// Sends a state to the service manager, if it asked for it (`Type=notify` of systemd, see
/// sd_notify(3)).
#[cfg(target_os = "linux")]
fn notify(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    let sent = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

#[cfg(not(target_os = "linux"))]
fn notify(_: &str) {}
