//! The commands of `shelfish`, one module each.

pub mod analyse;
pub mod bench;
pub mod book;
pub mod build;
pub mod doctor;
pub mod dumps;
pub mod encode;
pub mod endgames;
pub mod engine;
pub mod explore;
pub mod export;
pub mod extract;
pub mod lookup;
pub mod man;
pub mod partition;
pub mod plan;
pub mod publish;
pub mod refresh;
pub mod seal;
pub mod serve;
pub mod stats;
pub mod table_args;
pub mod verify;
