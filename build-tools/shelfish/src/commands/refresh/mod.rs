//! `shelfish refresh`: a monthly update of a site with one command: build, verify, publish, prune.
//!
//! A JSON file records the last build. If the sources did not change and the database built from them is published,
//! nothing is done. An interrupted run is continued.

pub mod command;
mod config;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use shelfish::source::Source;
use shelfish::source::file::Directory;
use shelfish::source::integrity::Integrity;
use shelfish::source::redaction::redacted;
use shelfish::table::Manifest;
use thiserror::Error;

use super::table_args::{BuildArgs, Built};
use super::verify;
use crate::input::Input;
use crate::input::remote::Remote;
use crate::publish::{self, Replaces, publish};
use crate::system::output;
use crate::terminal::shown::shown;
use crate::{BoxError, database};
pub use config::{Config, ConfigError};

/// Record of the last build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Inputs of the build.
    recipe: Recipe,
    /// Hash of the manifest.
    integrity: String,
    /// Hash of the published manifest that was the base of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// Whether a publication of the build may have ended early, so that old databases may remain in the store.
    #[serde(default, skip_serializing_if = "is_false")]
    is_unfinished: bool,
}

/// Returns whether a field need not be written.
fn is_false(value: &bool) -> bool {
    !value
}

/// Reasons for a build or a publication.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Reason {
    #[error("--force was given")]
    Forced,
    #[error("there is no record of a build ({} is missing)", .0.display())]
    NoState(PathBuf),
    #[error("the last build was made by version {0}")]
    Program(String),
    #[error("the options of the build changed")]
    Options,
    #[error("the list of sources changed")]
    Sources,
    #[error("{0} changed")]
    Source(String),
    #[error("the host of {0} sends no checksum, ETag or time, so changes cannot be noticed")]
    Unversioned(String),
    #[error("{} does not contain the last build", .0.display())]
    NotBuilt(PathBuf),
    #[error("the published database, which is the base, changed")]
    Base,
    #[error("nothing is published")]
    Nothing,
    #[error("another database is published, {0}")]
    Other(String),
    #[error("the last publication did not end")]
    Unfinished,
}

/// Everything that determines the result of a build, except for its base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recipe {
    /// Version of the program.
    program: String,
    /// Files that the build reads, starting with the sources, each with an identifier of its content.
    sources: Vec<(String, Option<String>)>,
    /// Options of the build.
    options: Vec<String>,
}

impl Recipe {
    /// Returns the first difference from the recipe of the last build. `None` means that both give the same database.
    fn change(&self, last: &Recipe) -> Option<Reason> {
        let names = |recipe: &Recipe| {
            recipe
                .sources
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        if self.program != last.program {
            return Some(Reason::Program(last.program.clone()));
        }
        if self.options != last.options {
            return Some(Reason::Options);
        }
        if names(self) != names(last) {
            return Some(Reason::Sources);
        }
        self.sources.iter().zip(&last.sources).find_map(
            |((name, version), (_, last))| match version {
                None => Some(Reason::Unversioned(name.clone())),
                version => (version != last).then(|| Reason::Source(name.clone())),
            },
        )
    }
}

/// Results of a refresh.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether the published database changed.
    pub changed: bool,
    /// Hash that pins the manifest; empty if there is no database yet.
    pub integrity: String,
    /// Summary of the build, if there was a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub built: Option<Built>,
    /// Results of the verification, if there was a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<verify::Report>,
    /// Results of the publication, if there was a publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<publish::Report>,
    /// Action that would be taken, with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<&'static str>,
    /// Reason for the action, with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Reasons why nothing was published.
#[derive(Debug, Error)]
pub enum RefreshError {
    /// The file of the state cannot be read, or is not JSON of a state.
    #[error("{}: {}; expected a file written by `shelfish refresh`; remove it to build again", .0.display(), .1)]
    State(PathBuf, io::Error),
    /// The file of the state cannot be written. The error names the file.
    #[error(
        "cannot write {0}; expected a path at which `shelfish refresh` can write a small file. In a container, its user must \
         own the mounted folder (deploy/Containerfile has the options)"
    )]
    Unwritten(io::Error),
    /// A source is missing.
    #[error("cannot read {0}: {1}")]
    Source(Input, io::Error),
    /// The new database is damaged.
    #[error("{} is damaged, nothing was published: {}: {}; check the disk", .0.display(), .1.file, .1.what)]
    Damaged(PathBuf, Box<verify::Problem>),
}

/// Refreshes a database.
///
/// The published database stays intact if a step fails.
pub fn refresh(args: &command::Args) -> Result<Report, BoxError> {
    let path = args.config.as_path();
    let start = Instant::now();
    let say = |what: &str| {
        if !args.output.quiet {
            let _ = writeln!(io::stderr(), "shelfish: {}", shown(what));
        }
    };
    let config = Config::read(path)?;
    let mut publishing = publish::Options {
        output: args.output,
        dry_run: false,
        max_loss: Some(config.max_loss),
        ..config.publish.clone()
    };
    let recipe = recipe(&config, &config.build_at(path, None)?)?;
    let state = State::read(&config.state)?;
    let change = match &state {
        _ if args.force => Some(Reason::Forced),
        Some(state) => recipe.change(&state.recipe),
        None => Some(Reason::NoState(config.state.clone())),
    };
    let known = state.filter(|_| change.is_none());
    let there = publish::current(&publishing.to)?;
    let mut report = Report {
        changed: false,
        integrity: there.clone().unwrap_or_default(),
        built: None,
        verified: None,
        published: None,
        would: None,
        reason: None,
        seconds: 0.0,
    };
    let directory = Directory::new(&config.directory);
    let here = database::wait(directory.whole(Manifest::FILE, Manifest::MAX_BYTES as u64))?;
    let here = here.ok().map(|bytes| Integrity::of(&bytes).to_string());
    let is_there = |known: &State| there.as_ref() == Some(&known.integrity);
    let is_here = |known: &State| here.as_ref() == Some(&known.integrity);
    let is_unfinished = known
        .as_ref()
        .is_some_and(|known| is_there(known) && is_here(known) && known.is_unfinished);
    let is_published = known.as_ref().is_some_and(is_there) && !is_unfinished;
    // A build on an older manifest would lose later publications.
    let is_current = |known: &State| !config.on_published || known.base == there;
    let is_built = is_unfinished
        || known
            .as_ref()
            .is_some_and(|known| is_here(known) && is_current(known));
    let reason = match (&known, &there) {
        _ if is_published => None,
        _ if is_unfinished => Some(Reason::Unfinished),
        (_, None) if is_built => Some(Reason::Nothing),
        (_, Some(there)) if is_built => Some(Reason::Other(there.clone())),
        (Some(known), _) if !is_current(known) => Some(Reason::Base),
        _ => change.or_else(|| Some(Reason::NotBuilt(config.directory.clone()))),
    };
    if args.dry_run {
        report.would = Some(match (is_published, is_built) {
            (true, _) => "do nothing: the newest is published",
            (false, true) => "publish what is built",
            (false, false) => "build, verify and publish",
        });
        report.reason = reason.map(|reason| reason.to_string());
    } else if is_published {
        say("the sources of the published database did not change: nothing to do");
    } else {
        let state = if let Some(known) = known.filter(|_| is_built) {
            say("the database is built already");
            known
        } else {
            // A local base is faster than a remote base.
            let base = match (&there, &here) {
                (Some(there), Some(here)) if there == here => {
                    Some(config.directory.display().to_string())
                }
                (Some(_), _) => Some(publishing.to.url.clone()),
                (None, _) => None,
            };
            // An unwritable file should be reported before the build, not hours later.
            output::check_writable(&config.state).map_err(RefreshError::Unwritten)?;
            match &reason {
                Some(reason) => say(&format!("building: {reason}")),
                None => say("building"),
            }
            let build = config.build_at(path, base.as_deref().filter(|_| config.on_published))?;
            let built = build.build_in(config.directory.clone(), args.output.quiet)?;
            say("verifying");
            let verified = verify::verify(
                &database::Args::of(&config.directory.display().to_string()).source()?,
                args.output.quiet,
            )?;
            if let Some(problem) = verified.problems.first() {
                return Err(
                    RefreshError::Damaged(config.directory, Box::new(problem.clone())).into(),
                );
            }
            let base = there.clone().filter(|_| config.on_published);
            let state = State {
                recipe,
                integrity: built.integrity().to_string(),
                base,
                is_unfinished: true,
            };
            state.write(&config.state)?;
            (report.built, report.verified) = (Some(built), Some(verified));
            state
        };
        say("publishing");
        if config.on_published {
            publishing.replaces = Replaces::Only(there);
        }
        let published = publish(&publishing)?;
        State {
            is_unfinished: false,
            ..state
        }
        .write(&config.state)?;
        report.changed = published.changed;
        report.integrity.clone_from(&published.integrity);
        report.published = Some(published);
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Describes a build from the current inputs.
fn recipe(config: &Config, build: &BuildArgs) -> Result<Recipe, RefreshError> {
    let version = |path: &Path| {
        let source = Input::from(path);
        let version = match &source {
            Input::Url(url) => Remote::open(url).map(|remote| remote.version()),
            _ => fs::metadata(path).map(|metadata| {
                let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
                Some(format!(
                    "{} bytes of {}",
                    metadata.len(),
                    modified.as_nanos()
                ))
            }),
        };
        version
            // The file of the state may be public, and a new signature of a URL is no new source.
            .map(|version| (redacted(&path.display().to_string()), version))
            .map_err(|error| RefreshError::Source(source, error))
    };
    Ok(Recipe {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        sources: build
            .reads()
            .into_iter()
            .map(version)
            .collect::<Result<_, _>>()?,
        options: config
            .is_book
            .then(|| "book".to_owned())
            .into_iter()
            .chain(config.options.iter().map(|option| redacted(option)))
            .collect(),
    })
}

impl State {
    fn read(path: &Path) -> Result<Option<State>, RefreshError> {
        let state_error = |error| RefreshError::State(path.to_owned(), error);
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(state_error(error)),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| state_error(error.into())),
        }
    }

    /// Writes the state atomically.
    fn write(&self, path: &Path) -> Result<(), RefreshError> {
        let write = |out: &mut output::Named| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        };
        output::replace(path, write).map_err(RefreshError::Unwritten)
    }
}
