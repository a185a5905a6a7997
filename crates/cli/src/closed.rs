//! A standard output that was closed before the program began (`>&-`).
//!
//! Rust's runtime opens `/dev/null` in its place, lest a file that is opened later get the
//! descriptor. Whatever is written there is lost without an error, so the descriptor is looked at
//! before the runtime starts.

use std::ffi::c_int;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if there is no standard output, as a write to it would.
pub(crate) fn check_standard_output() -> io::Result<()> {
    /// What the operating system says of a descriptor that is not open.
    const EBADF: i32 = 9;
    match STDOUT_CLOSED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(io::Error::from_raw_os_error(EBADF)),
    }
}

unsafe extern "C" {
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

// SAFETY: the section holds pointers to functions of this type, which the loader calls once, on the
// only thread, before the runtime starts; the function needs nothing of the runtime.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = record_stdout_state;

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
extern "C" fn record_stdout_state() {
    const STANDARD_OUTPUT: c_int = 1;
    const F_GETFD: c_int = 1;
    // SAFETY: asks for the flags of a descriptor, with no more arguments, and changes nothing.
    let flags = unsafe { fcntl(STANDARD_OUTPUT, F_GETFD) };
    STDOUT_CLOSED.store(flags == -1, Ordering::Relaxed);
}
