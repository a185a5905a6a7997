//! Three trustees that generate an election's key, each in its own process.

use std::net::TcpListener;
use std::process::{Child, Output, Stdio};

use super::TestDir;

/// The trustees' command lines, for a key of `bits` bits. Each writes to its own folder, `secret-1`
/// to `secret-3`. Their signing keys are in `trustees.txt`.
pub fn lines(bits: u32) -> Vec<String> {
    let listeners: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = listeners.iter().map(|one| one.local_addr().unwrap().to_string()).collect();
    drop(listeners);
    let line = |number: usize| {
        let peers: String = (1..number).map(|peer| format!(" --peer {peer}={}", addresses[peer - 1])).collect();
        format!(
            "election ceremony --distributed 2/3 --bits {bits} --trustee {number} --trustee-key trustee-{number}.json \
             --trustee-keys trustees.txt --listen {} --out secret-{number}{peers}",
            addresses[number - 1]
        )
    };
    (1..=3).map(line).collect()
}

/// Runs them concurrently, and expects success.
pub fn run(dir: &TestDir, lines: &[String]) -> Vec<Output> {
    let start = |line: &String| {
        dir.command(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<Child> = lines.iter().map(start).collect();
    let end = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    running.into_iter().map(end).collect()
}
