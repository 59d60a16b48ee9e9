//! `shelfish publish`: a database from a directory to a store.
//!
//! Shards are sent first, those that are there already not at all; the manifest last, and only if it is still the one that
//! was read at the beginning. So readers have the old database or the new one, wherever it stops, and of two who publish
//! at the same time one is told. What was replaced stays for as long as readers may still have its manifest.

mod cors;
mod cost;
mod plan;
mod prune;
pub mod staging;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Manifest, Shard};
use tokio::sync::watch;

use crate::database::{self, parse_manifest};
use crate::store::{Address, Current, Settings, Store, StoreError, StoreFault};
use crate::system::signals::{self, Takeover};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::shown::hexadecimal;
use cost::Cost;
use plan::{Local, Plan};

/// Names the folder, beside the shards, of the manifests that were replaced.
const SUPERSEDED: &str = "superseded";

/// What to publish, where, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database.
    pub dir: PathBuf,
    /// Where it goes.
    pub to: Address,
    /// How the store is opened.
    pub settings: Settings,
    /// Files that are sent at a time.
    pub jobs: usize,
    /// What is removed afterwards.
    pub prune: Option<Prune>,
    /// Whether only to say what would be done.
    pub dry_run: bool,
    /// Whether the limits of GitHub Pages hold.
    pub pages: bool,
    /// Whether other sites' pages are let in by the store.
    pub cors: bool,
    /// What has to be there to be replaced.
    pub replaces: Replaces,
    /// Whether to keep silent until the end.
    pub quiet: bool,
}

impl Options {
    /// The database in a directory to a store, in the usual way.
    pub fn new(dir: PathBuf, to: Address) -> Options {
        Options {
            dir,
            to,
            settings: Settings::default(),
            jobs: JOBS,
            prune: None,
            dry_run: false,
            pages: false,
            cors: false,
            replaces: Replaces::Any,
            quiet: false,
        }
    }
}

/// Files that are usually sent at a time.
pub const JOBS: usize = 4;

/// Which manifest is replaced, beside the one that is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Whichever is there at the beginning.
    Any,
    /// The one with this hash, as [`current`] gave it before; `None`: there was none. Who built on it would lose what
    /// somebody else published meanwhile.
    Only(Option<String>),
}

/// Which databases of the past are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// How many, the current one counted.
    pub keep: usize,
    /// How long each is kept after it was replaced, and files that none names after they were sent.
    pub grace: Duration,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether nothing was done but looking.
    pub dry_run: bool,
    /// Where the manifest is.
    pub manifest: String,
    /// The hash by which the manifest can be pinned.
    pub integrity: String,
    /// Whether the manifest was another one before.
    pub changed: bool,
    /// Shards of the database.
    pub shards: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Shards sent.
    pub sent_shards: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Files removed because no kept database has them.
    pub removed_files: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Requests to the store, those aside that were sent again.
    pub requests: u64,
    /// What the store asks for it, by its list prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What was done about other sites' pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cors: Option<String>,
    /// Seconds taken.
    pub seconds: f64,
}

/// Why a database was not published. The one that was there is as it was.
#[derive(Debug)]
pub enum PublishError {
    /// A local file is missing, or not what the manifest says.
    Local {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The store failed.
    Store(StoreError),
    /// A file in the place of the manifest is none of Shelfish.
    InTheWay {
        /// Where it is.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// It is beyond the limits of GitHub Pages.
    Pages(String),
    /// The directory is to be published into itself.
    Itself(PathBuf),
    /// Shards that were sent are not there.
    Vanished {
        /// Where.
        at: String,
        /// How many.
        shards: usize,
    },
    /// A signal came; its number.
    Interrupted(u8),
    /// The system does not give what it takes.
    System(std::io::Error),
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublishError::Local { path, why } => write!(f, "{}: {why}", path.display()),
            PublishError::Store(error) => error.fmt(f),
            PublishError::InTheWay { at, why } => {
                write!(f, "{at} is in the way: {why}; move it elsewhere, or publish into another folder")
            }
            PublishError::Pages(why) => write!(
                f,
                "GitHub Pages does not take it: {why}; leave something out (`shelfish build --min-depth`, `--best-only`, \
                 `--max-pvs`), or publish to a store"
            ),
            PublishError::Itself(path) => write!(f, "{} is the database itself; name another folder", path.display()),
            PublishError::Vanished { at, shards } => write!(
                f,
                "{at}: {shards} files that were sent are not there, so that the manifest was not replaced; does somebody \
                 remove files there?"
            ),
            PublishError::Interrupted(_) => f.write_str(
                "interrupted; the database that was there is as it was. Run it again to go on where it stopped",
            ),
            PublishError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PublishError {}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> PublishError {
        PublishError::Store(error)
    }
}

/// Publishes.
///
/// # Errors
///
/// Nothing changed for readers, whatever went wrong; see [`PublishError`].
pub fn publish(options: &Options) -> Result<Report, PublishError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(PublishError::System)?;
    // Signals must not end the process at once: uploads that were begun would stay in the store.
    let _takeover = Takeover::new();
    let done = runtime.block_on(async {
        let (stop, stopped) = watch::channel(false);
        let signal = interruption(stop);
        let work = run(options, stopped);
        tokio::pin!(signal, work);
        let mut caught = None;
        loop {
            tokio::select! {
                signal = &mut signal, if caught.is_none() => caught = Some(signal),
                done = &mut work => break match (done, caught) {
                    (Err(PublishError::Store(StoreError { fault: StoreFault::Stopped, .. })), Some(signal)) => {
                        Err(PublishError::Interrupted(signal))
                    }
                    (done, _) => done,
                },
            }
        }
    });
    runtime.shutdown_background();
    done
}

/// Waits for SIGINT or SIGTERM, stops the work through the channel and returns the signal's number.
async fn interruption(stop: watch::Sender<bool>) -> u8 {
    let number = match signals::interruption() {
        Ok(interruption) => interruption.await,
        Err(_) => std::future::pending().await,
    };
    let _ = stop.send(true);
    // The receivers must find the channel open.
    tokio::spawn(async move { stop.closed().await });
    number
}

async fn run(options: &Options, stop: watch::Receiver<bool>) -> Result<Report, PublishError> {
    let start = Instant::now();
    let local = Local::read(&options.dir)?;
    if let Some(folder) = options.to.folder() {
        let same = folder.canonicalize().ok().zip(options.dir.canonicalize().ok());
        if same.is_some_and(|(to, from)| to == from) {
            return Err(PublishError::Itself(options.dir.clone()));
        }
    }
    let store = Store::open(&options.to, options.settings)?;
    let before = store.read(Manifest::FILE).await?;
    let old = before.as_ref().map(|before| published(&store, before)).transpose()?;
    let plan = plan::plan(&store, &local, old.as_ref(), options.jobs, SystemTime::now()).await?;
    if options.pages {
        plan.check_pages(&local)?;
    }
    let changed = before.as_ref().is_none_or(|before| before.bytes != local.bytes);
    if let Replaces::Only(expected) = &options.replaces
        && changed
        && *expected != before.as_ref().map(Current::integrity)
    {
        return Err(StoreError { at: store.locate(Manifest::FILE), fault: StoreFault::Conflict }.into());
    }
    let mut report = Report {
        dry_run: options.dry_run,
        manifest: store.locate(Manifest::FILE),
        integrity: Integrity::of(&local.bytes).to_string(),
        changed,
        shards: local.manifest.shards().len() as u64,
        bytes: local.manifest.bytes(),
        sent_shards: plan.send.len() as u64,
        sent_bytes: plan.bytes(),
        requests: plan.requests(changed, options.settings),
        cost: cost::cost(&options.to, (&plan, options.settings), changed, local.manifest.bytes()),
        ..Report::default()
    };
    if !options.dry_run {
        send_all(&store, &local, &plan, options, &stop).await?;
        if let (true, Some(before), Some(_)) = (changed, &before, &old) {
            // It says until when the shards that it names are needed.
            store.write(&superseded(&before.bytes), &before.bytes).await?;
        }
        if changed {
            store.replace(before.as_ref(), &local.bytes).await?;
        }
        if options.cors {
            report.cors = Some(cors::allow(&store, &options.to).await);
        }
    }
    if let Some(rules) = options.prune {
        // Without a change yet, what is there stays what readers have.
        let replaced = old.as_ref().zip(before.as_ref()).filter(|_| changed && options.dry_run);
        let replaced = replaced.map(|(old, before)| (superseded(&before.bytes), old.clone()));
        let found = prune::find(&store, &local.manifest, replaced, rules, SystemTime::now()).await?;
        report.removed_files = found.shards.len() as u64;
        report.removed_bytes = found.shards.iter().map(|entry| entry.bytes).sum();
        report.requests += found.requests;
        if !options.dry_run {
            prune::remove(&store, &found, &local.bytes, options.jobs).await?;
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Replaces the manifest of a store, whose shards are there, and keeps the one that was there.
///
/// # Errors
///
/// What is there is no manifest, or somebody else replaces it at the same time.
pub async fn replace_manifest(store: &Store, bytes: &[u8]) -> Result<(), PublishError> {
    let before = store.read(Manifest::FILE).await?;
    if let Some(before) = before.as_ref().filter(|before| before.bytes != bytes) {
        published(store, before)?;
        store.write(&superseded(&before.bytes), &before.bytes).await?;
    }
    Ok(store.replace(before.as_ref(), bytes).await?)
}

/// The hash of the manifest that a place has, if it has one.
///
/// # Errors
///
/// The place cannot be read, or what is there is no manifest.
pub fn current(to: &Address, settings: Settings) -> Result<Option<String>, PublishError> {
    if to.folder().is_some_and(|folder| !folder.join(Manifest::FILE).exists()) {
        return Ok(None);
    }
    let read = async {
        let store = Store::open(to, settings)?;
        let current = store.read(Manifest::FILE).await?;
        match &current {
            Some(current) => drop(published(&store, current)?),
            // Without a manifest there may be no bucket.
            None => drop(store.list("").await?),
        }
        Ok(current.as_ref().map(Current::integrity))
    };
    database::wait(read).map_err(PublishError::System)?
}

/// The manifest that a store has, if it is one of Shelfish.
fn published(store: &Store, current: &Current) -> Result<Manifest, PublishError> {
    parse_manifest(&current.bytes).map(|(manifest, _)| manifest).map_err(|error| PublishError::InTheWay {
        at: store.locate(Manifest::FILE),
        why: format!("it is not a manifest that this Shelfish reads ({error})"),
    })
}

/// Where a manifest that was replaced is kept.
fn superseded(manifest: &[u8]) -> String {
    use sha2::Digest;
    let digits = hexadecimal(&sha2::Sha256::digest(manifest)[..16]);
    format!("{SUPERSEDED}/{digits}.json")
}

/// Sends what is missing until nothing is.
async fn send_all(
    store: &Store,
    local: &Local,
    plan: &Plan,
    options: &Options,
    stop: &watch::Receiver<bool>,
) -> Result<(), PublishError> {
    /// Somebody may remove files meanwhile.
    const TIMES: usize = 3;
    let mut missing = plan.send.clone();
    for _ in 0..TIMES {
        send(store, &options.dir, &missing, options, stop).await?;
        // What readers will be told of is there.
        let there: BTreeSet<(String, u64)> =
            store.list("").await?.into_iter().map(|entry| (entry.name, entry.bytes)).collect();
        missing = local.manifest.shards().to_vec();
        missing.retain(|shard| !there.contains(&(shard.file.clone(), shard.bytes)));
        if missing.is_empty() {
            return Ok(());
        }
    }
    Err(PublishError::Vanished { at: store.locate(""), shards: missing.len() })
}

/// Sends shards side by side. After a failure those under way are given up.
async fn send(
    store: &Store,
    dir: &Path,
    shards: &[Shard],
    options: &Options,
    stop: &watch::Receiver<bool>,
) -> Result<(), PublishError> {
    let sent = Arc::new(AtomicU64::new(0));
    let total = Some(shards.iter().map(|shard| shard.bytes).sum());
    let work = Work { phase: "sending", done: sent.clone(), total, is_bytes: true, positions: None };
    let quiet = options.quiet || shards.is_empty();
    let _progress = Progress::start(work, quiet);
    let (give_up, given_up) = watch::channel(*stop.borrow());
    let mut outer = stop.clone();
    let work = async {
        let each = |shard: Shard| {
            let (sent, stop) = (sent.clone(), given_up.clone());
            async move { store.send(&shard.file, &dir.join(&shard.file), &sent, stop).await }
        };
        let mut all =
            futures_util::stream::iter(shards.iter().cloned()).map(each).buffer_unordered(options.jobs.max(1));
        let mut first = Ok(());
        while let Some(done) = all.next().await {
            if done.is_err() && first.is_ok() {
                first = done;
                let _ = give_up.send(true);
            }
        }
        first
    };
    let relay = async {
        if outer.wait_for(|stop| *stop).await.is_ok() {
            let _ = give_up.send(true);
        }
        std::future::pending().await
    };
    tokio::select! {
        done = work => Ok(done?),
        never = relay => never,
    }
}
