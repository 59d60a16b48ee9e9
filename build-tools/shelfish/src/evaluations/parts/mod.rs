//! Builds on several machines, with commands that any engine can call.
//!
//! `shelfish parts plan` defines the boundaries of parts. `shelfish parts partition` converts lines of a dump to keyed records,
//! which the engine sorts. `shelfish parts encode` writes the shards and a manifest fragment of each part. `shelfish parts seal`
//! merges the fragments into a manifest.
//!
//! A part depends only on its records and on the plan, so it can be encoded repeatedly and anywhere. The bytes are
//! equal to those of `shelfish build --plan`.

pub mod fragment;
pub mod lines;
pub mod plan;

pub use plan::{MAX_PARTS, Plan};
