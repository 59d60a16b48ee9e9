//! Checks of the files that GitHub and systemd run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    shell::{call, command, output, root, which},
    tally::{Tally, check},
    tools,
};

const FOLDER: &str = ".github/workflows";
const CONTAINERFILE: &str = "deploy/Containerfile";

/// Checks the workflows by their schema and for security holes, and lints the Containerfile.
pub fn lint() -> Result<Tally> {
    tools::npm_ci("tests")?;
    let validator = "tests/node_modules/@action-validator/cli/cli.mjs";
    let mut files: Vec<PathBuf> = fs::read_dir(root().join(FOLDER))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    for file in &files {
        call(command(tools::node()?).arg(validator).arg(file))?;
    }
    let mut tally = Tally::passed(files.len());
    tally += match tools::python("workflows") {
        Ok(bin) => {
            call(command(bin.join("zizmor")).args([
                "--offline",
                "--persona",
                "pedantic",
                "--quiet",
                FOLDER,
            ]))?;
            // Without DL3008, which asks for versions of Debian's packages: the newest packages have the latest fixes.
            check(command(bin.join("hadolint")).args(["--ignore", "DL3008", CONTAINERFILE]))?
        }
        Err(error) => Tally::skipped(format!("by zizmor and hadolint: {error:#}")),
    };
    Ok(tally)
}

/// Checks the units of systemd, if systemd is installed.
pub fn units() -> Result<Tally> {
    let Some(analyze) = which(["systemd-analyze"]) else {
        return Ok(Tally::skipped("by systemd-analyze, which is not installed"));
    };
    let folder = tempfile::tempdir()?;
    for name in ["shelfish-refresh.service", "shelfish-refresh.timer"] {
        let unit = fs::read_to_string(root().join("deploy").join(name))
            .with_context(|| name.to_owned())?;
        // systemd-analyze demands that the program exists.
        fs::write(
            folder.path().join(name),
            unit.replace("/usr/local/bin/shelfish", "/bin/true"),
        )?;
    }
    let units =
        ["shelfish-refresh.service", "shelfish-refresh.timer"].map(|name| folder.path().join(name));
    check(Command::new(analyze).arg("verify").args(units))
}

/// Runs `deploy/remember.sh`, which commits the state of a refresh, in a temporary repository.
pub fn remember() -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let (there, here) = (folder.path().join("there"), folder.path().join("here"));
    let git = |at: &Path, args: &[&str]| {
        let quiet = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        call(Command::new("git").args(quiet).args(args).current_dir(at))
    };
    git(folder.path(), &["init", "--quiet", "--bare", "there"])?;
    git(folder.path(), &["clone", "--quiet", "there", "here"])?;
    git(
        &here,
        &["commit", "--quiet", "--allow-empty", "--message", "Begin"],
    )?;
    git(&here, &["push", "--quiet", "origin", "HEAD"])?;
    let commits = || {
        output(
            Command::new("git")
                .args(["log", "--all", "--format=%s"])
                .current_dir(&there),
        )
    };
    for (integrity, expected) in [
        ("sha256-a", "Published sha256-a\nBegin"),
        ("sha256-a", "Published sha256-a\nBegin"),
    ] {
        fs::write(
            here.join("refresh.json"),
            format!("{{\n  \"integrity\": \"{integrity}\"\n}}\n"),
        )?;
        let mut script = Command::new("sh");
        call(
            script
                .arg(root().join("deploy/remember.sh"))
                .arg("refresh.json")
                .current_dir(&here)
                .env_remove("GH_TOKEN"),
        )?;
        ensure!(
            commits().as_deref() == Some(expected),
            "expected the commits {expected:?}, found {:?}",
            commits()
        );
    }
    Ok(Tally::passed(1))
}
