//! Several cards that share the rows of a batch, or the CPU if a batch is too small for a card.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use hearith_arith::Process;
use hearith_device::{ComputingDevice, Counters, DecryptingDevice, Device, Error, Trust};
use hearith_paillier::{
    Ciphertexts, ComputeError, DecryptError, DecryptionBackend, KeyId, Plaintexts, PrivateKey, PublicKey,
    PublicKeyBackend,
};

use crate::card::ROWS;
use crate::choice::{AUTO_ROWS, Choice};
use crate::driver::Driver;
use crate::loaded::{LoadedCard, failed};

/// Chunks of a batch: copies overlap with work from the second one on.
const CHUNKS: usize = 4;
/// Least and most rows that a card processes at a time when several share a batch.
const SHARE: [usize; 2] = [1 << 12, CHUNKS * ROWS];

/// Cards selected by name, with a key. Each card processes the next rows of a batch as soon as it
/// has finished the previous ones.
#[derive(Debug)]
pub struct LoadedCards {
    key: Key,
    trust: Trust,
    choice: Choice,
    /// Under [`Choice::Auto`], the cards are opened when a batch is large enough. If that fails,
    /// there are none.
    cards: OnceLock<Vec<LoadedCard>>,
    process: Process,
}

#[derive(Debug)]
enum Key {
    Public(PublicKey),
    Private(PrivateKey),
}

impl LoadedCards {
    /// Opens cards to compute with a public key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`](hearith_device::ErrorKind::KeyTooLarge), or a
    /// [`Fault`](crate::Fault): there is no such card, or it cannot be opened. [`Choice::Auto`]
    /// never fails, because it then uses the CPU.
    pub fn with_public(choice: Choice, key: &PublicKey, trust: Trust) -> Result<Self, Error> {
        Self::of(choice, Key::Public(key.clone()), trust)
    }

    /// Opens cards to decrypt with a private key, and to compute as its owner.
    ///
    /// # Errors
    /// Those of [`LoadedCards::with_public`].
    pub fn with_private(choice: Choice, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        Self::of(choice, Key::Private(key.clone()), trust)
    }

    fn of(choice: Choice, key: Key, trust: Trust) -> Result<Self, Error> {
        let made = Self { key, trust, choice, cards: OnceLock::new(), process: Process::current() };
        if choice != Choice::Auto {
            let cards = made.open()?;
            made.cards.set(cards).expect("it is empty");
        }
        Ok(made)
    }

    /// Opens cards by their numbers, for tests: some of the emulated cards are faulty on purpose.
    ///
    /// # Errors
    /// Those of [`LoadedCards::with_private`].
    #[cfg(feature = "emulated")]
    pub fn of_cards(numbers: &[usize], key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let driver = Driver::load().map_err(failed)?;
        let open = |number: &usize| LoadedCard::with_private(&driver, *number, key, trust);
        let cards = OnceLock::from(numbers.iter().map(open).collect::<Result<Vec<_>, _>>()?);
        let (key, choice, process) = (Key::Private(key.clone()), Choice::All, Process::current());
        Ok(Self { key, trust, choice, cards, process })
    }

    fn open(&self) -> Result<Vec<LoadedCard>, Error> {
        let driver = Driver::load().map_err(failed)?;
        let numbers = self.choice.cards(&driver).map_err(failed)?;
        let open = |number| match &self.key {
            Key::Public(key) => LoadedCard::with_public(&driver, number, key, self.trust),
            Key::Private(key) => LoadedCard::with_private(&driver, number, key, self.trust),
        };
        numbers.into_iter().map(open).collect()
    }

    fn key(&self) -> &PublicKey {
        match &self.key {
            Key::Public(key) => key,
            Key::Private(key) => key.public(),
        }
    }

    /// The choice of cards.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Least number of rows for a call, if there are that many; 0 where the CPU computes.
    pub fn rows_of(&self, rows: usize) -> usize {
        match self.choice {
            Choice::Auto if rows < AUTO_ROWS => 0,
            _ => self.batch_size(),
        }
    }

    /// The cards for a batch of `rows` rows; empty for the CPU.
    fn cards(&self, rows: usize) -> &[LoadedCard] {
        if self.choice == Choice::Auto {
            if rows < AUTO_ROWS || !self.process.is_current() {
                return &[];
            }
            return self.cards.get_or_init(|| self.open().unwrap_or_default());
        }
        self.opened()
    }

    fn opened(&self) -> &[LoadedCard] {
        self.cards.get().map_or(&[], Vec::as_slice)
    }

    /// Encryption on the CPU, as the key's owner for a private key.
    fn on_cpu(&self) -> &dyn Owned {
        match &self.key {
            Key::Public(key) => key,
            Key::Private(key) => key,
        }
    }
}

/// The randomised operations of keys.
trait Owned {
    fn encrypted(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, hearith_paillier::Error>;
    fn rerandomised(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, hearith_paillier::Error>;
}

impl Owned for PublicKey {
    fn encrypted(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, hearith_paillier::Error> {
        self.encrypt(plaintexts)
    }

    fn rerandomised(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, hearith_paillier::Error> {
        self.rerandomise(ciphertexts)
    }
}

impl Owned for PrivateKey {
    fn encrypted(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, hearith_paillier::Error> {
        self.encrypt(plaintexts)
    }

    fn rerandomised(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, hearith_paillier::Error> {
        self.rerandomise(ciphertexts)
    }
}

/// Distributes the pieces of a batch over the cards. Returns the results in the order of rows, or
/// the first error.
fn spread<T: Send, E: Send>(
    cards: &[LoadedCard],
    rows: usize,
    piece: usize,
    work: impl Fn(&LoadedCard, Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    if let [card] = cards {
        return Ok(vec![work(card, 0..rows)?]);
    }
    let count = rows.div_ceil(piece.max(1)).max(1);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let take = |card: &LoadedCard| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let range = number * piece..rows.min((number + 1) * piece);
            let result = work(card, range);
            if result.is_err() {
                next.fetch_max(count, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        cards.iter().for_each(|card| {
            scope.spawn(|| take(card));
        });
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Rows that a card processes at a time. Each card gets several pieces, so that a slow card does
/// not delay the batch.
fn share(rows: usize, cards: usize) -> usize {
    rows.div_ceil(4 * cards.max(1)).clamp(SHARE[0], SHARE[1])
}

fn joined(pieces: Vec<Ciphertexts>) -> Result<Ciphertexts, hearith_paillier::Error> {
    let (first, rest) = pieces.split_first().expect("there is a piece at least");
    if rest.is_empty() { Ok(first.clone()) } else { Ciphertexts::concat(first, &rest.iter().collect::<Vec<_>>()) }
}

/// An error of a piece that begins at row `start`, with its row counted from the start of the
/// batch.
fn at(error: ComputeError, start: usize) -> ComputeError {
    match error {
        ComputeError::Batch(error) => ComputeError::Batch(error.offset_rows(start)),
        other => other,
    }
}

impl LoadedCards {
    fn in_pieces(
        &self,
        cards: &[LoadedCard],
        rows: usize,
        work: impl Fn(&LoadedCard, Range<usize>) -> Result<Ciphertexts, ComputeError> + Sync,
    ) -> Result<Ciphertexts, ComputeError> {
        let piece = share(rows, cards.len());
        let pieces = spread(cards, rows, piece, |card, range| {
            let start = range.start;
            work(card, range).map_err(|error| at(error, start))
        })?;
        Ok(joined(pieces)?)
    }

    fn owns(&self, found: KeyId) -> Result<(), hearith_paillier::Error> {
        let expected = self.key().id();
        if expected == found { Ok(()) } else { Err(hearith_paillier::ErrorKind::WrongKey { expected, found }.into()) }
    }
}

impl PublicKeyBackend for LoadedCards {
    fn public(&self) -> &PublicKey {
        self.key()
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        match self.cards(plaintexts.len()) {
            [] => Ok(self.on_cpu().encrypted(plaintexts)?),
            cards => self.in_pieces(cards, plaintexts.len(), |card, rows| {
                PublicKeyBackend::encrypt(card, &plaintexts.range(rows)?)
            }),
        }
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        match self.cards(ciphertexts.len()) {
            [] => Ok(self.on_cpu().rerandomised(ciphertexts)?),
            cards => self.in_pieces(cards, ciphertexts.len(), |card, rows| card.rerandomise(&ciphertexts.range(rows)?)),
        }
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        match self.cards(a.len()) {
            cards if !cards.is_empty() && a.len() == b.len() => {
                self.in_pieces(cards, a.len(), |card, rows| card.add(&a.range(rows.clone())?, &b.range(rows)?))
            }
            // Also for the CPU's error.
            _ => Ok(self.key().add(a, b)?),
        }
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        match self.cards(ciphertexts.len()) {
            cards if !cards.is_empty() && ciphertexts.len() == scalars.len() => {
                self.in_pieces(cards, ciphertexts.len(), |card, rows| {
                    card.multiply(&ciphertexts.range(rows.clone())?, &scalars[rows], bits)
                })
            }
            _ => Ok(self.key().multiply_deterministic(ciphertexts, scalars, bits)?),
        }
    }

    /// Each card sums its rows of every group.
    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        let rows = ciphertexts.len();
        let cards = self.cards(rows.max(groups.iter().map(Vec::len).sum()));
        if cards.is_empty() || groups.iter().flatten().any(|&row| row as usize >= rows) {
            return Ok(self.key().sum_groups(ciphertexts, groups)?);
        }
        self.owns(ciphertexts.key_id())?;
        let piece = rows.div_ceil(cards.len()).max(SHARE[0]);
        let parts = spread(cards, rows, piece, |card, range| {
            if range.len() == rows {
                return card.sum_groups(ciphertexts, groups);
            }
            let here = |group: &Vec<u32>| {
                let here = group.iter().filter(|row| range.contains(&(**row as usize)));
                here.map(|row| row - range.start as u32).collect::<Vec<_>>()
            };
            let groups: Vec<Vec<u32>> = groups.iter().map(here).collect();
            card.sum_groups(&ciphertexts.range(range.clone())?, &groups)
        })?;
        let count = parts.len();
        let totals = joined(parts)?;
        if count == 1 {
            return Ok(totals);
        }
        let of_all = |group: usize| (0..count).map(|part| (part * groups.len() + group) as u32).collect();
        cards[0].sum_groups(&totals, &(0..groups.len()).map(of_all).collect::<Vec<_>>())
    }
}

impl DecryptionBackend for LoadedCards {
    fn public(&self) -> &PublicKey {
        self.key()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        let cards = self.cards(ciphertexts.len());
        if let (Key::Private(key), []) = (&self.key, cards) {
            return Ok(match self.trust {
                Trust::Checked => key.decrypt_checked(ciphertexts)?,
                Trust::Unchecked => key.decrypt(ciphertexts)?,
            });
        }
        let piece = share(ciphertexts.len(), cards.len());
        let pieces = spread(cards, ciphertexts.len(), piece, |card, rows| {
            let start = rows.start;
            card.decrypt(&ciphertexts.range(rows)?).map_err(|error| match error {
                DecryptError::Ciphertexts(error) => DecryptError::Ciphertexts(error.offset_rows(start)),
                other => other,
            })
        })?;
        let (first, rest) = pieces.split_first().expect("there is a piece at least");
        Ok(if rest.is_empty() { first.clone() } else { Plaintexts::concat(first, &rest.iter().collect::<Vec<_>>())? })
    }
}

impl Device for LoadedCards {
    fn describe(&self) -> String {
        match self.opened() {
            [] => format!("{}: no card was used", self.choice),
            cards => cards.iter().map(Device::describe).collect::<Vec<_>>().join("; "),
        }
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        let mut all = Counters::default();
        for card in self.cards.get_mut().into_iter().flatten() {
            let Counters { accepted, delivered, .. } = card.counters()?;
            all.accepted += accepted;
            all.delivered += delivered;
        }
        Ok(all)
    }

    fn batch_size(&self) -> usize {
        CHUNKS * ROWS * self.opened().len().max(1)
    }

    fn note(&mut self, rows: &str) -> Result<String, Error> {
        let describe = self.describe();
        let notes = self.cards.get_mut().into_iter().flatten().map(|card| card.note(rows));
        let notes = notes.collect::<Result<Vec<_>, _>>()?;
        Ok(if notes.is_empty() { describe } else { notes.join("; ") })
    }
}

impl DecryptingDevice for LoadedCards {}

impl ComputingDevice for LoadedCards {}
