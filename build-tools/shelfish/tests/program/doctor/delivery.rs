//! Permission for pages of other origins, redirects, caching and limits of requests.

use serde_json::Value;

use super::*;

#[test]
fn missing_permission_for_other_origins_is_a_problem() {
    for allowed in ["", "https://other.example", "*, *"] {
        let answer =
            with_fault(move |_, reply, _, _| reply.set("access-control-allow-origin", allowed));
        is_only("problem", &answer, &["cors"]);
        let found = if allowed.is_empty() {
            "manifest, status 200: none"
        } else {
            allowed
        };
        expect(
            &answer.1,
            "cors",
            "problem",
            found,
            "Access-Control-Allow-Origin: *",
        );
        assert_eq!(
            with_result(&answer.1, "warning"),
            ["cors-errors", "preflight"]
        );
    }
    let answer = with_fault(|request, reply, _, _| {
        if request.is_range() {
            reply.set("access-control-allow-origin", "");
        }
    });
    is_only("problem", &answer, &["cors"]);
    expect(
        &answer.1,
        "cors",
        "problem",
        "range, status 206: none",
        "add_header Access-Control-Allow-Origin",
    );
}

#[test]
fn the_origin_of_the_page_is_sent_and_may_be_allowed_alone() {
    let host = FaultyHost::new(&Fixture::of_sample(), |_, reply, _, _| {
        reply.set("access-control-allow-origin", "https://me.github.io");
    });
    let answer = examine(&host.url(), &["--origin", "https://me.github.io/board/"]);
    is_only("problem", &answer, &[]);
    assert_eq!(answer.1["origin"], "https://me.github.io");
    let requests = host.requests.lock().unwrap();
    assert!(
        requests
            .iter()
            .all(|request| request.header("origin") == "https://me.github.io"),
        "{requests:?}"
    );
    drop(requests);
    // A page of the same origin needs no permission.
    let host = FaultyHost::new(&Fixture::of_sample(), |_, reply, _, _| {
        reply.set("access-control-allow-origin", "")
    });
    let answer = examine(&host.url(), &["--origin", &host.url()]);
    is_only("problem", &answer, &[]);
    expect(&answer.1, "cors", "ok", "not necessary", "");
}

#[test]
fn hidden_headers_and_errors_without_permission_are_warnings() {
    let answer = with_fault(|_, reply, _, _| reply.set("access-control-expose-headers", ""));
    is_only("warning", &answer, &["cors-exposed"]);
    expect(
        &answer.1,
        "cors-exposed",
        "warning",
        "none",
        "add_header Access-Control-Expose-Headers",
    );
    let answer = with_fault(|_, reply, _, _| {
        if reply.status == 404 {
            reply.set("access-control-allow-origin", "");
        }
    });
    is_only("warning", &answer, &["cors-errors"]);
    expect(
        &answer.1,
        "cors-errors",
        "warning",
        "status 404: none",
        "always;",
    );
}

#[test]
fn a_long_header_with_control_characters_is_shortened_and_escaped() {
    let host = FaultyHost::new(&Fixture::of_sample(), |_, reply, _, _| {
        reply.set(
            "access-control-allow-origin",
            &format!("x\u{9b}\ty{}", "z".repeat(20_000)),
        );
    });
    let (code, report) = examine(&host.url(), &[]);
    let found = check(&report, "cors")["found"].as_str().unwrap();
    assert!(
        code == 1 && found.contains("zzz") && found.chars().count() <= 257,
        "{found}"
    );
    let out = shelfish(["doctor", &host.url()]).out;
    assert!(
        !out.contains(|c: char| c.is_control() && c != '\n'),
        "{out}"
    );
}

#[test]
fn a_refused_preflight_is_a_warning() {
    let refuse: [fn(&mut Reply); 3] = [
        |reply| reply.status = 501,
        |reply| reply.set("access-control-allow-headers", "Content-Type"),
        |reply| reply.redirect("/elsewhere"),
    ];
    for refuse in refuse {
        let answer = with_fault(move |request, reply, _, _| {
            if request.method == "OPTIONS" {
                refuse(reply);
            }
        });
        is_only("warning", &answer, &["preflight"]);
        expect(
            &answer.1,
            "preflight",
            "warning",
            "current browsers do not ask",
            "Access-Control-Allow-Headers",
        );
    }
}

#[test]
fn redirects_of_ranges_are_warnings_and_many_redirects_a_problem() {
    let redirected = |from: &'static str, to: &'static str| {
        with_fault(move |request, reply, _, _| {
            let is_shard = request.is_range() && request.path.starts_with(from);
            if is_shard {
                reply.redirect(&request.path.replacen(from, to, 1));
            }
        })
    };
    let answer = redirected("/db/", "/cdn/");
    is_only("warning", &answer, &["redirects"]);
    expect(
        &answer.1,
        "redirects",
        "warning",
        "each range takes another round trip",
        "without redirects",
    );
    let answer = redirected("/db/", "/cdn/x.silo?X-Amz-Signature=1&was=/");
    assert_eq!(
        with_result(&answer.1, "problem"),
        ["ranges"],
        "{:#}",
        answer.1
    );
    expect(
        &answer.1,
        "redirects",
        "warning",
        "signed and expires",
        "stable address",
    );

    let many = with_fault(|request, reply, _, _| {
        let count = request.path.matches("/again").count();
        if request.is_range() && count < 4 {
            reply.redirect(&request.path.replacen("/db", "/db/again", 1));
        }
    });
    is_only("problem", &many, &["redirects"]);
    expect(
        &many.1,
        "redirects",
        "problem",
        "range: 4, to",
        "without redirects",
    );
    let endless = with_fault(|request, reply, _, _| {
        if request.is_manifest() {
            reply.redirect(&request.path);
        }
    });
    is_only("problem", &endless, &["manifest", "redirects"]);
}

#[test]
fn a_redirect_to_another_origin_hides_the_origin_of_the_page() {
    let fixture = Fixture::of_sample();
    let to = FaultyHost::new(&fixture, |request, reply, _, _| {
        reply.set("access-control-allow-origin", request.header("origin"));
    });
    let target = to.url();
    let from = FaultyHost::new(&fixture, move |request, reply, _, _| {
        let name = request.path.rsplit('/').next().unwrap();
        reply.redirect(&format!("{target}/{name}"));
    });
    let answer = examine(&from.url(), &[]);
    is_only("problem", &answer, &[]);
    expect(
        &answer.1,
        "redirects",
        "warning",
        "permission of both origins",
        "without redirects",
    );
    // Shards are next to the manifest after its redirect.
    let requests = to.requests.lock().unwrap();
    assert_eq!(requests[0].header("origin"), "null");
    assert!(requests.iter().any(Request::is_range));
    assert!(
        from.requests
            .lock()
            .unwrap()
            .iter()
            .all(|request| !request.is_range())
    );
}

#[test]
fn a_redirect_of_the_manifest_to_a_folder_without_shards_is_a_problem() {
    let answer = with_fault(|request, reply, _, _| {
        if request.path == "/db/manifest.json" {
            reply.redirect("/other/manifest.json");
        } else if request.path.starts_with("/other/") && !request.is_manifest() {
            (reply.status, reply.body) = (404, Vec::new());
        }
    });
    is_only("problem", &answer, &["ranges"]);
    expect(
        &answer.1,
        "ranges",
        "problem",
        "folder to which the manifest is redirected",
        "do not redirect the manifest",
    );
}

#[test]
fn a_manifest_that_caches_keep_is_a_problem_or_a_warning() {
    for (value, result, found) in [
        (
            "max-age=31536000, immutable",
            "problem",
            "keep the old manifest after a new build",
        ),
        (
            "public, immutable",
            "problem",
            "keep the old manifest after a new build",
        ),
        (
            "max-age=60, s-maxage=604800",
            "problem",
            "keep the old manifest after a new build",
        ),
        ("max-age=7200", "warning", "for hours"),
        ("no-store", "warning", "transferred whole"),
        ("", "warning", "no Cache-Control"),
        ("public, max-age=600", "ok", "max-age=600"),
        (
            "no-cache, max-age=31536000",
            "ok",
            "status 304 for an unchanged manifest",
        ),
    ] {
        let answer = with_fault(move |request, reply, _, _| {
            if request.is_manifest() {
                reply.set("cache-control", value);
            }
        });
        expect(
            &answer.1,
            "caching-manifest",
            result,
            found,
            if result == "ok" { "" } else { "expires epoch;" },
        );
        assert_eq!(answer.0, i32::from(result == "problem"), "{value}");
    }
}

#[test]
fn a_manifest_without_a_working_etag_is_a_warning() {
    let answer = with_fault(|_, reply, _, _| reply.set("etag", ""));
    is_only("warning", &answer, &["caching-manifest"]);
    expect(
        &answer.1,
        "caching-manifest",
        "warning",
        "neither ETag nor Last-Modified",
        "etag on;",
    );
    let answer = with_fault(|_, reply, _, _| {
        if reply.status == 304 {
            reply.status = 200;
        }
    });
    is_only("warning", &answer, &["caching-manifest"]);
    expect(
        &answer.1,
        "caching-manifest",
        "warning",
        "status 200 instead of 304",
        "",
    );
}

#[test]
fn shards_that_caches_must_not_keep_are_a_warning() {
    let answer = with_fault(|request, reply, _, _| {
        if request.is_range() {
            reply.set("cache-control", "no-store");
        }
    });
    is_only("warning", &answer, &["caching-shards"]);
    expect(
        &answer.1,
        "caching-shards",
        "warning",
        "no-store",
        "expires 1y;",
    );
}

#[test]
fn a_user_in_the_address_is_a_problem_and_is_not_printed() {
    let host = FaultyHost::new(&Fixture::of_sample(), |_, _, _, _| {});
    let url = host.url().replacen("http://", "http://me:secret@", 1);
    let answer = examine(&url, &[]);
    is_only("problem", &answer, &["https"]);
    assert!(!answer.1.to_string().contains("secret"), "{:#}", answer.1);
    let text = shelfish(["doctor", &url]);
    assert!(
        text.code == 1 && !text.out.contains("secret"),
        "{}",
        text.out
    );
}

#[test]
fn a_host_that_limits_requests_is_a_problem() {
    let answer = with_fault(|_, reply, _, earlier| {
        if earlier > 10 {
            reply.status = 429;
            reply.set("retry-after", "30");
        }
    });
    is_only("problem", &answer, &["speed"]);
    expect(
        &answer.1,
        "speed",
        "problem",
        "Retry-After: 30",
        "limits requests",
    );
    assert_eq!(answer.1["speed"], Value::Null);
}

#[test]
fn the_number_of_requests_is_limited_despite_redirects() {
    let host = FaultyHost::new(&Fixture::of_sample(), |request, reply, _, _| {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if query.len() < 5 && request.method != "OPTIONS" {
            reply.redirect(&format!("{path}?{query}x"));
        }
    });
    let (_, report) = examine(&host.url(), &[]);
    assert!(report["requests"].as_u64().unwrap() <= 60, "{report:#}");
    assert_eq!(
        report["requests"].as_u64().unwrap(),
        host.requests.lock().unwrap().len() as u64
    );
    expect(
        &report,
        "redirects",
        "problem",
        "range: 5, to",
        "without redirects",
    );
    expect(&report, "speed", "not-checked", "too many redirects", "");
}
