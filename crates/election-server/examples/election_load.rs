//! Load on an election's server, for `bench/python/election_server.py`.
//!
//! - `load prepare FOLDER VOTERS`: makes an election with ten candidates under a 2048-bit key, and
//!   a ballot for every voter, in a new folder.
//! - `load serve FOLDER STORE`: runs a server of that election until its input ends, and prints its
//!   address.
//! - `load begin FOLDER URL`: sends all entries that precede ballots.
//! - `load cast FOLDER URL CLIENTS FIRST COUNT`: casts ballots from number FIRST on, by clients
//!   that each wait for their receipt.
//! - `load read URL CLIENTS SECONDS`: runs clients that continuously request the overview, the
//!   voters, and new entries of the board.
//!
//! It prints names and numbers, one per line, with latencies in milliseconds.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hearith_election::{
    Body, Contest, Election, ElectionKey, ElectionRef, Limit, Manifest, Method, Notice, Signer, Voter, Voters,
};
use hearith_election_server::client::Client;
use hearith_election_server::clients::Proxies;
use hearith_election_server::limits::Limits;
use hearith_election_server::server::{Options, Server};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const POLICY: KeyPolicy = KeyPolicy::Secure;
/// Ballots made in one batch.
const BATCH: usize = 1000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["prepare", folder, voters] => prepare(Path::new(folder), voters.parse()?),
        ["serve", folder, store] => serve(Path::new(folder), store),
        ["begin", folder, url] => begin(Path::new(folder), url),
        ["cast", folder, url, clients, first, count] => {
            cast(Path::new(folder), url, clients.parse()?, first.parse()?, count.parse()?)
        }
        ["read", url, clients, seconds] => read(url, clients.parse()?, Duration::from_secs(seconds.parse()?)),
        _ => {
            Err("prepare FOLDER VOTERS, serve FOLDER STORE, begin FOLDER URL, cast FOLDER URL CLIENTS FIRST COUNT, or \
                  read URL CLIENTS SECONDS"
                .into())
        }
    }
}

fn prepare(folder: &Path, voters: usize) -> Outcome<()> {
    fs::create_dir(folder)?;
    let [organiser, board] = [Signer::generate()?, Signer::generate()?];
    let private = PrivateKey::generate(2048, Variant::Djn, POLICY, Engine::best())?;
    let candidates = (1..=10).map(|number| format!("Candidate {number}")).collect();
    let contest = Contest::new("Chair", candidates, Method::Choose(Limit::Exactly(1)));
    let manifest = Manifest {
        board: board.public(),
        contests: vec![contest.clone()],
        key: ElectionKey::new(&private)?,
        organiser: organiser.public(),
        revoting: false,
        title: "A measured election".into(),
        ..Manifest::default()
    };
    let election = Election::new(manifest.clone(), POLICY, Engine::best())?;
    fs::write(folder.join("board.key"), *board.secret())?;
    fs::write(folder.join("organiser"), hearith_election::canonical::to_text(&organiser.public()))?;
    let signers: Vec<Signer> = (0..voters).map(|_| Signer::generate()).collect::<Result<_, _>>()?;
    let name = |voter: usize| format!("voter {voter}");

    let mut beginning = BufWriter::new(fs::File::create(folder.join("beginning"))?);
    let mut begin = |body: Body| writeln!(beginning, "{}", Notice::signed(body, &organiser).to_json());
    begin(Body::Election(Box::new(manifest)))?;
    for (list, signers) in signers.chunks(1000).enumerate() {
        let voter =
            |(at, signer): (usize, &Signer)| Voter { id: name(list * 1000 + at), key: signer.public(), weight: 1 };
        let voters = signers.iter().enumerate().map(voter).collect();
        begin(Body::Voters(Voters { election: election.id(), voters }))?;
    }
    begin(Body::Open(ElectionRef { election: election.id() }))?;

    let mut ballots = BufWriter::new(fs::File::create(folder.join("ballots"))?);
    let start = Instant::now();
    for first in (0..voters).step_by(BATCH) {
        let votes: Vec<_> = (first..voters.min(first + BATCH))
            .map(|voter| Ok((name(voter), vec![contest.choose(&[voter % 10])?.into()])))
            .collect::<Result<_, &str>>()?;
        for (prepared, signer) in election.prepare_all(&votes)?.into_iter().zip(&signers[first..]) {
            writeln!(ballots, "{}", Notice::signed(Body::Ballot(prepared.into_ballot()), signer).to_json())?;
        }
    }
    println!("prepared {:.1}", voters as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

fn serve(folder: &Path, store: &str) -> Outcome<()> {
    let organiser = fs::read_to_string(folder.join("organiser"))?;
    let server = Server::start(Options {
        store: store.parse()?,
        listen: "127.0.0.1:0".parse()?,
        metrics: None,
        tls: None,
        proxies: Proxies::default(),
        last_head: None,
        board: Signer::from_secret(&fs::read(folder.join("board.key"))?)?,
        organiser: Some(hearith_election::canonical::from_text("a key", &organiser)?),
        pages: None,
        audit: Some(folder.join("audit.jsonl")),
        policy: POLICY,
        engine: Engine::best(),
        limits: Limits { rate: 0, clients_an_address: 4096, ..Limits::default() },
        others: Vec::new(),
    })?;
    println!("url http://{}", server.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("stopped {}", server.stop());
    let status = fs::read_to_string("/proc/self/status")?;
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    Ok(())
}

fn begin(folder: &Path, url: &str) -> Outcome<()> {
    let client = Client::new(url, None)?;
    for line in BufReader::new(fs::File::open(folder.join("beginning"))?).lines() {
        client.send(&Notice::from_json(&line?)?)?;
    }
    Ok(())
}

fn cast(folder: &Path, url: &str, clients: usize, first: usize, count: usize) -> Outcome<()> {
    let lines = BufReader::new(fs::File::open(folder.join("ballots"))?).lines();
    let ballots: Vec<String> = lines.skip(first).take(count).collect::<Result<_, _>>()?;
    let notices: Vec<Notice> = ballots.iter().map(|line| Notice::from_json(line)).collect::<Result<_, _>>()?;
    let (next, latencies) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(notices.len())));
    let start = Instant::now();
    std::thread::scope(|scope| {
        let sending: Vec<_> = (0..clients)
            .map(|_| {
                scope.spawn(|| -> Outcome<()> {
                    let client = Client::new(url, None)?;
                    while let Some(notice) = notices.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let sent = Instant::now();
                        client.send(notice)?;
                        latencies.lock().map_err(|_| "poisoned")?.push(sent.elapsed());
                    }
                    Ok(())
                })
            })
            .collect();
        sending.into_iter().try_for_each(|one| one.join().map_err(|_| "a client broke down")?)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let mut latencies = latencies.into_inner().map_err(|_| "poisoned")?;
    latencies.sort_unstable();
    let at = |part: f64| latencies[((latencies.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!(
        "acknowledged {}\nseconds {seconds:.3}\na_second {:.1}",
        latencies.len(),
        latencies.len() as f64 / seconds
    );
    println!("p50 {:.1}\np99 {:.1}\nlongest {:.1}", at(0.5), at(0.99), at(1.0));
    Ok(())
}

fn read(url: &str, clients: usize, span: Duration) -> Outcome<()> {
    let address = url.trim_start_matches("http://");
    let (answers, bytes, until) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now() + span);
    std::thread::scope(|scope| {
        let reading: Vec<_> = (0..clients)
            .map(|_| {
                scope.spawn(|| -> Outcome<()> {
                    let mut connection = BufReader::new(TcpStream::connect(address)?);
                    // The file of the board that was read last, and how much of it.
                    let mut have = (0, 0);
                    while Instant::now() < until {
                        let overview = get(&mut connection, address, "/api/election", None)?;
                        let size: serde_json::Value = serde_json::from_slice(&overview)?;
                        let newest = size["size"].as_u64().unwrap_or(1).saturating_sub(1) / 1000 * 1000;
                        let file = format!("/record/board/{newest:08}.jsonl");
                        if have.0 != newest {
                            have = (newest, 0);
                        }
                        let voters = get(&mut connection, address, "/api/voters", None)?;
                        let more = get(&mut connection, address, &file, Some(have.1))?;
                        have.1 += more.len();
                        answers.fetch_add(3, Ordering::Relaxed);
                        bytes.fetch_add(overview.len() + voters.len() + more.len(), Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        reading.into_iter().try_for_each(|one| one.join().map_err(|_| "a reader broke down")?)
    })?;
    let per_second = |count: AtomicUsize| count.into_inner() as f64 / span.as_secs_f64();
    println!("answers_a_second {:.1}\nbytes_a_second {:.0}", per_second(answers), per_second(bytes));
    Ok(())
}

/// Sends one request on an open connection and returns the answer, whatever its status.
fn get(connection: &mut BufReader<TcpStream>, host: &str, path: &str, from: Option<usize>) -> Outcome<Vec<u8>> {
    let range = from.map_or(String::new(), |from| format!("Range: bytes={from}-\r\n"));
    write!(connection.get_mut(), "GET {path} HTTP/1.1\r\nHost: {host}\r\n{range}\r\n")?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line)? == 0 {
            return Err("the server hung up".into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(body)
}
