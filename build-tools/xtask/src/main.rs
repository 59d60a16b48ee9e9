//! Tasks of this repository: `cargo xtask demo`, `cargo xtask check`, `cargo xtask test` and others.

mod bench;
mod check;
mod databases;
mod demo;
mod docs;
mod fuzz;
mod npm;
mod release;
mod sample;
mod shell;
mod site;
mod stamp;
mod tally;
mod test;
mod tools;
mod workflows;

use std::process::ExitCode;

use clap::Parser;

/// Tasks of this repository: build, check, test, measure, release.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "Examples:
  cargo xtask demo      # build the site with the sample database and serve it
  cargo xtask check     # before each commit
  cargo xtask test      # everything, also in browsers
  cargo xtask help test"
)]
enum Task {
    /// Build the sample database, the WebAssembly modules and the site, and serve the site on this machine
    Demo(demo::Args),
    /// Build a folder to deploy: the pages and a database
    Site(site::Args),
    /// Build the documentation site: guides, the API, the format, measurements
    Docs(docs::Args),
    /// Check formatting, lints, types and unit tests; takes at most two minutes once everything is built
    Check(check::Args),
    /// Check and test everything, also in browsers
    Test(test::Args),
    /// Cut the sample dump of `static-shards` out of a larger dump
    Sample(sample::Args),
    /// Cut the sample database of the npm package, `static-shards/package-sample`, out of the sample dump
    PackageSample,
    /// Build the npm package in `crate/pkg`
    Npm,
    /// Check versions, write notes and build archives for a release
    #[command(subcommand)]
    Release(release::Args),
    /// Run the fuzz targets of the parsers and of the search
    Fuzz(fuzz::Args),
    /// Measure how many requests per second `shelfish serve --api` answers
    BenchApi(bench::api::Args),
    /// Measure the time and memory that hostile blocks and manifests cost a reader
    BenchAttack,
    /// Measure the engine in a headless Chromium and as a native program
    BenchEngine(bench::EngineArgs),
    /// Measure answers of the opening explorer in a headless Chromium over an emulated network
    BenchExplorer(bench::ExplorerArgs),
    /// Measure lookups in a headless Chromium over an emulated network
    BenchWeb(bench::WebArgs),
    /// Measure how long a visitor of the site waits, in a headless Chromium over an emulated network
    BenchPage(bench::PageArgs),
    /// Compare this product with its peers in a headless Chromium over an emulated network
    BenchPeers(bench::peers::Args),
    /// Measure builds in parts, by several processes and by Spark
    BenchParts(bench::parts::Args),
    /// Measure databases of growing size: build, lookups, publication, refresh
    BenchScale(bench::scale::Args),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Demo(args) => demo::run(&args),
        Task::Site(args) => site::run(&args),
        Task::Docs(args) => docs::run(&args),
        Task::Check(args) => check::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Sample(args) => sample::run(&args),
        Task::PackageSample => databases::package_sample(),
        Task::Npm => npm::build().map(drop),
        Task::Release(args) => release::run(&args),
        Task::Fuzz(args) => fuzz::run(&args).map(drop),
        Task::BenchApi(args) => bench::api::run(&args),
        Task::BenchAttack => bench::attack::run(),
        Task::BenchEngine(args) => bench::engine(&args),
        Task::BenchExplorer(args) => bench::explorer(&args),
        Task::BenchWeb(args) => bench::web(&args),
        Task::BenchPage(args) => bench::page(&args),
        Task::BenchPeers(args) => bench::peers::run(&args),
        Task::BenchParts(args) => bench::parts::run(&args),
        Task::BenchScale(args) => bench::scale::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/documents/commands.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_the_documents_have_valid_usage() {
        let commands = documents::commands(&["cargo", "xtask"]);
        assert!(commands.len() > 12, "{} commands", commands.len());
        let error = |documents::Command { place, words }| {
            let error = Task::try_parse_from(&words[1..])
                .err()
                .filter(clap::Error::use_stderr)?;
            Some(format!("{place}: {}\n{error}", words.join(" ")))
        };
        let errors: Vec<String> = commands.into_iter().filter_map(error).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
}
