//! Dumps in Parquet: import, export, and files with other schemas.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::hostile::run_within;
use crate::common::*;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Writes a file as other programs do: nullable columns, other integer widths, another order of columns, an extra
/// column, and row groups of three rows.
const OTHER: &str = "message other {
    optional int64 mate;
    optional int32 knodes (INT_32);
    optional binary fen (UTF8);
    optional int64 cp;
    optional binary site (UTF8);
    optional int32 depth (INT_8);
    optional binary line (UTF8);
}";

type Row = (
    Option<&'static str>,
    &'static str,
    i32,
    i32,
    Option<i64>,
    Option<i64>,
);

fn write(path: &Path, schema: &str, rows: &[Row]) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let names: Vec<String> = schema
        .get_fields()
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties))
            .unwrap();
    for rows in rows.chunks(3) {
        let mut group = writer.next_row_group().unwrap();
        for name in &names {
            let mut column = group.next_column().unwrap().unwrap();
            let all = vec![1; rows.len()];
            let levels = |is: &dyn Fn(&Row) -> bool| {
                rows.iter().map(|row| is(row).into()).collect::<Vec<i16>>()
            };
            match name.as_str() {
                "fen" => {
                    let values: Vec<ByteArray> = rows
                        .iter()
                        .filter_map(|row| row.0.map(ByteArray::from))
                        .collect();
                    let levels = levels(&|row| row.0.is_some());
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, Some(&levels), None)
                        .unwrap();
                }
                "line" | "site" => {
                    let values: Vec<ByteArray> =
                        rows.iter().map(|row| ByteArray::from(row.1)).collect();
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, Some(&all), None)
                        .unwrap();
                }
                "depth" | "knodes" => {
                    let values: Vec<i32> = rows
                        .iter()
                        .map(|row| if name == "depth" { row.2 } else { row.3 })
                        .collect();
                    column
                        .typed::<Int32Type>()
                        .write_batch(&values, Some(&all), None)
                        .unwrap();
                }
                _ => {
                    let value = |row: &Row| if name == "cp" { row.4 } else { row.5 };
                    let values: Vec<i64> = rows.iter().filter_map(value).collect();
                    let levels = levels(&|row| value(row).is_some());
                    column
                        .typed::<Int64Type>()
                        .write_batch(&values, Some(&levels), None)
                        .unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn export(fixture: &Fixture, db: &str) -> PathBuf {
    let (db, out) = (fixture.path(db), fixture.path("export.parquet"));
    let args = [
        "export".as_ref(),
        "--format".as_ref(),
        "parquet".as_ref(),
        "-d".as_ref(),
        db.as_os_str(),
    ];
    shelfish([&args[..], &["-o".as_ref(), out.as_os_str()]].concat()).succeeds();
    out
}

#[test]
fn an_export_builds_the_same_database() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", sample());
    fixture.build(&[&dump], &[]).succeeds();
    let parquet = export(&fixture, "db");
    assert!(fs::read(&parquet).unwrap().starts_with(b"PAR1"));
    for options in [
        &["--threads", "1", "--max-memory", "64MiB"][..],
        &["--threads", "4"],
    ] {
        fixture.build_to("again", &[&parquet], options).succeeds();
        assert!(fixture.files("again") == fixture.files("db"));
    }
    fixture.build_to("both", &[&dump, &parquet], &[]).succeeds();
    assert!(
        fixture.files("both") == fixture.files("db"),
        "kinds of sources mix"
    );
}

/// Returns a file with the first positions of `tests/data/evaluations.jsonl.zst`. It was written by pyarrow 26 with the
/// schema of Lichess' data set on Hugging Face: all integers are int64 and all columns are nullable.
fn pyarrow(compression: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/parquet");
    data.join(format!("pyarrow-{compression}.parquet"))
}

#[test]
fn files_with_the_schema_of_lichess_build_the_same_database_as_the_dump() {
    let fixture = Fixture::new();
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/evaluations.jsonl.zst");
    let text = zstd::decode_all(File::open(dump).unwrap()).unwrap();
    let lines = text
        .split_inclusive(|&byte| byte == b'\n')
        .take(150)
        .collect::<Vec<_>>()
        .concat();
    fixture
        .build(&[&fixture.file("dump", lines)], &[])
        .succeeds();
    for compression in ["snappy", "gzip"] {
        fixture
            .build_to("again", &[&pyarrow(compression)], &[])
            .succeeds();
        assert!(
            fixture.files("again") == fixture.files("db"),
            "{compression}"
        );
    }
    fixture
        .build_to("never", &[&pyarrow("brotli")], &[])
        .fails(&["pyarrow-brotli.parquet", "column fen", "BROTLI", "zstd"]);
}

#[test]
fn rows_become_positions_and_evaluations_across_row_groups() {
    let fixture = Fixture::new();
    let path = fixture.path("other.parquet");
    let end = "4k3/8/8/8/8/8/8/4K2R w K -";
    write(
        &path,
        OTHER,
        &[
            (Some(START), "e2e4 e7e5", 30, 9, Some(20), None),
            (Some(START), "d2d4", 30, 9, Some(10), None),
            (Some(START), "c2c4", 30, 8, Some(9), None),
            (Some(START), "g1f3", 30, 8, Some(8), None),
            (Some(START), "c2c4 c7c5", 30, 8, Some(7), None),
            (Some(end), "e1g1 e8e7", 20, 1, None, Some(12)),
            (Some("8/8/8/8/8/8/8/K7 w - -"), "a1a2", 1, 1, Some(0), None),
            (Some(START), "b2b3 x", 1, 1, Some(0), None),
        ],
    );
    let rejects = fixture.path("rejects");
    let summary = fixture
        .build(
            &[&path],
            &["--json", "--rejects", rejects.to_str().unwrap()],
        )
        .succeeds();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(
        [
            &summary["positions"],
            &summary["evaluations"],
            &summary["pvs"]
        ],
        [2, 5, 7]
    );
    assert_eq!(summary["input"]["pvs_cut"], 1);
    let rejects = fs::read_to_string(rejects).unwrap();
    assert!(
        rejects
            .lines()
            .nth(1)
            .unwrap()
            .contains("\t7\tposition without legal play\t"),
        "{rejects}"
    );
    let exported = fixture.export("db");
    assert_eq!(
        exported[0],
        line(end, 12, "e1h1 e8e7", 1, 20).replace("cp", "mate")
    );
    let first =
        r#"{"pvs":[{"cp":20,"line":"e2e4 e7e5"},{"cp":10,"line":"d2d4"}],"knodes":9,"depth":30}"#;
    let second = r#"{"pvs":[{"cp":9,"line":"c2c4"},{"cp":8,"line":"g1f3"}],"knodes":8,"depth":30}"#;
    assert!(
        exported[1].contains(&format!("{first},{second}")),
        "{}",
        exported[1]
    );
}

#[test]
fn files_with_another_schema_are_rejected_with_the_reason() {
    let fixture = Fixture::new();
    let path = fixture.path("other.parquet");
    let row: &[Row] = &[(Some(START), "e2e4", 1, 1, Some(1), None)];
    let build = || fixture.build(&[&path], &[]);
    write(&path, &OTHER.replace("cp;", "score;"), row);
    build().fails(&[
        "other.parquet",
        "without column cp",
        "mate, knodes, fen, score",
        "expected fen, line",
    ]);
    write(
        &path,
        &OTHER.replace("binary line (UTF8)", "int64 line"),
        &[],
    );
    build().fails(&["column line", "expected strings", "found INT64", "cast"]);
    write(
        &path,
        &OTHER.replace("optional int64 cp", "repeated int64 cp"),
        &[],
    );
    build().fails(&["column cp", "in lists"]);
    write(
        &path,
        OTHER,
        &[row[0], row[0], row[0], (None, "e2e4", 1, 1, Some(1), None)],
    );
    build().fails(&["row group 1", "column fen", "found null in row 0"]);
    write(&path, OTHER, row);
    let whole = fs::read(&path).unwrap();
    for length in [4, 5, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        build().fails(&["other.parquet", "Parquet"]);
    }
    for at in (4..whole.len() - 8).step_by(if is_long() { 1 } else { 31 }) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        fs::write(&path, bytes).unwrap();
        let run = build();
        assert!(
            [0, 1].contains(&run.code),
            "byte {at}: it may be believed or not, and is no reason to crash: {}",
            run.err
        );
    }
}

/// Writes texts in the column `fen`, and a row for each.
fn write_texts(path: &Path, properties: WriterPropertiesBuilder, texts: &[ByteArray]) {
    let properties = properties
        .set_data_page_size_limit(1 << 30)
        .set_dictionary_page_size_limit(1 << 30)
        .build();
    let schema = "message m { required binary fen (UTF8); required binary line (UTF8);
        required int32 depth; required int32 knodes; required int32 cp; required int32 mate; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for n in 0..6 {
        let mut column = group.next_column().unwrap().unwrap();
        let lines = vec![ByteArray::from("e2e4"); texts.len()];
        match n {
            0 | 1 => column
                .typed::<ByteArrayType>()
                .write_batch(if n == 0 { texts } else { &lines }, None, None)
                .unwrap(),
            _ => column
                .typed::<Int32Type>()
                .write_batch(&vec![1; texts.len()], None, None)
                .unwrap(),
        };
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Returns a number as Thrift's compact protocol writes it.
fn varint(number: usize) -> Vec<u8> {
    let mut out = Vec::new();
    shelfish::leb128::push(&mut out, 2 * number as u64);
    out
}

#[test]
fn a_page_of_much_text_is_an_error_within_the_memory() {
    let fixture = Fixture::new();
    let path = fixture.path("bomb.parquet");
    let (zstd, gzip) = (
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
    );
    let with = |compression| WriterProperties::builder().set_compression(compression);
    let plain = |compression| with(compression).set_dictionary_enabled(false);
    let fails = |reasons: &[&str]| {
        let mut build = command();
        build.args(["build", "--max-memory", "128MiB", "--threads", "1"]);
        build.arg(&path).arg("-o").arg(fixture.path("db"));
        let (run, peak) = run_within(160 << 20, &build);
        assert!(peak < 160 << 20, "{} MiB: {}", peak >> 20, run.err);
        run.fails(reasons);
    };
    let letters = 100 << 20;
    let page = letters + 4;
    let one = [ByteArray::from(vec![b'a'; letters])];
    for compression in [zstd, gzip, Compression::SNAPPY, Compression::UNCOMPRESSED] {
        for properties in [
            with(compression),
            plain(compression)
                .set_writer_version(WriterVersion::PARQUET_2_0)
                .set_encoding(Encoding::PLAIN),
        ] {
            write_texts(&path, properties, &one);
            fails(&[
                "bomb.parquet",
                "column fen",
                &page.to_string(),
                "at most 4194304",
                "--max-memory",
            ]);
        }
    }
    // A page of gzip that has more bytes than its header says.
    write_texts(&path, plain(gzip), &one);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(4)
        .position(|window| window == varint(page))
        .unwrap();
    bytes[at..at + 4].copy_from_slice(&varint(2 << 20));
    fs::write(&path, &bytes).unwrap();
    fails(&["bomb.parquet", "header of a page"]);

    // Texts that repeat each other in full are small in delta encodings, and the same text of a dictionary is one text.
    let texts = vec![ByteArray::from(vec![b'a'; 1 << 20]); 1000];
    for encoding in [
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
    ] {
        write_texts(
            &path,
            plain(zstd).set_column_encoding("fen".into(), encoding),
            &texts,
        );
        fails(&["bomb.parquet", "column fen", "plain or dictionary"]);
    }
    write_texts(&path, with(zstd), &texts);
    fails(&["malformed FEN"]);
}
