//! Load on a service, for `scripts/bench_service.sh`.
//!
//! - `service_load URL KEY.json calls CLIENTS SECONDS`: every client encrypts one number per call,
//!   again and again.
//! - `service_load URL KEY.json stream CLIENTS SECONDS`: the same, with one call for all requests
//!   of a client.
//! - `service_load URL KEY.json connections COUNT`: opens COUNT connections at once, and sends one
//!   request on each.
//!
//! Prints a name and numbers per line. Latencies are in milliseconds.

use std::error::Error;
use std::time::{Duration, Instant};

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PublicKey};
use hearith_service::proto::EncryptRequest;
use hearith_service::proto::RegisterKeyRequest;
use hearith_service::proto::paillier_client::PaillierClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, key, how, rest @ ..] = &words[..] else { return Err("URL KEY.json calls|stream|connections ...".into()) };
    let key = PublicKey::from_jwk(&std::fs::read_to_string(key)?, KeyPolicy::Secure, Engine::best())?;
    let request = request(url, &key).await?;
    let width = key.ciphertext_bytes();
    let number =
        |at: usize| rest.get(at).ok_or("a number is missing")?.parse::<u64>().map_err(|error| error.to_string());
    match *how {
        "calls" | "stream" => {
            let (clients, span) = (number(0)?, Duration::from_secs(number(1)?));
            let work =
                (0..clients).map(|_| tokio::spawn(ask(url.to_string(), request.clone(), width, *how == "calls", span)));
            let start = Instant::now();
            let mut latencies = Vec::new();
            for client in work.collect::<Vec<_>>() {
                latencies.extend(client.await??);
            }
            report(latencies, start.elapsed());
        }
        "connections" => connections(url, request, width, number(0)? as usize).await?,
        _ => return Err(format!("{how} is nothing that could be done").into()),
    }
    Ok(())
}

async fn connect(url: &str) -> Outcome<PaillierClient<Channel>> {
    Ok(PaillierClient::new(Endpoint::from_shared(url.to_owned())?.connect().await?))
}

/// Registers the key and returns a request to encrypt one number.
async fn request(url: &str, key: &PublicKey) -> Outcome<EncryptRequest> {
    let register = RegisterKeyRequest {
        n: key.modulus_be().into(),
        h: key.generator_be().unwrap_or_default().into(),
        ..Default::default()
    };
    let handle = connect(url).await?.register_key(register).await?.into_inner().key;
    let plaintext = encode_signed(key, &[1_234_567])?.to_be_bytes().to_vec();
    Ok(EncryptRequest { key: handle, plaintexts: plaintext.into() })
}

/// Sends requests from one client and returns the latency of each answer.
async fn ask(
    url: String,
    request: EncryptRequest,
    width: usize,
    calls: bool,
    span: Duration,
) -> Outcome<Vec<Duration>> {
    let mut client = connect(&url).await?;
    let (sender, receiver) = mpsc::channel(1);
    let mut stream = match calls {
        true => None,
        false => Some(client.encrypt(ReceiverStream::new(receiver)).await?.into_inner()),
    };
    let (start, mut latencies) = (Instant::now(), Vec::new());
    while start.elapsed() < span {
        let asked = Instant::now();
        let answer = match &mut stream {
            Some(answers) => {
                sender.send(request.clone()).await?;
                answers.message().await?
            }
            None => client.encrypt(tokio_stream::once(request.clone())).await?.into_inner().message().await?,
        };
        latencies.push(asked.elapsed());
        if answer.ok_or("no answer")?.ciphertexts.len() != width {
            return Err("an answer of another length".into());
        }
    }
    Ok(latencies)
}

fn report(mut latencies: Vec<Duration>, span: Duration) {
    latencies.sort();
    println!("requests {}", latencies.len());
    println!("rate {:.1}", latencies.len() as f64 / span.as_secs_f64());
    for (name, part) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("most", 1.0)] {
        let at = ((latencies.len() as f64 * part).ceil() as usize).clamp(1, latencies.len().max(1)) - 1;
        println!("{name} {:.3}", latencies.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3);
    }
}

/// Opens connections that all stay open until each has received an answer.
async fn connections(url: &str, request: EncryptRequest, width: usize, count: usize) -> Outcome<()> {
    let start = Instant::now();
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        let (sender, receiver) = mpsc::channel(1);
        let answers = connect(url).await?.encrypt(ReceiverStream::new(receiver)).await?.into_inner();
        streams.push((sender, answers));
    }
    println!("open {:.3}", start.elapsed().as_secs_f64());
    let start = Instant::now();
    for (sender, _) in &streams {
        sender.send(request.clone()).await?;
    }
    let mut answered = 0;
    for (_, answers) in &mut streams {
        let answer = answers.message().await?.ok_or("no answer")?;
        answered += usize::from(answer.ciphertexts.len() == width);
    }
    println!("answered {answered}");
    println!("seconds {:.3}", start.elapsed().as_secs_f64());
    Ok(())
}
