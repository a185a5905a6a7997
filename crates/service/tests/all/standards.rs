//! What every gRPC service offers: health, reflection, metrics and certificates. Also a client in
//! another language.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use crate::common::*;
use hearith_service::client::{self, RemoteKey, Service};
use hearith_service::proto::ErrorReason;
use hearith_service::rights::Rights;
use hearith_service::server::{Error, Options, Server, Tls};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

/// An authority that signs certificates.
pub struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub type Signed = (String, String);

impl Authority {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    pub fn sign(&self, name: &str, last_year: i32) -> Signed {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(last_year, 1, 1));
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

pub fn protected(signed: &Signed, clients: Option<&Authority>) -> impl Fn(&mut Options) + use<> {
    let (certificate, key) = signed.clone();
    let clients = clients.map(|authority| authority.pem.clone());
    move |options| {
        options.tls =
            Some(Tls { certificate: certificate.clone(), key: key.clone(), clients: clients.clone(), revoked: None })
    }
}

/// A key at a TLS server, for a client whose certificate has this name.
pub fn named(server: &Server, root: &Authority, name: &str) -> RemoteKey {
    let url = format!("https://localhost:{}", server.address().port());
    let identity = Some(root.sign(name, 4000));
    let options = client::Options { ca: Some(root.pem.clone()), identity, timeout: None };
    Arc::new(Service::connect(&url, &options).unwrap()).key(KEY.public()).unwrap()
}

pub fn ask(server: &Server, root: &Authority, identity: Option<Signed>) -> Result<(), String> {
    let url = format!("https://localhost:{}", server.address().port());
    let options = client::Options { ca: Some(root.pem.clone()), identity, timeout: None };
    let service = Service::connect(&url, &options).map_err(|error| error.to_string())?;
    let remote = Arc::new(service).key(KEY.public()).map_err(|error| error.to_string())?;
    assert_eq!(opened(&KEY, &remote.encrypt(&plaintexts(KEY.public(), 3)).unwrap()), numbers(3));
    Ok(())
}

#[test]
fn certificates_decide_who_may_connect() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let server = start_with(protected(&ours.sign("localhost", 4000), Some(&ours)));
    assert_eq!(ask(&server, &ours, Some(ours.sign("client", 4000))), Ok(()));
    assert!(ask(&server, &ours, None).is_err(), "without a certificate");
    assert!(ask(&server, &ours, Some(theirs.sign("client", 4000))).is_err(), "of a stranger");
    assert!(ask(&server, &ours, Some(ours.sign("client", 2021))).is_err(), "expired");
    assert!(ask(&server, &theirs, Some(ours.sign("client", 4000))).is_err(), "the server's is a stranger's");
    assert_eq!(ask(&server, &ours, Some(ours.sign("client", 4000))), Ok(()), "others are not disturbed");

    let server = start_with(protected(&ours.sign("localhost", 2021), None));
    assert!(ask(&server, &ours, None).is_err(), "the server's has expired");
    let server = start_with(protected(&ours.sign("elsewhere", 4000), None));
    assert!(ask(&server, &ours, None).is_err(), "the server's is another machine's");
    let server = start_with(protected(&ours.sign("localhost", 4000), None));
    assert_eq!(ask(&server, &ours, None), Ok(()));
    let plain = Service::connect(&url(&server), &client::Options::default());
    let refused = plain.map_err(drop).and_then(|service| Arc::new(service).key(KEY.public()).map(drop).map_err(drop));
    assert!(refused.is_err(), "http to a server with TLS");
}

#[test]
fn certificates_decide_who_may_do_what() {
    let ours = Authority::new();
    let protected = protected(&ours.sign("localhost", 4000), Some(&ours));
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let server = start_with(|options| {
        protected(options);
        options.audit = Some(audit.clone());
    });
    let remote = |name: &str| named(&server, &ours, name);
    let (branch, payroll) = (remote("branch"), remote("payroll"));
    let ciphertexts = branch.encrypt(&plaintexts(KEY.public(), 3)).unwrap();
    let refused = |error: client::Error| assert_eq!(error.reason(), Some(ErrorReason::NotAllowed), "{error}");
    assert!(!payroll.decrypts(), "nobody said who may");
    refused(payroll.decrypt(&ciphertexts).unwrap_err());
    assert_eq!(std::fs::read_to_string(&audit).unwrap(), "");

    let id = KEY.public().id();
    let rights = format!(
        r#"{{ "clients": [
            {{ "name": "branch", "encrypt": true }}, {{ "name": "payroll", "aggregate": true, "decrypt": ["{id}"] }} ] }}"#
    );
    server.replace_rights(Rights::read(&rights).unwrap());
    assert_eq!(integers(KEY.public(), &payroll.decrypt(&ciphertexts).unwrap()), numbers(3));
    payroll.add(&ciphertexts, &ciphertexts).unwrap();
    branch.encrypt(&plaintexts(KEY.public(), 3)).unwrap();
    refused(branch.decrypt(&ciphertexts).unwrap_err());
    refused(branch.add(&ciphertexts, &ciphertexts).unwrap_err());
    refused(payroll.encrypt(&plaintexts(KEY.public(), 3)).unwrap_err());
    refused(remote("stranger").encrypt(&plaintexts(KEY.public(), 3)).unwrap_err());
    assert!(remote("payroll").decrypts() && !remote("branch").decrypts());
    let lines = std::fs::read_to_string(&audit).unwrap();
    let [line] = lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    for part in ["\"event\":\"decrypted\"", "\"client\":\"payroll\"", &format!("\"key\":\"{id}\""), "\"rows\":3"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

/// If a decryption cannot be recorded, it is not answered. Everything else is.
#[test]
fn no_decryption_is_answered_before_its_line_is_written() {
    let server = start_with(|options| options.audit = Some("/dev/full".into()));
    let remote = remote(&server, KEY.public());
    let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 3)).unwrap();
    let error = remote.decrypt(&ciphertexts).unwrap_err();
    assert!(error.to_string().contains("the decryption cannot be recorded"), "{error}");
    assert_eq!(remote.add(&ciphertexts, &ciphertexts).unwrap().len(), 3);
    assert_eq!(metric(&server, "hearith_requests_total{operation=\"decrypt\",outcome=\"FAILED\"}"), 1.0);
    let missing = start_refused(|options| options.audit = Some("/missing/audit".into()));
    assert!(matches!(missing, Error::Audit(..)), "{missing}");
}

fn start_refused(change: impl FnOnce(&mut Options)) -> Error {
    let mut options = options();
    change(&mut options);
    Server::start(options).map(drop).unwrap_err()
}

#[test]
fn unprotected_it_listens_on_this_machine_only() {
    let refused = |change: &dyn Fn(&mut Options)| {
        let mut options = options();
        change(&mut options);
        Server::start(options).map(drop).unwrap_err()
    };
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let error = refused(&|options| options.listen = everywhere);
    assert!(matches!(error, Error::NotLoopback(_)) && error.to_string().contains("TLS"), "{error}");
    let ours = Authority::new();
    let one_sided = protected(&ours.sign("localhost", 4000), None);
    let error = refused(&|options| {
        one_sided(options);
        options.listen = everywhere;
    });
    assert!(matches!(error, Error::NotLoopback(_)), "TLS without certificates of clients");
    assert!(matches!(refused(&|options| options.metrics = Some(everywhere)), Error::MetricsNotLoopback(_)));
    let both = protected(&ours.sign("localhost", 4000), Some(&ours));
    let server = start_with(|options| {
        both(options);
        options.listen = everywhere;
    });
    assert_eq!(ask(&server, &ours, Some(ours.sign("client", 4000))), Ok(()));
    let broken = Tls { certificate: "no PEM".into(), key: "none".into(), clients: None, revoked: None };
    assert!(matches!(refused(&|options| options.tls = Some(broken.clone())), Error::Tls(_)));
}

#[test]
fn health_is_told() {
    use tonic_health::pb::health_check_response::ServingStatus;
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let server = start();
    let status = block_on(async {
        let channel = tonic::transport::Endpoint::from_shared(url(&server)).unwrap().connect().await.unwrap();
        let request = HealthCheckRequest { service: "hearith.v1.Paillier".to_owned() };
        HealthClient::new(channel).check(request).await.unwrap().into_inner().status()
    });
    assert_eq!(status, ServingStatus::Serving);
}

#[test]
fn metrics_are_shown_over_http() {
    let server = start_with(|options| options.metrics = Some("127.0.0.1:0".parse().unwrap()));
    remote(&server, KEY.public()).encrypt(&plaintexts(KEY.public(), 5)).unwrap();
    let mut stream = TcpStream::connect(server.metrics_address().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("openmetrics-text"), "{text}");
    assert!(text.contains("\nhearith_rows_total{operation=\"encrypt\"} 5\n"), "{text}");
    assert!(text.trim_end().ends_with("# EOF"), "{text}");
    // No key ID, no number.
    assert!(!text.contains(&KEY.public().id().to_string()));
}

/// A Go client that learns the protocol from the reflection service. Needs "go" with the client's
/// modules, which Go downloads once and caches.
#[test]
fn a_client_in_go() {
    const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/go");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    let built = Command::new("go").args(["build", "-mod=readonly", "-o"]).arg(&program).current_dir(CLIENT).output();
    let why =
        built.as_ref().map_or_else(ToString::to_string, |output| String::from_utf8_lossy(&output.stderr).into_owned());
    if !hearith_testing::has("go", built.is_ok_and(|output| output.status.success())) {
        eprintln!("no client in Go: {why}");
        return;
    }
    let server = start();
    let modulus = hex(&KEY.public().modulus_be());
    let output = Command::new(&program).args([&server.address().to_string(), &modulus]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out.trim(), "1480 -60 UNKNOWN_KEY NotFound", "{err}");
}
