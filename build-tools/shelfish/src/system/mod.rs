//! Files, signals and threads of this machine.

pub mod ordered;
pub mod output;
pub mod workspace;
