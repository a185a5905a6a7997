//! An election for tests with every voting method, and a 512-bit key that three of five trustees
//! can use.

use hearith_election::{
    Ballot, Board, Body, Bytes, Contest, Election, ElectionKey, ElectionRef, Entry, FILE_ENTRIES, HEADS, Limit,
    Manifest, Method, Notice, Products, Signer, Source, State, Tally, Trustees, Voter, Voters, board_file,
};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{KeyShare, VerificationKeys, deal};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::OnceLock;

pub const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;
pub const NEEDED: u32 = 3;
pub const TRUSTEES: u32 = 5;

/// The dealt key. It is made once, because safe primes are rare.
pub struct Key {
    pub private: PrivateKey,
    pub verification: VerificationKeys,
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
    Contest::new(title, candidates, method)
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

/// The participants of an election.
pub struct Cast {
    pub organiser: Signer,
    pub board: Signer,
    pub trustees: Vec<Signer>,
    pub voters: Vec<(String, Signer)>,
}

impl Cast {
    pub fn new(voters: usize) -> Self {
        let signer = || Signer::generate().unwrap();
        Cast {
            organiser: signer(),
            board: signer(),
            trustees: (0..TRUSTEES).map(|_| signer()).collect(),
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
            trustees: shared.then(|| Trustees::new(&key().verification, self.signing())),
            ..Manifest::default()
        }
    }

    /// The trustees' public signing keys.
    pub fn signing(&self) -> Vec<Bytes> {
        self.trustees.iter().map(Signer::public).collect()
    }

    /// All voters. Every third one has weight 3.
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

/// An election during voting, with its board so far.
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
        let open = running.cast.sign(Body::Open(ElectionRef { election: running.election.id() }));
        running.enter(open);
        running
    }

    /// The usual election: shared, with revoting and all methods.
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

/// Valid choices for all contests, different for each number.
pub fn choices(number: usize) -> Vec<Vec<usize>> {
    vec![
        vec![number % 4, (number + 1 + number / 4 % 3) % 4],
        if number % 4 == 3 { vec![] } else { vec![number % 3] },
        (0..2).filter(|day| (number >> day) & 1 == 1).collect(),
        vec![number * 2 % 3],
        vec![number / 2 % 2],
    ]
}

impl Running {
    /// Ends the vote and enters the products of the counted ballots.
    pub fn tally(&mut self) {
        let close = self.cast.sign(Body::Close(ElectionRef { election: self.election.id() }));
        self.enter(close);
        let tally = self.right_tally();
        let notice = self.cast.sign(Body::Tally(tally));
        self.enter(notice);
    }

    /// The tally of the counted ballots.
    pub fn right_tally(&self) -> Tally {
        let mut products = Products::new(&self.election);
        let counted: Vec<(Ballot, u64)> = self
            .state
            .voters()
            .filter_map(|(_, voter)| Some((voter.counted_entry()?, voter.weight())))
            .map(|(entry, weight)| {
                let Body::Ballot(ballot) = Entry::from_line(&self.lines[entry as usize]).unwrap().notice.into_body()
                else {
                    panic!("a ballot")
                };
                (ballot, weight)
            })
            .collect();
        products.add(&counted.iter().map(|(ballot, weight)| (ballot, *weight)).collect::<Vec<_>>()).unwrap();
        products.to_tally(self.state.counted())
    }

    /// Enters the share of a trustee, from 1.
    pub fn share(&mut self, trustee: usize) {
        let share = self.election.share(&key().shares[trustee - 1], self.state.tally().unwrap()).unwrap();
        let notice = Notice::signed(Body::Share(share), &self.cast.trustees[trustee - 1]);
        self.enter(notice);
    }

    /// Enters the result from the shares entered so far.
    pub fn finish(&mut self) {
        let result = self.state.outcome().unwrap();
        let notice = self.cast.sign(Body::Result(result));
        self.enter(notice);
    }

    /// The current record, with one head.
    pub fn record(&self) -> Memory {
        let head = self.board.head("2026-11-22T20:30:00Z", &self.cast.board);
        Memory::new(&self.lines, &[head.to_line()])
    }
}

/// A record in memory.
#[derive(Clone)]
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Memory {
    pub fn new(lines: &[String], heads: &[String]) -> Self {
        let mut files = BTreeMap::new();
        for (number, lines) in lines.chunks(FILE_ENTRIES as usize).enumerate() {
            files.insert(board_file(number as u64 * FILE_ENTRIES), text(lines));
        }
        files.insert(HEADS.to_owned(), text(heads));
        Memory(files)
    }
}

impl Source for Memory {
    fn open(&self, name: &str) -> std::io::Result<Option<Box<dyn Read + Send>>> {
        Ok(self.0.get(name).map(|bytes| Box::new(Cursor::new(bytes.clone())) as Box<dyn Read + Send>))
    }
}

fn text(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, "\n"].concat().into_bytes()).collect()
}

/// A complete election: nine of ten voters vote, two of them twice, one after a challenge. Trustees
/// 1, 3 and 5 decrypt.
pub fn whole() -> Running {
    let mut running = Running::usual(10);
    for (voter, choice) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (0, 5), (5, 5), (6, 6), (7, 7), (2, 9), (8, 8)] {
        if voter == 5 {
            let challenge = running.election.prepare(running.id(5), &choices(3)).unwrap().into_challenge();
            let notice = Notice::signed(Body::Challenge(challenge), &running.cast.voters[5].1);
            running.enter(notice);
        }
        let notice = running.cast.ballot(voter, running.make(voter, &choices(choice)));
        running.enter(notice);
    }
    running.tally();
    [1, 3, 5].into_iter().for_each(|trustee| running.share(trustee));
    running.finish();
    running
}

/// The expected result for these choices and weights, from plaintext counts.
pub fn plain(votes: &[(usize, u64)]) -> Vec<Vec<u64>> {
    let mut sums: Vec<Vec<u64>> = contests().iter().map(|contest| vec![0; contest.candidates.len()]).collect();
    for &(choice, weight) in votes {
        for (sum, chosen) in sums.iter_mut().zip(choices(choice)) {
            chosen.into_iter().for_each(|one| sum[one] += weight);
        }
    }
    sums
}

/// The expected result of [`whole`].
pub fn whole_result() -> Vec<Vec<u64>> {
    plain(&[(5, 1), (1, 1), (9, 3), (3, 1), (4, 1), (5, 3), (6, 1), (7, 1), (8, 3)])
}

/// An election with a single key holder and two contests. One of four voters does not vote. The
/// organiser opens the tally.
pub fn opened() -> Running {
    let contests = vec![
        contest("Chair", &["Ada", "Bo", "Cy"], Method::Choose(Limit::Exactly(1))),
        contest("A new roof?", &["yes", "no"], Method::YesNo),
    ];
    let mut running = Running::new(4, false, false, contests);
    for (voter, chosen) in [(0, [0, 0]), (1, [1, 1]), (2, [1, 0])] {
        let notice = running.cast.ballot(voter, running.make(voter, &chosen.map(|one| vec![one])));
        running.enter(notice);
    }
    running.tally();
    let opening = running.election.open(&key().private, running.state.tally().unwrap()).unwrap();
    let notice = running.cast.sign(Body::Opening(opening));
    running.enter(notice);
    running.finish();
    running
}

/// The expected result of [`opened`]. The third voter has weight 3.
pub fn opened_result() -> Vec<Vec<u64>> {
    vec![vec![1, 4, 0], vec![4, 1]]
}
