//! Options of a host, and their errors.

use core::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::quoted::Quoted;
use crate::setters::setters;
use crate::source::http::TIMEOUT;
use crate::source::retry::RetryPolicy;

/// Options of a [`Host`](super::Host).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Timeout of a response, including retries; 20 seconds by default. Each 16 KiB received extend it by one second,
    /// so that slow connections work, but stalled connections are closed.
    pub timeout: Duration,
    /// Headers of every request by name, such as `Authorization`; none by default. `Range` and `Accept-Encoding` are not
    /// for the caller to set: those of the source win.
    pub headers: Vec<(String, String)>,
    /// Policy of retries.
    pub retry: RetryPolicy,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            timeout: TIMEOUT,
            headers: Vec::new(),
            retry: RetryPolicy::default(),
        }
    }
}

setters! {
    Options {
        with_timeout => timeout: Duration,
        with_headers => headers: Vec<(String, String)>,
        with_retry => retry: RetryPolicy,
    }
}

/// Names of headers without their values, which may be secrets.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        let mut fields = f.debug_struct("Options");
        fields
            .field("timeout", &self.timeout)
            .field("headers", &names)
            .field("retry", &self.retry)
            .finish()
    }
}

/// Reasons why requests to a host are impossible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostError {
    /// The address is no URL of HTTP.
    #[error("found {}, expected a URL of http or https without a fragment", Quoted(.found))]
    Address {
        /// The address as it was given.
        found: String,
    },
    /// A header has a name or a value that HTTP does not allow.
    #[error("HTTP does not allow the header {}", Quoted(.name))]
    Header {
        /// Its name as it was given.
        name: String,
    },
    /// The client cannot be created, for example because the system's certificates cannot be loaded.
    #[error("no HTTP client: {0}")]
    Client(String),
}
