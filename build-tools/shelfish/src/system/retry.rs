//! Retries of long work.

/// Maximum number of retries of a download or an upload, by default.
pub const MAX_RETRIES: u8 = 8;
