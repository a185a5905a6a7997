//! The server's metrics, in Prometheus format. No label contains a key, a client or a number.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use hearith_serving::metrics::Connections;

/// Labels: an operation and its outcome, `ok` or a reason of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Outcome {
    operation: &'static str,
    outcome: String,
}

/// Label: an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Asked {
    operation: &'static str,
}

/// Labels: a processor and an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct BatchLabels {
    processor: String,
    operation: &'static str,
}

/// All metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Outcome, Counter>,
    rows: Family<Asked, Counter>,
    seconds: Family<Asked, Histogram, fn() -> Histogram>,
    batch_rows: Family<BatchLabels, Histogram, fn() -> Histogram>,
    pub(crate) queue_bytes: Gauge,
    pub(crate) unread_bytes: Gauge,
    pub(crate) connections: Connections,
    pub(crate) streams: Gauge,
    pub(crate) keys: Gauge,
    pub(crate) quarantined: Gauge<i64, std::sync::atomic::AtomicI64>,
    pub(crate) redone: Counter<u64, AtomicU64>,
    pub(crate) delayed: Counter<u64, AtomicU64>,
    pub(crate) cut_off: Counter<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("hearith");
        let requests = Family::default();
        let rows = Family::default();
        let seconds: Family<Asked, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.0005, 2.0, 18)));
        let batch_rows: Family<BatchLabels, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(1.0, 2.0, 14)));
        let connections = Connections::register(&mut registry);
        let (queue_bytes, unread_bytes, streams, keys) = <(Gauge, Gauge, Gauge, Gauge)>::default();
        let quarantined = Gauge::<i64, std::sync::atomic::AtomicI64>::default();
        let [redone, delayed, cut_off] = <[Counter<u64, AtomicU64>; 3]>::default();
        registry.register("requests", "Requests by operation and outcome", requests.clone());
        registry.register("rows", "Rows computed", rows.clone());
        registry.register("request_seconds", "Time from a request's arrival to its answer", seconds.clone());
        registry.register("batch_rows", "Rows per batch of the processors", batch_rows.clone());
        registry.register("queue_bytes", "Bytes of numbers that are waiting or being computed", queue_bytes.clone());
        registry.register("unread_bytes", "Bytes of answers that clients have not read", unread_bytes.clone());
        registry.register("streams", "Open streams", streams.clone());
        registry.register("keys", "Registered public keys", keys.clone());
        registry.register("set_aside", "Processors quarantined because they stalled or failed", quarantined.clone());
        registry.register("redone", "Requests computed again after a processor stalled or failed", redone.clone());
        registry.register("delayed", "Requests delayed by their client's rate limit", delayed.clone());
        registry.register("cut_off", "Connections ended because answers were not read", cut_off.clone());
        Self {
            registry,
            requests,
            rows,
            seconds,
            batch_rows,
            queue_bytes,
            unread_bytes,
            connections,
            streams,
            keys,
            quarantined,
            redone,
            delayed,
            cut_off,
        }
    }
}

impl Metrics {
    /// Counts a request that was answered or rejected.
    pub(crate) fn answered(&self, operation: &'static str, outcome: &str, rows: usize, seconds: f64) {
        self.requests.get_or_create(&Outcome { operation, outcome: outcome.to_owned() }).inc();
        let asked = Asked { operation };
        self.rows.get_or_create(&asked).inc_by(rows as u64);
        self.seconds.get_or_create(&asked).observe(seconds);
    }

    /// Counts a batch given to a processor.
    pub(crate) fn batch(&self, processor: &str, operation: &'static str, rows: usize) {
        let labels = BatchLabels { processor: processor.to_owned(), operation };
        self.batch_rows.get_or_create(&labels).observe(rows as f64);
    }

    /// Returns all metrics in the OpenMetrics text format.
    pub fn text(&self) -> String {
        self.connections.refresh();
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
