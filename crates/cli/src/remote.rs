//! `--remote`: a service computes instead of this machine.

use std::sync::Arc;

use hearith_paillier::{DecryptionBackend, PublicKey, PublicKeyBackend};

use crate::args::Remote;
use crate::failure::Failure;

/// A key at a service that computes and decrypts.
pub(crate) trait KeyAtService: PublicKeyBackend + DecryptionBackend {}

impl Remote {
    /// Whether the options name a service.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.remote.is_some()
    }

    /// The key at the service, if the options name one.
    pub(crate) fn key(&self, public: &PublicKey) -> Result<Option<Arc<dyn KeyAtService>>, Failure> {
        self.remote.as_ref().map(|url| client::connect(self, url, public)).transpose()
    }

    /// The report's note about the service.
    pub(crate) fn note(&self) -> Option<String> {
        self.remote.as_ref().map(|url| format!("computed at {url}"))
    }
}

pub(crate) use client::failed;

#[cfg(feature = "service")]
mod client {
    use std::sync::Arc;

    use hearith_columns::{Error, ErrorKind};
    use hearith_paillier::PublicKey;
    use hearith_service::client::{Options, RemoteKey, Service};

    use super::KeyAtService;
    use crate::args::Remote;
    use crate::failure::Failure;
    use crate::input::pem;

    impl KeyAtService for RemoteKey {}

    pub(super) fn connect(remote: &Remote, url: &str, public: &PublicKey) -> Result<Arc<dyn KeyAtService>, Failure> {
        let ca = remote.ca.as_deref().map(pem).transpose()?;
        let identity = match (&remote.client_cert, &remote.client_key) {
            (Some(certificate), Some(key)) => Some((pem(certificate)?, pem(key)?)),
            _ => None,
        };
        let service = Service::connect(url, &Options { ca, identity, timeout: None }).map_err(Failure::new)?;
        Ok(Arc::new(Arc::new(service).key(public).map_err(Failure::new)?))
    }

    /// The failure of a table, or of the service, which concerns no file.
    pub(crate) fn failed(file: &str, error: Error) -> Failure {
        let cause = match error.kind() {
            ErrorKind::Service(cause) | ErrorKind::Device(cause) => {
                cause.downcast_ref::<hearith_service::client::Error>()
            }
            _ => None,
        };
        match cause {
            Some(cause) => Failure::new(cause.to_string()),
            None => Failure::at(file, error),
        }
    }
}

#[cfg(not(feature = "service"))]
mod client {
    use std::sync::Arc;

    use hearith_columns::Error;
    use hearith_paillier::PublicKey;

    use super::KeyAtService;
    use crate::args::Remote;
    use crate::failure::Failure;
    use crate::parts;

    pub(super) fn connect(_: &Remote, _: &str, _: &PublicKey) -> Result<Arc<dyn KeyAtService>, Failure> {
        Err(parts::absent("--remote", "service"))
    }

    /// The failure of a table.
    pub(crate) fn failed(file: &str, error: Error) -> Failure {
        Failure::at(file, error)
    }
}
