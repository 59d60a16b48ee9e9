//! Any answer of a host is the requested bytes or an error: its status and headers, and the body in two pieces. Any text is redacted,
//! has checksums or none, and lists incomplete uploads or none.
//!
//! The input is the status, the beginning and the length of the range, and lines: three headers, the requested URL and the found URL,
//! and the rest, which is the body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::source::http::{Head, Requested, folder};
use shelfish::source::integrity::Integrity;
use shelfish::source::redaction::redacted;

#[path = "program/network.rs"]
mod network;

use network::{checksum, upload_list};

fuzz_target!(|data: &[u8]| {
    let Some((&[status, start, length], rest)) = data.split_first_chunk() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let mut lines = text.splitn(6, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let [range, size, coding, requested, found, body] = std::array::from_fn(|_| next());
    let [range, size, coding] =
        [range, size, coding].map(|value| Some(value).filter(|value| !value.is_empty()));
    let status = [200, 206, 304, 404, 416, 503][usize::from(status) % 6];
    let head = Head {
        status,
        content_range: range,
        content_length: size,
        content_encoding: coding,
    };
    let asked = u64::from(start)..u64::from(start) + u64::from(length) + 1;
    for request in [
        Requested::Range(asked.clone()),
        Requested::Whole { cap: 500 },
    ] {
        let Ok(mut answer) = request.check(&head) else {
            continue;
        };
        let (first, second) = body.as_bytes().split_at(body.len() / 2);
        if answer
            .push(first)
            .and_then(|()| answer.push(second))
            .is_err()
        {
            continue;
        }
        let Ok(bytes) = answer.finish() else { continue };
        match request {
            Requested::Range(_) if status == 206 => assert_eq!(bytes, body.as_bytes()),
            Requested::Range(range) => assert_eq!(
                bytes,
                &body.as_bytes()[range.start as usize..range.end as usize]
            ),
            Requested::Whole { cap } => {
                assert!(bytes == body.as_bytes() && bytes.len() as u64 <= cap)
            }
        }
    }
    assert!(
        requested.contains(folder(requested, found)) || found.contains(folder(requested, found))
    );
    if let Ok(integrity) = requested.parse::<Integrity>() {
        assert_eq!(integrity.to_string().parse(), Ok(integrity));
    }
    let once = redacted(&text);
    assert_eq!(redacted(&once), once);
    assert!(
        checksum::checksums(&text).all(|(name, digits)| !name.is_empty() && digits.len() == 64)
    );
    let _ = checksum::listed(rest, found);
    assert!(checksum::sums_url(requested).ends_with("sha256sums.txt"));
    for upload in upload_list::parse(&text, requested) {
        assert!(shelfish::table::is_shard_name(&upload.shard));
    }
});
