//! `hearith serve` and the commands that use it: the same results as without a service, and an
//! orderly shutdown.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::common::serving::{Service, page, shown};
use crate::common::{Run, STAFF, TestDir};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer, KeyIdMethod, KeyPair,
    RevokedCertParams, SerialNumber, date_time_ymd,
};
use serde_json::Value;

#[test]
fn results_are_those_of_this_machine() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    for (keys, pack) in [("keys", "--pack"), ("other", "")] {
        let service = Service::start(&dir, &format!("--key {keys}/private.json"));
        let url = &service.url;
        let columns = format!("--column salary,bonus --scale bonus=2 {pack}");
        dir.ok(&format!("encrypt --key {keys}/public.json {columns} in.csv --out local.parquet"));
        dir.ok(&format!("encrypt --key {keys}/public.json {columns} --remote {url} in.csv --out remote.parquet"));
        for table in ["local", "remote"] {
            dir.ok(&format!("sum --key {keys}/public.json --by dept {table}.parquet --out {table}-totals.parquet"));
            let line = format!("sum --key {keys}/public.json --by dept --remote {url} --rerandomise");
            dir.ok(&format!("{line} {table}.parquet --out {table}-remote-totals.parquet"));
        }
        let expected = dir.ok(&format!("decrypt --key {keys}/private.json local-totals.parquet")).text();
        assert!(expected.contains("lab,"), "{expected}");
        for totals in ["local", "remote", "local-remote", "remote-remote"].map(|name| format!("{name}-totals.parquet"))
        {
            let local = dir.ok(&format!("decrypt --key {keys}/private.json {totals}"));
            // The public key suffices, because the service has the private key.
            let remote = dir.ok(&format!("decrypt --key {keys}/public.json --remote {url} {totals}"));
            assert_eq!((local.text(), remote.text()), (expected.clone(), expected.clone()), "{totals}");
            assert!(remote.stderr.contains(&format!("computed at {url}")), "{}", remote.stderr);
        }
        assert_eq!(service.end("-TERM"), Some(0));
    }
}

#[test]
fn what_a_service_refuses_is_one_line() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    dir.ok("encrypt --key keys/public.json --column x in.csv --out rows.parquet");
    let service = Service::start(&dir, "");
    let url = &service.url;
    dir.fails(
        &format!("decrypt --key keys/public.json --remote {url} rows.parquet --out out.csv"),
        &format!("{url}: the service has no private key"),
    );
    dir.fails(
        "encrypt --key keys/public.json --column x --remote http://127.0.0.1:1 in.csv --out out.parquet",
        "http://127.0.0.1:1: cannot connect",
    );
    dir.fails(
        "encrypt --key keys/public.json --column x --remote http://example.org:80 in.csv --out out.parquet",
        "http://example.org:80: http is for services on this machine",
    );
    dir.fails("serve --listen 0.0.0.0:0", "0.0.0.0:0 can be reached from other machines: that needs TLS");
    dir.fails("serve --key keys/public.json", "keys/public.json: a public key: decrypting needs the private key");
    assert_eq!(service.end("-TERM"), Some(0));
}

/// Numbers, one per line.
fn lines(numbers: Range<u32>) -> String {
    numbers.map(|number| format!("{number}\n")).collect()
}

/// The command that encrypts a table with a service.
fn encryption(service: &Service, table: &str) -> String {
    format!("encrypt --key keys/public.json --column x --remote {} {table} --out rows.parquet", service.url)
}

/// Starts an encryption by a service. Returns the pipe for its table too.
fn encrypting(dir: &TestDir, service: &Service) -> (Child, ChildStdin) {
    let mut command = dir.command(encryption(service, "-").split_whitespace());
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let table = child.stdin.take().unwrap();
    (child, table)
}

#[test]
fn a_service_killed_in_mid_table_is_an_error_and_a_retry_is_right() {
    let dir = TestDir::new();
    let (first, rest) = (format!("x\n{}", lines(0..20_000)), lines(20_000..60_000));
    let service = Service::start(&dir, "");
    // The rest of the table follows after the service is killed, so the command cannot end before.
    let (encrypting, mut table) = encrypting(&dir, &service);
    table.write_all(first.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    service.end("-KILL");
    // The command may have ended by now.
    let _ = table.write_all(rest.as_bytes());
    drop(table);
    let run = Run::of(encrypting.wait_with_output().unwrap());
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(run.complaints()[0].starts_with("hearith: http://127.0.0.1:"), "{}", run.stderr);
    is_readable(&run.stderr);
    assert!(!dir.file("rows.parquet").exists(), "nothing half-written");

    dir.write("in.csv", first + &rest);
    let service = Service::start(&dir, "");
    dir.ok(&encryption(&service, "in.csv"));
    dir.ok("sum --key keys/public.json rows.parquet --out totals.parquet");
    let totals = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    assert_eq!(totals, format!("rows,x\n60000,{}\n", 60_000_u64 * 59_999 / 2));
}

#[test]
fn a_shutdown_that_has_no_time_says_so() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "--shutdown-timeout 0 --metrics 127.0.0.1:0");
    let metrics = service.metrics.clone().expect("it says where it shows them");
    let (encrypting, mut table) = encrypting(&dir, &service);
    let rows = lines(0..40_000);
    table.write_all(format!("x\n{rows}").as_bytes()).unwrap();
    // The stream stays open, because the table has not ended.
    while shown(&metrics).lines().any(|line| line == "hearith_streams 0") {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(service.end("-TERM"), Some(2));
    drop(table);
    assert_eq!(Run::of(encrypting.wait_with_output().unwrap()).status, Some(2));
    assert!(!dir.file("rows.parquet").exists(), "nothing half-written");
}

/// An authority that signs certificates and writes them into a directory.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Creates an authority with its root in `NAME.pem`.
    fn new(dir: &TestDir, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        dir.write(&format!("{name}.pem"), params.self_signed(&key).unwrap().pem());
        Self { issuer: Issuer::new(params, key) }
    }

    /// Writes a certificate to `NAME.pem`, valid until a year, and its key to `NAME.key`.
    fn sign(&self, dir: &TestDir, name: &str, last_year: i32) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from_slice(name.as_bytes()));
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(last_year, 1, 1));
        dir.write(&format!("{name}.pem"), params.signed_by(&key, &self.issuer).unwrap().pem());
        dir.write(&format!("{name}.key"), key.serialize_pem());
    }

    /// Writes a list that revokes the certificate of a name.
    fn revoke(&self, dir: &TestDir, name: &str, list: &str) {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from_slice(name.as_bytes()),
            revocation_time: date_time_ymd(2020, 1, 2),
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 2),
            next_update: date_time_ymd(4000, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        dir.write(list, params.signed_by(&self.issuer).unwrap().pem().unwrap());
    }
}

#[test]
fn certificates_decide_who_is_served_and_who_is_believed() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n2\n");
    dir.write("nonsense.pem", "nothing");
    let (ours, theirs) = (Authority::new(&dir, "ours"), Authority::new(&dir, "theirs"));
    ours.sign(&dir, "server", 4000);
    ours.sign(&dir, "me", 4000);
    ours.sign(&dir, "late", 2021);
    theirs.sign(&dir, "stranger", 4000);
    let rights = r#"{ "clients": [ { "name": "localhost", "encrypt": true, "aggregate": true, "decrypt": "*" } ] }"#;
    dir.write("rights.json", rights);
    let tls = "--tls-cert server.pem --tls-key server.key --client-ca ours.pem --rights rights.json";
    let service = Service::start(&dir, &format!("--key keys/private.json {tls}"));
    let port = service.address.rsplit(':').next().unwrap().to_owned();
    let url = format!("https://localhost:{port}");
    let encrypt = |options: &str| {
        format!("encrypt --key keys/public.json --column x --remote {url} {options} in.csv --out out.parquet")
    };
    let me = "--ca ours.pem --client-cert me.pem --client-key me.key";
    dir.ok(&encrypt(me));
    dir.ok("sum --key keys/public.json out.parquet --out totals.parquet");
    let decrypted = dir.ok(&format!("decrypt --key keys/public.json --remote {url} {me} totals.parquet"));
    assert_eq!(decrypted.text(), "rows,x\n2,3\n");
    std::fs::remove_file(dir.file("out.parquet")).unwrap();

    for (options, expected) in [
        // Clients without a certificate, or with a stranger's or an expired one, are not served.
        ("--ca ours.pem", &*url),
        ("--ca ours.pem --client-cert stranger.pem --client-key stranger.key", &*url),
        ("--ca ours.pem --client-cert late.pem --client-key late.key", &*url),
        // A service that cannot be verified receives nothing.
        ("--ca theirs.pem --client-cert me.pem --client-key me.key", &*format!("{url}: cannot connect")),
        ("", &*format!("{url}: https needs the root of the service's certificate")),
        ("--ca nonsense.pem", &*url),
        ("--ca missing.pem", "missing.pem: "),
        ("--ca ours.pem --client-cert me.pem --client-key stranger.key", &*url),
    ] {
        dir.fails(&encrypt(options), expected);
        is_readable(&dir.run(&encrypt(options)).stderr);
    }
    // A certificate is not valid for another name, and plain HTTP is rejected.
    let elsewhere = encrypt(me).replace("localhost", "127.0.0.1");
    dir.fails(&elsewhere, "https://127.0.0.1");
    dir.fails(&encrypt("").replace("https", "http"), "http://localhost");
    dir.ok(&encrypt(me));
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn a_service_with_an_expired_certificate_is_not_believed() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    let ours = Authority::new(&dir, "ours");
    ours.sign(&dir, "server", 2021);
    let service = Service::start(&dir, "--tls-cert server.pem --tls-key server.key");
    let url = service.url.replace("http://127.0.0.1", "https://localhost");
    let line =
        format!("encrypt --key keys/public.json --column x --remote {url} --ca ours.pem in.csv --out out.parquet");
    dir.fails(&line, &format!("{url}: cannot connect"));
    assert_eq!(service.end("-TERM"), Some(0));
    // Operators are warned.
    let log = File::create(dir.file("log")).unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", "server.pem", "--tls-key", "server.key"];
    let service = Service::running(dir.command(arguments).stderr(log).spawn().unwrap(), "");
    while !dir.read("log").contains("a certificate has expired") {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(service);
}

#[test]
fn what_a_service_cannot_start_with_is_one_line() {
    let dir = TestDir::new();
    Authority::new(&dir, "ours").sign(&dir, "server", 4000);
    dir.write("nonsense.pem", "nothing");
    let tls = "--tls-cert server.pem --tls-key server.key";
    let reached = "can be reached from other machines:";
    for (options, expected) in [
        ("--listen 0.0.0.0:0", format!("0.0.0.0:0 {reached} that needs TLS")),
        // TLS alone identifies the service to clients, but not clients to the service.
        (&*format!("--listen 0.0.0.0:0 {tls}"), format!("0.0.0.0:0 {reached} that needs TLS and client certificates")),
        ("--listen [::]:0", format!("[::]:0 {reached}")),
        (
            "--metrics 0.0.0.0:0",
            format!("0.0.0.0:0 {reached} metrics are not encrypted, so this needs --public-metrics"),
        ),
        ("--tls-cert missing.pem --tls-key server.key", "missing.pem: ".to_owned()),
        (
            "--tls-cert nonsense.pem --tls-key server.key",
            "the server's certificate: no PEM certificate found".to_owned(),
        ),
        ("--tls-cert server.pem --tls-key nonsense.pem", "the server's key: no PEM private key found".to_owned()),
        (
            &*format!("{tls} --client-ca nonsense.pem"),
            "the roots of the clients' certificates: no PEM certificate found".to_owned(),
        ),
        (&*format!("{tls} --client-ca ours.pem --rights nonsense.pem"), "nonsense.pem: invalid rights: ".to_owned()),
        (&*format!("{tls} --audit missing/audit"), "missing/audit: ".to_owned()),
        ("--key keys/private.json --device mesa", "the engine 'mesa' is not built in: ".to_owned()),
        ("--key keys/private.json --device quantum", "there is no device 'quantum'".to_owned()),
        ("--key missing.json", "missing.json: ".to_owned()),
    ] {
        let line = match options.contains("--listen") {
            true => format!("serve {options}"),
            false => format!("serve --listen 127.0.0.1:0 {options}"),
        };
        dir.fails(&line, &expected);
    }
    let service = Service::start(&dir, "");
    dir.fails(&format!("serve --listen {}", service.address), &format!("cannot listen on {}", service.address));
    // Errors from clap: status 2 and clap's own text.
    for options in
        ["--device mesa", "--tls-cert server.pem", "--client-ca ours.pem", "--max-clients 0", "--shutdown-timeout x"]
    {
        let run = dir.run(&format!("serve --listen 127.0.0.1:0 {options}"));
        assert_eq!(run.status, Some(2), "{options}: {}", run.stderr);
    }
}

#[test]
fn metrics_count_what_was_done() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n2\n3\n");
    let service = Service::start(&dir, "--metrics 127.0.0.1:0");
    let metrics = service.metrics.clone().expect("it says where it shows them");
    let url = &service.url;
    dir.ok(&format!("encrypt --key keys/public.json --column x --remote {url} in.csv --out out.parquet"));
    let text = shown(&metrics);
    for line in [
        "hearith_rows_total{operation=\"encrypt\"} 3",
        "hearith_requests_total{operation=\"encrypt\",outcome=\"ok\"} 1",
        "hearith_keys 1",
        "hearith_set_aside 0",
        "hearith_unread_bytes 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let id = dir.read("keys/public.json");
    let modulus = id.split("\"n\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(!text.contains(modulus), "no key");
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn limits_are_those_that_were_asked_for() {
    let dir = TestDir::new();
    let rows: String = (0..2000).map(|row| format!("{row}\n")).collect();
    dir.write("in.csv", format!("x\n{rows}"));
    // Messages so short that a batch needs many, a queue for a few of them, one key, one client.
    let limits = "--max-message 16 --max-queue 1 --max-keys 1 --max-clients 1 --max-streams 1";
    let service = Service::start(&dir, &format!("{limits} --metrics 127.0.0.1:0"));
    let url = &service.url;
    let encrypt =
        |key: &str| format!("encrypt --key {key}/public.json --column x --remote {url} in.csv --out {key}.parquet");
    dir.ok(&encrypt("keys"));
    dir.ok("sum --key keys/public.json keys.parquet --out totals.parquet");
    let totals = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    assert_eq!(totals, "rows,x\n2000,1999000\n");
    dir.ok(&encrypt("other"));
    // The last client's permit is free once the service has noticed that it disconnected.
    let metrics = service.metrics.as_ref().unwrap();
    while !shown(metrics).lines().any(|line| line == "hearith_clients 0") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let held = http2(&service.address);
    dir.fails(&encrypt("keys").replace("keys.parquet", "again.parquet"), &format!("{url}: 1 clients are connected"));
    drop(held);
    assert_eq!(service.end("-TERM"), Some(0));
}

/// A connection whose handshake is done, and that sends no requests.
fn http2(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
    // Reads the service's settings.
    stream.read_exact(&mut [0; 9]).unwrap();
    stream
}

/// A port that was free a moment ago, for a service that cannot report its address.
fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Starts a service with a faulty log, and waits until it listens.
fn with_log(dir: &TestDir, log: impl Into<Stdio>) -> Service {
    let address = free_address();
    let mut command = dir.command(["serve", "--listen", &address]);
    let child = command.stderr(log).spawn().unwrap();
    let service = Service::running(child, &address);
    while TcpStream::connect(&address).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    service
}

/// Causes log lines: each connection speaks another protocol.
fn cause_lines(address: &str, count: usize) {
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"nonsense").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[test]
fn whatever_happens_to_the_log_the_service_goes_on_and_ends() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n2\n");
    let serves = |service: Service, name: &str| {
        cause_lines(&service.address, 30);
        let line = format!("encrypt --key keys/public.json --column x --remote {}", service.url);
        dir.ok(&format!("{line} in.csv --out {name}.parquet"));
        assert_eq!(service.end("-TERM"), Some(0), "{name}");
    };
    // A full disk.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    serves(with_log(&dir, full), "full");
    // A pipe whose reader is gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    serves(with_log(&dir, writer), "closed");
    // A full pipe that nobody reads.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let service = with_log(&dir, writer);
    let (told, filled) = std::sync::mpsc::channel();
    // A thread fills it, and stays blocked.
    std::thread::spawn(move || while filler.write_all(b"x").is_ok() && told.send(()).is_ok() {});
    while filled.recv_timeout(Duration::from_millis(200)).is_ok() {}
    serves(service, "unread");
    drop(reader);
}

#[test]
fn a_second_signal_ends_a_service_that_has_work() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "--shutdown-timeout 3600");
    let (encrypting, mut table) = encrypting(&dir, &service);
    let rows = lines(0..40_000);
    let writing = std::thread::spawn(move || {
        let _ = table.write_all(format!("x\n{rows}").as_bytes());
        table
    });
    std::thread::sleep(Duration::from_millis(300));
    // Whenever the first signal arrives, the second one follows it.
    service.signal("-TERM");
    std::thread::sleep(Duration::from_millis(100));
    let ended = service.end("-TERM");
    assert!([Some(143), Some(0)].contains(&ended), "{ended:?}");
    drop(writing.join());
    let _ = encrypting.wait_with_output();
}

#[test]
fn certificates_are_read_again_on_sighup() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    let (ours, theirs) = (Authority::new(&dir, "ours"), Authority::new(&dir, "theirs"));
    ours.sign(&dir, "server", 4000);
    let service = Service::start(&dir, "--tls-cert server.pem --tls-key server.key");
    let url = service.url.replace("http://127.0.0.1", "https://localhost");
    let encrypt = |root: &str, out: &str| {
        format!("encrypt --key keys/public.json --column x --remote {url} --ca {root}.pem in.csv --out {out}.parquet")
    };
    dir.ok(&encrypt("ours", "first"));
    // Unusable files leave the service as it was.
    dir.write("server.pem", "nothing");
    service.signal("-HUP");
    dir.ok(&encrypt("ours", "second"));
    theirs.sign(&dir, "server", 4000);
    service.signal("-HUP");
    let served = (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        dir.run(&encrypt("theirs", "third")).status == Some(0)
    });
    assert!(served, "the new certificate is used (where SIGHUP is ignored, as under nohup, it never is)");
    dir.fails(&encrypt("ours", "fourth"), &format!("{url}: cannot connect"));
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn a_revoked_certificate_is_worth_nothing() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    let ours = Authority::new(&dir, "ours");
    for name in ["server", "me", "lost"] {
        ours.sign(&dir, name, 4000);
    }
    ours.revoke(&dir, "lost", "revoked.pem");
    let tls = "--tls-cert server.pem --tls-key server.key --client-ca ours.pem --client-crl revoked.pem";
    let service = Service::start(&dir, tls);
    let url = service.url.replace("http://127.0.0.1", "https://localhost");
    let encrypt = |who: &str| {
        let client = format!("--ca ours.pem --client-cert {who}.pem --client-key {who}.key");
        format!("encrypt --key keys/public.json --column x --remote {url} {client} in.csv --out {who}.parquet")
    };
    dir.ok(&encrypt("me"));
    dir.fails(&encrypt("lost"), &url);
    assert_eq!(service.end("-TERM"), Some(0));
}

/// With 200 descriptors and more connections than that, metrics are still shown, and a client that
/// disconnects makes room.
#[test]
fn connections_do_not_take_the_last_descriptors() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    let (address, metrics) = (free_address(), free_address());
    let program = dir.command(["serve", "--listen", &address, "--metrics", &metrics]);
    let mut limited = Command::new("sh");
    limited.current_dir(dir.path()).args(["-c", "ulimit -n 200; exec \"$0\" \"$@\""]);
    limited.arg(program.get_program()).args(program.get_args()).stderr(Stdio::null());
    program.get_envs().for_each(|(name, value)| {
        value.map(|value| limited.env(name, value));
    });
    let service = Service::running(limited.spawn().unwrap(), &address);
    while TcpStream::connect(&metrics).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(&address).unwrap();
        let _ = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        held.push(stream);
    }
    while !shown(&metrics).lines().any(|line| {
        line.strip_prefix("hearith_turned_away_total ").is_some_and(|count| count.parse::<f64>().unwrap() > 50.0)
    }) {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(held);
    let line = format!("encrypt --key keys/public.json --column x --remote {} in.csv", service.url);
    while dir.run(&format!("{line} --out out.parquet")).status != Some(0) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn operators_see_that_it_is_ready_and_the_service_manager_is_told() {
    let dir = TestDir::new();
    let socket = std::os::unix::net::UnixDatagram::bind(dir.file("notify")).unwrap();
    let (address, metrics) = (free_address(), free_address());
    let mut command = dir.command(["serve", "--listen", &address, "--metrics", &metrics]);
    let child = command.env("NOTIFY_SOCKET", dir.file("notify")).stderr(Stdio::null()).spawn().unwrap();
    let service = Service::running(child, &address);
    let told = || {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    };
    assert_eq!(told(), "READY=1");
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert!(page(&metrics, path).starts_with("HTTP/1.1 200"), "{path}");
    }
    service.signal("-TERM");
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(service.end("-0"), Some(0));
}

/// Errors are for people, so they must not show the program's internal values.
fn is_readable(text: &str) {
    for inner in ["code: ", "MetadataMap", "tonic::", "hyper::", "Error(", "Error {", "Some(", "\\\""] {
        assert!(!text.contains(inner), "{inner}: {text}");
    }
}

/// The unit in docs/how-to/operate.md.
fn unit() -> String {
    let page = include_str!("../../../../docs/how-to/operate.md");
    let (_, unit) = page.split_once("```ini\n").unwrap();
    unit.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_unit_starts_the_service() {
    let dir = TestDir::new();
    let ours = Authority::new(&dir, "clients");
    ours.sign(&dir, "server", 4000);
    std::fs::copy(dir.file("keys/private.json"), dir.file("private.json")).unwrap();
    let unit = unit().replace("\\\n", " ");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/hearith ")).unwrap();
    let folder = dir.path().to_str().unwrap();
    let line = line.replace("${CREDENTIALS_DIRECTORY}", folder).replace("${LOGS_DIRECTORY}", folder);
    dir.write("rights.json", r#"{ "clients": [] }"#);
    let line = line.replace(":7300", ":0").replace(":9300", ":0");
    let socket = std::os::unix::net::UnixDatagram::bind(dir.file("notify")).unwrap();
    let mut command = dir.command(line.split_whitespace());
    let child = command.env("NOTIFY_SOCKET", dir.file("notify")).stderr(Stdio::null()).spawn().unwrap();
    let service = Service::running(child, "");
    let mut told = [0; 64];
    let length = socket.recv(&mut told).unwrap();
    assert_eq!(&told[..length], b"READY=1");
    assert_eq!(service.end("-TERM"), Some(0));
}

/// If systemd is installed, it verifies the unit. Otherwise the unit is only started, above.
#[test]
fn the_unit_is_one() {
    let dir = TestDir::new();
    dir.write("hearith.service", unit().replace("/usr/bin/hearith", "/bin/true"));
    let mut verify = Command::new("systemd-analyze");
    match verify.args(["verify", "--man=no"]).arg(dir.file("hearith.service")).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !text.contains("hearith.service"), "{text}");
        }
        Err(error) => eprintln!("no systemd-analyze: {error}"),
    }
}

/// buildah with the container storage in the test's own directory, without kernel features.
fn buildah(dir: &TestDir) -> Command {
    let mut command = Command::new("buildah");
    storage(dir, &mut command);
    command
}

fn storage(dir: &TestDir, command: &mut Command) {
    command.env("CONTAINERS_STORAGE_CONF", dir.file("storage.conf")).env("BUILDAH_ISOLATION", "chroot");
}

/// The image contains the program and its libraries. It serves with a file of options, as an
/// unprivileged user. Buildah starts containers as root.
#[test]
#[cfg(target_os = "linux")]
fn the_image_serves() {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let works = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let there = root && works("buildah", &["--version"]) && works("unshare", &["--mount", "true"]);
    if !hearith_testing::has("buildah", there) {
        return;
    }
    let dir = TestDir::new();
    let folder = dir.path().to_str().unwrap();
    dir.write(
        "storage.conf",
        format!("[storage]\ndriver = \"vfs\"\ngraphroot = \"{folder}/images\"\nrunroot = \"{folder}/run\"\n"),
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/service_image.sh");
    let mut build = Command::new(script);
    storage(&dir, &mut build);
    build.env("HEARITH_CONTAINER_ENGINE", "buildah").args(["build", "hearith-service", env!("CARGO_BIN_EXE_hearith")]);
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let from = buildah(&dir).args(["from", "hearith-service"]).output().unwrap();
    let container = String::from_utf8(from.stdout).unwrap().trim().to_owned();

    std::fs::create_dir(dir.file("etc")).unwrap();
    std::fs::copy(dir.file("keys/private.json"), dir.file("etc/private.json")).unwrap();
    std::os::unix::fs::chown(dir.file("etc/private.json"), Some(65_532), Some(65_532)).unwrap();
    dir.write(
        "etc/serve.toml",
        "key = \"/etc/hearith/private.json\"\nlisten = \"127.0.0.1:0\"\njson = true\ninsecure-key = true\n",
    );
    let mut run = buildah(&dir);
    run.stdin(Stdio::null()).stdout(Stdio::null());
    run.args(["run", "--volume", &format!("{folder}/etc:/etc/hearith:ro"), &container, "--", "/usr/bin/hearith"]);
    // A killed buildah leaves the program running, so the test ends its process group.
    std::os::unix::process::CommandExt::process_group(&mut run, 0);
    let mut child = run.args(["serve", "--config", "/etc/hearith/serve.toml"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said = String::new();
    let listens = |line: &String| {
        said.push_str(line);
        line.contains("\"listening\"")
    };
    let log = lines.find(listens).unwrap_or_else(|| panic!("it does not listen: {said}"));
    let reading = std::thread::spawn(move || lines.for_each(drop));
    let log: Value = serde_json::from_str(&log).unwrap();
    let group = format!("-{}", child.id());
    let service = Service::running(child, log["address"].as_str().unwrap());

    dir.write("in.csv", STAFF);
    let url = &service.url;
    dir.ok(&format!("encrypt --key keys/public.json --column salary --remote {url} in.csv --out rows.parquet"));
    dir.ok("sum --key keys/public.json rows.parquet --out totals.parquet");
    let local = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    let remote = dir.ok(&format!("decrypt --key keys/public.json --remote {url} totals.parquet")).text();
    assert_eq!(local, remote);
    assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    // Its log ends when it does.
    reading.join().unwrap();
    drop(service);
}

/// Every line has only known fields, with words, counts and the service's own address. It contains
/// nothing that a client sent.
#[test]
fn logs_hold_nothing_of_what_was_computed() {
    const FIELDS: [&str; 12] = [
        "timestamp",
        "level",
        "message",
        "address",
        "metrics",
        "engine",
        "decrypts",
        "operation",
        "reason",
        "row",
        "why",
        "error",
    ];
    let dir = TestDir::new();
    dir.write("in.csv", "x\n748159263\n");
    let log = File::create(dir.file("log")).unwrap();
    let line = "serve --key keys/private.json --listen 127.0.0.1:0 --json";
    let mut server = dir.command(line.split_whitespace()).stderr(log).spawn().unwrap();
    let url = loop {
        let log = dir.read("log");
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        match lines.find(|line| line["address"].is_string()) {
            Some(listening) => break format!("http://{}", listening["address"].as_str().unwrap()),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    for keys in ["keys", "other"] {
        dir.ok(&format!("encrypt --key {keys}/public.json --column x --remote {url} in.csv --out {keys}.parquet"));
    }
    dir.ok(&format!("decrypt --key keys/public.json --remote {url} keys.parquet --out out.csv"));
    dir.fails(
        &format!("decrypt --key other/public.json --remote {url} other.parquet --out other.csv"),
        &format!("{url}: the service has no private key"),
    );
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert!(server.wait().unwrap().success());
    let log = dir.read("log");
    assert!(log.contains("NO_PRIVATE_KEY"), "the refusal is told: {log}");
    // The warning about a small key precedes the log.
    for line in log.lines().filter(|line| !line.contains("INSECURE")) {
        let Value::Object(fields) = serde_json::from_str(line).unwrap() else { panic!("{line}") };
        assert!(fields.keys().all(|name| FIELDS.contains(&name.as_str())), "{line}");
        assert!(!line.contains("748159263"), "{line}");
    }
}
