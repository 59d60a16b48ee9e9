//! Files, sizes, signals and threads of this machine.

pub mod duration;
pub mod manifest;
pub mod ordered;
pub mod output;
pub mod signals;
pub mod size;
pub mod url;
pub mod workspace;
pub mod write_failure;

/// Maximum number of retries of a download or an upload, by default.
pub const MAX_RETRIES: u8 = 8;
