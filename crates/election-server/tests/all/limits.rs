//! Limits, headers and TLS: how the server treats excessive, foreign or unprotected requests.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hearith_election_server::clients::{Proxies, ProxyHeader};
use hearith_election_server::limits::Limits;
use hearith_election_server::server::{Error, Server};
use hearith_election_server::tls::Tls;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::common::{Answer, Hall, ask, code, get, text, wide};

/// Expected events take milliseconds unless the machine is busy. This timeout only ends a test that
/// hangs.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn whoever_asks_too_often_waits() {
    let hall = Hall::empty(1, false, Limits { rate: 1, ..wide() });
    // A burst of ten seconds' worth is permitted.
    let first = (0..10).filter(|_| get(hall.address(), "/health").status == 200).count();
    assert_eq!(first, 10);
    let refused = (0..5).map(|_| get(hall.address(), "/health")).find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.json()["error"], "too_many");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(get(hall.address(), "/health").status, 200);
}

#[test]
fn a_proxy_names_its_clients() {
    let mut hall = Hall::empty(1, false, wide());
    let many = |hall: &Hall, header: &str| {
        (0..30)
            .map(|_| ask(hall.address(), "GET", "/health", header, b"").status)
            .filter(|&status| status == 429)
            .count()
    };
    hall.start(|options| (options.limits.rate, options.proxies) = (1, behind("127.0.0.1", ProxyHeader::XForwardedFor)));
    assert!(many(&hall, "X-Forwarded-For: 192.0.2.1, 192.0.2.7\r\n") > 10);
    assert_eq!(get(hall.address(), "/health").status, 200);
    // The client's own claims come first and are not trusted, and neither is the other header.
    assert!(many(&hall, "X-Forwarded-For: 192.0.2.8, 192.0.2.7\r\nForwarded: for=192.0.2.8\r\n") > 10);
    hall.start(|options| (options.limits.rate, options.proxies) = (1, behind("127.0.0.1", ProxyHeader::Forwarded)));
    assert!(many(&hall, "Forwarded: for=192.0.2.8\r\nForwarded: for=\"[2001:db8::7]:1\"\r\n") > 10);
    assert_eq!(get(hall.address(), "/health").status, 200);
    // No proxy is trusted, or only one at another address.
    for proxies in [Proxies::default(), behind("192.0.2.0/24", ProxyHeader::XForwardedFor)] {
        hall.start(|options| (options.limits.rate, options.proxies) = (1, proxies));
        assert!(many(&hall, "X-Forwarded-For: 192.0.2.9\r\n") > 10);
        assert_eq!(get(hall.address(), "/health").status, 429);
    }
}

fn behind(network: &str, header: ProxyHeader) -> Proxies {
    Proxies { networks: [network.parse().unwrap()].into_iter().collect(), header }
}

/// A request that stays in progress until it is ended, because its body is incomplete.
fn begin(hall: &Hall, client: &str) -> TcpStream {
    let mut stream = TcpStream::connect(hall.address()).unwrap();
    let head = format!("X-Forwarded-For: {client}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{");
    write!(stream, "POST /api/ballots HTTP/1.1\r\nHost: x\r\n{head}").unwrap();
    stream
}

/// One client behind a proxy cannot block others, neither by connections, which belong to the
/// proxy, nor by requests.
#[test]
fn requests_at_a_time_are_counted_for_each_named_client() {
    let limits = Limits { clients_an_address: 2, handshakes: 16, request_timeout: PATIENCE, ..wide() };
    let mut hall = Hall::empty(1, false, limits);
    hall.start(|options| {
        (options.limits, options.proxies) = (limits, behind("127.0.0.1", ProxyHeader::XForwardedFor));
    });
    let held = [0; 8].map(|_| begin(&hall, "192.0.2.7"));
    // Two are in progress. The others are answered.
    let (mut answered, mut waiting) = (Vec::new(), held.into_iter().collect::<VecDeque<_>>());
    while answered.len() < 6 {
        let mut stream = waiting.pop_front().unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        match stream.peek(&mut [0]) {
            Ok(_) => answered.push(Answer::read(&mut stream)),
            Err(_) => waiting.push_back(stream),
        }
    }
    for answer in answered {
        assert_eq!((answer.status, answer.json()["error"].as_str()), (429, Some("too_many")));
    }
    let other = |client: &str| ask(hall.address(), "GET", "/health", &format!("X-Forwarded-For: {client}\r\n"), b"");
    assert_eq!(other("192.0.2.7").status, 429);
    assert_eq!(other("192.0.2.8").status, 200);
    // Completed requests free their places.
    for mut stream in waiting {
        write!(stream, "}}").unwrap();
        assert_eq!(Answer::read(&mut stream).status, 400);
    }
    let until = Instant::now() + PATIENCE;
    while other("192.0.2.7").status != 200 {
        assert!(Instant::now() < until, "places are given back");
    }
}

#[test]
fn bodies_end_and_come_in_time() {
    let limits = Limits { body_bytes: 4096, request_timeout: Duration::from_millis(300), ..wide() };
    let hall = Hall::empty(1, false, limits);
    let long = ask(hall.address(), "POST", "/api/ballots", "", &[b' '; 4097]);
    assert_eq!((long.status, long.json()["error"].as_str()), (413, Some("too_large")));
    // Endless chunks do not bypass the limit.
    let mut stream = TcpStream::connect(hall.address()).unwrap();
    write!(stream, "POST /api/ballots HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(4096));
    for _ in 0..8 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    // A body that does not arrive.
    let mut stream = TcpStream::connect(hall.address()).unwrap();
    write!(stream, "POST /api/ballots HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n1")
        .unwrap();
    let started = Instant::now();
    let slow = Answer::read(&mut stream);
    assert_eq!((slow.status, slow.json()["error"].as_str()), (408, Some("too_slow")));
    assert!(started.elapsed() < PATIENCE);
    // A head that does not arrive: the connection is closed.
    let mut stream = TcpStream::connect(hall.address()).unwrap();
    write!(stream, "GET /health HTT").unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(get(hall.address(), "/health").status, 200);
}

#[test]
fn connections_have_places() {
    let hall = Hall::empty(1, false, Limits { clients_an_address: 2, ..wide() });
    let held = [0; 2].map(|_| {
        let mut stream = TcpStream::connect(hall.address()).unwrap();
        write!(stream, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        stream
    });
    let mut third = TcpStream::connect(hall.address()).unwrap();
    let _ = write!(third, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut bytes = Vec::new();
    let _ = third.read_to_end(&mut bytes);
    assert!(bytes.is_empty(), "it is closed without an answer");
    drop(held);
    let until = Instant::now() + PATIENCE;
    loop {
        let mut stream = TcpStream::connect(hall.address()).unwrap();
        let _ = write!(stream, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        if bytes.starts_with(b"HTTP/1.1 200") {
            break;
        }
        assert!(Instant::now() < until, "places are given back");
    }
    assert!(hall.metrics().contains("hearith_election_turned_away_total"));
}

/// Silent connections and connections with incomplete requests. A silent one holds no place, and
/// none delays the shutdown.
#[test]
fn whoever_asks_for_nothing_shuts_nobody_out_and_delays_no_end() {
    let hour = Duration::from_secs(3600);
    let limits = Limits {
        clients: 4,
        clients_an_address: 4,
        handshakes: 16,
        request_timeout: hour,
        shutdown_timeout: hour,
        ..wide()
    };
    let mut hall = Hall::empty(1, false, limits);
    let _silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(hall.address()).unwrap()).collect();
    assert_eq!(get(hall.address(), "/health").status, 200);
    let mut kept = TcpStream::connect(hall.address()).unwrap();
    write!(kept, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    kept.read_exact(&mut [0; 12]).unwrap();
    let mut half = TcpStream::connect(hall.address()).unwrap();
    write!(half, "GET /health HTT").unwrap();
    while !hall.metrics().contains("hearith_election_clients 2\n") {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(hall.server.take().unwrap().stop(), "nothing was in work");
}

#[test]
fn a_full_desk_says_so() {
    let mut hall = Hall::open(1, false);
    hall.start(|options| options.limits.waiting = 0);
    assert_eq!(code(hall.client().send(&hall.cast.ballot(0, 0))), "busy");
    hall.start(|_| ());
    hall.client().send(&hall.cast.ballot(0, 0)).unwrap();
}

#[test]
fn voters_who_send_wrong_ballots_wait_and_others_do_not() {
    let mut hall = Hall::open(2, false);
    hall.start(|options| options.limits.bad_ballots = 2);
    let client = hall.client();
    let wrong = |voter| {
        let mut ballot = hall.cast.prepare(voter, 0).into_ballot();
        ballot.contests[0].marks[0].proof.0[40] ^= 1;
        code(client.send(&hall.cast.cast(voter, ballot)))
    };
    assert_eq!([wrong(0), wrong(0), wrong(0)], ["unproven", "unproven", "too_many"]);
    // Nobody else can use up a voter's limit.
    let forged = hall.cast.cast(0, hall.cast.prepare(1, 0).into_ballot());
    for _ in 0..3 {
        assert_eq!(code(client.send(&forged)), "not_signed");
    }
    client.send(&hall.cast.ballot(1, 0)).unwrap();
}

#[test]
fn a_voter_sends_so_many_ballots_in_a_day() {
    let mut hall = Hall::open(2, true);
    hall.start(|options| options.limits.ballots = 3);
    let (cast, client) = (&hall.cast, hall.client());
    let first = cast.ballot(0, 0);
    client.send(&first).unwrap();
    client.send(&cast.challenge(0, 1)).unwrap();
    // A repeated submission does not count, and neither does one that the voter did not sign.
    for _ in 0..3 {
        client.send(&first).unwrap();
        assert_eq!(code(client.send(&cast.cast(0, cast.prepare(1, 0).into_ballot()))), "not_signed");
    }
    client.send(&cast.ballot(0, 2)).unwrap();
    assert_eq!(code(client.send(&cast.ballot(0, 1))), "too_many");
    assert_eq!(code(client.send(&cast.challenge(0, 1))), "too_many");
    let late = ask(hall.address(), "POST", "/api/ballots", "", text(&cast.ballot(0, 1)).as_bytes());
    let wait: u64 = late.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=86_400 / 3).contains(&wait), "{wait}");
    client.send(&first).unwrap();
    client.send(&cast.ballot(1, 0)).unwrap();
}

#[test]
fn pages_are_this_servers_alone() {
    let mut hall = Hall::open(1, false);
    let pages = hall.file("pages");
    std::fs::create_dir_all(pages.join("assets")).unwrap();
    std::fs::write(pages.join("index.html"), "<!doctype html><title>Vote</title>").unwrap();
    std::fs::write(pages.join("assets/app.js"), "\"use strict\";").unwrap();
    std::fs::write(hall.file("secret"), "secret").unwrap();
    let hall_pages = pages.clone();
    hall.start(|options| options.pages = Some(pages));
    let page = get(hall.address(), "/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html")));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "deny"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value));
        assert_eq!(get(hall.address(), "/api/election").header(name), Some(value));
    }
    assert_eq!(page.header("set-cookie"), None);
    assert_eq!(get(hall.address(), "/assets/app.js").header("content-type"), Some("text/javascript"));
    // A page with an inline script permits it by its hash.
    let own = "default-src 'none'; script-src 'sha256-x'";
    std::fs::write(hall.file("pages/csp.txt"), format!("{own}\n")).unwrap();
    hall.start(|options| options.pages = Some(hall_pages.clone()));
    assert_eq!(get(hall.address(), "/").header("content-security-policy"), Some(own));
    // Paths within the pages belong to their script, but reserved paths do not.
    assert_eq!(get(hall.address(), "/board/find").body, page.body);
    let first = &page.body[..];
    for own in ["api", "record", "metrics", "health"] {
        for rest in ["/nothing", "/nothing/more", "/", "//", "/..", "/index.html"] {
            let answer = get(hall.address(), &format!("/{own}{rest}"));
            assert_eq!((answer.status, &answer.json()["error"]), (404, &"not_found".into()), "/{own}{rest}");
        }
    }
    for other in [
        "/api",
        "/api?page",
        "//api/election",
        "/record",
        "/metrics",
        "/API/election",
        "/record/board/",
        "/api/ballots/",
    ] {
        assert_eq!(get(hall.address(), other).status, 404, "{other}");
    }
    for page in ["/apiary", "/recorder", "/board/record"] {
        assert_eq!(get(hall.address(), page).body, first, "{page}");
    }
    for path in ["/../secret", "/%2e%2e/secret", "/assets/..%2f..%2fsecret"] {
        assert!(!get(hall.address(), path).body.starts_with(b"secret"), "{path}");
    }
    // Pages of other sites may read, but not send.
    let ballot = text(&hall.cast.ballot(0, 0));
    let foreign = "Sec-Fetch-Site: cross-site\r\nOrigin: https://elsewhere.example\r\n";
    let sent = ask(hall.address(), "POST", "/api/ballots", foreign, ballot.as_bytes());
    assert_eq!((sent.status, sent.json()["error"].as_str()), (403, Some("cross_site")));
    assert_eq!(ask(hall.address(), "GET", "/record/heads.jsonl", foreign, b"").status, 200);
    let own = ask(hall.address(), "POST", "/api/ballots", "Sec-Fetch-Site: same-origin\r\n", ballot.as_bytes());
    assert_eq!(own.status, 201);

    assert!(hall.server.take().unwrap().stop());
    let mut options = hall.options();
    options.pages = Some(hall.file("nothing"));
    assert!(matches!(Server::start(options), Err(Error::Pages(_))));
    std::fs::write(hall.file("pages/csp.txt"), "script-src *").unwrap();
    let mut options = hall.options();
    options.pages = Some(hall_pages);
    assert!(matches!(Server::start(options), Err(Error::Pages(_))));
}

/// A root certificate, and a server's certificate and key.
fn certificates() -> (String, Tls) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap().pem();
    (root, Tls { certificate, key: key.serialize_pem(), clients: None, revoked: None })
}

#[test]
fn tls_tells_the_server_from_others() {
    use hearith_election_server::client::Client;
    let mut hall = Hall::open(1, false);
    let ((root, tls), (other, _)) = (certificates(), certificates());
    hall.start(|options| options.tls = Some(tls.clone()));
    let url = format!("https://localhost:{}", hall.address().port());
    let client = Client::new(&url, Some(&root)).unwrap();
    client.send(&hall.cast.ballot(0, 0)).unwrap();
    assert_eq!(client.election().unwrap().size, 4);
    assert!(Client::new(&url, Some(&other)).unwrap().election().is_err(), "a stranger's root");
    assert!(Client::new(&url, None).unwrap().election().is_err(), "the system's roots");
    let by_address = format!("https://127.0.0.1:{}", hall.address().port());
    assert!(Client::new(&by_address, Some(&root)).unwrap().election().is_err(), "another name");
    let mut plain = TcpStream::connect(hall.address()).unwrap();
    write!(plain, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP"), "plain HTTP is no way in");

    assert!(hall.server.take().unwrap().stop());
    let start = |change: &dyn Fn(&mut hearith_election_server::server::Options)| {
        let mut options = hall.options();
        change(&mut options);
        Server::start(options).map(drop).unwrap_err().to_string()
    };
    assert!(start(&|options| options.listen = "0.0.0.0:0".parse().unwrap()).contains("that needs TLS"));
    assert!(start(&|options| options.metrics = Some("0.0.0.0:0".parse().unwrap())).contains("metrics are shown"));
    let wrong = |certificate: &str, key: &str| {
        Some(Tls { certificate: certificate.into(), key: key.into(), clients: None, revoked: None })
    };
    assert!(start(&|options| options.tls = wrong("x", &tls.key)).contains("no PEM certificate found"));
    assert!(start(&|options| options.tls = wrong(&tls.certificate, "x")).contains("no PEM private key found"));
    assert!(!format!("{tls:?}").contains("PRIVATE"));
}
