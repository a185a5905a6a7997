//! The queues of requests, one for each client, key and operation, and the order of clients.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::request::{Request, Slice};
use crate::clients::ClientId;
use crate::keys::{KeyHandle, ServedKey};
use crate::work::Operation;

/// The key and operation that requests in one batch share.
pub(super) type QueueKey = (KeyHandle, Operation);

/// All queued requests.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The clients with queued requests.
    pub(super) clients: HashMap<ClientId, Flow>,
    /// The same clients by virtual time, in nanoseconds of a thread.
    pub(super) order: BTreeSet<(u64, ClientId)>,
    /// The virtual time of the client served last.
    pub(super) now: u64,
    /// The totals of each key and operation over all clients.
    pub(super) queues: HashMap<QueueKey, QueueTotals>,
}

/// A client's queued requests.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) time: u64,
    /// By queue key, in round-robin order.
    pub(super) queues: VecDeque<(QueueKey, VecDeque<Arc<Request>>)>,
}

/// The total queued under a queue key, for all clients.
#[derive(Debug)]
pub(super) struct QueueTotals {
    pub(super) key: Arc<ServedKey>,
    pub(super) rows: usize,
    requests: usize,
    /// Whether a round of lanes takes long, as estimated when the first request arrived.
    pub(super) long: bool,
}

impl Queue {
    /// Adds a request to its queue and returns the queue's key.
    pub(super) fn push(&mut self, request: Arc<Request>, first: bool, long: bool) -> QueueKey {
        let (queue_key, rows) = (request.queue_key(), request.progress().rows());
        let totals = QueueTotals { key: request.key.clone(), rows: 0, requests: 0, long };
        let totals = self.queues.entry(queue_key).or_insert(totals);
        totals.rows += rows;
        totals.requests += 1;
        let flow = self.clients.entry(request.client).or_insert_with(|| {
            self.order.insert((self.now, request.client));
            Flow { time: self.now, queues: VecDeque::new() }
        });
        let queue = match flow.queues.iter().position(|(other, _)| *other == queue_key) {
            Some(at) => &mut flow.queues[at].1,
            None => {
                flow.queues.push_back((queue_key, VecDeque::new()));
                let last = flow.queues.len() - 1;
                &mut flow.queues[last].1
            }
        };
        if first {
            queue.push_front(request);
        } else {
            queue.push_back(request);
        }
        queue_key
    }

    /// Returns rows that were not computed. If the request has left its queue with its last rows,
    /// adds it again.
    pub(super) fn return_rows(&mut self, request: &Arc<Request>, rows: Range<usize>, long: bool) {
        let flow = self.clients.get(&request.client);
        let queue = flow.and_then(|flow| flow.queues.iter().find(|(queue_key, _)| *queue_key == request.queue_key()));
        let waits = queue.is_some_and(|(_, queue)| queue.iter().any(|other| Arc::ptr_eq(other, request)));
        let count = rows.len();
        request.give_back(rows);
        if !waits {
            self.push(request.clone(), true, long);
        } else if let Some(totals) = self.queues.get_mut(&request.queue_key()) {
            totals.rows += count;
        }
    }

    /// Takes rows from a client's queue until `sum` reaches about `rows`. Returns whether the batch
    /// must contain nothing else.
    pub(super) fn take(
        &mut self,
        client: ClientId,
        queue_key: QueueKey,
        rows: usize,
        sum: &mut usize,
        taken: &mut Vec<Slice>,
    ) -> bool {
        let Some(flow) = self.clients.get_mut(&client) else { return false };
        let Some(at) = flow.queues.iter().position(|(other, _)| *other == queue_key) else { return false };
        let (Some((_, mut queue)), Some(totals)) = (flow.queues.remove(at), self.queues.get_mut(&queue_key)) else {
            return false;
        };
        let mut whole = false;
        while let Some(request) = queue.front()
            && (*sum < rows || taken.is_empty())
        {
            let alone = request.alone.load(Ordering::Relaxed);
            let before = request.progress().rows();
            if !taken.is_empty() && alone {
                break;
            }
            let slice = if request.is_wanted() { request.take(rows - (*sum).min(rows)) } else { None };
            let after = request.progress().rows();
            let is_over = slice.is_none() || after == 0;
            // The remaining rows of a finished request are never taken.
            totals.rows -= if is_over { before } else { before - after };
            if let Some(slice) = slice {
                *sum += slice.len();
                taken.push(Slice { request: request.clone(), rows: slice });
                whole = alone;
            }
            if is_over {
                queue.pop_front();
                totals.requests -= 1;
            }
            if whole {
                break;
            }
        }
        let (gone, empty) = (totals.requests == 0, queue.is_empty());
        if !empty {
            // Round-robin: the client's other queues come first.
            flow.queues.push_back((queue_key, queue));
        }
        if gone {
            self.queues.remove(&queue_key);
        }
        if flow.queues.is_empty() {
            let time = flow.time;
            self.order.remove(&(time, client));
            self.clients.remove(&client);
        }
        whole
    }

    /// Advances the virtual time of a client that still has queued requests.
    pub(super) fn charge(&mut self, client: ClientId, cost: u64) {
        let Some(flow) = self.clients.get_mut(&client) else { return };
        self.order.remove(&(flow.time, client));
        flow.time = flow.time.saturating_add(cost);
        self.order.insert((flow.time, client));
    }
}
