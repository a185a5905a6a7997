//! Servers in separate processes that can be killed. The test program starts itself.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hearith_election::{Bytes, Signer, canonical};
use hearith_election_server::client::Client;
use hearith_election_server::clients::Proxies;
use hearith_election_server::server::{Options, Server};
use hearith_paillier::Engine;
use serde_json::{Value, json};

use crate::common::{Cast, POLICY, wide};

/// The environment variable with the options of the child process.
const CHILD: &str = "HEARITH_ELECTION_TEST_SERVER";

/// A server in another process.
pub struct Process {
    child: Child,
    pub url: String,
}

impl Process {
    /// Starts a server with a store. `shell` runs before the program, to limit its resources.
    pub fn start(cast: &Cast, store: &str, shell: &str) -> Self {
        let told = json!({
            "board": cast.board,
            "organiser": cast.organiser.public(),
            "store_timeout": if shell.is_empty() { 20 } else { 1 },
            "store": store,
        });
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", &format!("{shell} exec \"$0\" --exact process::server --nocapture --quiet")])
            .arg(program)
            .env(CHILD, told.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| line.unwrap().split_once("url ").map(|(_, url)| url.to_owned()));
        // Reads its output so that the pipe does not fill up.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.expect("it says where it listens") }
    }

    pub fn client(&self) -> Client {
        Client::new(&self.url, None).unwrap()
    }

    /// Kills the process like the kernel or an impatient operator.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Shuts the process down in an orderly way.
    pub fn end(mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child process: a server until its input ends. Does nothing when run as a test.
#[test]
fn server() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let told: Value = serde_json::from_str(&told).unwrap();
    let board: Vec<u8> = serde_json::from_value(told["board"].clone()).unwrap();
    let mut limits = wide();
    limits.store_timeout = Duration::from_secs(told["store_timeout"].as_u64().unwrap());
    let options = Options {
        store: told["store"].as_str().unwrap().parse().unwrap(),
        listen: "127.0.0.1:0".parse().unwrap(),
        metrics: None,
        tls: None,
        proxies: Proxies::default(),
        last_head: None,
        board: Signer::from_secret(&board).unwrap(),
        organiser: Some(canonical::from_text::<Bytes>("a key", &told["organiser"].to_string()).unwrap()),
        pages: None,
        audit: None,
        policy: POLICY,
        engine: Engine::best(),
        limits,
        others: Vec::new(),
    };
    let server = Server::start(options).unwrap();
    println!("\nurl http://{}", server.address());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    assert!(server.stop());
}
