//! A database of chess evaluations in static files.
//!
//! A [`table`] contains one record per canonical [`position`]: its [`eval`]uations, or the moves [`played`] from it. A
//! [`reader`] finds the block of a position by a small index and decodes its record. The writer is native and requires the
//! feature `write`. All other code runs natively and on wasm32.
//!
//! Reading takes two or three byte ranges per position, from a directory or any other [`source`]:
//!
//! ```no_run
//! use shelfish::eval::PositionEval;
//! use shelfish::reader::Reader;
//! use shelfish::source::file::Directory;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let reader = Reader::builder(Directory::new("evals")).open::<PositionEval>().await?;
//! let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -".parse()?;
//! if let Some(best) = reader.lookup(&start).await?.as_ref().and_then(PositionEval::best) {
//!     println!("{} at depth {}", best.pvs[0].score, best.depth);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Writing takes records in ascending order of keys, in blocks of some hundreds of records:
//!
//! ```
//! # #[cfg(not(feature = "write"))]
//! # fn main() {}
//! # #[cfg(feature = "write")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
//! use shelfish::table::{TableWriter, WriterOptions, encode_block};
//! # use shelfish::{reader::Reader, source::file::Directory};
//!
//! let pv = Pv { score: Score::Cp(120), line: Vec::new() };
//! let evaluations = vec![Evaluation { depth: 30, knodes: 1_000, pvs: vec![pv] }];
//! let record = PositionEval { position: "8/8/8/4k3/8/4K3/4P3/8 w - -".parse()?, evaluations };
//! # let position = record.position.clone();
//! let dir = std::env::temp_dir().join(format!("shelfish-example-{}", std::process::id()));
//! std::fs::create_dir_all(dir.join("scratch"))?;
//! let mut writer = TableWriter::<PositionEval>::create(&dir, &dir.join("scratch"), WriterOptions::default());
//! writer.append(&encode_block(&[record])?)?;
//! writer.finish()?;
//! # let eval = futures_executor::block_on(async {
//! #     Reader::builder(Directory::new(&dir)).open::<PositionEval>().await?.lookup(&position).await
//! # })?;
//! # assert_eq!(eval.as_ref().and_then(PositionEval::best).map(|best| best.depth), Some(30));
//! # std::fs::remove_dir_all(dir)?;
//! # Ok(())
//! # }
//! ```
//!
//! Features: `write` adds the writer, with C zstd and faster attack tables. `http` adds `source::host`, a client for web
//! hosts on Tokio. Both are native only. `web` adds `shelfish::web`, the sources and caches of a browser, for wasm32.
//! Files, memory and custom sources need no feature.

/// The chess rules that the types of this crate use.
pub use shakmaty;

#[doc(hidden)]
pub mod digits;
pub mod eval;
pub mod leb128;
mod moves;
pub mod played;
pub mod polyglot;
pub mod position;
#[doc(hidden)]
pub mod quoted;
pub mod reader;
mod setters;
pub mod source;
mod sync;
pub mod table;
#[cfg(all(target_arch = "wasm32", feature = "web"))]
pub mod web;
