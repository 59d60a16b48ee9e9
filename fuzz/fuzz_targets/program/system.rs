//! Files of the program's folder `system`.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/system/ordered.rs"]
pub mod ordered;
