//! Clients that use up all connections, streams or keys without sending requests.
//!
//! Other clients are still served, and the service still stops on request. No test measures time: a
//! failing test would wait for an hour.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::*;
use crate::faults::{all_ended, channel, field, reason, request, resident, runtime, send_raw, still_serves, stream};
use crate::standards::{Authority, ask, protected};
use hearith_paillier::Variant;
use hearith_service::keys::KeyHandle;
use hearith_service::proto::paillier_client::PaillierClient;
use hearith_service::proto::{ErrorReason, RegisterKeyRequest};
use hearith_service::server::Server;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

const HOUR: Duration = Duration::from_secs(3600);

fn silent(server: &Server) -> TcpStream {
    TcpStream::connect(("127.0.0.1", server.address().port())).unwrap()
}

/// A connection that speaks HTTP/2 and sends no request: the preface and empty settings.
fn idle_http2(server: &Server) -> TcpStream {
    let mut stream = silent(server);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
    stream
}

#[test]
fn silent_connections_take_no_places() {
    let server = start_with(|options| {
        options.limits.clients = 2;
        options.limits.handshakes = 16;
        options.limits.handshake_timeout = HOUR;
    });
    let held: Vec<TcpStream> = (0..100).map(|_| silent(&server)).collect();
    still_serves(&server);
    // One address may have an eighth, which is two.
    eventually("they displace one another", || {
        metric(&server, "hearith_failed_handshakes_total{why=\"displaced\"}") >= 98.0
    });
    drop(held);
    eventually("none is left", || metric(&server, "hearith_handshakes ") == 0.0);
}

#[test]
fn silent_connections_end() {
    let server = start_with(|options| options.limits.handshake_timeout = Duration::from_millis(100));
    let mut held: Vec<TcpStream> = (0..10).map(|_| silent(&server)).collect();
    for stream in &mut held {
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "it is closed");
    }
    assert_eq!(metric(&server, "hearith_failed_handshakes_total{why=\"late\"}"), 10.0);
}

#[test]
fn whoever_shows_no_certificate_shuts_nobody_out() {
    let ours = Authority::new();
    let protected = protected(&ours.sign("localhost", 4000), Some(&ours));
    let server = start_with(|options| {
        protected(options);
        options.limits.clients = 2;
        options.limits.handshake_timeout = HOUR;
    });
    let _held: Vec<TcpStream> = (0..100).map(|_| silent(&server)).collect();
    for _ in 0..20 {
        assert!(ask(&server, &ours, None).is_err());
    }
    assert_eq!(ask(&server, &ours, Some(ours.sign("client", 4000))), Ok(()));
    eventually("they are counted", || metric(&server, "hearith_failed_handshakes_total{why=\"tls\"}") >= 20.0);
}

#[test]
fn one_certificate_has_a_share_of_the_places() {
    let ours = Authority::new();
    let protected = protected(&ours.sign("localhost", 4000), Some(&ours));
    let server = start_with(|options| {
        protected(options);
        options.limits.clients = 8;
    });
    let (greedy, other) = (ours.sign("greedy", 4000), ours.sign("other", 4000));
    let connect = |identity: &(String, String)| {
        let url = format!("https://localhost:{}", server.address().port());
        let identity = Some(identity.clone());
        let options = hearith_service::client::Options { ca: Some(ours.pem.clone()), identity, timeout: None };
        let service = std::sync::Arc::new(hearith_service::client::Service::connect(&url, &options).unwrap());
        let key = service.key(KEY.public());
        (service, key)
    };
    let (_first, _second) = (connect(&greedy), connect(&greedy));
    let (_third, refused) = connect(&greedy);
    assert_eq!(refused.unwrap_err().reason(), Some(ErrorReason::ClientsFull));
    assert!(connect(&other).1.is_ok());
}

#[test]
fn a_shutdown_waits_for_nobody_who_asks_for_nothing() {
    let server = start_with(|options| {
        options.limits.shutdown_timeout = HOUR;
        options.limits.handshake_timeout = HOUR;
    });
    drop(remote(&server, KEY.public()));
    let (_silent, mut idle) = (silent(&server), idle_http2(&server));
    // The server's settings show that it has accepted the connection.
    idle.read_exact(&mut [0; 9]).unwrap();
    let runtime = runtime();
    let (mut watched, mut answers, _requests, _reflected) = runtime.block_on(async {
        let mut health = HealthClient::new(channel(&server).await);
        let of = HealthCheckRequest { service: String::new() };
        let mut watched = health.watch(of).await.unwrap().into_inner();
        assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
        let (requests, answers) = stream(&server).await;
        let reflected = reflect(&server, "v1", "").await.unwrap();
        (watched, answers, requests, reflected)
    });
    assert!(server.stop(), "nothing was in work");
    runtime.block_on(async {
        assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
        let ended = answers.message().await.unwrap_err();
        assert_eq!(reason(&ended), Some(ErrorReason::ShuttingDown), "{ended:?}");
    });
}

/// An open stream of one version of the reflection service, after its first answer.
async fn reflect(server: &Server, version: &str, symbol: &str) -> Result<tonic::Streaming<Vec<u8>>, tonic::Status> {
    let mut grpc = tonic::client::Grpc::new(channel(server).await);
    grpc.ready().await.unwrap();
    let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo").parse().unwrap();
    let request = match symbol {
        "" => field(7, b""),
        symbol => field(4, symbol.as_bytes()),
    };
    let requests = tokio_stream::iter([request]).chain(tokio_stream::pending());
    let mut answers = grpc.streaming(tonic::Request::new(requests), path, crate::faults::Raw).await?.into_inner();
    answers.message().await?.unwrap();
    Ok(answers)
}

#[test]
fn reflection_has_both_versions() {
    let (server, runtime) = (start(), runtime());
    for version in ["v1", "v1alpha"] {
        assert!(runtime.block_on(reflect(&server, version, "hearith.v1.Paillier")).is_ok(), "{version}");
    }
}

#[test]
fn idle_connections_end() {
    let server = start_with(|options| options.limits.idle_timeout = Duration::from_millis(50));
    let mut idle = idle_http2(&server);
    let _ = idle.read_to_end(&mut Vec::new());
    eventually("it is gone", || metric(&server, "hearith_clients ") == 0.0);
    // A client whose connection was ended reconnects by itself.
    let remote = remote(&server, KEY.public());
    eventually("it was told to go", || metric(&server, "hearith_clients ") == 0.0);
    assert_eq!(remote.encrypt(&plaintexts(KEY.public(), 3)).unwrap().len(), 3);
}

#[test]
fn old_connections_accept_no_further_stream() {
    let server = start_with(|options| options.limits.age = Duration::from_millis(50));
    let remote = remote(&server, KEY.public());
    for _ in 0..5 {
        assert_eq!(remote.encrypt(&plaintexts(KEY.public(), 3)).unwrap().len(), 3);
        eventually("it has ended", || metric(&server, "hearith_clients ") == 0.0);
    }
}

#[test]
fn silent_streams_make_way() {
    let server = start_with(|options| options.limits.stream_timeout = HOUR);
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let mut held = Vec::new();
    runtime.block_on(async {
        for _ in 0..10 {
            let mut client = PaillierClient::new(channel(&server).await);
            for _ in 0..250 {
                let (requests, nothing) = tokio::sync::mpsc::channel(1);
                let Ok(answers) = client.encrypt(ReceiverStream::new(nothing)).await else { break };
                held.push((requests, answers.into_inner()));
            }
        }
    });
    assert!(held.len() >= 2048, "{} streams", held.len());
    still_serves(&server);
    let ended = runtime.block_on(async {
        loop {
            for (_, answers) in &mut held {
                let next = tokio::time::timeout(Duration::from_millis(1), answers.message()).await;
                match next {
                    Ok(Err(status)) => return status,
                    Ok(Ok(ended)) => panic!("it ended well: {ended:?}"),
                    // The stream is still open.
                    Err(_) => {}
                }
            }
        }
    });
    assert_eq!(reason(&ended), Some(ErrorReason::Idle), "{ended:?}");
    drop(held);
    all_ended(&server);
}

#[test]
fn silent_streams_end() {
    let server = start_with(|options| options.limits.stream_timeout = Duration::from_millis(100));
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let ended = runtime.block_on(async {
        let (requests, mut answers) = stream(&server).await;
        requests.send(request(1)).await.unwrap();
        answers.message().await.unwrap().unwrap();
        answers.message().await.unwrap_err()
    });
    assert_eq!(reason(&ended), Some(ErrorReason::Idle), "{ended:?}");
    all_ended(&server);
}

#[test]
fn many_keys_of_one_client_displace_no_others() {
    let server = start_with(|options| options.limits.keys = 16);
    let other = remote(&server, DJN.public());
    let runtime = runtime();
    runtime.block_on(async {
        let mut greedy = PaillierClient::new(channel(&server).await);
        for _ in 0..40 {
            let n = key(Variant::Standard).public().modulus_be().into();
            greedy.register_key(RegisterKeyRequest { n, ..Default::default() }).await.unwrap();
        }
    });
    assert_eq!(metric(&server, "hearith_keys "), 5.0, "a quarter, and the other's");
    assert_eq!(other.encrypt(&plaintexts(DJN.public(), 3)).unwrap().len(), 3);
    // The service's own key needs no registration.
    let bytes = [field(1, KeyHandle::of_key(KEY.public()).to_string().as_bytes())].concat();
    runtime.block_on(async { send_raw(channel(&server).await, "Encrypt", bytes).await }).unwrap();
}

#[test]
fn what_is_no_grpc_is_told_so() {
    let server = start();
    let answer = |request: &str| {
        let mut stream = silent(&server);
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(answer("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").starts_with("HTTP/1.1 415 "));
    eventually("both are counted", || metric(&server, "hearith_failed_handshakes_total{why=\"protocol\"}") == 2.0);
}

/// Every operation on ciphertexts rejects those that share a factor with the modulus, as the
/// protocol requires.
#[test]
fn multiples_of_a_factor_are_no_ciphertexts() {
    let (server, runtime) = (start(), runtime());
    let public = KEY.public();
    let good = public.encrypt(&plaintexts(public, 1)).unwrap().to_be_bytes();
    let bad = multiple_of_p();
    let (two, scalars) = ([&good[..], &bad].concat(), [5_u8, 5]);
    let bits = [vec![4 << 3, 8], vec![5 << 3, 1]].concat();
    let groups = [field(3, &[0, 0]), vec![4 << 3, 1]].concat();
    let name = field(1, KeyHandle::of_key(public).to_string().as_bytes());
    let cases = [
        ("Rerandomise", field(2, &two)),
        ("Add", [field(2, &two), field(3, &good.repeat(2))].concat()),
        ("Add", [field(2, &good.repeat(2)), field(3, &two)].concat()),
        ("Multiply", [field(2, &two), field(3, &scalars), bits].concat()),
        ("SumGroups", [field(2, &two), groups].concat()),
        ("Decrypt", field(2, &two)),
    ];
    for (method, fields) in cases {
        let bytes = [name.clone(), fields].concat();
        let refused = runtime.block_on(async { send_raw(channel(&server).await, method, bytes).await });
        let status = refused.expect_err(method);
        assert_eq!(reason(&status), Some(ErrorReason::BadNumber), "{method}: {status:?}");
        let details = tonic_types::StatusExt::get_details_error_info(&status).unwrap();
        assert_eq!(details.metadata["row"], "1", "{method}");
    }
    still_serves(&server);
}

/// A number modulo `n^2` that is a multiple of a prime factor of `n`.
fn multiple_of_p() -> Vec<u8> {
    let p: Vec<u8> = KEY.primes()[0].iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let mut bytes = vec![0; KEY.public().ciphertext_bytes()];
    let start = bytes.len() - p.len();
    bytes[start..].copy_from_slice(&p);
    bytes
}

/// Memory is measured for a whole process, so this test starts one of its own. Otherwise other
/// tests would run in the same process.
#[test]
fn memory_of_answers_that_nobody_read_is_returned() {
    const ALONE: &str = "HEARITH_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "hostile::memory_of_answers_that_nobody_read_is_returned";
        let output = alone.args(["--exact", name]).env(ALONE, "1").output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && report.contains("1 passed"), "{report}");
        return;
    }
    let server = start_with(|options| options.limits.send_timeout = Duration::from_millis(200));
    drop(remote(&server, KEY.public()));
    still_serves(&server);
    let before = resident();
    let most = std::cell::Cell::new(0);
    let runtime = runtime();
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..100 {
            let (requests, answers) = stream(&server).await;
            for _ in 0..3 {
                // A client that was cut off cannot send any more.
                let _ = requests.send(request(16_000)).await;
            }
            streams.push((requests, answers));
            most.set(most.get().max(resident()));
        }
    });
    runtime.shutdown_background();
    all_ended(&server);
    eventually("they are cut off", || metric(&server, "hearith_unread_bytes ") == 0.0);
    eventually("the memory is returned", || resident() < before + (64 << 10));
    println!("{before} KiB before, {} KiB at most, {} KiB after", most.get(), resident());
    assert!(most.get() > before + (128 << 10), "{before} KiB grew to {} KiB", most.get());
}
