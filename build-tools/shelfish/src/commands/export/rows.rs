//! Export of the rows of a table: as Parquet or CSV.

use std::io::Write;

use shakmaty::CastlingMode;
use shelfish::eval::{Evaluation, PositionEval, Pv};
use shelfish::played::{Details, Played, Results};
use shelfish::table::Record;

use super::{Args, BoxError, blocks};
#[cfg(feature = "parquet")]
use crate::input::parquet::Writer;
use crate::input::rows::{COLUMNS, Cell, Row, Rows};
use crate::lichess::uci;

/// How records are exported as rows.
pub struct RowFormat<R> {
    /// Names of the columns.
    names: &'static [&'static str],
    /// Schema of Parquet.
    #[cfg(feature = "parquet")]
    schema: &'static str,
    /// Returns the rows of a record, and whether a reader can recover the record from them.
    rows: fn(&R) -> (Vec<Vec<Cell>>, bool),
}

/// The rows of evaluations.
pub const EVALUATIONS: RowFormat<PositionEval> = RowFormat {
    names: &COLUMNS,
    #[cfg(feature = "parquet")]
    schema: crate::input::parquet::SCHEMA,
    rows: |eval| {
        let row = |evaluation: &Evaluation, pv: &Pv| {
            let (cp, mate) = pv.score.cp_and_mate();
            let (depth, knodes) = (evaluation.depth.into(), evaluation.knodes.into());
            let line = uci(&pv.line, CastlingMode::Chess960);
            Row {
                line,
                depth,
                knodes,
                cp: cp.map(Into::into),
                mate: mate.map(Into::into),
            }
        };
        let evaluations = || eval.evaluations.iter();
        let all = evaluations()
            .flat_map(|evaluation| evaluation.pvs.iter().map(move |pv| row(evaluation, pv)));
        let rows = Rows {
            fen: eval.position.to_string(),
            rows: all.collect(),
        };
        let lengths = rows.evaluations().into_iter().map(<[Row]>::len);
        let is_unambiguous = lengths.eq(evaluations().map(|evaluation| evaluation.pvs.len()));
        (rows.cells(), is_unambiguous)
    },
};

/// The rows of played moves.
pub const MOVES: RowFormat<Played> = RowFormat {
    names: &[
        "fen",
        "move",
        "bucket",
        "white",
        "draws",
        "black",
        "rated",
        "rating_sum",
    ],
    #[cfg(feature = "parquet")]
    schema: "message schema {
        required binary fen (UTF8);
        optional binary move (UTF8);
        optional int32 bucket (UINT_16);
        required int64 white (UINT_64);
        required int64 draws (UINT_64);
        required int64 black (UINT_64);
        optional int64 rated (UINT_64);
        optional int64 rating_sum (UINT_64);
    }",
    rows: |played| {
        let fen = played.position.to_string();
        let mut rows = Vec::new();
        let mut push = |m: Option<String>, all: Results, details: &Details| {
            let mut row = |bucket: Option<usize>, results: Results, ratings: Option<(u64, u64)>| {
                rows.push(vec![
                    Cell::Text(fen.clone()),
                    m.clone().map_or(Cell::Missing, Cell::Text),
                    bucket.map_or(Cell::Missing, |bucket| Cell::Number(bucket as i128)),
                    Cell::Number(results.white.into()),
                    Cell::Number(results.draws.into()),
                    Cell::Number(results.black.into()),
                    ratings.map_or(Cell::Missing, |(games, _)| Cell::Number(games.into())),
                    ratings.map_or(Cell::Missing, |(_, sum)| Cell::Number(sum.into())),
                ]);
            };
            if details.buckets.is_empty() {
                row(None, all, None);
            }
            for (n, bucket) in details
                .buckets
                .iter()
                .enumerate()
                .filter(|(_, bucket)| bucket.results.games() > 0)
            {
                let ratings = bucket.ratings;
                row(
                    Some(n),
                    bucket.results,
                    (ratings.games > 0).then_some((ratings.games, ratings.sum)),
                );
            }
        };
        for played in &played.moves {
            push(
                Some(played.m.to_uci(CastlingMode::Chess960).to_string()),
                played.results,
                &played.details,
            );
        }
        if played.ended.games() > 0 {
            push(None, played.ended, &played.ended_details);
        }
        (rows, true)
    },
};

/// Writes the rows of a database as Parquet.
#[cfg(feature = "parquet")]
pub fn write_parquet<R: Record>(
    args: &Args,
    format: &RowFormat<R>,
    out: &mut (impl Write + Send),
) -> Result<(), BoxError> {
    let mut writer = Writer::new(out, format.schema)?;
    each_row(args, format, |row| Ok(writer.push(row)?))?;
    Ok(writer.finish()?)
}

/// Writes the rows of a database as comma-separated values. FENs and moves contain neither commas nor quotation marks.
pub fn write_csv<R: Record>(
    args: &Args,
    format: &RowFormat<R>,
    out: &mut impl Write,
) -> Result<(), BoxError> {
    writeln!(out, "{}", format.names.join(","))?;
    each_row(args, format, |row| {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        Ok(writeln!(out, "{}", cells.join(","))?)
    })
}

/// Calls `write` for each row, and reports the positions whose rows are ambiguous.
fn each_row<R: Record>(
    args: &Args,
    format: &RowFormat<R>,
    mut write: impl FnMut(Vec<Cell>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let mut ambiguous = 0u64;
    let rows = format.rows;
    for block in blocks(args, move |records: &[R]| {
        records.iter().map(rows).collect::<Vec<_>>()
    })? {
        for (rows, is_unambiguous) in block? {
            ambiguous += u64::from(!is_unambiguous);
            rows.into_iter().try_for_each(&mut write)?;
        }
    }
    if ambiguous > 0 {
        eprintln!(
            "shelfish: rows merge evaluations of {ambiguous} positions; use --format jsonl to keep them separate"
        );
    }
    Ok(())
}
