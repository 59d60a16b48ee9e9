//! Finds or installs the tools that the tasks need in addition to rustup and Node.
//!
//! Programs are installed in `target/tools`. Outside of the repository only two things change: parts of the Rust toolchain
//! (`rustup target add`, `rustup component add`), and on Debian the packages of browsers and of programs for tests.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{
    shell::{call, cargo, command, npm, output, relative, root, say, target_dir, which},
    stamp,
};

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const WASM_PACK: &str = "0.15.1";
const GECKODRIVER: &str = "0.37.1";
const NODE: u32 = 20;

/// Installs the Rust target of browsers.
pub fn wasm_target() -> Result<()> {
    let rustc = ["--print", "target-libdir", "--target", WASM_TARGET];
    if output(command("rustc").args(rustc)).is_some_and(|path| Path::new(&path).is_dir()) {
        return Ok(());
    }
    rustup(&["target", "add", WASM_TARGET])
}

/// Adds a part of the Rust toolchain.
fn rustup(words: &[&str]) -> Result<()> {
    say(format!("Installing {}", words.join(" ")));
    call(command("rustup").args(words))
        .context("a part of the Rust toolchain is missing; rustup (https://rustup.rs) installs it")
}

/// Installs rustfmt and clippy, which a minimal toolchain lacks.
pub fn components() -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if output(cargo().args([subcommand, "--version"])).is_none() {
            rustup(&["component", "add", component])?;
        }
    }
    Ok(())
}

/// Installs wasm-pack and the wasm-bindgen of Cargo.lock. wasm-pack needs [`path`] as its `PATH`.
pub fn wasm_pack() -> Result<PathBuf> {
    wasm_target()?;
    // Without the TLS of its runner of tests.
    let bindgen = locked_version("wasm-bindgen")?;
    installed(
        "wasm-bindgen-cli",
        "wasm-bindgen",
        &bindgen,
        &["--no-default-features"],
    )?;
    installed("wasm-pack", "wasm-pack", WASM_PACK, &[])
}

/// Returns `PATH` with `target/tools/bin` first.
pub fn path() -> OsString {
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(tools().join("bin")).chain(env::split_paths(&others)))
        .unwrap_or(others)
}

/// Returns the path of Node. Checks its version.
pub fn node() -> Result<PathBuf> {
    let advice = format!("Node {NODE} or newer is needed: https://nodejs.org");
    let node = which(["node"]).ok_or_else(|| anyhow!("node was not found. {advice}"))?;
    let version = output(command(&node).arg("--version")).unwrap_or_default();
    let major = version
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= NODE => Ok(node),
        _ => bail!("{} has version {version:?}. {advice}", node.display()),
    }
}

/// Locked while packages are installed, so that two threads do not install the same package.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Starts to install the packages of npm of these folders in the background. The step that needs a package tries again after a
/// failure, and reports it.
pub fn install_ahead(folders: &[&'static str]) {
    let folders = folders.to_vec();
    thread::spawn(move || {
        for error in folders.into_iter().map(npm_ci).filter_map(Result::err) {
            say(format!("will try again later: {error:#}"));
        }
    });
}

/// Installs the packages of a `package-lock.json` whenever that file has changed.
pub fn npm_ci(directory: &str) -> Result<()> {
    node()?;
    let _alone = INSTALLING.lock();
    let directory = root().join(directory);
    let lock = directory.join("package-lock.json");
    stamp::make(&directory.join("node_modules"), &[lock], || {
        say(format!(
            "Installing the npm packages of {}",
            relative(&directory)
        ));
        call(
            npm()
                .args(["ci", "--no-audit", "--no-fund"])
                .current_dir(&directory),
        )
    })
}

/// Prints a remark if a tool of some tests cannot be installed.
pub fn remark<T>(installed: Result<T>) -> Option<T> {
    installed
        .inspect_err(|error| say(format!("NOT TESTED completely: {error:#}")))
        .ok()
}

/// Installs servers with the protocols of S3 and Google, and programs that change the clock of a process and kill it before a system
/// call.
pub fn for_rust_tests() {
    remark(python("stores"));
    remark(debian(&[
        ("faketime", &["faketime"]),
        ("strace", &["strace"]),
    ]));
}

/// Installs Firefox and WebKit with their WebDrivers.
pub fn engines() {
    remark(debian(&[
        ("firefox-esr", &["firefox-esr", "firefox"]),
        ("webkit2gtk-driver", &["WebKitWebDriver"]),
        ("xvfb", &["Xvfb"]),
    ]));
    // Its version need not be exact. To compile it takes minutes.
    if which(["firefox-esr", "firefox"]).is_some() && which(["geckodriver"]).is_none() {
        remark(installed("geckodriver", "geckodriver", GECKODRIVER, &[]).map(drop));
    }
}

/// Installs the Python packages of `tests/NAME/requirements.txt`. Returns the folder of their programs.
pub fn python(name: &str) -> Result<PathBuf> {
    let _alone = INSTALLING.lock();
    let (home, wanted) = (
        tools().join(name),
        root().join("tests").join(name).join("requirements.txt"),
    );
    let bin = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    stamp::make(&bin, std::slice::from_ref(&wanted), || {
        say(format!(
            "Installing the Python packages of {}",
            relative(&wanted)
        ));
        let python = which(["python3", "python"]).context("Python was not found")?;
        call(command(python).args(["-m", "venv"]).arg(&home)).context(
            "Python cannot create a virtual environment; on Debian, install python3-venv",
        )?;
        call(
            command(bin.join("python"))
                .args(["-m", "pip", "install", "--quiet", "--requirement"])
                .arg(&wanted),
        )
    })?;
    Ok(bin)
}

/// Returns the path of a Chromium or Chrome.
pub fn chromium() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM").map(PathBuf::from) {
        return if path.is_file() {
            Ok(path)
        } else {
            bail!("CHROMIUM names {}, which is not a file", path.display())
        };
    }
    const NAMES: [&str; 5] = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ];
    let applications = [
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ];
    let application = applications
        .iter()
        .map(PathBuf::from)
        .find(|path| path.is_file());
    let advice = "install Chromium (https://www.chromium.org) or name one in CHROMIUM";
    match application {
        Some(path) => Ok(path),
        None => {
            debian(&[("chromium", &NAMES)]).context(advice)?;
            which(NAMES).context(advice)
        }
    }
}

/// Installs the Debian packages of which no program is there.
fn debian(packages: &[(&str, &[&str])]) -> Result<()> {
    let missing: Vec<&str> = packages
        .iter()
        .filter(|(_, programs)| which(programs.iter().copied()).is_none())
        .map(|(package, _)| *package)
        .collect();
    let names = missing.join(", ");
    if missing.is_empty() {
        return Ok(());
    }
    if which(["apt-get"]).is_none() {
        bail!("{names} not found");
    }
    let sudo: &[&str] = match which(["sudo"]) {
        Some(_) => &["sudo", "-n"],
        None => &[],
    };
    say(format!("Installing the Debian packages {names}"));
    let apt_get = |arguments: &[&str]| {
        let words: Vec<&str> = [sudo, &["apt-get", "-q"], arguments].concat();
        call(
            command(words[0])
                .args(&words[1..])
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )
    };
    let install = [&["install", "-y", "--no-install-recommends"], &missing[..]].concat();
    // The lists of packages may be missing or old: fetch them if the first attempt fails.
    apt_get(&install).or_else(|_| apt_get(&["update"]).and_then(|()| apt_get(&install)))
}

fn tools() -> PathBuf {
    target_dir().join("tools")
}

/// Returns a program of exactly this version, from `target/tools` or `PATH`. Installs it if neither has it.
fn installed(package: &str, program: &str, version: &str, options: &[&str]) -> Result<PathBuf> {
    let ours = tools()
        .join("bin")
        .join(format!("{program}{}", env::consts::EXE_SUFFIX));
    let right = |path: &PathBuf| {
        let printed = output(command(path).arg("--version")).unwrap_or_default();
        printed.split_whitespace().any(|word| word == version)
    };
    if let Some(path) = std::iter::once(ours.clone())
        .chain(which([program]))
        .find(right)
    {
        return Ok(path);
    }
    say(format!(
        "Installing {package} {version} under {} (once, a minute or two)",
        relative(&tools())
    ));
    let install = |lock: &[&str]| {
        call(
            cargo()
                .args(["install", package, "--version", &format!("={version}")])
                .args(["--force", "--debug", "--quiet"])
                .args(options)
                .args(lock)
                // The package of wasm-bindgen has other programs, too.
                .args(["--bin", program])
                .arg("--root")
                .arg(tools())
                .arg("--target-dir")
                .arg(tools().join("build"))
                // Compiles fast: without optimisation and debug information.
                .env("CARGO_PROFILE_DEV_DEBUG", "0")
                .env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false")
                .env("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false")
                .env("CARGO_INCREMENTAL", "0")
                .env_remove("RUSTFLAGS"),
        )
    };
    // A registry may lack a version that the package has locked: a mirror shows new versions late.
    install(&["--locked"])
        .or_else(|_| install(&[]))
        .with_context(|| format!("{package} {version} could not be installed"))?;
    Ok(ours)
}

/// Returns the version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String> {
    let lock =
        fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock could not be read")?;
    let entry = format!("name = \"{package}\"\nversion = \"");
    let version = lock
        .split_once(&entry)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(version, _)| version.to_owned());
    version.ok_or_else(|| anyhow!("Cargo.lock has no package {package}"))
}
