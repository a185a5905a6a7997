//! Connections whose handshake is not done. If there are too many, the oldest is closed.
//!
//! Silent connections therefore displace each other, while handshakes that make progress finish in
//! time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::socket::Cut;

#[derive(Debug)]
pub(crate) struct Pending {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entered: u64,
    /// By order of arrival, oldest first.
    waiting: BTreeMap<u64, (IpAddr, Cut)>,
}

/// A handshake in progress. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Ticket {
    pending: Arc<Pending>,
    number: u64,
}

impl Pending {
    /// Allows at most `most` handshakes, and at least one.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), state: Mutex::default() })
    }

    /// Registers a handshake of a client that may have `each`. Cuts off the connection that makes
    /// room for it, if any.
    pub(crate) fn enter(self: &Arc<Self>, whose: IpAddr, each: usize, cut: Cut) -> Ticket {
        let mut state = self.state();
        let mut own = state.waiting.iter().filter(|(_, (other, _))| *other == whose).map(|(&number, _)| number);
        let oldest_own = own.next();
        // `next` has already consumed the first one.
        let displaced = match (oldest_own, own.count() + 1) {
            (Some(oldest), count) if count >= each.max(1) => Some(oldest),
            _ if state.waiting.len() >= self.most => state.waiting.keys().next().copied(),
            _ => None,
        };
        if let Some((_, cut)) = displaced.and_then(|number| state.waiting.remove(&number)) {
            cut.off();
        }
        let number = state.entered;
        state.entered += 1;
        state.waiting.insert(number, (whose, cut));
        Ticket { pending: self.clone(), number }
    }

    /// Cuts off the oldest connection to free its descriptor.
    pub(crate) fn displace_oldest(&self) {
        if let Some((_, (_, cut))) = self.state().waiting.pop_first() {
            cut.off();
        }
    }

    /// Cuts off all connections.
    pub(crate) fn clear(&self) {
        for (_, cut) in std::mem::take(&mut self.state().waiting).into_values() {
            cut.off();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending.state().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_way_those_of_the_same_client_first() {
        let pending = Pending::new(4);
        let [one, two, three]: [IpAddr; 3] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|text| text.parse().unwrap());
        let cuts: Vec<Cut> = (0..7).map(|_| Cut::default()).collect();
        let off = || cuts.iter().map(Cut::is_off).collect::<Vec<_>>();
        let _a = pending.enter(two, 2, cuts[0].clone());
        let _b = pending.enter(one, 2, cuts[1].clone());
        let _c = pending.enter(one, 2, cuts[2].clone());
        assert_eq!(off(), [false; 7]);
        let d = pending.enter(one, 2, cuts[3].clone());
        assert_eq!(off(), [false, true, false, false, false, false, false], "the client's own");
        let _e = pending.enter(three, 2, cuts[4].clone());
        let _f = pending.enter(three, 2, cuts[5].clone());
        assert_eq!(off(), [true, true, false, false, false, false, false], "the oldest of all");
        drop(d);
        let _g = pending.enter(two, 2, cuts[6].clone());
        assert!(!cuts[2].is_off(), "there is room after one has ended");
        pending.displace_oldest();
        assert!(cuts[2].is_off());
        pending.clear();
        assert_eq!(off(), [true, true, true, false, true, true, true], "what had ended is left alone");
        assert!(pending.state().waiting.is_empty());
    }
}
