//! PGN is read as by other readers, and written without loss.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use shakmaty::san::SanPlus;
use shelfish_analysis::pgn::{GameTexts, Line, Note, PgnErrorKind, PgnGame, read, read_main_line};
use shelfish_analysis::{KnownEval, annotate};

/// Reads the games of a file.
fn games(file: &[u8]) -> Vec<(String, PgnGame)> {
    let texts = GameTexts::new(file).map(Result::unwrap);
    texts
        .map(|text| (text.text.clone(), read(&text.text, text.line)))
        .collect()
}

/// Returns the legal moves of a game in SAN.
fn sans(game: &PgnGame) -> String {
    let mut chess = game.start().clone();
    let moves = game.game.moves().iter();
    let sans: Vec<String> = moves
        .map(|m| SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string())
        .collect();
    sans.join(" ")
}

/// Describes a game as in `cases.tsv`.
fn outcome(game: &PgnGame) -> String {
    let moves = sans(game);
    let count = game.game.moves().len();
    let moves = if count > 40 {
        format!("{count} moves")
    } else {
        moves
    };
    let skipped = [
        ("tag lines", game.skipped.tags),
        ("words", game.skipped.words),
        ("variations", game.skipped.variations),
    ];
    let parts = [
        Some(moves).filter(|moves| !moves.is_empty()),
        game.result.map(str::to_owned),
        game.error.as_ref().map(|error| format!("! {error}")),
    ];
    let skipped = skipped.iter().filter(|(_, n)| *n > 0);
    let skipped = skipped.map(|(name, n)| format!("[{n} {name} skipped]"));
    parts
        .into_iter()
        .flatten()
        .chain(skipped)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn files_of_the_table_have_their_outcome() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/pgn");
    let table = std::fs::read_to_string(folder.join("cases.tsv")).unwrap();
    let mut wrong = String::new();
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, expected) = row.split_once('\t').unwrap();
        let file = std::fs::read(folder.join(name).with_extension("pgn")).unwrap();
        let found: Vec<String> = games(&file).iter().map(|(_, game)| outcome(game)).collect();
        let found = found.join("; ");
        if found != expected {
            wrong.push_str(&format!("{name}\t{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "other outcomes:\n{wrong}");
}

#[test]
fn broken_tags_and_tags_of_other_games_do_not_change_the_players() {
    for (text, players) in [
        (
            "[White “Tal”]\n[Black Botvinnik]\n\n1. e4",
            ["Tal", "Botvinnik"],
        ),
        (
            "[White \"Mikhail\nTal\"]\n[Black \"B\"]\n\n1. e4",
            ["Mikhail Tal", "B"],
        ),
        (
            "[White \"Tal\"]\n[White ACPL \"2\"]\n[Black \"B\"]\n\n1. e4",
            ["Tal", "B"],
        ),
        (
            "[White \"?\"]\n[Black \"C\"]\n[White \"Tal\"]\n[Black \"B\"]\n\n1. e4",
            ["Tal", "B"],
        ),
        (
            "[Event \"A\"]\n[White \"C\"]\n[Event \"B\"]\n[White \"Tal\"]\n[Black \"B\"]\n\n1. e4",
            ["Tal", "B"],
        ),
    ] {
        let games = games(text.as_bytes());
        let (_, game) = games.last().unwrap();
        let found = ["White", "Black"].map(|name| game.tag(name).unwrap());
        assert_eq!(found, players, "{text}");
    }
}

#[test]
fn movetext_of_the_table_has_its_moves_or_error() {
    let table = include_str!("movetext.tsv");
    let mut wrong = String::new();
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let (text, expected) = row.split_once('\t').unwrap();
        let game = read(text, 1);
        let found = match &game.error {
            None => sans(&game),
            Some(error) => format!("! {}", error.kind),
        };
        let is_right = match expected.strip_prefix("! ") {
            Some(part) => found.starts_with('!') && found.contains(part),
            None => found == expected,
        };
        if !is_right {
            wrong.push_str(&format!("{text}\t{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "other outcomes:\n{wrong}");
}

#[test]
fn reading_and_writing_a_game_loses_nothing() {
    let pgn = r#"[White "A \"B\" \\ C"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 12"]

{first} 12... O-O $14 {one} {two} ( {before} 12... Kf7 $1 ( 12... O-O-O {x} 13. O-O ) 13. Ra7+ ) {after} 13. O-O-O 1/2-1/2
"#;
    let game = read(pgn, 1);
    assert_eq!(game.tag("White"), Some(r#"A "B" \ C"#));
    assert_eq!(
        (game.fullmoves, game.result, sans(&game).as_str()),
        (12, Some("1/2-1/2"), "O-O O-O-O")
    );
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
    assert_eq!(game.to_string(), pgn);
}

#[test]
fn a_game_that_is_too_long_is_an_error_and_the_next_game_is_read() {
    let mut pgn = b"[White \"A\"]\n\n{".to_vec();
    pgn.extend_from_slice(&b"long ".repeat(2 << 20));
    pgn.extend_from_slice(b"}\n*\n\n[Event \"B\"]\n\n1. e4 *\n");
    let found = games(&pgn);
    let outcomes: Vec<String> = found.iter().map(|(_, game)| outcome(game)).collect();
    assert_eq!(
        outcomes,
        ["! line 1, column 1: the game is longer than 4 MiB", "e4 *"]
    );
    let long = read(&"1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(6_000), 1);
    assert_eq!(long.error.unwrap().kind, PgnErrorKind::TooManyMoves);
}

/// A game as pgn-reader reads it.
#[derive(Default)]
struct Other;

impl pgn_reader::Visitor for Other {
    type Tags = ();
    type Movetext = Vec<String>;
    type Output = Vec<String>;

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
        seen.push(san.san.to_string());
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

/// Adds the moves and the comments of a line.
fn own(line: &Line, seen: &mut (Vec<String>, Vec<String>)) {
    let note = |note: &Note, seen: &mut (Vec<String>, Vec<String>)| match note {
        Note::Nag(_) => {}
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
    let other = reader.read_game(&mut Other).unwrap().unwrap();
    assert_eq!(other, seen.0, "{text}");
    check_written(game);
}

fn check_written(game: &PgnGame) {
    let written = game.to_string();
    let again = read(&written, 1);
    let parts = |game: &PgnGame| (game.tags.clone(), game.line.clone(), game.game.clone());
    assert_eq!(parts(&again), parts(game), "{written}");
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
    let games = games(&zstd::decode_all(file).unwrap());
    let whole = games.iter().filter(|(_, game)| game.error.is_none());
    let count = whole.map(|(text, game)| check(game, text)).count();
    assert!(count > 1_700, "{count} of {}", games.len());
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
    fn any_text_is_a_game_up_to_an_error(text in pgns()) {
        for (text, game) in games(text.as_bytes()).into_iter().chain([(text.clone(), read(&text, 1))]) {
            let line = read_main_line(&text, 1);
            prop_assert_eq!((&line.tags, &line.game, line.result), (&game.tags, &game.game, game.result));
            if game.error.is_none() {
                check_written(&game);
            }
        }
    }

    #[test]
    fn annotating_keeps_moves_and_comments_and_is_idempotent(text in pgns(), cps in prop::collection::vec(prop::option::of(-2000..2000), 64)) {
        let mut game = read(&text, 1);
        if game.error.is_none() {
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

#[test]
fn hostile_files_are_read_in_linear_time() {
    for part in [
        "1. e4 * ",
        "[A \"1\"]\n\n",
        "[x\n",
        "{\n[Event \"",
        "{\n[Event \"A\"]\n",
        "(",
        "1. Sf3 ",
        "[Event \"A\"]\n\n1. e4 {\n",
    ] {
        let file = part.repeat((1 << 20) / part.len());
        let started = std::time::Instant::now();
        let count = games(file.as_bytes()).len();
        let seconds = started.elapsed().as_secs();
        assert!(seconds < 60, "{part:?}: {count} games in {seconds} s");
    }
}
