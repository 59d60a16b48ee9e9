//! `shelfish book dumps`: months of games on a host with the layout of Lichess' database.
//!
//! A folder contains `list.txt` with a URL per line, and `sha256sums.txt` and `counts.txt` with a name and a checksum
//! or number of games per line.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::HumanCount;
use reqwest::Url;
use serde::Serialize;
use shelfish::source::SourceErrorKind;

use crate::Outcome;
use crate::input::Input;
use crate::input::remote::{Checksum, DownloadPolicy, Remote, RemoteError, checksums, sums_url};
use crate::terminal::shown::{json, shown};

/// List of the games of Lichess.
pub const STANDARD: &str = "https://database.lichess.org/standard/list.txt";
/// Maximum size of a list, in bytes.
const MAX_LIST: u64 = 4 << 20;
/// Maximum duration of a list, in timeouts.
const LIST_TIMEOUTS: u32 = 2;

/// List the months of games on a host.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book dumps
  shelfish book dumps --json | jq -r 'select(.games < 1e6) | .name'
  shelfish book dumps --list https://database.lichess.org/chess960/list.txt
  shelfish book build --dump 2013-01 -o book

The host may also provide sha256sums.txt and counts.txt.

Exit codes: 0 if the list was read; 1 otherwise; 2 if the usage is wrong.")]
pub struct DumpsArgs {
    /// URL of the list
    #[arg(long, value_name = "URL", default_value = STANDARD)]
    list: String,
    /// Seconds without progress after which a request is repeated. A list may take twice this time
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Dump of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Month {
    /// Month, for example `2013-01`.
    pub name: String,
    /// URL of the dump.
    pub url: String,
    /// Number of games, if the host publishes it.
    pub games: Option<u64>,
    /// Checksum in hexadecimal digits, if the host publishes it.
    pub sha256: Option<String>,
}

/// Reasons why a dump cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum DumpsError {
    /// A file cannot be read.
    #[error("cannot read {url}: {error}")]
    Read {
        /// URL of the file.
        url: String,
        /// Error of the request.
        error: io::Error,
    },
    /// The address of the list is not an HTTP URL.
    #[error("{0}: expected the http:// or https:// URL of a list.txt")]
    Address(String),
    /// The list contains no dump of its host.
    #[error(
        "{list}: expected lines with URLs of the same host, with a month such as 2013-01 in their names; \
         none of {lines} is one"
    )]
    Empty {
        /// URL of the list.
        list: String,
        /// Number of other lines.
        lines: usize,
    },
    /// The list lacks the month.
    #[error(
        "{list} has no dump {name:?}, only {first} to {last}; `shelfish book dumps` lists them"
    )]
    Unknown {
        /// Name of the month.
        name: String,
        /// URL of the list.
        list: String,
        /// First month of the list.
        first: String,
        /// Last month of the list.
        last: String,
    },
    /// The host publishes no checksum of the dump.
    #[error(
        "the host publishes no checksum of {url}; use the URL as source to build without a checksum"
    )]
    NoChecksum {
        /// URL of the dump.
        url: String,
    },
}

/// Reads the dumps of a list in the order of their months, without sizes.
pub fn list(list: &str, download_policy: DownloadPolicy) -> Result<Vec<Month>, DumpsError> {
    let base = Url::parse(list)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let base = base.ok_or_else(|| DumpsError::Address(list.to_owned()))?;
    let beside = |name: &str| {
        base.join(name)
            .map_err(|_| DumpsError::Address(list.to_owned()))
    };
    let total = download_policy.timeout.saturating_mul(LIST_TIMEOUTS);
    let download_policy = DownloadPolicy {
        total: Some(total),
        ..download_policy
    };
    let text = |url: &Url| {
        text(url, download_policy).map_err(|error| DumpsError::Read {
            url: url.to_string(),
            error,
        })
    };
    let names = text(&base)?.unwrap_or_default();
    let sums = text(&beside("sha256sums.txt")?)?.unwrap_or_default();
    let counts = text(&beside("counts.txt")?)?.unwrap_or_default();
    let months = months(&base, &names, &sums, &counts);
    if months.is_empty() {
        return Err(DumpsError::Empty {
            list: list.to_owned(),
            lines: names.lines().count(),
        });
    }
    Ok(months)
}

/// Finds the dump of a month.
pub fn find(name: &str, from: &str, download_policy: DownloadPolicy) -> Result<Input, DumpsError> {
    let months = list(from, download_policy)?;
    let Some(month) = months.iter().find(|month| month.name == name) else {
        let end = |month: Option<&Month>| month.map(|month| month.name.clone()).unwrap_or_default();
        return Err(DumpsError::Unknown {
            name: name.to_owned(),
            list: from.to_owned(),
            first: end(months.first()),
            last: end(months.last()),
        });
    };
    let url = month.url.clone();
    match month.sha256.clone() {
        Some(sha256) => Ok(Input::Listed {
            url,
            checksum: Box::new(Checksum {
                sha256,
                sums: sums_url(from),
            }),
        }),
        None => Err(DumpsError::NoChecksum { url }),
    }
}

/// Reads a file of a host. Returns `None` if an optional file does not exist.
fn text(url: &Url, download_policy: DownloadPolicy) -> io::Result<Option<String>> {
    let read = || {
        let mut bytes = Vec::new();
        Remote::open(url.as_str(), None, download_policy)?
            .take(MAX_LIST)
            .read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let is_missing = |error: &io::Error| {
        let error = error
            .get_ref()
            .and_then(|error| error.downcast_ref::<RemoteError>());
        matches!(
            error,
            Some(RemoteError::Answer(SourceErrorKind::Status(404 | 410)))
        ) && !url.path().ends_with("list.txt")
    };
    match read() {
        Err(error) if is_missing(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// Parses lists of dumps. Ignores URLs of other hosts, and names without a month.
fn months(base: &Url, names: &str, sums: &str, counts: &str) -> Vec<Month> {
    let (mut checksum_of, mut games_of) = (HashMap::new(), HashMap::new());
    for (name, digits) in checksums(sums) {
        checksum_of.entry(name).or_insert(digits);
    }
    for (name, games) in counts
        .lines()
        .filter_map(|line| line.trim().split_once(char::is_whitespace))
    {
        if let Ok(games) = games.trim().parse::<u64>() {
            games_of.entry(name).or_insert(games);
        }
    }
    let dump = |line: &str| {
        let url = base
            .join(line.trim())
            .ok()
            .filter(|url| url.origin() == base.origin())?;
        let file = url.path_segments()?.next_back()?.to_owned();
        Some(Month {
            name: month(&file)?.to_owned(),
            games: games_of.get(&*file).copied(),
            sha256: checksum_of
                .get(&*file)
                .map(|digits| digits.to_ascii_lowercase()),
            url: url.into(),
        })
    };
    let mut months: Vec<Month> = names
        .lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(dump)
        .collect();
    months.sort_by(|a, b| (&a.name, &a.url).cmp(&(&b.name, &b.url)));
    months.dedup();
    months
}

/// Returns the month in the name of a file: the last four digits, hyphen and two digits that are not part of longer
/// numbers.
fn month(file: &str) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut parts = file.match_indices('-').filter_map(|(hyphen, _)| {
        let start = hyphen.checked_sub(4)?;
        let name = file.get(start..hyphen + 3)?;
        let (year, month) = (file.get(start..hyphen)?, file.get(hyphen + 1..hyphen + 3)?);
        let is_alone =
            !file[..start].ends_with(is_digit) && !file[hyphen + 3..].starts_with(is_digit);
        let is_month = month
            .parse::<u8>()
            .is_ok_and(|month| (1..=12).contains(&month));
        (year.chars().chain(month.chars()).all(is_digit) && is_alone && is_month).then_some(name)
    });
    parts.next_back()
}

/// Prints the months.
pub fn run(args: &DumpsArgs) -> Outcome {
    let timeout = Duration::from_secs(args.timeout);
    let months = list(
        &args.list,
        DownloadPolicy {
            timeout,
            ..DownloadPolicy::default()
        },
    )?;
    let mut out = io::stdout().lock();
    let count = |games: Option<u64>| {
        games.map_or_else(|| "?".to_owned(), |games| HumanCount(games).to_string())
    };
    for month in &months {
        if args.json {
            writeln!(out, "{}", json(month)?)?;
            continue;
        }
        let sum = month.sha256.as_deref().unwrap_or("no checksum");
        let (games, url) = (count(month.games), shown(&month.url));
        writeln!(out, "{}  {games:>12} games  {sum}  {url}", month.name)?;
    }
    if !args.json {
        let games = months.iter().filter_map(|month| month.games).sum();
        writeln!(out, "{} dumps, {} games", months.len(), HumanCount(games))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_month_is_parsed_from_the_name() {
        for (file, expected) in [
            ("lichess_db_standard_rated_2013-01.pgn.zst", Some("2013-01")),
            ("lichess_db_broadcast_2020-12.pgn.zst", Some("2020-12")),
            ("1999-01_to_2000-02", Some("2000-02")),
            ("2013-13", None),
            ("2013-00", None),
            ("12013-01", None),
            ("2013-012", None),
            ("é2-01-", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(month(file), expected, "{file}");
        }
    }

    #[test]
    fn arbitrary_lists_are_accepted_but_only_dumps_of_the_host_are_found()
    -> Result<(), Box<dyn std::error::Error>> {
        let base = Url::parse("https://x.org/standard/list.txt")?;
        let sum = "a1".repeat(32);
        let names = "https://x.org/standard/g_2013-02.pgn.zst\r\ng_2013-01.pgn.zst\n\nhttps://y.org/g_2013-03.pgn\n\
            file:///etc/g_2013-04\nhttp://x.org/g_2013-05\nnothing\ng_2013-01.pgn.zst\n";
        let found = months(
            &base,
            names,
            &format!("{sum}  g_2013-01.pgn.zst"),
            "g_2013-01.pgn.zst 7\nx\ng_2013-02.pgn.zst y",
        );
        let month = |name: &str, games, sha256| {
            let url = format!("https://x.org/standard/g_{name}.pgn.zst");
            Month {
                name: name.to_owned(),
                url,
                games,
                sha256,
            }
        };
        assert_eq!(
            found,
            [
                month("2013-01", Some(7), Some(sum)),
                month("2013-02", None, None)
            ]
        );
        let mut random = fastrand::Rng::with_seed(1);
        let parts = [
            "2013-01", "https://", "x.org", "/", "\n", " ", "é", "%", "..", "-", "\0", "?", "#",
            "[", ":9", "@",
        ];
        for _ in 0..2_000 {
            let mut text = || {
                (0..random.usize(..12))
                    .map(|_| parts[random.usize(..parts.len())])
                    .collect::<String>()
            };
            for month in months(&base, &text(), &text(), &text()) {
                assert!(month.url.starts_with("https://x.org/"), "{}", month.url);
            }
        }
        Ok(())
    }
}
