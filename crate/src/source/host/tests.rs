use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::coding::tests::coded;
use super::zone::Zone;
use super::*;

type Test = Result<(), Box<dyn std::error::Error>>;

fn wait<F: Future + Send>(future: F) -> std::io::Result<F::Output> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future))
}

#[test]
fn a_base_url_is_http_or_https_and_gets_a_final_slash() -> Test {
    let host = |base: &str| Host::new(base, Options::default());
    for (base, expected) in [
        ("http://x", "http://x/manifest.json"),
        ("HTTP://x/", "HTTP://x/manifest.json"),
        ("https://x:81/a/b", "https://x:81/a/b/manifest.json"),
    ] {
        assert_eq!(host(base)?.locate("manifest.json"), expected);
    }
    for base in [
        "",
        "db",
        "/db",
        "file:///db",
        "ftp://x",
        "http:",
        "http://x:99999",
    ] {
        assert_eq!(
            host(base).err(),
            Some(HostError::Address {
                found: base.to_string()
            })
        );
    }
    Ok(())
}

#[test]
fn headers_are_sent_with_every_request_and_hidden_in_debug_output() -> Test {
    let echo = echo("authorization:")?;
    let options = |name: &str, value: &str| {
        let headers = [(name, value), ("range", "bytes=7-7")]
            .map(|(name, value)| (name.into(), value.into()));
        Options {
            headers: headers.into(),
            ..Options::default()
        }
    };
    let secret = options("Authorization", "bearer secret");
    let host = Host::new(&echo.base, secret.clone())?;
    assert_eq!(
        wait(host.whole("f", 100))??,
        b"authorization: bearer secret"
    );
    assert_eq!(wait(host.range("f", 0..13))??, b"authorization");
    assert!(
        !format!("{host:?} {secret:?}").contains("bearer"),
        "{host:?} {secret:?}"
    );
    for (name, value) in [("", "x"), ("a b", "x"), ("x", "a\r\nb: c")] {
        let error = Host::new(&echo.base, options(name, value)).err();
        assert_eq!(
            error,
            Some(HostError::Header {
                name: name.to_string()
            })
        );
    }
    Ok(())
}

/// Starts a host that responds to every request with `answer`, which receives the request's head.
fn host(
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> std::io::Result<Host> {
    host_within(Duration::from_secs(30), answer)
}

/// Starts a host like [`host`], whose responses have a timeout.
fn host_within(
    timeout: Duration,
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> std::io::Result<Host> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base = format!("http://{}/", listener.local_addr()?);
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || {
                let mut head = String::new();
                let mut input = BufReader::new(stream.try_clone()?);
                while input.read_line(&mut head)? > 2 {}
                answer(&head.to_ascii_lowercase(), &mut stream)
            });
        }
    });
    Host::new(
        &base,
        Options {
            timeout,
            ..Options::default()
        },
    )
    .map_err(std::io::Error::other)
}

/// Starts a host that answers with the line of a request's head that has this beginning.
fn echo(beginning: &'static str) -> std::io::Result<Host> {
    host(move |head, stream| {
        let line = head
            .lines()
            .find(|line| line.starts_with(beginning))
            .unwrap_or_default();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{line}",
            line.len()
        )
    })
}

/// Returns a complete response with an additional header line, independent of the request.
fn answering(status: &str, header: &str, body: &[u8]) -> std::io::Result<Host> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), body].concat();
    host(move |_, stream| stream.write_all(&answer))
}

#[test]
fn a_file_with_a_known_etag_is_not_sent_again() -> Test {
    let host = host(
        |head, stream| {
            match head.contains("if-none-match: \"new\"") {
        true => stream.write_all(b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n"),
        false => {
            stream.write_all(b"HTTP/1.1 200 OK\r\netag: \"new\"\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx")
        }
    }
        },
    )?;
    let whole = Whole {
        bytes: b"x".to_vec(),
        etag: Some("\"new\"".to_owned()),
    };
    assert_eq!(wait(host.whole_unless("f", 9, None))??, Some(whole.clone()));
    assert_eq!(
        wait(host.whole_unless("f", 9, Some("\"old\"")))??,
        Some(whole)
    );
    assert_eq!(wait(host.whole_unless("f", 9, Some("\"new\"")))??, None);
    assert_eq!(wait(host.whole("f", 9))??, b"x");
    Ok(())
}

#[test]
fn status_304_without_a_sent_etag_is_an_error_and_long_etags_are_ignored() -> Test {
    let unasked = answering("304 Not Modified", "etag: \"x\"", b"")?;
    assert_eq!(
        kind_of(wait(unasked.whole("f", 9))?)?,
        SourceErrorKind::Status(304)
    );
    assert_eq!(
        kind_of(wait(unasked.range("f", 0..1))?)?,
        SourceErrorKind::Status(304)
    );
    let long = answering(
        "200 OK",
        &format!("etag: \"{}\"", "x".repeat(MAX_ETAG)),
        b"x",
    )?;
    assert_eq!(
        wait(long.whole_unless("f", 9, None))??,
        Some(Whole {
            bytes: b"x".to_vec(),
            etag: None
        })
    );
    Ok(())
}

fn kind_of<T: std::fmt::Debug>(
    result: Result<T, SourceError>,
) -> Result<SourceErrorKind, Box<dyn std::error::Error>> {
    Ok(result.err().ok_or("an answer")?.kind)
}

#[test]
fn a_compressed_file_is_decoded_up_to_the_length_limit() -> Test {
    let text = vec![b'x'; 5000];
    for (name, body) in coded(&text)? {
        let host = answering("200 OK", &format!("Content-Encoding: {name}"), &body)?;
        assert_eq!(wait(host.whole("f", 6000))??, text, "{name}");
        assert_eq!(wait(host.range("f", 7..9))??, b"xx", "{name}");
        assert_eq!(
            kind_of(wait(host.whole("f", 4999))?)?,
            SourceErrorKind::Long { expected: 4999 },
            "{name}"
        );
        assert_eq!(
            kind_of(wait(host.whole("f", 10))?)?,
            SourceErrorKind::Long { expected: 10 },
            "{name}"
        );
    }
    Ok(())
}

#[test]
fn the_error_of_an_unknown_or_damaged_coding_contains_the_name() -> Test {
    for (header, body, words) in [
        ("Content-Encoding: pack200-gzip", "x", "\"pack200-gzip\""),
        (
            "Content-Encoding: gzip\r\nContent-Encoding: br",
            "x",
            "\"gzip, br\"",
        ),
        ("Content-Encoding: gzip", "x", "gzip, damaged"),
        ("Content-Encoding: br", "", "br, damaged"),
    ] {
        let kind = kind_of(wait(
            answering("200 OK", header, body.as_bytes())?.whole("f", 10),
        )?)?;
        assert!(
            matches!(kind, SourceErrorKind::Io(..)) && kind.to_string().contains(words),
            "{kind}"
        );
    }
    let host = answering(
        "206 Part",
        "Content-Encoding: gzip\r\nContent-Range: bytes 0-0/9",
        b"x",
    )?;
    assert_eq!(
        kind_of(wait(host.range("f", 0..1))?)?,
        SourceErrorKind::ContentEncoding("gzip".to_owned())
    );
    Ok(())
}

#[test]
fn headers_of_the_source_override_headers_of_the_caller() -> Test {
    let headers = [("Range", "bytes=7-7"), ("accept-encoding", "compress")]
        .map(|(name, value)| (name.into(), value.into()));
    let options = Options {
        headers: headers.into(),
        ..Options::default()
    };
    for (name, of_a_file, of_a_range) in [
        ("range:", "", "range: bytes=0-16"),
        (
            "accept-encoding:",
            "accept-encoding: gzip, deflate, br, zstd",
            "accept-encoding: identity",
        ),
    ] {
        let host = Host::new(&echo(name)?.base, options.clone())?;
        assert_eq!(wait(host.whole("f", 100))??, of_a_file.as_bytes());
        assert_eq!(
            wait(host.range("f", 0..of_a_range.len() as u64))??,
            of_a_range.as_bytes()
        );
    }
    Ok(())
}

#[test]
fn ranges_are_requested_uncompressed_and_files_in_any_known_coding() -> Test {
    let echo = echo("accept-encoding:")?;
    assert_eq!(
        wait(echo.whole("f", 100))??,
        format!("accept-encoding: {}", coding::ACCEPTED).as_bytes()
    );
    assert_eq!(wait(echo.range("f", 0..25))??, b"accept-encoding: identity");
    Ok(())
}

/// Starts a host that answers the first requests in one way and later requests with `x`, and counts the requests.
fn recovering(
    failures: usize,
    fail: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> std::io::Result<(Host, Arc<AtomicUsize>)> {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = count.clone();
    let host = host(move |_, stream| match asked.fetch_add(1, Relaxed) {
        n if n < failures => fail(stream),
        _ => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx")
        }
    })?;
    Ok((host, count))
}

#[test]
fn transient_errors_are_retried_at_most_twice() -> Test {
    let status = |status: &'static str| {
        move |stream: &mut TcpStream| {
            stream.write_all(
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    .as_bytes(),
            )
        }
    };
    for code in ["429 Slow", "500 Oh", "502 Bad", "503 Busy", "504 Late"] {
        let (host, asked) = recovering(2, status(code))?;
        assert_eq!(
            (wait(host.whole("f", 9))??, asked.load(Relaxed)),
            (b"x".to_vec(), 3),
            "{code}"
        );
        let (host, asked) = recovering(9, status(code))?;
        let code = code[..3].parse()?;
        assert_eq!(
            (kind_of(wait(host.whole("f", 9))?)?, asked.load(Relaxed)),
            (SourceErrorKind::Status(code), 3)
        );
    }
    // A body that breaks off, and no answer at all.
    let cut =
        |stream: &mut TcpStream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx");
    for (host, asked) in [recovering(2, cut)?, recovering(2, |_| Ok(()))?] {
        assert_eq!(
            (wait(host.whole("f", 9))??, asked.load(Relaxed)),
            (b"x".to_vec(), 3)
        );
    }
    // Permanent errors, and an error whose retry would take longer than the timeout.
    for code in [
        "404 No",
        "403 No",
        "501 What",
        "503 Busy\r\nretry-after: 60",
    ] {
        let (host, asked) = recovering(9, status(code))?;
        assert!(matches!(
            kind_of(wait(host.whole("f", 9))?)?,
            SourceErrorKind::Status(_)
        ));
        assert_eq!(asked.load(Relaxed), 1, "{code}");
    }
    Ok(())
}

#[test]
fn retry_after_is_parsed_as_seconds_or_as_a_date() {
    assert_eq!(pause_of(" 7 "), Some(Duration::from_secs(7)));
    let soon = SystemTime::now() + Duration::from_secs(100);
    let until = pause_of(&httpdate::fmt_http_date(soon));
    assert!(
        until.is_some_and(|until| (90..=100).contains(&until.as_secs())),
        "{until:?}"
    );
    for text in ["", "soon", "-1", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"] {
        assert_eq!(pause_of(text), None, "{text}");
    }
}

#[test]
fn a_response_that_is_too_slow_times_out() -> Test {
    for head in [
        "HTTP/1.1 200 O",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 206 Part\r\ncontent-length: 1000\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: ",
    ] {
        let drip = if head.contains("chunked") {
            "1\r\nx\r\n"
        } else {
            "x"
        };
        let host = host_within(Duration::from_secs(1), move |_, stream| {
            stream.write_all(head.as_bytes())?;
            loop {
                thread::sleep(Duration::from_millis(100));
                stream.write_all(drip.as_bytes())?;
            }
        })?;
        let start = Instant::now();
        let answer = if head.contains("206") {
            wait(host.range("f", 0..1000))
        } else {
            wait(host.whole("f", 1000))
        };
        let kind = kind_of(answer?)?;
        assert!(
            matches!(kind, SourceErrorKind::Timeout(limit) if limit.as_millis() < 1010),
            "{head:?}: {kind}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{head:?}: {:?}",
            start.elapsed()
        );
    }
    Ok(())
}

#[test]
fn redirects_count_towards_the_timeout_of_the_request() -> Test {
    let host = host_within(Duration::from_secs(1), |_, stream| {
        thread::sleep(Duration::from_millis(300));
        stream.write_all(
            b"HTTP/1.1 302 Found\r\nlocation: /f\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        )
    })?;
    assert_eq!(
        kind_of(wait(host.whole("f", 9))?)?,
        SourceErrorKind::Timeout(Duration::from_secs(1))
    );
    Ok(())
}

#[test]
fn a_slow_but_steady_download_does_not_time_out() -> Test {
    // Twice the pace, for twice the timeout.
    let host = host_within(Duration::from_secs(1), |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
        for _ in 0..8 {
            thread::sleep(Duration::from_millis(250));
            stream.write_all(&[b'x'; 8192])?;
        }
        Ok(())
    })?;
    let start = Instant::now();
    assert_eq!(wait(host.whole("f", 1 << 20))??.len(), 8 * 8192);
    assert!(
        start.elapsed() > Duration::from_millis(1500),
        "{:?}",
        start.elapsed()
    );
    Ok(())
}

/// A network in which the addresses 127.0.0.1 and 127.0.0.2 are of the Internet, and no others.
const NETWORK: Network = Network {
    zone_of: |address| match address.to_string().as_str() {
        "127.0.0.1" | "127.0.0.2" => Zone::Public,
        _ => Zone::Private,
    },
    address_of: |name| match name {
        "public.test" => Some([127, 0, 0, 1].into()),
        "other.test" => Some([127, 0, 0, 2].into()),
        "private.test" => Some([127, 0, 0, 3].into()),
        _ => None,
    },
};

/// Starts a server on all addresses of this machine. The file `f` has the content `x`, and each other path is a redirect to the URL in
/// it. Returns its port and the requests that it got.
fn redirecting() -> std::io::Result<(u16, Arc<std::sync::Mutex<Vec<String>>>)> {
    let listener = TcpListener::bind("0.0.0.0:0")?;
    let port = listener.local_addr()?.port();
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let requests = asked.clone();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let requests = requests.clone();
            thread::spawn(move || {
                let mut head = String::new();
                let mut input = BufReader::new(stream.try_clone()?);
                while input.read_line(&mut head)? > 2 {}
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                if let Ok(mut requests) = requests.lock() {
                    requests.push(head);
                }
                match path.split_once("/to/") {
                    Some((_, target)) => write!(
                        stream,
                        "HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    ),
                    None => stream.write_all(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx",
                    ),
                }
            });
        }
    });
    Ok((port, asked))
}

/// Reads a file of a host that may be redirected.
fn redirected(
    base: &str,
    file: &str,
) -> Result<Result<Vec<u8>, SourceErrorKind>, Box<dyn std::error::Error>> {
    let headers = vec![
        ("Authorization".to_owned(), "secret".to_owned()),
        ("x-plain".to_owned(), "plain".to_owned()),
    ];
    let host = Host::on(NETWORK, base, Options::default().with_headers(headers))?;
    Ok(wait(host.whole(file, 9))?.map_err(|error| error.kind))
}

#[test]
fn redirects_from_a_public_host_to_private_addresses_are_errors() -> Test {
    let (port, asked) = redirecting()?;
    for target in [
        "127.0.0.3",
        "private.test",
        "127.1.1.1",
        "[::ffff:127.0.0.3]",
        "[::1]",
        "2130706435",
    ] {
        for first in ["127.0.0.1", "public.test"] {
            let to = format!("http://{target}:{port}/f");
            let kind = redirected(&format!("http://{first}:{port}"), &format!("to/{to}"))?
                .err()
                .ok_or("an answer")?;
            let SourceErrorKind::Redirect(error @ RedirectError::Private { .. }) = &kind else {
                return Err(format!("{first} {target}: {kind}").into());
            };
            assert!(
                error.to_string().contains("a public host redirects to"),
                "{error}"
            );
            assert!(!kind.is_transient() && !kind.is_stale());
        }
    }
    // A private host whose target is public: its redirect counts as one of a public host.
    let to = format!("http://public.test:{port}/to/http://private.test:{port}/f");
    let kind = redirected(&format!("http://private.test:{port}"), &format!("to/{to}"))?.err();
    assert!(
        matches!(
            kind,
            Some(SourceErrorKind::Redirect(RedirectError::Private { .. }))
        ),
        "{kind:?}"
    );
    let asked = asked.lock().map_err(|error| error.to_string())?;
    assert!(
        !asked.is_empty() && asked.iter().all(|head| !head.starts_with("GET /f ")),
        "{asked:?}"
    );
    Ok(())
}

#[test]
fn other_redirects_are_followed_without_the_secrets_of_another_host() -> Test {
    for (first, second) in [
        ("127.0.0.1", "127.0.0.2"),
        ("public.test", "other.test"),
        ("private.test", "127.0.0.4"),
        ("127.0.0.3", "private.test"),
        ("private.test", "public.test"),
        ("public.test", "public.test"),
    ] {
        let (port, asked) = redirecting()?;
        let found = redirected(
            &format!("http://{first}:{port}"),
            &format!("to/http://{second}:{port}/f"),
        )?;
        assert_eq!(found, Ok(b"x".to_vec()), "{first} {second}");
        let asked = asked.lock().map_err(|error| error.to_string())?;
        let has = |n: usize, text: &str| {
            asked
                .get(n)
                .is_some_and(|head| head.to_ascii_lowercase().contains(text))
        };
        assert!(
            has(0, "authorization: secret") && has(0, "x-plain: plain") && has(1, "x-plain: plain"),
            "{asked:?}"
        );
        assert_eq!(has(1, "authorization"), first == second, "{asked:?}");
    }
    // A relative target.
    let (port, _) = redirecting()?;
    assert_eq!(
        redirected(&format!("http://public.test:{port}"), "to//f")?,
        Ok(b"x".to_vec())
    );
    Ok(())
}

#[test]
fn endless_redirects_and_redirects_to_other_schemes_are_errors() -> Test {
    let (port, asked) = redirecting()?;
    let base = format!("http://public.test:{port}");
    let endless = host(|head, stream| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let redirect = format!(
            "HTTP/1.1 307 Go\r\nlocation: {path}x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(redirect.as_bytes())
    })?;
    let many = SourceErrorKind::Redirect(RedirectError::Many {
        max: redirect::MAX_REDIRECTS,
    });
    assert_eq!(kind_of(wait(endless.whole("f", 9))?)?, many);
    for scheme in ["ftp", "file", "gopher"] {
        let kind = redirected(&base, &format!("to/{scheme}://public.test/f"))?.err();
        assert_eq!(
            kind,
            Some(SourceErrorKind::Redirect(RedirectError::Scheme {
                found: scheme.to_owned()
            }))
        );
    }
    assert_eq!(asked.lock().map_err(|error| error.to_string())?.len(), 3);
    Ok(())
}

#[test]
fn a_redirect_from_https_to_http_is_an_error() -> Test {
    let client = Client::on(NETWORK, |client| client)?;
    for (from, to, is_allowed) in [
        ("https://public.test/a", "http://public.test/a", false),
        ("https://private.test/a", "http://private.test/a", false),
        ("https://public.test/a", "https://other.test/a", true),
        ("http://public.test/a", "https://public.test/a", true),
    ] {
        let hop = client.hop(&from.parse()?, Some(([127, 0, 0, 1], 1).into()));
        let judged = client.judge(Some(&hop), &to.parse()?).map(drop);
        let expected = RedirectError::Downgrade { to: to.to_owned() };
        assert_eq!(
            judged,
            if is_allowed { Ok(()) } else { Err(expected) },
            "{from} {to}"
        );
    }
    Ok(())
}
