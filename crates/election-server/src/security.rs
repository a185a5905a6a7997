//! Headers for browsers, and rejection of cross-site requests.
//!
//! Pages load scripts, styles and data from this server alone (a page that carries its script names
//! the script's hash, in the file `csp.txt` beside it), run in no other page's frame, and send
//! nothing about where they were. There are no cookies: what is sent is signed, so no page can act
//! in a voter's name. Reading is open to pages from everywhere, since the record is public and a
//! page that was saved and checked must be able to read it; sending from other sites' pages is
//! refused all the same.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::refusal::{Reason, Refusal};

/// What pages may do that come without a policy of their own. Scripts compile no WebAssembly and
/// evaluate no text.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
];

/// Adds the headers, and refuses what other sites' pages send.
pub(crate) async fn security_headers(policy: HeaderValue, tls: bool, request: Request, next: Next) -> Response {
    let mut response = match is_cross_origin(&request) {
        true => Refusal::new(Reason::CrossSite, "a page of another site sent this").into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

/// Whether a browser says that another site's page sends something.
fn is_cross_origin(request: &Request) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    let own = |site: &[u8]| site == b"same-origin" || site == b"none";
    !reads && site.is_some_and(|site| !own(site))
}
