//! Tests in Node, and in browsers that Node controls.

use std::process::Command;

use anyhow::Result;

use super::{
    Args,
    tally::{Tally, counted, node_counts},
};
use crate::shell::{program, root};

/// Runs the `*.test.mjs` files of a directory by Node's own test runner.
pub(super) fn node_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    let entries = std::fs::read_dir(root().join(directory))?.flatten();
    let mut files: Vec<String> = entries.map(|entry| entry.path().display().to_string()).collect();
    files.retain(|path| path.ends_with(".test.mjs"));
    files.sort();
    // Two files at a time: the tests of slow networks mostly wait.
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=2"]);
    node.args(args.filter.iter().map(|filter| format!("--test-name-pattern={filter}"))).args(files);
    // Databases and folders that several files read are built once.
    let fixtures = tempfile::tempdir()?;
    node.env("SHELFISH_FIXTURES", fixtures.path());
    node.env("SHELFISH", program("shelfish")).env("SHELFISH_ATTACK", program("attack"));
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    counted(node, node_counts)
}
