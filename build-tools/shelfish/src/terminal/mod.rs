//! The output of commands: answers, progress and reports.

pub mod answers;
pub mod progress;
pub mod report;
pub mod shown;
