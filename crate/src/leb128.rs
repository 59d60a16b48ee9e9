//! Unsigned LEB128: seven bits per byte, least significant first. The highest bit of a byte is set if another byte follows.
//!
//! ```
//! use shelfish::leb128;
//!
//! let mut bytes = Vec::new();
//! leb128::push(&mut bytes, 624_485);
//! assert_eq!(bytes, [0xe5, 0x8e, 0x26]);
//! let mut rest = &bytes[..];
//! assert_eq!((leb128::take(&mut rest), rest), (Some(624_485), &[][..]));
//! ```

/// Appends a number.
pub fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the beginning of `bytes`; `None` if they end within it, or it has more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    // Most numbers have one byte.
    if let Some((&byte @ ..0x80, rest)) = bytes.split_first() {
        *bytes = rest;
        return Some(byte.into());
    }
    let next = || {
        let (&byte, rest) = bytes.split_first().ok_or(())?;
        *bytes = rest;
        Ok::<_, ()>(byte)
    };
    read(next).unwrap_or_default()
}

/// Reads a number whose bytes `next` gives; `None` if it has more than 64 bits.
///
/// # Errors
///
/// Those of `next`.
pub fn read<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Ok(None);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_a_round_trip() {
        let ends = (0..64).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits]);
        for value in ends.chain([u64::MAX]) {
            let mut bytes = Vec::new();
            push(&mut bytes, value);
            assert_eq!(
                bytes.len(),
                (64 - value.leading_zeros() as usize).div_ceil(7).max(1)
            );
            let mut rest = &[&bytes[..], b"more"].concat()[..];
            assert_eq!((take(&mut rest), rest), (Some(value), &b"more"[..]));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_rejected() {
        assert_eq!(take(&mut &[0x80; 20][..]), None);
        assert_eq!(take(&mut &[[0xff; 9].as_slice(), &[2]].concat()[..]), None);
        assert_eq!(
            take(&mut &[[0xff; 9].as_slice(), &[1]].concat()[..]),
            Some(u64::MAX)
        );
    }
}
