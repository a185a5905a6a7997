//! A certificate's names and expiry.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls_pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

use crate::tls::Fingerprint;

/// Remaining validity below which a warning is logged.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);
const DAY: u64 = 24 * 3600;

/// The identity in a certificate. Trust it only if the certificate was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its alternative names (DNS, mail and URI) and common names as written, sorted and without
    /// duplicates.
    pub names: Vec<String>,
    /// The SHA-256 digest of the certificate.
    pub fingerprint: Fingerprint,
}

impl Identity {
    /// Reads a certificate. An unreadable certificate has no names.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut names = parsed(certificate).map(|parsed| names(&parsed)).unwrap_or_default();
        names.sort();
        names.dedup();
        Self { names, fingerprint: Fingerprint::of(certificate) }
    }

    /// The name for logs: the first one, or else the fingerprint.
    pub fn name(&self) -> String {
        self.names.first().cloned().unwrap_or_else(|| self.fingerprint.to_string())
    }
}

fn parsed<'a>(certificate: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    X509Certificate::from_der(certificate).ok().map(|(_, parsed)| parsed)
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let alternative = alternative.iter().flat_map(|names| &names.value.general_names).filter_map(|name| match name {
        GeneralName::DNSName(name) | GeneralName::RFC822Name(name) | GeneralName::URI(name) => Some(*name),
        _ => None,
    });
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    alternative.chain(common).map(str::to_owned).collect()
}

/// The earliest expiry among several certificates, or `None` if none can be read.
pub fn earliest_end(certificates: &[CertificateDer<'_>]) -> Option<SystemTime> {
    let end = |certificate: &CertificateDer<'_>| {
        let seconds = parsed(certificate)?.validity().not_after.timestamp();
        Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
    };
    certificates.iter().filter_map(end).min()
}

/// The warning at time `now` about a certificate that expires at `end`, if any.
pub fn warning(end: SystemTime, now: SystemTime) -> Option<String> {
    match end.duration_since(now) {
        Err(_) => Some("a certificate has expired".to_owned()),
        Ok(left) if left < SOON => Some(format!("a certificate expires in {} days", left.as_secs() / DAY)),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    fn certificate(change: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["payroll.example.org".to_owned()]).unwrap();
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn names_are_read() {
        let named = certificate(|params| params.distinguished_name.push(DnType::CommonName, "payroll"));
        let identity = Identity::of(&named);
        assert_eq!(identity.names, ["payroll", "payroll.example.org"]);
        assert_eq!((identity.name(), identity.fingerprint), ("payroll".to_owned(), Fingerprint::of(&named)));
        let nameless = certificate(|params| {
            params.subject_alt_names.clear();
            params.distinguished_name = rcgen::DistinguishedName::new();
        });
        let identity = Identity::of(&nameless);
        assert_eq!((identity.names.len(), identity.name().len()), (0, 64));
        assert!(Identity::of(&CertificateDer::from(vec![1, 2, 3])).names.is_empty());
    }

    #[test]
    fn ends_are_warned_of() {
        let until = |year| certificate(|params| params.not_after = date_time_ymd(year, 1, 1));
        let end = earliest_end(&[until(2040), until(2030)]).unwrap();
        assert_eq!(end, UNIX_EPOCH + Duration::from_secs(1_893_456_000));
        assert_eq!(warning(end, end - 2 * SOON), None);
        assert_eq!(warning(end, end - Duration::from_secs(3 * DAY + 5)).unwrap(), "a certificate expires in 3 days");
        assert_eq!(warning(end, end + SOON).unwrap(), "a certificate has expired");
        assert_eq!(earliest_end(&[]), None);
    }
}
