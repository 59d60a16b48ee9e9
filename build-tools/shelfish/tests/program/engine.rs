//! `shelfish engine` from the point of view of a GUI.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::*;

/// Running engine.
pub struct Gui {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Gui {
    pub fn new() -> Gui {
        let mut child = command()
            .arg("engine")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        Gui {
            child,
            input,
            output,
        }
    }

    pub fn say(&mut self, lines: &str) {
        self.input
            .write_all(format!("{lines}\n").as_bytes())
            .unwrap();
    }

    /// Reads lines up to and including a line that begins with `word`.
    pub fn until(&mut self, first: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the engine ended before {first}: {lines:?}"
            );
            lines.push(line.trim_end().to_owned());
            if line.starts_with(first) {
                return lines;
            }
        }
    }

    /// Quits while the engine is searching.
    fn quit_after_move(mut self) {
        self.say("quit");
        self.until("bestmove");
        assert!(self.child.wait().unwrap().success());
    }

    /// Quits and expects no further output.
    pub fn quit(mut self) {
        self.say("quit");
        assert!(self.child.wait().unwrap().success());
        let mut line = String::new();
        assert_eq!(self.output.read_line(&mut line).unwrap(), 0, "{line}");
    }
}

fn best(lines: &[String]) -> &str {
    lines.last().unwrap().split(' ').nth(1).unwrap()
}

#[test]
fn the_engine_identifies_itself_and_is_ready() {
    let mut gui = Gui::new();
    gui.say("uci");
    let lines = gui.until("uciok");
    assert!(lines[0].starts_with("id name Shelfish"));
    for option in [
        "Hash",
        "Threads",
        "MultiPV",
        "Ponder",
        "UCI_Chess960",
        "EvalDatabase",
        "OwnBook",
        "BookFile",
        "SyzygyPath",
        "Move Overhead",
        "UCI_LimitStrength",
        "UCI_Elo",
    ] {
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("option name {option} type"))),
            "{option}"
        );
    }
    gui.say("isready");
    gui.until("readyok");
    gui.quit();
}

#[test]
fn every_limit_ends_in_a_move() {
    let mut gui = Gui::new();
    gui.say("position startpos moves e2e4 e7e5");
    for limit in [
        "depth 4",
        "nodes 500",
        "movetime 20",
        "wtime 300 btime 300 winc 10 binc 10",
        "mate 3 depth 5",
        "movetime 33.3",
        "wtime 300.5",
        "btime 300",
        "winc 1e1",
        "movestogo 40",
        "depth 4.0",
        "nodes 1e3",
        "depth",
        "nodes -5",
        "movetime x",
        "mate 1",
        "mate",
    ] {
        gui.say(&format!("go {limit}"));
        let lines = gui.until("bestmove");
        assert_ne!(best(&lines), "(none)", "{limit}");
    }
    gui.say("go depth 4 searchmoves a2a3");
    assert_eq!(best(&gui.until("bestmove")), "a2a3");
    gui.quit();
}

#[test]
fn an_infinite_search_answers_only_after_stop() {
    let mut gui = Gui::new();
    // The engine finds a mate in one at once, but must wait with its answer.
    gui.say("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo infinite");
    let lines = gui.until("info depth 20");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
    gui.say("isready");
    let lines = gui.until("readyok");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
    gui.say("stop");
    assert_eq!(best(&gui.until("bestmove")), "a1a8");
    gui.quit();
}

#[test]
fn pondering_continues_after_ponderhit_and_ends_after_stop() {
    let mut gui = Gui::new();
    gui.say("position startpos moves e2e4\ngo ponder wtime 200 btime 200");
    gui.until("info depth 5");
    gui.say("ponderhit");
    gui.until("bestmove");
    gui.say("go ponder wtime 200 btime 200");
    gui.until("info depth 5");
    gui.say("stop");
    gui.until("bestmove");
    gui.quit();
}

#[test]
fn several_lines_and_threads_can_be_requested() {
    let mut gui = Gui::new();
    gui.say("setoption name MultiPV value 3\nsetoption name Threads value 2\nsetoption name Hash value 1\ngo depth 6");
    let lines = gui.until("bestmove");
    for rank in 1..=3 {
        assert!(
            lines.iter().any(|line| line.contains("info depth 6 ")
                && line.contains(&format!(" multipv {rank} ")))
        );
    }
    gui.quit();
}

#[test]
fn a_weaker_player_searches_less_and_varies_its_moves() {
    let mut gui = Gui::new();
    gui.say("setoption name UCI_Elo value 1000\nsetoption name UCI_LimitStrength value true");
    let mut played = Vec::new();
    for _ in 0..40 {
        gui.say("ucinewgame\nposition startpos\ngo wtime 60000 btime 60000");
        let lines = gui.until("bestmove");
        assert!(
            lines.iter().all(|line| !line.contains(" multipv 2 ")),
            "{lines:?}"
        );
        let nodes = |line: &String| {
            line.split(" nodes ")
                .nth(1)?
                .split(' ')
                .next()?
                .parse::<u64>()
                .ok()
        };
        assert!(
            lines.iter().filter_map(nodes).all(|nodes| nodes <= 2_400),
            "{lines:?}"
        );
        played.push(best(&lines).to_owned());
    }
    played.sort();
    played.dedup();
    assert!(played.len() > 1, "{played:?}");
    gui.say("setoption name UCI_LimitStrength value false\ngo nodes 20000");
    assert!(
        gui.until("bestmove")
            .iter()
            .any(|line| line.contains("info depth 8 "))
    );
    // Every level finds a mate in one.
    gui.say("setoption name UCI_LimitStrength value true");
    gui.say("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo depth 5");
    assert_eq!(best(&gui.until("bestmove")), "a1a8");
    gui.quit();
}

#[test]
fn castling_follows_the_notation_of_the_gui() {
    let mut gui = Gui::new();
    gui.say("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 3 searchmoves e1g1");
    assert_eq!(best(&gui.until("bestmove")), "e1g1");
    gui.say("setoption name UCI_Chess960 value true\ngo depth 3 searchmoves e1h1");
    assert_eq!(best(&gui.until("bestmove")), "e1h1");
    gui.quit();
}

#[test]
fn a_finished_game_has_a_score_and_no_move() {
    let mut gui = Gui::new();
    for (position, score) in [
        ("startpos moves f2f3 e7e5 g2g4 d8h4", "mate 0"),
        ("fen k7/2Q5/1K6/8/8/8/8/8 b - - 0 1", "cp 0"),
    ] {
        gui.say(&format!("position {position}\ngo depth 5"));
        let expected = [&format!("info depth 0 score {score}"), "bestmove (none)"];
        assert_eq!(gui.until("bestmove"), expected);
    }
    gui.quit();
}

#[test]
fn the_moves_before_an_illegal_move_count_and_an_invalid_position_has_no_move() {
    let mut gui = Gui::new();
    gui.say("position startpos moves e2e4 e7e5 e4e5 g1f3\ngo depth 3 searchmoves g1f3");
    let lines = gui.until("bestmove");
    assert!(
        lines[0].contains("found \"e4e5\" in rnbqkbnr/pppp1ppp/"),
        "{lines:?}"
    );
    assert_eq!(best(&lines), "g1f3");
    for (fen, error) in [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("k7/8/8/8/8/8/8/K7/8 w - -", "ranks"),
        ("", ""),
    ] {
        gui.say(&format!(
            "position startpos\nposition fen {fen}\ngo depth 3"
        ));
        let lines = gui.until("bestmove");
        assert!(lines[0].contains(error) && lines.len() == 3, "{lines:?}");
        assert_eq!(best(&lines), "(none)");
    }
    gui.quit();
}

#[test]
fn invalid_commands_are_reported_and_change_nothing() {
    let mut gui = Gui::new();
    gui.say("position startpos moves e2e4");
    gui.say("\nhello\nposition\ngo\0\nsetoption\nponderhit\nstop");
    gui.say("setoption name Hash value -3\nsetoption name EvalDatabase value /no/such/folder\ngo depth x");
    let lines = gui.until("bestmove");
    let infos: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("info string"))
        .collect();
    for words in [
        "Hash",
        "/no/such/folder",
        "go depth: expected a number, found \"x\"",
    ] {
        assert!(
            infos.iter().any(|line| line.contains(words)),
            "{words}: {infos:?}"
        );
    }
    assert!(
        best(&lines)[1..].starts_with(['7', '8']),
        "Black moves after 1. e4: {lines:?}"
    );
    gui.quit();
}

#[test]
fn the_end_of_the_input_ends_the_engine_after_its_answer() {
    let run = shelfish_with(
        ["engine", "position startpos", "go depth 4"],
        b"go depth 5\n",
    );
    let out = run.succeeds();
    assert_eq!(out.matches("bestmove").count(), 2, "{out}");
}

#[test]
fn a_database_is_looked_up_before_a_search_and_its_lines_are_marked() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", line(START, -31, "a2a4 e7e5", 1_234, 77));
    fixture.build(&[&dump], &[]).succeeds();
    let host = Host::new(&fixture);
    for database in [fixture.path("db").display().to_string(), host.url("db")] {
        let mut gui = Gui::new();
        gui.say(&format!(
            "setoption name EvalDatabase value {database}\ngo depth 77 nodes 1234000"
        ));
        let lines = gui.until("bestmove");
        assert_eq!(best(&lines), "a2a4", "{lines:?}");
        assert_eq!(lines[0], "info string from the database");
        assert!(
            lines[1].starts_with("info depth 77 ")
                && lines[1]
                    .contains(" score cp -31 nodes 1234000 nps 0 hashfull 0 tbhits 0 time 0 "),
            "{lines:?}"
        );
        // Boards set the strength by these limits.
        for limit in ["depth 3", "nodes 500"] {
            gui.say(&format!("go {limit}"));
            let lines = gui.until("bestmove");
            assert!(lines[0].starts_with("info depth 1 "), "{limit}: {lines:?}");
        }
        gui.say("go mate 3 depth 2");
        let lines = gui.until("bestmove");
        assert!(
            lines[0].starts_with("info depth 1 "),
            "a mate is searched: {lines:?}"
        );
        gui.say("position startpos moves e2e4\ngo depth 3");
        let lines = gui.until("bestmove");
        assert!(lines[0].starts_with("info depth 1 "), "{lines:?}");
        gui.quit();
    }
}

/// Starts a host that answers requests for the manifest, if there is one, and never answers other requests. Returns the
/// URL and a channel with the unanswered requests.
fn silent_host(manifest: Option<Vec<u8>>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        let mut unanswered = Vec::new();
        for mut client in listener.incoming().map_while(Result::ok) {
            let head = BufReader::new(&client)
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty());
            // A client may close a connection without a request.
            let Some(request) = head.collect::<Vec<_>>().into_iter().next() else {
                continue;
            };
            match &manifest {
                Some(manifest) if request.contains("manifest.json") => {
                    let head = format!(
                        "content-length: {}\r\nconnection: close\r\n\r\n",
                        manifest.len()
                    );
                    client
                        .write_all(&[b"HTTP/1.1 200 OK\r\n", head.as_bytes(), manifest].concat())
                        .unwrap();
                }
                _ => {
                    unanswered.push(client);
                    let _ = sender.send(request);
                }
            }
        }
    });
    (url, asked)
}

#[test]
fn a_silent_host_does_not_block_the_engine() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", line(START, -31, "a2a4 e7e5", 1_234, 77));
    fixture.build(&[&dump], &[]).succeeds();
    let pgn = fixture.file("odd.pgn", "1. a3 h5 1-0\n");
    fixture.book_build_to("book", &[&pgn], &[]).succeeds();
    let manifest =
        |database: &str| Some(std::fs::read(fixture.path(database).join("manifest.json")).unwrap());
    for (option, manifest) in [
        ("EvalDatabase", None),
        ("EvalDatabase", manifest("db")),
        ("BookFile", None),
        ("BookFile", manifest("book")),
    ] {
        let (url, asked) = silent_host(manifest);
        let mut gui = Gui::new();
        gui.say(&format!(
            "setoption name OwnBook value true\nsetoption name {option} value {url}\nisready"
        ));
        gui.until("readyok");
        gui.say("go depth 3");
        let request = asked.recv().unwrap();
        let start = Instant::now();
        gui.say("isready\nstop");
        gui.until("readyok");
        assert_ne!(best(&gui.until("bestmove")), "(none)");
        gui.say("go depth 3");
        gui.quit_after_move();
        // Without `stop` and `quit`, the engine would wait 10 s for the host.
        assert!(
            start.elapsed() < Duration::from_secs(9),
            "{option}, {request}: {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn the_engine_plays_from_all_kinds_of_books() {
    let fixture = Fixture::new();
    // A search would not choose these moves.
    let pgn = fixture.file(
        "odd.pgn",
        "1. a3 h5 2. Nh3 1-0\n\n[FEN \"1k6/8/8/8/8/8/8/RK4R1 w GA - 0 1\"]\n\n1. O-O-O 1-0\n",
    );
    fixture.book_build_to("book", &[&pgn], &[]).succeeds();
    let [book, bin, learned] = ["book", "odd.bin", "odd.sqlite"]
        .map(|name| fixture.path(name).to_str().unwrap().to_owned());
    shelfish(["export", "-d", &book, "--format", "polyglot", "-o", &bin]).succeeds();
    shelfish(["book", "learn", pgn.to_str().unwrap(), "--into", &learned]).succeeds();
    let host = Host::new(&fixture);
    for name in [&book, &bin, &learned, &host.url("book")] {
        let mut gui = Gui::new();
        gui.say(&format!(
            "setoption name BookFile value {name}\nposition startpos\ngo depth 3"
        ));
        assert!(gui.until("bestmove").len() > 1, "OwnBook is off");
        gui.say("setoption name OwnBook value true");
        for (moves, expected) in [
            ("", "a2a3"),
            (" moves a2a3", "h7h5"),
            (" moves a2a3 h7h5", "g1h3"),
        ] {
            gui.say(&format!(
                "position startpos{moves}\ngo wtime 60000 btime 60000"
            ));
            let lines = gui.until("bestmove");
            assert_eq!(
                (best(&lines), lines[0].as_str()),
                (expected, "info string from the book, 1 moves"),
                "{name}"
            );
        }
        gui.say("position startpos moves a2a3 h7h5 g1h3\ngo depth 3");
        assert!(
            gui.until("bestmove")[0].starts_with("info depth"),
            "the book has no more"
        );
        gui.say("position fen 1k6/8/8/8/8/8/8/RK4R1 w GA - 0 1\nsetoption name UCI_Chess960 value true\ngo depth 3");
        assert_eq!(best(&gui.until("bestmove")), "b1a1");
        // An analysis ignores the book.
        gui.say("position startpos\ngo infinite");
        gui.until("info depth 1");
        gui.say("stop");
        assert!(
            !gui.until("bestmove")
                .iter()
                .any(|line| line.contains("from the book"))
        );
        gui.say("go depth 3 searchmoves e2e4");
        assert_eq!(best(&gui.until("bestmove")), "e2e4");
        gui.quit();
    }
}
