//! Files of the program's folder `build` that a fuzz target needs. The whole program is too large to build with coverage.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/build/spool.rs"]
pub mod spool;

pub mod join {
    /// Same as in the program.
    pub trait Sorted {
        fn peek(&self) -> Option<&[u8]>;
        fn next_record(&mut self) -> std::io::Result<Option<(&[u8], &[u8])>>;
    }
}

pub mod kind {
    /// Same as in the program.
    pub trait Total: Clone + Default + Send + 'static {
        fn add(&mut self, other: &Self);
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
