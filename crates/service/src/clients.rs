//! Clients: their names, and their work in progress.

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

/// Whose a request, a stream or a key is, as far as shares are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientId {
    /// Everybody who shows this certificate.
    Certificate(Fingerprint),
    /// A connection without a certificate.
    Connection(u64),
}

impl ClientId {
    /// That of a connection of its own.
    pub fn anonymous() -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        Self::Connection(CONNECTIONS.fetch_add(1, Ordering::Relaxed))
    }
}

/// What handlers know of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) address: IpAddr,
    /// Whom its certificate names, if it showed one.
    pub(crate) identity: Option<Arc<Identity>>,
    /// Whether it came when there was no place, of which it is told.
    pub(crate) surplus: bool,
    /// What its connection must not end before.
    pub(crate) work: Work,
    cut: Cut,
}

impl Client {
    /// The client of a connection.
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

    /// Ends the connection, and with it all that is kept for it.
    pub(crate) fn cut_off(&self, metrics: &Metrics, talk: &Talk) {
        if self.cut.off() {
            metrics.cut_off.inc();
            if talk.may(self.address) {
                tracing::info!("a client that does not read is cut off");
            }
        }
    }

    /// Whether it was ended.
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

/// What clients have said of them in the log, shared by all of a server.
pub(crate) type SharedTalk = Arc<Talk>;
