//! Files of the program's folder `evaluations` that read lines of parts, plans and fragments.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/evaluations/payload.rs"]
pub mod payload;
#[path = "../../../build-tools/shelfish/src/evaluations/selection.rs"]
pub mod selection;
#[path = "../../../build-tools/shelfish/src/evaluations/share.rs"]
pub mod share;

#[path = "parts.rs"]
pub mod parts;

pub use crate::build::spool::OverLimit;
pub use selection::Selection;
