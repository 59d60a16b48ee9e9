//! Tasks of this repository: `cargo xtask demo`, `cargo xtask check`, `cargo xtask test` and others.

mod bench;
mod deployed;
mod docs;
mod fuzz;
mod npm;
mod release;
mod shell;
mod site;
mod stamp;
mod test;
mod tools;

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
    Demo(site::DemoArgs),
    /// Build a folder to deploy: the pages and a database
    Site(site::Args),
    /// Build the documentation site: guides, the API, the format, measurements
    Docs(docs::Args),
    /// Check formatting, lints, types and unit tests; takes at most two minutes once everything is built
    Check(test::CheckArgs),
    /// Check and test everything, also in browsers
    Test(test::Args),
    /// Build the npm package in `crate/pkg`
    Npm,
    /// Check versions, print notes and make the npm packages of the program for a release
    #[command(subcommand)]
    Release(release::Args),
    /// Run the fuzz targets of the parsers and of the search
    Fuzz(fuzz::Args),
    /// Measure the engine in a headless Chromium and as a native program
    BenchEngine(bench::Args),
    /// Measure lookups in a headless Chromium over an emulated network
    BenchWeb(bench::Args),
    /// Measure how long a visitor of the site waits, in a headless Chromium over an emulated network
    BenchPage(bench::Args),
    /// Compare this product with its peers in a headless Chromium over an emulated network
    BenchPeers(bench::Args),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Demo(args) => site::demo(&args),
        Task::Site(args) => site::run(&args),
        Task::Docs(args) => docs::run(&args),
        Task::Check(args) => test::check(&args),
        Task::Test(args) => test::run(&args),
        Task::Npm => npm::build().map(drop),
        Task::Release(args) => release::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::BenchEngine(args) => bench::engine(&args),
        Task::BenchWeb(args) => bench::web(&args),
        Task::BenchPage(args) => bench::page(&args),
        Task::BenchPeers(args) => bench::peers(&args),
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
        assert!(commands.len() > 8, "{} commands", commands.len());
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
