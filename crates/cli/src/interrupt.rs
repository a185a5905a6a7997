//! Ctrl-C and other signals: the process removes unfinished outputs before it ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use rustix::termios::{OptionalActions, Termios, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

/// Outputs under their temporary names, and directories created for them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Held during work that must be finished as a whole or not begun.
static UNINTERRUPTED: Mutex<()> = Mutex::new(());

/// A terminal whose echo is off while a passphrase is typed, with its previous settings.
static SILENCED: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Ends the wait for signals.
static SIGNAL_HANDLE: OnceLock<Handle> = OnceLock::new();

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs handlers for signals and panics.
///
/// - An interrupt cleans up and ends the process with status 128 + signal.
/// - A write beyond a file size limit becomes an ordinary error.
/// - A panic becomes one line and status 2, unless a damaged file caused it: then it becomes that
///   file's error.
pub(crate) fn install() {
    if let Ok(mut signals) = signals() {
        let _ = SIGNAL_HANDLE.set(signals.handle());
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _whole = UNINTERRUPTED.lock().unwrap_or_else(PoisonError::into_inner);
                clean_up_and_exit(128 + signal);
            }
        });
    }
    // A handler instead of the default action makes the write fail, which is then reported.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    std::panic::set_hook(Box::new(|panic| {
        if hearith_columns::guard::is_guarded() {
            return;
        }
        let location = panic.location().map(|location| format!(" at {location}")).unwrap_or_default();
        crate::failure::eprint_line(&format!("internal error{location}: please report it"));
        clean_up_and_exit(2);
    }));
}

/// Returns the signals that ask the process to end, for a command that ends in its own way. From
/// now on they interrupt nothing else.
///
/// # Errors
/// The system does not let the process wait for signals.
#[cfg(any(feature = "election", feature = "service"))]
pub(crate) fn take_over() -> io::Result<Signals> {
    let signals = signals()?;
    if let Some(waiting) = SIGNAL_HANDLE.get() {
        waiting.close();
    }
    Ok(signals)
}

/// Registers the signals. A signal that the process was started to ignore stays ignored: `nohup`
/// does that with SIGHUP, and a shell with the SIGINT of background processes.
fn signals() -> io::Result<Signals> {
    let ignored = ignored_signals();
    Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !ignored(signal)))
}

/// Removes unfinished outputs and ends the process. Locks prevent others from beginning or
/// finishing in the meantime.
fn clean_up_and_exit(status: i32) -> ! {
    restore_echo();
    let unfinished = unfinished();
    // Later outputs lie within earlier directories.
    for path in unfinished.iter().rev() {
        let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
    }
    std::process::exit(status)
}

/// Runs work that no interrupt may divide.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _whole = UNINTERRUPTED.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Remembers a terminal whose echo is off, and its previous settings.
pub(crate) fn remember_silenced(terminal: File, before: Termios) {
    *SILENCED.lock().unwrap_or_else(PoisonError::into_inner) = Some((terminal, before));
}

/// Turns the echo of a silenced terminal on again.
pub(crate) fn restore_echo() {
    if let Some((terminal, before)) = SILENCED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    }
}

/// Begins an unfinished output. `create` creates the file and returns its path.
pub(crate) fn begin<T>(create: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<T> {
    let mut unfinished = unfinished();
    let (made, path) = create()?;
    unfinished.push(path);
    Ok(made)
}

/// Ends an unfinished output. `finish` renames or removes the file at `path`.
pub(crate) fn end<T>(path: &Path, finish: impl FnOnce() -> T) -> T {
    let mut unfinished = unfinished();
    let result = finish();
    unfinished.retain(|other| other != path);
    result
}

/// Returns a test for signals that the process was started to ignore (`nohup` and the like).
/// Ignores none if the system does not report them.
fn ignored_signals() -> impl Fn(i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 == 1
}
