//! Asks a service for one encryption after the other from many connections at once, and prints one line of JSON: rows a second, and the
//! latency in milliseconds at the 50th, 99th and 99.9th percentile.
//!
//! Usage: `load URL PUBLIC_KEY CONNECTIONS SECONDS [--hold N]`; `--hold` keeps N more connections open that ask for one row each at the end.

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PublicKey};
use hearith_service::proto::paillier_client::PaillierClient;
use hearith_service::proto::{EncryptRequest, RegisterKeyRequest};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

type Anything<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A connection with one stream of requests.
struct Asker {
    requests: mpsc::Sender<EncryptRequest>,
    answers: Streaming<hearith_service::proto::EncryptResponse>,
}

impl Asker {
    async fn connect(url: String) -> Anything<Self> {
        let mut client = PaillierClient::connect(url).await?;
        let (requests, receiver) = mpsc::channel(1);
        let answers = client.encrypt(ReceiverStream::new(receiver)).await?.into_inner();
        Ok(Self { requests, answers })
    }

    async fn ask(&mut self, request: &EncryptRequest) -> Anything<()> {
        self.requests.send(request.clone()).await?;
        self.answers.message().await?.ok_or("the stream ended")?;
        Ok(())
    }
}

fn main() -> Anything<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, connections, seconds, rest @ ..] = &arguments[..] else {
        return Err("usage: load URL PUBLIC_KEY CONNECTIONS SECONDS [--hold N]".into());
    };
    let hold = match rest {
        [] => 0,
        [option, number] if option == "--hold" => number.parse()?,
        _ => return Err("only --hold N may follow".into()),
    };
    let key = PublicKey::from_jwk(&fs::read_to_string(key)?, KeyPolicy::AllowInsecure, Engine::best())?;
    let seconds = Duration::from_secs_f64(seconds.parse()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(load(url, &key, connections.parse()?, seconds, hold))
}

async fn load(url: &str, key: &PublicKey, connections: usize, time: Duration, hold: usize) -> Anything<()> {
    let request = request(url, key).await?;
    let mut held = Vec::new();
    for _ in 0..hold {
        held.push(Asker::connect(url.to_owned()).await?);
    }
    let mut asking = Vec::new();
    for _ in 0..connections {
        let (mut asker, request) = (Asker::connect(url.to_owned()).await?, request.clone());
        asking.push(tokio::spawn(async move {
            let (start, mut latencies) = (Instant::now(), Vec::new());
            while start.elapsed() < time {
                let asked = Instant::now();
                asker.ask(&request).await?;
                latencies.push(asked.elapsed().as_secs_f64() * 1000.0);
            }
            Anything::Ok(latencies)
        }));
    }
    let (start, mut latencies) = (Instant::now(), Vec::new());
    for asking in asking {
        latencies.extend(asking.await??);
    }
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    for asker in &mut held {
        asker.ask(&request).await?;
    }
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let (p50, p99, p999) = (at(0.5), at(0.99), at(0.999));
    let count = latencies.len();
    println!(
        "{{\"requests\":{count},\"held\":{hold},\"rows_per_second\":{rate:.1},\"p50\":{p50:.2},\"p99\":{p99:.2},\"p999\":{p999:.2}}}"
    );
    Ok(())
}

/// A request for one row under the key, which it registers.
async fn request(url: &str, key: &PublicKey) -> Anything<EncryptRequest> {
    let (n, h) = (key.modulus_be().into(), key.generator_be().unwrap_or_default().into());
    let mut client: PaillierClient<Channel> = PaillierClient::connect(url.to_owned()).await?;
    let key_handle = client.register_key(RegisterKeyRequest { n, h }).await?.into_inner().key;
    let plaintexts = encode_signed(key, &[1234])?.to_be_bytes().to_vec();
    Ok(EncryptRequest { key: key_handle, plaintexts: plaintexts.into() })
}
