//! Open streams, limited in total and per client.
//!
//! Streams that are silent for too long are ended. If all are in use, a silent stream of the client
//! with the most is closed for a client with fewer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::clients::ClientId;
use crate::proto::ErrorReason;
use crate::refusal::Refusal;

/// All open streams.
#[derive(Debug)]
pub(crate) struct Streams {
    most: usize,
    each: usize,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    opened: u64,
    open: HashMap<u64, (ClientId, Arc<Activity>)>,
    counts: HashMap<ClientId, usize>,
}

/// The state of a stream.
#[derive(Debug, Default)]
struct Activity {
    /// Milliseconds from `begun` until it became silent, plus 1. 0 while a request is in progress.
    silent: AtomicU64,
    ended: AtomicBool,
    end: Notify,
}

/// An open stream. Dropping this closes it.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Arc<Streams>,
    number: u64,
    activity: Arc<Activity>,
}

impl Streams {
    /// Allows at most `most` streams in total and `each` per client.
    pub(crate) fn new(most: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { most, each, begun: Instant::now(), state: Mutex::default() })
    }

    /// Opens a stream for a client.
    ///
    /// # Errors
    /// The client has used up its share, or all streams are in use and none can be closed.
    pub(crate) fn open(self: &Arc<Self>, client: ClientId) -> Result<OpenStream, Refusal> {
        let full = |text| Err(Refusal::new(ErrorReason::StreamsFull, text));
        let mut state = self.state();
        let owned = state.counts.get(&client).copied().unwrap_or(0);
        if owned >= self.each {
            return full(format!("{} streams of this client are open, which is the limit", self.each));
        }
        if state.open.len() >= self.most {
            let Some(number) = state.to_evict(owned) else {
                return full(format!("{} streams are open, which is the limit", self.most));
            };
            state.end(number);
        }
        let (number, activity) = (state.opened, Arc::new(Activity::default()));
        activity.silent.store(self.now(), Ordering::Release);
        state.opened += 1;
        state.open.insert(number, (client, activity.clone()));
        *state.counts.entry(client).or_default() += 1;
        Ok(OpenStream { streams: self.clone(), number, activity })
    }

    /// Ends streams that have been silent for `age`.
    pub(crate) fn end_silent(&self, age: Duration) {
        let Some(before) = self.now().checked_sub(age.as_millis() as u64) else { return };
        let mut state = self.state();
        let silent = state.open.iter().filter(|(_, (_, activity))| (1..=before).contains(&activity.since()));
        let silent: Vec<u64> = silent.map(|(&number, _)| number).collect();
        silent.into_iter().for_each(|number| state.end(number));
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64 + 1
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the silent stream to close for a client that has `owned` streams.
    ///
    /// Candidates are clients that have more streams than the newcomer would then have. Of those
    /// with the most, the stream that has been silent longest is closed.
    fn to_evict(&self, owned: usize) -> Option<u64> {
        let silent = self.open.iter().filter(|(_, (_, activity))| activity.since() > 0);
        let more = silent.filter_map(|(&number, (client, activity))| {
            let count = self.counts[client];
            (count > owned + 1).then_some((std::cmp::Reverse(count), activity.since(), number))
        });
        more.min().map(|(_, _, number)| number)
    }

    /// Ends a stream: notifies it and stops counting it.
    fn end(&mut self, number: u64) {
        let Some((client, activity)) = self.open.remove(&number) else { return };
        activity.ended.store(true, Ordering::Release);
        activity.end.notify_one();
        match self.counts.get_mut(&client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.counts.remove(&client)),
        }
    }
}

impl Activity {
    fn since(&self) -> u64 {
        self.silent.load(Ordering::Acquire)
    }
}

impl OpenStream {
    /// Records whether the stream is silent, that is, has no request in progress.
    pub(crate) fn is_silent(&self, silent: bool) {
        match (silent, self.activity.since()) {
            (true, 0) => self.activity.silent.store(self.streams.now(), Ordering::Release),
            (false, 1..) => self.activity.silent.store(0, Ordering::Release),
            _ => {}
        }
    }

    /// Returns when the stream has to end.
    pub(crate) async fn ended(&self) {
        while !self.activity.ended.load(Ordering::Acquire) {
            self.activity.end.notified().await;
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.state().end(self.number);
    }
}

/// The refusal on a stream that was silent.
pub(crate) fn was_silent() -> Refusal {
    Refusal::new(ErrorReason::Idle, "the stream was silent for too long, or was closed to make room for another client")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_ended(stream: &OpenStream) -> bool {
        stream.activity.ended.load(Ordering::Acquire)
    }

    #[test]
    fn silent_streams_of_those_who_have_most_make_way() {
        let streams = Streams::new(6, 5);
        let [greedy, other, third] = [(); 3].map(|()| ClientId::anonymous());
        let mut taken: Vec<OpenStream> = (0..5).map(|_| streams.open(greedy).unwrap()).collect();
        assert_eq!(streams.open(greedy).unwrap_err().reason(), ErrorReason::StreamsFull, "its share");
        let _one = streams.open(other).unwrap();
        // A stream with a request in progress is not closed.
        taken[0].is_silent(false);
        std::thread::sleep(Duration::from_millis(5));
        taken[2].is_silent(false);
        taken[2].is_silent(true);
        let _two = streams.open(third).unwrap();
        let ended: Vec<bool> = taken.iter().map(has_ended).collect();
        assert_eq!(ended.iter().filter(|&&ended| ended).count(), 1, "{ended:?}");
        assert!(!ended[0] && !ended[2], "{ended:?}");
        let _three = streams.open(third).unwrap();
        let ended = taken.iter().filter(|stream| has_ended(stream)).count();
        assert_eq!(ended, 2, "now both have about as many");
        assert_eq!(streams.open(third).unwrap_err().reason(), ErrorReason::StreamsFull);
        taken.clear();
        assert_eq!(streams.state().counts.values().sum::<usize>(), 3);
        assert!(streams.open(third).is_ok());
    }

    #[test]
    fn silent_streams_end_after_a_while() {
        let streams = Streams::new(6, 6);
        let [first, second] = [(); 2].map(|()| streams.open(ClientId::anonymous()).unwrap());
        second.is_silent(false);
        std::thread::sleep(Duration::from_millis(5));
        streams.end_silent(Duration::from_secs(3600));
        assert!(!has_ended(&first));
        streams.end_silent(Duration::from_millis(2));
        assert!(has_ended(&first) && !has_ended(&second));
    }
}
