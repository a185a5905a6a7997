//! Rejections of requests, as gRPC statuses with a reason for programs.

use std::collections::HashMap;
use std::fmt;

use hearith_paillier::{Error, ErrorKind};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::proto::{DOMAIN, ErrorReason, ROW};

/// The reason for rejecting a request. Its text contains no number of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    reason: ErrorReason,
    row: Option<usize>,
    text: String,
}

impl Refusal {
    /// Creates a refusal with a reason and its text.
    pub fn new(reason: ErrorReason, text: impl Into<String>) -> Self {
        Self { reason, row: None, text: text.into() }
    }

    /// Rejects a public key.
    pub fn bad_key(error: &Error) -> Self {
        Self::new(ErrorReason::BadKey, error.to_string())
    }

    /// Rejects requests during shutdown.
    pub(crate) fn shutting_down() -> Self {
        Self::new(ErrorReason::ShuttingDown, "the service is shutting down")
    }

    /// Replaces the row of a slice by the row of its request.
    pub(crate) fn in_row(mut self, row_of: impl FnOnce(usize) -> usize) -> Self {
        self.row = self.row.map(row_of);
        self
    }

    /// The reason.
    pub fn reason(&self) -> ErrorReason {
        self.reason
    }

    /// The invalid row of the request, counted from 0, if a row is invalid.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The gRPC status code of the reason, as the protocol documents it.
    pub fn code(&self) -> Code {
        use ErrorReason as R;
        match self.reason {
            R::BadKey | R::BadRequest | R::BadNumber => Code::InvalidArgument,
            R::UnknownKey => Code::NotFound,
            R::KeysFull | R::ClientsFull | R::StreamsFull | R::QueueFull | R::QuotaExceeded => Code::ResourceExhausted,
            R::MessageTooLarge => Code::OutOfRange,
            R::NoPrivateKey => Code::FailedPrecondition,
            R::NotAllowed => Code::PermissionDenied,
            R::Deadline | R::NotReading => Code::DeadlineExceeded,
            R::ShuttingDown | R::Idle => Code::Unavailable,
            R::Failed | R::Unspecified => Code::Internal,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

/// Rejects the numbers of a request. The row is a separate field, not part of the text.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::Randomness(_) | ErrorKind::WrongDecryption => ErrorReason::Failed,
            ErrorKind::Width { .. } | ErrorKind::Lengths { .. } | ErrorKind::NoSuchRow { .. } => {
                ErrorReason::BadRequest
            }
            _ => ErrorReason::BadNumber,
        };
        Self { reason, row: error.row(), text: error.kind().to_string() }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let row = refusal.row.map(|row| (ROW.to_owned(), row.to_string()));
        let metadata: HashMap<String, String> = row.into_iter().collect();
        let details = ErrorDetails::with_error_info(refusal.reason.name(), DOMAIN, metadata);
        Status::with_error_details(refusal.code(), refusal.text, details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_reason_and_row() {
        let refusal = Refusal::from(ErrorKind::CiphertextZero.at_row(3));
        let status = Status::from(refusal);
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "the ciphertext is 0"));
        let info = status.get_details_error_info().unwrap();
        assert_eq!(
            (info.domain.as_str(), info.reason.as_str(), info.metadata[ROW].as_str()),
            (DOMAIN, "BAD_NUMBER", "3")
        );
        assert_eq!(ErrorReason::named(&info.reason), Some(ErrorReason::BadNumber));
    }

    /// The protocol file documents the status of each reason next to it.
    #[test]
    fn codes_are_those_that_the_protocol_documents() {
        let protocol = include_str!("../proto/hearith/v1/paillier.proto");
        let (_, reasons) = protocol.split_once("enum ErrorReason").unwrap();
        let mut documented = 0;
        for (comment, line) in reasons.lines().zip(reasons.lines().skip(1)) {
            let Some((name, _)) = line.trim().split_once(" = ") else { continue };
            let Some((code, _)) = comment.trim().trim_start_matches("// ").split_once(':') else { continue };
            let reason = ErrorReason::from_str_name(name).unwrap();
            let ours = format!("{:?}", Refusal::new(reason, "").code()).to_uppercase();
            assert_eq!(code.replace('_', ""), ours, "{name}");
            documented += 1;
        }
        assert_eq!(documented, 17);
    }
}
