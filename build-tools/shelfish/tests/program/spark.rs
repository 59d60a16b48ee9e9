//! `build-tools/spark/build.py` on PySpark with several local workers, compared with `shelfish build --plan`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::common::{Fixture, data, sample, shelfish, until};
use serde_json::Value;

/// Spark master with a process for each worker. A failed task is repeated.
const MASTER: &str = "local-cluster[2,1,1536]";
const PARTS: &str = "6";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the folder of the program for Spark.
fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spark")
}

/// Returns a Python interpreter with PySpark.
fn python() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_shelfish"));
    let python = program
        .ancestors()
        .nth(2)
        .unwrap()
        .join("tools/spark/bin/python");
    assert!(
        python.is_file(),
        "{} is missing; `cargo xtask test --all` installs it",
        python.display()
    );
    python
}

struct Spark {
    fixture: Fixture,
    plan: PathBuf,
    source: PathBuf,
}

impl Spark {
    fn new(source: &dyn Fn(&Fixture) -> PathBuf) -> Spark {
        let fixture = Fixture::new();
        let (plan, source) = (fixture.path("plan.json"), source(&fixture));
        shelfish([
            "parts",
            "plan",
            "-q",
            "--parts",
            PARTS,
            "--shard-size",
            "4MiB",
            "-o",
            text(&plan),
            text(&source),
        ])
        .succeeds();
        Spark {
            fixture,
            plan,
            source,
        }
    }

    /// Starts a build.
    fn start(&self, out: &str) -> Child {
        let (program, python) = (Path::new(env!("CARGO_BIN_EXE_shelfish")), python());
        // Executors work in this folder.
        let home = self.fixture.path("home");
        fs::create_dir_all(&home).unwrap();
        let find = "import pyspark, os; print(os.path.dirname(pyspark.__file__))";
        let found = Command::new(&python)
            .args(["-c", find])
            .output()
            .unwrap()
            .stdout;
        let found = PathBuf::from(String::from_utf8(found).unwrap().trim());
        for part in ["bin", "jars", "python", "sbin"] {
            std::os::unix::fs::symlink(found.join(part), home.join(part)).unwrap();
        }
        Command::new(&python)
            .arg(engine().join("build.py"))
            .args([
                "--master",
                MASTER,
                "--json",
                "--ship",
                "--shares",
                "4",
                "--shelfish",
                text(program),
            ])
            .args([
                "--plan",
                text(&self.plan),
                "--out",
                text(&self.fixture.path(out)),
                text(&self.source),
            ])
            .env("PYSPARK_PYTHON", &python)
            .env("SPARK_LOCAL_DIRS", self.fixture.path("spark"))
            .env("SPARK_HOME", &home)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .env("SPARK_LOCAL_HOSTNAME", "localhost")
            .stdout(Stdio::piped())
            .stderr(fs::File::create(self.fixture.path("spark.log")).unwrap())
            .spawn()
            .unwrap()
    }

    fn finish(&self, child: Child) -> Value {
        let output = child.wait_with_output().unwrap();
        let log = fs::read_to_string(self.fixture.path("spark.log")).unwrap();
        assert!(
            output.status.success(),
            "{}",
            &log[log.len().saturating_sub(6000)..]
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn build(&self) {
        self.fixture
            .build(&[&self.source], &["--plan", text(&self.plan)])
            .succeeds();
    }

    #[track_caller]
    fn has_the_bytes_of_build(&self) {
        let [(names, bytes), expected] = ["spark", "db"].map(|db| {
            self.fixture
                .files_beside_folders(db)
                .into_iter()
                .unzip::<String, Vec<u8>, Vec<String>, Vec<Vec<u8>>>()
        });
        assert_eq!(names, expected.0);
        assert!(bytes == expected.1, "the same bytes");
    }
}

#[test]
#[ignore = "takes minutes and PySpark"]
fn two_workers_build_the_same_database_of_tcec_as_one_machine() {
    let Some(source) = data("evals-tcec.jsonl.zst") else {
        return;
    };
    let spark = Spark::new(&|_| source.canonicalize().unwrap());
    let start = Instant::now();
    spark.build();
    let alone = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let summary = spark.finish(spark.start("spark"));
    let together = start.elapsed().as_secs_f64();
    println!(
        "evals-tcec: build --plan {alone:.1} s, Spark with two workers {together:.1} s: {:.2} times",
        together / alone
    );
    println!("{summary}");
    spark.has_the_bytes_of_build();
    spark.fixture.verify("spark").succeeds();
}

/// Lists the processes whose command line contains all words.
fn processes(words: &[&str]) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |path: PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        words.iter().all(|word| line.contains(word))
    };
    let number = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
    entries
        .map(|entry| entry.path())
        .filter(|path| has(path.clone()))
        .filter_map(number)
        .collect()
}

#[test]
#[ignore = "takes minutes and PySpark"]
fn a_killed_worker_does_not_change_the_database() {
    // Enough records for a kill while parts are being encoded.
    let spark = Spark::new(&|fixture| {
        let lines = sample();
        let more = (1..40).flat_map(|n| {
            lines
                .lines()
                .map(move |line| line.replace("\"knodes\":", &format!("\"knodes\":{n}")))
        });
        fixture.file("dump.jsonl", more.collect::<Vec<_>>().join("\n"))
    });
    spark.build();
    let child = spark.start("spark");
    let out = spark.fixture.path("spark");
    // Kills an executor of this test as soon as a shard exists.
    let mine = text(&spark.fixture.path("home")).to_owned();
    let shards = || {
        fs::read_dir(&out)
            .is_ok_and(|mut dir| dir.any(|entry| text(&entry.unwrap().path()).ends_with(".silo")))
    };
    until("a shard exists", shards);
    let is_mine = |process: &&i32| {
        fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|cwd| cwd.starts_with(&mine))
    };
    let executors = processes(&["CoarseGrainedExecutorBackend"]);
    let executor = executors
        .iter()
        .find(is_mine)
        .expect("an executor of this test");
    assert!(
        Command::new("kill")
            .args(["-9", &executor.to_string()])
            .status()
            .unwrap()
            .success()
    );
    spark.finish(child);
    let log = fs::read_to_string(spark.fixture.path("spark.log")).unwrap();
    assert!(log.contains("Lost executor"), "{log}");
    spark.has_the_bytes_of_build();
}
