//! Raw public keys (RFC 7250) in TLS 1.3. Both sides show their signing keys.

use std::fmt;
use std::sync::Arc;

use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use tokio_rustls::rustls::client::AlwaysResolvesClientRawPublicKeys;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use tokio_rustls::rustls::server::AlwaysResolvesServerRawPublicKeys;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error as TlsError, PeerIncompatible,
    ServerConfig, SignatureScheme,
};
use zeroize::Zeroizing;

use crate::distributed::Party;

/// Encoded prefixes of an Ed25519 private key and a public key (RFC 8410).
const PRIVATE: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
const PUBLIC: [u8; 12] = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];

fn certified_key(party: &Party) -> Result<Arc<CertifiedKey>, TlsError> {
    let private = Zeroizing::new([&PRIVATE[..], &party.seed[..]].concat());
    let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(&private[..]))?;
    let public = [&PUBLIC[..], &party.identity.public()].concat();
    Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], key)))
}

/// The configuration of the connecting side.
pub(super) fn client(party: &Party) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(default_provider());
    let verifier = Arc::new(KnownKeys { keys: party.keys.clone(), provider: provider.clone() });
    let resolver = Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified_key(party)?));
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    Ok(Arc::new(config.with_client_cert_resolver(resolver)))
}

/// The configuration of the listening side.
pub(super) fn server(party: &Party) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(default_provider());
    let verifier = Arc::new(KnownKeys { keys: party.keys.clone(), provider: provider.clone() });
    let resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified_key(party)?));
    let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
    Ok(Arc::new(config.with_client_cert_verifier(verifier).with_cert_resolver(resolver)))
}

/// Extracts the Ed25519 key from a raw public key.
pub(super) fn raw_key(certificate: &CertificateDer<'_>) -> Option<[u8; 32]> {
    certificate.strip_prefix(&PUBLIC[..])?.try_into().ok()
}

/// Accepts only the trustees' keys.
struct KnownKeys {
    keys: Vec<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl KnownKeys {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), TlsError> {
        match raw_key(certificate).is_some_and(|key| self.keys.contains(&key)) {
            true => Ok(()),
            false => Err(TlsError::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
        }
    }

    fn signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let key = SubjectPublicKeyInfoDer::from(certificate.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.provider.signature_verification_algorithms)
    }
}

impl fmt::Debug for KnownKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} keys)", self.keys.len())
    }
}

impl ServerCertVerifier for KnownKeys {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(TlsError::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for KnownKeys {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(TlsError::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
