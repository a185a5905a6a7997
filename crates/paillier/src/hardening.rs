//! What a process can do to keep secrets in its memory to itself.

/// Keeps the memory of this process out of core dumps, and out of reach of debuggers of the same
/// user: for programs that hold private keys, at their start. Returns whether the operating system
/// does so; only Linux is asked (`PR_SET_DUMPABLE`).
///
/// A library must not decide this for the program that it is part of, so nothing here calls it.
/// Processes that are started from this one by executing a program begin without it.
pub fn disable_core_dumps() -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    false
}
