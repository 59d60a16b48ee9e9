//! `cargo xtask bench-parts`: a build in parts, by several processes and by Spark, against a build in one process.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};

use super::process;
use crate::{
    shell::{call, command, output, program, programs, root, say, target_dir},
    tools,
};

/// Options of `cargo xtask bench-parts`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench-parts --evals dump.jsonl.zst
  cargo xtask bench-parts --evals dump.jsonl.zst --parts 2,8,64 --workers 2

The files of all builds are compared. A worker has one thread. The measurement without Spark uses `shelfish partition`, `sort` and
`shelfish encode`; all workers partition first, then encode the parts.")]
pub struct Args {
    /// Evaluation dump
    #[arg(long, value_name = "FILE", default_value = super::EVALS)]
    evals: PathBuf,
    /// Numbers of parts
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [2, 8, 64])]
    parts: Vec<usize>,
    /// Number of workers
    #[arg(long, value_name = "N", default_value_t = 2)]
    workers: usize,
    /// Approximate size of a file of the database
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    shard_size: String,
}

/// Seconds and memory of a build.
struct Build {
    seconds: f64,
    /// Largest memory of a process of the program, in bytes.
    memory: u64,
}

/// Measures, and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    programs(&["shelfish-cli"])?;
    let python = tools::python("spark")?.join("python");
    let evals = root()
        .join(&args.evals)
        .canonicalize()
        .with_context(|| args.evals.display().to_string())?;
    let dir = target_dir().join("bench/parts");
    let mut rows = Vec::new();
    for &parts in &args.parts {
        let folder = dir.join(parts.to_string());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let plan = folder.join("plan.json");
        let mut make = command(program("shelfish"));
        make.args([
            "plan",
            "--quiet",
            "--parts",
            &parts.to_string(),
            "--shard-size",
            &args.shard_size,
            "-o",
        ]);
        call(make.arg(&plan).arg(&evals))?;

        say(format!("{parts} parts: one process"));
        let mut alone = command(program("shelfish"));
        alone
            .args(["build", "--quiet", "--json", "--plan"])
            .arg(&plan)
            .arg(&evals)
            .arg("-o")
            .arg(folder.join("alone"));
        let alone = process::measure(&mut alone, &folder)?;
        let alone = Build {
            seconds: alone.seconds,
            memory: alone.usage.memory_bytes,
        };
        say(format!("{parts} parts: {} processes", args.workers));
        let processes = in_processes(&folder, &plan, &evals, parts, args.workers)?;
        same(&folder, "alone", "processes")?;
        say(format!(
            "{parts} parts: Spark with {} workers",
            args.workers
        ));
        let (spark, executor) = by_spark(&folder, &plan, &evals, args.workers, &python)?;
        same(&folder, "alone", "spark")?;
        let mb = |bytes: u64| bytes as f64 / 1e6;
        rows.push(format!(
            "| {parts} | {:.0} s, {:.0} MB | {:.0} s ({:.2} times), {:.0} MB | {:.0} s ({:.2} times), {:.0} MB | {:.0} MB |",
            alone.seconds,
            mb(alone.memory),
            processes.seconds,
            processes.seconds / alone.seconds,
            mb(processes.memory),
            spark.seconds,
            spark.seconds / alone.seconds,
            mb(spark.memory),
            mb(executor),
        ));
        fs::remove_dir_all(&folder)?;
    }
    println!(
        "\n| parts | `build --plan` | {0} processes | Spark, {0} workers | executor of Spark |\n|---:|---:|---:|---:|---:|",
        args.workers
    );
    rows.iter().for_each(|row| println!("{row}"));
    Ok(())
}

/// Builds with `shelfish partition`, `sort` and `shelfish encode`.
fn in_processes(
    folder: &Path,
    plan: &Path,
    evals: &Path,
    parts: usize,
    workers: usize,
) -> Result<Build> {
    let (started, memory) = (Instant::now(), AtomicU64::new(0));
    let pipe = |mut first: Command, mut second: Command| -> Result<()> {
        let mut first = first.stdout(Stdio::piped()).spawn()?;
        let out = first.stdout.take().context("no output")?;
        let mut second = second.stdin(out).spawn()?;
        loop {
            for id in [first.id(), second.id()] {
                memory.fetch_max(
                    process::Usage::of(id).unwrap_or_default().memory_bytes,
                    Relaxed,
                );
            }
            match second.try_wait()? {
                Some(status) => {
                    ensure!(
                        status.success() && first.wait()?.success(),
                        "a process failed"
                    );
                    return Ok(());
                }
                None => thread::sleep(Duration::from_millis(50)),
            }
        }
    };
    let shelfish = |args: &[&str]| {
        let mut shelfish = command(program("shelfish"));
        shelfish.args(args).args(["--quiet", "--plan"]).arg(plan);
        shelfish
    };
    let sorted = |n: usize| folder.join(format!("sorted-{n}"));
    in_parallel(workers, workers, |n| {
        let mut partition = shelfish(&[
            "partition",
            "--threads",
            "1",
            "--share",
            &format!("{n}/{workers}"),
        ]);
        partition.arg(evals);
        let mut sort = command("sort");
        sort.env("LC_ALL", "C").arg("-o").arg(sorted(n));
        pipe(partition, sort)
    })?;
    in_parallel(workers, parts, |part| {
        // Each part takes its lines from the sorted files, which are merged.
        let mut lines = command("sh");
        let merged =
            "prefix=$1; shift; LC_ALL=C sort -m \"$@\" | LC_ALL=C grep \"^$prefix\" || test $? = 1";
        lines
            .args(["-c", merged, "sh", &format!("{part:05}\t")])
            .args((0..workers).map(sorted));
        let mut encode = shelfish(&["encode", "--threads", "1", "--part", &part.to_string()]);
        encode
            .arg("-o")
            .arg(folder.join("processes"))
            .stdout(Stdio::null());
        pipe(lines, encode)
    })?;
    call(
        shelfish(&["seal"])
            .arg(folder.join("processes"))
            .stdout(Stdio::null()),
    )?;
    Ok(Build {
        seconds: started.elapsed().as_secs_f64(),
        memory: memory.into_inner(),
    })
}

/// Runs tasks in at most `workers` threads.
fn in_parallel(
    workers: usize,
    tasks: usize,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let run = || {
            loop {
                match next.fetch_add(1, Relaxed) {
                    task if task < tasks => work(task)?,
                    _ => return Ok(()),
                }
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(run)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker ended early"))?)
    })
}

/// Builds with Spark. Also returns the memory of an executor, in bytes.
fn by_spark(
    folder: &Path,
    plan: &Path,
    evals: &Path,
    workers: usize,
    python: &Path,
) -> Result<(Build, u64)> {
    let home = output(command(python).args([
        "-c",
        "import pyspark, os; print(os.path.dirname(pyspark.__file__))",
    ]));
    let home = PathBuf::from(home.context("PySpark is missing")?);
    let mut spark = command(python);
    spark
        .arg(root().join("build-tools/spark/build.py"))
        .args([
            "--master",
            &format!("local-cluster[{workers},1,1536]"),
            "--json",
            "--shares",
            &workers.to_string(),
        ])
        .arg("--shelfish")
        .arg(program("shelfish"))
        .arg("--plan")
        .arg(plan)
        .arg("--out")
        .arg(folder.join("spark"))
        .arg(evals)
        .env("PYSPARK_PYTHON", python)
        .env("SPARK_HOME", home)
        .env("SPARK_WORKER_DIR", folder.join("work"))
        .env("SPARK_LOCAL_DIRS", folder.join("local"))
        .env("SPARK_LOCAL_IP", "127.0.0.1")
        .env("SPARK_LOCAL_HOSTNAME", "localhost")
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("spark.log"))?);
    let (started, mut child) = (Instant::now(), spark.spawn()?);
    let (mut memory, mut executor) = (0, 0);
    let status = loop {
        memory = memory.max(process::memory_of("encode\0--plan"));
        executor = executor.max(process::memory_of("CoarseGrainedExecutorBackend"));
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(200)),
        }
    };
    ensure!(
        status.success(),
        "Spark failed; see {}",
        folder.join("spark.log").display()
    );
    Ok((
        Build {
            seconds: started.elapsed().as_secs_f64(),
            memory,
        },
        executor,
    ))
}

/// Checks that two databases have the same files, except the fragments of parts.
fn same(folder: &Path, a: &str, b: &str) -> Result<()> {
    let files = |name: &str| -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder.join(name))? {
            let path = entry?.path();
            if path.is_file() {
                files.insert(
                    path.file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                    fs::read(path)?,
                );
            }
        }
        Ok(files)
    };
    ensure!(files(a)? == files(b)?, "the databases {a} and {b} differ");
    Ok(())
}
