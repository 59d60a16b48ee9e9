//! State of a game: its moves, their scores, and its end. Openings of matches.

use std::fmt::Write;

use anyhow::{Context, Result, anyhow};
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, KnownOutcome, Move, Position, fen::Fen, uci::UciMove,
};
use shelfish_analysis::pgn;
use shelfish_cli::uci::UciScore;

/// Returns the score of a search in centipawns. A mate exceeds all other scores.
pub fn centipawns(score: Option<UciScore>) -> i32 {
    match score {
        None => 0,
        Some(UciScore::Cp(cp)) => cp.clamp(-20_000, 20_000),
        Some(UciScore::Mate(moves)) => {
            (30_000 - moves.abs().min(5_000)) * if moves > 0 { 1 } else { -1 }
        }
    }
}

/// Game in progress.
#[derive(Clone)]
pub struct Game {
    start: Option<String>,
    game: shelfish_engine::Game,
    moves: Vec<(UciMove, Option<i32>)>,
    mode: CastlingMode,
    /// Number of consecutive plies with a decisive score; positive if White is ahead.
    decided: i32,
    level: u32,
}

/// Rules for the adjudication of a game. The field names are part of the identity of results.
#[derive(Clone, Copy, Debug)]
pub struct Adjudication {
    /// Score in centipawns that wins …
    pub win: i32,
    /// … after this number of consecutive plies.
    pub win_plies: i32,
    /// Maximum score in centipawns that draws …
    pub draw: i32,
    /// … after this number of consecutive plies …
    pub draw_plies: u32,
    /// … from this ply on.
    pub draw_from: usize,
    /// Number of plies after which a game is drawn.
    pub longest: usize,
}

impl Default for Adjudication {
    fn default() -> Adjudication {
        Adjudication {
            win: 1_200,
            win_plies: 5,
            draw: 8,
            draw_plies: 10,
            draw_from: 70,
            longest: 400,
        }
    }
}

impl Default for Game {
    fn default() -> Game {
        Game::from(Chess::default(), None, CastlingMode::Standard)
    }
}

impl Game {
    /// Starts a game from a position. `start` is the FEN of the position, unless it is the initial position.
    pub fn from(position: Chess, start: Option<String>, mode: CastlingMode) -> Game {
        Game {
            start,
            game: shelfish_engine::Game::new(shelfish_engine::Position::new(position)),
            moves: Vec::new(),
            mode,
            decided: 0,
            level: 0,
        }
    }

    /// Starts a game from a FEN.
    pub fn from_fen(fen: &str) -> Result<Game> {
        let setup: Fen = fen.parse().with_context(|| format!("\"{fen}\""))?;
        let mode = CastlingMode::detect(setup.as_setup());
        let position = setup
            .into_position(mode)
            .with_context(|| format!("\"{fen}\""))?;
        Ok(Game::from(position, Some(fen.to_owned()), mode))
    }

    /// Returns the current position.
    pub fn position(&self) -> &Chess {
        self.game.position().chess()
    }

    /// Returns the number of plies played.
    pub fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Plays a move. `score` is the score of the search that chose the move, in centipawns from White's point of view.
    pub fn play(&mut self, m: Move, score: Option<i32>) {
        self.moves.push((m.to_uci(self.mode), score));
        self.game.play(m);
    }

    /// Parses a move. Returns `None` if the move is illegal.
    pub fn legal(&self, text: &str) -> Option<Move> {
        self.game.position().legal_move(text)
    }

    /// Adds a score for [`Game::judged`].
    pub fn note(&mut self, white: i32, rules: Adjudication) {
        let side = i32::from(white >= rules.win) - i32::from(white <= -rules.win);
        self.decided = if side != 0 && self.decided.signum() != -side {
            self.decided + side
        } else {
            side
        };
        self.level = if white.abs() <= rules.draw && self.plies() >= rules.draw_from {
            self.level + 1
        } else {
            0
        };
    }

    /// Returns the result by the rules of chess: mate, stalemate, insufficient material, fifty moves, threefold
    /// repetition.
    pub fn over(&self) -> Option<KnownOutcome> {
        let is_drawn = self.game.occurrences() >= 3 || self.position().halfmoves() >= 100;
        let by_rule = is_drawn.then_some(KnownOutcome::Draw);
        self.position().outcome().known().or(by_rule)
    }

    /// Returns the result by adjudication.
    pub fn judged(&self, rules: Adjudication) -> Option<KnownOutcome> {
        if self.decided.abs() >= rules.win_plies {
            let winner = Color::from_white(self.decided > 0);
            return Some(KnownOutcome::Decisive { winner });
        }
        let is_drawn = self.level >= rules.draw_plies || self.plies() >= rules.longest;
        is_drawn.then_some(KnownOutcome::Draw)
    }

    /// Formats the game for UCI's `position`.
    pub fn uci(&self) -> String {
        let start = self.start.as_ref();
        let mut text = start.map_or("startpos".to_owned(), |fen| format!("fen {fen}"));
        if !self.moves.is_empty() {
            text.push_str(" moves");
        }
        for (m, _) in &self.moves {
            let _ = write!(text, " {m}");
        }
        text
    }

    /// Formats the game as a line: the FEN of the start with `_` for spaces, the moves, and the result.
    ///
    /// A move that a search chose is followed by a colon and its score, in centipawns from White's point of view.
    pub fn line(&self, outcome: KnownOutcome) -> String {
        let start = Fen::from_position(&Chess::default(), EnPassantMode::Legal).to_string();
        let mut text = self.start.as_ref().unwrap_or(&start).replace(' ', "_");
        for (m, score) in &self.moves {
            let _ = match score {
                Some(score) => write!(text, " {m}:{score}"),
                None => write!(text, " {m}"),
            };
        }
        text.push(' ');
        text.push_str(outcome.as_str());
        text
    }
}

/// Reads one opening per line: PGN moves in the last of several columns, as in the list of Lichess (`eco\tname\tpgn`). Skips openings that end the game, such as the fool's mate.
pub fn openings(text: &str) -> Result<Vec<Game>> {
    let mut games = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') || line == "eco\tname\tpgn" {
            continue;
        }
        let opening = opening(line).with_context(|| format!("line {}", index + 1))?;
        if !opening.position().is_game_over() {
            games.push(opening);
        }
    }
    Ok(games)
}

fn opening(line: &str) -> Result<Game> {
    let moves = line.rsplit('\t').next().unwrap_or(line);
    let read = pgn::read_main_line(moves, 1);
    if let Some(error) = read.error {
        return Err(anyhow!("{}", error.kind));
    }
    let mut game = Game::default();
    read.game.moves().iter().for_each(|m| game.play(*m, None));
    Ok(game)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn won(winner: Color) -> KnownOutcome {
        KnownOutcome::Decisive { winner }
    }

    fn play(game: &mut Game, moves: &str) {
        for text in moves.split_whitespace() {
            let m = game
                .legal(text)
                .unwrap_or_else(|| panic!("{text} is not legal"));
            game.play(m, None);
        }
    }

    #[test]
    fn the_third_occurrence_of_a_position_is_a_draw_and_the_second_is_not() {
        let mut game = Game::default();
        play(&mut game, "g1f3 g8f6 f3g1 f6g8");
        assert_eq!(game.over(), None);
        play(&mut game, "g1f3 g8f6 f3g1 f6g8");
        assert_eq!(game.over(), Some(KnownOutcome::Draw));
    }

    #[test]
    fn fifty_moves_are_a_draw() {
        let game = Game::from_fen("8/8/8/4k3/8/8/1R6/4K3 w - - 100 90").unwrap();
        assert_eq!(game.over(), Some(KnownOutcome::Draw));
    }

    #[test]
    fn a_game_is_adjudicated_after_enough_decisive_scores() {
        let rules = Adjudication::default();
        let mut game = Game::default();
        for score in [1_300, 1_300, 100, 1_300, 1_300, 1_300, 1_300] {
            game.note(score, rules);
        }
        assert_eq!(game.judged(rules), None);
        game.note(1_200, rules);
        assert_eq!(game.judged(rules), Some(won(Color::White)));
        game.note(-1_200, rules);
        assert_eq!(game.judged(rules), None);
    }

    #[test]
    fn a_line_contains_start_moves_scores_and_result() {
        let mut game = Game::default();
        play(&mut game, "e2e4");
        let reply = game.legal("e7e5").unwrap();
        game.play(reply, Some(-12));
        let expected =
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-_0_1 e2e4 e7e5:-12 1/2-1/2";
        assert_eq!(game.line(KnownOutcome::Draw), expected);
        assert_eq!(game.uci(), "startpos moves e2e4 e7e5");
    }

    #[test]
    fn openings_are_moves_and_do_not_end_the_game() {
        let text = "eco\tname\tpgn\nB20\tSicilian Defense\t1. e4 c5\nA00\tFool's Mate\t1. f3 e5 2. g4 Qh4#\n\n";
        let games = openings(text).unwrap();
        let found: Vec<String> = games.iter().map(Game::uci).collect();
        assert_eq!(found, ["startpos moves e2e4 c7c5"]);
        let error = openings("A00\tAmar\t1. Nh3\nA00\tNone\t1. e5")
            .err()
            .unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("e5 is not a legal move"), "{error}");
    }
}
