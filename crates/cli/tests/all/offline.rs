//! Trustees generate a key through files, each with its own folder and a shared memory stick.

use crate::common::{Run, STAFF, TestDir};
use hearith_paillier::{EncryptedJwk, MIN_ITERATIONS};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

const TRUSTEES: u32 = 3;
/// Number of exchanges of a run whose first batch succeeds.
const EXCHANGES: u32 = 20;

/// A directory with a signing key for each trustee, a passphrase, and the stick.
struct Trustees {
    dir: TestDir,
    /// The first content of every file that was ever on the stick.
    sent: HashMap<String, Vec<u8>>,
}

impl Trustees {
    fn new() -> Self {
        let dir = TestDir::new();
        (1..=TRUSTEES).for_each(|number| drop(dir.ok(&format!("keygen --signing --out id-{number}"))));
        for (file, words) in [("words.txt", "correct horse"), ("others.txt", "battery staple")] {
            dir.write(file, format!("{words}\n"));
            fs::set_permissions(dir.file(file), fs::Permissions::from_mode(0o600)).unwrap();
        }
        fs::create_dir(dir.file("stick")).unwrap();
        Trustees { dir, sent: HashMap::new() }
    }

    fn line(&self, number: u32) -> String {
        let mut line = format!(
            "keygen --bits 128 --distributed 2/3 --trustee {number} --identity id-{number}/signing-private.json \
             --offline stick --out key-{number} --passphrase-file words.txt"
        );
        for other in (1..=TRUSTEES).filter(|other| *other != number) {
            line += &format!(" --peer-key {other}=id-{other}/signing-public.json");
        }
        line
    }

    /// Makes a call that succeeds. Files on the stick never change.
    fn call(&mut self, number: u32) -> Run {
        let run = self.dir.ok(&self.line(number));
        lower_rounds(&self.dir.file(&format!("key-{number}/offline-{number}/state.json")), "correct horse");
        self.check_stick();
        run
    }

    fn check_stick(&mut self) {
        for entry in fs::read_dir(self.dir.file("stick")).unwrap() {
            let entry = entry.unwrap();
            let (file, content) = (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
            // The next call removes the temporary files of a killed one.
            if !file.starts_with('.') {
                let first = self.sent.entry(file.clone()).or_insert_with(|| content.clone());
                assert!(*first == content, "{file} has changed");
            }
        }
    }

    /// Calls all trustees in turn until the stick has a trustee's files of an exchange, but not
    /// those of the trustees after it.
    fn until(&mut self, exchange: u32, number: u32) {
        while !self.has(exchange, number) {
            for one in 1..=TRUSTEES {
                self.call(one);
                if self.has(exchange, number) {
                    return;
                }
            }
        }
    }

    fn has(&self, exchange: u32, number: u32) -> bool {
        self.stick(exchange, number, if number == 1 { 2 } else { 1 }).exists()
    }

    fn stick(&self, exchange: u32, from: u32, to: u32) -> std::path::PathBuf {
        self.dir.file(&file(exchange, from, to))
    }

    /// The files of a trustee's state.
    fn state(&self, number: u32) -> Vec<(String, Vec<u8>)> {
        let folder = self.dir.file(&format!("key-{number}/offline-{number}"));
        let files = fs::read_dir(folder).into_iter().flatten().map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        });
        files.collect()
    }
}

/// Re-encrypts a trustee's state with the minimum number of rounds. Some hundred calls derive the
/// key of the same passphrase, and the program itself uses 600 000 rounds.
pub fn lower_rounds(state: &Path, passphrase: &str) {
    let Ok(text) = fs::read_to_string(state) else { return };
    let sealed = EncryptedJwk::parse(&text).unwrap();
    if sealed.iterations() > MIN_ITERATIONS {
        let opened = sealed.decrypt(passphrase.as_bytes()).unwrap();
        let text = EncryptedJwk::seal(&opened, sealed.key_id().unwrap(), passphrase, MIN_ITERATIONS).unwrap();
        fs::write(state, text).unwrap();
    }
}

fn file(exchange: u32, from: u32, to: u32) -> String {
    format!("stick/exchange-{exchange:02}-from-{from}-to-{to}.hearith")
}

fn waiting(exchange: u32, number: u32, others: &str, missing: &str) -> String {
    let progress = format!("exchange {exchange} of {EXCHANGES}");
    format!(
        "{progress}: give {others} stick/exchange-{exchange:02}-from-{number}-to-N.hearith\n\
         {progress}: waiting for stick/exchange-{exchange:02}-from-N-to-{number}.hearith of {missing}\n"
    )
}

#[test]
fn a_stick_that_goes_round_gives_a_key_of_which_two_decrypt() {
    let mut trustees = Trustees::new();
    let run = trustees.call(1);
    assert_eq!(run.text(), waiting(1, 1, "trustees 2, 3", "trustees 2, 3"));
    for other in 1..=TRUSTEES {
        let own = if other == 1 { ", this one" } else { "" };
        assert!(run.stderr.contains(&format!("hearith: trustee {other}{own}: key ")), "{}", run.stderr);
    }
    // The seed is encrypted under the passphrase, and only its owner can read the file.
    let state = trustees.dir.file("key-1/offline-1/state.json");
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&state).unwrap();
    assert!(text.contains("ciphertext") && !text.contains("hearith-offline-1"), "{text}");

    // A repeated call changes nothing.
    let files = trustees.dir.files();
    assert_eq!(trustees.call(1).text(), run.text());
    assert_eq!((trustees.dir.files(), fs::read_to_string(&state).unwrap()), (files, text));

    assert_eq!(trustees.call(2).text(), waiting(1, 2, "trustees 1, 3", "trustee 3"));
    // The last one has all files of the first exchange.
    assert_eq!(trustees.call(3).text(), waiting(2, 3, "trustees 1, 2", "trustees 1, 2"));
    let json = trustees.dir.ok(&format!("{} --json", trustees.line(1)));
    let expected = "{\"exchange\":2,\"exchanges\":20,\"has_failed\":false,\"is_finished\":false,\
                    \"written\":[\"stick/exchange-02-from-1-to-2.hearith\",\"stick/exchange-02-from-1-to-3.hearith\"],\
                    \"missing\":[\"stick/exchange-02-from-2-to-1.hearith\"]}\n";
    assert_eq!(json.text(), expected);

    // Files that all have received may be removed from the stick.
    trustees.until(4, 3);
    for exchange in 1..=2 {
        for (from, to) in [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)] {
            fs::remove_file(trustees.stick(exchange, from, to)).unwrap();
        }
    }
    crashes_lose_nothing(&mut trustees, 8);

    finishes(&mut trustees);
    decrypts(&trustees.dir);
}

/// Calls all trustees in turn until all have their keys.
fn finishes(trustees: &mut Trustees) {
    let mut running: Vec<u32> = (1..=TRUSTEES).collect();
    while !running.is_empty() {
        running.retain(|&number| {
            let run = trustees.call(number);
            let Some((last, rest)) = run.text().split_once(": done; ").map(|(a, b)| (a.to_owned(), b.to_owned()))
            else {
                return true;
            };
            // One run in a hundred needs another batch.
            let exchanges = last.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
            assert!(exchanges >= EXCHANGES && (exchanges - EXCHANGES).is_multiple_of(10), "{last}");
            assert_eq!(last, format!("exchange {exchanges} of {exchanges}"));
            let kept =
                format!("keep stick/exchange-{exchanges}-from-{number}-to-N.hearith until all have their keys\n");
            assert_eq!(rest, kept);
            assert!(run.stderr.contains(&format!(" candidates in {} rounds", exchanges - 1)), "{}", run.stderr);
            assert!(!trustees.dir.file(&format!("key-{number}/offline-{number}")).exists());
            let again = format!("key-{number}/share-{number}.json: there is a key already");
            trustees.dir.fails(&trustees.line(number), &again);
            false
        });
    }
}

/// Kills calls at various moments and restores an old state. The files on the stick stay the same.
fn crashes_lose_nothing(trustees: &mut Trustees, until: u32) {
    let before = trustees.state(2);
    for attempt in 0_u64.. {
        let number = attempt as u32 % TRUSTEES + 1;
        let line = trustees.line(number);
        let mut command = trustees.dir.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(attempt * 97 % 1500));
        let _ = child.kill();
        child.wait().unwrap();
        trustees.check_stick();
        if trustees.has(until, TRUSTEES) {
            break;
        }
        if attempt % 4 == 3 {
            trustees.call(number);
        }
    }
    let folder = trustees.dir.file("key-2/offline-2");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    before.iter().for_each(|(file, content)| fs::write(folder.join(file), content).unwrap());
    let text = trustees.call(2).text();
    assert!([until, until + 1].iter().any(|exchange| text.contains(&format!("exchange {exchange} of"))), "{text}");
}

/// Checks that all trustees have the same key, and that 1 and 3 can decrypt a total.
fn decrypts(dir: &TestDir) {
    let read = |number: u32, file: &str| dir.read(&format!("key-{number}/{file}"));
    for number in 2..=TRUSTEES {
        assert_eq!(read(number, "public.json"), read(1, "public.json"));
        assert_eq!(read(number, "verification.json"), read(1, "verification.json"));
    }
    dir.write("in.csv", STAFF);
    // Under the key of a single holder, for comparison.
    let plain = dir.totals("--column salary", "--by dept");
    dir.ok("encrypt --key key-1/public.json --column salary in.csv --out rows.parquet");
    dir.ok("sum --key key-2/public.json --by dept rows.parquet --out totals.parquet");
    for number in [1, 3] {
        let share = format!("key-{number}/share-{number}.json --passphrase-file words.txt");
        dir.ok(&format!("decrypt-share --share {share} totals.parquet --out share-{number}.parquet"));
    }
    let combine = "combine --key key-2/verification.json totals.parquet share-1.parquet share-3.parquet";
    assert_eq!(dir.ok(combine).text(), plain);
}

#[test]
fn wrong_files_and_options_are_told_in_a_line() {
    let mut trustees = Trustees::new();
    let (line, state) = (trustees.line(1), "key-1/offline-1/state.json: ");
    trustees.dir.fails(&line.replace("--offline stick", "--offline none"), "none: cannot read: No such file");
    trustees.dir.fails(&line.replace("--offline stick", "--offline words.txt"), "words.txt: not a folder");
    let both = trustees.dir.run(&format!("{line} --listen 127.0.0.1:7001"));
    assert!(both.status == Some(2) && both.stderr.contains("cannot be used with"), "{}", both.stderr);
    trustees.dir.fails(&format!("{line} --absent 1"), "--absent needs the number of another trustee");

    // One trustee requests another key, and one begins a second run.
    trustees.call(1);
    trustees.call(2);
    let other = trustees.line(3).replace("--bits 128", "--bits 256");
    assert!(trustees.dir.run(&other).stderr.contains("trustee 1: the sender is generating another key"));
    let wrong = format!("{}: trustee 3: the sender is generating another key, or has other trustees", file(1, 3, 1));
    let run = trustees.dir.run(&line);
    assert!(run.status == Some(2) && run.stderr.contains(&wrong), "{}", run.stderr);
    fs::remove_dir_all(trustees.dir.file("key-3")).unwrap();
    let second = format!("{}: belongs to another run of this trustee", file(1, 3, 1));
    trustees.dir.fails(&trustees.line(3), &second);
    for to in [1, 2] {
        fs::remove_file(trustees.stick(1, 3, to)).unwrap();
    }
    trustees.sent.retain(|file, _| !file.contains("from-3"));

    // In the first exchange no trustee can be absent. After it, the options are bound to the run.
    let run = trustees.dir.run(&format!("{line} --absent 3"));
    assert!(run.stderr.contains("--absent ends a run, but in exchange 1 no run has begun yet"), "{}", run.stderr);
    trustees.call(3);
    trustees.call(1);
    trustees.dir.fails(&line.replace("128", "256"), &format!("{state}this run began with other options"));
    trustees.dir.fails(&line.replace("words.txt", "others.txt"), &format!("{state}the passphrase is wrong"));

    trustees.until(5, TRUSTEES);
    // Trustee 1 has all files of the exchange except trustee 3's.
    fs::rename(trustees.stick(5, 3, 1), trustees.dir.file("good")).unwrap();
    trustees.call(2);
    assert_eq!(trustees.call(1).text(), waiting(5, 1, "trustees 2, 3", "trustee 3"));
    wrong_files(&trustees);
    own_files(&trustees);
    fs::rename(trustees.dir.file("good"), trustees.stick(5, 3, 1)).unwrap();
    assert!(trustees.call(1).text().starts_with("exchange 6 of 20: "));
}

/// Trustee 1 receives each kind of wrong file from trustee 3.
fn wrong_files(trustees: &Trustees) {
    let (dir, path, line) = (&trustees.dir, file(5, 3, 1), trustees.line(1));
    let good = fs::read(dir.file("good")).unwrap();
    let mut changed = good.clone();
    changed[good.len() / 2] ^= 1;
    let [from_2, earlier] = [file(5, 2, 1), file(4, 3, 1)].map(|file| fs::read(dir.file(&file)).unwrap());
    for (content, wrong) in [
        (vec![], "not a file of an exchange, or truncated"),
        (b"no file of an exchange".to_vec(), "not a file of an exchange, or truncated"),
        (good[..good.len() - 1].to_vec(), "the file was changed"),
        (changed, "the file was changed"),
        (vec![0; 1 << 24], "not a file of an exchange, or truncated"),
        (earlier, "this is the file of exchange 4 from trustee 3 to trustee 1"),
        (from_2, "this is the file of exchange 5 from trustee 2 to trustee 1"),
    ] {
        dir.write(&path, content);
        dir.fails(&line, &format!("{path}: trustee 3: {wrong}"));
    }
    fs::remove_file(dir.file(&path)).unwrap();
    fs::create_dir(dir.file(&path)).unwrap();
    dir.fails(&line, &format!("{path}: not a file"));
    fs::remove_dir(dir.file(&path)).unwrap();
}

/// A trustee never sends other content than before.
fn own_files(trustees: &Trustees) {
    let (dir, path, line) = (&trustees.dir, file(5, 1, 2), trustees.line(1));
    let good = fs::read(dir.file(&path)).unwrap();
    dir.write(&path, [&good[..], b"1"].concat());
    dir.fails(&line, &format!("{path}: differs from what this trustee sends"));
    fs::remove_file(dir.file(&path)).unwrap();
    dir.ok(&line);
    assert_eq!(fs::read(dir.file(&path)).unwrap(), good);
}

#[test]
fn a_run_without_a_trustee_ends_and_keeps_nothing() {
    let mut trustees = Trustees::new();
    trustees.until(3, 2);
    // Trustee 3 sends nothing more.
    (1..=2).for_each(|to| drop(fs::remove_file(trustees.stick(3, 3, to))));
    trustees.call(1);
    let line = trustees.line(1);
    let without_2 = trustees.dir.run(&format!("{line} --absent 2"));
    assert_eq!((without_2.status, without_2.text()), (Some(0), waiting(3, 1, "trustees 2, 3", "trustee 3")));
    let run = trustees.dir.run(&format!("{line} --absent 3"));
    let said = "no key was generated: trustee 3: no message arrived, so the trustee or the link to it is at fault \
                (give the others stick/exchange-04-from-1-to-N.hearith)";
    run.failed(&line, said);
    assert!(trustees.stick(4, 1, 2).exists() && trustees.stick(4, 1, 3).exists());
    assert!(trustees.state(1).is_empty() && !trustees.dir.file("key-1/share-1.json").exists());
    // Trustee 2 learns of it, and has no key either.
    let line = trustees.line(2);
    trustees.dir.run(&format!("{line} --absent 3")).failed(&line, "no key was generated: trustee 3: ");
    assert!(trustees.state(2).is_empty());
}
