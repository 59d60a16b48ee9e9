//! Running other programs: every command is shown before it runs, and a failure says which one it was.

use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.ancestors().nth(2).map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Where cargo builds.
pub fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The profile that our programs are built with, if it was chosen, and its folder below `target`.
static PROFILE: OnceLock<(&str, &str)> = OnceLock::new();

/// Has our programs built as Rust's own tests are, from now on; what is measured is a release.
pub fn build_for_tests() {
    PROFILE.get_or_init(|| ("dev", "debug"));
}

fn profile() -> (&'static str, &'static str) {
    *PROFILE.get_or_init(|| ("release", "release"))
}

/// Builds the programs of these packages.
pub fn programs(packages: &[&str]) -> Result<()> {
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    call(cargo().args(["build", "--profile", profile().0]).args(packages))
}

/// A program that [`programs`] has built.
pub fn program(name: &str) -> PathBuf {
    target_dir().join(profile().1).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// The cargo that runs us, so that one toolchain does everything.
pub fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// npm, which is a script with another name on Windows.
pub fn npm() -> Command {
    command(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// A command that starts in the root of the repository.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Says what comes next.
pub fn say(what: impl AsRef<str>) {
    println!("==> {}", what.as_ref());
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a command, its output going to ours.
pub fn call(command: &mut Command) -> Result<()> {
    let text = shown(command);
    println!("    {text}");
    let status = command.status().with_context(|| format!("could not start `{text}`"))?;
    if !status.success() {
        bail!("`{text}` failed ({status})");
    }
    Ok(())
}

/// Runs a command in our place, so that signals reach it.
pub fn take_over(command: &mut Command) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let text = shown(command);
        println!("    {text}");
        Err(command.exec()).with_context(|| format!("could not start `{text}`"))
    }
    #[cfg(not(unix))]
    call(command)
}

/// Runs a command, passing its standard output on and showing every line of it to `see`. True if it succeeded.
pub fn watch(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    let text = shown(command);
    println!("    {text}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start `{text}`"))?;
    if let Some(output) = child.stdout.take() {
        let mut out = std::io::stdout().lock();
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            writeln!(out, "{line}")?;
            see(&line);
        }
    }
    Ok(child.wait()?.success())
}

/// The trimmed standard output of a command, or nothing if it cannot be had.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The first of these programs that `PATH` knows.
pub fn which<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let directories: Vec<PathBuf> = env::split_paths(&path).collect();
    names.into_iter().find_map(|name| {
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        directories.iter().map(|directory| directory.join(&file)).find(|path| path.is_file())
    })
}

/// A path as seen from the root of the repository.
pub fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
