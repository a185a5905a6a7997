//! `hearith serve`, and the commands that let it compute: the same results as without, and an end in good order.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Place, Run, STAFF};

/// A service that runs in the background.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(place: &Place, line: &str) -> Self {
        let line = format!("serve --listen 127.0.0.1:0 --json {line}");
        let mut child = place.command(line.split_whitespace()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let log: serde_json::Value = serde_json::from_str(&line).ok()?;
            Some(log["address"].as_str()?.to_owned())
        });
        // Somebody must read what it logs.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://{}", address.expect("it says where it listens")) }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn end(mut self, name: &str) -> Option<i32> {
        self.signal(name);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn results_are_those_of_this_machine() {
    let place = Place::new();
    place.write("in.csv", STAFF);
    for (keys, pack) in [("keys", "--pack"), ("other", "")] {
        let service = Service::start(&place, &format!("--key {keys}/private.json"));
        let url = &service.url;
        let columns = format!("--column salary,bonus --scale bonus=2 {pack}");
        place.ok(&format!("encrypt --key {keys}/public.json {columns} in.csv --out local.parquet"));
        place.ok(&format!("encrypt --key {keys}/public.json {columns} --remote {url} in.csv --out remote.parquet"));
        for table in ["local", "remote"] {
            place.ok(&format!("sum --key {keys}/public.json --by dept {table}.parquet --out {table}-totals.parquet"));
            let line = format!("sum --key {keys}/public.json --by dept --remote {url} --rerandomise");
            place.ok(&format!("{line} {table}.parquet --out {table}-remote-totals.parquet"));
        }
        let expected = place.ok(&format!("decrypt --key {keys}/private.json local-totals.parquet")).text();
        assert!(expected.contains("lab,"), "{expected}");
        for totals in ["local", "remote", "local-remote", "remote-remote"].map(|name| format!("{name}-totals.parquet"))
        {
            let local = place.ok(&format!("decrypt --key {keys}/private.json {totals}"));
            // The public key will do: the service has the private one.
            let remote = place.ok(&format!("decrypt --key {keys}/public.json --remote {url} {totals}"));
            assert_eq!((local.text(), remote.text()), (expected.clone(), expected.clone()), "{totals}");
            assert!(remote.stderr.contains(&format!("computed at {url}")), "{}", remote.stderr);
        }
        assert_eq!(service.end("-TERM"), Some(0));
    }
}

#[test]
fn what_a_service_refuses_is_one_line() {
    let place = Place::new();
    place.write("in.csv", "x\n1\n");
    place.ok("encrypt --key keys/public.json --column x in.csv --out rows.parquet");
    let service = Service::start(&place, "");
    let url = &service.url;
    place.fails(
        &format!("decrypt --key keys/public.json --remote {url} rows.parquet --out out.csv"),
        &format!("{url}: the service has no private key"),
    );
    place.fails(
        "encrypt --key keys/public.json --column x --remote http://127.0.0.1:1 in.csv --out out.parquet",
        "http://127.0.0.1:1: cannot connect",
    );
    place.fails(
        "encrypt --key keys/public.json --column x --remote http://example.org:80 in.csv --out out.parquet",
        "http://example.org:80: http is for services on this machine",
    );
    place.fails("serve --listen 0.0.0.0:0", "0.0.0.0:0 can be reached from other machines: that takes TLS");
    place.fails("serve --key keys/public.json", "keys/public.json: a public key: decrypting takes the private key");
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn a_service_killed_in_mid_table_is_an_error_and_a_retry_is_right() {
    let place = Place::new();
    let numbers = |numbers: Range<u32>| numbers.map(|number| format!("{number}\n")).collect::<String>();
    let (first, rest) = (format!("x\n{}", numbers(0..20_000)), numbers(20_000..60_000));
    let service = Service::start(&place, "");
    let line = |url: &str, table: &str| {
        format!("encrypt --key keys/public.json --column x --remote {url} {table} --out rows.parquet")
    };
    let mut encrypting = place.command(line(&service.url, "-").split_whitespace());
    let mut encrypting =
        encrypting.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The rest of the table comes when the service is gone: the command cannot end before.
    let mut table = encrypting.stdin.take().unwrap();
    table.write_all(first.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    service.end("-KILL");
    // It may have ended by now.
    let _ = table.write_all(rest.as_bytes());
    drop(table);
    let run = Run::of(encrypting.wait_with_output().unwrap());
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(run.complaints()[0].starts_with("hearith: http://127.0.0.1:"), "{}", run.stderr);
    assert!(!place.file("rows.parquet").exists(), "nothing half-written");

    place.write("in.csv", first + &rest);
    let service = Service::start(&place, "");
    place.ok(&line(&service.url, "in.csv"));
    place.ok("sum --key keys/public.json rows.parquet --out totals.parquet");
    let totals = place.ok("decrypt --key keys/private.json totals.parquet").text();
    assert_eq!(totals, format!("rows,x\n60000,{}\n", 60_000_u64 * 59_999 / 2));
}
