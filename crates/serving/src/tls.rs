//! TLS with rustls. Certificates, keys and revocation lists are PEM and replaceable while a server
//! runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

use crate::certificate;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A server's TLS credentials and requirements for clients, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate and the intermediate certificates up to its root.
    pub certificate: String,
    /// Its private key.
    pub key: String,
    /// Root certificates of the certificates that clients must show. If `None`, clients show no
    /// certificate.
    pub clients: Option<String>,
    /// Revocation lists for these roots. If given, a certificate whose issuer has no list is
    /// rejected.
    pub revoked: Option<String>,
}

/// Omits the key.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("clients", &self.clients.is_some()).finish_non_exhaustive()
    }
}

/// The error for unusable certificates, keys or revocation lists.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not PEM or contains no certificate.
    #[error("the server's certificate: no PEM certificate found")]
    Certificate,
    /// The text is not PEM or contains no private key.
    #[error("the server's key: no PEM private key found")]
    Key,
    /// The text is not PEM or contains no certificate.
    #[error("the roots of the clients' certificates: no PEM certificate found")]
    Clients,
    /// The text is not PEM or contains no revocation list.
    #[error("the revocation lists: no PEM revocation list found")]
    Revoked,
    /// The certificate and its key do not match, or their type is unsupported.
    #[error("cannot use the server's certificate and its key")]
    Refused(#[from] rustls::Error),
    /// A root or a revocation list has an unsupported type.
    #[error("cannot use the roots of the clients' certificates, or their revocation lists")]
    Verifier(#[from] VerifierBuilderError),
}

/// Returns the certificates in a PEM text, or `None` if there are none or the text is invalid.
pub fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    found.ok().filter(|found| !found.is_empty())
}

impl Tls {
    /// Returns the rustls configuration for the given application protocols (ALPN).
    ///
    /// # Errors
    /// A PEM text is invalid.
    pub fn config(&self, protocols: &[&[u8]]) -> Result<Arc<ServerConfig>, Error> {
        let chain = certificates(&self.certificate).ok_or(Error::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| Error::Key)?;
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some(roots) => {
                let mut store = RootCertStore::empty();
                for root in certificates(roots).ok_or(Error::Clients)? {
                    store.add(root)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(store.into(), provider);
                builder.with_client_cert_verifier(verifier.with_crls(self.lists()?).build()?)
            }
        };
        let mut config = builder.with_single_cert(chain, key)?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Arc::new(config))
    }

    /// The earliest expiry among the server's certificates and the clients' roots.
    fn end(&self) -> Option<SystemTime> {
        let mut all = certificates(&self.certificate).unwrap_or_default();
        all.extend(self.clients.as_deref().and_then(certificates).unwrap_or_default());
        certificate::earliest_end(&all)
    }

    fn lists(&self) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
        let Some(text) = &self.revoked else { return Ok(Vec::new()) };
        let lists = CertificateRevocationListDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
        lists.ok().filter(|lists| !lists.is_empty()).ok_or(Error::Revoked)
    }
}

/// The configuration for new connections. Open connections keep theirs.
#[derive(Debug)]
pub struct Current {
    config: RwLock<Arc<ServerConfig>>,
    /// The earliest expiry among the certificates, if it can be read.
    end: RwLock<Option<SystemTime>>,
    protocols: &'static [&'static [u8]],
}

impl Current {
    /// Creates the configuration for the given application protocols (ALPN).
    ///
    /// # Errors
    /// A PEM text is invalid.
    pub fn new(tls: &Tls, protocols: &'static [&'static [u8]]) -> Result<Self, Error> {
        let config = RwLock::new(tls.config(protocols)?);
        Ok(Self { config, end: RwLock::new(tls.end()), protocols })
    }

    /// Replaces the configuration.
    ///
    /// # Errors
    /// A PEM text is invalid. The configuration then stays as it was.
    pub fn replace(&self, tls: &Tls) -> Result<(), Error> {
        let config = tls.config(self.protocols)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        *self.end.write().unwrap_or_else(PoisonError::into_inner) = tls.end();
        self.warn();
        Ok(())
    }

    /// The earliest expiry among the certificates, if it can be read.
    pub fn end(&self) -> Option<SystemTime> {
        *self.end.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a warning about certificates that have expired or soon will, now and every day.
    pub async fn watch(self: Arc<Self>) {
        loop {
            self.warn();
            tokio::time::sleep(DAY).await;
        }
    }

    fn warn(&self) {
        if let Some(text) = self.end().and_then(|end| certificate::warning(end, SystemTime::now())) {
            tracing::warn!("{text}");
        }
    }

    /// The configuration for a new connection.
    pub fn get(&self) -> Arc<ServerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        Self(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}
