//! Rows of Parquet files, which the program's folder `input` reads.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/input/rows.rs"]
pub mod rows;
