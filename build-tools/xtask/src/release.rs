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
    /// Make the npm package that contains the program of a target, from the archive of the target
    Platform {
        /// Target, such as x86_64-unknown-linux-musl
        target: String,
        /// Folder of the archives
        #[arg(long, default_value = "target/release-archives", value_name = "DIR")]
        archives: PathBuf,
        /// Folder of the packages
        #[arg(long, default_value = "target/release-platforms", value_name = "DIR")]
        out: PathBuf,
    },
    /// Make the packages of the platforms optional dependencies of the npm package in crate/pkg
    Depend,
    /// Write sha256sums.txt next to the archives of a folder
    Sums {
        /// Folder of the archives
        #[arg(default_value = "target/release-archives", value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Crates to publish, each after its dependencies.
const CRATES: [&str; 5] = [
    "shelfish",
    "shelfish-analysis",
    "shelfish-endgames",
    "shelfish-engine",
    "shelfish-cli",
];

/// Runs a command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Check { tag } => check(tag, &changelog()?, &version()?, &npm_version()?),
        Args::Notes { tag } => {
            print!("{}", notes(&changelog()?, number(tag)?)?);
            Ok(())
        }
        Args::Archive {
            target,
            out,
            profile,
        } => {
            println!("{}", archive(target, &root().join(out), profile)?.display());
            Ok(())
        }
        Args::Platform {
            target,
            archives,
            out,
        } => {
            let (archive, _) = archive_names(target)?;
            let archive = root().join(archives).join(archive);
            println!(
                "{}",
                platform(target, &archive, &root().join(out))?.display()
            );
            Ok(())
        }
        Args::Depend => depend(&root().join("crate/pkg/package.json")),
        Args::Sums { dir } => sums(&root().join(dir)),
    }
}

fn changelog() -> Result<String> {
    fs::read_to_string(root().join("CHANGELOG.md")).context("CHANGELOG.md")
}

/// Returns the version of the workspace.
pub fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).context("Cargo.toml")?;
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    line.map(str::to_owned)
        .context("Cargo.toml has no line `version = \"…\"`")
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
    tag.strip_prefix('v')
        .with_context(|| format!("found the tag {tag:?}, expected a tag such as v1.2.3"))
}

fn check(tag: &str, changelog: &str, crates: &str, package: &str) -> Result<()> {
    let wanted = number(tag)?;
    for (what, found) in [("Cargo.toml", crates), ("the npm package", package)] {
        ensure!(
            found == wanted,
            "{what} has version {found}, the tag is {tag}: change one of them"
        );
    }
    notes(changelog, wanted)?;
    say(format!(
        "{tag}: crates {}, the npm package and CHANGELOG.md agree",
        CRATES.join(", ")
    ));
    Ok(())
}

/// Returns the section of a version, without its heading.
fn notes(changelog: &str, version: &str) -> Result<String> {
    let heading = format!("## [{version}]");
    let mut lines = changelog
        .lines()
        .skip_while(|line| !line.starts_with(&heading))
        .skip(1)
        .peekable();
    if lines.peek().is_none() {
        bail!("CHANGELOG.md has no section `{heading} - DATE`: rename `## [Unreleased]`");
    }
    let section: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let section = section.join("\n").trim().to_owned();
    ensure!(
        !section.is_empty(),
        "CHANGELOG.md has no text below `{heading}`"
    );
    Ok(section + "\n")
}

fn archive(target: &str, out: &Path, profile: &str) -> Result<PathBuf> {
    let build = [
        "build",
        "--locked",
        "--profile",
        profile,
        "--package",
        "shelfish-cli",
        "--target",
        target,
    ];
    call(cargo().args(build))?;
    let program = target_dir()
        .join(target)
        .join(profile)
        .join(program_name(target));
    let (archive, name) = archive_names(target)?;
    let folder = out.join(&name);
    fs::create_dir_all(&folder)?;
    let files = ["LICENSE", "README.md", "CHANGELOG.md"].map(|file| root().join(file));
    for file in files.iter().chain([&program]) {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, to).with_context(|| file.display().to_string())?;
    }
    // On Windows, tar also writes zip files.
    let how = if target.contains("windows") {
        "-acf"
    } else {
        "-czf"
    };
    call(
        Command::new("tar")
            .args([how, &archive, &name])
            .current_dir(out),
    )?;
    fs::remove_dir_all(&folder)?;
    Ok(out.join(archive))
}

/// Returns the name of the program on a target.
fn program_name(target: &str) -> &'static str {
    if target.contains("windows") {
        "shelfish.exe"
    } else {
        "shelfish"
    }
}

/// Returns the name of the archive of a target, and of the folder in the archive.
fn archive_names(target: &str) -> Result<(String, String)> {
    let folder = format!("shelfish-{}-{target}", version()?);
    let ending = if target.contains("windows") {
        "zip"
    } else {
        "tar.gz"
    };
    Ok((format!("{folder}.{ending}"), folder))
}

/// Targets of a release, and the names that Node has for their system and processor. `crate/js/cli/cli.ts` joins the names.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("x86_64-unknown-linux-musl", "linux", "x64"),
    ("aarch64-unknown-linux-musl", "linux", "arm64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
    ("x86_64-apple-darwin", "darwin", "x64"),
    ("x86_64-pc-windows-msvc", "win32", "x64"),
];

/// Returns Node's names of the system and processor of a target, also of a target with another C library than the release.
fn node_names(target: &str) -> Result<(&'static str, &'static str)> {
    let parts = |target: &str| {
        let (processor, rest) = target.split_once('-').unwrap_or_default();
        let system = ["linux", "darwin", "windows"]
            .into_iter()
            .find(|system| rest.contains(system));
        (processor.to_owned(), system)
    };
    let found = PLATFORMS
        .iter()
        .find(|(other, ..)| parts(other) == parts(target));
    let targets = || PLATFORMS.map(|(target, ..)| target).join(", ");
    found
        .map(|(_, system, processor)| (*system, *processor))
        .with_context(|| format!("found the target {target}, expected one of {}", targets()))
}

/// Makes the npm package of a target. Returns its folder.
fn platform(target: &str, archive: &Path, out: &Path) -> Result<PathBuf> {
    let (system, processor) = node_names(target)?;
    let folder = out.join(format!("{system}-{processor}"));
    fs::create_dir_all(&folder)?;
    let name = archive_names(target)?.1;
    let unpacked = tempfile::tempdir_in(out)?;
    // Only the tar of Windows reads zip files.
    let is_zip = archive.extension().is_some_and(|ending| ending == "zip") && !cfg!(windows);
    let (unpack, option) = if is_zip {
        ("unzip", "-q")
    } else {
        ("tar", "-xf")
    };
    call(
        Command::new(unpack)
            .arg(option)
            .arg(archive)
            .current_dir(unpacked.path()),
    )
    .with_context(|| {
        format!(
            "{} could not be unpacked: cargo xtask release archive {target}",
            archive.display()
        )
    })?;
    for file in [program_name(target), "LICENSE"] {
        fs::copy(unpacked.path().join(&name).join(file), folder.join(file))
            .with_context(|| file.to_owned())?;
    }
    let package = serde_json::json!({
        "name": format!("@shelfish/{system}-{processor}"),
        "version": version()?,
        "description": format!("The program of the package shelfish for {system} on {processor}"),
        "license": "GPL-3.0-or-later",
        "repository": { "type": "git", "url": "git+https://github.com/shelfish/shelfish.git" },
        "os": [system],
        "cpu": [processor],
        "preferUnplugged": true,
        "files": [program_name(target), "LICENSE"],
    });
    fs::write(folder.join("package.json"), format!("{package:#}\n"))?;
    Ok(folder)
}

/// Adds the packages of all platforms to the optional dependencies of a package. Before a release they do not exist, and each
/// installation would search for them.
fn depend(package: &Path) -> Result<()> {
    let text = fs::read_to_string(package)
        .with_context(|| format!("{}: run cargo xtask npm", package.display()))?;
    let version = version()?;
    let packages = PLATFORMS
        .map(|(_, system, processor)| format!("\"@shelfish/{system}-{processor}\": \"{version}\""));
    let line = format!(
        "  \"optionalDependencies\": {{ {} }},\n",
        packages.join(", ")
    );
    // Not by a parser, which would sort the exports, whose order counts.
    let (before, after) = text
        .split_once(NEXT_FIELD)
        .with_context(|| format!("{}: expected the line {NEXT_FIELD:?}", package.display()))?;
    ensure!(
        !before.contains("\"optionalDependencies\""),
        "{} has optional dependencies already",
        package.display()
    );
    Ok(fs::write(
        package,
        [before, &line, NEXT_FIELD, after].concat(),
    )?)
}

/// The field of the package that follows the optional dependencies.
const NEXT_FIELD: &str = "  \"devDependencies\": {\n";

/// Returns the SHA-256 of bytes, as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn sums(dir: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_file() && name.starts_with("shelfish-") {
            lines.push(format!("{}  {name}\n", sha256(&fs::read(&path)?)));
        }
    }
    ensure!(
        !lines.is_empty(),
        "{} has no archives of shelfish",
        dir.display()
    );
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
    call(
        Command::new("tar")
            .arg("-xf")
            .arg(&archive)
            .current_dir(&out),
    )?;
    let folder = out.join(archive_names(&target)?.1);
    let found = crate::shell::output(Command::new(folder.join("shelfish")).arg("--version"));
    ensure!(
        found == Some(format!("shelfish {}", version()?)),
        "the packed program prints the version {found:?}"
    );
    fs::remove_dir_all(&out)?;
    Ok(())
}

/// Checks that the current version could be released.
pub fn check_now() -> Result<()> {
    let version = version()?;
    let changelog = changelog()?.replacen(
        "## [Unreleased]",
        &format!("## [{version}] - 2026-01-01"),
        1,
    );
    check(
        &format!("v{version}"),
        &changelog,
        &version,
        &npm_version()?,
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n### Added\n\n- All.\n\n## [1.2.2]\n\nx\n";

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
    fn the_package_depends_on_the_packages_of_all_platforms_and_keeps_its_other_fields()
    -> Result<()> {
        let folder = tempfile::tempdir()?;
        let package = folder.path().join("package.json");
        let text = fs::read_to_string(root().join("crate/js/package.json"))?;
        fs::write(&package, &text)?;
        depend(&package)?;
        let changed = fs::read_to_string(&package)?;
        let lines: Vec<&str> = changed
            .lines()
            .filter(|line| !text.lines().any(|other| other == *line))
            .collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let content: serde_json::Value = serde_json::from_str(&changed)?;
        let names: Vec<&String> = content["optionalDependencies"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names,
            [
                "darwin-arm64",
                "darwin-x64",
                "linux-arm64",
                "linux-x64",
                "win32-x64"
            ]
            .map(|name| format!("@shelfish/{name}"))
            .iter()
            .collect::<Vec<_>>()
        );
        assert!(depend(&package).is_err());
        Ok(())
    }

    #[test]
    fn a_target_has_the_names_of_node_whatever_its_c_library_is() -> Result<()> {
        assert_eq!(node_names("x86_64-unknown-linux-gnu")?, ("linux", "x64"));
        assert_eq!(node_names("aarch64-apple-darwin")?, ("darwin", "arm64"));
        assert_eq!(node_names("x86_64-pc-windows-gnu")?, ("win32", "x64"));
        assert!(node_names("riscv64gc-unknown-linux-gnu").is_err());
        Ok(())
    }

    #[test]
    fn a_tag_of_another_version_is_an_error() {
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
