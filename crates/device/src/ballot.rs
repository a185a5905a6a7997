//! The encryptor board of the ballot machine (`rtl/election`) as a voter's terminal sees it: a vote
//! goes in; a ballot with its proofs comes out, part by part and then a receipt of it; then it is
//! cast, or challenged. [`VotingSession`] makes and reads messages without a line: whoever has one
//! carries them, and begins anew where one was lost. [`Machine`] has a [`Line`], and is what a
//! front end uses: set up for an election, it gives ballots. [`Tally`] is the other board's driver,
//! which counts them and gives a trustee's shares of totals.
//!
//! Nothing that the board says is believed to be a ballot: the receipt must be that of the parts,
//! and proofs are for the election to verify. That the ballot holds what was chosen only a
//! challenge shows.

mod constants;
mod machine;
mod tally;

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

pub use constants::Constants;
pub use machine::{BALLOT_MACHINE, Line, Machine, MakesBallots, Rules, Setup, Size};
pub use tally::{Counted, CountsBallots, Decline, Lengths, Order, Reply, Tally, TallySetup};

/// Kinds of what the board says.
const RECEIPT: u32 = 1;
const STORED: u32 = 2;
const OPENED: u32 = 3;
const REFUSED: u32 = 4;
const PART: u32 = 5;

const CHALLENGE_WORDS: usize = 8;
const RECEIPT_WORDS: usize = 8;
/// Bits by which an answer is longer than the opening that it hides, and words as the board says
/// it.
const HIDING_BITS: usize = 385;
const HIDING_WORDS: usize = 14;

/// Why the board refuses.
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
            Refusal::BadForm => "it is no vote, or no decision about one",
            Refusal::UnknownVoter => "the machine does not know the voter",
            Refusal::UnknownContest => "the machine does not know the contest",
            Refusal::TooManyChoices => "too many candidates are chosen",
            Refusal::TooFewChoices => "too few candidates are chosen",
            Refusal::OutOfRange => "there is no such candidate",
            Refusal::RepeatedChoice => "a candidate is chosen twice",
            Refusal::RepeatedVote => "the voter's vote in this contest is in the log",
            Refusal::NoRandomness => "the noise source failed",
            Refusal::Unequal => "the two units came to different numbers",
            Refusal::NotStored => "the log is full, or its memory failed",
            Refusal::Unknown => "for a reason that this driver does not know",
        })
    }
}

/// What is shown of a contest's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Nothing.
    Free,
    /// That it is 0 or 1.
    AtMostOne,
    /// That it is what the contest asks for.
    Known,
}

/// What the ballots of a contest look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BallotLayout {
    /// Bytes of the key's `n`: a multiple of 8.
    pub key_bytes: usize,
    /// Marks of every ballot of this board.
    pub candidates: usize,
    /// Marks of the contest, which come first.
    pub marks: usize,
    /// What is shown of their sum.
    pub sum: Sum,
}

impl BallotLayout {
    fn ciphertext_words(self) -> usize {
        self.key_bytes / 2
    }

    fn opening_bytes(self) -> usize {
        self.key_bytes / 2
    }

    /// Bytes of an answer, for an opening with so many bits more than a mark's.
    fn answer_bytes(self, more: u32) -> usize {
        (8 * self.opening_bytes() + more as usize + HIDING_BITS).div_ceil(8)
    }
}

/// A mark as it is published, big-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its ciphertext.
    pub ciphertext: Vec<u8>,
    /// The proof that it holds 0 or 1.
    pub proof: Vec<u8>,
}

/// A ballot for one contest, which is not cast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The contest's marks.
    pub marks: Vec<Mark>,
    /// The proof of what they add up to.
    pub sum: Option<Vec<u8>>,
    /// The hash of what the board keeps.
    pub receipt: [u8; 32],
}

/// What a challenged mark was made with.
#[derive(Clone, PartialEq, Eq)]
pub struct Opening {
    /// Whether it was chosen.
    pub value: bool,
    /// The short opening, big-endian.
    pub exponent: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opening")
    }
}

/// What a message of the board means to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A part of the ballot; there are more.
    Part,
    /// The ballot is made: it may be cast, or challenged.
    Sealed(Sealed),
    /// It is in the log, and counts.
    Stored,
    /// What was in it, mark by mark; it never counts.
    Opened(Vec<Opening>),
    /// There is no ballot.
    Refused(Refusal),
    /// Another vote's ballot was dropped, and with it perhaps what this one said: it has to begin
    /// again.
    Lost,
    /// It belongs to another vote, or is of a ballot with a part missing, which must not be cast.
    Stale,
}

/// A vote of one voter in one contest, from its beginning to its end.
pub struct VotingSession {
    form: BallotLayout,
    id: u32,
    voter: u32,
    contest: u32,
    /// The parts of the ballot so far, each after its mark.
    parts: Vec<(u32, Vec<u32>)>,
    /// The board's words of the ballot that is sealed: voter, contest, ciphertexts.
    sealed: Vec<u32>,
}

impl fmt::Debug for VotingSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VotingSession({})", self.id)
    }
}

impl VotingSession {
    /// A vote that is known by identifiers from `id` on, another one each time it begins; voters
    /// and contests count from 0.
    pub fn new(form: BallotLayout, id: u32, voter: u32, contest: u16) -> Self {
        Self { form, id: id.wrapping_sub(1), voter, contest: contest.into(), parts: Vec::new(), sealed: Vec::new() }
    }

    /// What begins the vote, as often as it has to.
    pub fn vote(&mut self, choices: &[u32]) -> Zeroizing<Vec<u32>> {
        self.id = self.id.wrapping_add(1);
        self.parts.clear();
        self.sealed.clear();
        let mut words = Zeroizing::new(Vec::with_capacity(3 + choices.len()));
        words.extend([(choices.len() as u32) << 16 | self.contest, self.id, self.voter]);
        words.extend(choices);
        words
    }

    /// What casts the ballot.
    pub fn cast(&self) -> [u32; 2] {
        [0, self.id]
    }

    /// What has it opened instead.
    pub fn challenge(&self) -> [u32; 2] {
        [1, self.id]
    }

    /// What has it dropped.
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
                // The first mark's ciphertext begins a ballot.
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

    /// The ballot of all parts, if they are what the receipt says.
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
        // The sum's opening is longer by as many bits as the number of marks less 1 has.
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
        let said: Vec<u8> = receipt.iter().flat_map(|word| word.to_be_bytes()).collect();
        let fits = parts.next().is_none()
            && sealed.len() == 2 + form.candidates * form.ciphertext_words()
            && receipt.len() == RECEIPT_WORDS
            && said == digest;
        marks.truncate(form.marks);
        self.sealed = sealed;
        fits.then_some(Sealed { marks, sum, receipt: digest })
    }

    /// What the contest's marks were made with, if the board opens the ballot that it had sealed.
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

/// One side of a proof, big-endian: the commitment, the challenge where one is said, and the
/// answer.
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

/// A number of words, the lowest first, in so many bytes, the highest first; none if it is longer,
/// or has fewer words.
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

    /// A ballot's messages as a board would say them, of words that are no proof.
    pub(super) fn said(id: u32) -> Vec<Vec<u32>> {
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

    fn hear_all(session: &mut VotingSession, said: &[Vec<u32>]) -> Answer {
        let (last, parts) = said.split_last().unwrap();
        parts.iter().for_each(|words| assert_eq!(session.receive(words), Answer::Part));
        session.receive(last)
    }

    #[test]
    fn a_ballot_is_sealed_of_all_its_parts_and_opened_as_it_was() {
        let mut session = VotingSession::new(FORM, 3, 5, 2);
        assert_eq!(*session.vote(&[1]), [1 << 16 | 2, 3, 5, 1]);
        let Answer::Sealed(sealed) = hear_all(&mut session, &said(3)) else { panic!("a ballot") };
        assert_eq!(sealed.marks[1].ciphertext[60..], [0, 0, 0, 100]);
        assert_eq!((sealed.marks[0].proof.len(), sealed.sum.as_ref().unwrap().len()), (2 * (64 + 32 + 65), 64 + 65));
        assert_eq!(sealed.marks[0].proof[96..98], [1, 0]);
        let ballot = session.sealed.clone();
        let opened = [vec![OPENED, 3, 0b10], (1..9).collect(), ballot.clone()].concat();
        let Answer::Opened(openings) = session.receive(&opened) else { panic!("openings") };
        assert_eq!(openings.iter().map(|one| one.value).collect::<Vec<_>>(), [false, true]);
        assert_eq!(openings[0].exponent[..], [0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1]);
        // Another ballot than the one that was sealed.
        let mut other = opened;
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(session.receive(&other), Answer::Stale);
        assert_eq!(session.receive(&[STORED, 3]), Answer::Stored);
    }

    #[test]
    fn what_is_no_ballot_is_none() {
        let changed = |change: &dyn Fn(&mut Vec<Vec<u32>>)| {
            let mut said = said(3);
            change(&mut said);
            hear_all(&mut begun(), &said)
        };
        assert!(matches!(changed(&|_| ()), Answer::Sealed(_)));
        for part in 0..7 {
            assert_eq!(changed(&|said| _ = said.remove(part)), Answer::Stale, "without part {part}");
            assert_eq!(changed(&|said| _ = said[part].pop()), Answer::Stale, "part {part} cut short");
            let twice = changed(&|said| said.insert(part, said[part].clone()));
            assert_eq!(matches!(twice, Answer::Sealed(_)), part == 0, "part {part} twice");
        }
        assert_eq!(changed(&|said| said[3][2] ^= 1), Answer::Stale, "another ciphertext than the receipt's");
        assert_eq!(changed(&|said| *said[1].last_mut().unwrap() = 1), Answer::Stale, "an answer that is too long");
        // A ballot that was cut short, and a whole one after it.
        let twice = [&said(3)[..4], &said(3)].concat();
        assert!(matches!(hear_all(&mut begun(), &twice), Answer::Sealed(_)));
        let mut session = begun();
        for words in [&[][..], &[1], &[STORED, 4], &[9, 3], &[OPENED, 3], &[OPENED, 3, 0, 1]] {
            assert_eq!(session.receive(words), Answer::Stale);
        }
        assert_eq!(session.receive(&[8 << 16 | REFUSED, 3]), Answer::Refused(Refusal::RepeatedVote));
        assert_eq!(session.receive(&[8 << 16 | REFUSED, 2]), Answer::Lost);
        assert_eq!(session.receive(&[99 << 16 | REFUSED, 3]), Answer::Refused(Refusal::Unknown));
    }
}
