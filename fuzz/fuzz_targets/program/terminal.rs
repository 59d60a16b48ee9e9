//! Files of the program's folder `terminal`.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/terminal/shown.rs"]
pub mod shown;
