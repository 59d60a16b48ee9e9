//! The lines for nginx, applied to a running nginx.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::process::Child;

use super::*;

/// Running nginx, which is killed when dropped.
struct Nginx {
    child: Child,
    port: u16,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves the folder of a fixture as an application that compresses everything, with further lines of the server.
/// Returns `None` if nginx is missing.
fn serve(fixture: &Fixture, lines: &str) -> Option<Nginx> {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let root = fixture.dir.path().display();
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let folders: String = folders
        .map(|name| format!("{name}_temp_path {root}/{name};\n"))
        .concat();
    let config = format!(
        "daemon off; master_process off; pid {root}/pid; error_log {root}/log;
        events {{}}
        http {{
            access_log off; {folders}
            types {{ application/json json; model/mesh silo; text/html html; }}
            server {{
                listen 127.0.0.1:{port}; root {root};
                gzip on; gzip_types *; gzip_min_length 1;
                location / {{ try_files $uri /index.html; }}
                {lines}
            }}
        }}"
    );
    let path = fixture.file("nginx.conf", config);
    let mut command = Command::new("nginx");
    command
        .args(["-p".as_ref(), fixture.dir.path(), "-c".as_ref(), &path])
        .stderr(Stdio::null());
    let mut nginx = Nginx {
        child: command.spawn().ok()?,
        port,
    };
    until("nginx answers", || {
        let ended = nginx.child.try_wait().unwrap();
        assert!(
            ended.is_none(),
            "{}",
            fs::read_to_string(fixture.path("log")).unwrap_or_default()
        );
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    Some(nginx)
}

/// Returns the lines of the remedies of a report, by their place.
fn remedies(report: &Value) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for remedy in report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|check| check["remedy"].as_str())
    {
        let rest = remedy
            .strip_prefix("nginx, in `")
            .unwrap_or_else(|| panic!("{remedy}"));
        let (place, rest) = rest.split_once('`').unwrap();
        let (_, line) = rest.split_once(": ").unwrap();
        // Parentheses contain the lines for other modules.
        let line = line
            .split_once("; (")
            .map_or(line.to_owned(), |(line, _)| format!("{line};"));
        let lines = places.entry(place.to_owned()).or_default();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    places
}

#[test]
fn the_printed_lines_solve_all_problems_and_warnings_of_nginx() {
    let fixture = Fixture::of_sample();
    fixture.file("index.html", "<!doctype html>");
    let Some(nginx) = serve(&fixture, "") else {
        skipped("nginx is missing");
        return;
    };
    let (code, report) = examine(&format!("http://127.0.0.1:{}/db", nginx.port), &[]);
    assert_eq!(
        (code, report["host"].as_str()),
        (1, Some("nginx")),
        "{report:#}"
    );
    assert_eq!(with_result(&report, "problem"), ["missing"], "{report:#}");
    assert_eq!(
        with_result(&report, "warning"),
        ["compression", "caching-manifest"],
        "{report:#}"
    );
    assert_eq!(with_result(&report, "note"), ["cors"], "{report:#}");
    drop(nginx);
    let lines = remedies(&report)
        .into_iter()
        .map(|(place, lines)| match &*place {
            "server" => lines.join("\n"),
            location => format!("{location} {{ {} }}", lines.join(" ")),
        });
    let nginx = serve(&fixture, &lines.collect::<Vec<_>>().join("\n")).unwrap();
    let (code, report) = examine(&format!("http://127.0.0.1:{}/db", nginx.port), &[]);
    assert_eq!(
        (code, with_result(&report, "ok").len()),
        (0, 8),
        "{report:#}"
    );
}
