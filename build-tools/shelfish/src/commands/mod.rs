//! The commands of `shelfish`, one module each.

pub mod analyse;
pub mod bench;
pub mod book;
pub mod build;
pub mod doctor;
pub mod endgames;
pub mod engine;
pub mod explore;
pub mod export;
pub mod extract;
pub mod lookup;
pub mod man;
pub mod parts;
pub mod publish;
pub mod refresh;
pub mod serve;
pub mod stats;
pub mod table_args;
pub mod verify;
