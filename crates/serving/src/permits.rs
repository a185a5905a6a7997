//! Permits for connections after their handshake, and for requests, limited in total and per
//! client.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Permits, counted by holder.
#[derive(Debug)]
pub struct Permits<K: Eq + Hash> {
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    all: usize,
    held: HashMap<K, usize>,
}

/// A permit. Dropping it returns it.
#[derive(Debug)]
pub struct Permit<K: Eq + Hash + Copy> {
    permits: Arc<Permits<K>>,
    whose: K,
}

impl<K: Eq + Hash + Copy> Permits<K> {
    /// Creates a counter without any permits held.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { all: 0, held: HashMap::new() }) })
    }

    /// Returns a permit if fewer than `most` are held in total and fewer than `each` by this
    /// client.
    pub fn acquire(self: &Arc<Self>, whose: K, most: usize, each: usize) -> Option<Permit<K>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = state.held.get(&whose).copied().unwrap_or(0);
        if state.all >= most || mine >= each {
            return None;
        }
        state.all += 1;
        state.held.insert(whose, mine + 1);
        Some(Permit { permits: self.clone(), whose })
    }
}

impl<K: Eq + Hash + Copy> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut state = self.permits.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.all -= 1;
        match state.held.get_mut(&self.whose) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(state.held.remove(&self.whose)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_for_each() {
        let permits = Permits::new();
        let first = permits.acquire(1, usize::MAX, 1).expect("it is free");
        assert!(permits.acquire(1, usize::MAX, 1).is_none());
        assert!(permits.acquire(2, usize::MAX, 1).is_some());
        drop(first);
        assert!(permits.acquire(1, usize::MAX, 1).is_some());
    }

    #[test]
    fn places_are_given_back() {
        let permits = Permits::new();
        let first = permits.acquire("one", 3, 2).unwrap();
        let _second = permits.acquire("one", 3, 2).unwrap();
        assert!(permits.acquire("one", 3, 2).is_none(), "no more for one client");
        let third = permits.acquire("other", 3, 2).unwrap();
        assert!(permits.acquire("other", 3, 2).is_none(), "no more at all");
        drop(first);
        assert!(permits.acquire("one", 3, 2).is_some());
        drop(third);
        let state = permits.state.lock().unwrap();
        assert_eq!((state.all, state.held.len()), (1, 1), "nothing is kept of whoever is gone");
    }
}
