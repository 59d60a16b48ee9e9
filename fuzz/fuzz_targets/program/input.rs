//! The decoder of frames in the program's room `input`.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/input/frames.rs"]
pub mod frames;

pub mod compression {
    /// Same as in the program.
    pub const MAX_WINDOW_LOG: u32 = 27;
}
