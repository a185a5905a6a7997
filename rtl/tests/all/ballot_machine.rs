//! The two boards of the ballot machine together (`rtl/election`), for n of 256 bits, and a vote
//! for n of 2048.
//!
//! Votes enter over a serial line, and ballots cross the peripheral interface. The totals come out
//! right despite noise on the wires, and resets and power failures at random. Ciphertexts, products
//! and totals are compared with GMP. The boards' output is put into the record of an election,
//! which is then verified like any other.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};
use std::rc::Rc;

use hearith_device::ballot::{
    Answer, BallotLayout, Counted, Decline, Lengths, Line, Refusal, Rules, Sealed, Setup, Tally, TallySetup,
    VotingSession,
};
use hearith_device::{Error, ErrorKind};
use hearith_election::{
    Ballot, Board, Body, Bytes, Challenge, Contest, DecryptedMark, DecryptionOpening, Election, ElectionKey,
    ElectionRef, HEADS, Limit, Manifest, Mark, Method, Notice, Products, RevealedMark, Selection, Share, Signer,
    Source as Files, State, Trustees, Voter, Voters, board_file, verify,
};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
use hearith_simulated::ballot_machine::{EncryptorBoard, Feeder, NoiseFault, TallyBoard, ToTally};
use hearith_simulated::designs::{ENCRYPTOR_BOARD, ENCRYPTOR_BOARD_2048, TALLY_BOARD, TALLY_BOARD_2048};
use hearith_threshold::{KeyShare, VerificationKeys, deal};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::{Integer, integer::IsPrime, integer::Order};
use zeroize::Zeroizing;

const CANDIDATES: usize = 2;
const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;

/// A pair of boards for the same key size.
struct Boards {
    encryptor: &'static Design,
    tally: &'static Design,
    /// Most cycles of either board for a message.
    timeout_cycles: u64,
}

const SMALL: Boards = Boards { encryptor: &ENCRYPTOR_BOARD, tally: &TALLY_BOARD, timeout_cycles: 4_000_000 };
/// For keys of real size.
const REAL: Boards = Boards { encryptor: &ENCRYPTOR_BOARD_2048, tally: &TALLY_BOARD_2048, timeout_cycles: 12_000_000 };

/// A key for tests only.
struct Key {
    private: PrivateKey,
    n: Integer,
    h: Integer,
    square: Integer,
    base: Integer,
    /// lambda (1 / lambda mod n), and 1 / n mod lambda.
    exponent: Integer,
    root: Integer,
}

impl Key {
    /// With primes that are 3 modulo 4, as the election requires.
    fn new(bits: u32) -> Self {
        Self::of_primes(bits, |prime| prime.mod_u(4) == 3)
    }

    /// With safe primes, as sharing requires.
    fn safe(bits: u32) -> Self {
        Self::of_primes(bits, |prime| (prime.clone() >> 1_u32).is_probably_prime(30) != IsPrime::No)
    }

    fn of_primes(bits: u32, fits: impl Fn(&Integer) -> bool) -> Self {
        let prime = |from: u32| {
            let mut prime = (Integer::from(from) << (bits / 2 - 8)).next_prime();
            while !fits(&prime) {
                prime.next_prime_mut();
            }
            prime
        };
        let (p, q) = (prime(0xc8), prime(0xf3));
        let n = p.clone() * &q;
        let h = n.clone() - Integer::from(123_456_789_123_u64).square();
        let be = |number: &Integer| number.to_digits::<u8>(Order::Msf);
        let private = PrivateKey::from_primes(&be(&p), &be(&q), Some(&be(&h)), POLICY, Engine::best()).unwrap();
        let square = n.clone() * &n;
        let lambda = (p - 1_u32).lcm(&(q - 1_u32));
        let inverse = lambda.clone().invert(&n).expect("lambda is a unit");
        let root = n.clone().invert(&lambda).expect("n is a unit");
        let base = h.clone().pow_mod(&n, &square).expect("n is not negative");
        Self { private, n, h, square, base, exponent: lambda * inverse, root }
    }

    /// Bytes of n.
    fn bytes(&self) -> usize {
        self.n.significant_digits::<u8>()
    }

    /// The expected inputs of boards with digits of `digit` bits.
    fn ports(&self, digit: u32) -> HashMap<&'static str, Integer> {
        let (m, n) = (&self.square, &self.n);
        // R > 8 n^2.
        let r = Integer::from(1) << (m.significant_bits() + 3).next_multiple_of(digit);
        let digit = Integer::from(1) << digit;
        let inverse = |of: &Integer| digit.clone() - of.clone().invert(&digit).expect("it is odd");
        let power = |k: u32, of: &Integer| rug::ops::Pow::pow(r.clone(), k) % of;
        [
            ("modulus_i", m.clone()),
            ("inverse_i", inverse(m)),
            ("enter_i", power(2, m)),
            ("cube_i", power(3, m)),
            ("zero_i", power(1, m)),
            ("unit_i", power(1, m)),
            ("one_i", power(1, m) * (n.clone() + 1_u32) % m),
            ("plus_i", n.clone() + 1_u32),
            ("minus_i", m.clone() + 1_u32 - n),
            ("base_i", self.base.clone()),
            ("exponent_i", self.exponent.clone()),
            ("n_i", n.clone()),
            ("h_i", self.h.clone()),
            ("n_inverse_i", inverse(n)),
            ("n_enter_i", power(2, n)),
            ("n_unit_i", power(1, n)),
            ("root_i", self.root.clone()),
        ]
        .into()
    }

    fn encrypt(&self, mark: bool, exponent: &Integer) -> Integer {
        let power = self.base.clone().pow_mod(exponent, &self.square).expect("an exponent");
        (self.n.clone() * u32::from(mark) + 1_u32) * power % &self.square
    }

    /// The plaintext of a power from the tally board.
    fn plaintext(&self, power: &Integer) -> Integer {
        assert_eq!(power.clone() % &self.n, 1);
        (power.clone() - 1_u32) / &self.n
    }
}

fn number(words: &[u32]) -> Integer {
    Integer::from_digits(words, Order::Lsf)
}

fn big_endian(number: &Integer, width: usize) -> Bytes {
    let digits = number.to_digits::<u8>(Order::Msf);
    Bytes([vec![0; width - digits.len()], digits].concat())
}

/// A voting method that the machine supports, for two candidates.
#[derive(Clone)]
struct Way {
    method: Method,
    rules: Rules,
}

const fn way(method: Method, most: usize, least: usize) -> Way {
    Way { method, rules: Rules { marks: CANDIDATES, most, least } }
}

const ONE: Way = way(Method::Choose(Limit::Exactly(1)), 1, 1);
const ANY: Way = way(Method::Approval, 2, 0);
const ONE_OR_NONE: Way = way(Method::Choose(Limit::AtMost(1)), 1, 0);
/// With one candidate, who must be chosen.
const UNOPPOSED: Way = Way { method: Method::Choose(Limit::Exactly(1)), rules: Rules { marks: 1, most: 1, least: 1 } };

impl Way {
    /// A random valid choice.
    fn choices(&self, random: &mut Random) -> &'static [u32] {
        let allowed = [&[0][..], &[1], &[], &[0, 1]].into_iter();
        let allowed: Vec<_> = allowed.filter(|one| (self.rules.least..=self.rules.most).contains(&one.len())).collect();
        allowed[random.below(allowed.len() as u64) as usize]
    }
}

fn selection(sealed: Sealed) -> Selection {
    let mark =
        |mark: hearith_device::ballot::Mark| Mark { ciphertext: Bytes(mark.ciphertext), proof: Bytes(mark.proof) };
    Selection { marks: sealed.marks.into_iter().map(mark).collect(), sum: sealed.sum.map(Bytes) }
}

/// The election that the machine is set up for, on the organiser's side.
struct Office {
    organiser: Signer,
    keeper: Signer,
    trustees: Vec<Signer>,
    voters: Vec<Signer>,
    state: State,
    board: Board,
    lines: Vec<String>,
}

impl Office {
    fn new(key: &Key, shared: Option<&VerificationKeys>, ways: &[Way], voters: usize) -> Self {
        let signer = || Signer::generate().unwrap();
        let (organiser, keeper) = (signer(), signer());
        let trustees: Vec<Signer> = (0..shared.map_or(0, VerificationKeys::trustees)).map(|_| signer()).collect();
        let candidates: Vec<String> = ["Ada", "Bo"].map(String::from).into();
        let contest = |(number, way): (usize, &Way)| {
            Contest::new(format!("contest {number}"), candidates[..way.rules.marks].to_vec(), way.method.clone())
        };
        let manifest = Manifest {
            board: keeper.public(),
            contests: ways.iter().enumerate().map(contest).collect(),
            key: ElectionKey::new(&key.private).unwrap(),
            organiser: organiser.public(),
            revoting: false,
            title: "An election by machine".into(),
            trustees: shared.map(|shared| Trustees::new(shared, trustees.iter().map(Signer::public).collect())),
            ..Manifest::default()
        };
        let first = Notice::signed(Body::Election(Box::new(manifest)), &organiser);
        let state = State::begin(&first, POLICY, Engine::best()).unwrap();
        let mut board = Board::default();
        let lines = vec![board.append(first)];
        let voters = (0..voters).map(|_| signer()).collect();
        let mut office = Self { organiser, keeper, trustees, voters, state, board, lines };
        let list = office.voters.iter().enumerate();
        let list = list.map(|(at, signer)| Voter { id: Self::name(at), key: signer.public(), weight: 1 }).collect();
        let election = office.election().id();
        office.publish(Body::Voters(Voters { election, voters: list }));
        office.publish(Body::Open(ElectionRef { election }));
        office
    }

    fn election(&self) -> &Election {
        self.state.election()
    }

    /// A voter's name in the machine's proofs.
    fn name(voter: usize) -> String {
        format!("{voter:08x}")
    }

    fn enter(&mut self, notice: Notice) {
        self.state.check_proofs(&notice).unwrap();
        self.state.admit(&notice).unwrap();
        self.lines.push(self.board.append(notice));
    }

    fn publish(&mut self, body: Body) {
        let notice = Notice::signed(body, &self.organiser);
        self.enter(notice);
    }

    fn ballot(&self, voter: usize, contests: Vec<Selection>) -> Ballot {
        Ballot { contests, election: self.election().id(), voter: Self::name(voter) }
    }

    /// Enters a voter's ballot or challenge.
    fn enter_for(&mut self, voter: usize, body: Body) {
        let notice = Notice::signed(body, &self.voters[voter]);
        self.enter(notice);
    }

    /// The published record.
    fn record(&self) -> Record {
        let head = self.board.head("2026-11-23T04:00:00Z", &self.keeper).to_line();
        let text = |lines: &[String]| lines.iter().flat_map(|line| [line, "\n"].concat().into_bytes()).collect();
        Record([(board_file(0), text(&self.lines)), (HEADS.to_owned(), text(&[head]))].into())
    }
}

struct Record(BTreeMap<String, Vec<u8>>);

impl Files for Record {
    fn open(&self, name: &str) -> std::io::Result<Option<Box<dyn Read + Send>>> {
        Ok(self.0.get(name).map(|bytes| Box::new(Cursor::new(bytes.clone())) as Box<dyn Read + Send>))
    }
}

/// Both boards, their terminals, the memory, and the wires between them.
struct Machine {
    key: Key,
    ways: Vec<Way>,
    timeout_cycles: u64,
    encryptor: EncryptorBoard,
    tally: TallyBoard,
    cycle: u64,
    /// True while the encryptor board is disconnected from the tally board, which rests.
    alone: bool,
}

impl Machine {
    fn new(boards: &Boards, seed: u64, rate: f64, ways: &[Way]) -> Self {
        let key = Key::new(EncryptorBoard::size(boards.encryptor).key_bits);
        Self::with_key(boards, key, seed, rate, ways)
    }

    fn with_key(boards: &Boards, key: Key, seed: u64, rate: f64, ways: &[Way]) -> Self {
        let mut machine = Self {
            key,
            ways: ways.to_vec(),
            timeout_cycles: boards.timeout_cycles,
            encryptor: EncryptorBoard::new(boards.encryptor, seed).unwrap(),
            tally: TallyBoard::new(boards.tally, seed).unwrap(),
            cycle: 0,
            alone: false,
        };
        machine.set_rate(rate);
        machine.tell([0; 32]);
        let has = |bench: &Bench, port: &str| bench.model.design().port(port).is_some();
        for (port, value) in machine.key.ports(boards.tally.parameter("Digit")) {
            if has(&machine.tally.bench, port) {
                machine.tally.bench.model.set_limbs(port, &value.to_digits(Order::Lsf));
            }
        }
        // The driver must have computed the same values.
        for (port, value) in machine.key.ports(boards.encryptor.parameter("Digit")) {
            if has(&machine.encryptor.bench, port) {
                let given = machine.encryptor.bench.model.get(port);
                assert_eq!(Integer::from_digits(&given, Order::Lsf), value, "{port}");
            }
        }
        machine
    }

    /// Sets the fraction of wrong bits on all wires.
    fn set_rate(&mut self, rate: f64) {
        self.encryptor.wires.iter_mut().chain(&mut self.tally.wires).for_each(|wire| wire.set_rate(rate));
    }

    /// Sets the encryptor board up for an election.
    fn tell(&mut self, election: [u8; 32]) {
        let contests: Vec<Rules> = self.ways.iter().map(|way| way.rules).collect();
        let setup = Setup { key: self.key.private.public(), election, contests: &contests };
        self.encryptor.set_up(&setup).unwrap();
    }

    fn step(&mut self) {
        if self.alone {
            self.encryptor.step(false);
            self.cycle += 1;
            return;
        }
        let (ballots, cipo) = (self.encryptor.to_tally(), self.tally.cipo());
        self.encryptor.step(cipo);
        self.step_tally(ballots);
    }

    /// Steps the tally board and the office's end of its line by a cycle.
    fn step_tally(&mut self, ballots: ToTally) {
        self.tally.step(ballots);
        self.cycle += 1;
    }

    /// Sets the tally board up for a trustee. The reset makes it a different board from the
    /// previous trustee's.
    fn appoint(&mut self, trustee: &KeyShare, shared: &VerificationKeys, election: &[u8; 32]) {
        let setup = TallySetup {
            key: self.key.private.public(),
            election: *election,
            marks: &[CANDIDATES],
            generator: shared.base_be(),
            verifier: trustee.verification_be(),
            needed: trustee.needed(),
            trustees: trustee.trustees(),
            trustee: trustee.trustee(),
            share_bits: trustee.hidden_bits(),
        };
        self.tally.set_up(&setup).unwrap();
        self.tally.reset();
    }

    /// A voting session in a contest.
    fn session(&self, id: u32, voter: u32, contest: u16) -> VotingSession {
        let rules = self.ways.get(usize::from(contest)).unwrap_or(&ANY).rules;
        let form =
            BallotLayout { key_bytes: self.key.bytes(), candidates: CANDIDATES, marks: rules.marks, sum: rules.sum() };
        VotingSession::new(form, id, voter, contest)
    }

    /// The board's complete answer to a vote or a decision, within `limit` cycles for each of its
    /// messages.
    fn answer(&mut self, session: &mut VotingSession, limit: u64) -> Option<Answer> {
        let mut left = limit;
        while left > 0 {
            self.step();
            left -= 1;
            if let Some(words) = self.encryptor.terminal.receive() {
                match session.receive(&words) {
                    Answer::Part => left = limit,
                    answer => return Some(answer),
                }
            }
        }
        None
    }

    fn ask(&mut self, session: &mut VotingSession, words: &[u32]) -> Answer {
        self.encryptor.terminal.send(words);
        self.answer(session, self.timeout_cycles / 2).expect("an answer of the encryptor board")
    }

    fn vote(&mut self, session: &mut VotingSession, choices: &[u32]) -> Answer {
        let words = session.vote(choices);
        self.ask(session, &words)
    }

    /// The board's first answer to a vote.
    fn vote_begins(&mut self, session: &mut VotingSession, choices: &[u32]) -> Answer {
        self.encryptor.terminal.send(&session.vote(choices));
        for _ in 0..self.timeout_cycles {
            self.step();
            if let Some(words) = self.encryptor.terminal.receive() {
                return session.receive(&words);
            }
        }
        panic!("the encryptor board says nothing");
    }

    /// The board's refusal of an invalid vote. Earlier messages about other votes are skipped.
    fn refusal(&mut self, mut session: VotingSession, choices: &[u32]) -> Refusal {
        loop {
            match self.vote(&mut session, choices) {
                Answer::Refused(refusal) => return refusal,
                Answer::Lost => (),
                other => panic!("{other:?}"),
            }
        }
    }

    fn seal(&mut self, session: &mut VotingSession, choices: &[u32]) -> Sealed {
        match self.vote(session, choices) {
            Answer::Sealed(sealed) => sealed,
            other => panic!("{other:?}"),
        }
    }

    /// The tally board's answer.
    fn office(&mut self, words: &[u32]) -> Vec<u32> {
        self.tally.terminal.send(words);
        for _ in 0..self.timeout_cycles {
            self.step();
            if let Some(answer) = self.tally.terminal.receive() {
                return answer.to_vec();
            }
        }
        panic!("the tally board says nothing");
    }

    /// Waits until `ballots` ballots are counted.
    fn wait_for(&mut self, ballots: u32) {
        for _ in 0..60 {
            if self.office(&[0]) == [0, ballots] {
                return;
            }
            (0..20_000).for_each(|_| self.step());
        }
        panic!("{:?} and not {ballots} ballots were counted", self.office(&[0]));
    }

    /// The tally board's value for a mark: its product, the product raised to the key's exponent,
    /// or the opening.
    fn told(&mut self, order: u32, contest: usize, mark: usize) -> Integer {
        let question = [order, contest as u32, mark as u32];
        let answer = self.office(&question);
        assert_eq!((&answer[..3], answer.len()), (&question[..], 3 + self.key.bytes() / 2));
        number(&answer[3..])
    }

    /// The decrypted total of a mark.
    fn total(&mut self, contest: usize, mark: usize) -> Integer {
        let power = self.told(2, contest, mark);
        self.key.plaintext(&power)
    }

    /// Sets up an election for this machine.
    fn set_up(&mut self, voters: usize) -> Office {
        let office = Office::new(&self.key, None, &self.ways, voters);
        self.tell(office.election().id().0);
        office
    }
}

/// The office's line to the tally board while the encryptor board sends nothing.
struct OfficeLine(Rc<RefCell<Machine>>);

impl Line for OfficeLine {
    fn describe(&self) -> String {
        "the tally board".into()
    }

    fn send(&mut self, words: &[u32]) -> Result<(), Error> {
        self.0.borrow_mut().tally.terminal.send(words);
        Ok(())
    }

    fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
        let mut machine = self.0.borrow_mut();
        for _ in 0..machine.timeout_cycles {
            machine.step_tally(ToTally { cs_n: true, sck: false, copi: false });
            if let Some(words) = machine.tally.terminal.receive() {
                return Ok(words);
            }
        }
        Err(ErrorKind::MachineSilent.into())
    }
}

/// An opened ballot matches its receipt, encrypts the voter's choice, and is entered as challenged.
fn challenge(machine: &mut Machine, office: &mut Office, voter: usize) {
    let mut session = machine.session(12, voter as u32, 0);
    let sealed = machine.seal(&mut session, &[1]);
    let challenge = session.challenge();
    let Answer::Opened(openings) = machine.ask(&mut session, &challenge) else { panic!("openings") };
    for (mark, (opening, published)) in openings.iter().zip(&sealed.marks).enumerate() {
        let exponent = Integer::from_digits(&opening.exponent, Order::Msf);
        assert!(exponent.significant_bits() > 90, "random");
        assert_eq!(opening.value, mark == 1);
        let ciphertext = Integer::from_digits(&published.ciphertext, Order::Msf);
        assert_eq!(ciphertext, machine.key.encrypt(mark == 1, &exponent));
    }
    let opened = |one: &hearith_device::ballot::Opening| RevealedMark {
        exponent: Bytes(one.exponent.to_vec()),
        value: usize::from(one.value),
    };
    let openings = vec![openings.iter().map(opened).collect()];
    let ballot = office.ballot(voter, vec![selection(sealed)]);
    office.enter_for(voter, Body::Challenge(Challenge { ballot, election: office.election().id(), openings }));
}

fn declined<T>(answer: Result<T, Error>) -> Decline {
    match answer.map_err(|error| error.kind().clone()) {
        Err(ErrorKind::OrderDeclined { decline }) => decline,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was not declined"),
    }
}

/// Three trustees of five, each with its own board, decrypt a tally: an election by approval, whose
/// record verifies.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn boards_of_three_trustees_of_five_decrypt_a_tally() {
    let key = Key::safe(256);
    let (shared, trustees) = deal(&key.private, 3, 5).unwrap();
    let mut machine = Machine::with_key(&SMALL, key, 21, 0.0, &[ANY]);
    let mut office = Office::new(&machine.key, Some(&shared), &machine.ways, 2);
    let election = office.election().id();
    machine.tell(election.0);
    let mut products = Products::new(office.election());
    for (voter, choices) in [&[0, 1][..], &[0]].into_iter().enumerate() {
        let mut session = machine.session(voter as u32, voter as u32, 0);
        let sealed = machine.seal(&mut session, choices);
        let cast = session.cast();
        assert_eq!(machine.ask(&mut session, &cast), Answer::Stored);
        let ballot = office.ballot(voter, vec![selection(sealed)]);
        products.add(&[(&ballot, 1)]).unwrap();
        office.enter_for(voter, Body::Ballot(ballot));
    }
    machine.wait_for(2);
    let products = close(&mut machine, &mut office, products);
    let machine = Rc::new(RefCell::new(machine));
    let most_share_bits = TallyBoard::most_share_bits(&TALLY_BOARD);
    let lengths = Lengths { key_bytes: 32, share_bits: trustees[0].hidden_bits(), most_share_bits };
    let mut tally = Tally::new(Box::new(OfficeLine(machine.clone())), lengths);
    let mut cycles = Vec::new();
    for trustee in [&trustees[0], &trustees[2], &trustees[4]] {
        machine.borrow_mut().appoint(trustee, &shared, &election.0);
        machine.borrow_mut().wait_for(2);
        // Another trustee's share is rejected, and so is an incomplete one. A reset has cleared the
        // share.
        assert_eq!(declined(tally.share(0, 0)), Decline::NoShare);
        assert_eq!(declined(tally.load(&trustees[1].exponent_be())), Decline::WrongShare);
        assert_eq!(declined(tally.share(0, 0)), Decline::NoShare);
        tally.load(&trustee.exponent_be()).unwrap();
        assert_eq!(machine.borrow_mut().office(&[6, 1, 2]), [3, 5]);
        assert_eq!(declined(tally.share(0, 0)), Decline::NoShare);
        tally.load(&trustee.exponent_be()).unwrap();
        assert_eq!(declined(tally.share(3, 0)), Decline::NoSuchContest);
        assert_eq!(declined(tally.share(0, 2)), Decline::NoSuchMark);
        let mut shares = Vec::new();
        for mark in 0..CANDIDATES {
            assert_eq!(tally.product(0, mark as u32).unwrap(), products.contests[0][mark].0);
            let before = machine.borrow().cycle;
            shares.extend(tally.share(0, mark as u32).unwrap());
            cycles.push(machine.borrow().cycle - before);
        }
        tally.forget().unwrap();
        assert_eq!(declined(tally.share(0, 0)), Decline::NoShare);
        // This verifies its proofs.
        let share = Share { election, shares: Bytes(shares), trustee: trustee.trustee() };
        let signer = &office.trustees[trustee.trustee() as usize - 1];
        let notice = Notice::signed(Body::Share(share), signer);
        office.enter(notice);
    }
    println!("a share of a decryption, with its proof, takes {cycles:?} cycles");
    for words in [&[9, 0, 0][..], &[5, 0], &[7, 0], &[5, 0, 0, 0]] {
        assert_eq!(machine.borrow_mut().office(words), [3, 1]);
    }
    // Without noise there is no proof: neither if the source fails while the first numbers are
    // drawn, which are wiped, nor afterwards.
    tally.load(&trustees[4].exponent_be()).unwrap();
    machine.borrow_mut().tally.terminal.send(&[5, 0, 0]);
    let draws = |machine: &Machine| machine.tally.bench.model.peek("u_share.rho_q", 0).iter().any(|&limb| limb != 0);
    let drawn = (0..20_000).any(|_| {
        machine.borrow_mut().step();
        draws(&machine.borrow())
    });
    assert!(drawn, "it draws");
    machine.borrow_mut().tally.noise.fault = Some(NoiseFault::Stuck);
    assert_eq!(*OfficeLine(machine.clone()).receive().unwrap(), [3, 6]);
    assert!(!draws(&machine.borrow()), "what was drawn is wiped");
    (0..1000).for_each(|_| machine.borrow_mut().step());
    assert_eq!(declined(tally.share(0, 0)), Decline::NoNoise);
    record_holds(&mut office, &[vec![2, 1]]);
}

/// A tally board that gets its ballots from a feeder instead of an encryptor board.
struct Counting {
    board: TallyBoard,
    feeder: Feeder,
    dropped: u32,
}

impl Counting {
    /// The board's answer.
    fn ask(&mut self, words: &[u32]) -> Vec<u32> {
        self.board.terminal.send(words);
        for _ in 0..1_000_000 {
            let (ballots, cipo) = (self.feeder.to_tally(), self.board.cipo());
            self.feeder.step(cipo);
            self.board.step(ballots);
            self.dropped += u32::from(self.board.bench.model.bit("dropped_o"));
            if let Some(answer) = self.board.terminal.receive() {
                return answer.to_vec();
            }
        }
        panic!("the tally board says nothing");
    }
}

/// Messages that are no ballots or have no slot are dropped, and a repeated ballot counts once,
/// until the table is full.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_tally_board_drops_what_it_cannot_count() {
    let key = Key::new(256);
    let mut board = TallyBoard::new(&TALLY_BOARD, 31).unwrap();
    let setup = TallySetup {
        key: key.private.public(),
        election: [0; 32],
        marks: &[CANDIDATES; 3],
        generator: vec![1],
        verifier: vec![1],
        needed: 1,
        trustees: 1,
        trustee: 1,
        share_bits: 512,
    };
    board.set_up(&setup).unwrap();
    let mut counting = Counting { board, feeder: Feeder::new().unwrap(), dropped: 0 };
    let slots = TALLY_BOARD.parameter("Slots");
    let ballot = |contest: u32, number: u32| {
        let ciphertexts = [2 + contest, 5].map(|number| vec![number as u8]).into();
        Counted { contest, number, ciphertexts }.words(key.bytes(), CANDIDATES)
    };
    let short = ballot(0, 1000);
    counting.feeder.send(&short[..short.len() - 1]);
    counting.feeder.send(&ballot(3, 1000));
    for number in 0..=slots {
        counting.feeder.send(&ballot(number % 3, number));
        if number < 3 {
            counting.feeder.send(&ballot(number % 3, number));
        }
    }
    let asked = (0..1000).find(|_| counting.ask(&[0]) == [0, slots] && counting.dropped == 3);
    assert!(asked.is_some(), "{:?} were counted, {} dropped", counting.ask(&[0]), counting.dropped);
    for contest in 0..3 {
        let ballots = (0..slots).filter(|number| number % 3 == contest).count() as u32;
        for (mark, each) in [2 + contest, 5].into_iter().enumerate() {
            let answer = counting.ask(&[1, contest, mark as u32]);
            let product = rug::ops::Pow::pow(Integer::from(each), ballots) % &key.square;
            assert_eq!((&answer[..3], number(&answer[3..])), (&[1, contest, mark as u32][..], product));
        }
    }
    // The ballots' line carries no share of a key.
    assert_eq!(counting.ask(&[5, 0, 0]), [3, 4]);
}

/// Flips a bit of one unit's exponent, in the next power whose exponent has this limb.
fn turn_over(machine: &mut Machine, limb: usize) {
    let path = "u_prover.u_twin.u_second.exponent_q";
    let limit = machine.cycle + 100_000;
    let mut exponent = machine.encryptor.bench.model.peek(path, 0);
    while exponent[limb] == 0 {
        machine.step();
        assert!(machine.cycle < limit, "a power begins");
        exponent = machine.encryptor.bench.model.peek(path, 0);
    }
    exponent[1] ^= 1 << 17;
    machine.encryptor.bench.model.poke(path, 0, &exponent);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn units_that_differ_encrypt_nothing() {
    let mut machine = Machine::new(&SMALL, 2, 0.0, &[ONE]);
    let mut vote = machine.session(3, 1, 0);
    machine.encryptor.terminal.send(&vote.vote(&[0]));
    turn_over(&mut machine, 1);
    assert_eq!(machine.answer(&mut vote, 2_000_000), Some(Answer::Refused(Refusal::Unequal)));
    // The next vote is encrypted normally.
    machine.encryptor.terminal.send(&vote.vote(&[0]));
    let part = (0..200_000).find_map(|_| {
        machine.step();
        machine.encryptor.terminal.receive()
    });
    assert_eq!(part.map(|words| (words[0], words.len())), Some((5, 2 + machine.key.bytes() / 2)));
    // The units differ in a power of the mark's proof, while the wire from the terminal is cut. The
    // mark's opening is wiped at once, and the refusal follows when that part was accepted.
    let wire = machine.encryptor.wires[0].clone();
    machine.encryptor.wires[0].cut();
    turn_over(&mut machine, 3);
    let holds_an_opening =
        |machine: &Machine| machine.encryptor.bench.model.peek("u_prover.opening_q", 0).iter().any(|&limb| limb != 0);
    assert!(holds_an_opening(&machine));
    let wiped = (0..200_000).any(|_| {
        machine.step();
        !holds_an_opening(&machine)
    });
    assert!(wiped && machine.encryptor.terminal.receive().is_none());
    machine.encryptor.wires[0] = wire;
    assert_eq!(machine.answer(&mut vote, 2_000_000), Some(Answer::Refused(Refusal::Unequal)));
}

/// A contest with fewer marks than the board. The missing marks are not part of its sum. The
/// terminal is slow to accept a part of the first proof, and accepts it while the board is
/// repeating it. The next part waits for that.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_contest_may_have_fewer_marks_than_the_board() {
    let mut machine = Machine::new(&SMALL, 41, 0.0, &[UNOPPOSED]);
    let mut office = machine.set_up(1);
    for (choices, refusal) in [(&[1][..], Refusal::OutOfRange), (&[], Refusal::TooFewChoices)] {
        let session = machine.session(1, 0, 0);
        assert_eq!(machine.refusal(session, choices), refusal);
    }
    let mut session = machine.session(2, 0, 0);
    assert_eq!(machine.vote_begins(&mut session, &[0]), Answer::Part);
    machine.encryptor.terminal.set_pressure(Pressure::Stalled);
    // The proof takes longer than the time after which a message is repeated: it is sent twice.
    let timeout = u64::from(SMALL.encryptor.parameter("Timeout"));
    for _ in 0..2 {
        let mut quiet = 0;
        while quiet < timeout * 9 / 10 || machine.encryptor.bench.model.bit("tx_o") {
            quiet = if machine.encryptor.bench.model.bit("tx_o") { quiet + 1 } else { 0 };
            machine.step();
            assert!(machine.cycle < 2_000_000, "it is said");
        }
    }
    (0..1000).for_each(|_| machine.step());
    machine.encryptor.terminal.set_pressure(Pressure::None);
    let limit = machine.timeout_cycles / 2;
    let Some(Answer::Sealed(sealed)) = machine.answer(&mut session, limit) else { panic!("a ballot") };
    let cast = session.cast();
    assert_eq!(machine.ask(&mut session, &cast), Answer::Stored);
    let mut products = Products::new(office.election());
    let ballot = office.ballot(0, vec![selection(sealed)]);
    products.add(&[(&ballot, 1)]).unwrap();
    // This verifies its proofs.
    office.enter_for(0, Body::Ballot(ballot));
    machine.wait_for(1);
    let tally = close(&mut machine, &mut office, products);
    let opening = office.election().open(&machine.key.private, &tally).unwrap();
    office.publish(Body::Opening(opening));
    record_holds(&mut office, &[vec![1]]);
}

/// The faults of a machine: wrong bits at one of several rates at a time, and resets, each within
/// `every` cycles.
#[derive(Clone, Copy)]
struct Trouble {
    rates: &'static [f64],
    every: u64,
}

/// Casts a vote up to its storage in the log, while the boards are reset or lose power at any time.
/// A terminal without an answer starts over.
fn persist(
    machine: &mut Machine,
    random: &mut Random,
    Trouble { rates, every }: Trouble,
    mut session: VotingSession,
    choices: &[u32],
) -> (Sealed, u32) {
    let (mut cast, mut resets) = (None, 0);
    machine.encryptor.terminal.send(&session.vote(choices));
    loop {
        machine.set_rate(rates[random.below(rates.len() as u64) as usize]);
        match machine.answer(&mut session, random.below(every)) {
            Some(Answer::Sealed(sealed)) => {
                cast = Some(sealed);
                machine.encryptor.terminal.send(&session.cast());
            }
            Some(Answer::Stored) => return (cast.expect("it was cast"), resets),
            // The vote was stored, and the answer was lost.
            Some(Answer::Refused(Refusal::RepeatedVote)) => return (cast.expect("it was cast"), resets),
            // A decision about a lost ballot counts as an invalid vote; the vote follows it.
            Some(Answer::Refused(_) | Answer::Lost) => machine.encryptor.terminal.send(&session.vote(choices)),
            Some(_) => (),
            None => {
                resets += 1;
                match random.below(3) {
                    0 => machine.tally.reset(),
                    power => machine.encryptor.reset(power == 1),
                }
                // The terminal is reset too, so that it starts over with its vote.
                machine.encryptor.terminal.reset();
                machine.encryptor.terminal.send(&session.vote(choices));
            }
        }
    }
}

/// Closes the election. The tally board's products must equal those computed from the ballots.
fn close(machine: &mut Machine, office: &mut Office, products: Products) -> hearith_election::Tally {
    office.publish(Body::Close(ElectionRef { election: office.election().id() }));
    let tally = products.to_tally(office.state.counted());
    let width = 2 * machine.key.bytes();
    for (contest, marks) in tally.contests.iter().enumerate() {
        for (mark, product) in marks.iter().enumerate() {
            assert_eq!(big_endian(&machine.told(1, contest, mark), width), *product, "{contest} {mark}");
        }
    }
    office.publish(Body::Tally(tally.clone()));
    tally
}

/// Publishes the result. The record must verify, with these votes.
fn record_holds(office: &mut Office, votes: &[Vec<u64>]) {
    let outcome = office.state.outcome().unwrap();
    assert_eq!(outcome.contests, votes);
    office.publish(Body::Result(outcome));
    let report = verify(&office.record(), POLICY, Engine::best(), &|_| {}).unwrap();
    assert!(report.is_good(), "{:?}", report.to_json());
    assert_eq!(report.result().map(|result| &result.contests[..]), Some(votes));
}

/// Runs an election over noisy wires with resets, and returns the number of resets. The terminals'
/// data and the tally board's must make a valid record.
fn holds(mut machine: Machine, mut office: Office, trouble: Trouble, seed: u64) -> u32 {
    let (ways, voters) = (machine.ways.clone(), office.voters.len());
    let mut random = Random::new(seed);
    let mut votes = vec![vec![0_u64; CANDIDATES]; ways.len()];
    let (mut resets, mut id) = (0, 0);
    let mut products = Products::new(office.election());
    for voter in 0..voters {
        let mut selections = Vec::new();
        for (contest, (way, votes)) in ways.iter().zip(&mut votes).enumerate() {
            let choices = way.choices(&mut random);
            choices.iter().for_each(|&choice| votes[choice as usize] += 1);
            id += 1000;
            let vote = machine.session(id, voter as u32, contest as u16);
            let (sealed, more) = persist(&mut machine, &mut random, trouble, vote, choices);
            selections.push(selection(sealed));
            resets += more;
        }
        let ballot = office.ballot(voter, selections);
        products.add(&[(&ballot, 1)]).unwrap();
        office.enter_for(voter, Body::Ballot(ballot));
    }
    machine.set_rate(trouble.rates[0] / 8.0);
    let again = machine.session(80_000, 0, 0);
    assert_eq!(machine.refusal(again, &[0]), Refusal::RepeatedVote);
    let ballots = (voters * ways.len()) as u32;
    machine.wait_for(ballots);
    // The tally board loses everything, and receives it again.
    machine.tally.reset();
    machine.wait_for(ballots);
    assert_eq!(machine.office(&[2, 3, 0]), [3, 2]);
    assert_eq!(machine.office(&[4]), [3, 1]);
    close(&mut machine, &mut office, products);
    let width = machine.key.bytes();
    let mut decrypted = |contest: usize, mark: usize| {
        let plaintext = machine.total(contest, mark);
        DecryptedMark {
            opening: big_endian(&machine.told(4, contest, mark), width),
            plaintext: big_endian(&plaintext, width),
        }
    };
    let contests = (0..ways.len()).map(|contest| (0..CANDIDATES).map(|mark| decrypted(contest, mark)).collect());
    let contests = contests.collect();
    office.publish(Body::Opening(DecryptionOpening { contests, election: office.election().id() }));
    record_holds(&mut office, &votes);
    loses_what_is_spoilt(&mut machine, ballots);
    refuses_without_noise(&mut machine, voters as u32);
    resets
}

/// A damaged record of the log is not sent to the tally board again.
fn loses_what_is_spoilt(machine: &mut Machine, ballots: u32) {
    let content = &mut machine.encryptor.flash.content;
    let last = content.chunks(256).rposition(|page| page[0] != 0xff || page[3] != 0xff).expect("a record");
    content[256 * last + 40] ^= 1;
    machine.tally.reset();
    machine.wait_for(ballots - 1);
    (0..100_000).for_each(|_| machine.step());
    assert_eq!(machine.office(&[0]), [0, ballots - 1]);
}

/// With a stuck noise source, the machine drops the ballot in progress, refuses to encrypt another,
/// and reports it.
fn refuses_without_noise(machine: &mut Machine, voter: u32) {
    let mut late = machine.session(90_000, voter, 0);
    loop {
        match machine.vote_begins(&mut late, &[0]) {
            Answer::Part => break,
            Answer::Lost => (),
            other => panic!("{other:?}"),
        }
    }
    machine.encryptor.noise.fault = Some(NoiseFault::Stuck);
    assert_eq!(machine.answer(&mut late, machine.timeout_cycles), Some(Answer::Refused(Refusal::NoRandomness)));
    assert!(machine.encryptor.bench.model.bit("noise_failed_o"));
    assert_eq!(machine.refusal(late, &[0]), Refusal::NoRandomness);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_election_survives_resets_and_noise_and_its_record_holds() {
    let mut machine = Machine::new(&SMALL, 7, 1e-4, &[ONE]);
    let office = machine.set_up(2);
    assert!(holds(machine, office, Trouble { rates: &[1e-4], every: 900_000 }, 7) > 0);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn votes_are_refused_challenged_and_counted() {
    let mut machine = Machine::new(&SMALL, 1, 1e-5, &[ONE_OR_NONE]);
    let mut office = machine.set_up(2);
    // An unknown voter, an unknown candidate, two choices where one is allowed, a contest that is
    // not set up, an unknown contest.
    let wrong: [(u32, u16, &[u32], Refusal); 5] = [
        (1000, 0, &[0], Refusal::UnknownVoter),
        (1, 0, &[2], Refusal::OutOfRange),
        (1, 0, &[0, 1], Refusal::TooManyChoices),
        (1, 1, &[0], Refusal::TooManyChoices),
        (1, 5, &[0], Refusal::UnknownContest),
    ];
    for (id, (voter, contest, choices, refusal)) in wrong.into_iter().enumerate() {
        let session = machine.session(id as u32, voter, contest);
        assert_eq!(machine.refusal(session, choices), refusal);
    }
    dropped(&mut machine);
    challenge(&mut machine, &mut office, 1);
    holds(machine, office, Trouble { rates: &[1e-5], every: 2_000_000 }, 3);
}

/// A ballot that is neither cast nor challenged, and one that the memory does not keep, are refused
/// and not counted.
fn dropped(machine: &mut Machine) {
    let mut session = machine.session(9, 1, 0);
    for (keeps, refusal) in [(true, Refusal::BadForm), (false, Refusal::NotStored)] {
        machine.seal(&mut session, &[0]);
        let words = if keeps { session.discard() } else { session.cast() };
        machine.encryptor.flash.worn = (!keeps).then_some((0..64, 0x10));
        assert_eq!(machine.ask(&mut session, &words), Answer::Refused(refusal));
    }
    machine.encryptor.flash.worn = None;
    assert_eq!(machine.office(&[0]), [0, 0]);
}

#[test]
#[ignore = "a long test: half an hour of simulation, of boards for a key of 2048 bits"]
fn a_vote_at_real_size_is_proved_stored_and_counted() {
    // Such a wide model keeps megabytes of numbers on the stack.
    let vote = std::thread::Builder::new().stack_size(1 << 28).spawn(votes_at_real_size).unwrap();
    vote.join().unwrap();
}

fn votes_at_real_size() {
    let mut machine = Machine::new(&REAL, 5, 0.0, &[ONE]);
    let mut office = machine.set_up(1);
    let mut session = machine.session(1, 0, 0);
    // The tally board has nothing to do before the first ballot.
    machine.alone = true;
    let sealed = machine.seal(&mut session, &[1]);
    println!("a ballot of two marks, with its proofs, takes {} cycles", machine.cycle);
    let mut products = Products::new(office.election());
    let ballot = office.ballot(0, vec![selection(sealed)]);
    products.add(&[(&ballot, 1)]).unwrap();
    // This verifies its proofs.
    office.enter_for(0, Body::Ballot(ballot));
    let cast = session.cast();
    assert_eq!(machine.ask(&mut session, &cast), Answer::Stored);
    // The ballot occupies several pages of the memory, and survives a power failure.
    assert_eq!(machine.encryptor.flash.programs, 5);
    machine.encryptor.reset(true);
    machine.encryptor.terminal.reset();
    machine.alone = false;
    machine.wait_for(1);
    let tally = close(&mut machine, &mut office, products);
    println!("and all of it {} cycles", machine.cycle);
    let opening = office.election().open(&machine.key.private, &tally).unwrap();
    office.publish(Body::Opening(opening));
    record_holds(&mut office, &[vec![0, 1]]);
}

#[test]
#[ignore = "a long test: minutes of simulation"]
fn elections_survive_resets_and_noise_and_their_records_hold() {
    // At a rate of 1 in 100, no part of a ballot ever arrives; at 1 in 1000, one in ten does. Cases
    // with few votes have more frequent resets.
    let cases: [(u64, Trouble, &[Way], usize); 5] = [
        (8, Trouble { rates: &[1e-6], every: 2_000_000 }, &[ONE, ANY, ONE_OR_NONE], 4),
        (9, Trouble { rates: &[1e-4], every: 2_000_000 }, &[ONE, ANY, ONE_OR_NONE], 4),
        (10, Trouble { rates: &[3e-4], every: 2_000_000 }, &[ONE, ANY, ONE_OR_NONE], 4),
        (11, Trouble { rates: &[1e-3], every: 1_200_000 }, &[ANY], 2),
        (12, Trouble { rates: &[1e-4, 1e-6, 1e-5, 1e-3, 1e-2], every: 1_200_000 }, &[ANY], 3),
    ];
    for (seed, trouble, ways, voters) in cases {
        let mut machine = Machine::new(&SMALL, seed, trouble.rates[0], ways);
        let office = machine.set_up(voters);
        let resets = holds(machine, office, trouble, seed);
        println!("{} votes at {:?}: {resets} resets", voters * ways.len(), trouble.rates);
        assert!(resets > 0);
    }
}
