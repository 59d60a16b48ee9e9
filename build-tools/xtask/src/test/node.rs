//! Tests in Node, and in browsers that Node controls.

use std::process::Command;

use anyhow::Result;

use super::Args;
use crate::{
    shell::{program, root},
    tally::{Tally, counted, node_counts},
};

/// Minutes after which a file of tests is stopped and fails, so that a test without an end does not stop the whole run. The slowest
/// file takes three minutes.
const FILE_LIMIT: u64 = 15;
/// The same limit with `--all` or `--only`, whose tests may be long.
const LONG_FILE_LIMIT: u64 = 240;

/// Runs the `*.test.mjs` files of a directory by Node's own test runner.
pub(super) fn node_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    let entries = std::fs::read_dir(root().join(directory))?.flatten();
    let mut files: Vec<String> = entries
        .map(|entry| entry.path().display().to_string())
        .collect();
    files.retain(|path| path.ends_with(".test.mjs"));
    files.sort();
    // One file more than cores: browsers and slow networks leave a core idle now and then.
    let files_at_a_time = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    node.args([
        "--test",
        "--test-reporter=spec",
        &format!("--test-concurrency={files_at_a_time}"),
    ]);
    let limit = if args.all || !args.only.is_empty() {
        LONG_FILE_LIMIT
    } else {
        FILE_LIMIT
    };
    node.arg(format!("--test-timeout={}", limit * 60_000));
    node.args(
        args.filter
            .iter()
            .map(|filter| format!("--test-name-pattern={filter}")),
    )
    .args(files);
    // Databases and folders that several files read are built once.
    let fixtures = tempfile::tempdir()?;
    node.env("SHELFISH_FIXTURES", fixtures.path());
    node.env("SHELFISH", program("shelfish"))
        .env("SHELFISH_ATTACK", program("attack"));
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    counted(node, node_counts)
}
