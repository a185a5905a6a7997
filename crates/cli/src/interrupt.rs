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

/// Outputs under their temporary names, and directories made for them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Held by what is finished as a whole, or not begun.
static UNDISTURBED: Mutex<()> = Mutex::new(());

/// What echoes again before the process ends: a terminal on which a passphrase is typed.
static SILENCED: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Ends the wait for signals.
static WAITING: OnceLock<Handle> = OnceLock::new();

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes interrupts clean up and end the process with status 128 + signal, a write beyond a file
/// size limit an ordinary error, and a panic one line with status 2
/// (but for those that a damaged file causes, which become its error).
pub(crate) fn install() {
    if let Ok(mut signals) = signals() {
        let _ = WAITING.set(signals.handle());
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _whole = UNDISTURBED.lock().unwrap_or_else(PoisonError::into_inner);
                leave(128 + signal);
            }
        });
    }
    // A handler in place of the default action: the write itself then fails, and is reported.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    std::panic::set_hook(Box::new(|panic| {
        if hearith_columns::guard::is_guarded() {
            return;
        }
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        crate::failure::eprint_line(&format!("internal error{place}: please report it"));
        leave(2);
    }));
}

/// The signals that ask the process to end, for a command that ends in its own way: from now on
/// they interrupt nothing else.
///
/// # Errors
/// The system does not let the process wait for them.
#[cfg(any(feature = "election", feature = "service"))]
pub(crate) fn take_over() -> io::Result<Signals> {
    let signals = signals()?;
    if let Some(waiting) = WAITING.get() {
        waiting.close();
    }
    Ok(signals)
}

/// A signal that the process was started to ignore stays ignored: `nohup` does that with SIGHUP, a
/// shell with the SIGINT of what it starts in the background.
fn signals() -> io::Result<Signals> {
    let ignored = ignored_signals();
    Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !ignored(signal)))
}

/// Removes what is unfinished and ends the process. Nothing can begin or finish meanwhile.
fn leave(status: i32) -> ! {
    echo_again();
    let unfinished = unfinished();
    // What began last lies within what began before it.
    for path in unfinished.iter().rev() {
        let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
    }
    std::process::exit(status)
}

/// Does several things of which an interrupt must not come between two.
pub(crate) fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _whole = UNDISTURBED.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Remembers that a terminal does not echo, and how it did.
pub(crate) fn silenced(terminal: File, before: Termios) {
    *SILENCED.lock().unwrap_or_else(PoisonError::into_inner) = Some((terminal, before));
}

/// Makes a silenced terminal echo again.
pub(crate) fn echo_again() {
    if let Some((terminal, before)) = SILENCED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    }
}

/// Begins an unfinished output: `create` makes the file and says where it is.
pub(crate) fn begin<T>(create: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<T> {
    let mut unfinished = unfinished();
    let (made, path) = create()?;
    unfinished.push(path);
    Ok(made)
}

/// Ends an unfinished output: `finish` renames or removes the file at `path`.
pub(crate) fn end<T>(path: &Path, finish: impl FnOnce() -> T) -> T {
    let mut unfinished = unfinished();
    let result = finish();
    unfinished.retain(|other| other != path);
    result
}

/// Which signals the process was started to ignore (`nohup` and the like); none where the system
/// does not say.
fn ignored_signals() -> impl Fn(i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    move |signal| mask >> (signal - 1) & 1 == 1
}
