//! The division of games: numbers that say which part of the known games belongs to one move. Numbers that follow from
//! the known games are not stored.

use super::columns::{BUCKET_OF_ONE, RATED, number};
use super::move_games::count as count_games;
use super::results::{Bucket, Ratings, Results};
use crate::table::{Coder, ColumnError, out_of_range, unzigzag, zigzag};

/// The columns of a division: games of buckets, White's wins, draws, ratings.
#[derive(Copy, Clone)]
pub struct Division {
    buckets: usize,
    white: usize,
    draws: usize,
    ratings: usize,
}

/// Of games that come from outside of the block.
pub const ARRIVED: Division = Division {
    buckets: 19,
    white: 7,
    draws: 8,
    ratings: 22,
};
/// Of the games of a position.
pub const SHARED: Division = Division {
    buckets: 20,
    white: 14,
    draws: 15,
    ratings: 23,
};

/// The expected rating without other information.
const USUAL_RATING: u64 = 1600;

/// Divides `count` games of `from` off into `part`; `from` is `None` for games from outside the block. A writer passes
/// the part to write.
pub fn divide(
    coder: &mut Coder<'_>,
    division: Division,
    has_ratings: bool,
    count: u64,
    from: Option<&[Bucket]>,
    part: &mut [Bucket],
) -> Result<(), ColumnError> {
    if let [bucket] = part {
        *bucket = divide_bucket(
            coder,
            division,
            has_ratings,
            count,
            from.and_then(<[Bucket]>::first),
            *bucket,
        )?;
        return Ok(());
    }
    if count == 1 {
        let is_open = |n: &usize| from.is_none_or(|from| from[*n].games() > 0);
        let open = || (0..part.len()).filter(is_open);
        let input = open().position(|n| part[n].games() > 0).unwrap_or(0) as u64;
        let choices = open().count() as u64;
        let choice = if choices > 1 {
            number(coder, BUCKET_OF_ONE, choices - 1, input)?
        } else {
            0
        };
        let n = open().nth(choice as usize).unwrap_or(0);
        let input = part[n];
        part.fill(Bucket::default());
        part[n] = divide_bucket(
            coder,
            division,
            has_ratings,
            1,
            from.map(|from| &from[n]),
            input,
        )?;
        return Ok(());
    }
    let mut left = count;
    let mut later = from.map(count_games);
    let last = part.len() - 1;
    for (n, bucket) in part.iter_mut().enumerate() {
        let from = from.map(|from| &from[n]);
        let has = from.map_or(left, Bucket::games);
        later = later.map(|later| later - has);
        let least = left.saturating_sub(later.unwrap_or(if n < last { left } else { 0 }));
        let most = has.min(left);
        let input = bucket.games().wrapping_sub(least);
        let count = if least == most {
            least
        } else {
            least + number(coder, division.buckets, most - least, input)?
        };
        *bucket = divide_bucket(coder, division, has_ratings, count, from, *bucket)?;
        left -= count;
    }
    Ok(())
}

fn divide_bucket(
    coder: &mut Coder<'_>,
    division: Division,
    has_ratings: bool,
    games: u64,
    from: Option<&Bucket>,
    input: Bucket,
) -> Result<Bucket, ColumnError> {
    if games == 0 {
        return Ok(Bucket::default());
    }
    let of = from.map_or(
        Results {
            white: games,
            draws: games,
            black: games,
        },
        |from| from.results,
    );
    let mut part =
        |column, has: u64, games: u64, others: u64, value: u64| -> Result<u64, ColumnError> {
            let least = games.saturating_sub(others);
            let most = has.min(games);
            if least == most {
                Ok(least)
            } else {
                Ok(least + number(coder, column, most - least, value.wrapping_sub(least))?)
            }
        };
    let white = part(
        division.white,
        of.white,
        games,
        of.draws + of.black,
        input.results.white,
    )?;
    let draws = part(
        division.draws,
        of.draws,
        games - white,
        of.black,
        input.results.draws,
    )?;
    let results = Results {
        white,
        draws,
        black: games - white - draws,
    };
    let ratings = match has_ratings {
        true => divide_ratings(coder, division.ratings, games, from, input.ratings)?,
        false => Ratings::default(),
    };
    Ok(Bucket { results, ratings })
}

fn divide_ratings(
    coder: &mut Coder<'_>,
    column: usize,
    games: u64,
    from: Option<&Bucket>,
    input: Ratings,
) -> Result<Ratings, ColumnError> {
    let (rated, unrated) = from.map_or((games, games), |from| {
        (from.ratings.games, from.games() - from.ratings.games)
    });
    let (least, most) = (games.saturating_sub(unrated), rated.min(games));
    let games = match most - least {
        0 => most,
        more => most - number(coder, RATED, more, most.wrapping_sub(input.games))?,
    };
    if games > Ratings::MAX_GAMES {
        return Err(out_of_range(RATED, games));
    }
    let (least, most, expected) = match from.map(|from| from.ratings) {
        None => (0, games * Ratings::MAX, games * USUAL_RATING),
        Some(from) => {
            let others = (from.games - games) * Ratings::MAX;
            let expected = from.sum / from.games.max(1) * games;
            (
                from.sum.saturating_sub(others),
                from.sum.min(games * Ratings::MAX),
                expected,
            )
        }
    };
    if least == most {
        return Ok(Ratings { games, sum: least });
    }
    let expected = expected.clamp(least, most);
    // A difference is below 2^62, so that it fits with its sign.
    let more = input.sum.wrapping_sub(expected) as i64;
    let number = number(coder, column, u64::MAX, zigzag(more))?;
    let sum = expected
        .checked_add_signed(unzigzag(number))
        .filter(|sum| (least..=most).contains(sum));
    Ok(Ratings {
        games,
        sum: sum.ok_or_else(|| out_of_range(column, number))?,
    })
}
