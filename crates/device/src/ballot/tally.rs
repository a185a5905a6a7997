//! The tally board of the ballot machine (`rtl/election/tally_board.sv`) as whoever closes an
//! election sees it: it says what it has counted, and raises products to a trustee's share, with a
//! proof. [`Order`] makes and reads messages without a line; [`Tally`] has a [`Line`].

use std::fmt;

use hearith_paillier::PublicKey;
use zeroize::Zeroizing;

use super::{Line, bytes};
use crate::{Error, ErrorKind};

/// How often a board is asked that goes on counting nothing, until it is given up.
const QUESTIONS: usize = 200;

/// What answers a refused order.
const DECLINED: u32 = 3;
/// Bits by which what a trustee keeps may be longer than a share, and by which an answer of a proof
/// is.
const EXPONENT_BITS: u32 = 64;
const ANSWER_BITS: u32 = 512;

/// The capability of counting ballots, and of making a trustee's shares of what they come to.
pub trait CountsBallots {
    /// A tally board that is set up for an election and a trustee, and to which these ballots are
    /// on their way. The settings are as in [`MakesBallots::set_up`](super::MakesBallots::set_up).
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`], [`ErrorKind::TooManyContests`], [`ErrorKind::TooManyMarks`],
    /// [`ErrorKind::TooManyBallots`], [`ErrorKind::ShareTooLong`], [`ErrorKind::Settings`], or the
    /// board cannot be reached.
    fn set_up_tally(&self, setup: &TallySetup<'_>, ballots: &[Counted], settings: &str) -> Result<Tally, Error>;
}

/// What a tally board is told of an election and of the trustee whose it is: all of it public.
/// Numbers are big-endian.
#[derive(Clone, Debug)]
pub struct TallySetup<'a> {
    /// What ballots are encrypted with.
    pub key: &'a PublicKey,
    /// The election's id.
    pub election: [u8; 32],
    /// Marks of each contest.
    pub marks: &'a [usize],
    /// `v`.
    pub generator: Vec<u8>,
    /// The trustee's `v_i`.
    pub verifier: Vec<u8>,
    /// How many trustees it takes.
    pub needed: u32,
    /// How many there are.
    pub trustees: u32,
    /// The trustee's number, from 1.
    pub trustee: u32,
    /// Bits of the longest share of this key.
    pub share_bits: u32,
}

/// How long the numbers are that go to a board and come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Bytes of the key's `n`: a multiple of 8.
    pub key_bytes: usize,
    /// Bits of the longest share of this key.
    pub share_bits: u32,
    /// Bits of the longest share that the board takes.
    pub most_share_bits: u32,
}

impl Lengths {
    /// Words of a number modulo `n^2`.
    fn number_words(&self) -> usize {
        self.key_bytes / 2
    }

    /// Words of `D s_i` as the board takes it.
    fn exponent_words(&self) -> usize {
        (self.most_share_bits + EXPONENT_BITS).div_ceil(32) as usize
    }

    /// Words of an answer as the board says it.
    fn answer_words(&self) -> usize {
        (self.most_share_bits + ANSWER_BITS).div_ceil(32) as usize
    }

    /// Bytes of an answer as everybody verifies it.
    fn answer_bytes(&self) -> usize {
        (self.share_bits + ANSWER_BITS).div_ceil(8) as usize
    }
}

/// A ballot for one contest as it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The contest.
    pub contest: u32,
    /// Whose it is: no two in a contest have the same number, of 24 bits.
    pub number: u32,
    /// The marks' ciphertexts, big-endian.
    pub ciphertexts: Vec<Vec<u8>>,
}

impl Counted {
    /// The message to a board for keys of so many bytes and ballots of so many marks. Marks that
    /// the contest has not hold 0.
    pub fn words(&self, key_bytes: usize, marks: usize) -> Vec<u32> {
        let number = key_bytes / 2;
        let mut words = vec![self.contest << 24 | self.number, self.number, self.contest];
        for ciphertext in &self.ciphertexts {
            words.extend(little_endian(ciphertext, number).iter());
        }
        for _ in self.ciphertexts.len()..marks {
            words.extend(little_endian(&[1], number).iter());
        }
        words
    }
}

/// Why the board refuses an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Decline {
    UnknownOrder,
    NoSuchContest,
    NoSuchMark,
    NoShare,
    WrongShare,
    NoNoise,
    /// A code that this driver does not know.
    Unknown,
}

impl Decline {
    fn new(code: u32) -> Self {
        use Decline::*;
        let all = [UnknownOrder, NoSuchContest, NoSuchMark, NoShare, WrongShare, NoNoise];
        (code as usize).checked_sub(1).and_then(|at| all.get(at).copied()).unwrap_or(Unknown)
    }
}

impl fmt::Display for Decline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decline::UnknownOrder => "it knows no such order",
            Decline::NoSuchContest => "it has no such contest",
            Decline::NoSuchMark => "the contest has no such mark",
            Decline::NoShare => "no share of the key is loaded",
            Decline::WrongShare => "the share of the key is not that of its trustee",
            Decline::NoNoise => "the noise source failed, or has not started",
            Decline::Unknown => "for a reason that this driver does not know",
        })
    }
}

/// What a board is told. Contests and marks count from 0.
#[derive(Clone, Copy)]
pub enum Order<'a> {
    /// How many ballots were counted.
    Count,
    /// A mark's product.
    Product {
        /// The contest.
        contest: u32,
        /// Its mark.
        mark: u32,
    },
    /// The trustee's share of the decryption of a mark's product.
    Share {
        /// The contest.
        contest: u32,
        /// Its mark.
        mark: u32,
    },
    /// To keep a trustee's share of the key: `D s_i`, big-endian, of 8 bytes more at most than the
    /// longest share that the board takes.
    Load(&'a [u8]),
    /// To forget it.
    Forget,
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// So many ballots.
    Count(u32),
    /// A product, big-endian.
    Product(Vec<u8>),
    /// A share of a decryption, in the bytes that everybody verifies: `c_i`, `a`, `b` and `z`,
    /// big-endian.
    Share(Vec<u8>),
    /// It was done.
    Done,
    /// It was not.
    Declined(Decline),
}

impl Order<'_> {
    /// The message to a board for numbers of these lengths.
    ///
    /// # Errors
    /// [`ErrorKind::OrderDeclined`] for a share that is too long for any.
    pub fn words(&self, lengths: &Lengths) -> Result<Zeroizing<Vec<u32>>, Error> {
        let (code, rest): (u32, &[u32]) = match self {
            Order::Count => (0, &[]),
            Order::Product { contest, mark } => (1, &[*contest, *mark]),
            Order::Share { contest, mark } => (5, &[*contest, *mark]),
            Order::Load(_) => (6, &[]),
            Order::Forget => (7, &[]),
        };
        let exponent = if let Order::Load(share) = self { exponent(share, lengths)? } else { Zeroizing::default() };
        let mut words = Zeroizing::new(Vec::with_capacity(1 + rest.len() + exponent.len()));
        words.push(code);
        words.extend(rest);
        words.extend(exponent.iter());
        Ok(words)
    }

    /// Reads what a board for numbers of these lengths answers; nothing of what answers another
    /// order.
    pub fn reply(&self, lengths: &Lengths, words: &[u32]) -> Option<Reply> {
        if let &[DECLINED, code] = words {
            return Some(Reply::Declined(Decline::new(code)));
        }
        let of_mark = |code: u32, contest: u32, mark: u32| {
            let (head, rest) = words.split_at_checked(3)?;
            (head == [code, contest, mark]).then_some(rest)
        };
        match (*self, words) {
            (Order::Count, &[0, count]) => Some(Reply::Count(count)),
            (Order::Load(_), [6]) | (Order::Forget, [7]) => Some(Reply::Done),
            (Order::Product { contest, mark }, _) => {
                let number = of_mark(1, contest, mark).filter(|words| words.len() == lengths.number_words())?;
                bytes(number, 2 * lengths.key_bytes).map(Reply::Product)
            }
            (Order::Share { contest, mark }, _) => share(of_mark(5, contest, mark)?, lengths).map(Reply::Share),
            _ => None,
        }
    }
}

impl fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Count => f.write_str("Count"),
            Order::Product { contest, mark } => write!(f, "Product({contest}, {mark})"),
            Order::Share { contest, mark } => write!(f, "Share({contest}, {mark})"),
            Order::Load(_) => f.write_str("Load"),
            Order::Forget => f.write_str("Forget"),
        }
    }
}

/// A trustee's exponent in the words that the board takes, the lowest first.
fn exponent(share: &[u8], lengths: &Lengths) -> Result<Zeroizing<Vec<u32>>, Error> {
    let width = lengths.exponent_words();
    if share.len() > 4 * width {
        return Err(ErrorKind::OrderDeclined { decline: Decline::WrongShare }.into());
    }
    Ok(little_endian(share, width))
}

/// A number in so many words, the lowest first; bytes above are left away.
fn little_endian(number: &[u8], width: usize) -> Zeroizing<Vec<u32>> {
    let mut words = Zeroizing::new(vec![0; width]);
    for (at, &byte) in number.iter().rev().enumerate().take(4 * width) {
        words[at / 4] |= u32::from(byte) << (8 * (at % 4));
    }
    words
}

/// A share of a decryption in its bytes.
fn share(words: &[u32], lengths: &Lengths) -> Option<Vec<u8>> {
    let number = lengths.number_words();
    let (numbers, answer) = words.split_at_checked(3 * number).filter(|(_, z)| z.len() == lengths.answer_words())?;
    let mut parts: Vec<Vec<u8>> =
        numbers.chunks_exact(number).map(|part| bytes(part, 4 * number)).collect::<Option<_>>()?;
    parts.push(bytes(answer, lengths.answer_bytes())?);
    Some(parts.concat())
}

/// A tally board at the other end of a line, set up for a key and an election.
pub struct Tally {
    line: Box<dyn Line>,
    lengths: Lengths,
}

impl Tally {
    /// The one at this line, for numbers of these lengths.
    pub fn new(line: Box<dyn Line>, lengths: Lengths) -> Self {
        Self { line, lengths }
    }

    /// How many ballots it has counted.
    ///
    /// # Errors
    /// [`ErrorKind::OrderDeclined`], [`ErrorKind::WrongAnswer`], or the line's.
    pub fn count(&mut self) -> Result<u32, Error> {
        match self.ask(&Order::Count)? {
            Reply::Count(count) => Ok(count),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Waits until it has counted so many ballots.
    ///
    /// # Errors
    /// [`ErrorKind::NotCounted`] if it does not, or as [`Tally::count`].
    pub fn wait_for(&mut self, ballots: u32) -> Result<(), Error> {
        let (mut counted, mut asked) = (0, 0);
        while asked < QUESTIONS {
            let now = self.count()?;
            if now == ballots {
                return Ok(());
            }
            asked = if now == counted { asked + 1 } else { 0 };
            counted = now;
        }
        Err(ErrorKind::NotCounted { counted, ballots }.into())
    }

    /// The product of a mark's ciphertexts, big-endian.
    ///
    /// # Errors
    /// As [`Tally::count`].
    pub fn product(&mut self, contest: u32, mark: u32) -> Result<Vec<u8>, Error> {
        match self.ask(&Order::Product { contest, mark })? {
            Reply::Product(product) => Ok(product),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Has it keep a trustee's share of the key, `D s_i`, big-endian. It is not kept unless it is
    /// that of the `v_i` for which the board is set up.
    ///
    /// # Errors
    /// As [`Tally::count`].
    pub fn load(&mut self, share: &[u8]) -> Result<(), Error> {
        self.done(&Order::Load(share))
    }

    /// Has it forget the share.
    ///
    /// # Errors
    /// As [`Tally::count`].
    pub fn forget(&mut self) -> Result<(), Error> {
        self.done(&Order::Forget)
    }

    /// The trustee's share of the decryption of a mark's product, with its proof, in the bytes that
    /// everybody verifies (docs/explanation/threshold.md).
    ///
    /// # Errors
    /// As [`Tally::count`].
    pub fn share(&mut self, contest: u32, mark: u32) -> Result<Vec<u8>, Error> {
        match self.ask(&Order::Share { contest, mark })? {
            Reply::Share(share) => Ok(share),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    fn done(&mut self, order: &Order<'_>) -> Result<(), Error> {
        match self.ask(order)? {
            Reply::Done => Ok(()),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    fn ask(&mut self, order: &Order<'_>) -> Result<Reply, Error> {
        self.line.send(&order.words(&self.lengths)?)?;
        let words = self.line.receive()?;
        match order.reply(&self.lengths, &words) {
            Some(Reply::Declined(decline)) => Err(ErrorKind::OrderDeclined { decline }.into()),
            Some(reply) => Ok(reply),
            None => Err(ErrorKind::WrongAnswer.into()),
        }
    }
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tally({})", self.line.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: usize = 32;
    const LENGTHS: Lengths = Lengths { key_bytes: KEY, share_bits: 512, most_share_bits: 512 };
    /// A board for longer shares than those of the key.
    const LONGER: Lengths = Lengths { key_bytes: KEY, share_bits: 1036, most_share_bits: 1090 };

    #[test]
    fn orders_are_what_the_board_takes() {
        let words = |order: Order<'_>| order.words(&LENGTHS).unwrap().to_vec();
        assert_eq!(words(Order::Count), [0]);
        assert_eq!(words(Order::Product { contest: 2, mark: 1 }), [1, 2, 1]);
        assert_eq!(words(Order::Share { contest: 0, mark: 1 }), [5, 0, 1]);
        assert_eq!(words(Order::Forget), [7]);
        let share = [&[0x12, 0x34][..], &[0; 3], &[0x56]].concat();
        let mut expected = vec![0; 19];
        expected[..3].copy_from_slice(&[6, 0x56, 0x1234]);
        assert_eq!(words(Order::Load(&share)), expected);
        assert_eq!(words(Order::Load(&[0xff; 72]))[1..], [u32::MAX; 18]);
        let error = Order::Load(&[0; 73]).words(&LENGTHS).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OrderDeclined { decline: Decline::WrongShare }));
        assert_eq!(format!("{:?}", Order::Load(&share)), "Load");
        // 1090 bits and 64 more are 37 words, whatever the key's own shares have.
        let words = Order::Load(&[0xff; 138]).words(&LONGER).unwrap();
        assert_eq!((words.len(), words[35], words[36]), (38, 0xffff, 0));
        Order::Load(&[0; 4 * 37]).words(&LONGER).unwrap();
        Order::Load(&[0; 4 * 37 + 1]).words(&LONGER).unwrap_err();
    }

    #[test]
    fn ballots_are_what_the_board_takes() {
        let ballot = Counted { contest: 2, number: 5, ciphertexts: vec![[&[1, 2, 3, 4][..], &[0; 60]].concat()] };
        let words = ballot.words(KEY, 2);
        assert_eq!((&words[..4], words[18]), (&[2 << 24 | 5, 5, 2, 0][..], 0x0102_0304));
        // A mark that the contest has not.
        assert_eq!((words[19], words[20..].iter().sum::<u32>(), words.len()), (1, 0, 3 + 2 * 16));
    }

    #[test]
    fn replies_are_those_to_the_order() {
        let share = Order::Share { contest: 2, mark: 1 };
        let said: Vec<u32> = [5, 2, 1].into_iter().chain((0..80).map(|at| at / 16 + 1)).collect();
        let Some(Reply::Share(bytes)) = share.reply(&LENGTHS, &said) else { panic!("a share") };
        assert_eq!(bytes.len(), 3 * 64 + 128);
        // c_i, a and b of 16 words each, and z of 32, whose highest words are the last.
        assert_eq!((bytes[3], bytes[67], bytes[131], bytes[195], bytes[319]), (1, 2, 3, 5, 4));
        for wrong in [&said[..82], &[&said[..], &[0]].concat(), &[&[5, 2, 0], &said[3..]].concat(), &[6]] {
            assert_eq!(share.reply(&LENGTHS, wrong), None);
        }
        // An answer of 51 words, of which 1548 bits are read: 193 bytes and a half.
        let mut said: Vec<u32> = [5, 2, 1].into_iter().chain((0..48 + 51).map(|at| u32::from(at < 96))).collect();
        said[3 + 48 + 48] = 0x0fff;
        let Some(Reply::Share(bytes)) = share.reply(&LONGER, &said) else { panic!("a share") };
        assert_eq!((bytes.len(), &bytes[192..196]), (3 * 64 + 194, &[0x0f, 0xff, 0, 0][..]));
        said[3 + 48 + 48] = 0x1_0000;
        assert_eq!(share.reply(&LONGER, &said), None);
        let product = Order::Product { contest: 0, mark: 0 };
        assert_eq!(
            product.reply(&LENGTHS, &[&[1, 0, 0][..], &[9; 16]].concat()),
            Some(Reply::Product([0, 0, 0, 9].repeat(16)))
        );
        assert_eq!(product.reply(&LENGTHS, &[&[1, 0, 0][..], &[9; 15]].concat()), None);
        assert_eq!(Order::Count.reply(&LENGTHS, &[0, 7]), Some(Reply::Count(7)));
        assert_eq!(Order::Load(&[]).reply(&LENGTHS, &[6]), Some(Reply::Done));
        assert_eq!(Order::Forget.reply(&LENGTHS, &[6]), None);
        let declines = [
            Decline::UnknownOrder,
            Decline::NoSuchContest,
            Decline::NoSuchMark,
            Decline::NoShare,
            Decline::WrongShare,
            Decline::NoNoise,
            Decline::Unknown,
        ];
        for (code, decline) in (1..).zip(declines) {
            assert_eq!(share.reply(&LENGTHS, &[3, code]), Some(Reply::Declined(decline)));
        }
        assert_eq!(Decline::new(0), Decline::Unknown);
    }

    /// A board that says what it is asked back, and then something else.
    struct Echo(Vec<Vec<u32>>);

    impl Line for Echo {
        fn describe(&self) -> String {
            "an echo".into()
        }

        fn send(&mut self, words: &[u32]) -> Result<(), Error> {
            self.0.push(words.to_vec());
            Ok(())
        }

        fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
            self.0.pop().map(|words| words[..1].to_vec().into()).ok_or_else(|| ErrorKind::MachineSilent.into())
        }
    }

    #[test]
    fn boards_that_err_give_nothing() {
        let mut tally = Tally::new(Box::new(Echo(Vec::new())), LENGTHS);
        tally.forget().unwrap();
        tally.load(&[1]).unwrap();
        for error in [tally.count().unwrap_err(), tally.share(0, 0).unwrap_err(), tally.product(0, 0).unwrap_err()] {
            assert!(matches!(error.kind(), ErrorKind::WrongAnswer));
        }
        assert_eq!(format!("{tally:?}"), "Tally(an echo)");
    }

    /// A board that counts up to a number.
    struct Counter {
        counted: u32,
        last: u32,
    }

    impl Line for Counter {
        fn describe(&self) -> String {
            "a counter".into()
        }

        fn send(&mut self, _: &[u32]) -> Result<(), Error> {
            Ok(())
        }

        fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
            self.counted = self.last.min(self.counted + 1);
            Ok(vec![0, self.counted].into())
        }
    }

    #[test]
    fn boards_count_until_they_have_all_or_no_more() {
        let tally = |last| Tally::new(Box::new(Counter { counted: 0, last }), LENGTHS);
        tally(1000).wait_for(1000).unwrap();
        let error = tally(999).wait_for(1000).unwrap_err();
        assert_eq!(error.to_string(), "the tally board counted 999 ballots of 1000");
    }
}
