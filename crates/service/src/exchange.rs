//! One stream: requests in, answers out in their order, a few of them computed at a time.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use hearith_paillier::{Ciphertexts, PublicKey};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::sleep_until;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, Streaming};
use zeroize::Zeroizing;

use crate::keys::{Keys, ServedKey};
use crate::limits::{Limits, STREAM_WINDOW};
use crate::metrics::Metrics;
use crate::proto::{self, ErrorReason};
use crate::refusal::Refusal;
use crate::scheduler::{Scheduler, deadline_passed};
use crate::work::{Input, Output};

/// What all streams of a server share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) keys: Keys,
    pub(crate) scheduler: Scheduler,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stopping: watch::Receiver<bool>,
}

/// A request of some operation, and its answer.
pub(crate) trait Exchange: Send + 'static {
    /// The answer.
    type Answer: Send + 'static;

    /// The operation's name in metrics.
    const NAME: &'static str;

    /// The handle of the key, empty if it is the one before.
    fn key(&self) -> &str;

    /// What is to be computed.
    fn input(&self, key: &ServedKey) -> Result<Input, Refusal>;

    /// What was computed.
    fn answer(numbers: Bytes) -> Self::Answer;
}

/// The answers of a stream, and then why there are no more, unless all is well: an end that could be taken for a good one would hide
/// what is missing. It counts as a stream until the client has read the end, or gone.
pub(crate) struct Answers<A> {
    answers: mpsc::Receiver<A>,
    end: Arc<Mutex<Option<Refusal>>>,
    _stream: OwnedSemaphorePermit,
}

impl<A> futures_util::Stream for Answers<A> {
    type Item = Result<A, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let answer = std::task::ready!(self.answers.poll_recv(cx));
        let refusal = || self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        Poll::Ready(answer.map(Ok).or_else(|| refusal().map(|refusal| Err(refusal.into()))))
    }
}

/// Answers a stream of requests.
pub(crate) fn exchange<E: Exchange>(
    service: Arc<Service>,
    requests: Request<Streaming<E>>,
    stream: OwnedSemaphorePermit,
) -> Response<Answers<E::Answer>> {
    let (answers, receiver) = mpsc::channel(1);
    let why = Arc::new(Mutex::new(None));
    let stream = Answers { answers: receiver, end: why.clone(), _stream: stream };
    let deadline = deadline(requests.metadata());
    let requests = requests.into_inner();
    tokio::spawn(async move {
        service.metrics.streams.inc();
        let end = Stream::<E> { service: &service, answers: &answers, deadline }.answer_all(requests).await;
        if let Err(refusal) = end {
            service.metrics.answered(E::NAME, refusal.reason().name(), 0, 0.0);
            tracing::info!(operation = E::NAME, reason = refusal.reason().name(), row = refusal.row(), "refused");
            *why.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
        }
        service.metrics.streams.dec();
    });
    Response::new(stream)
}

struct Stream<'a, E: Exchange> {
    service: &'a Arc<Service>,
    answers: &'a mpsc::Sender<E::Answer>,
    deadline: Option<Instant>,
}

impl<E: Exchange> Stream<'_, E> {
    /// Reads and answers until the client has said everything, or goes, or until something is wrong: then what came before is answered
    /// still.
    async fn answer_all(&self, mut requests: Streaming<E>) -> Result<(), Refusal> {
        let mut computed = FuturesOrdered::new();
        let mut stopping = self.service.stopping.clone();
        let mut key = None;
        let mut end = None;
        let mut late = pin!(sleep_until(self.deadline.unwrap_or_else(far).into()));
        loop {
            let reading = end.is_none();
            if !reading && computed.is_empty() {
                return end.unwrap_or(Ok(()));
            }
            tokio::select! {
                biased;
                () = self.answers.closed() => return Ok(()),
                () = &mut late, if self.deadline.is_some() => return Err(deadline_passed()),
                Some(answer) = computed.next() => self.send(answer?).await?,
                () = stopped(&mut stopping), if reading => {
                    end = Some(Err(Refusal::new(ErrorReason::ShuttingDown, "the service is shutting down")));
                }
                request = requests.message(), if reading && computed.len() < STREAM_WINDOW => {
                    match self.accept(request, &mut key) {
                        Ok(Some((key, input))) => computed.push_back(self.compute(key, input)),
                        Ok(None) => end = Some(Ok(())),
                        Err(refusal) => end = Some(Err(refusal)),
                    }
                }
            }
        }
    }

    /// A request and the key that it is for; none at the end.
    fn accept(
        &self,
        request: Result<Option<E>, Status>,
        current: &mut Option<Arc<ServedKey>>,
    ) -> Result<Option<(Arc<ServedKey>, Input)>, Refusal> {
        let Some(request) = request.map_err(|status| unread(&status, self.service.limits.message_bytes))? else {
            return Ok(None);
        };
        if !request.key().is_empty() {
            *current = Some(self.service.keys.find(request.key().parse()?)?);
        }
        let key = current.as_ref().ok_or_else(|| bad("the first request of a stream names its key"))?;
        let input = request.input(key)?;
        Ok(Some((key.clone(), input)))
    }

    /// Computes a request and writes the answer.
    async fn compute(&self, key: Arc<ServedKey>, input: Input) -> Result<E::Answer, Refusal> {
        let (start, rows) = (Instant::now(), input.rows());
        let output = self.service.scheduler.submit(key, input, self.deadline).await?;
        let numbers = match output {
            Output::Ciphertexts(ciphertexts) => ciphertexts.to_be_bytes(),
            Output::Plaintexts(plaintexts) => plaintexts.to_be_bytes().to_vec(),
        };
        self.service.metrics.answered(E::NAME, "ok", rows, start.elapsed().as_secs_f64());
        Ok(E::answer(numbers.into()))
    }

    /// Hands an answer to the client as far as it takes it.
    async fn send(&self, answer: E::Answer) -> Result<(), Refusal> {
        let until = Instant::now() + self.service.limits.unread;
        let until = self.deadline.map_or(until, |deadline| deadline.min(until));
        match tokio::time::timeout_at(until.into(), self.answers.send(answer)).await {
            // A client that has gone is noticed in the next round.
            Ok(_) => Ok(()),
            Err(_) if self.deadline == Some(until) => Err(deadline_passed()),
            Err(_) => Err(Refusal::new(ErrorReason::NotReading, "the answers were not read")),
        }
    }
}

/// Ends when the server does.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error says that the server is gone altogether.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// A time that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(1 << 30)
}

fn bad(text: &str) -> Refusal {
    Refusal::new(ErrorReason::BadRequest, text)
}

/// Why a request could not be read.
fn unread(status: &Status, most: usize) -> Refusal {
    match status.code() {
        Code::OutOfRange => {
            Refusal::new(ErrorReason::MessageTooLarge, format!("the request is larger than {most} bytes"))
        }
        _ => bad("the request cannot be read"),
    }
}

/// When the call must have ended: gRPC's `grpc-timeout`, eight digits at most and a unit.
fn deadline(metadata: &MetadataMap) -> Option<Instant> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok().filter(|_| digits.len() <= 8)?;
    let timeout = match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    };
    Instant::now().checked_add(timeout)
}

/// Ciphertexts of a request: 0 < c < n^2. Whether they are coprime to n is found where it matters.
fn ciphertexts(key: &PublicKey, bytes: &[u8]) -> Result<Ciphertexts, Refusal> {
    Ok(key.ciphertexts_from_be(bytes)?)
}

impl Exchange for proto::EncryptRequest {
    type Answer = proto::EncryptResponse;
    const NAME: &'static str = "encrypt";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        Ok(Input::Encrypt(key.public().plaintexts_from_be(&self.plaintexts)?))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::EncryptResponse { ciphertexts }
    }
}

impl Exchange for proto::RerandomiseRequest {
    type Answer = proto::RerandomiseResponse;
    const NAME: &'static str = "rerandomise";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        Ok(Input::Rerandomise(ciphertexts(key.public(), &self.ciphertexts)?))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::RerandomiseResponse { ciphertexts }
    }
}

impl Exchange for proto::AddRequest {
    type Answer = proto::AddResponse;
    const NAME: &'static str = "add";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let (left, right) = (ciphertexts(key.public(), &self.left)?, ciphertexts(key.public(), &self.right)?);
        if left.len() != right.len() {
            return Err(bad("the two batches differ in length"));
        }
        Ok(Input::Add(left, right))
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::AddResponse { ciphertexts }
    }
}

impl Exchange for proto::MultiplyRequest {
    type Answer = proto::MultiplyResponse;
    const NAME: &'static str = "multiply";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let ciphertexts = ciphertexts(key.public(), &self.ciphertexts)?;
        let scalars = integers(&self.scalars, ciphertexts.len())?;
        if self.bits > i128::BITS {
            return Err(bad("scalars have 128 bits at most"));
        }
        Ok(Input::Multiply { ciphertexts, scalars, bits: self.bits, deterministic: self.deterministic })
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::MultiplyResponse { ciphertexts }
    }
}

/// Integers in two's complement, big-endian, of whatever width makes so many of the bytes.
fn integers(bytes: &[u8], count: usize) -> Result<Zeroizing<Vec<i128>>, Refusal> {
    let width = bytes.len().checked_div(count).unwrap_or(0);
    let fits = width * count == bytes.len() && (width > 0 || count == 0) && width <= 16;
    if !fits {
        return Err(bad("there must be a scalar of 1 to 16 bytes for each ciphertext"));
    }
    let mut integers = Zeroizing::new(Vec::with_capacity(count));
    integers.extend(bytes.chunks_exact(width.max(1)).map(|bytes| {
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        bytes.iter().fold(sign, |number: i128, &byte| number << 8 | i128::from(byte))
    }));
    Ok(integers)
}

impl Exchange for proto::SumGroupsRequest {
    type Answer = proto::SumGroupsResponse;
    const NAME: &'static str = "sum_groups";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        let ciphertexts = ciphertexts(key.public(), &self.ciphertexts)?;
        let count = self.count as usize;
        if self.groups.len() != ciphertexts.len() {
            return Err(bad("there must be a group for each ciphertext"));
        }
        if count > ciphertexts.len() {
            return Err(bad("there are more groups than ciphertexts"));
        }
        let mut groups = vec![Vec::new(); count];
        for (row, &group) in (0..).zip(&self.groups) {
            groups.get_mut(group as usize).ok_or_else(|| bad("a group is not below their count"))?.push(row);
        }
        Ok(Input::SumGroups { ciphertexts, groups })
    }

    fn answer(ciphertexts: Bytes) -> Self::Answer {
        proto::SumGroupsResponse { ciphertexts }
    }
}

impl Exchange for proto::DecryptRequest {
    type Answer = proto::DecryptResponse;
    const NAME: &'static str = "decrypt";

    fn key(&self) -> &str {
        &self.key
    }

    fn input(&self, key: &ServedKey) -> Result<Input, Refusal> {
        if key.private().is_none() {
            let text = "the service has no private key of this public key";
            return Err(Refusal::new(ErrorReason::NoPrivateKey, text));
        }
        Ok(Input::Decrypt(ciphertexts(key.public(), &self.ciphertexts)?))
    }

    fn answer(plaintexts: Bytes) -> Self::Answer {
        proto::DecryptResponse { plaintexts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_any_width() {
        let read = |bytes: &[u8], count| integers(bytes, count).map(|integers| integers.to_vec());
        assert_eq!(read(&[0xff, 0x7f, 0x80], 3).unwrap(), [-1, 127, -128]);
        assert_eq!(read(&[0xff, 0xfe, 0, 1], 2).unwrap(), [-2, 1]);
        assert_eq!(read(&i128::MIN.to_be_bytes(), 1).unwrap(), [i128::MIN]);
        assert_eq!(read(&[], 0).unwrap(), [0; 0]);
        for (bytes, count) in [(3, 2), (0, 1), (17, 1), (1, 0)] {
            assert_eq!(read(&vec![0; bytes], count).unwrap_err().reason(), ErrorReason::BadRequest);
        }
    }

    #[test]
    fn timeouts_are_read() {
        let left = |text: &'static str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            deadline(&metadata).map(|deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64())
        };
        for (text, seconds) in [("2H", 7200.0), ("3M", 180.0), ("9S", 9.0), ("4000m", 4.0), ("5000000u", 5.0)] {
            assert!((left(text).unwrap() - seconds).abs() < 0.5, "{text}");
        }
        assert_eq!(left("1n"), Some(0.0));
        for wrong in ["", "S", "x", "1", "1x", "-1S", "123456789S", "é"] {
            let mut metadata = MetadataMap::new();
            let Ok(value) = wrong.parse() else { continue };
            metadata.insert("grpc-timeout", value);
            assert_eq!(deadline(&metadata), None, "{wrong}");
        }
    }
}
