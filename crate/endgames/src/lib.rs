//! Exact results of chess endgames from Syzygy tables in static files.
//!
//! [`Endgames`] reads tables of any [`Source`](shelfish::source::Source) by byte ranges: it requests pages of 4 KiB, first the
//! indexes of the needed tables, then the blocks with the results. A host has the unchanged tables, and a small index that
//! [`IndexBuilder`] makes. [`Tables`] reads the tables of a folder on this computer.
//!
//! ```
//! use shakmaty::{CastlingMode, Chess, fen::Fen};
//! use shelfish::source::memory::Memory;
//! use shelfish_endgames::{Endgames, INDEX_FILE, IndexBuilder, Outcome};
//!
//! // The table of king and knight against king: all values are draws.
//! let table = [&[0x71, 0xe8, 0x23, 0x5d, 1, 0, 0x66, 0x22, 0xee, 0, 0x80, 2, 0x80, 2][..], &[0; 66]].concat();
//! let mut builder = IndexBuilder::default();
//! builder.add(&"KNvK.rtbw".parse()?, &table)?;
//! let (index, _) = builder.finish();
//! let source = Memory::new([(INDEX_FILE.to_string(), index.encode()), ("KNvK.rtbw".to_string(), table)]);
//!
//! let endgames = futures_executor::block_on(Endgames::open(source))?;
//! let chess: Chess = "8/8/8/8/3k4/8/3N4/3K4 w - - 0 1".parse::<Fen>()?.into_position(CastlingMode::Standard)?;
//! let probe = futures_executor::block_on(endgames.probe(&chess))?;
//! assert_eq!(probe.verdict.outcome, Outcome::Draw);
//! assert_eq!(probe.moves.len(), 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod header;
mod index;
mod name;
mod pages;
mod pairs;
mod probe;
mod reader;
mod resolve;
mod squares;
#[cfg(not(target_arch = "wasm32"))]
mod tables;

pub use error::{EndgameError, IndexError, NameError, TableError, Uncovered};
pub use header::Layout;
pub use index::{INDEX_FILE, Index, IndexBuilder, MAX_INDEX, PAGE, SUMS_FILE, Table};
pub use name::{MAX_PIECES, Metric, TableName};
pub use probe::{Outcome, Probe, ProbedMove, Verdict, line};
pub use reader::{Endgames, read_index};
pub use shelfish::position::parse_fen;
#[cfg(not(target_arch = "wasm32"))]
pub use tables::Tables;
