//! Modules that read lines of parts, plans and fragments. The whole program is too large to build with coverage.
#![allow(dead_code)]

#[path = "../../build-tools/shelfish/src/build/parts/fragment.rs"]
pub mod fragment;
#[path = "../../build-tools/shelfish/src/build/parts/lines.rs"]
pub mod lines;
#[path = "../../build-tools/shelfish/src/build/parts/plan_file.rs"]
pub mod plan_file;
#[path = "../../build-tools/shelfish/src/build/selection.rs"]
pub mod selection;
#[path = "../../build-tools/shelfish/src/build/spool.rs"]
pub mod spool;

pub use plan_file::Plan;
pub use selection::{OverLimit, Selection};

pub mod join {
    /// Same as in the program.
    pub trait Sorted {
        fn peek(&self) -> Option<&[u8]>;
        fn next_record(&mut self) -> std::io::Result<Option<(&[u8], &[u8])>>;
    }
}

pub mod sort {
    use super::spool::SpoolError;

    /// Same as in the program.
    pub trait Merging: Default {
        type Start;
        fn push(&mut self, payload: &[u8]) -> Result<(), SpoolError>;
        fn finish(self) -> Result<Vec<u8>, SpoolError>;
    }
}
