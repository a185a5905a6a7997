//! The tally board of the ballot machine (`rtl/election/tally_board.sv`), from the side of the
//! officials who close an election.
//!
//! The board reports the number of counted ballots and returns a trustee's shares of the marks'
//! products, with proofs. [`Order`] makes and reads messages without a line; [`Tally`] has a
//! [`Line`].

use std::fmt;

use hearith_paillier::PublicKey;
use zeroize::Zeroizing;

use super::{Line, bytes};
use crate::{Error, ErrorKind};

/// Queries without progress of the count before the board is given up.
const QUESTIONS: usize = 200;

/// Code of the answer to a refused order.
const DECLINED: u32 = 3;
/// Bits by which a trustee's stored value, and the answer of a proof, may be longer than a share.
const EXPONENT_BITS: u32 = 64;
const ANSWER_BITS: u32 = 512;

/// The capability of counting ballots and of computing a trustee's shares of the totals.
pub trait CountsBallots {
    /// Sets up a tally board for an election and a trustee, and starts to send it these ballots.
    /// The settings are as in [`MakesBallots::set_up`](super::MakesBallots::set_up).
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`], [`ErrorKind::TooManyContests`], [`ErrorKind::TooManyMarks`],
    /// [`ErrorKind::TooManyBallots`], [`ErrorKind::ShareTooLong`], [`ErrorKind::Settings`], or the
    /// board cannot be reached.
    fn set_up_tally(&self, setup: &TallySetup<'_>, ballots: &[Counted], settings: &str) -> Result<Tally, Error>;
}

/// The data of an election and a trustee that a tally board is set up with, all public. Numbers are
/// big-endian.
#[derive(Clone, Debug)]
pub struct TallySetup<'a> {
    /// The key that encrypts ballots.
    pub key: &'a PublicKey,
    /// The election's id.
    pub election: [u8; 32],
    /// Marks of each contest.
    pub marks: &'a [usize],
    /// The base `v` of the verification values.
    pub generator: Vec<u8>,
    /// The trustee's verification value `v_i`.
    pub verifier: Vec<u8>,
    /// Number of trustees that a decryption needs.
    pub needed: u32,
    /// Number of trustees in total.
    pub trustees: u32,
    /// The trustee's number, from 1.
    pub trustee: u32,
    /// Bits of the longest share of this key.
    pub share_bits: u32,
}

/// Lengths of the numbers that a board receives and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Bytes of the key's `n`: a multiple of 8.
    pub key_bytes: usize,
    /// Bits of the longest share of this key.
    pub share_bits: u32,
    /// Bits of the longest share that the board accepts.
    pub most_share_bits: u32,
}

impl Lengths {
    /// Words of a number modulo `n^2`.
    fn number_words(&self) -> usize {
        self.key_bytes / 2
    }

    /// Words of `D s_i` in a message to the board.
    fn exponent_words(&self) -> usize {
        (self.most_share_bits + EXPONENT_BITS).div_ceil(32) as usize
    }

    /// Words of a proof's answer in a message of the board.
    fn answer_words(&self) -> usize {
        (self.most_share_bits + ANSWER_BITS).div_ceil(32) as usize
    }

    /// Bytes of a proof's answer in its public form.
    fn answer_bytes(&self) -> usize {
        (self.share_bits + ANSWER_BITS).div_ceil(8) as usize
    }
}

/// A ballot to be counted, for one contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The contest.
    pub contest: u32,
    /// Number of the ballot, of 24 bits. It is unique in its contest.
    pub number: u32,
    /// The marks' ciphertexts, big-endian.
    pub ciphertexts: Vec<Vec<u8>>,
}

impl Counted {
    /// The message to a board for keys of `key_bytes` bytes and ballots of `marks` marks. Marks
    /// that the contest lacks are filled with 0.
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

/// The reason why the board declines an order.
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
            Decline::UnknownOrder => "it does not know the command",
            Decline::NoSuchContest => "it has no such contest",
            Decline::NoSuchMark => "the contest has no such mark",
            Decline::NoShare => "no share of the key is loaded",
            Decline::WrongShare => "the share of the key does not belong to its trustee",
            Decline::NoNoise => "the noise source failed, or has not started",
            Decline::Unknown => "the driver does not know the reason",
        })
    }
}

/// An order to a board. Contests and marks count from 0.
#[derive(Clone, Copy)]
pub enum Order<'a> {
    /// Requests the number of counted ballots.
    Count,
    /// Requests a mark's product.
    Product {
        /// The contest.
        contest: u32,
        /// Its mark.
        mark: u32,
    },
    /// Requests the trustee's share of the decryption of a mark's product.
    Share {
        /// The contest.
        contest: u32,
        /// Its mark.
        mark: u32,
    },
    /// Stores a trustee's share of the key: `D s_i`, big-endian, at most 8 bytes longer than the
    /// longest share that the board accepts.
    Load(&'a [u8]),
    /// Deletes the stored share.
    Forget,
}

/// A board's reply to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The number of counted ballots.
    Count(u32),
    /// A product, big-endian.
    Product(Vec<u8>),
    /// A share of a decryption in its public form: `c_i`, `a`, `b` and `z`, big-endian.
    Share(Vec<u8>),
    /// The order was carried out.
    Done,
    /// The order was declined.
    Declined(Decline),
}

impl Order<'_> {
    /// The message to a board for numbers of these lengths.
    ///
    /// # Errors
    /// [`ErrorKind::OrderDeclined`] for a share longer than any valid one.
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

    /// Reads the reply of a board for numbers of these lengths. `None` if it answers another order.
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

/// A trustee's exponent in words for the board, the lowest first.
fn exponent(share: &[u8], lengths: &Lengths) -> Result<Zeroizing<Vec<u32>>, Error> {
    let width = lengths.exponent_words();
    if share.len() > 4 * width {
        return Err(ErrorKind::OrderDeclined { decline: Decline::WrongShare }.into());
    }
    Ok(little_endian(share, width))
}

/// A number in `width` words, the lowest first. Excess high bytes are dropped.
fn little_endian(number: &[u8], width: usize) -> Zeroizing<Vec<u32>> {
    let mut words = Zeroizing::new(vec![0; width]);
    for (at, &byte) in number.iter().rev().enumerate().take(4 * width) {
        words[at / 4] |= u32::from(byte) << (8 * (at % 4));
    }
    words
}

/// The bytes of a share of a decryption.
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
    /// Creates the driver for the board on this line, for numbers of these lengths.
    pub fn new(line: Box<dyn Line>, lengths: Lengths) -> Self {
        Self { line, lengths }
    }

    /// Returns the number of ballots that the board has counted.
    ///
    /// # Errors
    /// [`ErrorKind::OrderDeclined`], [`ErrorKind::WrongAnswer`], or errors of the line.
    pub fn count(&mut self) -> Result<u32, Error> {
        match self.ask(&Order::Count)? {
            Reply::Count(count) => Ok(count),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Waits until the board has counted `ballots` ballots.
    ///
    /// # Errors
    /// [`ErrorKind::NotCounted`] if it does not, or those of [`Tally::count`].
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
    /// Those of [`Tally::count`].
    pub fn product(&mut self, contest: u32, mark: u32) -> Result<Vec<u8>, Error> {
        match self.ask(&Order::Product { contest, mark })? {
            Reply::Product(product) => Ok(product),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }

    /// Stores a trustee's share of the key, `D s_i`, big-endian. The board accepts it only if it
    /// matches the `v_i` that the board is set up with.
    ///
    /// # Errors
    /// Those of [`Tally::count`].
    pub fn load(&mut self, share: &[u8]) -> Result<(), Error> {
        self.done(&Order::Load(share))
    }

    /// Deletes the stored share.
    ///
    /// # Errors
    /// Those of [`Tally::count`].
    pub fn forget(&mut self) -> Result<(), Error> {
        self.done(&Order::Forget)
    }

    /// The trustee's share of the decryption of a mark's product, with its proof, in its public
    /// form (docs/explanation/threshold.md).
    ///
    /// # Errors
    /// Those of [`Tally::count`].
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
    /// A board for shares longer than those of the key.
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
        // 1090 bits plus 64 are 37 words, whatever the length of the key's own shares.
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
        // A mark that the contest lacks.
        assert_eq!((words[19], words[20..].iter().sum::<u32>(), words.len()), (1, 0, 3 + 2 * 16));
    }

    #[test]
    fn replies_are_those_to_the_order() {
        let share = Order::Share { contest: 2, mark: 1 };
        let message: Vec<u32> = [5, 2, 1].into_iter().chain((0..80).map(|at| at / 16 + 1)).collect();
        let Some(Reply::Share(bytes)) = share.reply(&LENGTHS, &message) else { panic!("a share") };
        assert_eq!(bytes.len(), 3 * 64 + 128);
        // c_i, a and b of 16 words each, and z of 32, whose highest words are the last.
        assert_eq!((bytes[3], bytes[67], bytes[131], bytes[195], bytes[319]), (1, 2, 3, 5, 4));
        for wrong in [&message[..82], &[&message[..], &[0]].concat(), &[&[5, 2, 0], &message[3..]].concat(), &[6]] {
            assert_eq!(share.reply(&LENGTHS, wrong), None);
        }
        // The answer has 51 words, of which 1548 bits are used: 193.5 bytes.
        let mut message: Vec<u32> = [5, 2, 1].into_iter().chain((0..48 + 51).map(|at| u32::from(at < 96))).collect();
        message[3 + 48 + 48] = 0x0fff;
        let Some(Reply::Share(bytes)) = share.reply(&LONGER, &message) else { panic!("a share") };
        assert_eq!((bytes.len(), &bytes[192..196]), (3 * 64 + 194, &[0x0f, 0xff, 0, 0][..]));
        message[3 + 48 + 48] = 0x1_0000;
        assert_eq!(share.reply(&LONGER, &message), None);
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

    /// A board that repeats the request and then sends something else.
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
