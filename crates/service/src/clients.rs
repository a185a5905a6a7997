//! Clients: their identities and their work in progress.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hearith_serving::certificate::Identity;
use hearith_serving::gate::Arrival;
use hearith_serving::lifetime::Work;
use hearith_serving::log::Talk;
use hearith_serving::socket::Cut;
use hearith_serving::tls::Fingerprint;

use crate::metrics::Metrics;

/// The owner of a request, stream or key, as far as quotas and fair shares are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientId {
    /// All connections that show this certificate.
    Certificate(Fingerprint),
    /// A connection without a certificate.
    Connection(u64),
}

impl ClientId {
    /// Returns the identity of a new connection without a certificate.
    pub fn anonymous() -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        Self::Connection(CONNECTIONS.fetch_add(1, Ordering::Relaxed))
    }
}

/// A connection's client, as handlers see it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) address: IpAddr,
    /// The identity in its certificate, if it showed one.
    pub(crate) identity: Option<Arc<Identity>>,
    /// Whether it connected while no permit was free. It is told so.
    pub(crate) surplus: bool,
    /// Work that must finish before the connection ends.
    pub(crate) work: Work,
    cut: Cut,
}

impl Client {
    /// Returns the client of a connection.
    pub(crate) fn of(arrival: &Arrival) -> Self {
        let identity = arrival.peer.certificate.as_deref().map(|certificate| Arc::new(Identity::of(certificate)));
        let certificate = identity.as_ref().map(|identity| identity.fingerprint);
        Self {
            id: certificate.map_or_else(ClientId::anonymous, ClientId::Certificate),
            address: arrival.peer.address,
            identity,
            surplus: arrival.surplus,
            work: Work::default(),
            cut: arrival.cut.clone(),
        }
    }

    /// Ends the connection and releases its resources.
    pub(crate) fn cut_off(&self, metrics: &Metrics, talk: &Talk) {
        if self.cut.off() {
            metrics.cut_off.inc();
            if talk.may(self.address) {
                tracing::info!("a client that does not read its answers is disconnected");
            }
        }
    }

    /// Whether the connection was ended.
    #[cfg(test)]
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut.is_off()
    }
}

impl Default for Client {
    fn default() -> Self {
        Self {
            id: ClientId::anonymous(),
            address: Ipv4Addr::UNSPECIFIED.into(),
            identity: None,
            surplus: false,
            work: Work::default(),
            cut: Cut::default(),
        }
    }
}

/// The limits on log lines about clients, shared by a whole server.
pub(crate) type SharedTalk = Arc<Talk>;
