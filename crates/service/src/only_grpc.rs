//! Answers to requests that are not gRPC.

use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const TEXT: &str = "this is a gRPC service\n";

/// Rejects requests that are not gRPC: 405 for any method but POST, 415 for any other content type.
pub(crate) async fn only_grpc(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")], TEXT).into_response();
    }
    let content = request.headers().get(header::CONTENT_TYPE).and_then(|content| content.to_str().ok());
    match content.is_some_and(is_grpc) {
        true => next.run(request).await,
        false => (StatusCode::UNSUPPORTED_MEDIA_TYPE, TEXT).into_response(),
    }
}

/// Whether a content type is `application/grpc`, optionally with a format (`+proto`) or parameters.
fn is_grpc(content: &str) -> bool {
    let rest = content.strip_prefix("application/grpc");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
}

/// The answer to an HTTP/1.1 client, depending on the method.
pub(crate) fn answer_http1(first: &[u8]) -> &'static str {
    match first {
        b"PO" | b"POS" => POST,
        _ if first.starts_with(b"POST") => POST,
        _ => OTHER,
    }
}

const POST: &str = "HTTP/1.1 415 Unsupported Media Type\r\nContent-Type: text/plain\r\nContent-Length: 36\r\n\
                    Connection: close\r\n\r\nthis is a gRPC service, over HTTP/2\n";
const OTHER: &str = "HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Type: text/plain\r\nContent-Length: 36\r\n\
                     Connection: close\r\n\r\nthis is a gRPC service, over HTTP/2\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read() {
        for content in ["application/grpc", "application/grpc+proto", "application/grpc;x"] {
            assert!(is_grpc(content), "{content}");
        }
        for content in ["", "application/json", "application/grpc-web", "application/grpcx"] {
            assert!(!is_grpc(content), "{content}");
        }
    }

    #[test]
    fn answers_over_http1_are_whole() {
        for (first, status) in [("GET /", "405"), ("POST /", "415"), ("PO", "415"), ("PUT", "405"), ("\u{16}", "405")] {
            let answer = answer_http1(first.as_bytes());
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{first}: {head}");
            assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        }
    }
}
