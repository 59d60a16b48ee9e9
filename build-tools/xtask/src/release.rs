//! `cargo xtask release`: checks versions, prints notes, builds archives of the program and writes their checksums. The workflow
//! "Release" runs these commands.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::shell::{call, cargo, command, root, say, target_dir};

/// Commands of `cargo xtask release`.
#[derive(clap::Subcommand)]
pub enum Args {
    /// Check that the crates, the npm package and the changelog have one version
    Check {
        /// Tag, such as v1.2.3
        tag: String,
    },
    /// Print the section of a version in the changelog
    Notes {
        /// Tag, such as v1.2.3
        tag: String,
    },
    /// Build the program for a target, pack it with its licence, and print the path of the archive
    Archive {
        /// Target, such as x86_64-unknown-linux-musl
        target: String,
        /// Folder of the archive
        #[arg(long, default_value = "target/release-archives", value_name = "DIR")]
        out: PathBuf,
        /// Profile of the build
        #[arg(long, default_value = "release", value_name = "PROFILE")]
        profile: String,
    },
    /// Write sha256sums.txt next to the archives of a folder
    Sums {
        /// Folder of the archives
        #[arg(default_value = "target/release-archives", value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Crates to publish, each after its dependencies.
const CRATES: [&str; 6] =
    ["shelfish", "shelfish-analysis", "shelfish-endgames", "shelfish-engine", "shelfish-uci", "shelfish-cli"];

/// Runs a command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Check { tag } => check(tag, &changelog()?, &version()?, &npm_version()?),
        Args::Notes { tag } => {
            print!("{}", notes(&changelog()?, number(tag)?)?);
            Ok(())
        }
        Args::Archive { target, out, profile } => {
            println!("{}", archive(target, &root().join(out), profile)?.display());
            Ok(())
        }
        Args::Sums { dir } => sums(&root().join(dir)),
    }
}

fn changelog() -> Result<String> {
    fs::read_to_string(root().join("CHANGELOG.md")).context("CHANGELOG.md")
}

/// Returns the version of the workspace.
pub fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).context("Cargo.toml")?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    line.map(str::to_owned).context("Cargo.toml has no line `version = \"…\"`")
}

/// Returns the version of the npm package.
fn npm_version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("crate/wasm/evaluations/Cargo.toml"))
        .context("crate/wasm/evaluations/Cargo.toml")?;
    // The package has the version of its crate.
    ensure!(
        manifest.contains("version.workspace = true"),
        "crate/wasm/evaluations/Cargo.toml: expected `version.workspace = true`"
    );
    version()
}

/// Returns the version of a tag.
fn number(tag: &str) -> Result<&str> {
    tag.strip_prefix('v').with_context(|| format!("found the tag {tag:?}, expected a tag such as v1.2.3"))
}

fn check(tag: &str, changelog: &str, crates: &str, package: &str) -> Result<()> {
    let wanted = number(tag)?;
    for (what, found) in [("Cargo.toml", crates), ("the npm package", package)] {
        ensure!(found == wanted, "{what} has version {found}, the tag is {tag}: change one of them");
    }
    notes(changelog, wanted)?;
    say(format!("{tag}: crates {}, the npm package and CHANGELOG.md agree", CRATES.join(", ")));
    Ok(())
}

/// Returns the section of a version, without its heading.
fn notes(changelog: &str, version: &str) -> Result<String> {
    let heading = format!("## [{version}]");
    let mut lines = changelog.lines().skip_while(|line| !line.starts_with(&heading)).skip(1).peekable();
    if lines.peek().is_none() {
        bail!("CHANGELOG.md has no section `{heading} - DATE`: rename `## [Unreleased]`");
    }
    let section: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let section = section.join("\n").trim().to_owned();
    ensure!(!section.is_empty(), "CHANGELOG.md has no text below `{heading}`");
    Ok(section + "\n")
}

fn archive(target: &str, out: &Path, profile: &str) -> Result<PathBuf> {
    let build = ["build", "--locked", "--profile", profile, "--package", "shelfish-cli", "--target", target];
    call(cargo().args(build))?;
    let program = if target.contains("windows") { "shelfish.exe" } else { "shelfish" };
    let program = target_dir().join(target).join(profile).join(program);
    let name = format!("shelfish-{}-{target}", version()?);
    let folder = out.join(&name);
    fs::create_dir_all(&folder)?;
    let files = ["LICENSE", "README.md", "CHANGELOG.md"].map(|file| root().join(file));
    for file in files.iter().chain([&program]) {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, to).with_context(|| file.display().to_string())?;
    }
    let archive = format!("{name}.{}", if target.contains("windows") { "zip" } else { "tar.gz" });
    // On Windows, tar also writes zip files.
    let how = if target.contains("windows") { "-acf" } else { "-czf" };
    call(Command::new("tar").args([how, &archive, &name]).current_dir(out))?;
    fs::remove_dir_all(&folder)?;
    Ok(out.join(archive))
}

/// Returns the SHA-256 of bytes, as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sums(dir: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name.starts_with("shelfish-") {
            lines.push(format!("{}  {name}\n", sha256(&fs::read(&path)?)));
        }
    }
    ensure!(!lines.is_empty(), "{} has no archives of shelfish", dir.display());
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    Ok(fs::write(dir.join("sha256sums.txt"), lines.concat())?)
}

/// Packs the program, unpacks the archive and runs the unpacked program.
pub fn try_out() -> Result<()> {
    let target = crate::shell::output(command("rustc").arg("--print").arg("host-tuple"))
        .context("`rustc --print host-tuple` failed")?;
    let out = target_dir().join("release-tried");
    let archive = archive(&target, &out, "release")?;
    sums(&out)?;
    call(Command::new("tar").arg("-xf").arg(&archive).current_dir(&out))?;
    let folder = out.join(format!("shelfish-{}-{target}", version()?));
    let found = crate::shell::output(Command::new(folder.join("shelfish")).arg("--version"));
    ensure!(found == Some(format!("shelfish {}", version()?)), "the packed program prints the version {found:?}");
    fs::remove_dir_all(&out)?;
    Ok(())
}

/// Checks that the current version could be released.
pub fn check_now() -> Result<()> {
    let version = version()?;
    let changelog = changelog()?.replacen("## [Unreleased]", &format!("## [{version}] - 2026-01-01"), 1);
    check(&format!("v{version}"), &changelog, &version, &npm_version()?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str =
        "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n### Added\n\n- All.\n\n## [1.2.2]\n\nx\n";

    #[test]
    fn notes_are_the_section_of_the_version() -> Result<()> {
        assert_eq!(notes(CHANGELOG, "1.2.3")?, "### Added\n\n- All.\n");
        assert_eq!(notes(CHANGELOG, "1.2.2")?, "x\n");
        for (version, words) in [("1.2.4", "has no section"), ("Unreleased", "has no text")] {
            let error = notes(CHANGELOG, version).map_err(|error| error.to_string());
            assert!(error.is_err_and(|error| error.contains(words)), "{version}");
        }
        Ok(())
    }

    #[test]
    fn a_tag_of_another_version_is_refused() {
        assert!(check("v1.2.3", CHANGELOG, "1.2.3", "1.2.3").is_ok());
        for (tag, crates, package, words) in [
            ("1.2.3", "1.2.3", "1.2.3", "such as v1.2.3"),
            ("v1.2.3", "1.2.2", "1.2.3", "Cargo.toml has version 1.2.2"),
            ("v1.2.3", "1.2.3", "1.2.2", "npm package has version 1.2.2"),
            ("v1.3.0", "1.3.0", "1.3.0", "no section"),
        ] {
            let error = check(tag, CHANGELOG, crates, package).map_err(|error| error.to_string());
            assert!(error.is_err_and(|error| error.contains(words)), "{tag}");
        }
    }
}
