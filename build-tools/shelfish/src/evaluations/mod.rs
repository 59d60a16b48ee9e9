//! Databases of evaluations: what their dumps hold, and what is kept of it.

pub mod fit;
pub mod kind;
pub mod parts;
pub mod record;
pub mod selection;

pub use selection::{OverLimit, Selection};
