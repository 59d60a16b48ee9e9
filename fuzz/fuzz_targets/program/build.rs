//! Files of the program's folder `build` that a fuzz target needs. The whole program is too large to build with coverage.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/build/spool.rs"]
pub mod spool;
