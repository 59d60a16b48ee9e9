//! PGN is read and written without loss.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use proptest::prelude::*;
use shakmaty::san::SanPlus;
use shelfish_analysis::pgn::{Line, Note, PgnErrorKind, PgnGame, Splitter, read, read_main_line};
use shelfish_analysis::{KnownEval, annotate};

fn moves(game: &PgnGame) -> String {
    game.line
        .moves
        .iter()
        .map(|step| step.san.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn reading_and_writing_a_game_loses_nothing() {
    let pgn = r#"[White "A \"B\" \\ C"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 12"]

{first} 12... O-O $14 {one} {two} ( {before} 12... Kf7 $1 ( 12... O-O-O {x} 13. O-O ) 13. Ra7+ ) {after} 13. O-O-O 1/2-1/2
"#;
    let game = read(pgn, 1).unwrap();
    assert_eq!(game.tag("White"), Some(r#"A "B" \ C"#));
    assert_eq!(
        (game.fullmoves, game.result, moves(&game).as_str()),
        (12, Some("1/2-1/2"), "O-O O-O-O")
    );
    assert!(matches!(&game.line.notes[..], [Note::Comment(text)] if text == "first"));
    let [
        Note::Nag(14),
        Note::Comment(one),
        Note::Comment(_),
        Note::Variation(line),
        Note::Comment(after),
    ] = &game.line.moves[0].notes[..]
    else {
        panic!("{game:?}")
    };
    assert_eq!(
        (one.as_str(), after.as_str(), line.moves.len()),
        ("one", "after", 2)
    );
    assert!(
        matches!(&line.moves[0].notes[..], [Note::Nag(1), Note::Variation(inner)] if inner.moves.len() == 2)
    );
    assert_eq!(game.to_string(), pgn);
}

#[test]
fn a_line_break_in_a_tag_value_becomes_a_space() {
    let game = read("[White \"A\rB\"]\n\n1. e4 *", 1).unwrap();
    assert_eq!(game.tag("White"), Some("A B"));
    assert_eq!(read(&game.to_string(), 1).unwrap(), game);
}

#[test]
fn moves_are_read_in_all_common_notations() {
    for (pgn, expected) in [
        ("1.e4 e5 2.Nf3", "e4 e5 Nf3"),
        ("1. e4 1... e5\n\n\n2 . Nf3", "e4 e5 Nf3"),
        ("e4 e5 Nf3", "e4 e5 Nf3"),
        ("1. e4! e5?? 2. Nf3!? ±", "e4 e5 Nf3"),
        ("1. e4 e5 2. ♘f3 ♞c6 3. ♗b5", "e4 e5 Nf3 Nc6 Bb5"),
        ("1. e4 ; the best by test\n 1... e5", "e4 e5"),
        ("1. e4\n% for programs alone 1. d4\ne5", "e4 e5"),
        (
            "1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0 0-0",
            "e4 e5 Nf3 Nf6 Bc4 Bc5 O-O O-O",
        ),
        ("1. e2e4 e7-e5", "e4 e5"),
        ("1. e4 d5 2. e5 f5 3. exf6 e.p. *", "e4 d5 e5 f5 exf6"),
        ("1. e4??? e5, 2. Nf3. 1-0\u{a0}", "e4 e5 Nf3"),
        (
            "[FEN \"8/P7/8/8/8/2k5/7p/1K6 w - -\"]\n\n1. a8Q h1N",
            "a8=Q h1=N",
        ),
        ("\u{feff}1. e4 *", "e4"),
        (
            "[Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/P7/RK5R w HA - 0 1\"]\n\n1. O-O",
            "O-O",
        ),
    ] {
        let game = read(pgn, 1).unwrap_or_else(|error| panic!("{pgn}: {error}"));
        let mut chess = game.start().clone();
        let san: Vec<String> = game
            .game
            .moves()
            .iter()
            .map(|m| SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string())
            .collect();
        assert_eq!(san.join(" "), expected, "{pgn}");
    }
}

#[test]
fn errors_of_invalid_games_contain_the_line_and_the_reason() {
    let deep = format!("1. e4 {}", "( 1. d4 ".repeat(70));
    let long = "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(2_000);
    let fen = "[FEN \"8/8/8/8/8/8/8/8 w - -\"]\n\n*";
    for (pgn, line, message) in [
        ("", 1, "there is no game"),
        ("1. e4 e5\n2. Sf3", 2, "found Sf3"),
        ("1. e4 e5\n2. Кf3", 2, "found 2. Кf3"),
        ("1. e4 Ke4", 1, "Ke4 is not a legal move after 1 moves"),
        ("1. e4 -- 2. d4", 1, "-- is not a legal move"),
        ("1. e4 ( d4", 1, "in pairs"),
        ("1. e4 ) d4", 1, "in pairs"),
        ("( 1. e4 )", 1, "in pairs"),
        ("1. e4\n{ never\nending", 2, "does not end"),
        ("1. e4 1-0 e5", 1, "e5 follows the result"),
        ("1. e4 $", 1, "found $"),
        ("1. e4 $256", 1, "found $256"),
        ("1. e4 N@f3", 1, "found N@f3"),
        ("1. e4 e6 2. P4e5", 1, "found P4e5"),
        ("[White Tal]\n\n1. e4", 1, "expected a tag"),
        ("[Variant \"Atomic\"]\n\n1. e4", 3, "the variant is Atomic"),
        (fen, 3, "the board is empty"),
        (&deep, 1, "64 deep"),
        (&long, 1, "more than 5000 moves"),
    ] {
        let error = read(pgn, 1).map(|game| panic!("{game}")).unwrap_err();
        let start: String = pgn.chars().take(60).collect();
        assert_eq!(error.line, line, "{start}: {error}");
        assert!(
            error
                .to_string()
                .contains(message.trim_start_matches("found 2. ")),
            "{start}: {error}"
        );
    }
    assert_eq!(
        read(&" ".repeat(5 << 20), 7).unwrap_err().kind,
        PgnErrorKind::TooLong
    );
}

/// Returns the text of each game of a file.
fn split(pgn: &str) -> Vec<String> {
    let mut splitter = Splitter::default();
    let mut games: Vec<String> = Vec::new();
    for line in pgn.split_inclusive('\n') {
        if splitter.begins_game(line.as_bytes()) {
            games.push(String::new());
        }
        if let Some(game) = games.last_mut() {
            game.push_str(line);
        }
    }
    games
}

#[test]
fn a_file_is_split_into_its_games() {
    for (pgn, expected) in [
        ("", 0),
        ("\n\n  \n", 0),
        ("1. e4 *", 1),
        ("1. e4 *\n1. d4 *\n\n\n1. c4", 3),
        (
            "[White \"A\"]\n[Black \"B\"]\n1. e4 *\n[White \"C\"]\n1. d4",
            2,
        ),
        (
            "[White \"A\"]\n\n1. e4\n\n1... e5 *\n\n{after}\n\n[White \"B\"]\n\n*",
            2,
        ),
        ("[White \"A\"]\n\n1. e4 { a\n\n[comment]\n\n} *\n", 1),
        (
            "[Event \"A\"]\n\n1. e4 { never ends\n\n[Event \"B\"]\n\n1. d4 *\n",
            2,
        ),
        ("1. e4 (1. d4 1-0\n) e5 *\n1. c4", 2),
        ("1. e4 {*} ; 1-0\ne5", 1),
    ] {
        assert_eq!(split(pgn).len(), expected, "{pgn}");
        assert_eq!(split(pgn).concat().trim(), pgn.trim(), "{pgn}");
    }
}

/// A game as pgn-reader reads it.
#[derive(Default)]
struct Other;

impl pgn_reader::Visitor for Other {
    type Tags = ();
    type Movetext = (Vec<String>, Vec<String>, usize);
    type Output = (Vec<String>, Vec<String>, usize);

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output, Self::Movetext> {
        ControlFlow::Continue(Default::default())
    }

    fn san(
        &mut self,
        seen: &mut Self::Movetext,
        san: pgn_reader::SanPlus,
    ) -> ControlFlow<Self::Output> {
        seen.0.push(san.san.to_string());
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        seen: &mut Self::Movetext,
        comment: pgn_reader::RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        seen.1
            .push(String::from_utf8_lossy(comment.as_bytes()).into_owned());
        ControlFlow::Continue(())
    }

    fn nag(&mut self, seen: &mut Self::Movetext, _: pgn_reader::Nag) -> ControlFlow<Self::Output> {
        seen.2 += 1;
        ControlFlow::Continue(())
    }

    fn begin_variation(
        &mut self,
        _: &mut Self::Movetext,
    ) -> ControlFlow<Self::Output, pgn_reader::Skip> {
        ControlFlow::Continue(pgn_reader::Skip(false))
    }

    fn end_game(&mut self, seen: Self::Movetext) -> Self::Output {
        seen
    }
}

fn own(line: &Line, seen: &mut (Vec<String>, Vec<String>, usize)) {
    let note = |note: &Note, seen: &mut (Vec<String>, Vec<String>, usize)| match note {
        Note::Nag(_) => seen.2 += 1,
        Note::Comment(text) => seen.1.push(text.clone()),
        Note::Variation(line) => own(line, seen),
    };
    line.notes.iter().for_each(|n| note(n, seen));
    for step in &line.moves {
        seen.0.push(step.san.san.to_string());
        step.notes.iter().for_each(|n| note(n, seen));
    }
}

/// Checks a valid game: pgn-reader reads the same, and the written game is read back.
fn check(game: &PgnGame, text: &str) {
    let mut seen = Default::default();
    own(&game.line, &mut seen);
    let reader = pgn_reader::Reader::build(text.as_bytes()).set_supported_comment_length(1 << 16);
    let mut reader = reader.set_supported_tag_line_length(1 << 16).finish();
    assert_eq!(
        reader.read_game(&mut Other).unwrap().unwrap(),
        seen,
        "{text}"
    );
    check_written(game);
}

fn check_written(game: &PgnGame) {
    let written = game.to_string();
    let again = read(&written, 1).unwrap_or_else(|error| panic!("{error}: {written}"));
    // A game without a result gets the result `*`.
    assert_eq!(
        PgnGame {
            result: again.result,
            ..game.clone()
        },
        again,
        "{written}"
    );
    assert_eq!(again.to_string(), written);
}

#[test]
fn games_of_lichess_are_read_as_by_pgn_reader() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/games-lichess.pgn.zst"
    );
    let Ok(file) = std::fs::File::open(path) else {
        eprintln!("SKIPPED: {path} is not there");
        return;
    };
    let text = zstd::decode_all(file).unwrap();
    let text = String::from_utf8_lossy(&text);
    let mut refused = Vec::new();
    let games = split(&text);
    assert!(games.len() > 1_700, "{}", games.len());
    for text in &games {
        match read(text, 1) {
            Ok(game) => check(&game, text),
            Err(error) => refused.push(error.to_string()),
        }
    }
    println!(
        "{} games, {} refused: {refused:#?}",
        games.len(),
        refused.len()
    );
    assert!(refused.len() * 20 < games.len(), "{refused:#?}");
}

/// Generates text that partly looks like PGN.
fn pgns() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => prop::sample::select(vec![
            "1.", "e4", "e5", "2.", "Nf3", "Nc6", "Bb5", "a6", "O-O", "0-0", "exd5", "e8=Q#", "d4", "--", "$1", "!?", "=",
            "*", "1-0", "(", ")", "( 1. d4 d5 )", "{ [%eval 0.17] }", "{a\nb}", "; c\n", "\n\n", "% x\n", "[White \"A\"]\n",
            "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 9\"]\n", "½-½", "♘f3", "\u{feff}",
        ]).prop_map(String::from),
        1 => "[ -~\n]{0,8}",
        1 => ".{0,4}",
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_game_or_an_error(text in pgns()) {
        let line = read_main_line(&text, 1);
        if let Ok(game) = read(&text, 1) {
            prop_assert_eq!((&line.tags, &line.game, line.result), (&game.tags, &game.game, game.result));
            prop_assert_eq!(line.error, None);
        }
        for text in split(&text).iter().chain([&text]) {
            match read(text, 1) {
                Ok(game) => check_written(&game),
                Err(error) => prop_assert!(error.line <= 1 + text.matches('\n').count() as u64 && !error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn annotating_keeps_moves_and_comments_and_is_idempotent(text in pgns(), cps in prop::collection::vec(prop::option::of(-2000..2000), 64)) {
        if let Ok(mut game) = read(&text, 1) {
            let known: Vec<Option<KnownEval>> = (0..=game.game.moves().len()).map(|n| Some(KnownEval::cp(cps[n % 64]?, 20))).collect();
            let mut before = Default::default();
            own(&game.line, &mut before);
            annotate(&mut game, &known).unwrap();
            check_written(&game);
            let mut after = Default::default();
            own(&game.line, &mut after);
            prop_assert_eq!(&before.0, &after.0);
            prop_assert!(before.1.iter().filter(|text| !text.contains("%eval")).all(|text| after.1.iter().any(|after| after.contains(text.trim()))));
            let once = game.to_string();
            annotate(&mut game, &known).unwrap();
            prop_assert_eq!(game.to_string(), once);
        }
    }
}
