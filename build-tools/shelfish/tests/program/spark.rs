//! `build-tools/spark/build.py` on PySpark with several local workers, compared with `shelfish build --plan`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::common::{Fixture, data, shelfish};
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
