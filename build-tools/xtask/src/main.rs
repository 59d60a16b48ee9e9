//! The chores of this repository: `cargo xtask demo`, `cargo xtask test`, `cargo xtask bench-web`.

mod bench_attack;
mod bench_peers;
mod bench_web;
mod demo;
mod fuzz;
mod npm;
mod places;
mod sample;
mod shell;
mod shrink;
mod stamp;
mod test;
mod tools;
mod web_app;

use std::process::ExitCode;

use clap::Parser;

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Build the sample database, the WebAssembly and the site, and serve them on this machine
    Demo(demo::Args),
    /// Check and test everything, in a real browser too
    Test(test::Args),
    /// Cut the sample dump of `static-shards` out of a larger dump
    Sample(sample::Args),
    /// Build the npm package into `crate/pkg`
    Npm,
    /// Measure what hostile blocks and manifests cost a reader
    BenchAttack,
    /// Measure lookups in a headless Chromium over an emulated network
    BenchWeb(bench_web::Args),
    /// Measure this product beside its peers in a headless Chromium over an emulated network
    BenchPeers(bench_peers::Args),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Demo(args) => demo::run(&args),
        Chore::Test(args) => test::run(&args),
        Chore::Sample(args) => sample::run(&args),
        Chore::Npm => npm::build().map(drop),
        Chore::BenchAttack => bench_attack::run(),
        Chore::BenchWeb(args) => bench_web::run(&args),
        Chore::BenchPeers(args) => bench_peers::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
