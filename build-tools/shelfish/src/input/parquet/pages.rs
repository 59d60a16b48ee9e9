//! The pages of a column. Their headers are checked before the crate reads them, because it reserves and fills the memory that
//! a header announces.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use shelfish::leb128;

/// The error of a header that is not that of its page.
const WRONG_HEADER: &str = "the header of a page contradicts its content: the file is damaged";
/// Maximum length of the header of a page, which may contain statistics.
const MAX_HEADER: u64 = 64 << 10;
/// Memory of a text of a dictionary, in addition to its bytes.
const TEXT: usize = 32;

/// Numbers of the fields of a header. A field of a structure within the header has 16 times the number of the structure in addition.
const UNCOMPRESSED: u32 = 2;
const COMPRESSED: u32 = 3;
const ENCODINGS: [u32; 2] = [0x52, 0x84];
const DICTIONARY_VALUES: u32 = 0x71;
const LEVELS: [u32; 2] = [0x85, 0x86];

/// The file of a column.
pub(super) struct Pages {
    pub(super) file: Arc<File>,
    /// Maximum size of a page in bytes.
    pub(super) max: usize,
    pub(super) is_text: bool,
    pub(super) is_gzip: bool,
}

/// Numbers of a header: the sizes, and the bytes before the compressed bytes.
#[derive(Default)]
struct Header {
    uncompressed: usize,
    compressed: usize,
    levels: usize,
}

impl Pages {
    /// Checks the header of a page and returns the sizes of the page.
    fn header(&self, rest: &mut &[u8]) -> Result<Header, String> {
        let (mut header, mut problem) = (Header::default(), None);
        let is_whole = fields(rest, 0, &mut |field, number| {
            let max = match field {
                DICTIONARY_VALUES => self.max / TEXT,
                _ => self.max,
            };
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            match field {
                UNCOMPRESSED => header.uncompressed = number,
                COMPRESSED => header.compressed = number,
                DICTIONARY_VALUES => {}
                field if LEVELS.contains(&field) => {
                    header.levels = header.levels.saturating_add(number)
                }
                field
                    if ENCODINGS.contains(&field)
                        && self.is_text
                        && !matches!(number, 0 | 2 | 8) =>
                {
                    // A small page may have gigabytes of text.
                    problem = Some(format!(
                        "texts in encoding {number} (delta), expected plain or dictionary (0, 2 or 8): write the file anew"
                    ));
                    return;
                }
                _ => return,
            }
            if number > max {
                problem.get_or_insert(format!(
                    "a page or its dictionary has {number} bytes or values, expected at most {max}: use more --max-memory, or \
                     write the file anew with smaller pages"
                ));
            }
        });
        match problem {
            Some(problem) => Err(problem),
            None => is_whole.map(|()| header).ok_or(WRONG_HEADER.to_owned()),
        }
    }

    /// Decompresses a page of gzip up to its size. The crate decompresses it to its end.
    fn check_gzip(&self, start: u64, header: &Header) -> Result<(), ParquetError> {
        let bytes = self.file.get_read(start + header.levels as u64)?;
        let bytes = bytes.take(header.compressed as u64);
        let max = header.uncompressed as u64;
        let text = flate2::read::MultiGzDecoder::new(bytes);
        // The crate reports damage.
        match io::copy(&mut text.take(max + 1), &mut io::sink()) {
            Ok(found) if found > max => Err(ParquetError::External(WRONG_HEADER.into())),
            _ => Ok(()),
        }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

/// The crate begins to read at each header, and then takes the bytes of the page.
impl ChunkReader for Pages {
    type T = Cursor<Vec<u8>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut bytes = Vec::new();
        self.file
            .get_read(start)?
            .take(MAX_HEADER)
            .read_to_end(&mut bytes)?;
        let mut rest = &bytes[..];
        let header = self
            .header(&mut rest)
            .map_err(|error| ParquetError::External(error.into()))?;
        if self.is_gzip {
            self.check_gzip(start + (bytes.len() - rest.len()) as u64, &header)?;
        }
        Ok(Cursor::new(bytes))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.file.get_bytes(start, length)
    }
}

/// Takes the fields of a structure of Thrift's compact protocol, and calls `see` for each number. `None` unless they have increasing
/// numbers up to 15 and the types of the specification, so that the crate reads the same.
fn fields(rest: &mut &[u8], parent: u32, see: &mut dyn FnMut(u32, i64)) -> Option<()> {
    let mut id = 0;
    loop {
        let head = *rest.split_off_first()?;
        let (step, kind) = (u32::from(head >> 4), head & 15);
        if head == 0 {
            return Some(());
        }
        id += step;
        let field = parent << 4 | id;
        let is_expected = match field {
            1..=4 | 0x51..=0x54 | 0x71..=0x72 | 0x81..=0x86 => kind == 5,
            5..=8 | 0x55 | 0x88 => kind == 12,
            0x73 | 0x87 => kind <= 2,
            _ => true,
        };
        if step == 0 || id > 15 || !is_expected {
            return None;
        }
        match kind {
            1 | 2 => {}
            3 => drop(rest.split_off_first()?),
            4..=6 => {
                let number = leb128::take(rest)?;
                see(field, (number >> 1) as i64 ^ -((number & 1) as i64));
            }
            8 => {
                let length = usize::try_from(leb128::take(rest)?).ok()?;
                rest.split_off(..length)?;
            }
            12 if field < 0x100 => fields(rest, field, see)?,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_announce_much_memory_or_may_be_read_in_two_ways_are_errors() -> io::Result<()> {
        let pages = Pages {
            file: Arc::new(tempfile::tempfile()?),
            max: 1 << 20,
            is_text: true,
            is_gzip: false,
        };
        let error = |mut header: &[u8]| pages.header(&mut header).err();
        let sizes = |more: &[u8]| [&[0x15, 0, 0x15, 20, 0x15, 20], more, &[0]].concat();
        // A page of 10 bytes with 3 plain values, and a dictionary of 3 values.
        assert_eq!(
            error(&sizes(&[0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0])),
            None
        );
        assert_eq!(error(&sizes(&[0x4c, 0x15, 6, 0x15, 0, 0x12, 0])), None);
        let large = [0x80, 0x80, 0x80, 4];
        let [dictionary, page] = [
            sizes(&[&[0x4c, 0x15], &large[..], &[0]].concat()),
            [&[0x15, 0, 0x15], &large[..], &[0x15, 20, 0]].concat(),
        ];
        let negative = sizes(&[0x4c, 0x15, 1, 0]);
        for header in [dictionary, page, negative] {
            assert!(
                error(&header).is_some_and(|error| error.contains("--max-memory")),
                "{header:x?}"
            );
        }
        let delta = error(&sizes(&[0x2c, 0x15, 6, 0x15, 14, 0]));
        assert!(delta.is_some_and(|error| error.contains("encoding 7")));
        for header in [
            sizes(&[0x05, 4, 20]),
            sizes(&[0x0c, 10, 0]),
            sizes(&[0x28, 0]),
            sizes(&[0x25, 0]),
            sizes(&[0x2c, 0x1c, 0, 0]),
            sizes(&[0xfc, 0, 0x15, 0]),
            [&[0x2c; 100][..], &[0]].concat(),
            vec![0x15, 0, 0x18, 1, 0, 0x15, 20, 0],
            vec![0x15, 0, 0x15],
        ] {
            assert!(
                error(&header).is_some_and(|error| error.contains("contradicts")),
                "{header:x?}"
            );
        }
        Ok(())
    }
}
