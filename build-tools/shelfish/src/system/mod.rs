//! Files, sizes, signals and threads of this machine.

pub mod duration;
pub mod manifest;
pub mod named_error;
pub mod ordered;
pub mod output;
pub mod retry;
pub mod signals;
pub mod size;
pub mod url;
pub mod utc;
pub mod workspace;
pub mod write_failure;
