//! `arena selfplay`, played by the engine of `arena engine`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

const ARENA: &str = env!("CARGO_BIN_EXE_arena");
/// Real games.
const REAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/book/games.pgn"
);

/// Plays games and returns their lines.
fn play(options: &[&str]) -> Vec<String> {
    let engine = format!("{ARENA} engine");
    let run = Command::new(ARENA)
        .args(["selfplay", "--engine", &engine, "--nodes", "60"])
        .args(options)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_game_depends_only_on_its_seed() {
    let all = play(&["--first", "5", "--games", "4"]);
    let some = play(&["--first", "7", "--games", "2"]);
    assert!(!some.is_empty());
    assert!(all.ends_with(&some));
}

#[test]
fn a_game_after_a_random_opening_has_moves_without_scores_at_its_start() {
    let line = play(&["--first", "7", "--games", "1"]).remove(0);
    let moves: Vec<&str> = line.split(' ').skip(1).collect();
    assert!(moves[..6].iter().all(|word| !word.contains(':')), "{line}");
    assert!(moves[10].contains(':'), "{line}");
}

#[test]
fn a_continued_game_starts_from_a_position_of_the_real_game_and_has_no_random_moves() {
    let lines = play(&["--first", "1", "--games", "2", "--continue-games", REAL]);
    assert!(!lines.is_empty());
    for line in lines {
        let mut words = line.split(' ');
        let start = words.next().unwrap().replace('_', " ");
        assert!(start.parse::<shelfish_engine::Position>().is_ok(), "{line}");
        assert!(!start.starts_with("rnbqkbnr/pppppppp/"), "{line}");
        let moves: Vec<&str> = words.collect();
        let (result, moves) = moves.split_last().unwrap();
        assert!(["1-0", "1/2-1/2", "0-1"].contains(result), "{line}");
        assert!(moves.iter().all(|word| word.contains(':')), "{line}");
    }
}

#[test]
fn a_missing_file_of_games_is_named() {
    let run = Command::new(ARENA)
        .args([
            "selfplay",
            "--engine",
            &format!("{ARENA} engine"),
            "--games",
            "1",
            "--continue-games",
            "no-such.pgn",
        ])
        .output()
        .unwrap();
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("no-such.pgn"));
}
