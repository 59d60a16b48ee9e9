//! The decoder of frames in the program's folder `input`.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/input/frames.rs"]
pub mod frames;
#[path = "../../../build-tools/shelfish/src/input/zstd_stream.rs"]
pub mod zstd_stream;
