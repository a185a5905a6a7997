//! The logs of servers.

use std::io;
use std::time::Duration;

use hearith_serving::log::Log;
use tracing_subscriber::filter::LevelFilter;

use crate::failure::Failure;
use crate::session::Session;

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Logs to standard error: lines for people, or JSON. Whatever happens to standard error, nobody
/// waits for it and nothing fails. A thread that breaks down is an error like others; what it was
/// told stays unsaid.
///
/// # Errors
/// The thread that writes cannot be started.
pub(crate) fn start(session: &Session) -> Result<Log, Failure> {
    let level = if session.is_quiet() { LevelFilter::WARN } else { LevelFilter::INFO };
    let lines = Log::start(io::stderr()).map_err(|error| Failure::because("cannot start threads", error))?;
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_max_level(level).with_target(false);
    // What the subscriber says of its own failures goes to standard error as it is, and would panic
    // there.
    let log = log.log_internal_errors(false);
    match session.json {
        true => log.json().flatten_event(true).init(),
        false => log.init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "internal error: please report it");
    }));
    Ok(lines)
}

/// Logs how the server ended.
///
/// # Errors
/// It did not finish what was accepted.
pub(crate) fn end(lines: &Log, finished: bool) -> Result<(), Failure> {
    if !finished {
        tracing::error!("what was accepted was not finished in time");
    }
    lines.flush_within(LAST_LINES);
    if finished { Ok(()) } else { Err(Failure::Logged) }
}
