//! Clients that disappear, do not read, send nonsense, are too late or too many. Each is rejected
//! with its own reason, and no other client is affected.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::*;
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_service::client::{self, Service};
use hearith_service::keys::KeyHandle;
use hearith_service::proto::paillier_client::PaillierClient;
use hearith_service::proto::{DOMAIN, EncryptRequest, EncryptResponse, ErrorReason};
use hearith_service::server::Server;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_types::StatusExt;

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub async fn channel(server: &Server) -> Channel {
    Endpoint::from_shared(url(server)).unwrap().connect().await.unwrap()
}

pub fn reason(status: &Status) -> Option<ErrorReason> {
    let info = status.get_details_error_info().filter(|info| info.domain == DOMAIN)?;
    ErrorReason::named(&info.reason)
}

/// A request for the key that [`start`] serves, which must have been registered.
pub fn request(count: usize) -> EncryptRequest {
    let numbers = plaintexts(KEY.public(), count).to_be_bytes().to_vec();
    EncryptRequest { key: KeyHandle::of_key(KEY.public()).to_string(), plaintexts: numbers.into() }
}

/// A stream whose requests are sent one by one.
pub async fn stream(server: &Server) -> (mpsc::Sender<EncryptRequest>, Streaming<EncryptResponse>) {
    stream_on(channel(server).await).await
}

async fn stream_on(channel: Channel) -> (mpsc::Sender<EncryptRequest>, Streaming<EncryptResponse>) {
    let (sender, receiver) = mpsc::channel(1);
    let answers = PaillierClient::new(channel).encrypt(ReceiverStream::new(receiver)).await.unwrap();
    (sender, answers.into_inner())
}

pub fn still_serves(server: &Server) {
    let remote = remote(server, KEY.public());
    let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 20)).unwrap();
    assert_eq!(integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()), numbers(20));
}

pub fn all_ended(server: &Server) {
    eventually("no stream is open", || metric(server, "hearith_streams ") == 0.0);
    eventually("the queue is empty", || metric(server, "hearith_queue_bytes ") == 0.0);
}

#[test]
fn a_client_that_vanishes_leaves_nothing_behind() {
    let server = start();
    drop(remote(&server, KEY.public()));
    for _ in 0..10 {
        let runtime = runtime();
        runtime.block_on(async {
            let (requests, mut answers) = stream(&server).await;
            for _ in 0..8 {
                requests.send(request(100)).await.unwrap();
            }
            answers.message().await.unwrap().unwrap();
        });
        // Without closing the sockets.
        runtime.shutdown_background();
    }
    all_ended(&server);
    eventually("no client is connected", || metric(&server, "hearith_clients ") == 0.0);
    still_serves(&server);
}

#[test]
fn a_client_that_never_reads_is_cut_off_and_holds_up_nobody() {
    let server = start_with(|options| options.limits.send_timeout = Duration::from_secs(1));
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let status = runtime.block_on(async {
        let (requests, mut answers) = stream(&server).await;
        let sent = tokio::spawn(async move {
            let mut sent = 0;
            // Each answer exceeds the connection's window for unread data.
            while requests.send(request(2000)).await.is_ok() {
                sent += 1;
            }
            sent
        });
        tokio::task::block_in_place(|| {
            let other = remote(&server, KEY.public());
            assert_eq!(other.encrypt(&plaintexts(KEY.public(), 3)).unwrap().len(), 3);
            let cut_off = "hearith_requests_total{operation=\"encrypt\",outcome=\"NOT_READING\"}";
            eventually("it is cut off", || metric(&server, cut_off) == 1.0);
        });
        // The answers sent so far are still read, followed by the error.
        let status = loop {
            match answers.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ended well"),
                Err(status) => break status,
            }
        };
        let sent = tokio::time::timeout(Duration::from_secs(60), sent).await.expect("the stream has ended").unwrap();
        assert!(sent < 1000, "{sent} requests were taken");
        status
    });
    assert!(reason(&status) == Some(ErrorReason::NotReading), "{status:?}");
    all_ended(&server);
    still_serves(&server);
}

#[test]
fn a_client_that_does_not_even_read_that_it_is_cut_off_loses_its_connection() {
    let server = start_with(|options| options.limits.send_timeout = Duration::from_millis(300));
    drop(remote(&server, KEY.public()));
    eventually("nobody is connected", || metric(&server, "hearith_clients ") == 0.0);
    let runtime = runtime();
    runtime.block_on(async {
        // Two answers: one in the transport, and one that waits behind it. The stream has nothing
        // left to compute.
        let (requests, answers) = stream(&server).await;
        for _ in 0..2 {
            requests.send(request(30_000)).await.unwrap();
        }
        drop(requests);
        tokio::task::block_in_place(|| {
            eventually("its connection is ended", || metric(&server, "hearith_cut_off_total ") == 1.0);
            eventually("and gone", || metric(&server, "hearith_clients ") == 0.0);
            eventually("with all that was kept for it", || metric(&server, "hearith_unread_bytes ") == 0.0);
        });
        drop(answers);
    });
    all_ended(&server);
    still_serves(&server);
}

#[test]
fn unread_answers_have_room_together_and_the_oldest_make_way() {
    const ROOM: usize = 1 << 20;
    let server = start_with(|options| options.limits.unread_bytes = ROOM);
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let most = std::cell::Cell::new(0.0_f64);
    runtime.block_on(async {
        let mut streams = Vec::new();
        // Each leaves 384 KB unread, 64 KB of which are in its own buffers.
        for _ in 0..12 {
            let endpoint = Endpoint::from_shared(url(&server)).unwrap();
            let (window, all) = (Some(65_535), Some(65_535));
            let endpoint = endpoint.initial_stream_window_size(window).initial_connection_window_size(all);
            let (requests, answers) = stream_on(endpoint.connect().await.unwrap()).await;
            for _ in 0..3 {
                // A client that was cut off cannot send any more.
                let _ = requests.send(request(2000)).await;
            }
            streams.push((requests, answers));
            most.set(most.get().max(metric(&server, "hearith_unread_bytes ")));
        }
        tokio::task::block_in_place(|| {
            eventually("the oldest are cut off", || metric(&server, "hearith_cut_off_total ") >= 4.0);
            // Clients that read are not among them.
            still_serves(&server);
        });
        most.set(most.get().max(metric(&server, "hearith_unread_bytes ")));
        let (_requests, mut first) = streams.swap_remove(0);
        let ended = loop {
            match first.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ended well"),
                Err(status) => break status,
            }
        };
        assert_eq!(reason(&ended), None, "the connection broke: {ended:?}");
        tokio::task::block_in_place(|| still_serves(&server));
    });
    assert!(most.get() > 0.0 && most.get() <= ROOM as f64, "{} bytes", most.get());
    runtime.shutdown_background();
    all_ended(&server);
}

/// Sends bytes as they are.
#[derive(Clone, Copy)]
pub struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        *self
    }

    fn decoder(&mut self) -> Raw {
        *self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        prost::bytes::BufMut::put_slice(buffer, &item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        use prost::bytes::Buf;
        let mut bytes = vec![0; buffer.remaining()];
        buffer.copy_to_slice(&mut bytes);
        Ok(Some(bytes))
    }
}

const METHODS: [&str; 6] = ["Encrypt", "Rerandomise", "Add", "Multiply", "SumGroups", "Decrypt"];

/// Sends one message. Returns the stream's final status if it is an error.
pub async fn send_raw(channel: Channel, method: &str, bytes: Vec<u8>) -> Result<(), Status> {
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    let path = format!("/hearith.v1.Paillier/{method}").parse().unwrap();
    let mut answers = grpc.streaming(Request::new(tokio_stream::iter([bytes])), path, Raw).await?.into_inner();
    while answers.message().await?.is_some() {}
    Ok(())
}

/// Encodes a bytes field of protobuf.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    prost::encoding::encode_varint(bytes.len() as u64, &mut field);
    field.extend_from_slice(bytes);
    field
}

/// Messages that are nonsense, or almost valid: a known key, and fields with arbitrary content.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let noise = || proptest::collection::vec(any::<u8>(), 0..200);
    let handle = KeyHandle::of_key(KEY.public()).to_string();
    let ciphertext = KEY.public().encrypt(&plaintexts(KEY.public(), 1)).unwrap().to_be_bytes();
    let content =
        prop_oneof![noise(), Just(ciphertext.clone()), Just(ciphertext.repeat(3)), Just(vec![0; ciphertext.len()])];
    let fields = proptest::collection::vec((1..6_u8, content), 0..5);
    let framed = fields.prop_map(move |fields| {
        let fields = fields.into_iter().flat_map(|(number, content)| field(number, &content));
        field(1, handle.as_bytes()).into_iter().chain(fields).collect()
    });
    prop_oneof![noise(), framed]
}

#[test]
fn nonsense_is_refused_and_disturbs_nobody() {
    let server = start();
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let channel = runtime.block_on(channel(&server));
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() });
    let cases = (proptest::sample::select(&METHODS[..]), messages());
    let refused = std::cell::Cell::new(0);
    runner
        .run(&cases, |(method, bytes)| {
            if let Err(status) = runtime.block_on(send_raw(channel.clone(), method, bytes)) {
                refused.set(refused.get() + 1);
                let reason = reason(&status);
                let known = [ErrorReason::BadRequest, ErrorReason::BadNumber, ErrorReason::UnknownKey];
                prop_assert!(reason.is_some_and(|reason| known.contains(&reason)), "{method}: {status:?}");
            }
            Ok(())
        })
        .unwrap();
    assert!(refused.get() > 100, "{} of 600", refused.get());
    assert_eq!(metric(&server, "hearith_requests_total{operation=\"encrypt\",outcome=\"FAILED\"}"), 0.0);
    all_ended(&server);
    still_serves(&server);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let server = start();
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let channel = runtime.block_on(channel(&server));
    let status = |method: &str, bytes: Vec<u8>| runtime.block_on(send_raw(channel.clone(), method, bytes)).unwrap_err();
    let key = field(1, KeyHandle::of_key(KEY.public()).to_string().as_bytes());
    let width = KEY.public().ciphertext_bytes();
    let one = KEY.public().encrypt(&plaintexts(KEY.public(), 1)).unwrap().to_be_bytes();
    let with = |fields: &[Vec<u8>]| [std::slice::from_ref(&key), fields].concat().concat();
    let cases = [
        ("Encrypt", vec![], ErrorReason::BadRequest),
        ("Encrypt", field(1, b"no handle"), ErrorReason::UnknownKey),
        ("Encrypt", field(1, &[0xff; 64]), ErrorReason::BadRequest),
        ("Encrypt", with(&[field(2, &[0; 7])]), ErrorReason::BadRequest),
        ("Encrypt", with(&[field(2, &vec![0xff; width / 2])]), ErrorReason::BadNumber),
        ("Rerandomise", with(&[field(2, &vec![0; width])]), ErrorReason::BadNumber),
        ("Decrypt", with(&[field(2, &vec![0xff; width])]), ErrorReason::BadNumber),
        ("Add", with(&[field(2, &one)]), ErrorReason::BadRequest),
        ("Multiply", with(&[field(2, &one), field(3, &[0; 17])]), ErrorReason::BadRequest),
        ("Multiply", with(&[field(2, &one), field(3, &[5]), vec![4 << 3, 129, 1]]), ErrorReason::BadRequest),
        ("Multiply", with(&[field(2, &one), field(3, &[5]), vec![4 << 3, 2]]), ErrorReason::BadNumber),
        ("SumGroups", with(&[field(2, &one)]), ErrorReason::BadRequest),
        ("SumGroups", with(&[field(2, &one), field(3, &[1]), vec![4 << 3, 1]]), ErrorReason::BadRequest),
        ("SumGroups", with(&[field(2, &one), field(3, &[0]), vec![4 << 3, 2]]), ErrorReason::BadRequest),
    ];
    for (method, bytes, expected) in cases {
        let status = status(method, bytes);
        assert_eq!(reason(&status), Some(expected), "{method}: {status:?}");
    }
    still_serves(&server);
}

#[test]
fn messages_clients_streams_and_keys_have_limits_of_their_own() {
    let server = start_with(|options| {
        options.limits.message_bytes = 20_000;
        options.limits.clients = 4;
        options.limits.streams = 2;
        options.limits.keys = 2;
    });
    let first = remote(&server, KEY.public());
    // The client itself respects the message limit.
    assert_eq!(opened(&KEY, &first.encrypt(&plaintexts(KEY.public(), 2000)).unwrap()), numbers(2000));
    let runtime = runtime();
    let large = runtime.block_on(async {
        let (requests, mut answers) = stream(&server).await;
        requests.send(request(1000)).await.unwrap();
        answers.message().await.unwrap_err()
    });
    assert_eq!((large.code(), reason(&large)), (Code::OutOfRange, Some(ErrorReason::MessageTooLarge)));

    let second = remote(&server, DJN.public());
    // A third key evicts the least recently used one, which is registered again when it is needed.
    drop(connect(&server).key(crate::common::key(Variant::Standard).public()).unwrap());
    assert_eq!(metric(&server, "hearith_keys "), 2.0);
    assert_eq!(second.encrypt(&plaintexts(DJN.public(), 1)).unwrap().len(), 1);

    eventually("two clients are left", || metric(&server, "hearith_clients ") == 2.0);
    let streams = runtime.block_on(async {
        let opened = (stream(&server).await, stream(&server).await);
        // Dropped only after both were opened: these two clients hold their permits on their own
        // connections.
        opened
    });
    eventually("two streams", || metric(&server, "hearith_streams ") == 2.0);
    let surplus = connect(&server).key(KEY.public()).unwrap_err();
    assert_eq!(surplus.reason(), Some(ErrorReason::ClientsFull), "{surplus}");
    let full = first.encrypt(&plaintexts(KEY.public(), 1)).unwrap_err();
    assert_eq!(full.reason(), Some(ErrorReason::StreamsFull), "{full}");
    drop((streams, second));
    all_ended(&server);
    eventually("there is a place again", || connect(&server).key(KEY.public()).is_ok());
    still_serves(&server);
}

#[test]
fn a_full_queue_holds_clients_back_and_then_refuses() {
    // Room for about one request, and for one that waits, with a slow key.
    const ROWS: usize = 1900;
    let server = start_with(|options| {
        options.limits.queue_bytes = 256 << 10;
        options.limits.waiting = 1;
    });
    let key = PrivateKey::generate(1024, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let key = key.public();
    drop(remote(&server, key));
    let request = EncryptRequest {
        key: KeyHandle::of_key(key).to_string(),
        plaintexts: plaintexts(key, ROWS).to_be_bytes().to_vec().into(),
    };
    let runtime = runtime();
    let refused = runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..8 {
            let (requests, answers) = stream(&server).await;
            streams.push((requests, answers));
        }
        for (requests, _) in &streams {
            requests.send(request.clone()).await.unwrap();
        }
        let mut refused = 0;
        for (requests, mut answers) in streams {
            drop(requests);
            match answers.message().await {
                Ok(Some(answer)) => assert_eq!(answer.ciphertexts.len(), ROWS * key.ciphertext_bytes()),
                Ok(None) => panic!("no answer"),
                Err(status) => {
                    assert_eq!(reason(&status), Some(ErrorReason::QueueFull), "{status:?}");
                    refused += 1;
                }
            }
        }
        refused
    });
    assert!((1..=7).contains(&refused), "{refused} of 8");
    all_ended(&server);
    still_serves(&server);
}

#[test]
fn deadlines_end_what_is_late() {
    let server = start();
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let (status, waited) = runtime.block_on(async {
        let (sender, receiver) = mpsc::channel(1);
        let mut client = PaillierClient::new(channel(&server).await);
        let mut call = Request::new(ReceiverStream::new(receiver));
        // The deadline is sent to the service, but the client does not enforce it.
        call.metadata_mut().insert("grpc-timeout", "2000m".parse().unwrap());
        let started = Instant::now();
        let mut answers = client.encrypt(call).await.unwrap().into_inner();
        sender.send(request(1)).await.unwrap();
        answers.message().await.unwrap().unwrap();
        (answers.message().await.unwrap_err(), started.elapsed())
    });
    assert_eq!((status.code(), reason(&status)), (Code::DeadlineExceeded, Some(ErrorReason::Deadline)));
    assert!(waited >= Duration::from_millis(1500), "{waited:?}");
    // Work of some seconds, longer than the client waits.
    let key = PrivateKey::generate(1024, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let options = client::Options { timeout: Some(Duration::from_secs(1)), ..client::Options::default() };
    let hasty = Arc::new(Service::connect(&url(&server), &options).unwrap()).key(key.public()).unwrap();
    let error = hasty.encrypt(&plaintexts(key.public(), 150_000)).unwrap_err();
    assert!(error.to_string().contains("took too long") || error.reason() == Some(ErrorReason::Deadline), "{error}");
    all_ended(&server);
}

#[test]
fn a_shutdown_finishes_what_was_accepted() {
    let server = start_with(|options| options.limits.shutdown_timeout = Duration::from_secs(300));
    drop(remote(&server, KEY.public()));
    let runtime = runtime();
    let (mut answers, _requests) = runtime.block_on(async {
        let (requests, mut answers) = stream(&server).await;
        requests.send(request(1)).await.unwrap();
        answers.message().await.unwrap().unwrap();
        for _ in 0..3 {
            requests.send(request(30_000)).await.unwrap();
        }
        (answers, requests)
    });
    eventually("requests are being computed", || metric(&server, "hearith_queue_bytes ") > 0.0);
    let stopped = thread::spawn(move || server.stop());
    let (rows, status) = runtime.block_on(async {
        let mut rows = 0;
        loop {
            match answers.message().await {
                Ok(Some(answer)) => rows += answer.ciphertexts.len() / KEY.public().ciphertext_bytes(),
                Ok(None) => panic!("the client had not ended"),
                Err(status) => return (rows, status),
            }
        }
    });
    assert!(rows >= 30_000 && rows.is_multiple_of(30_000), "{rows}");
    assert_eq!((status.code(), reason(&status)), (Code::Unavailable, Some(ErrorReason::ShuttingDown)), "{status:?}");
    assert!(stopped.join().unwrap(), "all was finished in time");
}

#[test]
fn a_shutdown_does_not_wait_beyond_its_grace() {
    let server = start_with(|options| {
        options.limits.shutdown_timeout = Duration::from_millis(200);
        options.engine = Engine::Serial;
    });
    let key = PrivateKey::generate(2048, Variant::Standard, KeyPolicy::Secure, Engine::best()).unwrap();
    let key = key.public();
    drop(remote(&server, key));
    // Work of some seconds in one request.
    let numbers = plaintexts(key, 2000).to_be_bytes().to_vec();
    let request = EncryptRequest { key: KeyHandle::of_key(key).to_string(), plaintexts: numbers.into() };
    let runtime = runtime();
    let stream = runtime.block_on(async {
        let (requests, answers) = stream(&server).await;
        for _ in 0..3 {
            requests.send(request.clone()).await.unwrap();
        }
        (requests, answers)
    });
    eventually("it is being computed", || metric(&server, "hearith_batch_rows_count") >= 1.0);
    let started = Instant::now();
    assert!(!server.stop(), "it was not finished");
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    drop(stream);
}

#[test]
fn a_server_that_is_gone_is_an_error_and_a_new_one_does_it_right() {
    let server = start();
    let address = server.address();
    let remote = remote(&server, KEY.public());
    let many = plaintexts(KEY.public(), 60_000);
    thread::scope(|scope| {
        let failed = scope.spawn(|| remote.encrypt(&many));
        eventually("it is being computed", || metric(&server, "hearith_queue_bytes ") > 0.0);
        // Aborted, not stopped.
        drop(server);
        let error = failed.join().unwrap().unwrap_err();
        assert_eq!(error.reason(), None, "{error}");
    });
    let again = start_with(|options| options.listen = address);
    // The new server knows no key, so the client registers it again.
    assert_eq!(opened(&KEY, &remote.encrypt(&many).unwrap()), numbers(60_000));
    drop(again);
}

#[test]
fn a_thousand_connections_at_once() {
    let server = start_with(|options| options.limits.clients = 1000);
    drop(remote(&server, KEY.public()));
    eventually("nobody is connected", || metric(&server, "hearith_clients ") == 0.0);
    let runtime = runtime();
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..1000 {
            streams.push(stream(&server).await);
        }
        assert_eq!(metric(&server, "hearith_clients "), 1000.0);
        for (requests, _) in &streams {
            requests.send(request(1)).await.unwrap();
        }
        for (_, answers) in &mut streams {
            let answer = answers.message().await.unwrap().unwrap();
            assert_eq!(answer.ciphertexts.len(), KEY.public().ciphertext_bytes());
        }
    });
    assert_eq!(metric(&server, "hearith_requests_total{operation=\"encrypt\",outcome=\"ok\"}"), 1000.0);
    all_ended(&server);
}

/// Resident memory in KiB, as the system reports it.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Memory is measured for a whole process, so this test starts one of its own. Otherwise other
/// tests would run in the same process.
#[test]
fn memory_stays_as_it_is_under_load() {
    const ALONE: &str = "HEARITH_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let output =
            alone.args(["--exact", "faults::memory_stays_as_it_is_under_load"]).env(ALONE, "1").output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && report.contains("1 passed"), "{report}");
        return;
    }
    let server = start();
    let load = |rounds: usize| {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let remote = remote(&server, KEY.public());
                        let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 200)).unwrap();
                        remote.add(&ciphertexts, &ciphertexts).unwrap();
                    }
                });
            }
        });
    };
    load(10);
    let before = resident();
    load(60);
    let after = resident();
    assert!(after < before + (32 << 10), "{before} KiB grew to {after} KiB");
}
