//! Runs other programs. Prints every command before it runs and names it if it fails.

use std::{
    env,
    ffi::OsStr,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, OnceLock},
    time::Instant,
};

use anyhow::{Context, Result, bail};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.ancestors()
        .nth(2)
        .map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Returns the folder in which cargo builds.
pub fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The chosen profile of this repository's programs, and its folder in `target`.
static PROFILE: OnceLock<(&str, &str)> = OnceLock::new();

/// Makes [`programs`] build with the profile of Rust's tests. Benchmarks do not call this function: they measure releases.
pub fn build_for_tests() {
    PROFILE.get_or_init(|| ("dev", "debug"));
}

fn profile() -> (&'static str, &'static str) {
    *PROFILE.get_or_init(|| ("release", "release"))
}

/// Builds the programs of these packages.
pub fn programs(packages: &[&str]) -> Result<()> {
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    call(
        cargo()
            .args(["build", "--profile", profile().0])
            .args(packages),
    )
}

/// Returns the path of a program that [`programs`] has built.
pub fn program(name: &str) -> PathBuf {
    target_dir()
        .join(profile().1)
        .join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// Returns the cargo that runs this program, so that all commands use one toolchain.
pub fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns npm, a script whose name differs on Windows.
pub fn npm() -> Command {
    command(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Returns a command that starts in the root of the repository.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Prints a line about the progress, with the minutes and seconds since the start.
pub fn say(line: impl AsRef<str>) {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let seconds = START.elapsed().as_secs();
    println!("==> {}:{:02} {}", seconds / 60, seconds % 60, line.as_ref());
}

/// Prints the command as a person would type it, and returns it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words: Vec<_> = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    let text = words.join(" ");
    println!("    {text}");
    text
}

/// Runs a command and passes its output on.
pub fn call(command: &mut Command) -> Result<()> {
    let text = shown(command);
    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("could not start `{text}`"))?;
    if !status.success() {
        bail!("`{text}` failed ({status})");
    }
    if start.elapsed().as_secs() > 0 {
        println!("    {} s: {text}", start.elapsed().as_secs());
    }
    Ok(())
}

/// Runs tests and passes their output on, both streams in one. The error has the names of failed tests. Prints at the end what was
/// not tested.
pub fn run_tests(command: &mut Command) -> Result<()> {
    // Colours would be part of the lines.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let text = shown(command);
    let (output, end) = io::pipe()?;
    let spawned = command.stdout(end.try_clone()?).stderr(end).spawn();
    // The command keeps its ends of the pipe: without closed ends, the output would have no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned.with_context(|| format!("could not start `{text}`"))?;
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(io::stdout(), "{line}")?;
        let is_failed =
            line.starts_with("✖ ") || line.ends_with(" FAILED") || line.starts_with(" FAIL ");
        let list = match is_failed {
            true => &mut failed,
            false if line.contains("SKIPPED: ") || line.contains("NOT TESTED") => &mut skipped,
            false => continue,
        };
        let line = line.trim().to_owned();
        if !list.contains(&line) {
            list.push(line);
        }
    }
    let status = child.wait()?;
    skipped.iter().for_each(say);
    if !status.success() {
        bail!("`{text}` failed ({status})\n{}", failed.join("\n"));
    }
    Ok(())
}

/// Replaces this process by a command, so that the command receives signals.
pub fn take_over(command: &mut Command) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let text = shown(command);
        Err(command.exec()).with_context(|| format!("could not start `{text}`"))
    }
    #[cfg(not(unix))]
    call(command)
}

/// Returns the trimmed standard output of a command. `None` if the command fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the path of the first of these programs that is in a folder of `PATH`.
pub fn which<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    names.into_iter().find_map(|name| {
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        env::split_paths(&path)
            .map(|directory| directory.join(&file))
            .find(|path| path.is_file())
    })
}

/// Returns a path relative to the root of the repository.
pub fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
