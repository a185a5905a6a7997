//! Headers for browsers, and rejection of cross-site requests.
//!
//! Pages load scripts, styles and data only from this server. They cannot be framed and send no
//! referrer. For a page with an inline script, the file `csp.txt` next to it contains the script's
//! hash. There are no cookies: all submissions are signed, so no page can act on behalf of a voter.
//! Pages of any site may read, because the record is public and a saved and checked page must be
//! able to read it. Submissions from pages of other sites are refused nevertheless.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::refusal::{Reason, Refusal};

/// The policy of pages without their own policy. Scripts cannot compile WebAssembly or evaluate
/// strings.
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

/// Adds the headers, and refuses submissions from pages of other sites.
pub(crate) async fn security_headers(policy: HeaderValue, tls: bool, request: Request, next: Next) -> Response {
    let mut response = match is_cross_origin(&request) {
        true => Refusal::new(Reason::CrossSite, "the request comes from a page of another site").into_response(),
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

/// Whether the browser reports that a page of another site sends the request.
fn is_cross_origin(request: &Request) -> bool {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    let own = |site: &[u8]| site == b"same-origin" || site == b"none";
    !reads && site.is_some_and(|site| !own(site))
}
