//! `shelfish doctor`: checks whether a host can serve a database to browsers.
//!
//! An examination sends the requests that a browser sends. Each check judges their answers.

mod check;
mod client;
mod content;
mod delivery;
mod examination;
mod remedy;
mod report;
mod sample;
mod server;
mod sharing;
mod speed;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use reqwest::Url;
use shelfish::source::redaction::redacted;
use shelfish::table::Manifest;

use crate::database;
use crate::terminal::report as output;
use crate::{BoxError, Outcome};
pub use check::{Check, Verdict};
use client::Client;
use examination::Examination;
pub use report::Report;
pub use server::Server;
pub use speed::Speed;

/// Check whether a host can serve a database to browsers.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish doctor https://example.org/evals
  shelfish doctor https://example.org/book/manifest.json --origin https://me.github.io
  shelfish doctor https://example.org/evals --json

The command checks the manifest, ranges, compression, CORS, redirects, caching, missing files, the protocol and the speed. It
names each problem and the configuration line that solves the problem. It sends at most 60 requests, redirects included, and
receives at most a manifest of 8 MiB and 1 MiB of ranges. It sends each request once, without retries.

A problem prevents browsers from reading the database, or from seeing a new build. A warning does not.

Exit codes: 0 without problems, also with warnings; 1 with problems or without an answer; 2 if the usage is wrong.")]
pub struct Args {
    /// URL of the folder of the database or book, or of its manifest
    #[arg(value_parser = manifest_url)]
    url: Url,
    /// Origin of the pages that read the database
    #[arg(long, value_name = "URL", default_value = "https://example.org", value_parser = origin)]
    origin: Url,
    /// Seconds that a host has for an answer, plus a second for every 16 KiB
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Parses a URL of HTTP.
fn http_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => Err(format!(
            "found {}, expected a URL with http:// or https://",
            redacted(text)
        )),
    }
}

/// Parses the address of a database as the URL of its manifest. A file with the ending `.json` is a manifest, and
/// everything else is a folder.
fn manifest_url(text: &str) -> Result<Url, String> {
    let mut url = http_url(text)?;
    url.set_fragment(None);
    if url.path().ends_with(".json") {
        return Ok(url);
    }
    let slash = if url.path().ends_with('/') { "" } else { "/" };
    url.set_path(&format!("{}{slash}{}", url.path(), Manifest::FILE));
    url.set_query(None);
    Ok(url)
}

/// Parses the origin of a page.
fn origin(text: &str) -> Result<Url, String> {
    http_url(text)
}

/// Examines a host and prints the report.
pub fn run(args: Args) -> Outcome {
    let report = database::wait(examine(
        args.url,
        args.origin,
        Duration::from_secs(args.timeout),
    ))??;
    output::print(&report, args.json)?;
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Examines the host of a manifest for the pages of an origin.
///
/// # Errors
///
/// Returns an error if the system has no certificates. Faults of the host are part of the report.
pub async fn examine(url: Url, origin: Url, timeout: Duration) -> Result<Report, BoxError> {
    let start = Instant::now();
    let client = Client::new(origin.clone(), timeout)?;
    let examination = Examination::of(&client, url, origin).await;
    let first = examination
        .manifest()
        .map(|answer| answer.redirects.first().unwrap_or(&answer.last));
    let server = Server::of(&examination.url, first);
    let speed = Speed::of(&examination);
    let judges: [fn(&Examination, Server) -> Check; 13] = [
        content::manifest,
        content::ranges,
        content::compression,
        sharing::origins,
        sharing::exposed,
        sharing::errors,
        sharing::preflight,
        delivery::redirects,
        delivery::manifest_caching,
        delivery::shard_caching,
        content::missing,
        delivery::https,
        delivery::http_version,
    ];
    let mut checks: Vec<Check> = judges
        .iter()
        .map(|judge| judge(&examination, server))
        .collect();
    checks.push(speed::check(&examination, server, speed.as_ref()));
    let count = |result| checks.iter().filter(|check| check.result == result).count();
    let (problems, warnings) = (count(Verdict::Problem), count(Verdict::Warning));
    Ok(Report {
        url: examination.url.to_string(),
        origin: examination.origin.origin().ascii_serialization(),
        host: server,
        ok: problems == 0,
        problems,
        warnings,
        checks,
        speed,
        requests: client.requests(),
        bytes: client.bytes(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_folder_becomes_that_of_its_manifest() {
        for (text, expected) in [
            ("https://x.org", "https://x.org/manifest.json"),
            ("https://x.org/evals", "https://x.org/evals/manifest.json"),
            (
                "https://x.org/evals/?a=b#c",
                "https://x.org/evals/manifest.json",
            ),
            (
                "https://x.org/evals/manifest.json?sig=1",
                "https://x.org/evals/manifest.json?sig=1",
            ),
            ("HTTP://x.org/old.json", "http://x.org/old.json"),
        ] {
            assert_eq!(
                manifest_url(text).map(String::from).as_deref(),
                Ok(expected)
            );
        }
        for text in ["", "evals", "ftp://x.org", "s3://bucket/evals", "https://"] {
            assert!(manifest_url(text).is_err(), "{text}");
        }
    }
}
