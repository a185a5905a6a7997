//! The server's metrics, in the Prometheus format. No label contains a voter, a client or a number.

use std::sync::atomic::AtomicU64;

use hearith_serving::metrics::Connections;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The kind of an entry and its outcome: `ok`, or the code of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Outcome {
    kind: &'static str,
    outcome: &'static str,
}

/// All metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    entries: Family<Outcome, Counter>,
    pub(crate) refused: Family<Code, Counter>,
    pub(crate) seconds: Histogram,
    pub(crate) verifying: Histogram,
    pub(crate) committing: Histogram,
    pub(crate) batch: Histogram,
    pub(crate) size: Gauge,
    pub(crate) waiting: Gauge,
    pub(crate) connections: Connections,
    pub(crate) store_failures: Counter<u64, AtomicU64>,
}

/// The code of a refusal before the request was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Code {
    code: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("hearith_election");
        let (entries, refused) = <(Family<Outcome, Counter>, Family<Code, Counter>)>::default();
        let times = || Histogram::new(exponential_buckets(0.001, 2.0, 16));
        let (seconds, verifying, committing) = (times(), times(), times());
        let batch = Histogram::new(exponential_buckets(1.0, 2.0, 12));
        let (size, waiting) = <(Gauge, Gauge)>::default();
        let store_failures = Counter::<u64, AtomicU64>::default();
        let connections = Connections::register(&mut registry);
        registry.register("entries", "Entries that were sent, by kind and what became of them", entries.clone());
        registry.register("refused_requests", "Requests refused before they were looked into", refused.clone());
        registry.register("entry_seconds", "Time from an entry's arrival to its answer", seconds.clone());
        registry.register("verify_seconds", "Time to verify a batch", verifying.clone());
        registry.register("commit_seconds", "Time to write a batch", committing.clone());
        registry.register("batch_entries", "Entries of the batches that were verified", batch.clone());
        registry.register("board_entries", "Entries on the board, as this server knows it", size.clone());
        registry.register("waiting_entries", "Entries that wait to be verified or written", waiting.clone());
        registry.register("store_failures", "Times that the store failed", store_failures.clone());
        Self {
            registry,
            entries,
            refused,
            seconds,
            verifying,
            committing,
            batch,
            size,
            waiting,
            connections,
            store_failures,
        }
    }
}

impl Metrics {
    /// Counts an entry that was accepted (`ok`) or refused.
    pub(crate) fn entry(&self, kind: &'static str, outcome: &'static str) {
        self.entries.get_or_create(&Outcome { kind, outcome }).inc();
    }

    /// Counts a request that was refused before it was processed.
    pub(crate) fn refuse(&self, code: &'static str) {
        self.refused.get_or_create(&Code { code }).inc();
    }

    /// All metrics as text in the OpenMetrics format.
    pub fn text(&self) -> String {
        self.connections.refresh();
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
