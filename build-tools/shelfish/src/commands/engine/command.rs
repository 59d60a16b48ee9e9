//! UCI commands of a GUI. The parser ignores unknown words, as the protocol requires.

use std::time::Duration;

/// Command of a GUI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `setoption name … value …`
    SetOption {
        /// Name of the option.
        name: String,
        /// Value of the option, empty for a button.
        value: String,
    },
    /// `position …`
    Position {
        /// FEN, or `None` for the initial position.
        fen: Option<String>,
        /// Moves from that position.
        moves: Vec<String>,
    },
    /// `go …`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
}

/// Parameters of `go`. A limit without a readable number is 0, and never no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Maximum depth.
    pub depth: Option<usize>,
    /// Maximum number of nodes.
    pub nodes: Option<u64>,
    /// Time for the move.
    pub move_time: Option<Duration>,
    /// Number of moves of the mate to search.
    pub mate: Option<u32>,
    /// Searches until `stop`.
    pub infinite: bool,
    /// Searches until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Remaining time of White and Black.
    pub time: [Option<Duration>; 2],
    /// Increment per move of White and Black.
    pub increment: [Option<Duration>; 2],
    /// Number of moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// Root moves to search, which may be illegal. All moves if no move of the list is legal.
    pub search_moves: Vec<String>,
    /// Names and values of numbers that cannot be read.
    pub unreadable: Vec<(String, String)>,
}

impl Command {
    /// Parses a line. Returns `None` if the line contains no known command.
    pub fn parse(line: &str) -> Option<Command> {
        let mut words = line.split_ascii_whitespace();
        loop {
            return Some(match words.next()? {
                "uci" => Command::Uci,
                "isready" => Command::IsReady,
                "ucinewgame" => Command::NewGame,
                "setoption" => set_option(words),
                "position" => position(words)?,
                "go" => Command::Go(go(words)),
                "stop" => Command::Stop,
                "ponderhit" => Command::PonderHit,
                "quit" => Command::Quit,
                _ => continue,
            });
        }
    }
}

fn set_option<'a>(words: impl Iterator<Item = &'a str>) -> Command {
    let words: Vec<&str> = words.skip_while(|word| *word == "name").collect();
    // A value can contain `value` again.
    let end = words
        .iter()
        .position(|word| *word == "value")
        .unwrap_or(words.len());
    let value = words.get(end + 1..).unwrap_or_default().join(" ");
    Command::SetOption {
        name: words[..end].join(" "),
        value,
    }
}

fn position<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Command> {
    let fen = match words.next()? {
        "startpos" => {
            words.by_ref().find(|word| *word == "moves");
            None
        }
        "fen" => Some(
            words
                .by_ref()
                .take_while(|word| *word != "moves")
                .collect::<Vec<_>>()
                .join(" "),
        ),
        _ => return None,
    };
    Some(Command::Position {
        fen,
        moves: words.map(str::to_owned).collect(),
    })
}

/// Words that end the list of `searchmoves`.
const PARAMETERS: [&str; 12] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

fn go<'a>(words: impl Iterator<Item = &'a str>) -> Go {
    let mut go = Go::default();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        // Some GUIs send fractions, and an expired clock as a negative number.
        let mut count = || {
            let value = words.next_if(|word| !PARAMETERS.contains(word));
            let value = value.unwrap_or_default();
            let number = value.parse::<f64>().unwrap_or(f64::NAN);
            if number.is_nan() {
                go.unreadable.push((word.to_owned(), value.to_owned()));
            }
            number as u64
        };
        match word {
            "depth" => go.depth = Some(count() as usize),
            "nodes" => go.nodes = Some(count()),
            "movetime" => go.move_time = Some(Duration::from_millis(count())),
            "mate" => go.mate = Some(count().clamp(1, 1_000) as u32),
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "wtime" => go.time[0] = Some(Duration::from_millis(count())),
            "btime" => go.time[1] = Some(Duration::from_millis(count())),
            "winc" => go.increment[0] = Some(Duration::from_millis(count())),
            "binc" => go.increment[1] = Some(Duration::from_millis(count())),
            "movestogo" => go.moves_to_go = Some(count().min(1_000) as u32),
            "searchmoves" => {
                while let Some(word) = words.next_if(|word| !PARAMETERS.contains(word)) {
                    go.search_moves.push(word.to_owned());
                }
            }
            _ => {}
        }
    }
    go
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn positions_are_read_with_their_moves() {
        let position = |fen: Option<&str>, moves: &[&str]| Command::Position {
            fen: fen.map(str::to_owned),
            moves: moves.iter().map(|m| (*m).to_owned()).collect(),
        };
        assert_eq!(
            Command::parse("position startpos"),
            Some(position(None, &[]))
        );
        assert_eq!(
            Command::parse(" position  startpos moves e2e4 e7e5\r"),
            Some(position(None, &["e2e4", "e7e5"]))
        );
        let fen = "8/8/8/4k3/8/8/8/4K3 w - - 0 1";
        assert_eq!(
            Command::parse(&format!("position fen {fen}")),
            Some(position(Some(fen), &[]))
        );
        assert_eq!(
            Command::parse(&format!("position fen {fen} moves e1e2")),
            Some(position(Some(fen), &["e1e2"]))
        );
        assert_eq!(Command::parse("position"), None);
        assert_eq!(Command::parse("position e4"), None);
    }

    #[test]
    fn options_may_have_blanks_in_name_and_value() {
        let parsed = Command::parse("setoption name Clear Hash");
        assert_eq!(
            parsed,
            Some(Command::SetOption {
                name: "Clear Hash".to_owned(),
                value: String::new()
            })
        );
        let parsed = Command::parse("setoption name EvalDatabase value /a b/name value");
        let expected = Command::SetOption {
            name: "EvalDatabase".to_owned(),
            value: "/a b/name value".to_owned(),
        };
        assert_eq!(parsed, Some(expected));
    }

    #[test]
    fn go_takes_clocks_limits_and_moves_in_any_order() {
        let parsed = Command::parse(
            "go searchmoves e2e4 d2d4 wtime 1000 btime -5 winc 10 binc 20 movestogo 7 ponder",
        );
        let expected = Go {
            search_moves: vec!["e2e4".to_owned(), "d2d4".to_owned()],
            time: [Some(MS(1_000)), Some(MS(0))],
            increment: [Some(MS(10)), Some(MS(20))],
            moves_to_go: Some(7),
            ponder: true,
            ..Go::default()
        };
        assert_eq!(parsed, Some(Command::Go(expected)));
        let parsed = Command::parse("go searchmoves e9e5 hello infinite");
        let search_moves = vec!["e9e5".to_owned(), "hello".to_owned()];
        assert_eq!(
            parsed,
            Some(Command::Go(Go {
                search_moves,
                infinite: true,
                ..Go::default()
            }))
        );
    }

    #[test]
    fn a_limit_with_any_value_is_a_limit() {
        let limit = |value: &str| match Command::parse(&format!("go depth {value}")) {
            Some(Command::Go(go)) => (go.depth, go.unreadable.len()),
            other => panic!("{other:?}"),
        };
        for (value, depth) in [
            ("6.0", 6),
            ("333.33", 333),
            ("1e4", 10_000),
            ("-5", 0),
            ("99999999999999999999", usize::MAX),
            ("1e999 infinite", usize::MAX),
        ] {
            assert_eq!(limit(value), (Some(depth), 0), "{value}");
        }
        for value in ["", "x", "NaN", "infinite", "nodes 5", "1,5 movetime 50"] {
            assert_eq!(limit(value), (Some(0), 1), "{value}");
        }
        let parsed = Command::parse("go depth x movetime 50.5 mate -3");
        let expected = Go {
            depth: Some(0),
            move_time: Some(MS(50)),
            mate: Some(1),
            unreadable: vec![("depth".to_owned(), "x".to_owned())],
            ..Go::default()
        };
        assert_eq!(parsed, Some(Command::Go(expected)));
    }

    #[test]
    fn unknown_words_are_ignored() {
        assert_eq!(Command::parse("joho debug isready"), Some(Command::IsReady));
        assert_eq!(Command::parse("hello"), None);
        assert_eq!(Command::parse(""), None);
    }
}
