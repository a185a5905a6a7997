//! A service that computes in place of this machine: `--remote`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hearith_columns::{Error, ErrorKind};
use hearith_paillier::PublicKey;
use hearith_service::client::{Options, RemoteKey, Service};

use crate::args::Remote;
use crate::failure::{Failure, name};

impl Remote {
    /// Whether a service is asked for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.remote.is_some()
    }

    /// The key at the service, if one is asked for.
    pub(crate) fn key(&self, public: &PublicKey) -> Result<Option<Arc<RemoteKey>>, Failure> {
        let Some(url) = &self.remote else { return Ok(None) };
        let ca = self.ca.as_deref().map(pem).transpose()?;
        let identity = match (&self.client_cert, &self.client_key) {
            (Some(certificate), Some(key)) => Some((pem(certificate)?, pem(key)?)),
            _ => None,
        };
        let service = Service::connect(url, &Options { ca, identity, timeout: None }).map_err(Failure::new)?;
        Ok(Some(Arc::new(Arc::new(service).key(public).map_err(Failure::new)?)))
    }

    /// What the report says of it.
    pub(crate) fn note(&self) -> Option<String> {
        self.remote.as_ref().map(|url| format!("computed at {url}"))
    }
}

/// A certificate or its key.
pub(crate) fn pem(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::reading(&name(path), error))
}

/// What is wrong with a table, or with the service, which is no file's fault.
pub(crate) fn failed(file: &str, error: Error) -> Failure {
    let cause = match error.kind() {
        ErrorKind::Service(cause) | ErrorKind::Device(cause) => cause.downcast_ref::<hearith_service::client::Error>(),
        _ => None,
    };
    match cause {
        Some(cause) => Failure::new(cause.to_string()),
        None => Failure::at(file, error),
    }
}
