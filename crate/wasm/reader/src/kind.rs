//! Kinds of records.

use shelfish::position::Position;
use shelfish::reader::ReadError;
use shelfish::table::{Manifest, Record};
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;

use crate::options::Values;

/// A kind of record, and its form in JavaScript.
pub trait Kind: 'static {
    /// Record of the database.
    type Record: Record;
    /// Options of a lookup.
    type Style: 'static;
    /// Facts about a position that its answer needs.
    type Question: 'static;

    /// Whether answers contain names of the manifest.
    const HAS_NAMES: bool;
    /// Rest of the error about a database of the other kind, after its URL.
    const OTHER: &str;

    /// Reads the options of a lookup.
    fn style(values: &Values<'_>, manifest: &Manifest) -> Result<Self::Style, WasmError>;

    /// Returns the facts about a position that its answer needs.
    fn question(position: &Position) -> Self::Question;

    /// Converts an answer.
    fn encode(
        answer: Result<Option<Self::Record>, ReadError>,
        style: &Self::Style,
        question: &Self::Question,
    ) -> Result<JsValue, WasmError>;

    /// Returns the fields of the manifest that only this kind has.
    fn manifest_fields(manifest: &Manifest) -> Vec<(&'static str, JsValue)>;
}
