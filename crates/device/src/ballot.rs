//! Drivers for the ballot machine's boards (`rtl/election`) from the side of a voter's terminal.
//!
//! A vote goes to the encryptor board. It returns a ballot with its proofs, part by part, and then
//! a receipt. The ballot is then cast or challenged.
//!
//! - [`VotingSession`] makes and reads messages without a line. Its user carries them, and starts
//!   over if one is lost.
//! - [`Machine`] has a [`Line`]. Front ends use it: set up for an election, it returns ballots.
//! - [`Tally`] drives the other board, which counts ballots and returns a trustee's shares of
//!   totals.
//!
//! The driver trusts no message to be a ballot: the receipt must match the parts, and the election
//! verifies the proofs. Only a challenge shows that the ballot holds the voter's choices.

mod constants;
mod machine;
mod tally;

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

pub use constants::Constants;
pub use machine::{BALLOT_MACHINE, Line, Machine, MakesBallots, Rules, Setup, Size};
pub use tally::{Counted, CountsBallots, Decline, Lengths, Order, Reply, Tally, TallySetup};

/// Message types of the board.
const RECEIPT: u32 = 1;
const STORED: u32 = 2;
const OPENED: u32 = 3;
const REFUSED: u32 = 4;
const PART: u32 = 5;

const CHALLENGE_WORDS: usize = 8;
const RECEIPT_WORDS: usize = 8;
/// Bits by which an answer is longer than the opening that it hides, and the same in words of the
/// board's messages.
const HIDING_BITS: usize = 385;
const HIDING_WORDS: usize = 14;

/// The reason why the board refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    BadForm,
    UnknownVoter,
    UnknownContest,
    TooManyChoices,
    TooFewChoices,
    OutOfRange,
    RepeatedChoice,
    RepeatedVote,
    NoRandomness,
    Unequal,
    NotStored,
    /// A code that this driver does not know.
    Unknown,
}

impl Refusal {
    fn new(code: u32) -> Self {
        use Refusal::*;
        let all = [
            BadForm,
            UnknownVoter,
            UnknownContest,
            TooManyChoices,
            TooFewChoices,
            OutOfRange,
            RepeatedChoice,
            RepeatedVote,
            NoRandomness,
            Unequal,
            NotStored,
        ];
        (code as usize).checked_sub(1).and_then(|at| all.get(at).copied()).unwrap_or(Unknown)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::BadForm => "it is neither a vote nor a decision about one",
            Refusal::UnknownVoter => "the machine does not know the voter",
            Refusal::UnknownContest => "the machine does not know the contest",
            Refusal::TooManyChoices => "too many candidates are chosen",
            Refusal::TooFewChoices => "too few candidates are chosen",
            Refusal::OutOfRange => "there is no such candidate",
            Refusal::RepeatedChoice => "a candidate is chosen twice",
            Refusal::RepeatedVote => "the voter's vote in this contest is already in the log",
            Refusal::NoRandomness => "the noise source failed",
            Refusal::Unequal => "the two units computed different numbers",
            Refusal::NotStored => "the log is full, or its memory failed",
            Refusal::Unknown => "the driver does not know the reason",
        })
    }
}

/// The statement that is proved about the sum of a contest's marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// No statement.
    Free,
    /// The sum is 0 or 1.
    AtMostOne,
    /// The sum equals the number that the contest requires.
    Known,
}

/// The form of a contest's ballots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BallotLayout {
    /// Bytes of the key's `n`: a multiple of 8.
    pub key_bytes: usize,
    /// Marks of every ballot of this board.
    pub candidates: usize,
    /// Marks of the contest, which come first in the ballot.
    pub marks: usize,
    /// The statement that is proved about their sum.
    pub sum: Sum,
}

impl BallotLayout {
    fn ciphertext_words(self) -> usize {
        self.key_bytes / 2
    }

    fn opening_bytes(self) -> usize {
        self.key_bytes / 2
    }

    /// Bytes of an answer, for an opening that is `more` bits longer than a mark's.
    fn answer_bytes(self, more: u32) -> usize {
        (8 * self.opening_bytes() + more as usize + HIDING_BITS).div_ceil(8)
    }
}

/// A published mark, in big-endian bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its ciphertext.
    pub ciphertext: Vec<u8>,
    /// The proof that it holds 0 or 1.
    pub proof: Vec<u8>,
}

/// A ballot for one contest, not cast yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The contest's marks.
    pub marks: Vec<Mark>,
    /// The proof about the sum of the marks.
    pub sum: Option<Vec<u8>>,
    /// The hash of the ballot that the board keeps.
    pub receipt: [u8; 32],
}

/// The opening of a challenged mark.
#[derive(Clone, PartialEq, Eq)]
pub struct Opening {
    /// Whether the mark was chosen.
    pub value: bool,
    /// The short opening, big-endian.
    pub exponent: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opening")
    }
}

/// The meaning of a board's message to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A part of the ballot; more parts follow.
    Part,
    /// The ballot is complete: it may be cast or challenged.
    Sealed(Sealed),
    /// The ballot is in the log, and counts.
    Stored,
    /// The contents of the ballot, mark by mark. It never counts.
    Opened(Vec<Opening>),
    /// The board refused: there is no ballot.
    Refused(Refusal),
    /// The board dropped the ballot of another vote, and possibly messages of this one. This vote
    /// has to start over.
    Lost,
    /// The message belongs to another vote, or to an incomplete ballot, which must not be cast.
    Stale,
}

/// One voter's vote in one contest, from beginning to end.
pub struct VotingSession {
    form: BallotLayout,
    id: u32,
    voter: u32,
    contest: u32,
    /// The parts of the ballot so far, each with the number of its mark.
    parts: Vec<(u32, Vec<u32>)>,
    /// The board's words of the sealed ballot: voter, contest, ciphertexts.
    sealed: Vec<u32>,
}

impl fmt::Debug for VotingSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VotingSession({})", self.id)
    }
}

impl VotingSession {
    /// Creates a vote with identifiers from `id` on, a new one each time it begins. Voters and
    /// contests count from 0.
    pub fn new(form: BallotLayout, id: u32, voter: u32, contest: u16) -> Self {
        Self { form, id: id.wrapping_sub(1), voter, contest: contest.into(), parts: Vec::new(), sealed: Vec::new() }
    }

    /// The message that begins the vote. It can be repeated.
    pub fn vote(&mut self, choices: &[u32]) -> Zeroizing<Vec<u32>> {
        self.id = self.id.wrapping_add(1);
        self.parts.clear();
        self.sealed.clear();
        let mut words = Zeroizing::new(Vec::with_capacity(3 + choices.len()));
        words.extend([(choices.len() as u32) << 16 | self.contest, self.id, self.voter]);
        words.extend(choices);
        words
    }

    /// The message that casts the ballot.
    pub fn cast(&self) -> [u32; 2] {
        [0, self.id]
    }

    /// The message that challenges the ballot: the board opens it.
    pub fn challenge(&self) -> [u32; 2] {
        [1, self.id]
    }

    /// The message that drops the ballot.
    pub fn discard(&self) -> [u32; 2] {
        [2, self.id]
    }

    /// Reads a message of the board.
    pub fn receive(&mut self, words: &[u32]) -> Answer {
        let &[head, id, ref rest @ ..] = words else { return Answer::Stale };
        let (kind, code) = (head & 0xffff, head >> 16);
        if id != self.id {
            return if kind == REFUSED { Answer::Lost } else { Answer::Stale };
        }
        match kind {
            PART => {
                // The first mark's ciphertext starts a ballot.
                if code == 0 && rest.len() == self.form.ciphertext_words() {
                    self.parts.clear();
                }
                self.parts.push((code, rest.to_vec()));
                Answer::Part
            }
            RECEIPT => self.seal(rest).map_or(Answer::Stale, Answer::Sealed),
            STORED => Answer::Stored,
            REFUSED => Answer::Refused(Refusal::new(code)),
            OPENED => self.open(rest).map_or(Answer::Stale, Answer::Opened),
            _ => Answer::Stale,
        }
    }

    /// The ballot of all parts, if they match the receipt.
    fn seal(&mut self, receipt: &[u32]) -> Option<Sealed> {
        let parts = std::mem::take(&mut self.parts);
        let form = self.form;
        let mut parts = parts.iter().map(|(mark, words)| (*mark as usize, &words[..]));
        let mut part = |mark: usize| parts.next().filter(|(of, _)| *of == mark).map(|(_, words)| words);
        let mut marks = Vec::with_capacity(form.candidates);
        let mut sealed = vec![self.voter, self.contest];
        for mark in 0..form.candidates {
            let ciphertext = part(mark)?;
            sealed.extend(ciphertext);
            let proof = [side(form, part(mark)?, true, 0)?, side(form, part(mark)?, true, 0)?].concat();
            marks.push(Mark { ciphertext: bytes(ciphertext, 2 * form.key_bytes)?, proof });
        }
        // The sum's opening is longer than a mark's, by the bit length of the number of marks less
        // 1.
        let more = usize::BITS - form.marks.checked_sub(1)?.leading_zeros();
        let mut of_sum = |asked: bool| side(form, part(form.candidates)?, asked, more);
        let sum = match form.sum {
            Sum::Free => None,
            Sum::Known => Some(of_sum(false)?),
            Sum::AtMostOne => Some([of_sum(true)?, of_sum(true)?].concat()),
        };
        let key = self.contest << 24 | self.voter & 0xff_ffff;
        let hashed: Vec<u8> = [key].iter().chain(&sealed).flat_map(|word| word.to_be_bytes()).collect();
        let digest: [u8; 32] = Sha256::digest(hashed).into();
        let stated_digest: Vec<u8> = receipt.iter().flat_map(|word| word.to_be_bytes()).collect();
        let fits = parts.next().is_none()
            && sealed.len() == 2 + form.candidates * form.ciphertext_words()
            && receipt.len() == RECEIPT_WORDS
            && stated_digest == digest;
        marks.truncate(form.marks);
        self.sealed = sealed;
        fits.then_some(Sealed { marks, sum, receipt: digest })
    }

    /// The openings of the contest's marks, if the board opens the ballot that it had sealed.
    fn open(&mut self, words: &[u32]) -> Option<Vec<Opening>> {
        let form = self.form;
        let (&values, rest) = words.split_first()?;
        let each = form.opening_bytes() / 4;
        let (openings, ballot) = rest.split_at_checked(form.candidates * each)?;
        let opening = |(mark, words): (usize, &[u32])| {
            let exponent = Zeroizing::new(bytes(words, form.opening_bytes())?);
            Some(Opening { value: values >> mark & 1 == 1, exponent })
        };
        let fits = !self.sealed.is_empty() && ballot == self.sealed;
        let openings = openings.chunks_exact(each).enumerate().take(form.marks).map(opening).collect::<Option<_>>();
        openings.filter(|_| fits)
    }
}

/// One side of a proof, big-endian: the commitment, the challenge if `asked`, and the answer.
fn side(form: BallotLayout, words: &[u32], asked: bool, more: u32) -> Option<Vec<u8>> {
    let (commitment, rest) = words.split_at_checked(form.ciphertext_words())?;
    let (challenge, answer) = rest.split_at_checked(if asked { CHALLENGE_WORDS } else { 0 })?;
    if answer.len() != form.opening_bytes() / 4 + HIDING_WORDS {
        return None;
    }
    let numbers =
        [(commitment, 2 * form.key_bytes), (challenge, 4 * challenge.len()), (answer, form.answer_bytes(more))];
    let numbers = numbers.into_iter().map(|(words, width)| bytes(words, width)).collect::<Option<Vec<_>>>()?;
    Some(numbers.concat())
}

/// Converts words, the lowest first, to `width` bytes, the highest first. `None` if the number does
/// not fit or has fewer words.
fn bytes(words: &[u32], width: usize) -> Option<Vec<u8>> {
    let mut all: Vec<u8> = words.iter().rev().flat_map(|word| word.to_be_bytes()).collect();
    let above = all.len().checked_sub(width)?;
    if all[..above].iter().any(|&byte| byte != 0) {
        return None;
    }
    Some(all.split_off(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: BallotLayout = BallotLayout { key_bytes: 32, candidates: 2, marks: 2, sum: Sum::Known };

    /// The messages of a board for a ballot. Their proofs are not valid.
    pub(super) fn messages(id: u32) -> Vec<Vec<u32>> {
        let ciphertext = |mark: u32| (0..16).map(|word| 100 * mark + word).collect::<Vec<u32>>();
        // The answer has 513 bits in 18 words.
        let side = |asked: u32| [vec![7; (16 + asked) as usize], vec![9; 16], vec![1, 0]].concat();
        let part = |mark: u32, words: Vec<u32>| [vec![mark << 16 | PART, id], words].concat();
        let mut all: Vec<Vec<u32>> = (0..2)
            .flat_map(|mark| [part(mark, ciphertext(mark)), part(mark, side(8)), part(mark, side(8))])
            .chain([part(2, side(0))])
            .collect();
        let ballot = [vec![2 << 24 | 5, 5, 2], ciphertext(0), ciphertext(1)].concat();
        let digest = Sha256::digest(ballot.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
        let words = digest.as_chunks::<4>().0.iter().map(|&four| u32::from_be_bytes(four));
        all.push([RECEIPT, id].into_iter().chain(words).collect());
        all
    }

    fn begun() -> VotingSession {
        let mut session = VotingSession::new(FORM, 3, 5, 2);
        session.vote(&[1]);
        session
    }

    fn receive_all(session: &mut VotingSession, messages: &[Vec<u32>]) -> Answer {
        let (last, parts) = messages.split_last().unwrap();
        parts.iter().for_each(|words| assert_eq!(session.receive(words), Answer::Part));
        session.receive(last)
    }

    #[test]
    fn a_ballot_is_sealed_of_all_its_parts_and_opened_as_it_was() {
        let mut session = VotingSession::new(FORM, 3, 5, 2);
        assert_eq!(*session.vote(&[1]), [1 << 16 | 2, 3, 5, 1]);
        let Answer::Sealed(sealed) = receive_all(&mut session, &messages(3)) else { panic!("a ballot") };
        assert_eq!(sealed.marks[1].ciphertext[60..], [0, 0, 0, 100]);
        assert_eq!((sealed.marks[0].proof.len(), sealed.sum.as_ref().unwrap().len()), (2 * (64 + 32 + 65), 64 + 65));
        assert_eq!(sealed.marks[0].proof[96..98], [1, 0]);
        let ballot = session.sealed.clone();
        let opened = [vec![OPENED, 3, 0b10], (1..9).collect(), ballot.clone()].concat();
        let Answer::Opened(openings) = session.receive(&opened) else { panic!("openings") };
        assert_eq!(openings.iter().map(|one| one.value).collect::<Vec<_>>(), [false, true]);
        assert_eq!(openings[0].exponent[..], [0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1]);
        // The opening of a ballot other than the sealed one.
        let mut other = opened;
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(session.receive(&other), Answer::Stale);
        assert_eq!(session.receive(&[STORED, 3]), Answer::Stored);
    }

    #[test]
    fn what_is_no_ballot_is_none() {
        let changed = |change: &dyn Fn(&mut Vec<Vec<u32>>)| {
            let mut messages = messages(3);
            change(&mut messages);
            receive_all(&mut begun(), &messages)
        };
        assert!(matches!(changed(&|_| ()), Answer::Sealed(_)));
        for part in 0..7 {
            assert_eq!(changed(&|messages| _ = messages.remove(part)), Answer::Stale, "without part {part}");
            assert_eq!(changed(&|messages| _ = messages[part].pop()), Answer::Stale, "part {part} cut short");
            let twice = changed(&|messages| messages.insert(part, messages[part].clone()));
            assert_eq!(matches!(twice, Answer::Sealed(_)), part == 0, "part {part} twice");
        }
        assert_eq!(changed(&|messages| messages[3][2] ^= 1), Answer::Stale, "another ciphertext than the receipt's");
        assert_eq!(
            changed(&|messages| *messages[1].last_mut().unwrap() = 1),
            Answer::Stale,
            "an answer that is too long"
        );
        // A truncated ballot, followed by a complete one.
        let twice = [&messages(3)[..4], &messages(3)].concat();
        assert!(matches!(receive_all(&mut begun(), &twice), Answer::Sealed(_)));
        let mut session = begun();
        for words in [&[][..], &[1], &[STORED, 4], &[9, 3], &[OPENED, 3], &[OPENED, 3, 0, 1]] {
            assert_eq!(session.receive(words), Answer::Stale);
        }
        assert_eq!(session.receive(&[8 << 16 | REFUSED, 3]), Answer::Refused(Refusal::RepeatedVote));
        assert_eq!(session.receive(&[8 << 16 | REFUSED, 2]), Answer::Lost);
        assert_eq!(session.receive(&[99 << 16 | REFUSED, 3]), Answer::Refused(Refusal::Unknown));
    }
}
