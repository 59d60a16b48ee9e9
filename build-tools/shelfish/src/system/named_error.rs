//! Errors of input and output with the name of their file.

use std::fmt;
use std::io;

/// Error of input or output, with the name of the file.
#[derive(Debug)]
struct NamedError {
    /// Path, URL or other name of the file.
    name: String,
    error: io::Error,
}

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.error)
    }
}

impl std::error::Error for NamedError {}

/// Returns a function that adds the name of a file to an error.
pub fn named(name: impl fmt::Display + Copy) -> impl Fn(io::Error) -> io::Error + Copy {
    move |error| {
        io::Error::new(
            error.kind(),
            NamedError {
                name: name.to_string(),
                error,
            },
        )
    }
}
