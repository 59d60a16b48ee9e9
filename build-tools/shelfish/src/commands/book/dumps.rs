//! `shelfish book dumps`: months of games on a host with the layout of Lichess' database.
//!
//! A folder contains `list.txt` with a URL per line, and `sha256sums.txt` and `counts.txt` with a name and a checksum
//! or number of games per line.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::HumanCount;
use reqwest::Url;
use serde::Serialize;
use shelfish::source::host::HostError;
use shelfish::source::{Source as _, SourceError, SourceErrorKind};

use crate::Outcome;
use crate::database;
use crate::input::remote::{checksums, host_of};
use crate::terminal::shown::{counted, json, shown};

/// List of the games of Lichess.
const STANDARD: &str = "https://database.lichess.org/standard/list.txt";
/// Maximum size of a list, in bytes.
const MAX_LIST: u64 = 4 << 20;

/// List the months of games on a host.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book dumps
  shelfish book dumps --json | jq -r 'select(.games < 1e6) | .name'
  shelfish book dumps --list https://database.lichess.org/chess960/list.txt
  shelfish book build https://database.lichess.org/standard/lichess_db_standard_rated_2013-01.pgn.zst -o book

The host may also provide sha256sums.txt and counts.txt.

Exit codes: 0 if the list was read; 1 otherwise; 2 if the usage is wrong.")]
pub struct DumpsArgs {
    /// URL of the list
    #[arg(long, value_name = "URL", default_value = STANDARD)]
    list: String,
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
    #[error("cannot read {0}")]
    Read(#[from] SourceError),
    /// The client for the host cannot be created.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The system cannot create a client.
    #[error(transparent)]
    Io(#[from] io::Error),
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
}

/// Reads the dumps of a list in the order of their months, without sizes.
fn list(list: &str) -> Result<Vec<Month>, DumpsError> {
    let base = Url::parse(list)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let base = base.ok_or_else(|| DumpsError::Address(list.to_owned()))?;
    let host = host_of(base.as_str())?;
    let file_name = base
        .path_segments()
        .and_then(Iterator::last)
        .unwrap_or_default();
    let text = |file: &str| match database::wait(host.whole(file, MAX_LIST))? {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        // The other files are optional.
        Err(SourceError {
            kind: SourceErrorKind::Status(404 | 410),
            ..
        }) if file != file_name => Ok(String::new()),
        Err(error) => Err(DumpsError::from(error)),
    };
    let names = text(file_name)?;
    let sums = text("sha256sums.txt")?;
    let counts = text("counts.txt")?;
    let months = months(&base, &names, &sums, &counts);
    if months.is_empty() {
        return Err(DumpsError::Empty {
            list: list.to_owned(),
            lines: names.lines().count(),
        });
    }
    Ok(months)
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
    let months = list(&args.list)?;
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
        writeln!(
            out,
            "{}, {}",
            counted(months.len() as u64, "dump"),
            counted(games, "game")
        )?;
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
