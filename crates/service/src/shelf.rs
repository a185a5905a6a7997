//! Answers that wait for their clients, in bounded room: when there is no more, whoever has left one unread longest is cut off.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::listener::Client;
use crate::metrics::Metrics;

/// All answers that were computed and not yet taken.
#[derive(Debug)]
pub(crate) struct Shelf {
    most: usize,
    state: Mutex<State>,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    put: u64,
    /// By age, the oldest first.
    answers: BTreeMap<u64, (usize, Client)>,
}

/// An answer's room, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shelf: Arc<Shelf>,
    number: u64,
}

impl Shelf {
    /// Room for so many bytes.
    pub(crate) fn new(most: usize, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), metrics })
    }

    /// Room for an answer to a client. Others make way for it; alone it may be as large as it is.
    pub(crate) fn put(self: &Arc<Self>, bytes: usize, client: &Client) -> Place {
        let mut state = self.state();
        let number = state.put;
        state.put += 1;
        while state.bytes + bytes > self.most {
            let Some((_, (bytes, client))) = state.answers.pop_first() else { break };
            state.bytes -= bytes;
            self.metrics.unread_bytes.dec_by(bytes as i64);
            client.cut_off(&self.metrics);
        }
        state.bytes += bytes;
        self.metrics.unread_bytes.inc_by(bytes as i64);
        state.answers.insert(number, (bytes, client.clone()));
        Place { shelf: self.clone(), number }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.shelf.state();
        if let Some((bytes, _)) = state.answers.remove(&self.number) {
            state.bytes -= bytes;
            self.shelf.metrics.unread_bytes.dec_by(bytes as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_way() {
        let metrics = Arc::new(Metrics::default());
        let shelf = Shelf::new(100, metrics.clone());
        let clients: Vec<Client> = (0..4).map(|_| Client::default()).collect();
        let cut = || clients.iter().map(Client::is_cut_off).collect::<Vec<_>>();
        let (first, second) = (shelf.put(40, &clients[0]), shelf.put(40, &clients[1]));
        drop(first);
        let third = shelf.put(60, &clients[2]);
        assert_eq!(cut(), [false; 4], "what was taken leaves room");
        let _fourth = shelf.put(50, &clients[3]);
        assert_eq!(cut(), [false, true, true, false]);
        // Whose answers are gone already.
        drop((second, third));
        assert_eq!((shelf.state().bytes, metrics.unread_bytes.get()), (50, 50));
        // Larger than all room there is.
        let fifth = shelf.put(1000, &clients[0]);
        assert_eq!(cut(), [false, true, true, true]);
        drop(fifth);
        assert_eq!((shelf.state().bytes, metrics.unread_bytes.get(), metrics.cut_off.get()), (0, 0, 3));
    }
}
