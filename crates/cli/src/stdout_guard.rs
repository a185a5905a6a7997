//! Detects a standard output that was closed before the program began (`>&-`).
//!
//! Rust's runtime opens `/dev/null` instead, so that no file opened later gets the descriptor.
//! Writes to it are lost without an error. The descriptor is therefore checked before the runtime
//! starts.

use std::ffi::c_int;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails like a write if standard output was closed.
pub(crate) fn check_standard_output() -> io::Result<()> {
    /// The operating system's error for a descriptor that is not open.
    const EBADF: i32 = 9;
    match STDOUT_CLOSED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(io::Error::from_raw_os_error(EBADF)),
    }
}

unsafe extern "C" {
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

// SAFETY: the section holds pointers to functions of this type. The loader calls them once, on the
// only thread, before the runtime starts. The function does not need the runtime.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = record_stdout_state;

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
extern "C" fn record_stdout_state() {
    const STANDARD_OUTPUT: c_int = 1;
    const F_GETFD: c_int = 1;
    // SAFETY: reads the flags of a descriptor, takes no further arguments, and changes nothing.
    let flags = unsafe { fcntl(STANDARD_OUTPUT, F_GETFD) };
    STDOUT_CLOSED.store(flags == -1, Ordering::Relaxed);
}
