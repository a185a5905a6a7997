//! Trustees generate a key together, each in its own process, over the loopback address.

use crate::common::{STAFF, TestDir};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;

/// A directory with a signing key and addresses for each trustee.
struct Trustees {
    dir: TestDir,
    /// The address that each trustee listens on.
    listen: Vec<String>,
    /// The address at which the others reach each trustee.
    reached: Vec<String>,
}

impl Trustees {
    fn new(count: u32) -> Self {
        let dir = TestDir::new();
        (1..=count).for_each(|number| drop(dir.ok(&format!("keygen --signing --out id-{number}"))));
        let listeners: Vec<TcpListener> = (1..=count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let listen: Vec<String> = listeners.iter().map(|one| one.local_addr().unwrap().to_string()).collect();
        Trustees { dir, reached: listen.clone(), listen }
    }

    fn line(&self, number: u32, sharing: &str, more: &str) -> String {
        let mut line = format!(
            "keygen --bits 128 --distributed {sharing} --trustee {number} --identity id-{number}/signing-private.json \
             --listen {} --out key-{number} {more}",
            self.listen[number as usize - 1]
        );
        for (other, address) in (1..).zip(&self.reached).filter(|(other, _)| *other != number) {
            line += &format!(" --peer {other}={address} --peer-key {other}=id-{other}/signing-public.json");
        }
        line
    }

    fn start(&self, number: u32, sharing: &str, more: &str) -> Child {
        let line = self.line(number, sharing, more);
        self.dir.command(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs all trustees, each with additional options. Returns whether each succeeded, and its
    /// messages.
    fn run(&self, sharing: &str, more: impl Fn(u32) -> String) -> Vec<(bool, String)> {
        let numbers = 1..=self.listen.len() as u32;
        let running: Vec<Child> = numbers.map(|number| self.start(number, sharing, &more(number))).collect();
        let end = |child: Child| {
            let output = child.wait_with_output().unwrap();
            (output.status.success(), String::from_utf8(output.stderr).unwrap())
        };
        running.into_iter().map(end).collect()
    }
}

#[test]
fn five_processes_generate_a_key_of_which_any_three_decrypt() {
    let trustees = Trustees::new(5);
    for (number, (succeeded, said)) in (1..).zip(trustees.run("3/5", |_| String::new())) {
        assert!(succeeded, "{said}");
        // Every trustee sees the keys of all.
        for other in 1..=5 {
            let own = if number == other { ", this one" } else { "" };
            assert!(said.contains(&format!("hearith: trustee {other}{own}: key ")), "{said}");
        }
    }
    let dir = &trustees.dir;
    let public = dir.read("key-1/public.json");
    for number in 1..=5 {
        assert_eq!(dir.read(&format!("key-{number}/public.json")), public);
        assert_eq!(dir.read(&format!("key-{number}/verification.json")), dir.read("key-1/verification.json"));
        let files: Vec<String> =
            dir.files().into_iter().filter(|file| file.starts_with(&format!("key-{number}"))).collect();
        assert!(files.len() <= 3, "{files:?}");
    }
    dir.write("in.csv", STAFF);
    // Under the key of a single holder, for comparison.
    let plain = dir.totals("--column salary", "--by dept");
    dir.ok("encrypt --key key-1/public.json --column salary in.csv --out rows.parquet");
    dir.ok("sum --key key-2/public.json --by dept rows.parquet --out totals.parquet");
    for number in [1, 3, 5] {
        let share = format!("key-{number}/share-{number}.json");
        dir.ok(&format!("decrypt-share --share {share} totals.parquet --out share-{number}.parquet"));
    }
    let combine =
        "combine --key key-4/verification.json totals.parquet share-1.parquet share-3.parquet share-5.parquet";
    assert_eq!(dir.ok(combine).text(), plain);
}

/// Forwards connections, and cuts the first one after a number of bytes.
fn cutting(target: &str, bytes: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, target) = (listener.local_addr().unwrap().to_string(), target.to_owned());
    let forward = |mut from: TcpStream, mut to: TcpStream, most: usize| {
        thread::spawn(move || {
            let (mut buffer, mut sent) = ([0; 4096], 0);
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                sent += count;
                if sent > most || to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        })
    };
    thread::spawn(move || {
        let mut most = bytes;
        for stream in listener.incoming().flatten() {
            // Until the trustee listens there is nothing to cut.
            let Ok(onward) = TcpStream::connect(&target) else { continue };
            forward(onward.try_clone().unwrap(), stream.try_clone().unwrap(), usize::MAX);
            forward(stream, onward, most);
            most = usize::MAX;
        }
    });
    address
}

#[test]
fn a_lost_connection_begins_another_run() {
    let mut trustees = Trustees::new(3);
    // The first message and two rounds pass.
    trustees.reached[0] = cutting(&trustees.listen[0], 2500);
    let said = trustees.run("2/3", |_| String::new());
    for (succeeded, said) in &said {
        assert!(succeeded, "{said}");
    }
    assert!(said.iter().all(|(_, said)| said.contains("restarting with fresh random numbers")), "{said:?}");
    let public = trustees.dir.read("key-1/public.json");
    assert!((2..=3).all(|number| trustees.dir.read(&format!("key-{number}/public.json")) == public));
}

#[test]
fn trustees_who_want_other_keys_are_told() {
    let trustees = Trustees::new(3);
    let other = |number: u32| if number == 2 { "--variant djn" } else { "" };
    for (number, (succeeded, said)) in (1..).zip(trustees.run("2/3", |number| other(number).to_owned())) {
        assert!(!succeeded, "{said}");
        let expected = if number == 2 { "uses another key length" } else { "trustee 2 uses another key length" };
        assert!(said.contains(expected), "{number}: {said}");
    }
    // Nothing is left, not even the directories.
    assert!(!trustees.dir.file("key-1").exists() && !trustees.dir.file("key-3").exists());
}

#[test]
fn what_is_missing_is_named() {
    let trustees = Trustees::new(3);
    let (dir, line) = (&trustees.dir, trustees.line(2, "2/3", ""));
    let without = |option: &str| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == option).unwrap();
        words.drain(at..at + 2);
        words.join(" ")
    };
    for (option, expected) in [
        ("--trustee", "--distributed needs --trustee N, a number from 1 to 3"),
        ("--identity", "--distributed needs --identity FILE"),
        ("--listen", "--distributed needs --listen ADDRESS:PORT"),
        ("--peer", "--distributed needs exactly one --peer 1=HOST:PORT"),
        ("--peer-key", "--distributed needs exactly one --peer-key 1=FILE, trustee 1's public key"),
    ] {
        dir.fails(&without(option), expected);
    }
    let same = line.replace("--peer-key 3=id-3", "--peer-key 3=id-1");
    dir.fails(&same, "two trustees have the same key");
    let few = line.replace("--distributed 2/3", "--distributed 3/3");
    let expected = "key generation needs 3 to 9 trustees with one public key each, and a threshold of at least 2 and at most half of them, rounded up";
    dir.fails(&few, expected);
}
