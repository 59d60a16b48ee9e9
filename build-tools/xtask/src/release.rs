//! `cargo xtask release`: checks versions, prints notes and makes the npm packages of the program. The workflow "Release" runs these
//! commands.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::shell::{call, root, target_dir};

/// Commands of `cargo xtask release`.
#[derive(clap::Subcommand)]
pub enum Args {
    /// Check that the crates, the npm package and the changelog have the version of a tag, and print its section of the changelog
    Notes {
        /// Tag, such as v1.2.3
        tag: String,
    },
    /// Make the npm packages that contain the program from its archives, and make them optional dependencies of crate/pkg. Print
    /// their folders
    Platforms {
        /// Folder of the archives
        archives: PathBuf,
        /// Make only the package of this platform, such as linux-x64, and leave crate/pkg as it is
        #[arg(long)]
        only: Option<String>,
    },
}

/// Targets of a release, and the names that Node has for their system and processor. `crate/js/cli.ts` joins the names.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("x86_64-unknown-linux-musl", "linux", "x64"),
    ("aarch64-unknown-linux-musl", "linux", "arm64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
    ("x86_64-apple-darwin", "darwin", "x64"),
    ("x86_64-pc-windows-msvc", "win32", "x64"),
];

/// The field of the package that follows the optional dependencies.
const NEXT_FIELD: &str = "  \"devDependencies\": {\n";

/// Runs a command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Notes { tag } => {
            let read = |file: &str| fs::read_to_string(root().join(file)).context(file.to_owned());
            let package: serde_json::Value = serde_json::from_str(&read("crate/js/package.json")?)?;
            let versions = [
                env!("CARGO_PKG_VERSION"),
                package["version"].as_str().unwrap_or_default(),
            ];
            print!("{}", notes(tag, versions, &read("CHANGELOG.md")?)?);
            Ok(())
        }
        Args::Platforms { archives, only } => platforms(&root().join(archives), only.as_deref()),
    }
}

/// Returns the section of the changelog for a tag, without its heading.
fn notes(tag: &str, versions: [&str; 2], changelog: &str) -> Result<String> {
    let version = tag.strip_prefix('v').unwrap_or_default();
    for (what, found) in ["Cargo.toml", "the npm package"].into_iter().zip(versions) {
        ensure!(
            found == version,
            "{what} has version {found}, the tag is {tag}: change one of them"
        );
    }
    let heading = format!("## [{version}]");
    let lines = changelog
        .lines()
        .skip_while(|line| !line.starts_with(&heading));
    let section: Vec<&str> = lines
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .collect();
    let section = section.join("\n").trim().to_owned();
    ensure!(
        !section.is_empty(),
        "CHANGELOG.md has no text below `{heading} - DATE`: rename `## [Unreleased]`"
    );
    Ok(section + "\n")
}

fn platforms(archives: &Path, only: Option<&str>) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let out = target_dir().join("release-platforms");
    let mut dependencies = Vec::new();
    for (target, system, processor) in PLATFORMS {
        let platform = format!("{system}-{processor}");
        if only.is_some_and(|only| only != platform) {
            continue;
        }
        let folder = out.join(&platform);
        fs::create_dir_all(&folder)?;
        let program = if system == "win32" {
            "shelfish.exe"
        } else {
            "shelfish"
        };
        let mut unpack = Command::new("tar");
        unpack
            .arg("-xzf")
            .arg(archives.join(format!("shelfish-{version}-{target}.tar.gz")));
        unpack.arg("--strip-components=1").arg("-C").arg(&folder);
        call(&mut unpack)?;
        let name = format!("@shelfish/{platform}");
        let package = serde_json::json!({
            "name": name,
            "version": version,
            "description": format!("The program of the package shelfish for {system} on {processor}"),
            "license": "GPL-3.0-or-later",
            "repository": { "type": "git", "url": "git+https://github.com/shelfish/shelfish.git" },
            "os": [system],
            "cpu": [processor],
            "preferUnplugged": true,
            "files": [program, "LICENSE"],
        });
        fs::write(folder.join("package.json"), format!("{package:#}\n"))?;
        dependencies.push(format!("\"{name}\": \"{version}\""));
        println!("{}", folder.display());
    }
    if only.is_some() {
        return Ok(());
    }
    // Only in a release, because installations would search for packages that do not exist. Not by a parser, which would sort the
    // exports, whose order counts.
    let file = root().join("crate/pkg/package.json");
    let text = fs::read_to_string(&file).context("crate/pkg: run cargo xtask npm")?;
    let (before, after) = text
        .split_once(NEXT_FIELD)
        .with_context(|| format!("crate/pkg/package.json: expected the line {NEXT_FIELD:?}"))?;
    let line = format!(
        "  \"optionalDependencies\": {{ {} }},\n",
        dependencies.join(", ")
    );
    Ok(fs::write(
        file,
        [before, &line, NEXT_FIELD, after].concat(),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_section_of_the_version() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n### Added\n\n- All.\n\n## [1.2.2]\n\nx\n";
        let notes = |tag, crates| notes(tag, [crates, "1.2.3"], changelog);
        assert!(notes("v1.2.3", "1.2.3").is_ok_and(|notes| notes == "### Added\n\n- All.\n"));
        for (tag, crates) in [("1.2.3", "1.2.3"), ("v1.2.3", "1.2.2"), ("v1.3.0", "1.3.0")] {
            assert!(notes(tag, crates).is_err(), "{tag}");
        }
    }
}
