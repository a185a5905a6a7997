//! Rejections of requests: an HTTP status, a code for programs and a message for people.

use std::fmt;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The request is not valid for this path.
    BadRequest,
    /// The author is unknown, or did not sign the entry.
    NotSigned,
    /// A web page of another site caused a browser to send the request.
    CrossSite,
    /// The requested item does not exist.
    NotFound,
    /// The path does not support this method.
    Method,
    /// The client is too slow.
    TooSlow,
    /// The phase or the dates of the election do not permit the entry.
    Phase,
    /// The voter has voted and may not vote again.
    Voted,
    /// A ciphertext, or the trustee's share, is already on the board.
    Doubled,
    /// The request exceeds the maximum length.
    TooLarge,
    /// A claim does not hold: a proof, a total or a share.
    Unproven,
    /// Too many requests.
    TooMany,
    /// The server is fully loaded.
    Busy,
    /// The store does not answer. The entry may or may not be on the board, and can be sent again.
    Store,
    /// The server is shutting down.
    Stopping,
    /// A fault of the server.
    Internal,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 16] = [
        Self::BadRequest,
        Self::NotSigned,
        Self::CrossSite,
        Self::NotFound,
        Self::Method,
        Self::TooSlow,
        Self::Phase,
        Self::Voted,
        Self::Doubled,
        Self::TooLarge,
        Self::Unproven,
        Self::TooMany,
        Self::Busy,
        Self::Store,
        Self::Stopping,
        Self::Internal,
    ];

    /// The code in answers, metrics and the audit log.
    pub fn code(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::NotSigned => "not_signed",
            Self::CrossSite => "cross_site",
            Self::NotFound => "not_found",
            Self::Method => "method",
            Self::TooSlow => "too_slow",
            Self::Phase => "phase",
            Self::Voted => "voted",
            Self::Doubled => "doubled",
            Self::TooLarge => "too_large",
            Self::Unproven => "unproven",
            Self::TooMany => "too_many",
            Self::Busy => "busy",
            Self::Store => "store",
            Self::Stopping => "stopping",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status.
    pub fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotSigned | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Phase | Self::Voted | Self::Doubled => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unproven => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Store | Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    reason: Reason,
    message: String,
    again: Option<Duration>,
}

impl Refusal {
    /// A refusal with a message, which has no full stop.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), again: None }
    }

    /// Adds the time to wait before the next attempt.
    pub fn after(mut self, wait: Duration) -> Self {
        self.again = Some(wait);
        self
    }

    /// The reason.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.reason.code(), "message": self.message }).to_string();
        let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
        let mut response = (self.reason.status(), headers, body).into_response();
        if let Some(wait) = self.again {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart_and_documented() {
        let page = include_str!("../README.md");
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert!(Reason::ALL[..index].iter().all(|other| other.code() != reason.code()));
            let row = format!("| `{}` | {} |", reason.code(), reason.status().as_u16());
            assert!(page.contains(&row), "README.md lacks {row}");
        }
    }
}
