//! The chores of this repository: `cargo xtask demo`, `cargo xtask test`, `cargo xtask bench-web`.

mod bench_api;
mod bench_attack;
mod bench_engine;
mod bench_explorer;
mod bench_page;
mod bench_peers;
mod bench_web;
mod demo;
mod elo;
mod fuzz;
mod network;
mod npm;
mod pictures;
mod release;
mod sample;
mod shell;
mod shrink;
mod site;
mod stamp;
mod test;
mod tools;
mod train_net;
mod web_app;
mod workflows;

use std::process::ExitCode;

use clap::Parser;

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Build the sample database, the WebAssembly and the site, and serve them on this machine
    Demo(demo::Args),
    /// Build the folder that is deployed: the pages and a database
    Site(site::Args),
    /// Check and test everything, in a real browser too
    Test(test::Args),
    /// Cut the sample dump of `static-shards` out of a larger dump
    Sample(sample::Args),
    /// Draw the icons and the picture that previews of links show
    Pictures,
    /// Build the npm package into `crate/pkg`
    Npm,
    /// What a release takes: versions, notes, archives, checksums
    #[command(subcommand)]
    Release(release::Args),
    /// Run the fuzz targets of the parsers and of the search
    Fuzz(fuzz::Args),
    /// Measure how many questions a second `shelfish serve --api` answers
    BenchApi(bench_api::Args),
    /// Measure what hostile blocks and manifests cost a reader
    BenchAttack,
    /// Measure the engine in a headless Chromium, beside the native program
    BenchEngine(bench_engine::Args),
    /// Measure answers of the opening explorer in a headless Chromium over an emulated network
    BenchExplorer(bench_explorer::Args),
    /// Measure lookups in a headless Chromium over an emulated network
    BenchWeb(bench_web::Args),
    /// Measure what a visitor of the site waits for in a headless Chromium over an emulated network
    BenchPage(bench_page::Args),
    /// Measure the strength of the engine against Stockfish at several skill levels
    Elo(elo::Args),
    /// Make the engine's network again, or train another one
    TrainNet(train_net::Args),
    /// Measure this product beside its peers in a headless Chromium over an emulated network
    BenchPeers(bench_peers::Args),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Demo(args) => demo::run(&args),
        Chore::Site(args) => site::run(&args),
        Chore::Test(args) => test::run(&args),
        Chore::Sample(args) => sample::run(&args),
        Chore::Pictures => pictures::draw(),
        Chore::Npm => npm::build().map(drop),
        Chore::Release(args) => release::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args).map(drop),
        Chore::BenchApi(args) => bench_api::run(&args),
        Chore::BenchAttack => bench_attack::run(),
        Chore::BenchEngine(args) => bench_engine::run(&args),
        Chore::BenchExplorer(args) => bench_explorer::run(&args),
        Chore::BenchWeb(args) => bench_web::run(&args),
        Chore::BenchPage(args) => bench_page::run(&args),
        Chore::Elo(args) => elo::run(&args),
        Chore::TrainNet(args) => train_net::run(&args),
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
