//! Elections for tests: a 512-bit key held by one holder or by trustees, voters, and a server with
//! its own store.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::LazyLock;

use hearith_election::{
    Ballot, Body, Contest, Election, ElectionKey, ElectionRef, Limit, Manifest, Method, Notice, Signer, Tally,
    Trustees, Voter, Voters,
};
use hearith_election_server::client::{Client, Error, ErrorKind};
use hearith_election_server::clients::Proxies;
use hearith_election_server::limits::Limits;
use hearith_election_server::server::{Options, Server};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{KeyShare, VerificationKeys, deal};
use serde_json::Value;
use tempfile::TempDir;

pub const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;

pub static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(512, Variant::Djn, POLICY, Engine::best()).unwrap());

/// A key shared by three trustees, two of whom can decrypt.
pub struct Dealt {
    pub key: PrivateKey,
    pub verification: VerificationKeys,
    pub shares: Vec<KeyShare>,
}

pub static DEALT: LazyLock<Dealt> = LazyLock::new(|| {
    let key = PrivateKey::generate_safe(512, Variant::Djn, POLICY, Engine::best()).unwrap();
    let (verification, shares) = deal(&key, 2, 3).unwrap();
    Dealt { key, verification, shares }
});

/// The participants of an election.
pub struct Cast {
    pub organiser: Signer,
    pub board: [u8; 32],
    /// The trustees' signing keys. Empty if there is a single key holder.
    pub trustees: Vec<Signer>,
    pub voters: Vec<(String, Signer)>,
    pub election: Election,
    pub manifest: Manifest,
}

impl Cast {
    /// An election with a single key holder.
    pub fn new(voters: usize, revoting: bool) -> Self {
        Self::under(&KEY, None, voters, revoting)
    }

    /// An election whose key is shared by trustees.
    pub fn shared(voters: usize) -> Self {
        Self::under(&DEALT.key, Some(&DEALT.verification), voters, false)
    }

    /// An election with a changed manifest.
    pub fn changed(voters: usize, change: impl FnOnce(&mut Manifest)) -> Self {
        let mut cast = Self::new(voters, false);
        change(&mut cast.manifest);
        cast.election = Election::new(cast.manifest.clone(), POLICY, Engine::best()).unwrap();
        cast
    }

    fn under(key: &PrivateKey, shared: Option<&VerificationKeys>, voters: usize, revoting: bool) -> Self {
        let trustees = shared.map_or(0, VerificationKeys::trustees);
        let trustees: Vec<Signer> = (0..trustees).map(|_| Signer::generate().unwrap()).collect();
        let signing = trustees.iter().map(Signer::public).collect();
        let [organiser, board] = [Signer::generate().unwrap(), Signer::generate().unwrap()];
        let candidates = ["Ada", "Bo", "Cy"].map(str::to_owned).to_vec();
        let method = Method::Choose(Limit::Exactly(1));
        let manifest = Manifest {
            board: board.public(),
            contests: vec![Contest::new("Chair", candidates, method)],
            key: ElectionKey::new(key).unwrap(),
            organiser: organiser.public(),
            revoting,
            title: "The club's election".into(),
            trustees: shared.map(|shared| Trustees::new(shared, signing)),
            ..Manifest::default()
        };
        let election = Election::new(manifest.clone(), POLICY, Engine::best()).unwrap();
        let voters = (0..voters).map(|voter| (format!("voter {voter}"), Signer::generate().unwrap())).collect();
        Self { organiser, board: *board.secret(), trustees, voters, election, manifest }
    }

    pub fn board(&self) -> Signer {
        Signer::from_secret(&self.board).unwrap()
    }

    pub fn sign(&self, body: Body) -> Notice {
        Notice::signed(body, &self.organiser)
    }

    pub fn first(&self) -> Notice {
        self.sign(Body::Election(Box::new(self.manifest.clone())))
    }

    pub fn of(&self) -> ElectionRef {
        ElectionRef { election: self.election.id() }
    }

    /// The lists of all voters.
    pub fn lists(&self) -> Vec<Notice> {
        let voter = |(id, signer): &(String, Signer)| Voter { id: id.clone(), key: signer.public(), weight: 1 };
        let list = |voters: &[(String, Signer)]| {
            let voters = voters.iter().map(voter).collect();
            self.sign(Body::Voters(Voters { election: self.election.id(), voters }))
        };
        self.voters.chunks(1000).map(list).collect()
    }

    /// All entries that precede ballots.
    pub fn beginning(&self) -> Vec<Notice> {
        let mut notices = vec![self.first()];
        notices.extend(self.lists());
        notices.push(self.sign(Body::Open(self.of())));
        notices
    }

    pub fn prepare(&self, voter: usize, candidate: usize) -> hearith_election::Prepared {
        self.election.prepare(&self.voters[voter].0, &[vec![candidate]]).unwrap()
    }

    pub fn cast(&self, voter: usize, ballot: Ballot) -> Notice {
        Notice::signed(Body::Ballot(ballot), &self.voters[voter].1)
    }

    pub fn ballot(&self, voter: usize, candidate: usize) -> Notice {
        self.cast(voter, self.prepare(voter, candidate).into_ballot())
    }

    /// A share of a tally by a trustee, from 1.
    pub fn share(&self, trustee: u32, tally: &Tally) -> Body {
        Body::Share(self.election.share(&DEALT.shares[trustee as usize - 1], tally).unwrap())
    }

    /// A notice signed by a trustee, from 1.
    pub fn by_trustee(&self, trustee: u32, body: Body) -> Notice {
        Notice::signed(body, &self.trustees[trustee as usize - 1])
    }

    pub fn challenge(&self, voter: usize, candidate: usize) -> Notice {
        let challenge = self.prepare(voter, candidate).into_challenge();
        Notice::signed(Body::Challenge(challenge), &self.voters[voter].1)
    }
}

/// Limits that no test reaches by accident.
pub fn wide() -> Limits {
    Limits { rate: 0, ballots: 0, ..Limits::default() }
}

/// An election and its server.
pub struct Hall {
    pub cast: Cast,
    pub place: TempDir,
    pub server: Option<Server>,
}

impl Hall {
    /// An election during voting.
    pub fn open(voters: usize, revoting: bool) -> Self {
        let hall = Self::empty(voters, revoting, wide());
        hall.begin();
        hall
    }

    /// A server with an empty board.
    pub fn empty(voters: usize, revoting: bool, limits: Limits) -> Self {
        Self::of(Cast::new(voters, revoting), limits)
    }

    /// A server for an election that is not on its board yet.
    pub fn of(cast: Cast, limits: Limits) -> Self {
        let mut hall = Self { cast, place: tempfile::tempdir().unwrap(), server: None };
        hall.start(|options| options.limits = limits);
        hall
    }

    pub fn begin(&self) {
        for notice in self.cast.beginning() {
            self.client().send(&notice).unwrap();
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub fn options(&self) -> Options {
        Options {
            store: format!("sqlite:{}", self.file("board.db").display()).parse().unwrap(),
            listen: "127.0.0.1:0".parse().unwrap(),
            metrics: None,
            tls: None,
            proxies: Proxies::default(),
            last_head: None,
            board: self.cast.board(),
            organiser: Some(self.cast.organiser.public()),
            pages: None,
            audit: Some(self.file("audit.jsonl")),
            policy: POLICY,
            engine: Engine::best(),
            limits: wide(),
            others: Vec::new(),
        }
    }

    /// Stops the server, if it runs, and starts another one with the same store.
    pub fn start(&mut self, change: impl FnOnce(&mut Options)) {
        if let Some(server) = self.server.take() {
            assert!(server.stop());
        }
        let mut options = self.options();
        change(&mut options);
        self.server = Some(Server::start(options).unwrap());
    }

    pub fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address()
    }

    pub fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.address()), None).unwrap()
    }

    pub fn metrics(&self) -> String {
        self.server.as_ref().unwrap().metrics().text()
    }

    pub fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result.unwrap_err().kind() {
        ErrorKind::Refused { code, .. } => code.clone(),
        other => panic!("{other}"),
    }
}

/// An answer: status, head in lower case, and body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("{bytes:?}"));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Sends one request on its own connection.
pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}").unwrap();
    if method != "GET" {
        write!(stream, "Content-Length: {}\r\n", body.len()).unwrap();
    }
    stream.write_all(b"\r\n").unwrap();
    // A server that refuses a request need not read all of it.
    let _ = stream.write_all(body);
    Answer::read(&mut stream)
}

pub fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, "", b"")
}

/// The request body for a notice: `{"body":...,"kind":...,"signature":...}`.
pub fn text(notice: &Notice) -> String {
    notice.to_json()
}
