//! Commands and options of the program's engine.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/commands/engine/command.rs"]
pub mod command;
#[path = "../../../build-tools/shelfish/src/commands/engine/options.rs"]
pub mod options;
