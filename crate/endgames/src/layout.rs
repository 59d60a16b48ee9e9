//! Lengths of the parts of a table.

/// Lengths of the parts of a table, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of the file.
    pub length: u64,
    /// Length of the header. The sparse index begins after the header.
    pub header: u64,
    /// Length of the header, the sparse index and the block lengths. The data begins after them.
    pub index: u64,
}
