//! `shelfish refresh`: what a site does every month, with one command: build of the newest dump, verify, publish, prune.
//!
//! What was done is remembered in a small file of JSON. Where the sources are as they were and what is published is what
//! was built of them, nothing is done; what broke off is gone on with.

pub mod command;
mod config;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use shelfish::source::integrity::Integrity;
use shelfish::table::Manifest;

use super::table_args::Built;
use super::verify;
use crate::input::Input;
use crate::input::remote::{Patience, Remote};
use crate::publish::{self, Replaces, publish};
use crate::{Failure, database};
use config::{BuildArgs, Config};

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// What it was built of.
    recipe: Recipe,
    /// The hash of the manifest.
    integrity: String,
    /// The hash of the manifest that was published, if it was built on that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
}

/// All that decides what comes of a build, a base aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recipe {
    /// The version of this program.
    program: String,
    /// What it reads, the sources first, each with what tells its content.
    sources: Vec<(String, Option<String>)>,
    /// Options of the build.
    options: Vec<String>,
}

impl Recipe {
    /// Whether a build of the other one makes what a build of this one makes.
    fn is(&self, other: &Recipe) -> bool {
        self == other && self.sources.iter().all(|(_, version)| version.is_some())
    }
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether readers have another database than before.
    pub changed: bool,
    /// The hash by which the manifest can be pinned; empty where nothing is built yet.
    pub integrity: String,
    /// The build, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub built: Option<Built>,
    /// What was verified, if it was built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<verify::Report>,
    /// What was published, if there was need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<publish::Report>,
    /// With `--dry-run`, what would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<&'static str>,
    /// Seconds taken.
    pub seconds: f64,
}

/// Why nothing new is published.
#[derive(Debug)]
pub enum RefreshError {
    /// What is remembered is not what this program writes.
    State(PathBuf, String),
    /// What is done cannot be remembered.
    Unwritten(PathBuf, io::Error),
    /// A source is not there.
    Source(Input, io::Error),
    /// The database that was built is not whole.
    Damaged(PathBuf, Box<verify::Problem>),
}

impl fmt::Display for RefreshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefreshError::State(path, why) => {
                write!(
                    f,
                    "{}: {why}; expected what `shelfish refresh` wrote there: remove it to build anew",
                    path.display()
                )
            }
            RefreshError::Unwritten(path, error) => {
                write!(
                    f,
                    "{}: {error}; expected a place where `shelfish refresh` may write a small file",
                    path.display()
                )
            }
            RefreshError::Source(source, error) => write!(f, "cannot read {source}: {error}"),
            RefreshError::Damaged(path, problem) => write!(
                f,
                "{} is not whole, nothing was published: {}: {}; is the disk well?",
                path.display(),
                problem.file,
                problem.what
            ),
        }
    }
}

impl std::error::Error for RefreshError {}

/// How it is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Whether it is built though nothing changed.
    pub force: bool,
    /// Whether nothing is done but looking.
    pub dry_run: bool,
    /// Whether to keep silent until the end.
    pub quiet: bool,
}

/// Refreshes by what the file at `path` says.
///
/// # Errors
///
/// What readers have is as it was, whatever went wrong.
pub fn refresh(path: &Path, how: How) -> Result<Report, Failure> {
    let start = Instant::now();
    let say = |what: &str| {
        if !how.quiet {
            let _ = writeln!(io::stderr(), "shelfish: {what}");
        }
    };
    let config = Config::read(path)?;
    let mut publishing = publish::Options { quiet: how.quiet, ..config.publish.clone().options() };
    let recipe = recipe(&config, &config.build(path, None)?)?;
    let state = State::read(&config.state)?;
    let known = state.filter(|state| state.recipe.is(&recipe) && !how.force);
    let there = publish::current(&publishing.to, publishing.settings)?;
    let mut report = Report {
        changed: false,
        integrity: there.clone().unwrap_or_default(),
        built: None,
        verified: None,
        published: None,
        would: None,
        seconds: 0.0,
    };
    let here = fs::read(config.directory.join(Manifest::FILE)).ok().map(|bytes| Integrity::of(&bytes).to_string());
    let is_published = known.as_ref().is_some_and(|known| there.as_ref() == Some(&known.integrity));
    // What was built on another manifest than the one that is there lacks what was published since.
    let is_current = |known: &State| !config.on_published || known.base == there;
    let is_built = known.as_ref().is_some_and(|known| here.as_ref() == Some(&known.integrity) && is_current(known));
    if how.dry_run {
        report.would = Some(match (is_published, is_built) {
            (true, _) => "do nothing: the newest is published",
            (false, true) => "publish what is built",
            (false, false) => "build, verify and publish",
        });
    } else if is_published {
        say("the sources are those of the database that is published: nothing to do");
    } else {
        if is_built {
            say("it is built already");
        } else {
            // What is here is read sooner than what is far away.
            let base = match (&there, &here) {
                (Some(there), Some(here)) if there == here => Some(config.directory.display().to_string()),
                (Some(_), _) => Some(publishing.to.url.clone()),
                (None, _) => None,
            };
            // Hours later would be too late.
            State::file(&config.state)?;
            say("building");
            let args = config.build(path, base.as_deref().filter(|_| config.on_published))?;
            let built = args.build_in(config.directory.clone(), how.quiet)?;
            say("verifying");
            let verified =
                verify::verify(&database::Args::of(&config.directory.display().to_string()).source()?, how.quiet)?;
            if let Some(problem) = verified.problems.first() {
                return Err(RefreshError::Damaged(config.directory, Box::new(problem.clone())).into());
            }
            let base = there.clone().filter(|_| config.on_published);
            State { recipe, integrity: built.integrity().to_string(), base }.write(&config.state)?;
            (report.built, report.verified) = (Some(built), Some(verified));
        }
        say("publishing");
        if config.on_published {
            publishing.replaces = Replaces::Only(there);
        }
        let published = publish(&publishing)?;
        report.changed = published.changed;
        report.integrity.clone_from(&published.integrity);
        report.published = Some(published);
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// What a build would be of by now.
fn recipe(config: &Config, build: &BuildArgs) -> Result<Recipe, RefreshError> {
    let version = |path: &Path| {
        let source = Input::from(path);
        let version = match &source {
            Input::Url(url) => Remote::open(url, None, Patience::default()).map(|remote| remote.version()),
            _ => fs::metadata(path).map(|metadata| {
                let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
                Some(format!("{} bytes of {}", metadata.len(), modified.as_nanos()))
            }),
        };
        version
            .map(|version| (path.display().to_string(), version))
            .map_err(|error| RefreshError::Source(source, error))
    };
    Ok(Recipe {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        sources: build.reads().into_iter().map(version).collect::<Result<_, _>>()?,
        options: config.is_book.then(|| "book".to_owned()).into_iter().chain(config.options.clone()).collect(),
    })
}

impl State {
    fn read(path: &Path) -> Result<Option<State>, RefreshError> {
        let fault = |why: String| RefreshError::State(path.to_owned(), why);
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault(error.to_string())),
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| fault(error.to_string())),
        }
    }

    /// Writes it, whole or not at all.
    fn write(&self, path: &Path) -> Result<(), RefreshError> {
        let fault = |error: io::Error| RefreshError::Unwritten(path.to_owned(), error);
        let mut file = State::file(path)?;
        let json = serde_json::to_vec_pretty(self).map_err(|error| fault(error.into()))?;
        file.write_all(&json).and_then(|()| file.write_all(b"\n")).map_err(fault)?;
        file.persist(path).map(drop).map_err(|error| fault(error.error))
    }

    /// A file that is to take its place.
    fn file(path: &Path) -> Result<tempfile::NamedTempFile, RefreshError> {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        tempfile::NamedTempFile::new_in(folder).map_err(|error| RefreshError::Unwritten(path.to_owned(), error))
    }
}
