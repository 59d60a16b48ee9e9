use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

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
        ("https://x/a?sig=pw/", "https://x/a/manifest.json"),
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
        "http://x/a#",
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
fn the_query_of_the_address_is_sent_with_every_request_and_is_in_no_message() -> Test {
    let echo = echo("get ")?;
    let base = format!("{}a?sig=p/w", echo.base);
    let host = Host::new(&base, Options::default())?;
    let requested = b"get /a/f?sig=p/w http/1.1";
    assert_eq!(wait(host.whole("f", 100))??, requested);
    assert_eq!(wait(host.range("f", 0..25))??, requested);
    let error = wait(host.range("f", 0..2000))?
        .err()
        .map(|error| error.to_string());
    let error = error.unwrap_or_default();
    assert!(
        error.contains("/a/f: ") && !error.contains("sig"),
        "{error}"
    );
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

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

#[test]
fn a_compressed_file_is_decoded_up_to_the_length_limit() -> Test {
    let text = vec![b'x'; 5000];
    for name in ["gzip", "X-Gzip"] {
        let host = answering(
            "200 OK",
            &format!("Content-Encoding: {name}"),
            &gzip(&text)?,
        )?;
        assert_eq!(wait(host.whole("f", 6000))??, text, "{name}");
        assert_eq!(wait(host.range("f", 7..9))??, b"xx", "{name}");
        for cap in [4999, 10] {
            let kind = kind_of(wait(host.whole("f", cap))?)?;
            assert_eq!(kind, SourceErrorKind::Long { expected: cap }, "{name}");
        }
    }
    let bomb = decoded(gzip(&vec![0; 64 << 20])?, "gzip", 1000)?;
    assert!(bomb.len() == 1001 && bomb.capacity() < 1 << 16);
    Ok(())
}

#[test]
fn the_error_of_an_unknown_or_damaged_coding_contains_the_name() -> Test {
    let whole = gzip(b"text")?;
    for (header, body, words) in [
        ("Content-Encoding: br", &b"x"[..], "\"br\""),
        (
            "Content-Encoding: gzip\r\nContent-Encoding: br",
            b"x",
            "\"gzip, br\"",
        ),
        (
            "Content-Encoding: gzip",
            &whole[..whole.len() - 1],
            "gzip, damaged",
        ),
    ] {
        let kind = kind_of(wait(answering("200 OK", header, body)?.whole("f", 100))?)?;
        assert!(
            matches!(kind, SourceErrorKind::Io(..)) && kind.to_string().contains(words),
            "{kind}"
        );
    }
    Ok(())
}

#[test]
fn ranges_are_requested_uncompressed_and_files_in_any_known_coding() -> Test {
    let echo = echo("accept-encoding:")?;
    assert_eq!(
        wait(echo.whole("f", 100))??,
        format!("accept-encoding: {}", ACCEPTED).as_bytes()
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
fn redirects_are_followed_at_most_five_times_without_the_secrets_of_another_host() -> Test {
    let target = echo("authorization:")?.base;
    let redirecting = move |head: &str, stream: &mut TcpStream| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let target = match path {
            "/elsewhere" => format!("{target}f"),
            path => format!("{path}x"),
        };
        write!(
            stream,
            "HTTP/1.1 307 Go\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    let base = host(redirecting)?.base;
    let headers = vec![("Authorization".to_owned(), "secret".to_owned())];
    let host = Host::new(&base, Options::default().with_headers(headers))?;
    assert_eq!(wait(host.whole("elsewhere", 99))??, b"");
    let many = SourceErrorKind::Redirect(RedirectError::Many);
    assert_eq!(kind_of(wait(host.whole("f", 9))?)?, many);
    Ok(())
}
