//! The same tests with a real PostgreSQL server, which restarts during a test and serves two
//! election servers.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hearith_testing::has;
use tempfile::TempDir;

use crate::clocks::{break_and_repair, go_on_after_a_clock_ahead};
use crate::common::{Cast, code};
use crate::load::{Acknowledged, ballots};
use crate::process::Process;

/// A database server with its own directory.
struct Postgres {
    programs: PathBuf,
    place: TempDir,
    port: u16,
}

/// The directory of PostgreSQL's programs, which Debian keeps outside the path.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = debian.map(|version| version.path().join("bin")).chain(std::env::split_paths(&path));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists())
}

impl Postgres {
    fn start() -> Option<Self> {
        let programs = programs();
        if !has("postgres", programs.is_some()) {
            return None;
        }
        let place = tempfile::Builder::new().permissions(permissions()).tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let postgres = Self { programs: programs?, place, port };
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(postgres.place.path()).status().unwrap();
            assert!(owned.success());
        }
        postgres.run("initdb", &["--no-sync", "--auth=trust", "--username=hearith", "--encoding=UTF8"]);
        postgres.control(&["start"]);
        Some(postgres)
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn control(&self, command: &[&str]) {
        let sockets = self.place.path().display();
        let options = format!("--options=-p {} -k {sockets} -c listen_addresses=127.0.0.1", self.port);
        let log = format!("--log={sockets}/log");
        self.run("pg_ctl", &[command, &["--wait", "--silent", &options, &log]].concat());
    }

    /// Runs a program as another user if the tests run as root, because PostgreSQL refuses to run
    /// as root.
    fn run(&self, program: &str, arguments: &[&str]) {
        let program = self.programs.join(program);
        let mut command = match is_root() {
            false => Command::new(program),
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(program);
                command
            }
        };
        let command = command.arg("-D").arg(self.data()).args(arguments).current_dir(self.place.path());
        // Its server would inherit open streams and outlive the command.
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{command:?}");
    }

    fn url(&self) -> String {
        format!("postgres://hearith@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.control(&["stop", "--mode=immediate"]);
    }
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o755)
}

fn begin(cast: &Cast, process: &Process) {
    for notice in cast.beginning() {
        process.client().send(&notice).unwrap();
    }
}

#[test]
fn a_database_that_restarts_loses_nothing() {
    let Some(postgres) = Postgres::start() else { return };
    let cast = Cast::new(300, false);
    let (ballots, acknowledged) = (ballots(&cast), Acknowledged::default());
    let process = Process::start(&cast, &postgres.url(), "");
    begin(&cast, &process);
    let client = process.client();
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| acknowledged.send(&[client], &ballots, 8));
        for (restart, mode) in [(1, "--mode=immediate"), (2, "--mode=fast")] {
            let until = Instant::now() + Duration::from_secs(60);
            while acknowledged.len() < restart * 60 {
                assert!(Instant::now() < until && !sending.is_finished(), "{} acknowledged", acknowledged.len());
                std::thread::sleep(Duration::from_millis(1));
            }
            postgres.control(&["restart", mode]);
        }
        // Senders only notice a delay.
        sending.join().unwrap();
    });
    assert_eq!(acknowledged.len(), ballots.len());
    acknowledged.hold(&cast, &process.client(), &ballots);
    assert!(process.end());
}

#[test]
fn two_servers_are_one_board() {
    let Some(postgres) = Postgres::start() else { return };
    let cast = Cast::new(200, false);
    let (mine, others) = (ballots(&cast), ballots(&cast));
    let processes = [0; 2].map(|_| Process::start(&cast, &postgres.url(), ""));
    begin(&cast, &processes[0]);
    let clients = processes.each_ref().map(Process::client);
    // Both servers get a ballot of each voter at the same time. One of the two counts.
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..4)
            .map(|thread| {
                let (clients, mine, others) = (&clients, &mine, &others);
                scope.spawn(move || {
                    let voters = (thread..mine.len()).step_by(4);
                    let both = |voter: usize| {
                        std::thread::scope(|scope| {
                            let one = scope.spawn(|| clients[0].send(&mine[voter]));
                            let other = clients[1].send(&others[voter]);
                            [one.join().unwrap(), other]
                        })
                    };
                    let taken = |results: [Result<String, _>; 2]| {
                        let (taken, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
                        refused.into_iter().for_each(|one| assert_eq!(code(one), "voted"));
                        taken.len()
                    };
                    voters.map(both).map(taken).collect::<Vec<_>>()
                })
            })
            .collect();
        sending.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(counts, vec![1; 200]);
    let elections = clients.each_ref().map(|client| client.election().unwrap());
    assert!(elections.iter().all(|election| election.voted == 200));
    // Both show the same valid board, and each has the other's ballots.
    let acknowledged = Acknowledged::default();
    std::thread::sleep(Duration::from_millis(2500));
    clients.iter().for_each(|client| acknowledged.hold(&cast, client, &mine));
    let sizes = clients.each_ref().map(|client| client.election().unwrap().size);
    assert_eq!(sizes, [203, 203]);
    // One continues when the other is killed.
    let [first, second] = processes;
    first.kill();
    second.client().send(&cast.challenge(0, 1)).unwrap();
    assert!(second.end());
}

#[test]
fn heads_of_two_servers_with_different_clocks_do_not_go_back() {
    let Some(postgres) = Postgres::start() else { return };
    let cast = Cast::new(4, false);
    let processes = [0; 2].map(|_| Process::start(&cast, &postgres.url(), ""));
    begin(&cast, &processes[0]);
    let location = postgres.url().parse().unwrap();
    go_on_after_a_clock_ahead(&cast, &location, &processes.each_ref().map(Process::client));
    processes.into_iter().for_each(|process| assert!(process.end()));
    break_and_repair(&cast, &location);
}
