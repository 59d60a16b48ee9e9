//! Commands that write, killed at random moments and before each change of a file. Readers find the old or the new state, byte for byte; the next run succeeds; nothing is left behind.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::stores::run;
use crate::common::*;
use rusqlite::Connection;
use shelfish::table::Manifest;

/// A command that writes, with the folder in which it works.
#[derive(Clone, Copy)]
struct Writer {
    /// Name of a fixture of this file that contains the state before the command.
    name: &'static str,
    /// Creates the state before the command.
    before: fn(&Fixture),
    /// Arguments of the command. It runs in the folder of the fixture.
    args: &'static [&'static str],
    /// Reads what readers of the result see.
    state: fn(&Path) -> State,
}

/// Content that readers see, by name.
type State = BTreeMap<String, Vec<u8>>;

const BUILD: Writer = Writer {
    name: "kills-build",
    before: |fixture| {
        let (few, most) = dumps(fixture);
        fixture.build(&[&few], &[]).succeeds();
        fs::rename(most, fixture.path("source")).unwrap();
    },
    args: &["build", "-q", "source", "-o", "db"],
    state: |dir| database(&dir.join("db")),
};

const UPDATE: Writer = Writer {
    name: "kills-update",
    before: |fixture| {
        let (few, most) = dumps(fixture);
        fixture.build_to("whole", &[&most], &[]).succeeds();
        reshard(&fixture.path("whole"), &fixture.path("db"), 8_000);
        fs::remove_dir_all(fixture.path("whole")).unwrap();
        fs::rename(few, fixture.path("source")).unwrap();
    },
    args: &[
        "build", "-q", "--base", "db", "--update", "source", "-o", "db",
    ],
    state: |dir| database(&dir.join("db")),
};

const BOOK: Writer = Writer {
    name: "kills-book",
    before: |fixture| {
        let (few, all) = games(fixture);
        fixture.book_build(&[&few], &[]).succeeds();
        fs::rename(all, fixture.path("source")).unwrap();
    },
    args: &["book", "build", "-q", "source", "-o", "db"],
    state: |dir| database(&dir.join("db")),
};

const PUBLISH: Writer = Writer {
    name: "kills-publish",
    before: |fixture| {
        let (few, most) = dumps(fixture);
        for (name, dump) in [("old", few), ("new", most)] {
            fixture.build_to("whole", &[&dump], &[]).succeeds();
            reshard(&fixture.path("whole"), &fixture.path(name), 8_000);
        }
        fs::remove_dir_all(fixture.path("whole")).unwrap();
        let [old, site] = ["old", "site"].map(|name| fixture.path(name));
        shelfish([
            "publish".as_ref(),
            "-q".as_ref(),
            old.as_os_str(),
            site.as_os_str(),
        ])
        .succeeds();
    },
    args: &[
        "publish", "-q", "new", "site", "--prune", "--keep", "1", "--grace", "0s",
    ],
    state: |dir| database(&dir.join("site")),
};

const REFRESH: Writer = Writer {
    name: "kills-refresh",
    before: |fixture| {
        let (few, most) = dumps(fixture);
        let options = "publish = ['--prune', '--keep', '1', '--grace', '0s']\n";
        let config = fixture.file(
            "refresh.toml",
            format!("sources = ['source']\nto = 'site'\n{options}"),
        );
        fs::rename(few, fixture.path("source")).unwrap();
        shelfish(["refresh".as_ref(), "-q".as_ref(), config.as_os_str()]).succeeds();
        fs::rename(most, fixture.path("source")).unwrap();
    },
    args: &["refresh", "-q", "refresh.toml"],
    state: |dir| database(&dir.join("site")),
};

const EXTRACT: Writer = Writer {
    name: "kills-extract",
    before: |fixture| {
        let (few, most) = dumps(fixture);
        fixture.build_to("all", &[&most], &[]).succeeds();
        fixture.build(&[&few], &[]).succeeds();
    },
    args: &[
        "extract",
        "-q",
        "-d",
        "all",
        "-o",
        "db",
        "--max-plies",
        "12",
        "--start",
        START,
    ],
    state: |dir| database(&dir.join("db")),
};

const LEARN: Writer = Writer {
    name: "kills-learn",
    before: |fixture| {
        let (few, all) = games(fixture);
        let book = fixture.path("book.sqlite");
        shelfish([
            "book",
            "learn",
            "-q",
            "--into",
            book.to_str().unwrap(),
            few.to_str().unwrap(),
        ])
        .succeeds();
        fs::rename(all, fixture.path("source")).unwrap();
    },
    args: &["book", "learn", "-q", "--into", "book.sqlite", "source"],
    state: learned,
};

const WRITERS: [Writer; 7] = [BUILD, PUBLISH, UPDATE, BOOK, REFRESH, EXTRACT, LEARN];

/// Returns the commands of a test: a build and a publication, or all commands in a long run.
fn writers() -> &'static [Writer] {
    if is_long() { &WRITERS } else { &WRITERS[..2] }
}

/// Writes a dump of the sample without a part of its positions, and a dump with most of its positions.
fn dumps(fixture: &Fixture) -> (PathBuf, PathBuf) {
    let text = sample();
    let few: String = text
        .lines()
        .step_by(3)
        .map(|line| format!("{line}\n"))
        .collect();
    let most: String = text
        .lines()
        .skip(40)
        .map(|line| format!("{line}\n"))
        .collect();
    (fixture.file("few", few), fixture.file("most", most))
}

/// Writes some games, and all games.
fn games(fixture: &Fixture) -> (PathBuf, PathBuf) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn");
    let text = fs::read_to_string(path).unwrap();
    let half = text.match_indices("[Event ").nth(4).unwrap().0;
    (
        fixture.file("some-games", &text[..half]),
        fixture.file("all-games", &text),
    )
}

/// Reads the manifest of a database and the files that it names. A missing file has no bytes.
fn database(dir: &Path) -> State {
    let manifest = fs::read(dir.join(Manifest::FILE)).unwrap_or_default();
    let Ok((parsed, _)) = shelfish_cli::system::manifest::parse_manifest(&manifest) else {
        return State::new();
    };
    let shards = parsed.shards().iter().map(|shard| shard.file.clone());
    let shards = shards.map(|name| (name.clone(), fs::read(dir.join(name)).unwrap_or_default()));
    shards
        .chain([(Manifest::FILE.to_owned(), manifest)])
        .collect()
}

/// Reads the content of a learning book. A copy is read, because a reader of SQLite removes the journal of a killed process.
fn learned(dir: &Path) -> State {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("book.sqlite")
        {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let book = Connection::open(copy.path().join("book.sqlite")).unwrap();
    let rows = |query: &str| -> Vec<String> {
        let mut statement = book.prepare(query).unwrap();
        let row = |row: &rusqlite::Row<'_>| row.get(0);
        statement
            .query_map([], row)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let moves = rows(
        "SELECT position || move || ' ' || frequency || wins || draws || losses FROM moves ORDER BY 1",
    );
    let games = rows("SELECT hex(hash) || sides FROM games ORDER BY 1");
    State::from([
        ("moves".to_owned(), moves.join("\n").into()),
        ("games".to_owned(), games.join("\n").into()),
    ])
}

/// Returns the paths of all files and folders below a folder.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            paths.extend(
                tree(&entry.path())
                    .into_iter()
                    .map(|path| Path::new(&entry.file_name()).join(path)),
            );
        }
        paths.push(entry.file_name().into());
    }
    paths.sort();
    paths
}

/// Folder in which a writer works, with a folder of its own for temporary files.
struct Workplace {
    /// Removes the folder at the end.
    _dir: tempfile::TempDir,
    path: PathBuf,
}

/// Name of the folder for temporary files.
const TEMPORARY: &str = "tmp";

impl Writer {
    /// Creates a folder with the state before the command.
    fn workplace(&self) -> Workplace {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_owned();
        copy(Fixture::shared(self.name, self.before).dir.path(), &path);
        fs::create_dir(path.join(TEMPORARY)).unwrap();
        Workplace { _dir: dir, path }
    }

    /// Creates the command. The words before its arguments end with the path of the program.
    fn command_of(&self, words: &[impl AsRef<OsStr>], path: &Path) -> Command {
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(self.args)
            .current_dir(path)
            .env("TMPDIR", path.join(TEMPORARY));
        command.stdin(Stdio::null());
        command
    }

    fn command(&self, path: &Path) -> Command {
        self.command_of(&[env!("CARGO_BIN_EXE_shelfish")], path)
    }

    fn state(&self, path: &Path) -> State {
        (self.state)(path)
    }

    /// Runs the command after a disturbance. Fails if the run does not lead to the new state, or leaves other files.
    #[track_caller]
    fn recovers(&self, path: &Path, reference: &Reference, what: &str) {
        run(&mut self.command(path)).succeeds();
        assert!(
            self.state(path) == reference.new,
            "{what}: the next run leads to the new state"
        );
        assert_eq!(
            tree(path),
            reference.files,
            "{what}: nothing is left behind"
        );
    }

    /// Runs the command undisturbed.
    fn reference(&self) -> Reference {
        let place = self.workplace();
        let old = self.state(&place.path);
        let start = Instant::now();
        let mut child = self
            .command(&place.path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut changes = Changes::of(&place.path);
        wait_for(&mut child, || changes.count() == usize::MAX);
        assert!(child.wait().unwrap().success(), "{}", self.name);
        let (time, changes) = (start.elapsed(), changes.count);
        let (new, files) = (self.state(&place.path), tree(&place.path));
        assert!(
            !old.is_empty() && !new.is_empty() && old != new,
            "{} changes something",
            self.name
        );
        Reference {
            old,
            new,
            files,
            time,
            changes,
        }
    }
}

/// Results of an undisturbed command.
struct Reference {
    old: State,
    new: State,
    files: Vec<PathBuf>,
    time: Duration,
    /// Number of changes of files that an observer sees.
    changes: usize,
}

/// Counts changes of the files below a folder.
struct Changes<'a> {
    dir: &'a Path,
    seen: Vec<PathBuf>,
    count: usize,
}

impl Changes<'_> {
    fn of(dir: &Path) -> Changes<'_> {
        Changes {
            dir,
            seen: tree(dir),
            count: 0,
        }
    }

    /// Returns the number of changes so far.
    fn count(&mut self) -> usize {
        let now = tree(self.dir);
        self.count += usize::from(now != self.seen);
        self.seen = now;
        self.count
    }
}

impl Reference {
    /// Returns whether readers find the old state. Fails if they find neither the old nor the new state.
    #[track_caller]
    fn is_old(&self, state: &State, what: &str) -> bool {
        let is_old = *state == self.old;
        assert!(
            is_old || *state == self.new,
            "{what}: readers find neither the old nor the new state"
        );
        is_old
    }
}

/// Waits for a moment of a process or for its end. Returns whether the process has ended.
fn wait_for(child: &mut Child, mut is_moment: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        if is_moment() {
            return false;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "the command takes two minutes"
        );
        std::thread::yield_now();
    }
}

/// Returns the random generator of a test, whose seed is printed. `SHELFISH_SEED` repeats it.
fn random(what: &str) -> fastrand::Rng {
    let seed = std::env::var("SHELFISH_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let random = seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
    println!("{what}: SHELFISH_SEED={}", random.get_seed());
    random
}

/// Kills the command at random moments: at a random time, or after a random number of changes of files.
fn kill(writer: &Writer) {
    let reference = writer.reference();
    let mut random = random(writer.name);
    let kills = if is_long() { 200 } else { 5 };
    let (mut old, mut ended) = (0, 0);
    for n in 0..kills {
        let place = writer.workplace();
        let path = &place.path;
        let (after, changes) = (
            reference.time.mul_f64(random.f64()),
            random.usize(1..=reference.changes.max(1)),
        );
        let what = format!(
            "{} killed after {after:?} or {changes} changes",
            writer.name
        );
        let start = Instant::now();
        let mut child = writer
            .command(path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut counter = Changes::of(path);
        let has_ended = wait_for(&mut child, || {
            if n % 2 == 0 {
                start.elapsed() >= after
            } else {
                counter.count() >= changes
            }
        });
        child.kill().unwrap();
        child.wait().unwrap();
        ended += u32::from(has_ended);
        let is_old = reference.is_old(&writer.state(path), &what);
        old += u32::from(is_old);
        writer.recovers(path, &reference, &what);
    }
    println!(
        "{}: {kills} kills; {old} left the old state, {ended} came after the end",
        writer.name
    );
}

#[test]
fn a_killed_command_leaves_the_old_or_the_new_state() {
    writers().iter().for_each(kill);
}

/// System calls that change files or make changes durable.
#[cfg(target_os = "linux")]
const CALLS: &str = "mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,ftruncate,pwrite64,fsync,fdatasync";

#[cfg(target_os = "linux")]
impl Writer {
    /// Creates the command under `strace` with options. `strace` writes these calls to a log.
    fn traced(&self, path: &Path, log: &Path, options: &[&str]) -> Command {
        let trace = format!("trace={CALLS}");
        let strace = [
            "strace",
            "-f",
            "-qq",
            "-o",
            log.to_str().unwrap(),
            "-e",
            &trace,
        ];
        self.command_of(
            &[&strace, options, &[env!("CARGO_BIN_EXE_shelfish")]].concat(),
            path,
        )
    }
}

/// Kills each command before each of its changes of files, the last change included, which a random moment hardly meets.
#[cfg(target_os = "linux")]
#[test]
fn a_command_killed_before_any_change_of_a_file_leaves_the_old_or_the_new_state() {
    if !Command::new("strace")
        .args(["-f", "-qq", "true"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return skipped("`strace` is missing or may not trace; on Debian, install strace");
    }
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    for writer in writers() {
        let reference = writer.reference();
        let place = writer.workplace();
        run(&mut writer.traced(&place.path, &log, &[])).succeeds();
        let text = fs::read_to_string(&log).unwrap();
        let (mut kills, mut old) = (0, 0);
        for call in CALLS.split(',') {
            let calls = text
                .lines()
                .filter(|line| line.contains(&format!(" {call}(")))
                .count();
            let step = if is_long() {
                1
            } else {
                calls.div_ceil(2).max(1)
            };
            // The last calls come first: a short run includes the end of the command.
            for n in (1..=calls).rev().step_by(step) {
                let place = writer.workplace();
                let path = &place.path;
                let kill = format!("inject={call}:signal=SIGKILL:when={n}");
                let killed = run(&mut writer.traced(path, &log, &["-e", &kill]));
                let what = format!("{} killed before {call} number {n}", writer.name);
                // A thread may make fewer calls than the process.
                kills += u32::from(killed.code != 0);
                let is_old = reference.is_old(&writer.state(path), &what);
                old += u32::from(is_old && killed.code != 0);
                writer.recovers(path, &reference, &what);
            }
        }
        println!(
            "{}: {kills} kills before a call; {old} left the old state",
            writer.name
        );
        assert!(kills > 0, "{}", writer.name);
    }
}
