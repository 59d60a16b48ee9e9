//! Openings of matches.

use shakmaty::Position as _;

use crate::error::{LineError, NotationError};
use crate::game::Game;

/// Reads one opening per line: a FEN, or PGN moves in the last of several columns, as in the list of Lichess
/// (`eco\tname\tpgn`). Skips openings that end the game, such as the fool's mate.
pub fn read(text: &str) -> Result<Vec<Game>, LineError> {
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "eco\tname\tpgn"
    });
    let mut games = lines
        .map(|(index, line)| {
            opening(line).map_err(|error| LineError {
                line: index + 1,
                error,
            })
        })
        .collect::<Result<Vec<Game>, LineError>>()?;
    games.retain(|game| !game.position().is_game_over());
    Ok(games)
}

/// Reads an opening.
fn opening(line: &str) -> Result<Game, NotationError> {
    if line.contains('/') && !line.contains('\t') {
        return Game::from_fen(line.trim());
    }
    let mut game = Game::default();
    let moves = line.rsplit('\t').next().unwrap_or(line);
    for word in moves.split_whitespace().filter(|word| !word.ends_with('.')) {
        game.play(crate::game::san(game.position(), word)?, None);
    }
    Ok(game)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn openings_are_moves_or_positions() {
        let text =
            "eco\tname\tpgn\nB20\tSicilian Defense\t1. e4 c5\n\n8/8/8/4k3/8/8/1R6/4K3 w - - 0 1\n";
        let games = read(text).unwrap();
        assert_eq!(games[0].uci(), "startpos moves e2e4 c7c5");
        assert_eq!(games[1].uci(), "fen 8/8/8/4k3/8/8/1R6/4K3 w - - 0 1");
    }

    #[test]
    fn an_opening_that_ends_the_game_is_skipped() {
        assert_eq!(
            read("A00\tFool's Mate\t1. f3 e5 2. g4 Qh4#\nA00\tAmar\t1. Nh3")
                .unwrap()
                .len(),
            1
        );
    }

    #[test]
    fn the_openings_of_this_repository_are_read() {
        for text in [
            include_str!("../../shelfish/openings/a.tsv"),
            include_str!("../../shelfish/openings/c.tsv"),
        ] {
            assert!(read(text).unwrap().len() > 500);
        }
    }

    #[test]
    fn an_error_contains_the_line_number() {
        let error = read("A00\tAmar\t1. Nh3\nA00\tNone\t1. e5").err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("line 2: \"e5\" is not legal"), "{error}");
    }
}
