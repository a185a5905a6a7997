//! Randomisers precomputed in the background.

use crate::{Error, Kept, PublicKey, Randomisers};
use hearith_arith::Process;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// A pool of randomisers that a background thread refills. Encrypting single numbers then takes one
/// multiplication each.
///
/// The thread has the lowest priority where the operating system supports priorities per thread
/// (Linux), and makes one randomiser per lane of the engine at a time. Remaining randomisers are
/// wiped when the pool is dropped. The child of a `fork` finds its parent's pool empty, so no
/// randomiser is used twice. Randomisers are wiped after [`Kept::LONGEST`], and the pool is
/// refilled at its next use.
///
/// ```
/// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::encode_signed};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
/// # let public = private.public();
/// let pool = public.randomiser_pool(100)?;
/// for reading in [17, -4] {
///     let reading = encode_signed(public, &[reading])?;
///     public.encrypt_with(&reading, &mut pool.take(1)?)?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct RandomiserPool {
    shared: Arc<Shared>,
    filler: Option<JoinHandle<()>>,
    /// The process in which the background thread runs.
    process: Process,
}

struct Shared {
    key: PublicKey,
    capacity: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    kept: Kept,
    closed: bool,
    /// Whether the pool was used since randomisers last expired. An unused pool is not refilled.
    used: bool,
}

impl PublicKey {
    /// Creates a pool of `len` randomisers, rounded up to a multiple of the engine's lanes. The
    /// pool is empty at first.
    ///
    /// # Errors
    /// If the operating system cannot start a thread.
    pub fn randomiser_pool(&self, len: usize) -> Result<RandomiserPool, std::io::Error> {
        self.randomiser_pool_for(len, Kept::LONGEST)
    }

    fn randomiser_pool_for(&self, len: usize, longest: Duration) -> Result<RandomiserPool, std::io::Error> {
        let kept = Kept::with_max_age(longest);
        let shared = Arc::new(Shared {
            key: self.clone(),
            capacity: len.next_multiple_of(self.engine().lanes()),
            state: Mutex::new(State { kept, closed: false, used: true }),
            changed: Condvar::new(),
        });
        let its = Arc::clone(&shared);
        let filler = Builder::new().name("randomisers".into()).spawn(move || its.fill())?;
        Ok(RandomiserPool { shared, filler: Some(filler), process: Process::current() })
    }
}

impl RandomiserPool {
    /// Number of available randomisers.
    pub fn len(&self) -> usize {
        if self.is_foreign() { 0 } else { self.shared.state().kept.len() }
    }

    /// Whether no randomisers are available. [`RandomiserPool::take`] then computes them
    /// immediately.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes `len` randomisers and computes missing ones immediately.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn take(&self, len: usize) -> Result<Randomisers, Error> {
        let Some(mut taken) = self.ready(len)? else { return self.shared.key.randomisers(len) };
        if taken.len() < len {
            taken.append(self.shared.key.randomisers(len - taken.len())?)?;
        }
        Ok(taken)
    }

    /// Takes up to `len` available randomisers without computing any; `None` if there are none.
    ///
    /// # Errors
    /// None in practice, since all randomisers belong to one key.
    pub fn ready(&self, len: usize) -> Result<Option<Randomisers>, Error> {
        if self.is_foreign() {
            return Ok(None);
        }
        let taken = {
            let mut state = self.shared.state();
            state.used = true;
            state.kept.take(len)?
        };
        self.shared.changed.notify_one();
        Ok(taken)
    }

    /// Whether this is a forked child of the process that created the pool. The lock may have been
    /// held during the fork, so the child must not touch the data behind it.
    fn is_foreign(&self) -> bool {
        !self.process.is_current()
    }
}

impl Drop for RandomiserPool {
    fn drop(&mut self) {
        let filler = self.filler.take();
        if self.is_foreign() {
            // The thread does not exist in this process.
            return std::mem::forget(filler);
        }
        self.shared.state().closed = true;
        self.shared.changed.notify_one();
        // Ignores a panic of the thread.
        let _ = filler.map(JoinHandle::join);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refills the pool whenever there is capacity for one randomiser per lane, until it is closed.
    fn fill(&self) {
        lower_priority();
        while self.wait_for_capacity() {
            // If the generator fails, encryption reports it: it finds the pool empty and computes
            // its own randomisers.
            let Ok(made) = self.key.randomisers(self.key.engine().lanes()) else { return };
            self.state().kept.put(made);
        }
    }

    /// Waits until a used pool has capacity, and wipes expired randomisers in the meantime. Returns
    /// false if the pool is closed.
    fn wait_for_capacity(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.kept.discard() {
                state.used = false;
            }
            if state.closed {
                return false;
            }
            if state.used && state.kept.len() + self.key.engine().lanes() <= self.capacity {
                return true;
            }
            state = match state.kept.time_left() {
                Some(time_left) => {
                    self.changed.wait_timeout(state, time_left).map_or_else(|error| error.into_inner().0, |it| it.0)
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Gives this thread the lowest priority.
fn lower_priority() {
    // The thread works without it if this fails.
    #[cfg(all(target_os = "linux", not(miri)))]
    let _ = rustix::process::setpriority_process(None, 19);
}

impl fmt::Debug for RandomiserPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RandomiserPool({} of {} of key {})", self.len(), self.shared.capacity, self.shared.key.id())
    }
}

#[cfg(test)]
mod tests {
    use crate::encoding::encode_signed;
    use crate::{Engine, KeyPolicy, PrivateKey, Variant};
    use std::collections::HashSet;
    use std::time::Duration;

    #[test]
    fn a_pool_fills_up_and_every_randomiser_serves_once() {
        let key = PrivateKey::generate(128, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let public = key.public();
        let pool = public.randomiser_pool(20).unwrap();
        let capacity = 20usize.next_multiple_of(public.engine().lanes());
        let filled = || {
            while pool.len() < capacity {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let mut seen = HashSet::new();
        for round in 0..3 {
            filled();
            // Single randomisers, part of a lane group, then more than available.
            for len in [1, 1, 3, capacity, capacity + 5] {
                let plaintexts = encode_signed(public, &vec![round - 1; len]).unwrap();
                let encrypted = public.encrypt_with(&plaintexts, &mut pool.take(len).unwrap()).unwrap();
                assert_eq!(key.decrypt(&encrypted).unwrap(), plaintexts);
                let zeros = public.subtract(&encrypted, &public.zeros(len)).unwrap();
                seen.extend(zeros.to_be_bytes().chunks(public.ciphertext_bytes()).map(<[u8]>::to_vec));
            }
        }
        assert_eq!(seen.len(), 3 * (1 + 1 + 3 + capacity + capacity + 5));
        filled();
        assert_eq!(pool.len(), capacity);
        assert_eq!(format!("{pool:?}"), format!("RandomiserPool({capacity} of {capacity} of key {})", public.id()));
    }

    #[test]
    fn nothing_is_kept_where_nothing_is_asked_for() {
        let key = PrivateKey::generate(128, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let pool = key.public().randomiser_pool(0).unwrap();
        assert_eq!(pool.take(2).unwrap().len(), 2);
        assert!(pool.is_empty() && pool.take(0).unwrap().is_empty());
    }

    #[test]
    fn what_is_too_old_is_made_again_when_it_is_used() {
        let key = PrivateKey::generate(128, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let public = key.public();
        let lanes = public.engine().lanes();
        let pool = public.randomiser_pool_for(lanes, Duration::from_millis(1)).unwrap();
        for _ in 0..3 {
            // Wait until the thread has wiped its randomisers and is waiting for a use.
            while pool.shared.state().used {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(pool.is_empty() && pool.shared.state().kept.time_left().is_none());
            assert_eq!(pool.take(lanes + 1).unwrap().len(), lanes + 1);
        }
    }

    #[test]
    fn a_pool_is_closed_in_the_middle_of_its_work() {
        let key = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        for _ in 0..20 {
            drop(key.public().randomiser_pool(10_000).unwrap());
        }
    }
}
