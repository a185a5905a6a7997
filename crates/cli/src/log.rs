//! What servers log.

use std::io;

use tracing_subscriber::filter::LevelFilter;

use crate::session::Session;

/// Logs to standard error: lines for people, or JSON. A thread that breaks down is an error like others;
/// what it was told stays unsaid.
pub(crate) fn start(session: &Session) {
    let level = if session.is_quiet() { LevelFilter::WARN } else { LevelFilter::INFO };
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_target(false);
    match session.json {
        true => log.json().flatten_event(true).init(),
        false => log.init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "internal error: please report it");
    }));
}
