//! The HTTP routes of the server.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hearith_election::{Kind, read_tracker};
use hearith_serving::lifetime::Answer as AnswerBody;
use hearith_serving::permits::Permits;
use hearith_serving::rate::{RateLimiter, client_prefix};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tower::ServiceExt;
use tower_http::services::{ServeDir, ServeFile};

use crate::board_log::BoardLog;
use crate::clients::Proxies;
use crate::intake::{Accepted, Intake};
use crate::limits::Limits;
use crate::listener::Peer;
use crate::metrics::Metrics;
use crate::record::{File, LINES, RecordCache};
use crate::refusal::{Reason, Refusal};
use crate::security;
use crate::store::Error;

/// Maximum number of voters in an answer.
const VOTERS: u64 = 1000;
/// Maximum number of entries in an answer that list voters. Each has up to a thousand voters.
const LISTS: u64 = 10;

/// The shared state of the routes.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) board_log: Arc<BoardLog>,
    pub(crate) intake: Intake,
    pub(crate) files: RecordCache,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Limits,
    /// The request rates across all elections of the server.
    pub(crate) rates: Option<Arc<RateLimiter<IpAddr>>>,
    /// Requests in progress by client behind a proxy, since a connection of the proxy serves many
    /// clients.
    pub(crate) requests: Arc<Permits<IpAddr>>,
    /// The trusted proxies.
    pub(crate) proxies: Proxies,
}

type Answer = Result<Response, Refusal>;

/// All routes. Other paths are files of the web pages, if there are any.
pub(crate) fn router(app: Arc<AppState>, pages: Option<PathBuf>, policy: HeaderValue, tls: bool) -> Router {
    let routes = Router::new()
        .route("/api/election", get(election))
        .route("/api/ballots", post(ballot))
        .route("/api/ballots/{tracker}", get(tracked))
        .route("/api/challenges", post(challenge))
        .route("/api/entries", post(entry))
        .route("/api/lists", get(lists))
        .route("/api/voters", get(voters))
        .route("/record/board/{file}", get(board_file))
        .route("/record/heads.jsonl", get(heads))
        .route("/health", get(health))
        .method_not_allowed_fallback(async || {
            Refusal::new(Reason::Method, "this address does not support the request's method")
        });
    let missing = async || Refusal::new(Reason::NotFound, "this address does not exist");
    let routes = match pages {
        None => routes.fallback(missing),
        Some(folder) => {
            // Unknown paths get the start page, whose script interprets them.
            let first = ServeFile::new(folder.join("index.html"));
            let files = ServeDir::new(folder).append_index_html_on_directories(true).fallback(first);
            let files = Router::new().fallback_service(files).layer(middleware::map_response(revalidated));
            routes.fallback_service(files.layer(middleware::from_fn(not_a_page)))
        }
    };
    routes
        .layer(DefaultBodyLimit::max(app.limits.body_bytes))
        .layer(middleware::from_fn_with_state(app.clone(), admit))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            security::security_headers(policy.clone(), tls, request, next)
        }))
        .with_state(app)
}

/// First path segments reserved by the server. Metrics have a separate port.
pub(crate) const OWN: [&str; 4] = ["api", "health", "metrics", "record"];

/// The routes of several elections: those of the others below `/NAME/`, and the rest belongs to the
/// first.
pub(crate) fn all(first: Router, others: HashMap<String, Router>) -> Router {
    if others.is_empty() {
        return first;
    }
    let others = Arc::new(others);
    Router::new().fallback(async move |request: Request| {
        let (name, rest) = parts(request.uri().path());
        let Some(other) = others.get(name) else { return first.clone().oneshot(request).await };
        // Without the slash, a page would take its path for that of the first election.
        if rest.is_empty() {
            let to = format!("/{name}/");
            return Ok((StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, to)]).into_response());
        }
        let query = request.uri().query().map_or(String::new(), |query| format!("?{query}"));
        let address = format!("{rest}{query}").parse::<Uri>();
        let (mut head, body) = request.into_parts();
        match address {
            Ok(address) => head.uri = address,
            Err(_) => return Ok(Refusal::new(Reason::NotFound, "this address does not exist").into_response()),
        }
        other.clone().oneshot(Request::from_parts(head, body)).await
    })
}

/// The first segment of a path, and the rest with its slash.
fn parts(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.find('/').map_or((path, ""), |slash| path.split_at(slash))
}

/// Rejects unknown paths with a reserved first segment, so that programs do not get a page as the
/// answer.
async fn not_a_page(request: Request, next: Next) -> Response {
    let first = request.uri().path().split('/').find(|part| !part.is_empty()).unwrap_or_default();
    if OWN.iter().any(|own| own.eq_ignore_ascii_case(first)) {
        return Refusal::new(Reason::NotFound, "this address does not exist").into_response();
    }
    next.run(request).await
}

/// Makes browsers revalidate pages each time, so that nobody votes with an outdated page.
async fn revalidated(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Determines the client, enforces its limits, and reads the body within the time limit. A request
/// is in progress until its answer has been received.
async fn admit(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0);
    let client = client_prefix(app.proxies.client(peer, request.headers()));
    if let Some(Err(wait)) = app.rates.as_ref().map(|rates| rates.take(client, Instant::now())) {
        app.metrics.refuse(Reason::TooMany.code());
        return Refusal::new(Reason::TooMany, "too many requests from one address").after(wait).into_response();
    }
    // For clients without a proxy, connections are limited instead, and each has one request at a
    // time.
    let named = app.proxies.networks.contains(peer);
    let permit = named.then(|| app.requests.acquire(client, usize::MAX, app.limits.clients_an_address));
    if matches!(permit, Some(None)) {
        app.metrics.refuse(Reason::TooMany.code());
        let refusal = Refusal::new(Reason::TooMany, "too many simultaneous requests from one address");
        return refusal.after(Duration::from_secs(1)).into_response();
    }
    let request = match read_body(request, &app.limits).await {
        Ok(request) => request,
        Err(refusal) => {
            app.metrics.refuse(refusal.reason().code());
            return refusal.into_response();
        }
    };
    next.run(request).await.map(|body| Body::new(AnswerBody::new(body, permit)))
}

/// Reads the whole body of a request, within the limits of length and time.
async fn read_body(request: Request, limits: &Limits) -> Result<Request, Refusal> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(request);
    }
    let (head, body) = request.into_parts();
    let read = tokio::time::timeout(limits.request_timeout, axum::body::to_bytes(body, limits.body_bytes)).await;
    let read = read.map_err(|_| Refusal::new(Reason::TooSlow, "the request did not arrive in time"))?;
    let body = read.map_err(|_| {
        Refusal::new(Reason::TooLarge, format!("the request has more than {} bytes or was cut off", limits.body_bytes))
    })?;
    Ok(Request::from_parts(head, Body::from(body)))
}

fn store_failed(app: &AppState, error: &Error) -> Refusal {
    app.metrics.store_failures.inc();
    tracing::warn!(error = %crate::with_causes(error), "the store failed");
    Refusal::new(Reason::Store, "the store does not answer").after(Duration::from_secs(5))
}

/// A JSON answer that must not be cached.
fn fresh(status: StatusCode, text: String) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, text).into_response()
}

async fn health(State(app): State<Arc<AppState>>) -> Answer {
    app.board_log.store().size().await.map_err(|error| store_failed(&app, &error))?;
    Ok(fresh(StatusCode::OK, json!({ "status": "ok" }).to_string()))
}

#[derive(Serialize)]
struct Election<'a> {
    board: &'a str,
    head: Option<&'a RawValue>,
    id: Option<String>,
    manifest: Option<&'a RawValue>,
    phase: &'a str,
    size: u64,
    voted: u64,
    voters: u64,
}

async fn election(State(app): State<Arc<AppState>>) -> Answer {
    let turnout = app.board_log.store().turnout().await.map_err(|error| store_failed(&app, &error))?;
    let view = app.board_log.view();
    let answer = Election {
        board: &view.board,
        head: view.head.as_deref(),
        id: view.id.map(|id| id.to_string()),
        manifest: view.manifest.as_deref(),
        phase: view.phase,
        size: view.size,
        voted: turnout.1,
        voters: turnout.0,
    };
    Ok(fresh(StatusCode::OK, json_text(&answer)))
}

fn json_text(value: &impl Serialize) -> String {
    // Structs of strings and numbers always have a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

async fn ballot(State(app): State<Arc<AppState>>, body: Bytes) -> Answer {
    send(&app, Kind::Ballot, body).await
}

async fn challenge(State(app): State<Arc<AppState>>, body: Bytes) -> Answer {
    send(&app, Kind::Challenge, body).await
}

/// The kind in a request of an organiser or trustee.
#[derive(Deserialize)]
struct Tagged {
    kind: Kind,
}

async fn entry(State(app): State<Arc<AppState>>, body: Bytes) -> Answer {
    let tagged: Result<Tagged, _> = serde_json::from_slice(&body);
    let kind =
        tagged.map_err(|_| Refusal::new(Reason::BadRequest, "expected JSON with body, kind and signature"))?.kind;
    if matches!(kind, Kind::Ballot | Kind::Challenge) {
        return Err(Refusal::new(Reason::BadRequest, "ballots and challenges have their own addresses"));
    }
    send(&app, kind, body).await
}

async fn send(app: &AppState, kind: Kind, body: Bytes) -> Answer {
    let Accepted { receipt, new } = app.intake.send(kind, body).await?;
    Ok(fresh(if new { StatusCode::CREATED } else { StatusCode::OK }, receipt))
}

#[derive(Serialize)]
struct Tracked<'a> {
    counts: bool,
    entry: &'a RawValue,
}

async fn tracked(State(app): State<Arc<AppState>>, Path(tracker): Path<String>) -> Answer {
    let tracker =
        read_tracker(&tracker).map_err(|error| Refusal::new(Reason::BadRequest, format!("not a tracker: {error}")))?;
    let store = app.board_log.store();
    let found = store.tracked(&tracker).await.map_err(|error| store_failed(&app, &error))?;
    let (position, line) =
        found.ok_or_else(|| Refusal::new(Reason::NotFound, "no ballot on the board has this tracker"))?;
    let counts = store.counts(position).await.map_err(|error| store_failed(&app, &error))?;
    let entry =
        serde_json::from_str(&line).map_err(|_| Refusal::new(Reason::Internal, "a line of the store is not JSON"))?;
    Ok(fresh(StatusCode::OK, json_text(&Tracked { counts, entry })))
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    from: u64,
}

async fn voters(State(app): State<Arc<AppState>>, query: Result<Query<From>, QueryRejection>) -> Answer {
    let Ok(Query(From { from })) = query else {
        return Err(Refusal::new(Reason::BadRequest, "from must be a number"));
    };
    let voters = app.board_log.store().voters(from, VOTERS).await.map_err(|error| store_failed(&app, &error))?;
    let next = (voters.len() as u64 == VOTERS).then_some(from + VOTERS);
    let voters: Vec<_> = voters.iter().map(|(id, voted)| json!({ "id": id, "voted": voted })).collect();
    Ok(fresh(StatusCode::OK, json!({ "next": next, "voters": voters }).to_string()))
}

/// Entries that list voters or replace credentials. Clients use this when the list changes during
/// voting and the board is long.
async fn lists(State(app): State<Arc<AppState>>, query: Result<Query<From>, QueryRejection>) -> Answer {
    let Ok(Query(From { from })) = query else {
        return Err(Refusal::new(Reason::BadRequest, "from must be a number"));
    };
    let lists = app.board_log.store().lists(from, LISTS).await.map_err(|error| store_failed(&app, &error))?;
    let next = lists.last().filter(|_| lists.len() as u64 == LISTS).map(|(position, _)| position + 1);
    let entry = |(_, line): &(u64, String)| serde_json::from_str(line);
    let entries: Result<Vec<Box<RawValue>>, _> = lists.iter().map(entry).collect();
    let entries = entries.map_err(|_| Refusal::new(Reason::Internal, "a line of the store is not JSON"))?;
    Ok(fresh(StatusCode::OK, json_text(&Lists { entries, next })))
}

#[derive(Serialize)]
struct Lists {
    entries: Vec<Box<RawValue>>,
    next: Option<u64>,
}

async fn board_file(State(app): State<Arc<AppState>>, Path(name): Path<String>, headers: HeaderMap) -> Answer {
    let missing = || Refusal::new(Reason::NotFound, "there is no such file of the board");
    let digits = name.strip_suffix(".jsonl").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let first: u64 = digits.and_then(|digits| digits.parse().ok()).ok_or_else(missing)?;
    if format!("{first:08}.jsonl") != name {
        return Err(missing());
    }
    let file = app.files.file(first, app.board_log.view().size).await.map_err(|error| store_failed(&app, &error))?;
    Ok(lines(&headers, file.ok_or_else(missing)?))
}

async fn heads(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Answer {
    let now = headers.get(header::CACHE_CONTROL).is_some_and(|asked| asked == "no-cache");
    let heads = app.files.heads(now).await.map_err(|error| store_failed(&app, &error))?;
    Ok(([(header::CONTENT_TYPE, "application/jsonl"), (header::CACHE_CONTROL, "no-cache")], heads).into_response())
}

/// The answer for a file of lines: the whole file, `304` if the client has it, or the rest from a
/// byte offset.
fn lines(headers: &HeaderMap, file: File) -> Response {
    let tag = format!("\"{}\"", file.lines);
    let has = headers.get(header::IF_NONE_MATCH).is_some_and(|tags| tags.as_bytes() == tag.as_bytes());
    let cached = if file.lines == LINES { "public, max-age=31536000, immutable" } else { "no-cache" };
    let from = headers.get(header::RANGE).and_then(|range| first_byte(range.to_str().ok()?));
    let length = file.text.len();
    let mut response = match from {
        _ if has => StatusCode::NOT_MODIFIED.into_response(),
        None => file.text.into_response(),
        Some(from) if from < length => {
            let range = format!("bytes {from}-{}/{length}", length - 1);
            (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, range)], file.text.slice(from..)).into_response()
        }
        Some(_) => {
            (StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, format!("bytes */{length}"))]).into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The start of a byte range without an end. Other ranges get the whole file.
fn first_byte(range: &str) -> Option<usize> {
    range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}
