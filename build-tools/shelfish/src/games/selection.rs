//! Selection of the games and moves of a book.

use std::collections::BTreeMap;

use shelfish_analysis::pgn::PgnGame;

use super::details::Wanted;
use crate::input::Input;

/// Selection of the games and moves of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Maximum number of moves of each game.
    pub max_plies: usize,
    /// Minimum number of games of a position.
    pub min_games: u64,
    /// Inputs whose games are used to their end with all positions.
    pub whole: Vec<Input>,
    /// Details in addition to results.
    pub details: Wanted,
}

impl Selection {
    /// Returns the entries of the manifest for the selection.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let max_plies = Some(self.max_plies).filter(|plies| *plies != usize::MAX);
        let min_games = Some(self.min_games).filter(|games| *games > 1);
        [
            ("max_plies", max_plies.map(|plies| plies.to_string())),
            ("min_games", min_games.map(|games| games.to_string())),
        ]
        .into_iter()
        .chain(self.details.describe())
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}

/// Returns the year of a game, from dates such as `2013.01.31`, with `????` for an unknown year.
pub fn year_of(game: &PgnGame) -> Option<u64> {
    let year = |name| {
        let year = game.tag(name)?.split('.').next()?.trim().parse::<u16>();
        year.ok().filter(|year| *year > 0).map(u64::from)
    };
    year("UTCDate").or_else(|| year("Date"))
}

/// Speed of a game: base time plus 40 increments, with the limits of Lichess
/// (<https://github.com/lichess-org/scalachess/blob/master/core/src/main/scala/Speed.scala>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// Below 30 s
    UltraBullet,
    /// Below 180 s
    Bullet,
    /// Below 480 s
    Blitz,
    /// Below 1,500 s
    Rapid,
    /// Below 21,600 s
    Classical,
    /// More
    Correspondence,
}

impl Speed {
    const CUTS: [(u64, Speed); 5] = [
        (30, Speed::UltraBullet),
        (180, Speed::Bullet),
        (480, Speed::Blitz),
        (1_500, Speed::Rapid),
        (21_600, Speed::Classical),
    ];

    /// Returns the speed of a time control such as `180+2`. `-` has no speed.
    pub fn of(control: &str) -> Option<Speed> {
        if control == "-" {
            return Some(Speed::Correspondence);
        }
        let (base, increment) = control.split_once('+').unwrap_or((control, "0"));
        let (base, increment): (u64, u64) = (base.parse().ok()?, increment.parse().ok()?);
        let seconds = increment.checked_mul(40)?.checked_add(base)?;
        Some(
            Speed::CUTS
                .iter()
                .find(|(cut, _)| seconds < *cut)
                .map_or(Speed::Correspondence, |(_, speed)| *speed),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_have_the_limits_of_lichess() {
        for (control, speed) in [
            ("15+0", Some(Speed::UltraBullet)),
            ("29+0", Some(Speed::UltraBullet)),
            ("30", Some(Speed::Bullet)),
            ("60+2", Some(Speed::Bullet)),
            ("60+3", Some(Speed::Blitz)),
            ("479", Some(Speed::Blitz)),
            ("480", Some(Speed::Rapid)),
            ("900+15", Some(Speed::Classical)),
            ("21599", Some(Speed::Classical)),
            ("21600", Some(Speed::Correspondence)),
            ("-", Some(Speed::Correspondence)),
            ("?", None),
            ("40/9000", None),
            ("1+99999999999999999999", None),
        ] {
            assert_eq!(Speed::of(control), speed, "{control}");
        }
    }
}
