//! Metrics of every server about its connections and its log.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::log;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Why {
    why: &'static str,
}

/// What is counted.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    pub(crate) pending: Gauge,
    pub(crate) open: Gauge,
    failed: Family<Why, Counter>,
    turned_away: Counter<u64, AtomicU64>,
    dropped: Family<Why, Counter>,
}

impl Connections {
    /// Registers everything.
    pub fn register(registry: &mut Registry) -> Self {
        let counted = Self::default();
        registry.register("clients", "Connections", counted.open.clone());
        registry.register("handshakes", "Connections whose handshake is not done", counted.pending.clone());
        registry.register("failed_handshakes", "Handshakes that failed, by why", counted.failed.clone());
        registry.register("turned_away", "Connections that there was no place for", counted.turned_away.clone());
        registry.register("log_lines_dropped", "Log lines that were not written, by why", counted.dropped.clone());
        counted
    }

    pub(crate) fn failed(&self, why: &'static str) {
        self.failed.get_or_create(&Why { why }).inc();
    }

    pub(crate) fn turn_away(&self) {
        self.turned_away.inc();
    }

    /// Takes over what the log counts, before everything is shown.
    pub fn refresh(&self) {
        let log::Dropped { full, failed, limited } = log::dropped();
        for (why, count) in [("full", full), ("failed", failed), ("limited", limited)] {
            self.dropped.get_or_create(&Why { why }).inner().store(count, Ordering::Relaxed);
        }
    }
}
