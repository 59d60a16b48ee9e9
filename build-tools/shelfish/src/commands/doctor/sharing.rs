//! Checks of the permission for pages of other origins (CORS).
//!
//! Readers in browsers need no exposed header. If a header is hidden, they count the bytes and compare the checksum.
//! `Content-Range` shows a wrong range before its bytes arrive. `Content-Length` is never hidden in current browsers.

use std::net::IpAddr;

use reqwest::Url;

use super::check::Check;
use super::client::{Answer, Step};
use super::content::NO_MANIFEST;
use super::examination::Examination;
use super::remedy::{EXPOSED, Need, remedy};
use super::server::Server;

const SAME_ORIGIN: &str = "not necessary, because the page has the same origin";

/// Returns whether the host of a URL is the machine of the reader.
pub fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

/// Returns whether an answer may be read by the page that sent its `Origin`.
fn allows(step: &Step) -> bool {
    step.header("access-control-allow-origin")
        .is_some_and(|allowed| allowed == "*" || allowed == step.origin)
}

/// Describes the permission of an answer.
fn permission(step: &Step) -> String {
    step.header("access-control-allow-origin")
        .unwrap_or_else(|| "none".to_owned())
}

/// Returns the answers of a request that a browser checks: all redirects and the last answer.
fn steps(answer: &Answer) -> impl Iterator<Item = &Step> {
    answer.redirects.iter().chain([&answer.last])
}

/// Returns whether no request of the examination is sent to another origin than that of the page.
fn is_same_origin(examination: &Examination) -> bool {
    let answers = [examination.manifest(), examination.shard()]
        .into_iter()
        .flatten();
    let urls = answers.flat_map(steps).map(|step| step.url.origin());
    urls.chain([examination.url.origin()])
        .all(|origin| origin == examination.origin.origin())
}

/// Checks that pages of other origins may read the manifest and ranges.
pub fn origins(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("cors", "CORS");
    let expected = format!(
        "Access-Control-Allow-Origin: * or {} for the manifest, ranges and their redirects",
        examination.origin.origin().ascii_serialization()
    );
    let Some(manifest) = examination.manifest() else {
        return Check::skipped(id, title, "no answer for the manifest", expected);
    };
    if is_same_origin(examination) {
        return Check::ok(id, title, SAME_ORIGIN, expected);
    }
    let named = [("manifest", Some(manifest)), ("range", examination.shard())];
    let named: Vec<_> = named
        .into_iter()
        .filter_map(|(name, answer)| Some((name, answer?)))
        .collect();
    let refused = named
        .iter()
        .flat_map(|(name, answer)| steps(answer).map(move |step| (*name, step)));
    let refused = refused.into_iter().find(|(_, step)| !allows(step));
    match refused {
        None => {
            let found: Vec<_> = named
                .iter()
                .map(|(name, answer)| format!("{name}: {}", permission(&answer.last)))
                .collect();
            Check::ok(id, title, found.join(", "), expected)
        }
        Some((name, step)) => {
            let origin = if step.origin == "null" {
                ", which a redirect requires to be *"
            } else {
                ""
            };
            let found = format!(
                "{name}, status {}: {}{origin}",
                step.status,
                permission(step)
            );
            Check::ok(id, title, found, expected).fail(remedy(server, Need::Cors, &examination.url))
        }
    }
}

/// Checks that pages of other origins may read `Content-Range`.
pub fn exposed(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("cors-exposed", "CORS, headers");
    let expected = format!("Access-Control-Expose-Headers: {EXPOSED} (useful, not necessary)");
    let Some(answer) = examination.shard() else {
        return Check::skipped(id, title, NO_MANIFEST, expected);
    };
    if is_same_origin(examination) {
        return Check::ok(id, title, SAME_ORIGIN, expected);
    }
    let exposed = answer
        .last
        .header("access-control-expose-headers")
        .unwrap_or_default();
    let has = |name: &str| {
        exposed
            .split(',')
            .map(str::trim)
            .any(|one| one == "*" || one.eq_ignore_ascii_case(name))
    };
    let found = if exposed.is_empty() {
        "none".to_owned()
    } else {
        exposed.clone()
    };
    match has("Content-Range") {
        true => Check::ok(id, title, found, expected),
        false => Check::ok(
            id,
            title,
            format!("{found}; Content-Range is hidden from pages"),
            expected,
        )
        .warn(remedy(server, Need::Exposed, &examination.url)),
    }
}

/// Checks that pages of other origins see the status of a missing file.
pub fn errors(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("cors-errors", "CORS, errors");
    let expected = "Access-Control-Allow-Origin also for status 404, so that readers see that a file was replaced";
    let Some(Ok(answer)) = &examination.missing else {
        return Check::skipped(id, title, "no answer for a missing file", expected);
    };
    if is_same_origin(examination) {
        return Check::ok(id, title, SAME_ORIGIN, expected);
    }
    let found = format!(
        "status {}: {}",
        answer.last.status,
        permission(&answer.last)
    );
    match steps(answer).all(allows) {
        true => Check::ok(id, title, found, expected),
        false => {
            Check::ok(id, title, found, expected).warn(remedy(server, Need::Cors, &examination.url))
        }
    }
}

/// Checks that older browsers may send ranges.
pub fn preflight(examination: &Examination, server: Server) -> Check {
    let (id, title) = ("preflight", "preflight");
    let expected = "status 200 or 204, Access-Control-Allow-Headers: Range (browsers before Chrome 99, Firefox 117 and Safari 16 ask)";
    let Some(asked) = &examination.preflight else {
        return Check::skipped(id, title, NO_MANIFEST, expected);
    };
    if is_same_origin(examination) {
        return Check::ok(id, title, SAME_ORIGIN, expected);
    }
    let refused = |found: String| {
        Check::ok(
            id,
            title,
            format!("{found}; current browsers do not ask"),
            expected,
        )
        .warn(remedy(server, Need::Preflight, &examination.url))
    };
    let step = match asked {
        Ok(answer) => &answer.last,
        Err(error) => return refused(error.to_string()),
    };
    let headers = step
        .header("access-control-allow-headers")
        .unwrap_or_default();
    let allows_range = headers
        .split(',')
        .map(str::trim)
        .any(|one| one == "*" || one.eq_ignore_ascii_case("range"));
    let shown = if headers.is_empty() { "none" } else { &headers };
    let found = format!(
        "status {}, origin: {}, headers: {shown}",
        step.status,
        permission(step)
    );
    match (200..=299).contains(&step.status) && allows(step) && allows_range {
        true => Check::ok(id, title, found, expected),
        false => refused(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_machine_is_recognised_by_its_names() -> Result<(), Box<dyn std::error::Error>> {
        for url in [
            "http://localhost:8000/",
            "http://a.localhost/",
            "http://127.0.0.1/",
            "http://[::1]:1/",
        ] {
            assert!(is_local(&Url::parse(url)?), "{url}");
        }
        for url in [
            "http://example.org/",
            "http://10.0.0.1/",
            "http://localhost.example.org/",
        ] {
            assert!(!is_local(&Url::parse(url)?), "{url}");
        }
        Ok(())
    }
}
