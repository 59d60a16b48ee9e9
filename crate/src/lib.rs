//! Chess evaluations off the shelf.
//!
//! Data flows in one direction: canonical [`position`]s with their [`eval`]uations are written as a [`table`] of blocks; a
//! reader finds the block of a position by a small index and decodes its record. The writer is behind the
//! feature `write` and native; everything else is portable between native targets and wasm32.
//!
//! ```
//! # #[cfg(not(feature = "write"))]
//! # fn main() {}
//! # #[cfg(feature = "write")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use shelfish::eval::{PositionEval, Evaluation, Pv, Score};
//! use shelfish::position::Position;
//! use shelfish::reader::{Options, Reader};
//! use shelfish::source::file::Directory;
//! use shelfish::table::{TableWriter, WriterOptions, encode_block};
//!
//! // Writing: records in ascending order of keys, some hundreds a block, blocks into shards.
//! let position: Position = "8/8/8/4k3/8/4K3/4P3/8 w - -".parse()?;
//! let pv = Pv { score: Score::Cp(120), line: Vec::new() };
//! let evaluations = vec![Evaluation { depth: 30, knodes: 1_000, pvs: vec![pv] }];
//! let record = PositionEval { position: position.clone(), evaluations };
//! let dir = std::env::temp_dir().join(format!("shelfish-example-{}", std::process::id()));
//! std::fs::create_dir_all(dir.join("scratch"))?;
//! let mut writer = TableWriter::<PositionEval>::create(&dir, &dir.join("scratch"), WriterOptions::default());
//! writer.append(&encode_block(&[record])?)?;
//! writer.finish()?;
//!
//! // Reading: two or three ranges of files, from a directory or any other source.
//! let answer = futures_executor::block_on(async {
//!     let reader = Reader::<_, PositionEval>::open(Directory::new(&dir), Options::default()).await?;
//!     reader.lookup(&position).await
//! })?;
//! let best = answer.as_ref().and_then(PositionEval::best).map(|best| (best.depth, best.pvs[0].score));
//! assert_eq!(best, Some((30, Score::Cp(120))));
//! # std::fs::remove_dir_all(dir)?;
//! # Ok(())
//! # }
//! ```
//!
//! Features: `write` brings the writer, with C zstd and faster tables of attacks; `http` brings `source::host`, which
//! reads from a web host with a client on Tokio. Both are native only. `web` brings
//! `shelfish::web`, the sources and caches of a browser, for wasm32. A reader of files, of memory, or of a source of
//! your own takes none.

/// The rules of chess that this crate's types are made of.
pub use shakmaty;

mod base64;
pub mod eval;
pub mod leb128;
mod moves;
pub mod played;
pub mod polyglot;
pub mod position;
mod quoted;
pub mod reader;
mod setters;
pub mod source;
mod sync;
pub mod table;
#[cfg(all(target_arch = "wasm32", feature = "web"))]
pub mod web;
