//! Short-term storage of randomisers within one process.

use crate::{Error, Randomisers};
use hearith_arith::Process;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// Randomisers stored until an encryption uses them.
///
/// A randomiser that is used for two ciphertexts reveals the difference of their plaintexts to
/// everybody. The child of a `fork` therefore finds none of its parent's randomisers, and
/// randomisers older than [`Kept::LONGEST`] are wiped. A machine that is resumed twice from one
/// snapshot holds the same randomisers twice, but usually detects by its clock that they are old. A
/// copy that is resumed within that time, or before its clock is corrected, does not.
pub struct Kept {
    process: Process,
    longest: Duration,
    /// The oldest batch first.
    batches: VecDeque<(Moment, Randomisers)>,
}

impl Kept {
    /// Maximum age of a stored randomiser.
    pub const LONGEST: Duration = Duration::from_secs(60);

    /// An empty store.
    pub fn new() -> Self {
        Self::with_max_age(Self::LONGEST)
    }

    pub(crate) fn with_max_age(longest: Duration) -> Self {
        Self { process: Process::current(), longest, batches: VecDeque::new() }
    }

    /// Number of usable randomisers.
    pub fn len(&self) -> usize {
        match self.process.is_current() {
            true => self.fresh().map(|(_, kept)| kept.len()).sum(),
            false => 0,
        }
    }

    /// Whether there are no usable randomisers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores randomisers that were just made.
    pub fn put(&mut self, made: Randomisers) {
        self.discard();
        self.batches.push_back((Moment::now(), made));
    }

    /// Takes up to `len` randomisers, the oldest batches first; `None` if there are none.
    ///
    /// # Errors
    /// If the stored batches belong to several keys.
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

    /// Wipes unusable randomisers and returns whether there were any.
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

    /// Time until the oldest batch expires.
    pub(crate) fn time_left(&self) -> Option<Duration> {
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

/// A moment on two clocks: one stops while the machine sleeps, the other is corrected when a
/// snapshot is resumed.
struct Moment {
    steady: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }

    /// Whether less than `longest` has passed since this moment on both clocks, and none ran
    /// backwards.
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
        assert!(kept.is_empty() && kept.time_left().is_none());
    }

    #[test]
    fn old_ones_are_wiped() {
        let key = key();
        let mut kept = Kept::new();
        for moment in [
            // An hour ago on either clock, and an hour ahead on a clock that was set back.
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
