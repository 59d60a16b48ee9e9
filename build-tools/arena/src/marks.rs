//! Compares the only moves and great moves of `shelfish analyse --engine` with a reference engine.
//!
//! The reference searches the position before each marked move with two lines. It confirms an only move if the move is its best
//! move, and its second line loses as much as the definition says. It confirms a great move if the lines have different results.

use shakmaty::fen::Epd;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, EnPassantMode, Move};
use shelfish_analysis::Value;
use shelfish_analysis::mark::{LOSS, WIN};
use shelfish_uci::{Answer, Engine};

use crate::sample::{self, Sample, TIMEOUT};

/// Compare the only moves and great moves of `shelfish analyse --engine` with a reference engine
#[derive(clap::Args)]
#[command(after_help = "Example:
  arena marks --games master.pgn.zst:13000 --games amateur.pgn.zst:85 --count 7 --program target/debug/shelfish")]
pub struct Args {
    #[command(flatten)]
    sample: Sample,
    /// Print each mark that the reference does not confirm
    #[arg(long)]
    verbose: bool,
}

/// Number of marks of a kind, and number of marks that the reference confirms.
#[derive(Default)]
struct Count {
    all: usize,
    confirmed: usize,
}

impl Count {
    fn add(&mut self, is_confirmed: bool) {
        self.all += 1;
        self.confirmed += usize::from(is_confirmed);
    }

    fn text(&self) -> String {
        format!(
            "{:.0} % of {}",
            100.0 * self.confirmed as f64 / self.all.max(1) as f64,
            self.all
        )
    }
}

/// Analyses games, searches the positions before marked moves with the reference, and prints a table.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let games = args.sample.games()?;
    let mut engine = Engine::start(&args.sample.engine)?;
    engine.set_lines(2)?;
    let (mut only, mut great, mut moves) = (Count::default(), Count::default(), 0);
    for (number, (report, game)) in args.sample.reports(&games)?.iter().zip(&games).enumerate() {
        moves += game.game.moves().len();
        for (n, (position, played)) in game.game.positions().zip(game.game.moves()).enumerate() {
            let mark = report["moves"][n]["mark"].as_str();
            let Some(mark) = mark else { continue };
            engine.new_game()?;
            let fen = Epd::from_position(&position, EnPassantMode::Legal);
            let go = format!("nodes {}", args.sample.nodes);
            let answer = engine.search(&format!("fen {fen} 0 1"), &go, TIMEOUT)?;
            let chances = chances(&answer, &position, *played);
            let is_great = mark == "great";
            let is_confirmed = chances.is_some_and(|chances| is_confirmed(chances, is_great));
            if is_great { &mut great } else { &mut only }.add(is_confirmed);
            if args.verbose && !is_confirmed {
                let san = report["moves"][n]["san"].as_str().unwrap_or_default();
                println!(
                    "game {}, ply {}, {san}, {mark}, {fen}: {chances:?}",
                    number + 1,
                    n + 1
                );
            }
        }
    }
    let both = Count {
        all: only.all + great.all,
        confirmed: only.confirmed + great.confirmed,
    };
    println!("| marks by | only moves and great moves | only moves | great moves |");
    println!("|---|---|---|---|");
    println!(
        "| `shelfish analyse {}` | {} | {} | {} |",
        args.sample.options,
        both.text(),
        only.text(),
        great.text()
    );
    println!(
        "\n{} games, {moves} moves, the reference at {} nodes",
        games.len(),
        args.sample.nodes
    );
    Ok(())
}

/// Returns the winning chances of the two lines for the side to move, if the first line begins with a move.
fn chances(answer: &Answer, position: &Chess, played: Move) -> Option<[f64; 2]> {
    let best = answer
        .best
        .parse::<UciMove>()
        .ok()?
        .to_move(position)
        .ok()?;
    // The score of a UCI engine is from the point of view of the side to move.
    let own = |score| Value::from(sample::white_score(score, Color::White)).chances();
    (best == played).then_some([own(answer.score?), own(answer.second?)])
}

/// Returns whether two lines confirm a mark by its definition.
fn is_confirmed([best, second]: [f64; 2], is_great: bool) -> bool {
    let keeps = best >= WIN && second < WIN || best > -WIN && second <= -WIN;
    best - second >= LOSS && (keeps || !is_great)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_confirmed_by_their_definition() {
        assert!(is_confirmed([0.0, -0.3], false));
        assert!(!is_confirmed([0.0, -0.3], true), "a draw in either case");
        assert!(is_confirmed([0.0, -0.6], true));
        assert!(is_confirmed([0.6, 0.3], true));
        assert!(!is_confirmed([0.6, 0.45], true), "too small a loss");
    }
}
