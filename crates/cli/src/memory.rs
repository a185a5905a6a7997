//! The memory that the process may still allocate.

use std::fs;
use std::path::Path;

/// Bytes reserved for memory that no command counts: stacks, buffers, the allocator's rounding.
const SPARE: u64 = 32 << 20;

/// The number of bytes that the process may still allocate.
///
/// This is the minimum of the machine's free memory, what the process's control groups allow, and
/// the rest of its address space (`ulimit -v`). `None` if the system reports none of these.
pub(crate) fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = of_machine(&read("/proc/meminfo"));
    let space = of_space(&read("/proc/self/limits"), &read("/proc/self/status"));
    let groups = of_groups(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup"));
    [machine, space, groups].into_iter().flatten().min().map(|bytes| bytes.saturating_sub(SPARE))
}

/// Available memory from the text of `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    kibibytes(text, "MemAvailable:")
}

/// The unused address space: the limit from `/proc/self/limits` minus the size from
/// `/proc/self/status`.
fn of_space(limits: &str, status: &str) -> Option<u64> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(kibibytes(status, "VmSize:")?))
}

/// What the control groups in `/proc/self/cgroup` and their ancestors still allow (version 2, below
/// `root`).
fn of_groups(root: &Path, text: &str) -> Option<u64> {
    let group = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let number = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let folders = Path::new(group).ancestors().map(|group| root.join(group));
    let left = folders.filter_map(|folder| {
        let most = number(&folder, "memory.max")?;
        // Unmapped file pages are reclaimed before any allocation fails.
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let files = statistics.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok()).unwrap_or(0);
        Some(most.saturating_sub(number(&folder, "memory.current")?.saturating_sub(files)))
    });
    left.min()
}

/// The bytes in a line `name 123 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says() {
        let machine = "MemTotal:       24 kB\nMemFree: 1 kB\nMemAvailable:   22 kB\n";
        assert_eq!((of_machine(machine), of_machine("")), (Some(22 << 10), None));
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         1048576              unlimited            bytes\n";
        let status = "Name:\thearith\nVmPeak:\t 100 kB\nVmSize:\t      24 kB\n";
        assert_eq!(of_space(limits, status), Some(1000 << 10));
        assert_eq!(of_space(limits, "VmSize: 2000 kB\n"), Some(0));
        assert_eq!(of_space(&limits.replace("1048576", "unlimited"), status), None);
        assert_eq!(of_space("", status), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        assert_eq!(of_groups(root.path(), "0::/a/b\n"), None);
        let outer = root.path().join("a");
        fs::write(outer.join("memory.max"), "1000\n").unwrap();
        fs::write(outer.join("memory.current"), "300\n").unwrap();
        fs::write(outer.join("memory.stat"), "anon 200\ninactive_file 50\n").unwrap();
        assert_eq!(of_groups(root.path(), "0::/a/b\n"), Some(750));
        fs::write(inner.join("memory.max"), "400\n").unwrap();
        fs::write(inner.join("memory.current"), "500\n").unwrap();
        assert_eq!(of_groups(root.path(), "1:memory:/x\n0::/a/b\n"), Some(0));
        assert_eq!(of_groups(root.path(), ""), None);
    }

    #[test]
    fn something_is_available_here() {
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
