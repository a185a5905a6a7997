//! Settings that a process with a private key requests from the operating system, on Linux.

use crate::common::{self, some_keys};
use hearith_paillier::disable_core_dumps;
use rustix::process::{DumpableBehavior, Resource, Rlimit, dumpable_behavior, getrlimit, setrlimit};
use std::process::Command;

/// Set in the child processes that run these tests, because their changes last as long as the
/// process.
const CHILD: &str = "HEARITH_TEST_CHILD";

/// Runs `work` in a separate process.
fn alone(test: &str, work: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return work();
    }
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--exact", test, "--test-threads=1"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// The locked memory in `/proc/self/status`, in KiB.
fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn core_dumps_are_forbidden_when_asked_for() {
    alone("hardening::core_dumps_are_forbidden_when_asked_for", || {
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
        assert!(disable_core_dumps());
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    });
}

#[test]
fn a_private_key_lies_in_locked_memory_while_it_lives() {
    alone("hardening::a_private_key_lies_in_locked_memory_while_it_lives", || {
        let before = locked_kib();
        let key = common::key(512, hearith_paillier::Variant::Standard, hearith_paillier::Engine::best());
        // With a lower limit, the remaining capacity may not be enough.
        if getrlimit(Resource::Memlock).current.is_none_or(|limit| limit >= 1 << 20) {
            assert!(key.is_locked_in_memory());
        }
        assert_eq!(key.is_locked_in_memory(), locked_kib() > before, "{} KiB", locked_kib());
        drop(key);
        assert_eq!(locked_kib(), before);
    });
}

#[test]
fn a_key_works_where_nothing_may_be_locked() {
    alone("hardening::a_key_works_where_nothing_may_be_locked", || {
        setrlimit(Resource::Memlock, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
        let key = some_keys().next().unwrap();
        // A privileged process may lock any amount.
        assert_eq!(key.is_locked_in_memory(), locked_kib() > 0);
        let decrypted = common::decrypt_small(key, &common::encrypt(key.public(), &[-7]));
        assert_eq!(decrypted, [-7]);
    });
}
