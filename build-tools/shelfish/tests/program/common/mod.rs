//! Helpers to run the program.

pub mod faulty;
pub mod host;
pub mod hostile;
#[cfg(target_os = "linux")]
pub mod stores;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

/// Output of a run.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    #[track_caller]
    pub fn succeeds(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Asserts exit code 1 and an error message that contains all `words`.
    #[track_caller]
    pub fn fails(self, words: &[&str]) -> String {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "expected {word:?}: {}", self.err);
        }
        self.err
    }
}

/// Returns whether tests may take minutes, as in `cargo xtask test --all`.
pub fn is_long() -> bool {
    std::env::var_os("SHELFISH_LONG").is_some()
}

pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shelfish"))
}

pub fn shelfish(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    shelfish_with(args, b"")
}

pub fn shelfish_with(args: impl IntoIterator<Item = impl AsRef<OsStr>>, input: &[u8]) -> Run {
    let mut child = command()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that fails early does not read all of its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Waits until `condition` holds. Fails after two minutes, which is too long even for a busy machine.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "waited two minutes until {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Reports that the current test, or a part of it, is skipped.
///
/// The line bypasses the capture of the test harness, so that the tally of `cargo xtask test` can count it.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let line = format!(
        "SKIPPED: {}: {reason}\n",
        thread.name().unwrap_or("unnamed test")
    );
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Temporary directory for dumps and databases.
pub struct Fixture {
    pub dir: TempDir,
}

impl Fixture {
    pub fn new() -> Fixture {
        Fixture {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Copies a fixture that `build` fills once per run, because many tests need the same databases.
    pub fn shared(name: &'static str, build: fn(&Fixture)) -> Fixture {
        type Named = (&'static str, Arc<OnceLock<Fixture>>);
        static SHARED: Mutex<Vec<Named>> = Mutex::new(Vec::new());
        let original = {
            let mut shared = SHARED.lock().unwrap();
            if shared.is_empty() {
                remove_old_fixtures();
            }
            let found = shared
                .iter()
                .find(|(other, _)| *other == name)
                .map(|(_, original)| original.clone());
            found.unwrap_or_else(|| {
                shared.push((name, Arc::default()));
                shared.last().unwrap().1.clone()
            })
        };
        let original = original.get_or_init(|| {
            let fixture = Fixture {
                dir: tempfile::Builder::new()
                    .prefix(SHARED_PREFIX)
                    .tempdir_in(TARGET)
                    .unwrap(),
            };
            build(&fixture);
            fixture
        });
        let fixture = Fixture::new();
        copy(original.dir.path(), fixture.dir.path());
        fixture
    }

    /// Copies a fixture with the database `db` of the sample.
    pub fn of_sample() -> Fixture {
        Fixture::shared("sample", |fixture| {
            let dump = fixture.file("dump.jsonl", sample());
            fixture.build(&[&dump], &[]).succeeds();
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Builds the database `db` of `sources`.
    pub fn build(&self, sources: &[&Path], options: &[&str]) -> Run {
        self.build_to("db", sources, options)
    }

    pub fn build_to(&self, db: &str, sources: &[&Path], options: &[&str]) -> Run {
        self.build_by(&["build"], db, sources, options)
    }

    /// Builds the book `db` from games.
    pub fn book_build(&self, sources: &[&Path], options: &[&str]) -> Run {
        self.book_build_to("db", sources, options)
    }

    pub fn book_build_to(&self, db: &str, sources: &[&Path], options: &[&str]) -> Run {
        self.build_by(&["book", "build"], db, sources, options)
    }

    fn build_by(&self, command: &[&str], db: &str, sources: &[&Path], options: &[&str]) -> Run {
        let db = self.path(db);
        let mut args: Vec<&OsStr> = command.iter().copied().map(OsStr::new).collect();
        args.extend(["-o".as_ref(), db.as_os_str()]);
        args.extend(options.iter().map(|option| OsStr::new(*option)));
        args.extend(sources.iter().map(|source| source.as_os_str()));
        shelfish(args)
    }

    /// Returns the lines of a database, sorted.
    pub fn export(&self, db: &str) -> Vec<String> {
        sorted(&shelfish(["export".as_ref(), "-d".as_ref(), self.path(db).as_os_str()]).succeeds())
    }

    /// Returns all files of a database by name. The database must not contain folders.
    pub fn files(&self, db: &str) -> Vec<(String, Vec<u8>)> {
        read_all(
            fs::read_dir(self.path(db))
                .unwrap()
                .map(|entry| entry.unwrap().path()),
        )
    }

    /// Returns all files of a database by name, without subfolders.
    pub fn files_beside_folders(&self, db: &str) -> Vec<(String, Vec<u8>)> {
        read_all(
            fs::read_dir(self.path(db))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file()),
        )
    }

    pub fn verify(&self, db: &str) -> Run {
        shelfish([
            "verify".as_ref(),
            "--quiet".as_ref(),
            "-d".as_ref(),
            self.path(db).as_os_str(),
        ])
    }
}

/// Folder of the build for temporary files of tests.
const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
const SHARED_PREFIX: &str = "shared-fixture-";

/// Removes shared fixtures of earlier runs, because a static fixture is never dropped.
fn remove_old_fixtures() {
    let yesterday = SystemTime::now() - Duration::from_secs(24 * 60 * 60);
    for entry in fs::read_dir(TARGET).unwrap().flatten() {
        let is_old = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|time| time < yesterday);
        if is_old
            && entry
                .file_name()
                .to_string_lossy()
                .starts_with(SHARED_PREFIX)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies the contents of a directory.
pub fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn read_all(paths: impl Iterator<Item = PathBuf>) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> = paths
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Returns the path of a data set. Reports the test as skipped if the data set is missing.
pub fn data(name: &str) -> Option<PathBuf> {
    let dir =
        std::env::var_os("SHELFISH_DATA").map_or("../../../shared/data".into(), PathBuf::from);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir).join(name);
    if !path.exists() {
        skipped(&format!(
            "{} is missing; set SHELFISH_DATA to the folder of data sets",
            path.display()
        ));
    }
    path.exists().then_some(path)
}

/// Running `shelfish serve`, which is killed when dropped.
pub struct Host {
    pub child: Child,
    url: String,
}

impl Host {
    /// Serves the directory of a fixture.
    pub fn new(fixture: &Fixture) -> Host {
        Host::serve([fixture.dir.path()])
    }

    /// Serves on a free port with further arguments. The program prints its URL on a separate line.
    pub fn serve(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Host {
        let mut command = command();
        command
            .args(["serve", "--port", "0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_suffix("/\n")
            .filter(|url| url.starts_with("http://"));
        Host {
            child,
            url: url
                .unwrap_or_else(|| panic!("expected a URL, found {line:?}"))
                .to_owned(),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.url)
    }

    /// Returns the address of the server.
    pub fn at(&self) -> SocketAddr {
        self.url
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .unwrap()
            .parse()
            .unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a server a signal, such as `TERM`.
#[cfg(unix)]
pub fn signal(host: &Host, name: &str) {
    let id = host.child.id().to_string();
    let kill = Command::new("kill")
        .args([&format!("-{name}"), &id])
        .status();
    assert!(kill.unwrap().success());
}

pub fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Returns a dump of 1,574 positions with one and three lines each.
pub fn sample() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/evaluations.jsonl.zst");
    String::from_utf8(zstd::decode_all(fs::File::open(path).unwrap()).unwrap()).unwrap()
}

pub fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 3).unwrap()
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Formats a line with one evaluation that has one PV.
pub fn line(fen: &str, cp: i32, moves: &str, knodes: u32, depth: u16) -> String {
    format!(
        r#"{{"fen":"{fen}","evals":[{{"pvs":[{{"cp":{cp},"line":"{moves}"}}],"knodes":{knodes},"depth":{depth}}}]}}"#
    )
}

/// Rewrites a database into small shards, because large databases have many shards.
pub fn reshard(from: &Path, to: &Path, shard_bytes: u64) {
    use shelfish::eval::PositionEval;
    use shelfish::table::{Block, TableWriter, WriterOptions};
    use shelfish_cli::database;
    use shelfish_cli::database::scan::Scan;

    let place = database::Args::of(from.to_str().unwrap()).source().unwrap();
    let manifest = database::wait(database::manifest::<shelfish::eval::PositionEval>(&place))
        .unwrap()
        .unwrap();
    fs::create_dir_all(to.join("scratch")).unwrap();
    let options = WriterOptions {
        shard_bytes,
        ..WriterOptions::default()
    };
    let mut writer = TableWriter::<PositionEval>::create(to, &to.join("scratch"), options);
    for block in Scan::new(place, manifest.into()).unwrap() {
        let block = block.unwrap();
        writer
            .append(
                &Block::<PositionEval>::open(&block.bytes, &block.at)
                    .unwrap()
                    .reuse(block.bytes),
            )
            .unwrap();
    }
    writer.finish().unwrap();
    fs::remove_dir(to.join("scratch")).unwrap();
}
