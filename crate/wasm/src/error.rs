//! Errors of the reader in JavaScript.

use std::io::ErrorKind;

use shelfish::position::FenError;
use shelfish::reader::ReadError;
use shelfish::source::{SourceError, SourceErrorKind};
use shelfish::table::{ChunkErrorKind, TableError};
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;

/// Reports that the database was closed.
pub fn closed() -> WasmError {
    WasmError::new("closed", "the database was closed")
}

/// Reports an invalid FEN.
pub fn invalid_fen(error: FenError) -> WasmError {
    WasmError::new("fen", error.to_string())
}

/// Converts an error to JavaScript.
pub fn into_js(error: WasmError) -> JsValue {
    error.into()
}

/// Converts an error of the opening. A database of the other kind needs another function of the package.
pub fn open_error(error: ReadError, is_book: bool) -> WasmError {
    let other = if is_book {
        ": this is a database of evaluations, not a book; open it by openDatabase"
    } else {
        ": this is a book of moves, not a database of evaluations; open it by openBook"
    };
    let is_other = matches!(
        &error,
        ReadError::Table {
            error: TableError::Kind { .. },
            ..
        }
    );
    let mut converted = read_error(error);
    if is_other {
        converted.message = [converted.url.as_deref().unwrap_or_default(), other].concat();
    }
    converted
}

/// Adds advice about the URL to an error of the opening.
pub fn at_opening(mut error: WasmError) -> WasmError {
    // Splitting a text, or searching for a text in it, would add much code.
    let mut name = error
        .url
        .as_deref()
        .unwrap_or_default()
        .bytes()
        .rev()
        .take_while(|byte| *byte != b'/')
        .peekable();
    if matches!(error.code, "manifest" | "status")
        && name.peek().is_some()
        && !name.any(|byte| byte == b'.')
    {
        error
            .message
            .push_str("; if it is the URL of a folder, it must end with a slash");
    }
    error
}

/// Converts an error of the reader.
pub fn read_error(error: ReadError) -> WasmError {
    let mut converted = WasmError::new(code(&error), error.to_string());
    let mut inner = &error;
    while let ReadError::Stale(error) = inner {
        inner = error;
    }
    match inner {
        ReadError::Source(error) => add_source(&mut converted, error),
        ReadError::Table { at, .. } => converted.url = Some(at.clone()),
        _ => {}
    }
    converted
}

/// Converts an error of a file.
pub fn source_error(error: &SourceError) -> WasmError {
    let mut converted = WasmError::new(source_code(&error.kind), error.to_string());
    add_source(&mut converted, error);
    converted
}

fn add_source(
    converted: &mut WasmError,
    SourceError {
        at,
        kind,
        retry_after,
    }: &SourceError,
) {
    converted.url = Some(at.clone());
    converted.retry_after = retry_after.map(|time| time.as_secs_f64());
    converted.status = if let SourceErrorKind::Status(status) = kind {
        Some(*status)
    } else {
        None
    };
}

fn source_code(kind: &SourceErrorKind) -> &'static str {
    match kind {
        SourceErrorKind::Io(ErrorKind::NotFound, _) => "missing",
        SourceErrorKind::Io(ErrorKind::UnexpectedEof, _) => "range",
        SourceErrorKind::Network(_) | SourceErrorKind::Blocked(_) | SourceErrorKind::Io(..) => {
            "network"
        }
        SourceErrorKind::Timeout(_) => "timeout",
        SourceErrorKind::Status(_) => "status",
        SourceErrorKind::Integrity { .. } => "integrity",
        _ => "range",
    }
}

fn code(error: &ReadError) -> &'static str {
    match error {
        ReadError::Source(SourceError { kind, .. }) => source_code(kind),
        ReadError::Table { error, .. } => match error {
            TableError::Version { .. } => "version",
            TableError::Manifest(_) | TableError::Kind { .. } => "manifest",
            TableError::Chunk {
                kind: ChunkErrorKind::Hash { .. },
                ..
            } => "integrity",
            _ => "corrupt",
        },
        ReadError::Stale(_) => "stale",
        _ => "network",
    }
}
