//! `shelfish serve --api`: lookups over HTTP.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::stores::http;
use crate::common::*;
use serde_json::{Value, json};

struct Api(Host);

impl Api {
    fn new(args: &[&str]) -> Api {
        Api(Host::serve(["--api"].iter().chain(args)))
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        let (status, head, body) =
            http(self.0.at(), "GET", path, &[("Origin".to_owned(), "https://x".to_owned())], b"");
        (status, head.to_ascii_lowercase(), String::from_utf8(body).unwrap())
    }

    fn ask(&self, fen: &str, pvs: usize) -> (u16, Value) {
        let (status, _, body) = self.get(&format!("/api/cloud-eval?multiPv={pvs}&fen={}", fen.replace(' ', "%20")));
        (status, serde_json::from_str(&body).unwrap())
    }
}

/// Builds a database of the sample and a line with castling and several PVs.
fn fixture() -> Fixture {
    Fixture::shared("api", build)
}

fn build(fixture: &Fixture) {
    let castling = r#"{"fen":"4k3/8/8/8/8/8/8/4K2R w K -","evals":[
        {"pvs":[{"mate":9,"line":"e1h1 e8e7"},{"cp":500,"line":"h1h7"}],"knodes":77,"depth":20},
        {"pvs":[{"cp":600,"line":"h1h7"}],"knodes":99,"depth":30}]}"#;
    let dump = fixture.file("dump", sample() + "\n" + &castling.replace('\n', " "));
    fixture.build(&[&dump], &[]).succeeds();
}

#[test]
fn answers_have_the_shape_of_lichess() {
    let fixture = fixture();
    let api = Api::new(&[fixture.path("db").to_str().unwrap()]);
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let one = json!({"fen": fen, "knodes": 99, "depth": 30, "pvs": [{"moves": "h1h7", "cp": 600}]});
    assert_eq!(api.ask(fen, 1), (200, one));
    let pvs = json!([{"moves": "e1h1 e8e7", "mate": 9}, {"moves": "h1h7", "cp": 500}]);
    let two = json!({"fen": fen, "knodes": 77, "depth": 20, "pvs": pvs});
    assert_eq!(api.ask(fen, 2), (200, two.clone()));
    assert_eq!(api.ask(fen, 5), (200, two), "of the lines there are");
    let (status, body) = api.ask("4k3/8/8/8/8/8/8/4K3 w - -", 1);
    assert_eq!((status, body), (404, json!({"error": "No cloud evaluation available for that position"})));
    for (query, words) in [("", "expected"), ("?fen=x", "fen"), ("?fen=8&multiPv=x", "multiPv")] {
        let (status, head, body) = api.get(&format!("/api/cloud-eval{query}"));
        assert!(status == 400 && body.contains(words) && head.contains("cache-control: no-store"), "{head}{body}");
    }
}

#[test]
fn every_answer_agrees_with_the_dump() {
    let fixture = fixture();
    let api = Api::new(&[fixture.path("db").to_str().unwrap()]);
    for line in sample().lines().step_by(13) {
        let line: Value = serde_json::from_str(line).unwrap();
        let fen = line["fen"].as_str().unwrap();
        let (status, found) = api.ask(fen, 1);
        let evals = line["evals"].as_array().unwrap();
        let deepest = evals.iter().map(|eval| eval["depth"].as_u64().unwrap()).max();
        assert_eq!((status, found["depth"].as_u64()), (200, deepest), "{fen}");
        assert_eq!(api.ask(fen, 1), (200, found.clone()), "the same from memory");
        let matches = |eval: &&Value| {
            let pv = &eval["pvs"][0];
            let score = |pv: &Value| (pv["cp"].clone(), pv["mate"].clone());
            eval["knodes"] == found["knodes"]
                && pv["line"] == found["pvs"][0]["moves"]
                && score(pv) == score(&found["pvs"][0])
        };
        assert!(evals.iter().any(|eval| matches(&eval)), "{fen}: {found}");
    }
}

#[test]
fn the_api_reads_from_a_host_reports_to_prometheus_and_allows_all_origins() {
    let fixture = fixture();
    let host = Host::new(&fixture);
    let api = Api::new(&[&host.url("db"), "--base-path", "/evals/"]);
    let (status, head, _) = api.get("/evals/api/cloud-eval?fen=4k3/8/8/8/8/8/8/4K2R+w+K+-");
    assert_eq!(status, 200);
    assert!(
        head.contains("access-control-allow-origin: *") && head.contains("content-type: application/json"),
        "{head}"
    );
    assert_eq!(api.get("/evals/healthz").0, 200);
    let (_, _, text) = api.get("/evals/metrics");
    assert!(text.contains("shelfish_questions_total{outcome=\"hit\"} 1\n"), "{text}");
    assert!(!text.contains("shelfish_source_requests_total 0\n"), "{text}");
    assert_eq!(api.get("/manifest.json").0, 404, "a host's files are the host's to serve");
}

#[test]
fn a_directory_is_served_with_the_api() {
    let fixture = fixture();
    let api = Api::new(&[fixture.path("db").to_str().unwrap()]);
    assert_eq!(api.get("/manifest.json").0, 200);
    assert_eq!(api.get("/healthz").2, "ok\n");
    shelfish(["serve", "--api", fixture.dir.path().to_str().unwrap()]).fails(&["manifest.json"]);
}

#[test]
fn the_simulated_network_and_the_log_include_the_api() {
    let fixture = fixture();
    let mut serve = command();
    serve.args(["serve", "--api", "--port", "0", "--log", "--latency-ms", "60"]).arg(fixture.path("db"));
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let url = BufReader::new(out).lines().next().unwrap().unwrap();
    let at = url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    let mut log = BufReader::new(err).lines().map_while(Result::ok).filter(|line| !line.starts_with("Serving"));
    for path in ["/healthz", "/manifest.json", "/api/cloud-eval"] {
        let start = Instant::now();
        let status = http(at, "GET", path, &[], b"").0;
        assert!(start.elapsed() >= Duration::from_millis(60), "{path}: {:?}", start.elapsed());
        assert_eq!(log.next().unwrap(), format!("{status} GET {path} -"));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
