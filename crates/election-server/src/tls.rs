//! TLS, as a server and as a client: certificates and keys in PEM, by rustls.

use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;

/// A server's certificate and key, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The certificate, and those that lead to its root.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// Shows nothing of the key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not PEM, or no certificate in it.
    #[error("no certificate in PEM")]
    Certificate,
    /// Not PEM, or no private key in it.
    #[error("no private key in PEM")]
    Key,
    /// The two do not belong together, or are of a kind that is not taken.
    #[error("the certificate and its key")]
    Refused(#[from] tokio_rustls::rustls::Error),
}

/// The certificates of a text.
pub(crate) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    found.ok().filter(|found| !found.is_empty()).ok_or(Error::Certificate)
}

impl Tls {
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, Error> {
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| Error::Key)?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
