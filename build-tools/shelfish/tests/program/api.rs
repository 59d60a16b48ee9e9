//! `shelfish serve --api`: lookups over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex};

use crate::common::hostile::{HostileHost, send_file};
use crate::common::stores::http;
use crate::common::*;
use serde_json::{Value, json};

struct Api(Host);

impl Api {
    fn new(args: &[&str]) -> Api {
        Api(Host::serve(["--api"].iter().chain(args)))
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        let (status, head, body) = http(
            self.0.at(),
            "GET",
            path,
            &[("Origin".to_owned(), "https://x".to_owned())],
            b"",
        );
        (
            status,
            head.to_ascii_lowercase(),
            String::from_utf8(body).unwrap(),
        )
    }

    fn ask(&self, fen: &str, pvs: usize) -> (u16, Value) {
        let (status, _, body) = self.get(&format!(
            "/api/cloud-eval?multiPv={pvs}&fen={}",
            fen.replace(' ', "%20")
        ));
        (status, serde_json::from_str(&body).unwrap())
    }
}

impl Api {
    /// Returns the value of a metric.
    fn metric(&self, name: &str) -> String {
        let (_, _, text) = self.get("/metrics");
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value
            .unwrap_or_else(|| panic!("no {name}: {text}"))
            .to_owned()
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
fn results_of_endgame_tables_have_the_shape_of_lichess() {
    let fixture = fixture();
    let (db, tables) = (
        fixture.path("db"),
        env!("CARGO_MANIFEST_DIR").to_owned() + "/../../static-shards/endgames",
    );
    let api = Api::new(&["--endgames", &tables, db.to_str().unwrap()]);
    let (status, head, body) = api.get("/standard?fen=8/8/8/8/8/1k6/8/K6r_w_-_-_0_1");
    assert!(
        status == 200 && head.contains("access-control-allow-origin: *"),
        "{head}"
    );
    let end = json!({"checkmate": true, "stalemate": false, "variant_win": false, "variant_loss": false, "insufficient_material": false,
        "category": "loss", "dtz": 0, "precise_dtz": 0, "dtm": null, "moves": []});
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), end);
    let (_, _, body) = api.get("/standard?fen=8/8/3k4/8/3K4/8/3P4/8%20w%20-%20-%200%201");
    let found: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&found["category"], &found["dtz"]),
        (&json!("win"), &json!(1))
    );
    let first = &found["moves"][0];
    let expected = json!({"uci": "d2d3", "san": "d3", "zeroing": true, "category": "loss"});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&first[name], value, "{first}");
    }
    for (query, status, words) in [
        ("", 400, "expected /standard?fen=FEN"),
        ("?fen=x", 400, "FEN has 1 field"),
        (
            "?fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_-_-",
            404,
            "32 pieces",
        ),
    ] {
        let (found, _, body) = api.get(&format!("/standard{query}"));
        assert!(found == status && body.contains(words), "{found} {body}");
    }
    let (status, _, body) = Api::new(&[db.to_str().unwrap()]).get("/standard?fen=x");
    assert!(status == 404 && body.contains("--endgames"), "{body}");
}

/// Serves the book of the tests.
fn explorer(fixture: &Fixture) -> Api {
    let book = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/book-details/db"
    );
    Api::new(&["--book", book, fixture.path("db").to_str().unwrap()])
}

#[test]
fn moves_of_books_have_the_shape_of_lichess() {
    let fixture = fixture();
    let api = explorer(&fixture);
    let ask = |path: &str| {
        let (status, head, body) = api.get(path);
        (status, head, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, head, found) = ask("/masters?play=e2e4,e7e5&topGames=1&moves=1");
    assert!(
        status == 200
            && head.contains("access-control-allow-origin: *")
            && head.contains("application/json"),
        "{head}"
    );
    let player = json!({"name": "?", "rating": 2200});
    let game = json!({"uci": "d1h5", "id": "Ab3xYz09", "winner": "white", "rating": 2200, "white": player, "black": player,
        "year": null, "month": null});
    let first = json!({"uci": "g1f3", "san": "Nf3", "averageRating": 1819, "white": 1, "draws": 2, "black": 1, "game": null,
        "opening": {"eco": "C40", "name": "King's Knight Opening"}});
    let opening = json!({"eco": "C20", "name": "King's Pawn Game"});
    let all = json!({"opening": opening, "white": 2, "draws": 2, "black": 1, "moves": [first], "topGames": [game]});
    assert_eq!(found, all);

    let (_, head, found) =
        ask("/lichess?play=e2e4,e7e5&ratings=2000,2200,2500&speeds=blitz&since=2015&history=true");
    assert!(head.contains("shelfish-inexact: history, since"), "{head}");
    assert!(
        head.contains("access-control-expose-headers: shelfish-inexact"),
        "{head}"
    );
    assert_eq!(
        (&found["recentGames"], &found["history"]),
        (&json!([]), &json!([]))
    );
    // A position without a name has the name of the last named position before it.
    let (_, _, found) = ask("/lichess?play=e2e4,e7e5,a2a3,h7h6,h2h3");
    assert_eq!(
        (&found["opening"]["eco"], &found["white"]),
        (&json!("C20"), &json!(0))
    );
}

#[test]
fn wrong_questions_to_the_explorer_name_their_parameter() {
    let fixture = fixture();
    let api = explorer(&fixture);
    for (query, words) in [
        ("fen=8", "fen: FEN has 1 field"),
        ("fen=%ff", "fen: expected UTF-8"),
        ("play=e2e5", r#"play: \"e2e5\" is not a legal move"#),
        ("play=x", "play: "),
        ("moves=-1", "moves: expected a number"),
        ("topGames=1.5", "topGames: expected a number"),
        ("recentGames=x", "recentGames: expected a number"),
        ("moves=99999999999999999999999", "moves: expected a number"),
        ("speeds=fast", "speeds: expected ultraBullet, bullet,"),
        ("ratings=1700", "ratings: expected 0, 1000,"),
        ("variant=atomic", "variant: expected standard or chess960"),
    ] {
        let (status, head, body) = api.get(&format!("/lichess?{query}"));
        assert!(
            status == 400 && body.contains(words) && head.contains("no-store"),
            "{query}: {status} {body}"
        );
    }
    let plain = Api::new(&[fixture.path("db").to_str().unwrap()]);
    let (status, _, body) = plain.get("/lichess");
    assert!(status == 404 && body.contains("--book"), "{body}");
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
    assert_eq!(
        (status, body),
        (
            404,
            json!({"error": "No cloud evaluation available for that position"})
        )
    );
    for (query, words) in [
        ("", "expected"),
        ("?fen=x", "fen"),
        ("?fen=8&multiPv=x", "multiPv"),
    ] {
        let (status, head, body) = api.get(&format!("/api/cloud-eval{query}"));
        assert!(
            status == 400 && body.contains(words) && head.contains("cache-control: no-store"),
            "{head}{body}"
        );
    }
}

#[test]
fn the_api_reads_from_a_host_reports_to_prometheus_and_allows_all_origins() {
    let fixture = fixture();
    let host = Host::new(&fixture);
    let api = Api::new(&[&host.url("db")]);
    let (status, head, _) = api.get("/api/cloud-eval?fen=4k3/8/8/8/8/8/8/4K2R+w+K+-");
    assert_eq!(status, 200);
    assert!(
        head.contains("access-control-allow-origin: *")
            && head.contains("content-type: application/json"),
        "{head}"
    );
    assert_eq!(api.get("/healthz").0, 200);
    let (_, _, text) = api.get("/metrics");
    assert!(
        text.contains("shelfish_questions_total{endpoint=\"/api/cloud-eval\",status=\"200\"} 1\n"),
        "{text}"
    );
    assert!(
        !text.contains("shelfish_source_requests_total 0\n"),
        "{text}"
    );
    for metric in [
        concat!(
            "shelfish_build_info{version=\"",
            env!("CARGO_PKG_VERSION"),
            "\"} 1"
        ),
        "shelfish_question_seconds_count{endpoint=\"/api/cloud-eval\"} 1",
    ] {
        assert!(text.lines().any(|line| line == metric), "{metric}: {text}");
    }
    until("earlier connections are closed", || {
        api.metric("shelfish_open_connections") == "1"
    });
    assert_eq!(
        api.get("/manifest.json").0,
        404,
        "a host's files are the host's to serve"
    );
}

#[test]
fn a_new_book_has_its_own_buckets_without_a_restart() {
    let (fixture, own) = (fixture(), Fixture::new());
    let (db, book) = (fixture.path("db"), own.path("book"));
    let put = |name: &str| {
        let _ = std::fs::remove_dir_all(&book);
        std::fs::create_dir(&book).unwrap();
        let from = format!("{}/../../tests/data/{name}/db", env!("CARGO_MANIFEST_DIR"));
        for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), book.join(file.file_name())).unwrap();
        }
    };
    let start = || {
        Api::new(&[
            "--book",
            book.to_str().unwrap(),
            "--revalidate",
            "1s",
            db.to_str().unwrap(),
        ])
    };
    let ask = |api: &Api| {
        let (status, _, body) = api.get("/lichess?play=e2e4&speeds=blitz&ratings=2200");
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    // The first book has no buckets, so that the filters have no effect.
    put("book");
    let api = start();
    let before = ask(&api);
    put("book-details");
    let after = ask(&start());
    assert!(
        before.0 == 200 && after.0 == 200 && before != after,
        "{before:?} {after:?}"
    );
    until("the new book is in use", || ask(&api) == after);
}

#[test]
fn after_a_failed_revalidation_the_old_database_stays_in_use() {
    let fixture = fixture();
    let manifest = std::fs::read(fixture.path("db/manifest.json")).unwrap();
    let mut host = Host::new(&fixture);
    let api = Api::new(&[&host.url("db"), "--revalidate", "1s"]);
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let failed = || {
        api.metric("shelfish_revalidations_total{outcome=\"failed\"}")
            .parse::<u64>()
            .unwrap()
    };
    let age = || {
        api.metric("shelfish_manifest_age_seconds")
            .parse::<f64>()
            .unwrap()
    };
    assert_eq!(api.ask(fen, 1).0, 200);
    // An unchanged manifest is confirmed without its bytes.
    let unchanged = || {
        api.metric("shelfish_revalidations_total{outcome=\"unchanged\"}")
            .parse::<u64>()
            .unwrap()
    };
    let bytes = api.metric("shelfish_source_bytes_total");
    until("the manifest is confirmed", || unchanged() > 0);
    assert_eq!(api.metric("shelfish_source_bytes_total"), bytes);

    fixture.file("db/manifest.json", &manifest[..manifest.len() / 2]);
    until("a damaged manifest is refused", || failed() > 0);
    assert_eq!(api.ask(fen, 2).0, 200);
    let before = failed();
    until("the damaged manifest is refused again", || {
        failed() > before
    });
    until("the server is unhealthy", || api.get("/healthz").0 == 503);
    assert!(failed() >= 3);

    fixture.file("db/manifest.json", &manifest);
    let before = unchanged();
    until("the manifest is confirmed again", || unchanged() > before);
    assert_eq!(api.get("/healthz").0, 200);
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    let (before, old) = (failed(), age());
    until("the host is missed", || failed() > before && age() > old);
    assert_eq!(api.ask(fen, 5).0, 200);
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
fn the_log_has_the_fen_of_a_question_and_no_other_parameter() {
    let fixture = fixture();
    let mut serve = command();
    serve.args(["serve", "--api", "--port", "0", "--log"]);
    let mut child = serve
        .arg(fixture.path("db"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let url = BufReader::new(out).lines().next().unwrap().unwrap();
    let at = url["http://".len()..].trim_end_matches('/');
    let mut log = BufReader::new(err).lines().map_while(Result::ok).skip(1);
    let range = ("range".to_owned(), "bytes=0-9".to_owned());
    let path = "/manifest.json?token=secret";
    http(at.parse().unwrap(), "GET", path, &[range], b"");
    let line = log.next().unwrap();
    let words = "127.0.0.1 206 GET /manifest.json bytes=0-9";
    assert!(line.contains(words) && line.ends_with("ms -"), "{line}");
    let fen = "4k3/8/8/8/8/8/8/4K2R%20w+K%20-%0A127.0.0.1%20200";
    let path = format!("/api/cloud-eval?fen={fen}&token=secret");
    http(at.parse().unwrap(), "GET", &path, &[], b"");
    let line = log.next().unwrap();
    let fen = r"4k3/8/8/8/8/8/8/4K2R_w_K_-\n127.0.0.1_200";
    assert!(line.ends_with(fen), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Host of a database that answers requests for shards only while its gate is open.
struct GatedHost {
    host: HostileHost,
    /// Whether the gate is open, and the number of requests that wait or waited.
    gate: Arc<(Mutex<(bool, usize)>, Condvar)>,
}

impl GatedHost {
    fn new(fixture: &Fixture) -> GatedHost {
        let gate = Arc::new((Mutex::new((false, 0)), Condvar::new()));
        let (folder, at_gate) = (fixture.path("db"), gate.clone());
        let host = HostileHost::new(move |request, out| {
            if request.range.is_some() {
                let (state, opened) = &*at_gate;
                let mut state = state.lock().unwrap();
                state.1 += 1;
                drop(opened.wait_while(state, |(is_open, _)| !*is_open));
            }
            send_file(request, out, &folder)
        });
        GatedHost { host, gate }
    }

    /// Serves the database, and asks a question on a new connection.
    fn asked(&self, options: &[&str]) -> (Host, TcpStream) {
        let url = format!("http://{}/db", self.host.at);
        let server = Host::serve([&["--api", &url], options].concat());
        let mut pending = TcpStream::connect(server.at()).unwrap();
        let path = "/api/cloud-eval?fen=4k3/8/8/8/8/8/8/4K2R+w+K+-";
        write!(
            pending,
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        until("the question waits for the host", || {
            self.gate.0.lock().unwrap().1 > 0
        });
        (server, pending)
    }

    /// Opens the gate, and returns the answer to the question.
    fn answer(&self, mut pending: TcpStream) -> String {
        self.gate.0.lock().unwrap().0 = true;
        self.gate.1.notify_all();
        let mut answer = String::new();
        pending.read_to_string(&mut answer).unwrap();
        answer
    }
}

#[test]
fn questions_beyond_the_limit_are_answered_with_503_and_a_time() {
    let fixture = fixture();
    let host = GatedHost::new(&fixture);
    let (server, pending) = host.asked(&["--at-once", "1"]);
    let api = Api(server);
    for _ in 0..20 {
        let (status, head, _) = api.get("/api/cloud-eval?fen=8");
        assert!(status == 503 && head.contains("retry-after: 1"), "{head}");
    }
    assert_eq!(api.get("/healthz").0, 200);
    assert!(host.answer(pending).contains("\"depth\":30"));
    let fen = "4k3/8/8/8/8/8/8/4K2R w K -";
    until("the question is answered", || api.ask(fen, 1).0 == 200);
    assert_ne!(
        api.metric("shelfish_questions_total{endpoint=\"/api/cloud-eval\",status=\"503\"}"),
        "0"
    );
}
