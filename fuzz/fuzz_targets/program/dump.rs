//! Files of the program's folder `evaluations` that read lines of dumps.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/evaluations/json.rs"]
pub mod json;
#[path = "../../../build-tools/shelfish/src/evaluations/payload.rs"]
pub mod payload;
#[path = "../../../build-tools/shelfish/src/evaluations/record.rs"]
pub mod record;
