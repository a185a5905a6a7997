//! Ctrl-C and its kin: unfinished outputs are removed before the process ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Outputs under their temporary names.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes interrupts clean up and end the process with status 128 + signal, a write beyond a file
/// size limit an ordinary error, and a panic one line with status 2
/// (but for those that a damaged file causes, which become its error).
///
/// A signal that the process was started to ignore stays ignored: `nohup` does that with SIGHUP, a shell with the SIGINT of
/// what it starts in the background.
pub(crate) fn install() {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP];
    let wanted = wanted.into_iter().filter(|&signal| !ignored(signal));
    if let Ok(mut signals) = Signals::new(wanted) {
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
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

/// Removes what is unfinished and ends the process. Nothing can begin or finish meanwhile.
fn leave(status: i32) -> ! {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(status)
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
