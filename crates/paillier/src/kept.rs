//! Randomisers kept for later: for this process alone, and not for long.

use crate::{Error, Randomisers};
use hearith_arith::Process;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// Randomisers kept until something is encrypted with them.
///
/// A randomiser that serves two ciphertexts gives the difference of their plaintexts away to
/// everybody. So the child of a `fork` finds none of its parent's, and randomisers older than
/// [`Kept::LONGEST`] are wiped: a machine that is resumed twice from one snapshot holds the same
/// randomisers twice, and most likely notices by its clock that they are old. A copy that is
/// resumed within that time, or with a clock that was not put right yet, does not.
pub struct Kept {
    process: Process,
    longest: Duration,
    /// The oldest first.
    batches: VecDeque<(Moment, Randomisers)>,
}

impl Kept {
    /// How long randomisers are kept.
    pub const LONGEST: Duration = Duration::from_secs(60);

    /// None so far.
    pub fn new() -> Self {
        Self::no_longer_than(Self::LONGEST)
    }

    pub(crate) fn no_longer_than(longest: Duration) -> Self {
        Self { process: Process::current(), longest, batches: VecDeque::new() }
    }

    /// Randomisers that may be used.
    pub fn len(&self) -> usize {
        match self.process.is_current() {
            true => self.fresh().map(|(_, kept)| kept.len()).sum(),
            false => 0,
        }
    }

    /// Whether none may be used.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps randomisers that were made just now.
    pub fn put(&mut self, made: Randomisers) {
        self.discard();
        self.batches.push_back((Moment::now(), made));
    }

    /// Takes `len` randomisers, or as many as there are, of the oldest batches first; `None` if
    /// there are none.
    ///
    /// # Errors
    /// If the batches that were put here belong to several keys.
    pub fn take(&mut self, len: usize) -> Result<Option<Randomisers>, Error> {
        self.discard();
        let mut taken: Option<Randomisers> = None;
        while let Some((_, batch)) = self.batches.front_mut() {
            let missing = len - taken.as_ref().map_or(0, Randomisers::len);
            let more = batch.take(batch.len().min(missing))?;
            if batch.is_empty() {
                self.batches.pop_front();
            }
            match &mut taken {
                Some(taken) => taken.append(more)?,
                None => taken = Some(more),
            }
            if taken.as_ref().is_some_and(|taken| taken.len() == len) {
                break;
            }
        }
        Ok(taken)
    }

    /// Wipes what may not be used any more; whether there was anything.
    pub(crate) fn discard(&mut self) -> bool {
        let before = self.batches.len();
        if !self.process.is_current() {
            self.batches.clear();
            self.process = Process::current();
        }
        let longest = self.longest;
        self.batches.retain(|(made, _)| made.is_within(longest));
        self.batches.len() < before
    }

    /// How long until the oldest may not be used any more.
    pub(crate) fn left(&self) -> Option<Duration> {
        let (made, _) = self.batches.front()?;
        Some(self.longest.saturating_sub(made.steady.elapsed()))
    }

    fn fresh(&self) -> impl Iterator<Item = &(Moment, Randomisers)> {
        self.batches.iter().filter(|(made, _)| made.is_within(self.longest))
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({})", self.len())
    }
}

/// A moment by both clocks: one stands still while the machine sleeps, the other is put right when
/// a snapshot is resumed.
struct Moment {
    steady: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }

    /// Whether no more time than that has passed since, and none backwards.
    fn is_within(&self, longest: Duration) -> bool {
        self.steady.elapsed() < longest && self.wall.elapsed().is_ok_and(|passed| passed < longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};

    fn key() -> PublicKey {
        let key = PrivateKey::generate(128, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        key.public().clone()
    }

    #[test]
    fn the_oldest_are_taken_first_and_each_once() {
        let key = key();
        let mut kept = Kept::new();
        assert!(kept.take(1).unwrap().is_none());
        kept.put(key.randomisers(3).unwrap());
        kept.put(key.randomisers(2).unwrap());
        assert_eq!(kept.len(), 5);
        assert_eq!(kept.take(4).unwrap().unwrap().len(), 4);
        assert_eq!(kept.len(), 1);
        assert_eq!(kept.take(4).unwrap().unwrap().len(), 1);
        assert!(kept.is_empty() && kept.left().is_none());
    }

    #[test]
    fn old_ones_are_wiped() {
        let key = key();
        let mut kept = Kept::new();
        for moment in [
            // An hour ago by either clock, and in an hour by one that was put back.
            Moment { steady: Instant::now().checked_sub(Duration::from_secs(3600)).unwrap(), ..Moment::now() },
            Moment { wall: SystemTime::now() - Duration::from_secs(3600), ..Moment::now() },
            Moment { wall: SystemTime::now() + Duration::from_secs(3600), ..Moment::now() },
        ] {
            kept.batches.push_back((moment, key.randomisers(3).unwrap()));
            assert!(kept.is_empty());
            assert!(kept.take(1).unwrap().is_none());
            assert!(kept.batches.is_empty());
        }
        assert_eq!(Kept::LONGEST, Duration::from_secs(60));
    }
}
