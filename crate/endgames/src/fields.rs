//! The fields of a header, in order.

use crate::table_error::{Field, TableError};

/// Bytes of a header that are read in order.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    /// Next byte.
    pub(crate) at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], TableError> {
        let bytes = self
            .bytes
            .get(self.at..self.at + length)
            .ok_or(TableError::Header)?;
        self.at += length;
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, TableError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn short(&mut self) -> Result<u16, TableError> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Skips a byte if the next byte has an odd number.
    pub(crate) fn align(&mut self) {
        self.at += self.at & 1;
    }

    /// Reads a byte of at most `max`.
    pub(crate) fn limited(&mut self, field: Field, min: u8, max: u8) -> Result<u8, TableError> {
        let byte = self.at as u64;
        let found = self.byte()?;
        if (min..=max).contains(&found) {
            return Ok(found);
        }
        Err(TableError::Field {
            byte,
            field,
            min: min.into(),
            max: max.into(),
            found: found.into(),
        })
    }
}
