//! An election for tests: a key of 512 bits that five trustees share, three of whom decrypt; every method of voting.
#![allow(dead_code)]

use hearith_election::{
    Ballot, Board, Body, Contest, Election, ElectionKey, Limit, Manifest, Method, Notice, Of, Signer, State, Trustees,
    Voter, Voters,
};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{KeyShare, Verification, deal};
use std::sync::OnceLock;

pub const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;
pub const NEEDED: u32 = 3;
pub const TRUSTEES: u32 = 5;

/// The dealt key: made once, since safe primes are rare.
pub struct Key {
    pub private: PrivateKey,
    pub verification: Verification,
    pub shares: Vec<KeyShare>,
}

pub fn key() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    KEY.get_or_init(|| {
        let private = PrivateKey::generate_safe(512, Variant::Djn, POLICY, Engine::best()).unwrap();
        let (verification, shares) = deal(&private, NEEDED, TRUSTEES).unwrap();
        Key { private, verification, shares }
    })
}

pub fn contest(title: &str, candidates: &[&str], method: Method) -> Contest {
    let candidates = candidates.iter().map(|&name| name.to_owned()).collect();
    Contest { candidates, method, title: title.into() }
}

pub fn contests() -> Vec<Contest> {
    vec![
        contest("Board", &["Ada", "Bo", "Cy", "Dee"], Method::Choose(Limit::Exactly(2))),
        contest("Chair", &["Ada", "Bo", "Cy"], Method::Choose(Limit::AtMost(1))),
        contest("Days that suit", &["Monday", "Friday"], Method::Approval),
        contest("Colour", &["red", "green", "blue"], Method::Plurality),
        contest("A new roof?", &["yes", "no"], Method::YesNo),
    ]
}

/// Who acts in an election.
pub struct Cast {
    pub organiser: Signer,
    pub board: Signer,
    pub voters: Vec<(String, Signer)>,
}

impl Cast {
    pub fn new(voters: usize) -> Self {
        let signer = || Signer::generate().unwrap();
        Cast {
            organiser: signer(),
            board: signer(),
            voters: (0..voters).map(|voter| (format!("voter {voter}"), signer())).collect(),
        }
    }

    pub fn manifest(&self, shared: bool, revoting: bool, contests: Vec<Contest>) -> Manifest {
        Manifest {
            board: self.board.public(),
            contests,
            key: ElectionKey::new(&key().private).unwrap(),
            organiser: self.organiser.public(),
            revoting,
            title: "The club's election".into(),
            trustees: shared.then(|| Trustees::new(&key().verification)),
        }
    }

    /// All voters; of three one weighs 3.
    pub fn voters(&self, election: &Election) -> Notice {
        let voter = |(number, (id, signer)): (usize, &(String, Signer))| Voter {
            id: id.clone(),
            key: signer.public(),
            weight: if number % 3 == 2 { 3 } else { 1 },
        };
        let voters = self.voters.iter().enumerate().map(voter).collect();
        Notice::signed(Body::Voters(Voters { election: election.id(), voters }), &self.organiser)
    }

    pub fn sign(&self, body: Body) -> Notice {
        Notice::signed(body, &self.organiser)
    }

    pub fn ballot(&self, voter: usize, ballot: Ballot) -> Notice {
        Notice::signed(Body::Ballot(ballot), &self.voters[voter].1)
    }
}

/// An election that voting has begun in, and its board so far.
pub struct Running {
    pub cast: Cast,
    pub election: Election,
    pub state: State,
    pub board: Board,
    pub lines: Vec<String>,
}

impl Running {
    pub fn new(voters: usize, shared: bool, revoting: bool, contests: Vec<Contest>) -> Self {
        let cast = Cast::new(voters);
        let manifest = cast.manifest(shared, revoting, contests);
        let first = cast.sign(Body::Election(Box::new(manifest)));
        let state = State::begin(&first, POLICY, Engine::best()).unwrap();
        let election = state.election().clone();
        let mut board = Board::default();
        let lines = vec![board.append(first)];
        let mut running = Running { cast, election, state, board, lines };
        let voters = running.cast.voters(&running.election);
        running.enter(voters);
        let open = running.cast.sign(Body::Open(Of { election: running.election.id() }));
        running.enter(open);
        running
    }

    /// The usual one: shared, with revoting, all methods.
    pub fn usual(voters: usize) -> Self {
        Self::new(voters, true, true, contests())
    }

    pub fn enter(&mut self, notice: Notice) {
        self.state.admit(&notice).unwrap();
        self.lines.push(self.board.append(notice));
    }

    pub fn id(&self, voter: usize) -> &str {
        &self.cast.voters[voter].0
    }

    pub fn make(&self, voter: usize, chosen: &[Vec<usize>]) -> Ballot {
        self.election.prepare(self.id(voter), chosen).unwrap().into_ballot()
    }
}

/// Choices that the contests take, different for every number.
pub fn choices(number: usize) -> Vec<Vec<usize>> {
    vec![
        vec![number % 4, (number + 1 + number / 4 % 3) % 4],
        if number % 4 == 3 { vec![] } else { vec![number % 3] },
        (0..2).filter(|day| (number >> day) & 1 == 1).collect(),
        vec![number * 2 % 3],
        vec![number / 2 % 2],
    ]
}
