//! Tests of the program as users start it. A single test program links the dependencies once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

mod analyse;
mod api;
mod base;
mod bench;
mod book;
mod build;
mod data;
mod details;
mod doctor;
mod download;
mod endgames;
mod engine;
mod environment;
mod extract;
mod fit;
mod games;
mod hostile;
mod kills;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod pinned;
mod process;
mod publish;
mod read;
#[cfg(target_os = "linux")]
mod refresh;
mod secrets;
mod serve;
#[cfg(unix)]
mod spark;
mod update;
mod vectors;
