//! TLS: certificates, keys and revocation lists in PEM, by rustls, replaceable while a server runs.

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

/// What a server shows and asks of its clients, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate, and those that lead to its root.
    pub certificate: String,
    /// Its private key.
    pub key: String,
    /// Roots of the certificates that clients must show; without, clients show none.
    pub clients: Option<String>,
    /// Revocation lists of these roots. With lists, a certificate whose issuer has none is
    /// rejected.
    pub revoked: Option<String>,
}

/// Shows nothing of the key.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("clients", &self.clients.is_some()).finish_non_exhaustive()
    }
}

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not PEM, or no certificate in it.
    #[error("the server's certificate: there is no certificate in PEM")]
    Certificate,
    /// Not PEM, or no private key in it.
    #[error("the server's key: there is no private key in PEM")]
    Key,
    /// Not PEM, or no certificate in it.
    #[error("the roots of the clients' certificates: there is no certificate in PEM")]
    Clients,
    /// Not PEM, or no revocation list in it.
    #[error("the revocation lists: there is none in PEM")]
    Revoked,
    /// The certificate and its key do not belong together, or are of a kind that is not accepted.
    #[error("the server's certificate and its key")]
    Refused(#[from] rustls::Error),
    /// A root or a revocation list is of a kind that is not accepted.
    #[error("the roots of the clients' certificates, or their revocation lists")]
    Verifier(#[from] VerifierBuilderError),
}

/// The certificates of a text in PEM; none if there is none, or something else.
pub fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    found.ok().filter(|found| !found.is_empty())
}

impl Tls {
    /// The configuration of rustls, for the application protocols named.
    ///
    /// # Errors
    /// What is wrong with a text.
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

    /// When the first of the server's certificates and the clients' roots ends.
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

/// The configuration that new connections get. Connections that are open keep theirs.
#[derive(Debug)]
pub struct Current {
    config: RwLock<Arc<ServerConfig>>,
    /// When the first of the certificates ends, if that can be read.
    end: RwLock<Option<SystemTime>>,
    protocols: &'static [&'static [u8]],
}

impl Current {
    /// A configuration for application protocols.
    ///
    /// # Errors
    /// What is wrong with a text.
    pub fn new(tls: &Tls, protocols: &'static [&'static [u8]]) -> Result<Self, Error> {
        let config = RwLock::new(tls.config(protocols)?);
        Ok(Self { config, end: RwLock::new(tls.end()), protocols })
    }

    /// Replaces it, unless something is wrong with the new one.
    ///
    /// # Errors
    /// What is wrong with a text: the configuration stays as it was.
    pub fn replace(&self, tls: &Tls) -> Result<(), Error> {
        let config = tls.config(self.protocols)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        *self.end.write().unwrap_or_else(PoisonError::into_inner) = tls.end();
        self.warn();
        Ok(())
    }

    /// When the first of the certificates ends.
    pub fn end(&self) -> Option<SystemTime> {
        *self.end.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Warns in the log of certificates that have ended or soon will, now and every day.
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

    /// What a connection gets now.
    pub fn get(&self) -> Arc<ServerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of a certificate.
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
