//! Errors of an attempt, and their retries.

use std::time::Duration;

use reqwest::{Response, StatusCode, header};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::pause_of;
use shelfish::source::retry::Retryable;

use super::error::{AttemptFault, RemoteError};
use super::headers::text;

/// The error of an attempt.
pub(super) enum AttemptError {
    /// A retry may succeed, after the delay that the host requests.
    Transient {
        fault: AttemptFault,
        delay: Option<Duration>,
    },
    /// A retry would fail again.
    Permanent(RemoteError),
}

impl Retryable for AttemptError {
    fn is_transient(&self) -> bool {
        matches!(self, AttemptError::Transient { .. })
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            AttemptError::Transient { delay, .. } => *delay,
            AttemptError::Permanent(_) => None,
        }
    }
}

impl From<RemoteError> for AttemptError {
    fn from(error: RemoteError) -> AttemptError {
        AttemptError::Permanent(error)
    }
}

/// Returns whether a retry may get another status: as for lookups, or if the host did not wait for the request.
pub(super) fn is_transient(status: StatusCode) -> bool {
    let status = status.as_u16();
    matches!(status, 408 | 425) || SourceErrorKind::Status(status).is_transient()
}

/// Returns the error of an answer whose status is transient.
pub(super) fn transient(answer: &Response) -> AttemptError {
    let delay = text(answer.headers(), &header::RETRY_AFTER).and_then(|text| pause_of(&text));
    AttemptError::Transient {
        fault: AttemptFault::Status(answer.status().as_u16()),
        delay,
    }
}
