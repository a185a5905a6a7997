//! Services that run during tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::TestDir;

/// A service that runs in the background.
pub struct Service {
    child: Child,
    pub address: String,
    pub metrics: Option<String>,
    pub url: String,
}

impl Service {
    pub fn start(dir: &TestDir, line: &str) -> Self {
        Self::of(dir, &format!("serve {line}"))
    }

    /// Starts any command that listens.
    pub fn of(dir: &TestDir, line: &str) -> Self {
        let line = format!("{line} --listen 127.0.0.1:0 --json");
        let mut child = dir.command(line.split_whitespace()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Warnings about certificates may come first.
        let listening = |line: &str| serde_json::from_str::<Value>(line).ok().filter(|log| log["address"].is_string());
        let log = lines.find_map(|line| listening(&line.unwrap())).expect("it logs");
        // The log must be read, or the pipe would fill up.
        std::thread::spawn(move || lines.for_each(drop));
        let address = log["address"].as_str().expect("it says where it listens").to_owned();
        let metrics = log["metrics"].as_str().map(str::to_owned);
        Self { child, url: format!("http://{address}"), address, metrics }
    }

    /// Wraps a process that was started elsewhere and listens on an address.
    pub fn running(child: Child, address: &str) -> Self {
        Self { child, url: format!("http://{address}"), address: address.to_owned(), metrics: None }
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn end(mut self, name: &str) -> Option<i32> {
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

/// A proxy between a service and its clients. It drops what clients send to the board and answers
/// with another voter's receipt.
pub struct LyingProxy;

impl LyingProxy {
    /// Starts a proxy for a service and returns its URL. `shown` is the tracker of a ballot to show
    /// instead of any other.
    pub fn start(service: &str, receipt: String, shown: Option<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, service) = (format!("http://{}", listener.local_addr().unwrap()), service.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client may disconnect before the answer.
                let _ = Self::answer(stream.unwrap(), &service, &receipt, shown.as_deref());
            }
        });
        url
    }

    fn answer(mut stream: TcpStream, service: &str, receipt: &str, shown: Option<&str>) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first)?;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            match header.trim().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", bytes)) => length = bytes.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        if first.starts_with("POST") {
            let (status, kind) = ("201 Created", "application/json");
            let size = receipt.len();
            return write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n{receipt}"
            );
        }
        if let Some(shown) = shown.filter(|_| path.starts_with("/api/ballots/")) {
            path = format!("/api/ballots/{shown}");
        }
        let mut there = TcpStream::connect(service)?;
        write!(there, "GET {path} HTTP/1.1\r\nHost: {service}\r\nConnection: close\r\n\r\n")?;
        std::io::copy(&mut there, &mut stream).map(|_| ())
    }
}

/// A proxy between a service and its clients. It loses the service's answers to what clients send,
/// or the requests themselves.
pub struct LosingProxy;

impl LosingProxy {
    /// Starts a proxy for a service and returns its URL. `delivers` says whether requests reach the
    /// service.
    pub fn start(service: &str, delivers: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, service) = (format!("http://{}", listener.local_addr().unwrap()), service.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = Self::answer(stream.unwrap(), &service, delivers);
            }
        });
        url
    }

    fn answer(mut stream: TcpStream, service: &str, delivers: bool) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        for line in head.to_ascii_lowercase().lines() {
            if let Some(bytes) = line.strip_prefix("content-length: ") {
                length = bytes.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let sends = head.starts_with("POST");
        if sends && !delivers {
            return Ok(());
        }
        let mut there = TcpStream::connect(service)?;
        // One request per connection, whatever the client asks for.
        let lines = head.trim_end().lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
        let lines: Vec<&str> = lines.collect();
        write!(there, "{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"))?;
        there.write_all(&body)?;
        let mut answer = Vec::new();
        there.read_to_end(&mut answer)?;
        if sends { Ok(()) } else { stream.write_all(&answer) }
    }
}

/// A minimal mail server on this machine (RFC 5321) that stores its mail.
pub struct MailServer {
    pub port: u16,
    taken: Arc<Mutex<Vec<String>>>,
    refuses: Arc<AtomicBool>,
}

impl MailServer {
    /// Starts a server that permanently rejects an address.
    pub fn start(refused: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (taken, refuses) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(AtomicBool::new(true)));
        let (kept, strict) = (taken.clone(), refuses.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let refused = strict.load(Ordering::SeqCst).then_some(refused);
                let _ = Self::answer(stream.unwrap(), &kept, refused);
            }
        });
        MailServer { port, taken, refuses }
    }

    /// From now on accepts all addresses.
    pub fn relent(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    /// The received mail: each address on its own line, then the e-mail.
    pub fn taken(&self) -> Vec<String> {
        self.taken.lock().unwrap().clone()
    }

    fn answer(mut stream: TcpStream, taken: &Mutex<Vec<String>>, refused: Option<&str>) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut mail = String::new();
        stream.write_all(b"220 here\r\n")?;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let word = line.get(..4).unwrap_or_default().to_ascii_uppercase();
            let answer = match word.as_str() {
                "EHLO" | "MAIL" | "RSET" | "NOOP" => "250 yes",
                "RCPT" => {
                    let address = line.split(['<', '>']).nth(1).unwrap_or_default();
                    mail = format!("{address}\n");
                    if refused == Some(address) { "550 nobody here" } else { "250 yes" }
                }
                "DATA" => {
                    stream.write_all(b"354 go on\r\n")?;
                    loop {
                        let mut line = String::new();
                        reader.read_line(&mut line)?;
                        if line == ".\r\n" {
                            break;
                        }
                        mail.push_str(&line);
                    }
                    taken.lock().unwrap().push(mail.clone());
                    "250 kept"
                }
                "QUIT" => {
                    stream.write_all(b"221 bye\r\n")?;
                    return Ok(());
                }
                _ => "502 no",
            };
            stream.write_all(format!("{answer}\r\n").as_bytes())?;
        }
    }
}

/// The metrics that a service shows over HTTP.
pub fn shown(address: &str) -> String {
    page(address, "/metrics")
}

/// A page that a service shows to operators over HTTP.
pub fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}
