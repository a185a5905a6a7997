//! A stream: answers requests in order, and computes a few of them concurrently.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use hearith_paillier::KeyId;
use hearith_serving::lifetime::Busy;
use opentelemetry::Context as Trace;
use prost::bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::audit::{Audit, Decrypted};
use crate::clients::{Client, SharedTalk};
use crate::keys::{Keys, ServedKey};
use crate::limits::{Limits, STREAM_WINDOW};
use crate::metrics::Metrics;
use crate::proto::ErrorReason;
use crate::quota::Quotas;
use crate::refusal::Refusal;
use crate::request::{Exchange, bad};
use crate::rights::{Entry, Right, Rights};
use crate::scheduler::{QueuePermit, Scheduler, deadline_passed};
use crate::streams::{OpenStream, was_silent};
use crate::traces::{self, Traces};
use crate::unread::{BufferPermit, UnreadBuffer};
use crate::work::{Input, Output};

/// The state that all streams of a server share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) keys: Keys,
    pub(crate) scheduler: Scheduler,
    pub(crate) unread_buffer: Arc<UnreadBuffer>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) talk: SharedTalk,
    pub(crate) rights: RwLock<Arc<Rights>>,
    pub(crate) quotas: Quotas,
    pub(crate) audit: Option<Arc<Audit>>,
    pub(crate) traces: Option<Traces>,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Service {
    /// Whether a client has a right.
    pub(crate) fn allows(&self, client: &Client, right: Right) -> bool {
        self.rights().allow(client.identity.as_deref(), right)
    }

    fn rights(&self) -> Arc<Rights> {
        self.rights.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the entry in the file of rights that grants a right, or `None` if there is no such
    /// file.
    ///
    /// # Errors
    /// The client does not have the right.
    fn entitled(&self, client: &Client, right: Right) -> Result<Option<Entry>, Refusal> {
        let (rights, who) = (self.rights(), client.identity.as_deref());
        match rights.entry(who, right) {
            None if !rights.allow(who, right) => {
                let text = "the client's certificate does not have the right to this operation";
                Err(Refusal::new(ErrorReason::NotAllowed, text))
            }
            entry => Ok(entry),
        }
    }

    /// Records a decryption in the audit log, if there is one.
    ///
    /// # Errors
    /// Writing failed. The decryption must not be answered.
    async fn record(&self, client: &Client, key: KeyId, output: &Output) -> Result<(), Refusal> {
        let (Some(audit), Output::Plaintexts(plaintexts)) = (self.audit.clone(), output) else { return Ok(()) };
        let identity = client.identity.as_ref();
        let who = identity.map(|identity| (identity.name(), identity.fingerprint.to_string()));
        let event = Decrypted::new(who, key, plaintexts.len());
        let written = tokio::task::spawn_blocking(move || audit.write(&event)).await;
        let error = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        tracing::error!(error, "the log of decryptions cannot be written: no decryption is answered");
        Err(Refusal::new(ErrorReason::Failed, "the decryption cannot be recorded, so it is not answered"))
    }

    /// Logs a refusal, unless the client has recently caused too many log lines.
    pub(crate) fn tell(&self, client: &Client, operation: &'static str, refusal: &Refusal) {
        if self.talk.may(client.address) {
            tracing::info!(operation, reason = refusal.reason().name(), row = refusal.row(), "refused");
        }
    }
}

/// The answers of a stream, followed by an error if the stream ends early.
///
/// Without the error, the client could mistake the end for a complete stream. The stream counts as
/// open until the client has read the end or disconnected.
pub(crate) struct Answers<A> {
    answers: mpsc::Receiver<(A, BufferPermit)>,
    end: Arc<Mutex<Option<Refusal>>>,
    _stream: Arc<OpenStream>,
    _busy: Busy,
}

impl<A> futures_util::Stream for Answers<A> {
    type Item = Result<A, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // From here on, the transport's buffer counts the answer.
        let answer = std::task::ready!(self.answers.poll_recv(cx)).map(|(answer, _)| answer);
        let refusal = || self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        Poll::Ready(answer.map(Ok).or_else(|| refusal().map(|refusal| Err(refusal.into()))))
    }
}

/// Answers a stream of requests.
pub(crate) fn exchange<E: Exchange>(
    service: Arc<Service>,
    requests: Request<Streaming<E>>,
    stream: OpenStream,
    client: Client,
) -> Response<Answers<E::Answer>> {
    let (answers, receiver) = mpsc::channel(1);
    let why = Arc::new(Mutex::new(None));
    let open = Arc::new(stream);
    let stream = Answers { answers: receiver, end: why.clone(), _stream: open.clone(), _busy: client.work.begin() };
    let deadline = deadline(requests.metadata());
    let parent = traces::parent(requests.metadata());
    let requests = requests.into_inner();
    tokio::spawn(async move {
        service.metrics.streams.inc();
        let stream =
            Stream::<E> { service: &service, answers: &answers, client: &client, open: &open, deadline, parent };
        let end = stream.answer_all(requests).await;
        if let Err(refusal) = end {
            service.metrics.answered(E::NAME, refusal.reason().name(), 0, 0.0);
            service.tell(&client, E::NAME, &refusal);
            *why.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
        }
        service.metrics.streams.dec();
    });
    Response::new(stream)
}

/// A permitted request with its key, and the delay that its client's rate imposes.
struct Accepted {
    key: Arc<ServedKey>,
    input: Input,
    wait: Duration,
}

/// A request with its key and its permit to enter the queue.
type Entered = (Arc<ServedKey>, Input, QueuePermit);

struct Stream<'a, E: Exchange> {
    service: &'a Arc<Service>,
    answers: &'a mpsc::Sender<(E::Answer, BufferPermit)>,
    client: &'a Client,
    open: &'a OpenStream,
    deadline: Option<Instant>,
    parent: Trace,
}

impl<E: Exchange> Stream<'_, E> {
    /// Reads and answers requests until the client is done, disconnects or makes an error. Requests
    /// before the error are still answered.
    async fn answer_all(&self, mut requests: Streaming<E>) -> Result<(), Refusal> {
        let mut computed = FuturesOrdered::new();
        // Created once instead of for every request.
        let mut stopped = pin!(stopped(self.service.stopping.clone()));
        let mut gone = pin!(self.answers.closed());
        let mut silenced = pin!(self.open.ended());
        let mut key = None;
        let mut end = None;
        // The last request read, until the queue has space for it. Nothing more is read until then.
        let mut entering: Option<BoxFuture<'_, Result<Entered, Refusal>>> = None;
        // The answer that the client has to read next. Meanwhile the other requests proceed, since
        // a request that is not in the queue must not hold its permit.
        let mut sending: Option<BoxFuture<'_, Result<(), Refusal>>> = None;
        let mut late = pin!(sleep_until(self.deadline.unwrap_or_else(no_deadline).into()));
        loop {
            let (reading, waits, sends) = (end.is_none(), entering.is_some(), sending.is_some());
            if !reading && !waits && !sends && computed.is_empty() {
                return end.unwrap_or(Ok(()));
            }
            self.open.is_silent(!waits && !sends && computed.is_empty());
            tokio::select! {
                biased;
                () = &mut gone => return Ok(()),
                () = &mut late, if self.deadline.is_some() => return Err(deadline_passed()),
                // A request may have arrived in the meantime. The stream ends nevertheless.
                () = &mut silenced => return Err(was_silent()),
                sent = next(&mut sending), if sends => {
                    sending = None;
                    sent?;
                }
                Some(answer) = computed.next(), if !sends => sending = Some(Box::pin(self.send(answer?))),
                () = &mut stopped, if reading => {
                    end = Some(Err(Refusal::shutting_down()));
                }
                entered = next(&mut entering), if waits => {
                    entering = None;
                    match entered {
                        Ok(entered) => computed.push_back(self.compute(entered)),
                        Err(refusal) => end = Some(Err(refusal)),
                    }
                }
                request = requests.message(), if reading && !waits && computed.len() < STREAM_WINDOW => {
                    match self.accept(request, &mut key) {
                        Ok(Some(accepted)) => entering = Some(Box::pin(self.enter(accepted))),
                        Ok(None) => end = Some(Ok(())),
                        Err(refusal) => end = Some(Err(refusal)),
                    }
                }
            }
        }
    }

    /// Checks a request and returns it with its key. Returns `None` at the end of the stream.
    fn accept(
        &self,
        request: Result<Option<E>, Status>,
        current: &mut Option<Arc<ServedKey>>,
    ) -> Result<Option<Accepted>, Refusal> {
        let Some(request) = request.map_err(|status| unread(&status, self.service.limits.message_bytes))? else {
            return Ok(None);
        };
        if !request.key().is_empty() {
            *current = Some(self.service.keys.find(request.key().parse()?)?);
        }
        let key = current.as_ref().ok_or_else(|| bad("the first request of a stream must name its key"))?;
        let right = E::right(key);
        let entry = self.service.entitled(self.client, right)?;
        let input = request.input(key)?;
        let charge = |entry: Entry| self.service.quotas.charge(&entry, right, input.rows() as u64);
        let wait = entry.map(charge).transpose()?.unwrap_or_default();
        Ok(Some(Accepted { key: key.clone(), input, wait }))
    }

    /// Waits until the client's rate and the queue admit a request.
    async fn enter(&self, Accepted { key, input, wait }: Accepted) -> Result<Entered, Refusal> {
        if !wait.is_zero() {
            self.service.metrics.delayed.inc();
            tokio::select! {
                () = stopped(self.service.stopping.clone()) => return Err(Refusal::shutting_down()),
                () = tokio::time::sleep(wait) => {}
            }
        }
        let permit = self.service.scheduler.permit(&input).await?;
        Ok((key, input, permit))
    }

    /// Submits a request to the queue. The returned future resolves to its answer.
    fn compute(
        &self,
        (key, input, permit): Entered,
    ) -> impl Future<Output = Result<(E::Answer, BufferPermit), Refusal>> {
        let (start, rows, id) = (Instant::now(), input.rows(), key.public().id());
        let mut span = self.service.traces.as_ref().map(|traces| traces.begin(&self.parent, E::NAME, rows));
        let output = self.service.scheduler.submit(self.client.id, key, input, permit, self.deadline);
        async move {
            let answer = self.recorded(output.await, id).await;
            let answer = answer.and_then(|output| self.answer(output, rows, start));
            if let Some(span) = &mut span {
                span.outcome(&answer);
            }
            answer
        }
    }

    /// Records a decryption before passing its output on.
    async fn recorded(&self, output: Result<Output, Refusal>, key: KeyId) -> Result<Output, Refusal> {
        let output = output?;
        self.service.record(self.client, key, &output).await?;
        Ok(output)
    }

    /// Converts an output into an answer.
    fn answer(&self, output: Output, rows: usize, start: Instant) -> Result<(E::Answer, BufferPermit), Refusal> {
        let numbers = match output {
            Output::Ciphertexts(ciphertexts) => ciphertexts.to_be_bytes().into(),
            // The bytes are wiped once the transport has copied them.
            Output::Plaintexts(plaintexts) => Bytes::from_owner(plaintexts.to_be_bytes()),
        };
        let buffered = self.service.unread_buffer.add(numbers.len(), self.client);
        self.service.metrics.answered(E::NAME, "ok", rows, start.elapsed().as_secs_f64());
        Ok((E::answer(numbers), buffered))
    }

    /// Sends an answer once the client has space for it.
    async fn send(&self, answer: (E::Answer, BufferPermit)) -> Result<(), Refusal> {
        let until = Instant::now() + self.service.limits.send_timeout;
        let until = self.deadline.map_or(until, |deadline| deadline.min(until));
        match tokio::time::timeout_at(until.into(), self.answers.send(answer)).await {
            // The next round notices that the client has disconnected.
            Ok(_) => Ok(()),
            Err(_) if self.deadline == Some(until) => Err(deadline_passed()),
            Err(_) => Err(Refusal::new(ErrorReason::NotReading, "the answers were not read")),
        }
    }
}

/// Awaits the future if there is one, and never returns otherwise.
async fn next<T>(future: &mut Option<BoxFuture<'_, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// Returns when the server stops.
async fn stopped(mut stopping: watch::Receiver<bool>) {
    // An error means that the server is already gone.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// A time in the far future.
fn no_deadline() -> Instant {
    Instant::now() + Duration::from_secs(1 << 30)
}

/// The refusal of a request that could not be read.
fn unread(status: &Status, most: usize) -> Refusal {
    match status.code() {
        // tonic returns the second code for a compressed message that is too large after
        // decompression.
        Code::OutOfRange | Code::ResourceExhausted => {
            Refusal::new(ErrorReason::MessageTooLarge, format!("the request is larger than {most} bytes"))
        }
        _ => bad("the request cannot be read"),
    }
}

/// The deadline in gRPC's `grpc-timeout`: up to eight digits and a unit.
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

#[cfg(test)]
mod tests {
    use super::*;

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
