//! The logs of servers.

use std::io;
use std::time::Duration;

use hearith_serving::log::Log;
use tracing_subscriber::filter::LevelFilter;

use crate::failure::CliError;
use crate::session::Session;

/// How long the process waits at its end for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Starts logging to standard error, as text or JSON.
///
/// Logging never blocks or fails, whatever happens to standard error. A panic is logged as an
/// error, without its message.
///
/// # Errors
/// The thread that writes cannot be started.
pub(crate) fn start(session: &Session) -> Result<Log, CliError> {
    let level = if session.is_quiet() { LevelFilter::WARN } else { LevelFilter::INFO };
    let lines = Log::start(io::stderr()).map_err(|error| CliError::because("cannot start threads", error))?;
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_max_level(level).with_target(false);
    // The subscriber prints its own failures directly to standard error, which would panic there.
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
/// The server did not finish the accepted requests.
pub(crate) fn end(lines: &Log, finished: bool) -> Result<(), CliError> {
    if !finished {
        tracing::error!("accepted requests were not finished in time");
    }
    lines.flush_within(LAST_LINES);
    if finished { Ok(()) } else { Err(CliError::Logged) }
}
