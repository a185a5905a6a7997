//! `--remote`: a service computes instead of this machine.

use std::sync::Arc;

use hearith_paillier::{DecryptionBackend, PublicKey, PublicKeyBackend};

use crate::args::Remote;
use crate::failure::CliError;

/// A key at a service that computes and decrypts.
pub(crate) trait KeyAtService: PublicKeyBackend + DecryptionBackend {}

impl Remote {
    /// Whether the options name a service.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.remote.is_some()
    }

    /// The key at the service, if the options name one.
    pub(crate) fn key(&self, public: &PublicKey) -> Result<Option<Arc<dyn KeyAtService>>, CliError> {
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
    use crate::failure::CliError;
    use crate::input::pem;

    impl KeyAtService for RemoteKey {}

    pub(super) fn connect(remote: &Remote, url: &str, public: &PublicKey) -> Result<Arc<dyn KeyAtService>, CliError> {
        let ca = remote.ca.as_deref().map(pem).transpose()?;
        let identity = match (&remote.client_cert, &remote.client_key) {
            (Some(certificate), Some(key)) => Some((pem(certificate)?, pem(key)?)),
            _ => None,
        };
        let service = Service::connect(url, &Options { ca, identity, timeout: None }).map_err(CliError::new)?;
        Ok(Arc::new(Arc::new(service).key(public).map_err(CliError::new)?))
    }

    /// The failure of a table, or of the service, which concerns no file.
    pub(crate) fn failed(file: &str, error: Error) -> CliError {
        let cause = match error.kind() {
            ErrorKind::Service(cause) | ErrorKind::Device(cause) => {
                cause.downcast_ref::<hearith_service::client::Error>()
            }
            _ => None,
        };
        match cause {
            Some(cause) => CliError::new(cause.to_string()),
            None => CliError::at(file, error),
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
    use crate::failure::CliError;
    use crate::parts;

    pub(super) fn connect(_: &Remote, _: &str, _: &PublicKey) -> Result<Arc<dyn KeyAtService>, CliError> {
        Err(parts::absent("--remote", "service"))
    }

    /// The failure of a table.
    pub(crate) fn failed(file: &str, error: Error) -> CliError {
        CliError::at(file, error)
    }
}
