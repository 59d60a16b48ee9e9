//! `cargo xtask docs`: builds the documentation site.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{
    deployed, npm,
    shell::{build_for_tests, call, cargo, command, programs, relative, root, say, target_dir},
    stamp, tools,
};

/// Options of `cargo xtask docs`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask docs --serve     # build the pages and serve them

`cargo xtask site` includes the pages in the folder `docs/` of the board's site.")]
pub struct Args {
    /// Serve the pages on this machine
    #[arg(long)]
    serve: bool,
}

/// Crates whose documentation the site may contain.
const CRATES: [&str; 4] = [
    "shelfish",
    "shelfish-analysis",
    "shelfish-endgames",
    "shelfish-engine",
];

/// Builds the pages, and serves them on request.
pub fn run(args: &Args) -> Result<()> {
    build_for_tests();
    npm::types()?;
    let out = pages(None, false)?;
    if args.serve {
        programs(&["shelfish-cli"])?;
        return deployed::serve(&out, None);
    }
    say(format!("Done: copy {} to any static host", relative(&out)));
    Ok(())
}

/// Builds the pages for the folder `docs/` of the board's site, unless they are up to date. The npm package must have been built.
/// Returns their folder.
pub fn pages(base: Option<&str>, crates: bool) -> Result<PathBuf> {
    let out = target_dir().join("docs-pages");
    let options = target_dir().join("docs-options");
    fs::write(&options, format!("{base:?} {crates}"))?;
    let documents = fs::read_dir(root())?.flatten().map(|entry| entry.path());
    let documents = documents.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let others = [
        "docs",
        "crate/js",
        "crate/engine/MATCHES.md",
        "www/README.md",
        "www/demo.png",
        "www/public",
        "static-shards/README.md",
    ];
    // Their comments are pages, too.
    let sources = [
        "crate/src",
        "crate/analysis",
        "crate/endgames",
        "crate/engine/src",
    ]
    .into_iter()
    .filter(|_| crates);
    let mut inputs: Vec<PathBuf> = documents
        .chain(
            others
                .into_iter()
                .chain(sources)
                .map(|name| root().join(name)),
        )
        .collect();
    inputs.sort();
    inputs.push(options);
    stamp::make(&out, &inputs, || {
        let docs = base.map(|base| format!("{base}docs/"));
        deployed::replace(&out, |folder| write(folder, docs.as_deref(), crates))
    })?;
    Ok(out)
}

/// Writes the pages into a folder.
fn write(folder: &Path, base: Option<&str>, crates: bool) -> Result<()> {
    for directory in ["crate/js", "docs"] {
        tools::npm_ci(directory)?;
    }
    let mut build = command(tools::node()?);
    build.arg("docs/build.mjs").arg("--out").arg(folder);
    build.args(base.into_iter().flat_map(|base| ["--base", base]));
    if crates {
        // A target of its own: the other target may contain the documentation of other crates, which the search would find.
        let target = target_dir().join("docs-crates");
        let packages = CRATES.into_iter().flat_map(|name| ["--package", name]);
        call(
            cargo()
                .args(["doc", "--no-deps", "--locked", "--target-dir"])
                .arg(&target)
                .args(packages),
        )?;
        build.arg("--rust").arg(target.join("doc"));
    }
    say("Building the documentation");
    call(&mut build)
}

/// Builds the pages, and so checks that their links lead to files.
pub fn check() -> Result<()> {
    npm::types()?;
    pages(None, false).map(drop)
}
