//! `shelfish doctor`: checks whether a host can serve a database to browsers.
//!
//! An examination sends the requests that a browser sends. Each check judges their answers.

mod checks;
mod client;
mod remedies;

use std::fmt;
use std::process::ExitCode;

use reqwest::Url;
use serde::Serialize;
use shelfish::source::redaction::redacted;
use shelfish::table::Manifest;

use crate::database;
use crate::terminal::report as output;
use crate::terminal::shown::{beginning, shown};
use crate::{BoxError, Outcome};
use checks::{CHECKS, Examination, Finding, Verdict};
use client::Client;
use remedies::Host;

/// Check whether a host can serve a database to browsers.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish doctor https://example.org/evals
  shelfish doctor https://example.org/book/manifest.json --origin https://me.github.io
  shelfish doctor 'https://example.org/evals#sha256-...' --json

The command checks the manifest, ranges, compression, CORS, redirects, caching, missing files and HTTPS. It names each problem and
the configuration line that solves the problem. It sends six or seven requests, and follows their redirects, without retries.

A problem prevents browsers from reading the database, or from seeing a new build. A warning does not, and a note concerns only
pages of other hosts.

Exit codes: 0 without problems, also with warnings; 1 with problems or without an answer; 2 if the usage is wrong.")]
pub struct Args {
    /// URL of the folder of the database or book, or of its manifest; an appended #sha256-... compares the manifest with this hash
    #[arg(value_parser = manifest_url)]
    url: Url,
    /// Origin of the pages that read the database, if they are not on the same host
    #[arg(long, value_name = "URL", value_parser = http_url)]
    origin: Option<Url>,
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
    database::split_pin(text).map_err(|error| error.to_string())?;
    let mut url = http_url(text)?;
    if !url.path().ends_with(".json") {
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}/{}", Manifest::FILE));
    }
    Ok(url)
}

/// A check and its result.
#[derive(Serialize)]
struct Check {
    /// Name, which does not change.
    id: &'static str,
    result: Verdict,
    /// Properties of the host that decided the result, shortened because headers may be long.
    found: String,
    /// Properties that a good host has.
    expected: &'static str,
    /// The setting that solves the problem, if a setting solves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// HostReport of an examination.
#[derive(Serialize)]
struct HostReport {
    /// URL of the manifest.
    url: String,
    /// Origin of the pages that read the database, if it was given.
    origin: Option<String>,
    /// Kind of the host.
    host: &'static str,
    /// Whether there are no problems. Warnings are allowed.
    ok: bool,
    problems: usize,
    warnings: usize,
    checks: Vec<Check>,
}

/// Examines a host and prints the report.
pub fn run(args: Args) -> Outcome {
    let report = database::wait(examine(args.url, args.origin))??;
    output::print(&report, args.json)?;
    Ok(match report.ok {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Examines the host of a manifest for the pages of an origin.
async fn examine(url: Url, origin: Option<Url>) -> Result<HostReport, BoxError> {
    let foreign = || Url::parse("https://example.org");
    let client = Client::new(origin.clone().map_or_else(foreign, Ok)?)?;
    let examination = Examination::of(&client, url.clone(), origin.clone()).await;
    let host = Host::of(&url, examination.first());
    let checks = CHECKS.map(|(id, expected, check)| {
        let Finding {
            verdict,
            found,
            remedy,
        } = check(&examination);
        Check {
            id,
            result: verdict,
            found: beginning(&found),
            expected,
            remedy: remedy.map(|remedy| host.remedy(remedy, &url)),
        }
    });
    let count = |result| checks.iter().filter(|check| check.result == result).count();
    let problems = count(Verdict::Problem);
    Ok(HostReport {
        url: redacted(url.as_str()),
        origin: origin.map(|origin| origin.origin().ascii_serialization()),
        host: host.name,
        ok: problems == 0,
        problems,
        warnings: count(Verdict::Warning),
        checks: checks.into(),
    })
}

impl fmt::Display for HostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.origin.as_deref().unwrap_or("any origin");
        let (url, origin) = (shown(&self.url), shown(origin));
        writeln!(f, "{url}, for pages of {origin}, on {}\n", self.host)?;
        let mut remedies: Vec<&str> = Vec::new();
        for check in &self.checks {
            let mark = match check.result {
                Verdict::Ok => "ok",
                Verdict::Note => "note",
                Verdict::Warning => "warning",
                Verdict::Problem => "PROBLEM",
                Verdict::NotChecked => "not checked",
            };
            writeln!(f, "{mark:<11}  {:<20}  {}", check.id, shown(&check.found))?;
            let Some(remedy) = check.remedy.as_deref() else {
                continue;
            };
            writeln!(f, "{:13}expected: {}", "", shown(check.expected))?;
            if remedies.contains(&remedy) {
                writeln!(f, "{:13}remedy:   the same as above", "")?;
                continue;
            }
            remedies.push(remedy);
            writeln!(f, "{:13}remedy:   {}", "", shown(remedy))?;
        }
        let HostReport {
            problems, warnings, ..
        } = self;
        writeln!(f, "\nproblems: {problems}, warnings: {warnings}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_folder_becomes_that_of_its_manifest() {
        for (text, expected) in [
            ("https://x.org", "https://x.org/manifest.json"),
            (
                "https://x.org/evals/?a=b",
                "https://x.org/evals/manifest.json?a=b",
            ),
            (
                "https://x.org/old.json?sig=1",
                "https://x.org/old.json?sig=1",
            ),
        ] {
            let found = manifest_url(text).map(String::from);
            assert_eq!(found.as_deref(), Ok(expected));
            assert!(manifest_url(&format!("{text}#c")).is_err());
        }
    }
}
