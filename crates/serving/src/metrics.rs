//! Metrics common to all servers, about connections and the log.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::log;

/// The label with a reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Why {
    why: &'static str,
}

/// Counters of connections, handshakes and dropped log lines.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    pub(crate) pending: Gauge,
    pub(crate) open: Gauge,
    failed: Family<Why, Counter>,
    turned_away: Counter<u64, AtomicU64>,
    dropped: Family<Why, Counter>,
}

impl Connections {
    /// Creates the metrics and registers them.
    pub fn register(registry: &mut Registry) -> Self {
        let counted = Self::default();
        registry.register("clients", "Connections", counted.open.clone());
        registry.register("handshakes", "Connections during their handshake", counted.pending.clone());
        registry.register("failed_handshakes", "Failed handshakes, by reason", counted.failed.clone());
        registry.register(
            "turned_away",
            "Connections rejected because a limit was reached",
            counted.turned_away.clone(),
        );
        registry.register("log_lines_dropped", "Log lines that were dropped, by reason", counted.dropped.clone());
        counted
    }

    pub(crate) fn failed(&self, why: &'static str) {
        self.failed.get_or_create(&Why { why }).inc();
    }

    pub(crate) fn turn_away(&self) {
        self.turned_away.inc();
    }

    /// Copies the log's counters. Call it before the metrics are shown.
    pub fn refresh(&self) {
        let log::Dropped { full, failed, limited } = log::dropped();
        for (why, count) in [("full", full), ("failed", failed), ("limited", limited)] {
            self.dropped.get_or_create(&Why { why }).inner().store(count, Ordering::Relaxed);
        }
    }
}
