//! Matches of UCI engines, and games for training.

pub mod bench;
pub mod contest;
pub mod engine;
pub mod error;
pub mod game;
pub mod judgments;
pub mod marks;
pub mod openings;
pub mod rating;
pub mod results;
mod sample;
pub mod selfplay;
pub mod stats;
pub mod suite;
