//! Sizes of the columns of a block.

use std::io;

use shelfish::leb128;
use zstd::stream::raw::{InBuffer, Operation, OutBuffer};

/// A zstd block of a frame.
struct ZstdBlock {
    /// Offset of its content in the content of the frame.
    at: usize,
    /// Compressed size in bytes.
    bytes: u64,
}

/// Returns the compressed size of each of the `count` columns of a block, then of the rest of the frame.
///
/// A block may lack the last columns. Each column ends a zstd block.
pub fn column_bytes(frame: &[u8], count: usize) -> io::Result<Vec<u64>> {
    let (content, blocks) = zstd_blocks(frame)?;
    // The content begins with the number and the lengths of the columns.
    let mut header = &content[..];
    let number = leb128::take(&mut header)
        .filter(|&number| number <= count as u64)
        .ok_or(io::ErrorKind::InvalidData)?;
    let lengths = (0..number)
        .map(|_| leb128::take(&mut header))
        .collect::<Option<Vec<u64>>>();
    let lengths = lengths.ok_or(io::ErrorKind::InvalidData)?;
    let start = content.len() - header.len();
    let ends = lengths.iter().scan(start, |end, &length| {
        *end += length as usize;
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    let mut columns = vec![0; count + 1];
    for ZstdBlock { at, bytes } in blocks {
        let column = if at < start {
            count
        } else {
            ends.partition_point(|&end| end <= at)
        };
        columns[column] += bytes;
    }
    columns[count] += frame.len() as u64 - columns.iter().sum::<u64>();
    Ok(columns)
}

/// Returns the content of a frame without a window descriptor, and its blocks.
fn zstd_blocks(frame: &[u8]) -> io::Result<(Vec<u8>, Vec<ZstdBlock>)> {
    let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let size_bytes = [1, 2, 4, 8][usize::from(frame.get(4).ok_or_else(short)? >> 6)];
    let size = frame.get(5..5 + size_bytes).ok_or_else(short)?;
    let size = size
        .iter()
        .rev()
        .fold(0, |size, &byte| size << 8 | usize::from(byte));
    // A size of two bytes is stored less 256.
    let mut content = vec![0; size + if size_bytes == 2 { 256 } else { 0 }];
    let mut decoder = zstd::stream::raw::Decoder::new()?;
    let mut output = OutBuffer::around(&mut content[..]);
    let (mut fed, mut end) = (0, 5 + size_bytes);
    let mut blocks = Vec::new();
    loop {
        let &[low, middle, high] = frame
            .get(end..)
            .and_then(<[u8]>::first_chunk)
            .ok_or_else(short)?;
        let header = u32::from_le_bytes([low, middle, high, 0]);
        // A run of one byte is stored as its length and that byte.
        let length = if header >> 1 & 3 == 1 {
            1
        } else {
            (header >> 3) as usize
        };
        let (at, start) = (output.pos(), end);
        end += 3 + length;
        let mut input = InBuffer::around(frame.get(fed..end).ok_or_else(short)?);
        while input.pos() < input.src.len() {
            let before = (input.pos(), output.pos());
            decoder.run(&mut input, &mut output)?;
            if before == (input.pos(), output.pos()) {
                return Err(short());
            }
        }
        blocks.push(ZstdBlock {
            at,
            bytes: (end - start) as u64,
        });
        fed = end;
        if header & 1 == 1 {
            return Ok((content, blocks));
        }
    }
}
