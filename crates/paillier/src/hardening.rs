//! Process settings that protect secrets in memory.

/// Excludes the memory of this process from core dumps and from debuggers of the same user.
///
/// Programs that hold private keys should call it at their start. Returns whether the setting took
/// effect; only Linux supports it (`PR_SET_DUMPABLE`).
///
/// A library must not decide this for its program, so nothing in this crate calls it. Programs that
/// this process executes start without the setting.
pub fn disable_core_dumps() -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    false
}
