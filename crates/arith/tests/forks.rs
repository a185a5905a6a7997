//! Processes that `Process` distinguishes. Runs without the test harness, whose threads would be
//! missing in a child.

#[cfg(unix)]
fn main() {
    unix::forked_children_are_others();
    #[cfg(target_os = "linux")]
    {
        unix::so_are_children_that_no_handler_sees();
        unix::so_is_one_with_its_parents_id();
    }
    println!("forks: ok");
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod unix {
    use hearith_arith::Process;

    /// Runs a test in a child created by `fork` and waits for it.
    fn in_child(fork: fn() -> libc::pid_t, test: impl FnOnce() -> bool) {
        assert!(passes(fork, test));
    }

    /// Whether a test passes in a child.
    fn passes(fork: fn() -> libc::pid_t, test: impl FnOnce() -> bool) -> bool {
        let child = fork();
        assert!(child >= 0, "{}", std::io::Error::last_os_error());
        if child == 0 {
            // SAFETY: ends the child without the exit handlers of the parent.
            unsafe { libc::_exit(if test() { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status == 0
    }

    fn fork() -> libc::pid_t {
        // SAFETY: this process has one thread.
        unsafe { libc::fork() }
    }

    /// Properties that must hold in a child and in a grandchild.
    fn differs(parent: Process, fork: fn() -> libc::pid_t) {
        in_child(fork, || {
            let child = Process::current();
            let other = child != parent && !parent.is_current() && child.is_current();
            in_child(fork, || ![parent, child].contains(&Process::current()));
            other && child.is_current()
        });
        assert!(parent.is_current());
    }

    pub fn forked_children_are_others() {
        let parent = Process::current();
        assert!(parent.is_current());
        differs(parent, fork);
    }

    #[cfg(target_os = "linux")]
    pub fn so_are_children_that_no_handler_sees() {
        // SAFETY: a child with a copy of the memory, as from `fork`, but without its handlers.
        let clone = || unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } as libc::pid_t;
        differs(Process::current(), clone);
    }

    /// The first process of a namespace and its child in another one: both have ID 1.
    #[cfg(target_os = "linux")]
    pub fn so_is_one_with_its_parents_id() {
        // SAFETY: creates new namespaces for the next children, in a new user namespace if the user
        // lacks the privilege.
        let apart = || unsafe {
            libc::unshare(libc::CLONE_NEWPID) == 0 || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) == 0
        };
        if !hearith_testing::has("namespaces", passes(fork, apart)) {
            return;
        }
        in_child(fork, || {
            apart();
            in_child(fork, || {
                let parent = Process::current();
                apart();
                in_child(fork, || std::process::id() == 1 && !parent.is_current());
                std::process::id() == 1
            });
            true
        });
    }
}
