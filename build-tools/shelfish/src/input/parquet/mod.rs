//! Dumps in Parquet with a row per PV, as Lichess publishes its database at Hugging Face. Files are read and written by
//! row groups, one page of each column at a time.

mod pages;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical, ZstdLevel};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use self::pages::Pages;
use super::compression::cut_off;
use super::lines::{Chunk, MAX_LINE, Text};
use super::rows::{COLUMNS, Cell, PARQUET_MARK, Row, Rows};

/// Number of rows that are read at a time, similar to a chunk of a dump.
const BATCH: usize = 1024;
/// Maximum length of a text that is read, in bytes. Longer texts are not valid.
const MAX_TEXT: usize = 6 << 10;
/// Maximum number of rows of a position, similar to the limit of a line of a dump.
const MOST_ROWS: usize = 256 * 256;
/// Number of rows of a written row group, about 20 MB before compression.
const GROUP: usize = 128 << 10;
/// Schema of written evaluations. `knodes` may need all 64 bits.
pub const SCHEMA: &str = "message schema {
    required binary fen (UTF8);
    required binary line (UTF8);
    required int32 depth (UINT_16);
    required int64 knodes (UINT_64);
    optional int32 cp;
    optional int32 mate;
}";

/// Open Parquet file.
pub struct Table {
    file: Arc<File>,
    metadata: ParquetMetaData,
    /// Maximum size of a page in bytes.
    max_page: usize,
    /// Index of each of [`COLUMNS`] in the file.
    places: [usize; COLUMNS.len()],
    read: Arc<AtomicU64>,
}

impl Table {
    /// Opens a file whose rows are read with `memory` bytes of memory for all. Counts the bytes read in `read`.
    pub fn open(file: File, read: Arc<AtomicU64>, memory: usize) -> io::Result<Table> {
        let (found, max) = (footer(&file)?, memory / 128);
        if found > max {
            return Err(invalid(format!(
                "Parquet: its footer has {found} bytes, expected at most {max}: use more --max-memory, or write the file anew with \
                 larger row groups"
            )));
        }
        let open = || ParquetMetaDataReader::new().parse_and_finish(&file);
        let metadata = guarded(open).map_err(|error| invalid(format!("Parquet: {error}")))?;
        let schema = metadata.file_metadata().schema_descr();
        let mut places = [0; COLUMNS.len()];
        for (place, name) in places.iter_mut().zip(COLUMNS) {
            *place = schema
                .columns()
                .iter()
                .position(|column| column.path().string() == name)
                .ok_or_else(|| {
                    let found = schema
                        .columns()
                        .iter()
                        .map(|column| column.path().string());
                    let (found, expected) = (found.collect::<Vec<_>>().join(", "), COLUMNS.join(", "));
                    invalid(format!(
                        "Parquet without column {name}, it has {found}: expected {expected}, one row a PV, as Lichess publishes it"
                    ))
                })?;
            check(name, &schema.column(*place))?;
            for group in metadata.row_groups() {
                match group.column(*place).compression() {
                    Compression::UNCOMPRESSED
                    | Compression::SNAPPY
                    | Compression::ZSTD(_)
                    | Compression::GZIP(_) => {}
                    found => {
                        return Err(invalid(format!(
                            "Parquet column {name}: compressed with {found}, which is not read here; expected Snappy, zstd, gzip or \
                             none: write the file anew"
                        )));
                    }
                }
            }
        }
        Ok(Table {
            file: Arc::new(file),
            max_page: memory / 32,
            metadata,
            places,
            read,
        })
    }

    /// Returns the approximate memory for reading, in bytes: a page and a dictionary of each column, and a compressed page.
    pub fn memory(&self) -> usize {
        8 * self.max_page
    }

    /// Returns an iterator over the positions.
    pub fn chunks(self) -> Chunks {
        Chunks {
            table: self,
            group: 0,
            open: None,
            row: 1,
            rest: Rows::default(),
            is_over: false,
        }
    }
}

/// Returns the length of the footer of a file, which is before the mark at its end.
fn footer(mut file: &File) -> io::Result<usize> {
    let cut = || cut_off("Parquet without its end");
    let mut end = [0; 8];
    file.seek(SeekFrom::End(-8))
        .and_then(|_| file.read_exact(&mut end))
        .map_err(|_| cut())?;
    match end {
        [a, b, c, d, mark @ ..] if mark == PARQUET_MARK => {
            Ok(u32::from_le_bytes([a, b, c, d]) as usize)
        }
        _ => Err(cut()),
    }
}

fn invalid(error: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Checks that a column has the expected type.
fn check(name: &str, column: &ColumnDescriptor) -> io::Result<()> {
    let is_text = matches!(name, "fen" | "line");
    let is_right = match column.physical_type() {
        Physical::BYTE_ARRAY => is_text,
        Physical::INT32 | Physical::INT64 => !is_text,
        _ => false,
    };
    let is_list = column.max_rep_level() > 0;
    if is_right && !is_list && column.max_def_level() <= 1 {
        return Ok(());
    }
    let expected = if is_text {
        "strings (BYTE_ARRAY)"
    } else {
        "whole numbers (INT32 or INT64)"
    };
    let (found, lists) = (
        column.physical_type(),
        if is_list { " in lists" } else { "" },
    );
    Err(invalid(format!(
        "Parquet column {name}: expected {expected}, found {found}{lists}; cast it and write the file anew"
    )))
}

/// Column of a row group.
enum Column {
    Text(ColumnReaderImpl<ByteArrayType>),
    Int(ColumnReaderImpl<Int32Type>, bool),
    Long(ColumnReaderImpl<Int64Type>, bool),
}

impl Column {
    fn new(pages: Box<dyn PageReader>, column: &ColumnDescPtr) -> Column {
        let is_unsigned = match column.logical_type_ref() {
            Some(LogicalType::Integer(integer)) => !integer.is_signed,
            _ => matches!(
                column.converted_type(),
                ConvertedType::UINT_8
                    | ConvertedType::UINT_16
                    | ConvertedType::UINT_32
                    | ConvertedType::UINT_64
            ),
        };
        match column.physical_type() {
            Physical::INT32 => {
                Column::Int(ColumnReaderImpl::new(column.clone(), pages), is_unsigned)
            }
            Physical::INT64 => {
                Column::Long(ColumnReaderImpl::new(column.clone(), pages), is_unsigned)
            }
            _ => Column::Text(ColumnReaderImpl::new(column.clone(), pages)),
        }
    }

    fn texts(&mut self, count: usize) -> Result<Vec<Option<ByteArray>>, ParquetError> {
        match self {
            Column::Text(reader) => values(reader, count),
            _ => Ok(Vec::new()),
        }
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<Option<i128>>, ParquetError> {
        let mut found = match self {
            Column::Int(reader, _) => widened(values(reader, count)?),
            Column::Long(reader, _) => widened(values(reader, count)?),
            Column::Text(_) => Vec::new(),
        };
        let modulus = match self {
            Column::Int(_, true) => 1 << 32,
            Column::Long(_, true) => 1 << 64,
            _ => 0,
        };
        // The bits of an unsigned number may be those of a negative number.
        for number in found.iter_mut().flatten().filter(|number| **number < 0) {
            *number += modulus;
        }
        Ok(found)
    }
}

fn widened<T: Into<i128>>(values: Vec<Option<T>>) -> Vec<Option<i128>> {
    values
        .into_iter()
        .map(|value| value.map(Into::into))
        .collect()
}

/// Reads the next `count` values of a column, or fewer at its end.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(count));
    let (rows, found, _) =
        guarded(|| reader.read_records(count, Some(&mut levels), None, &mut values))?;
    if found == rows {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels
        .iter()
        .map(|&level| if level > 0 { values.next() } else { None })
        .collect())
}

/// Iterator over the positions of a file.
pub struct Chunks {
    table: Table,
    /// Index of the next row group.
    group: usize,
    /// Columns of the current row group, and its number of remaining rows.
    open: Option<([Column; COLUMNS.len()], usize)>,
    /// Number of the first row of `rest` in the file, from 1.
    row: u64,
    /// Position whose last row may not have been read yet.
    rest: Rows,
    is_over: bool,
}

/// Calls `read` and converts panics to errors, because the crate panics on some damaged pages.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let panicked = |_| {
        Err(ParquetError::General(
            "the page cannot be decoded".to_owned(),
        ))
    };
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(panicked)
}

impl Chunks {
    fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        while !self.is_over {
            let line = self.row;
            let mut whole = Vec::new();
            let Some(rows) = self.rows()? else {
                self.is_over = true;
                let rest = std::mem::take(&mut self.rest);
                return Ok((!rest.rows.is_empty()).then_some(Chunk {
                    line,
                    text: Text::Rows(vec![rest]),
                }));
            };
            for (fen, row) in rows {
                if self.rest.fen != fen
                    || self.rest.rows.len() >= MOST_ROWS
                    || self.rest.bytes() >= MAX_LINE
                {
                    let done = std::mem::replace(
                        &mut self.rest,
                        Rows {
                            fen,
                            rows: Vec::new(),
                        },
                    );
                    self.row += done.rows.len() as u64;
                    whole.extend(Some(done).filter(|done| !done.rows.is_empty()));
                }
                self.rest.rows.push(row);
            }
            if !whole.is_empty() {
                return Ok(Some(Chunk {
                    line,
                    text: Text::Rows(whole),
                }));
            }
        }
        Ok(None)
    }

    /// Reads some rows of the file. Returns `None` at the end.
    fn rows(&mut self) -> io::Result<Option<Vec<(String, Row)>>> {
        while self.open.as_ref().is_none_or(|(_, left)| *left == 0) {
            if self.group == self.table.metadata.num_row_groups() {
                return Ok(None);
            }
            self.open = Some(self.open(self.group)?);
            self.group += 1;
        }
        let group = self.group - 1;
        let Some((columns, left)) = &mut self.open else {
            return Ok(None);
        };
        let count = BATCH.min(*left);
        let first = self.table.metadata.row_group(group).num_rows() as usize - *left;
        let at = |column: usize| {
            let (last, column) = (first + count - 1, COLUMNS[column]);
            move |error| {
                invalid(format!(
                    "Parquet row group {group}, rows {first} to {last}, column {column}: {error}"
                ))
            }
        };
        let [fen, line, depth, knodes, cp, mate] = columns;
        let text = |column: &mut Column, n| {
            some(column.texts(count), count)
                .and_then(all)
                .map_err(at(n))
        };
        let number = |column: &mut Column, n| some(column.numbers(count), count).map_err(at(n));
        let (fens, lines) = (text(fen, 0)?, text(line, 1)?);
        let depths = number(depth, 2)?;
        let depths = all(depths).map_err(at(2))?;
        let knodes = number(knodes, 3)?;
        let knodes = all(knodes).map_err(at(3))?;
        let (cps, mates) = (number(cp, 4)?, number(mate, 5)?);
        *left -= count;
        if *left == 0 {
            self.table.read.fetch_add(
                self.table.metadata.row_group(group).compressed_size() as u64,
                Relaxed,
            );
        }
        let numbers = depths
            .into_iter()
            .zip(knodes)
            .zip(cps.into_iter().zip(mates));
        let rows = fens.into_iter().zip(lines).zip(numbers).map(
            |((fen, line), ((depth, knodes), (cp, mate)))| {
                let text = |text: ByteArray| {
                    let bytes = text.data();
                    String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT)]).into_owned()
                };
                let line = text(line);
                (
                    text(fen),
                    Row {
                        line,
                        depth,
                        knodes,
                        cp,
                        mate,
                    },
                )
            },
        );
        Ok(Some(rows.collect()))
    }

    fn open(&self, group: usize) -> io::Result<([Column; COLUMNS.len()], usize)> {
        let table = &self.table;
        let rows = table.metadata.row_group(group);
        let schema = table.metadata.file_metadata().schema_descr();
        let open = || {
            let mut columns = Vec::with_capacity(COLUMNS.len());
            for place in table.places {
                let (chunk, column) = (rows.column(place), schema.column(place));
                let pages = Pages {
                    file: table.file.clone(),
                    max: table.max_page,
                    is_text: column.physical_type() == Physical::BYTE_ARRAY,
                    is_gzip: matches!(chunk.compression(), Compression::GZIP(_)),
                };
                let rows = rows.num_rows() as usize;
                let pages = SerializedPageReader::new(Arc::new(pages), chunk, rows, None)?;
                columns.push(Column::new(Box::new(pages), &column));
            }
            let columns = columns
                .try_into()
                .map_err(|_| ParquetError::General("too few columns".to_owned()))?;
            Ok((columns, rows.num_rows() as usize))
        };
        guarded(open).map_err(|error| invalid(format!("Parquet row group {group}: {error}")))
    }
}

/// Returns the values if there is a value for each row.
fn some<T>(values: Result<Vec<T>, ParquetError>, expected: usize) -> Result<Vec<T>, String> {
    match values {
        Ok(values) if values.len() == expected => Ok(values),
        Ok(values) => Err(format!(
            "expected {expected} values, found {}: the file is damaged",
            values.len()
        )),
        // A page is not read.
        Err(ParquetError::External(error)) => Err(error.to_string()),
        Err(error) => Err(format!(
            "{error}: the file is damaged, or of a kind that is not known here"
        )),
    }
}

/// Returns the values if no value is null.
fn all<T>(values: Vec<Option<T>>) -> Result<Vec<T>, String> {
    let null =
        |row| format!("expected a value, found null in row {row} of these; leave such rows out");
    values
        .into_iter()
        .enumerate()
        .map(|(row, value)| value.ok_or_else(|| null(row)))
        .collect()
}

impl Iterator for Chunks {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<io::Result<Chunk>> {
        self.next_chunk().transpose()
    }
}

/// Writer of rows as a Parquet file.
pub struct Writer<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
}

/// The values of a column. An optional column has a level for each row, and a value if the level is 1.
struct Values {
    levels: Option<Vec<i16>>,
    numbers: Numbers,
}

enum Numbers {
    Texts(Vec<ByteArray>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
}

impl Values {
    /// Adds the value of a row.
    fn push(&mut self, cell: Cell) {
        if let Some(levels) = &mut self.levels {
            levels.push((cell != Cell::Missing).into());
        }
        // An unsigned number may need all bits of its column, so that only the bits matter.
        match (&mut self.numbers, cell) {
            (Numbers::Texts(texts), Cell::Text(text)) => {
                texts.push(ByteArray::from(text.into_bytes()))
            }
            (Numbers::Ints(ints), Cell::Number(number)) => ints.push(number as i32),
            (Numbers::Longs(longs), Cell::Number(number)) => longs.push(number as i64),
            _ => {}
        }
    }
}

impl<W: Write + Send> Writer<W> {
    /// Creates a file with a schema.
    pub fn new(out: W, schema: &str) -> Result<Writer<W>, ParquetError> {
        let schema = Arc::new(parse_message_type(schema)?);
        let column = |field: &Arc<Type>| Values {
            levels: field.is_optional().then(Vec::new),
            numbers: match field.get_physical_type() {
                Physical::INT32 => Numbers::Ints(Vec::new()),
                Physical::INT64 => Numbers::Longs(Vec::new()),
                _ => Numbers::Texts(Vec::new()),
            },
        };
        let columns = schema.get_fields().iter().map(column).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        Ok(Writer {
            writer,
            columns,
            rows: 0,
        })
    }

    /// Appends a row, with a value for each column.
    pub fn push(&mut self, row: Vec<Cell>) -> Result<(), ParquetError> {
        self.columns
            .iter_mut()
            .zip(row)
            .for_each(|(column, cell)| column.push(cell));
        self.rows += 1;
        if self.rows >= GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for Values { levels, numbers } in &mut self.columns {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            let found = levels.as_deref();
            match numbers {
                Numbers::Texts(texts) => column
                    .typed::<ByteArrayType>()
                    .write_batch(texts, found, None)?,
                Numbers::Ints(ints) => {
                    column.typed::<Int32Type>().write_batch(ints, found, None)?
                }
                Numbers::Longs(longs) => column
                    .typed::<Int64Type>()
                    .write_batch(longs, found, None)?,
            };
            column.close()?;
            levels.iter_mut().for_each(Vec::clear);
            match numbers {
                Numbers::Texts(texts) => texts.clear(),
                Numbers::Ints(ints) => ints.clear(),
                Numbers::Longs(longs) => longs.clear(),
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the remaining rows and the footer.
    pub fn finish(mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close()?;
        Ok(())
    }
}
