//! Checks of the way to the files: redirects, caches and the protocol.

use reqwest::{Url, Version};

use super::check::Check;
use super::client::{Answer, Step};
use super::content::NO_MANIFEST;
use super::examination::Examination;
use super::remedy::{Need, remedy};
use super::server::Server;
use super::sharing::is_local;
use crate::store::Role;

/// Largest number of redirects of a file that is a warning.
const FEW_REDIRECTS: usize = 3;

/// Longest time in seconds that caches may keep a manifest: an hour without a warning, a day without a problem.
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Returns the URLs of an answer in the order of its redirects.
fn urls(answer: &Answer) -> Vec<&Url> {
    answer
        .redirects
        .iter()
        .chain([&answer.last])
        .map(|step| &step.url)
        .collect()
}

/// Returns whether a URL contains a signature, which expires.
fn is_signed(url: &Url) -> bool {
    let words = [
        "signature",
        "sig",
        "x-amz-signature",
        "x-goog-signature",
        "token",
        "policy",
        "expires",
    ];
    url.query_pairs()
        .any(|(name, _)| words.contains(&name.to_ascii_lowercase().as_str()))
}

/// Checks redirects of the manifest and of ranges.
pub fn redirects(examination: &Examination, _: Server) -> Check {
    let (id, title, expected) = ("redirects", "redirects", "none");
    let Some(manifest) = examination.manifest() else {
        return Check::skipped(id, title, "no answer for the manifest", expected);
    };
    let direct = "name the final address, without redirects";
    let mut worst: Option<Check> = None;
    for (name, answer) in [("range", examination.shard()), ("manifest", Some(manifest))] {
        let Some(answer) = answer.filter(|answer| !answer.redirects.is_empty()) else {
            continue;
        };
        let urls = urls(answer);
        let count = answer.redirects.len();
        let is_downgrade = urls
            .windows(2)
            .any(|pair| pair[0].scheme() == "https" && pair[1].scheme() == "http");
        let is_foreign = urls
            .windows(2)
            .any(|pair| pair[0].origin() != pair[1].origin());
        let last = &answer.last.url;
        let check = |why: &str| {
            Check::ok(
                id,
                title,
                format!("{name}: {count}, to {last}{why}"),
                expected,
            )
        };
        let found = if is_downgrade {
            check("; pages on https cannot read http").fail("redirect to https, or not at all")
        } else if count > FEW_REDIRECTS {
            check("; each redirect takes a round trip").fail(direct)
        } else if is_signed(last) {
            check("; the address is signed and expires, and the caches of readers use the address before the redirect")
                .warn("serve the files themselves at a stable address, without signatures")
        } else if is_foreign {
            check("; a page needs the permission of both origins, and caches use the address before the redirect")
                .warn(direct)
        } else if name == "range" {
            check("; each range takes another round trip").warn(direct)
        } else {
            check("; the manifest takes another round trip")
        };
        if worst
            .as_ref()
            .is_none_or(|worst| worst.result < found.result)
        {
            worst = Some(found);
        }
    }
    worst.unwrap_or_else(|| Check::ok(id, title, "none", expected))
}

/// The directives of `Cache-Control`.
#[derive(Debug, Default, PartialEq)]
struct CacheControl {
    /// Longest time in seconds that a cache may use the answer without asking.
    lifetime: Option<u64>,
    no_cache: bool,
    no_store: bool,
    immutable: bool,
}

impl CacheControl {
    fn parse(header: &str) -> CacheControl {
        let mut parsed = CacheControl::default();
        for directive in header.split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                // Caches shared by many readers follow `s-maxage`.
                "max-age" | "s-maxage" => {
                    parsed.lifetime = parsed
                        .lifetime
                        .max(value.trim().trim_matches('"').parse().ok());
                }
                "no-cache" => parsed.no_cache = true,
                "no-store" => parsed.no_store = true,
                "immutable" => parsed.immutable = true,
                _ => {}
            }
        }
        parsed
    }
}

/// Returns a header with its name, or the information that the header is missing.
fn named(step: &Step, name: &str, header: &str) -> String {
    step.header(header)
        .map_or_else(|| format!("no {name}"), |value| format!("{name}: {value}"))
}

/// Checks that caches do not keep an old manifest.
pub fn manifest_caching(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("caching-manifest", "caching, manifest");
    let expected = format!(
        "Cache-Control: no-cache, or {}; an ETag",
        Role::Manifest.cache_control()
    );
    let answer = examination
        .manifest()
        .filter(|_| examination.database.is_ok());
    let Some(Answer { last, .. }) = answer else {
        return Check::skipped(id, title, "no manifest", expected);
    };
    let found = named(last, "Cache-Control", "cache-control");
    let control = CacheControl::parse(&last.header("cache-control").unwrap_or_default());
    let check = |why: &str| Check::ok(id, title, format!("{found}{why}"), expected.clone());
    let age = || remedy(server, Need::ManifestAge, &examination.url);
    let lifetime = control
        .lifetime
        .filter(|_| !control.no_cache && !control.no_store);
    if (control.immutable && !control.no_cache) || lifetime.is_some_and(|seconds| seconds > DAY) {
        return check("; caches on the way keep the old manifest after a new build").fail(age());
    }
    if lifetime.is_some_and(|seconds| seconds > HOUR) {
        return check("; caches on the way keep the old manifest for hours").warn(age());
    }
    if control.no_store {
        return check("; the manifest is transferred whole each time").warn(age());
    }
    if control == CacheControl::default() {
        return check("; caches on the way choose a time").warn(age());
    }
    match &examination.again {
        None => {
            check(", neither ETag nor Last-Modified; the manifest is transferred whole each time")
                .warn(remedy(server, Need::Validator, &examination.url))
        }
        Some(Ok(Answer { last, .. })) if last.status == 304 => {
            check(", and status 304 for an unchanged manifest")
        }
        Some(Ok(Answer { last, .. })) => check(&format!(
            ", but status {} instead of 304 for an unchanged manifest",
            last.status
        ))
        .warn(remedy(server, Need::Validator, &examination.url)),
        Some(Err(error)) => {
            check(&format!("; the unchanged manifest: {error}")).warn("read the log of the host")
        }
    }
}

/// Checks that caches may keep shards.
pub fn shard_caching(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("caching-shards", "caching, shards");
    let expected = format!("Cache-Control: {}", Role::Shard.cache_control());
    let Some(Answer { last, .. }) = examination.shard() else {
        return Check::skipped(id, title, NO_MANIFEST, expected);
    };
    let found = named(last, "Cache-Control", "cache-control");
    let control = CacheControl::parse(&last.header("cache-control").unwrap_or_default());
    if control.no_store {
        return Check::ok(
            id,
            title,
            format!("{found}; networks in front of the host cannot keep shards"),
            expected,
        )
        .warn(remedy(server, Need::ShardAge, &examination.url));
    }
    let is_long = control.immutable || control.lifetime.is_some_and(|seconds| seconds >= DAY);
    let note = if is_long {
        ""
    } else {
        "; a year would be possible, because the name of a shard is the hash of its content"
    };
    Check::ok(id, title, format!("{found}{note}"), expected)
}

/// Checks that pages on https may read the files.
pub fn https(examination: &Examination, server: Server) -> Check {
    let (id, title, expected) = (
        "https",
        "HTTPS",
        "https, and no user or password in the address",
    );
    let url = &examination.url;
    if !url.username().is_empty() || url.password().is_some() {
        return Check::ok(
            id,
            title,
            "a user or a password in the address, which browsers refuse",
            expected,
        )
        .fail("an address without a user and a password");
    }
    if url.scheme() == "https" {
        return Check::ok(id, title, "https", expected);
    }
    if is_local(url) {
        return Check::ok(id, title, "http on this machine", expected);
    }
    let is_redirected = examination
        .manifest()
        .is_some_and(|answer| answer.last.url.scheme() == "https");
    if is_redirected {
        return Check::ok(
            id,
            title,
            "http, redirected to https; pages on https cannot send the first request",
            expected,
        )
        .fail(format!(
            "name the address with https: {}",
            examination.url.as_str().replacen("http:", "https:", 1)
        ));
    }
    let check = Check::ok(id, title, "http; pages on https cannot read http", expected);
    match examination.origin.scheme() {
        "http" => check.warn(remedy(server, Need::Https, url)),
        _ => check.fail(remedy(server, Need::Https, url)),
    }
}

/// Describes the version of HTTP.
pub fn http_version(examination: &Examination, _: Server) -> Check {
    let (id, title, expected) = (
        "http-version",
        "HTTP version",
        "HTTP/2 or HTTP/3 (useful, not necessary)",
    );
    let Some(answer) = examination.shard().or_else(|| examination.manifest()) else {
        return Check::skipped(id, title, "no answer for the manifest", expected);
    };
    let note = if answer.last.version >= Version::HTTP_2 {
        ""
    } else {
        "; browsers send 6 requests at a time"
    };
    Check::ok(
        id,
        title,
        format!("{:?}{note}", answer.last.version),
        expected,
    )
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::super::check::Verdict;
    use super::super::examination::ManifestFault;
    use super::*;

    #[test]
    fn cache_control_is_parsed_regardless_of_case_and_spaces() {
        let lifetime = |text| CacheControl::parse(text).lifetime;
        assert_eq!(lifetime("Public, MAX-AGE = 60"), Some(60));
        assert_eq!(lifetime("max-age=60, s-maxage=\"900\""), Some(900));
        assert_eq!(lifetime("max-age=soon"), None);
        let all = CacheControl::parse("no-cache,No-Store , immutable");
        assert_eq!(
            all,
            CacheControl {
                lifetime: None,
                no_cache: true,
                no_store: true,
                immutable: true
            }
        );
    }

    #[test]
    fn signed_addresses_are_recognised_by_their_query() -> Result<(), Box<dyn std::error::Error>> {
        for (url, expected) in [
            ("https://x.org/a?X-Amz-Signature=1", true),
            ("https://x.org/a?sp=r&sig=1", true),
            ("https://x.org/a?Expires=1&Policy=2", true),
            ("https://x.org/a?v=1", false),
            ("https://x.org/sig", false),
        ] {
            assert_eq!(is_signed(&Url::parse(url)?), expected, "{url}");
        }
        Ok(())
    }

    /// Creates an examination whose manifest is redirected along URLs.
    fn redirected(urls: &[&str], origin: &str) -> Result<Examination, Box<dyn std::error::Error>> {
        let step = |url: &&str| -> Result<Step, Box<dyn std::error::Error>> {
            let (headers, version) = (HeaderMap::new(), Version::HTTP_2);
            Ok(Step {
                url: Url::parse(url)?,
                origin: origin.to_owned(),
                status: 200,
                headers,
                version,
            })
        };
        let mut redirects: Vec<Step> = urls.iter().map(step).collect::<Result<_, _>>()?;
        let (url, last) = (Url::parse(urls[0])?, redirects.pop().ok_or("no URL")?);
        let (head_time, time) = Default::default();
        let answer = Answer {
            redirects,
            last,
            body: Ok(Vec::new()),
            head_time,
            time,
        };
        Ok(Examination {
            url,
            origin: Url::parse(origin)?,
            manifest: Ok(answer),
            database: Err(ManifestFault::Empty),
            again: None,
            ranges: None,
            missing: None,
            preflight: None,
            sample: None,
        })
    }

    #[test]
    fn a_redirect_from_https_to_http_is_a_problem_even_if_it_leads_back()
    -> Result<(), Box<dyn std::error::Error>> {
        for (urls, expected) in [
            (&["https://x.org/m", "http://x.org/m"][..], Verdict::Problem),
            (
                &["https://x.org/m", "http://x.org/m", "https://x.org/m"],
                Verdict::Problem,
            ),
            (&["http://x.org/m", "https://x.org/m"], Verdict::Warning),
            (&["https://x.org/m", "https://y.org/m"], Verdict::Warning),
            (
                &["https://x.org/m", "https://x.org/n?sig=1"],
                Verdict::Warning,
            ),
            (&["https://x.org/m", "https://x.org/n"], Verdict::Ok),
            (
                &[
                    "https://x.org/1",
                    "https://x.org/2",
                    "https://x.org/3",
                    "https://x.org/4",
                ],
                Verdict::Ok,
            ),
            (
                &[
                    "https://x.org/1",
                    "https://x.org/2",
                    "https://x.org/3",
                    "https://x.org/4",
                    "https://x.org/5",
                ],
                Verdict::Problem,
            ),
            (&["https://x.org/m"], Verdict::Ok),
        ] {
            let check = redirects(&redirected(urls, "https://example.org")?, Server::Other);
            assert_eq!(check.result, expected, "{urls:?}: {check:?}");
        }
        Ok(())
    }

    #[test]
    fn http_is_a_problem_for_pages_on_https_except_on_the_own_machine()
    -> Result<(), Box<dyn std::error::Error>> {
        for (url, origin, expected) in [
            ("http://x.org/m", "https://example.org", Verdict::Problem),
            ("http://x.org/m", "http://example.org", Verdict::Warning),
            ("http://10.0.0.1/m", "https://example.org", Verdict::Problem),
            (
                "http://localhost:8000/m",
                "https://example.org",
                Verdict::Ok,
            ),
            ("https://x.org/m", "https://example.org", Verdict::Ok),
            (
                "https://me@x.org/m",
                "https://example.org",
                Verdict::Problem,
            ),
        ] {
            let check = https(&redirected(&[url], origin)?, Server::Other);
            assert_eq!(check.result, expected, "{url}: {check:?}");
        }
        let check = https(
            &redirected(
                &["http://x.org/m", "https://x.org/m"],
                "https://example.org",
            )?,
            Server::Other,
        );
        assert!(
            check.result == Verdict::Problem
                && check
                    .remedy
                    .is_some_and(|line| line.contains("https://x.org/m"))
        );
        Ok(())
    }
}
