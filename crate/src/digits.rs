//! Bytes as text: hexadecimal digits, and Base64 (RFC 4648) without padding.

/// Decodes Base64; `None` if a character is invalid.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Writes Base64 without padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - three.len()));
        let digits =
            (0..=three.len()).map(|n| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]));
        text.extend(digits);
    }
    text
}

/// Returns bytes as hexadecimal digits, two for each.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

/// Decodes hexadecimal digits; `None` if a character is invalid, or if their number is odd.
pub fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = digits.as_chunks();
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    let bytes = pairs.iter().map(byte).collect::<Option<_>>();
    bytes.filter(|_| rest.is_empty())
}
