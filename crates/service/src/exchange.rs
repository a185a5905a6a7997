//! One stream: requests in, answers out in their order, a few of them computed at a time.

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

/// What all streams of a server share.
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
    /// Whether a client may do something.
    pub(crate) fn allows(&self, client: &Client, right: Right) -> bool {
        self.rights().allow(client.identity.as_deref(), right)
    }

    fn rights(&self) -> Arc<Rights> {
        self.rights.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The entry by which a client may do something; none where there is no list.
    ///
    /// # Errors
    /// It may not.
    fn entitled(&self, client: &Client, right: Right) -> Result<Option<Entry>, Refusal> {
        let (rights, who) = (self.rights(), client.identity.as_deref());
        match rights.entry(who, right) {
            None if !rights.allow(who, right) => {
                let text = "the client's certificate does not have the right to it";
                Err(Refusal::new(ErrorReason::NotAllowed, text))
            }
            entry => Ok(entry),
        }
    }

    /// Records a decryption, if there is a log of them.
    ///
    /// # Errors
    /// It could not be recorded, and must not be answered.
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
        Err(Refusal::new(ErrorReason::Failed, "the decryption cannot be recorded, and is not answered"))
    }

    /// Logs a refusal, unless the client caused many of late.
    pub(crate) fn tell(&self, client: &Client, operation: &'static str, refusal: &Refusal) {
        if self.talk.may(client.address) {
            tracing::info!(operation, reason = refusal.reason().name(), row = refusal.row(), "refused");
        }
    }
}

/// The answers of a stream, and then why there are no more, unless all is well: an end that could
/// be taken for a good one would hide what is missing. It counts as a stream until the client has
/// read the end, or gone.
pub(crate) struct Answers<A> {
    answers: mpsc::Receiver<(A, BufferPermit)>,
    end: Arc<Mutex<Option<Refusal>>>,
    _stream: Arc<OpenStream>,
    _busy: Busy,
}

impl<A> futures_util::Stream for Answers<A> {
    type Item = Result<A, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // What the transport has of it is counted there.
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

/// A request that may be computed: its key, and how long its client's rate makes it wait.
struct Accepted {
    key: Arc<ServedKey>,
    input: Input,
    wait: Duration,
}

/// A request, its key and its room in the queue.
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
    /// Reads and answers until the client has said everything, or goes, or until something is
    /// wrong: then what came before is answered still.
    async fn answer_all(&self, mut requests: Streaming<E>) -> Result<(), Refusal> {
        let mut computed = FuturesOrdered::new();
        // Waited for once and not anew for every request.
        let mut stopped = pin!(stopped(self.service.stopping.clone()));
        let mut gone = pin!(self.answers.closed());
        let mut silenced = pin!(self.open.ended());
        let mut key = None;
        let mut end = None;
        // What was read last, until there is room for it in the queue: nothing more is read before.
        let mut entering: Option<BoxFuture<'_, Result<Entered, Refusal>>> = None;
        // The answer that the client is to take next. Meanwhile the others go on: room in the queue
        // must not be held by what is not in it.
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
                // Something may have come in work meanwhile: that is not waited for.
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

    /// A request and the key that it is for; none at the end.
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
        let key = current.as_ref().ok_or_else(|| bad("the first request of a stream names its key"))?;
        let right = E::right(key);
        let entry = self.service.entitled(self.client, right)?;
        let input = request.input(key)?;
        let charge = |entry: Entry| self.service.quotas.charge(&entry, right, input.rows() as u64);
        let wait = entry.map(charge).transpose()?.unwrap_or_default();
        Ok(Some(Accepted { key: key.clone(), input, wait }))
    }

    /// A request once its client's rate and the queue have room for it.
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

    /// Puts a request into the queue; then what it comes to, as an answer.
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

    /// What was computed, once a decryption is recorded.
    async fn recorded(&self, output: Result<Output, Refusal>, key: KeyId) -> Result<Output, Refusal> {
        let output = output?;
        self.service.record(self.client, key, &output).await?;
        Ok(output)
    }

    /// Writes an answer.
    fn answer(&self, output: Output, rows: usize, start: Instant) -> Result<(E::Answer, BufferPermit), Refusal> {
        let numbers = match output {
            Output::Ciphertexts(ciphertexts) => ciphertexts.to_be_bytes().into(),
            // Wiped when the transport has copied them.
            Output::Plaintexts(plaintexts) => Bytes::from_owner(plaintexts.to_be_bytes()),
        };
        let buffered = self.service.unread_buffer.put(numbers.len(), self.client);
        self.service.metrics.answered(E::NAME, "ok", rows, start.elapsed().as_secs_f64());
        Ok((E::answer(numbers), buffered))
    }

    /// Hands an answer to the client as no_deadline as it takes it.
    async fn send(&self, answer: (E::Answer, BufferPermit)) -> Result<(), Refusal> {
        let until = Instant::now() + self.service.limits.send_timeout;
        let until = self.deadline.map_or(until, |deadline| deadline.min(until));
        match tokio::time::timeout_at(until.into(), self.answers.send(answer)).await {
            // A client that has gone is noticed in the next round.
            Ok(_) => Ok(()),
            Err(_) if self.deadline == Some(until) => Err(deadline_passed()),
            Err(_) => Err(Refusal::new(ErrorReason::NotReading, "the answers were not read")),
        }
    }
}

/// What a future gives that is there.
async fn next<T>(future: &mut Option<BoxFuture<'_, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// Ends when the server does.
async fn stopped(mut stopping: watch::Receiver<bool>) {
    // An error says that the server is gone altogether.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// A time that does not come.
fn no_deadline() -> Instant {
    Instant::now() + Duration::from_secs(1 << 30)
}

/// Why a request could not be read.
fn unread(status: &Status, most: usize) -> Refusal {
    match status.code() {
        // The second is what tonic says of a compressed message that is larger without compression.
        Code::OutOfRange | Code::ResourceExhausted => {
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
