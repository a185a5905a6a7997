//! A ballot machine from a terminal's side. The terminal sets it up for an election, requests a
//! ballot contest by contest, and has each ballot cast or opened.

use std::fmt;

use hearith_paillier::PublicKey;
use zeroize::Zeroizing;

use super::{Answer, BallotLayout, Opening, Sealed, Sum, VotingSession};
use crate::{Error, ErrorKind, System};

/// The ballot machine's system.
pub static BALLOT_MACHINE: System = System { name: "ballot-machine", does: "makes and counts ballots" };

/// Attempts at a ballot that the machine drops, before the terminal gives up.
const RESTART_ATTEMPTS: usize = 8;
/// Messages to wait for an answer's end, before the terminal gives up: more than a ballot has
/// parts, plus some of other votes.
const MESSAGES: usize = 256;

/// The capability of encrypting votes into ballots.
pub trait MakesBallots {
    /// Sets up a machine for an election. The settings describe the machine, in a syntax that the
    /// provider defines. They are usually empty.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`], [`ErrorKind::TooManyContests`], [`ErrorKind::TooManyMarks`],
    /// [`ErrorKind::Settings`], or the machine cannot be reached.
    fn set_up(&self, setup: &Setup<'_>, settings: &str) -> Result<Machine, Error>;
}

/// The data of an election that a machine is set up with.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The key that encrypts ballots.
    pub key: &'a PublicKey,
    /// The election's id.
    pub election: [u8; 32],
    /// The rules of each contest.
    pub contests: &'a [Rules],
}

/// The rules of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Marks of a ballot, each 0 or 1.
    pub marks: usize,
    /// Largest number of marks that are 1.
    pub most: usize,
    /// Least number of marks that are 1.
    pub least: usize,
}

impl Rules {
    /// The statement that a board proves about the sum of the marks.
    pub fn sum(self) -> Sum {
        match self {
            Self { most, least, .. } if most == least => Sum::Known,
            Self { marks: 2.., most: 1, .. } => Sum::AtMostOne,
            _ => Sum::Free,
        }
    }
}

/// The sizes that a machine was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bits of the key's `n`.
    pub key_bits: u32,
    /// Most contests.
    pub contests: usize,
    /// Marks of every ballot; a contest may use fewer.
    pub marks: usize,
    /// Number of voters. Their numbers are below it.
    pub voters: u32,
}

impl Size {
    /// Checks that an election fits.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`], [`ErrorKind::TooManyContests`], [`ErrorKind::TooManyMarks`].
    pub fn check(&self, setup: &Setup<'_>) -> Result<(), Error> {
        let marks: Vec<usize> = setup.contests.iter().map(|rules| rules.marks).collect();
        self.check_marks(setup.key.bits(), &marks)
    }

    /// Checks that contests with these numbers of marks fit, with a key whose `n` has `bits` bits.
    ///
    /// # Errors
    /// Those of [`Size::check`].
    pub fn check_marks(&self, bits: u32, marks: &[usize]) -> Result<(), Error> {
        let contests = marks.len();
        if bits != self.key_bits {
            return Err(ErrorKind::KeySize { bits, takes: self.key_bits }.into());
        }
        if contests > self.contests {
            return Err(ErrorKind::TooManyContests { contests, most: self.contests }.into());
        }
        match marks.iter().position(|&marks| marks > self.marks) {
            Some(contest) => Err(ErrorKind::TooManyMarks { contest, marks: marks[contest], most: self.marks }.into()),
            None => Ok(()),
        }
    }
}

/// A connection to a machine. It carries whole messages of 32-bit words, each once and in order,
/// like the adjacent end of the link (`rtl/links`).
pub trait Line {
    /// The type and location of the machine, in words.
    fn describe(&self) -> String;

    /// Sends a message to the machine.
    ///
    /// # Errors
    /// The line is gone.
    fn send(&mut self, words: &[u32]) -> Result<(), Error>;

    /// Receives the machine's next message.
    ///
    /// # Errors
    /// [`ErrorKind::MachineSilent`], or an error of the line itself.
    fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error>;
}

/// A machine that is set up. It handles one ballot at a time: the ballot is sealed, and then cast,
/// opened or dropped.
pub struct Machine {
    line: Box<dyn Line>,
    forms: Vec<BallotLayout>,
    voters: u32,
    /// The identifier of the next vote.
    next: u32,
    session: Option<VotingSession>,
}

impl Machine {
    /// Creates the terminal for the machine on this line, which has been set up with `setup`.
    ///
    /// # Errors
    /// Those of [`Size::check`], or the random generator fails.
    pub fn new(line: Box<dyn Line>, size: &Size, setup: &Setup<'_>) -> Result<Self, Error> {
        size.check(setup)?;
        let form = |rules: &Rules| BallotLayout {
            key_bytes: size.key_bits as usize / 8,
            candidates: size.marks,
            marks: rules.marks,
            sum: rules.sum(),
        };
        let forms = setup.contests.iter().map(form).collect();
        // A random start keeps votes apart from those of earlier terminals.
        let next = getrandom::u32().map_err(|error| ErrorKind::Scheme(error.into()))?;
        Ok(Self { line, forms, voters: size.voters, next, session: None })
    }

    /// The type and location of the machine, in words.
    pub fn describe(&self) -> String {
        self.line.describe()
    }

    /// Returns a voter's number. The machine makes proofs only for voters whose name in the record
    /// is their number in eight hexadecimal digits.
    ///
    /// # Errors
    /// [`ErrorKind::UnnumberedVoter`].
    pub fn voter(&self, name: &str) -> Result<u32, Error> {
        let number = u32::from_str_radix(name, 16).ok().filter(|number| format!("{number:08x}") == name);
        number.filter(|&number| number < self.voters).ok_or_else(|| {
            let last = format!("{:08x}", self.voters - 1);
            ErrorKind::UnnumberedVoter { last }.into()
        })
    }

    /// Requests a ballot for a contest. The next request drops it.
    ///
    /// # Errors
    /// [`ErrorKind::VoteRefused`], [`ErrorKind::NoBallot`] if the answer is no ballot,
    /// [`ErrorKind::WrongAnswer`], or errors of the line.
    ///
    /// # Panics
    /// If there is no such contest.
    pub fn seal(&mut self, voter: u32, contest: usize, choices: &[u32]) -> Result<Sealed, Error> {
        self.session = None;
        let mut session = VotingSession::new(self.forms[contest], self.next, voter, contest as u16);
        for _ in 0..RESTART_ATTEMPTS {
            self.next = self.next.wrapping_add(1);
            self.line.send(&session.vote(choices))?;
            match self.answer(&mut session)? {
                Answer::Sealed(sealed) => {
                    self.session = Some(session);
                    return Ok(sealed);
                }
                Answer::Refused(refusal) => return Err(ErrorKind::VoteRefused { refusal }.into()),
                // The board dropped another vote's ballot, and this vote with it.
                Answer::Lost => (),
                _ => return Err(ErrorKind::WrongAnswer.into()),
            }
        }
        Err(ErrorKind::WrongAnswer.into())
    }

    /// Casts the sealed ballot: the machine puts it into its log.
    ///
    /// # Errors
    /// [`ErrorKind::VoteRefused`] if it is not in the log. After any other error, this is unknown.
    ///
    /// # Panics
    /// If no ballot is sealed.
    pub fn cast(&mut self) -> Result<(), Error> {
        match self.decide(VotingSession::cast)? {
            Answer::Stored => Ok(()),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Challenges the sealed ballot and returns its contents, mark by mark. The ballot never
    /// counts.
    ///
    /// # Errors
    /// [`ErrorKind::NoBallot`] if the machine opened another ballot, or errors of the line.
    ///
    /// # Panics
    /// If no ballot is sealed.
    pub fn open(&mut self) -> Result<Vec<Opening>, Error> {
        match self.decide(VotingSession::challenge)? {
            Answer::Opened(openings) => Ok(openings),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Drops the sealed ballot: it is not in the log and cannot be opened.
    ///
    /// # Errors
    /// [`ErrorKind::WrongAnswer`], or errors of the line.
    ///
    /// # Panics
    /// If no ballot is sealed.
    pub fn discard(&mut self) -> Result<(), Error> {
        match self.decide(VotingSession::discard) {
            Err(error) if matches!(error.kind(), ErrorKind::VoteRefused { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    fn decide(&mut self, decision: impl Fn(&VotingSession) -> [u32; 2]) -> Result<Answer, Error> {
        let mut session = self.session.take().expect("a ballot is sealed");
        self.line.send(&decision(&session))?;
        match self.answer(&mut session)? {
            Answer::Refused(refusal) => Err(ErrorKind::VoteRefused { refusal }.into()),
            answer => Ok(answer),
        }
    }

    /// Receives messages up to the machine's complete answer to a vote.
    fn answer(&mut self, session: &mut VotingSession) -> Result<Answer, Error> {
        for _ in 0..MESSAGES {
            let words = self.line.receive()?;
            match session.receive(&words) {
                Answer::Part => (),
                Answer::Stale if words.get(1) == Some(&session.id) => return Err(ErrorKind::NoBallot.into()),
                Answer::Stale => (),
                answer => return Ok(answer),
            }
        }
        Err(ErrorKind::WrongAnswer.into())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machine({})", self.describe())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use hearith_paillier::{Engine, KeyPolicy, PrivateKey};

    use super::*;
    use crate::ballot::Refusal;
    use crate::ballot::tests::messages;

    const SIZE: Size = Size { key_bits: 256, contests: 3, marks: 2, voters: 1000 };
    const RULES: Rules = Rules { marks: 2, most: 1, least: 1 };

    /// A simulated machine: its answers to a message, by the message and the number of earlier
    /// ones.
    type Script = fn(&[u32], usize) -> Vec<Vec<u32>>;

    struct Fake {
        script: Script,
        messages_received: usize,
        to_send: VecDeque<Vec<u32>>,
    }

    impl Line for Fake {
        fn describe(&self) -> String {
            "a fake".into()
        }

        fn send(&mut self, words: &[u32]) -> Result<(), Error> {
            self.to_send.extend((self.script)(words, self.messages_received));
            self.messages_received += 1;
            Ok(())
        }

        fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
            self.to_send.pop_front().map(Zeroizing::new).ok_or_else(|| ErrorKind::MachineSilent.into())
        }
    }

    fn key() -> PrivateKey {
        let (p, q) = ([vec![0xc8; 15], vec![0x3b]].concat(), [vec![0xf3; 15], vec![0x67]].concat());
        PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
    }

    fn machine(script: Script) -> Machine {
        let line = Fake { script, messages_received: 0, to_send: VecDeque::new() };
        let form = BallotLayout { key_bytes: 32, candidates: 2, marks: 2, sum: Sum::Known };
        Machine { line: Box::new(line), forms: vec![form; 3], voters: 1000, next: 7, session: None }
    }

    /// The ballot of `messages`, for voter 5 in contest 2.
    fn seal(machine: &mut Machine) -> Result<Sealed, ErrorKind> {
        machine.seal(5, 2, &[1]).map_err(|error| error.kind().clone())
    }

    fn honest(words: &[u32], _: usize) -> Vec<Vec<u32>> {
        match *words {
            [_, id, 5, 1] => messages(id),
            [0, id] => vec![vec![2, id]],
            [1, id] => vec![opened(id)],
            [_, id] => vec![vec![1 << 16 | 4, id]],
            _ => vec![],
        }
    }

    /// The opening of the ballot of `messages`.
    fn opened(id: u32) -> Vec<u32> {
        let ciphertexts = messages(id);
        [&[3, id, 0b10][..], &[9; 8], &[5, 2], &ciphertexts[0][2..], &ciphertexts[3][2..]].concat()
    }

    #[test]
    fn ballots_are_sealed_and_then_cast_opened_or_dropped() {
        let mut machine = machine(honest);
        for _ in 0..2 {
            assert_eq!(seal(&mut machine).unwrap().marks.len(), 2);
            machine.cast().unwrap();
            seal(&mut machine).unwrap();
            let openings = machine.open().unwrap();
            assert_eq!(openings.iter().map(|one| one.value).collect::<Vec<_>>(), [false, true]);
            seal(&mut machine).unwrap();
            machine.discard().unwrap();
        }
    }

    #[test]
    fn what_others_said_before_is_let_pass() {
        let mut machine = machine(|words, before| match (words, before) {
            // The machine dropped this vote together with the decision about another.
            ([_, _, 5, 1], 0) => vec![vec![1 << 16 | 4, 3]],
            (words, _) => [vec![vec![2, 3], messages(4).remove(0)], honest(words, 1)].concat(),
        });
        seal(&mut machine).unwrap();
        machine.cast().unwrap();
    }

    #[test]
    fn machines_that_err_give_no_ballot() {
        let refused: Script = |words, _| vec![vec![8 << 16 | 4, words[1]]];
        let other: Script = |words, _| {
            let mut messages = messages(words[1]);
            messages[3][2] ^= 1;
            messages
        };
        let endless: Script = |words, _| vec![vec![5, words[1], 0]; 1000];
        let drops: Script = |_, _| vec![vec![1 << 16 | 4, 0]];
        let stored: Script = |words, _| vec![vec![2, words[1]]];
        let failure = |script: Script| seal(&mut machine(script)).unwrap_err();
        assert!(matches!(failure(refused), ErrorKind::VoteRefused { refusal: Refusal::RepeatedVote }));
        assert!(matches!(failure(other), ErrorKind::NoBallot));
        for script in [endless, drops, stored] {
            assert!(matches!(failure(script), ErrorKind::WrongAnswer));
        }
        assert!(matches!(failure(|_, _| vec![]), ErrorKind::MachineSilent));
    }

    #[test]
    fn decisions_are_what_the_machine_says() {
        let after = |script: Script| {
            let mut machine = machine(script);
            seal(&mut machine).unwrap();
            machine
        };
        let full: Script = |words, before| match words {
            [0, id] => vec![vec![11 << 16 | 4, *id]],
            _ => honest(words, before),
        };
        let error = after(full).cast().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::VoteRefused { refusal: Refusal::NotStored }));
        // The opened ballot is not the sealed one.
        let other: Script = |words, before| match words {
            [1, id] => {
                let mut opened = opened(*id);
                *opened.last_mut().unwrap() ^= 1;
                vec![opened]
            }
            _ => honest(words, before),
        };
        assert!(matches!(after(other).open().unwrap_err().kind(), ErrorKind::NoBallot));
        let confused: Script = |words, before| match words {
            [0, id] => vec![opened(*id)],
            [1, id] => vec![vec![2, *id]],
            _ => honest(words, before),
        };
        assert!(matches!(after(confused).cast().unwrap_err().kind(), ErrorKind::WrongAnswer));
        assert!(matches!(after(confused).open().unwrap_err().kind(), ErrorKind::WrongAnswer));
    }

    #[test]
    fn voters_have_numbers_below_the_machines() {
        let machine = machine(honest);
        assert_eq!(machine.voter("000003e7").unwrap(), 999);
        for name in ["000003e8", "3e7", "000003E7", "+00003e7", "ann", "", "0000000000000001"] {
            let error = machine.voter(name).unwrap_err();
            assert!(error.to_string().contains("from 00000000 to 000003e7"), "{name}: {error}");
        }
    }

    #[test]
    fn elections_that_do_not_fit_are_refused() {
        let key = key();
        let check = |size: Size, contests: &[Rules]| {
            let setup = Setup { key: key.public(), election: [0; 32], contests };
            size.check(&setup).map_err(|error| error.to_string())
        };
        assert_eq!(check(SIZE, &[RULES; 3]), Ok(()));
        let error = check(SIZE, &[RULES; 4]).unwrap_err();
        assert_eq!(error, "an election of 4 contests does not fit: the machine takes at most 3");
        let error = check(SIZE, &[RULES, Rules { marks: 3, ..RULES }]).unwrap_err();
        assert_eq!(error, "contest 1 does not fit: it has 3 marks, and the machine takes at most 2");
        let error = check(Size { key_bits: 448, ..SIZE }, &[RULES]).unwrap_err();
        assert_eq!(error, "a key of 256 bits does not fit: the device supports keys of 448 bits");
    }

    #[test]
    fn sums_are_shown_as_the_boards_do() {
        for (marks, most, least, sum) in [
            (2, 1, 1, Sum::Known),
            (1, 1, 1, Sum::Known),
            (2, 1, 0, Sum::AtMostOne),
            (1, 1, 0, Sum::Free),
            (2, 2, 0, Sum::Free),
            (3, 2, 2, Sum::Known),
        ] {
            assert_eq!(Rules { marks, most, least }.sum(), sum, "{marks} {most} {least}");
        }
    }
}
