//! Games that `shelfish analyse --engine` annotates and a reference engine checks.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use shakmaty::{Chess, Color, Move};
use shelfish_analysis::Score;
use shelfish_analysis::pgn::{self, PgnGame};
use shelfish_cli::input::game_texts::{GameTexts, decoded};
use shelfish_cli::input::{Dump, Input};
use shelfish_uci::{Setup, UciScore};

use crate::error::{ArenaError, OptionError};

/// Number of plies of a game that is chosen.
const PLIES: RangeInclusive<usize> = 40..=120;
/// Time limit of a search of the reference.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// Options that choose the games, the program and the reference engine.
#[derive(clap::Args)]
pub struct Sample {
    /// PGN file, plain or compressed with zstd, and the distance of the chosen games in the file
    #[arg(long, value_name = "FILE:STEP", required = true, value_parser = selection)]
    games: Vec<(PathBuf, usize)>,
    /// Number of games of each file
    #[arg(long, default_value_t = 20)]
    count: usize,
    /// Number of games to skip before the first chosen game: other games than those the program was tuned on
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// The program `shelfish`
    #[arg(long)]
    program: PathBuf,
    /// Arguments of `shelfish analyse`, separated by spaces
    #[arg(long, default_value = "--engine", allow_hyphen_values = true)]
    pub options: String,
    /// Reference engine
    #[arg(long, default_value = "stockfish Hash=64", value_parser = Setup::parse)]
    pub engine: Setup,
    /// Nodes of the reference for each position
    #[arg(long, default_value_t = 1_000_000)]
    pub nodes: u64,
}

/// Parses `FILE:STEP`.
fn selection(text: &str) -> Result<(PathBuf, usize), OptionError> {
    let (file, step) = text
        .rsplit_once(':')
        .ok_or_else(|| OptionError::form("FILE:STEP, like games.pgn.zst:100", text))?;
    let distance = step.parse().ok().filter(|distance| *distance > 0);
    let distance = distance
        .ok_or_else(|| OptionError::form("a distance of 1 or more after the colon", step))?;
    Ok((file.into(), distance))
}

impl Sample {
    /// Chooses different games from all files.
    pub fn games(&self) -> Result<Vec<PgnGame>, ArenaError> {
        let (mut games, mut seen) = (Vec::new(), HashSet::new());
        for (path, step) in &self.games {
            let chosen = self
                .choose(path, *step, &mut seen)
                .map_err(ArenaError::file(path))?;
            games.extend(chosen);
        }
        Ok(games)
    }

    /// Chooses `count` games of a file after the first `offset` games: every `step`-th game, or the next game of chess of 40
    /// to 120 plies that was not seen.
    fn choose(
        &self,
        file: &Path,
        step: usize,
        seen: &mut HashSet<Vec<Move>>,
    ) -> io::Result<Vec<PgnGame>> {
        let (mut next, mut games) = (self.offset, Vec::new());
        for (number, text) in texts(file)?.enumerate() {
            let text = text?.text;
            if games.len() == self.count {
                break;
            }
            if number >= next
                && let Ok(game) = pgn::read(&decoded(&text), 1)
                && PLIES.contains(&game.game.moves().len())
                && *game.start() == Chess::default()
                && seen.insert(game.game.moves().to_vec())
            {
                games.push(game);
                next += step;
            }
        }
        Ok(games)
    }

    /// Analyses games with the program `shelfish`. Returns a report of each game.
    pub fn reports(&self, games: &[PgnGame]) -> Result<Vec<serde_json::Value>, ArenaError> {
        let path = std::env::temp_dir().join(format!("arena-{}.pgn", std::process::id()));
        let text: String = games.iter().map(|game| format!("{game}\n")).collect();
        fs::write(&path, text).map_err(ArenaError::file(&path))?;
        let run = Command::new(&self.program)
            .args(["analyse", "--json"])
            .args(self.options.split_whitespace())
            .arg(&path)
            .stderr(Stdio::inherit())
            .output();
        fs::remove_file(&path).map_err(ArenaError::file(&path))?;
        let run = run.map_err(ArenaError::file(&self.program))?;
        if !run.status.success() {
            return Err(ArenaError::Program {
                program: self.program.clone(),
                status: run.status,
            });
        }
        let lines = run
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).map_err(ArenaError::Report))
            .collect()
    }
}

/// Opens a PGN file, plain or compressed.
pub fn texts(file: &Path) -> io::Result<GameTexts<Box<dyn Read + Send>>> {
    Dump::text_of(&Input::File(file.to_owned())).map(GameTexts::new)
}

/// Converts the score of a UCI engine, which is from the point of view of `turn`, to a score from White's point of view.
pub fn white_score(score: UciScore, turn: Color) -> Score {
    let sign = turn.fold_wb(1, -1);
    match score {
        UciScore::Cp(cp) => Score::Cp(sign * cp),
        UciScore::Mate(moves) => Score::Mate(sign * moves),
    }
}
