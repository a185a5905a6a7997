//! Places for connections whose handshake is done, and for requests: in all, and for each client.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Places by whose they are.
#[derive(Debug)]
pub struct Places<K: Eq + Hash> {
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    all: usize,
    taken: HashMap<K, usize>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub struct Place<K: Eq + Hash + Copy> {
    places: Arc<Places<K>>,
    whose: K,
}

impl<K: Eq + Hash + Copy> Places<K> {
    /// All places, free.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { all: 0, taken: HashMap::new() }) })
    }

    /// A place for a client, if fewer than `most` are taken, and by this client fewer than `each`.
    pub fn take(self: &Arc<Self>, whose: K, most: usize, each: usize) -> Option<Place<K>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = state.taken.get(&whose).copied().unwrap_or(0);
        if state.all >= most || mine >= each {
            return None;
        }
        state.all += 1;
        state.taken.insert(whose, mine + 1);
        Some(Place { places: self.clone(), whose })
    }
}

impl<K: Eq + Hash + Copy> Drop for Place<K> {
    fn drop(&mut self) {
        let mut state = self.places.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.all -= 1;
        match state.taken.get_mut(&self.whose) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(state.taken.remove(&self.whose)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_for_each() {
        let places = Places::new();
        let first = places.take(1, usize::MAX, 1).expect("it is free");
        assert!(places.take(1, usize::MAX, 1).is_none());
        assert!(places.take(2, usize::MAX, 1).is_some());
        drop(first);
        assert!(places.take(1, usize::MAX, 1).is_some());
    }

    #[test]
    fn places_are_given_back() {
        let places = Places::new();
        let first = places.take("one", 3, 2).unwrap();
        let _second = places.take("one", 3, 2).unwrap();
        assert!(places.take("one", 3, 2).is_none(), "no more for one client");
        let third = places.take("other", 3, 2).unwrap();
        assert!(places.take("other", 3, 2).is_none(), "no more at all");
        drop(first);
        assert!(places.take("one", 3, 2).is_some());
        drop(third);
        let state = places.state.lock().unwrap();
        assert_eq!((state.all, state.taken.len()), (1, 1), "nothing is kept of whoever is gone");
    }
}
