//! Publication of a local database to a store.
//!
//! Shards that the store lacks are sent first. The manifest is replaced last, and only if it did not change since the
//! beginning. Readers therefore see the old or the new database, even after an interruption. The second of two
//! concurrent publishers fails. Replaced shards are kept as long as readers may use an old manifest.

mod error;
mod plan;
mod prune;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Manifest, Shard};
use tokio::sync::watch;

use crate::database::{self, parse_manifest};
use crate::store::{Address, Current, Kind, Store, StoreError, StoreErrorKind};
use crate::system::signals::{self, Takeover};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::shown::hexadecimal;
pub use error::{LocalErrorKind, PublishError};
use plan::{Local, Plan};

/// Name of the folder, next to the shards, for replaced manifests.
const SUPERSEDED: &str = "superseded";

/// Options of a publication.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of the database.
    pub dir: PathBuf,
    /// Destination.
    pub to: Address,
    /// Rules for the removal of old databases.
    pub prune: Option<Prune>,
    /// Whether to only print the plan.
    pub dry_run: bool,
    /// Whether to check the limits of GitHub Pages.
    pub pages: bool,
    /// Whether to return the steps that allow pages of other sites to read the store.
    pub cors: bool,
    /// Condition on the published manifest.
    pub replaces: Replaces,
    /// Maximum share of the published positions that may be missing from the new database, in percent.
    pub max_loss: Option<f64>,
    /// Whether to hide progress.
    pub quiet: bool,
}

impl Options {
    /// Creates the default options for a directory and a destination.
    pub fn new(dir: PathBuf, to: Address) -> Options {
        Options {
            dir,
            to,
            prune: None,
            dry_run: false,
            pages: false,
            cors: false,
            replaces: Replaces::Any,
            max_loss: None,
            quiet: false,
        }
    }
}

/// Number of files that are sent in parallel.
const JOBS: usize = 4;

/// Condition on the manifest that a publication replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// No condition.
    Any,
    /// The manifest has this hash, as returned by [`current`] before the build; `None` means that nothing was
    /// published. Otherwise, a build on the old manifest would lose a concurrent publication.
    Only(Option<String>),
}

/// Rules for the removal of old databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Number of databases to keep, including the current database.
    pub keep: usize,
    /// Minimum age of replaced manifests and unused files before their removal.
    pub grace: Duration,
}

/// Results of a publication, or the plan.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// URL or path of the manifest.
    pub manifest: String,
    /// Hash that pins the manifest.
    pub integrity: String,
    /// Whether the manifest differs from the previous manifest.
    pub changed: bool,
    /// Number of shards of the database.
    pub shards: u64,
    /// Size of the database in bytes.
    pub bytes: u64,
    /// Number of shards sent.
    pub sent_shards: u64,
    /// Size of the shards sent, in bytes.
    pub sent_bytes: u64,
    /// Number of files removed, because no kept database uses them.
    pub removed_files: u64,
    /// Size of the files removed, in bytes.
    pub removed_bytes: u64,
    /// Steps that allow pages of other sites to read the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cors: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Publishes a database.
///
/// Readers see the published database until the last step succeeds.
pub fn publish(options: &Options) -> Result<Report, PublishError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(PublishError::System)?;
    // A signal must not end the process at once, because incomplete uploads would stay in the store.
    let _takeover = Takeover::new();
    let done = runtime.block_on(async {
        let (stop, caught) = (watch::Sender::new(false), AtomicU8::new(0));
        let signal = async {
            if let Ok(interruption) = signals::interruption() {
                caught.store(interruption.await, Relaxed);
                stop.send_replace(true);
            }
            std::future::pending().await
        };
        let done = tokio::select! { done = run(options, &stop) => done, never = signal => never };
        match (done, caught.into_inner()) {
            (Err(PublishError::Store(error)), signal)
                if signal > 0 && matches!(error.kind, StoreErrorKind::Stopped) =>
            {
                Err(PublishError::Interrupted(signal))
            }
            (done, _) => done,
        }
    });
    runtime.shutdown_background();
    done
}

async fn run(options: &Options, stop: &watch::Sender<bool>) -> Result<Report, PublishError> {
    let start = Instant::now();
    let local = Local::read(&options.dir)?;
    if let Some(folder) = options.to.folder() {
        let same = folder
            .canonicalize()
            .ok()
            .zip(options.dir.canonicalize().ok());
        if same.is_some_and(|(to, from)| to == from) {
            return Err(PublishError::Itself(options.dir.clone()));
        }
    }
    let store = Store::open(&options.to)?;
    let before = store.read(Manifest::FILE).await?;
    let old = before
        .as_ref()
        .map(|before| published(&store, before))
        .transpose()?;
    let plan = plan::plan(&store, &local, old.as_ref(), SystemTime::now()).await?;
    if options.pages {
        plan.check_pages(&local)?;
    }
    if let (Some(max_loss), Some(old)) = (options.max_loss, &old) {
        let (published, new) = (old.positions, local.manifest.positions);
        if loss(published, new) > max_loss {
            return Err(PublishError::Loss {
                at: store.locate(Manifest::FILE),
                published,
                new,
                max_loss,
            });
        }
    }
    let changed = before
        .as_ref()
        .is_none_or(|before| before.bytes != local.bytes);
    if let Replaces::Only(expected) = &options.replaces
        && changed
        && *expected != before.as_ref().map(Current::integrity)
    {
        return Err(StoreError {
            at: store.locate(Manifest::FILE),
            kind: StoreErrorKind::Conflict,
        }
        .into());
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
        cors: options.cors.then(|| cors_by_hand(&options.to)),
        ..Report::default()
    };
    if !options.dry_run {
        send_all(&store, &local, &plan, options, stop).await?;
        if let (true, Some(before), Some(_)) = (changed, &before, &old) {
            // The modification time of this file says how long its shards are needed.
            store
                .write(&superseded(&before.bytes), &before.bytes)
                .await?;
        }
        if changed {
            store.replace(before.as_ref(), &local.bytes).await?;
        }
    }
    if let Some(rules) = options.prune {
        // In a dry run, readers still use the published manifest.
        let replaced = old
            .as_ref()
            .zip(before.as_ref())
            .filter(|_| changed && options.dry_run);
        let replaced = replaced.map(|(old, before)| (superseded(&before.bytes), old.clone()));
        let found =
            prune::find(&store, &local.manifest, replaced, rules, SystemTime::now()).await?;
        report.removed_files = found.shards.len() as u64;
        report.removed_bytes = found
            .shards
            .iter()
            .map(|entry| entry.bytes)
            .fold(0, u64::saturating_add);
        if !options.dry_run {
            prune::remove(&store, &found, &local.bytes).await?;
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Replaces the manifest of a store that contains all shards, and keeps the previous manifest.
pub async fn replace_manifest(store: &Store, bytes: &[u8]) -> Result<(), PublishError> {
    let before = store.read(Manifest::FILE).await?;
    if let Some(before) = before.as_ref().filter(|before| before.bytes != bytes) {
        published(store, before)?;
        store
            .write(&superseded(&before.bytes), &before.bytes)
            .await?;
    }
    Ok(store.replace(before.as_ref(), bytes).await?)
}

/// Returns the share of positions that a replacement loses, in percent.
fn loss(published: u64, new: u64) -> f64 {
    100.0 * published.saturating_sub(new) as f64 / published.max(1) as f64
}

/// Returns the hash of the published manifest.
pub fn current(to: &Address) -> Result<Option<String>, PublishError> {
    if to
        .folder()
        .is_some_and(|folder| !folder.join(Manifest::FILE).exists())
    {
        return Ok(None);
    }
    let read = async {
        let store = Store::open(to)?;
        let current = store.read(Manifest::FILE).await?;
        match &current {
            Some(current) => drop(published(&store, current)?),
            // Without a manifest, the bucket may be missing too.
            None => drop(store.list("").await?),
        }
        Ok(current.as_ref().map(Current::integrity))
    };
    database::wait(read).map_err(PublishError::System)?
}

/// Describes the steps that let pages of other sites read a bucket.
pub fn cors_by_hand(to: &Address) -> String {
    let bucket = &to.bucket;
    match to.kind {
        Kind::S3 | Kind::R2 => format!(
            "let pages of other sites read it:\n  aws s3api put-bucket-cors --bucket {bucket} --cors-configuration \
             '{{\"CORSRules\":[{{\"AllowedOrigins\":[\"*\"],\"AllowedMethods\":[\"GET\",\"HEAD\"],\"AllowedHeaders\":[\"*\"],\
             \"ExposeHeaders\":[\"Content-Length\",\"Content-Range\",\"ETag\"],\"MaxAgeSeconds\":86400}}]}}'"
        ),
        Kind::Google => format!(
            "let pages of other sites read it:\n  echo '[{{\"origin\":[\"*\"],\"method\":[\"GET\",\"HEAD\"],\"responseHeader\":\
             [\"Content-Length\",\"Content-Range\",\"ETag\",\"Range\"],\"maxAgeSeconds\":86400}}]' > cors.json\n  \
             gcloud storage buckets update gs://{bucket} --cors-file=cors.json"
        ),
        Kind::Folder => {
            "a folder has no rules: the host that serves it has to send Access-Control-Allow-Origin: *, as \
             GitHub Pages does"
                .to_owned()
        }
    }
}

/// Parses the published manifest.
fn published(store: &Store, current: &Current) -> Result<Manifest, PublishError> {
    parse_manifest(&current.bytes)
        .map(|(manifest, _)| manifest)
        .map_err(|error| PublishError::InTheWay {
            at: store.locate(Manifest::FILE),
            error,
        })
}

/// Returns the name under which a replaced manifest is kept.
fn superseded(manifest: &[u8]) -> String {
    use sha2::Digest;
    let digits = hexadecimal(&sha2::Sha256::digest(manifest)[..16]);
    format!("{SUPERSEDED}/{digits}.json")
}

/// Sends shards until the store has all shards.
async fn send_all(
    store: &Store,
    local: &Local,
    plan: &Plan,
    options: &Options,
    stop: &watch::Sender<bool>,
) -> Result<(), PublishError> {
    /// Number of attempts, because another program may remove files.
    const TIMES: usize = 3;
    let mut missing = plan.send.clone();
    for _ in 0..TIMES {
        send(store, &missing, options, stop).await?;
        // The manifest may only name shards that exist.
        let there: BTreeSet<(String, u64)> = store
            .list("")
            .await?
            .into_iter()
            .map(|entry| (entry.name, entry.bytes))
            .collect();
        missing = local.manifest.shards().to_vec();
        missing.retain(|shard| !there.contains(&(shard.file.clone(), shard.bytes)));
        if missing.is_empty() {
            return Ok(());
        }
    }
    Err(PublishError::Vanished {
        at: store.locate(""),
        shards: missing.len(),
    })
}

/// Sends shards in parallel. After a failure, pending uploads are stopped.
async fn send(
    store: &Store,
    shards: &[Shard],
    options: &Options,
    stop: &watch::Sender<bool>,
) -> Result<(), StoreError> {
    let sent = Arc::new(AtomicU64::new(0));
    let work = Work {
        phase: "sending",
        done: sent.clone(),
        total: Some(shards.iter().map(|shard| shard.bytes).sum()),
        is_bytes: true,
        positions: None,
    };
    let _progress = Progress::start(work, options.quiet || shards.is_empty());
    let each = |shard: Shard| {
        let sent = sent.clone();
        async move {
            let from = options.dir.join(&shard.file);
            let done = store
                .send(&shard.file, &from, &sent, stop.subscribe())
                .await;
            if done.is_err() {
                stop.send_replace(true);
            }
            done
        }
    };
    // The first error is the reason, and the others are those of stopped uploads.
    futures_util::stream::iter(shards.iter().cloned())
        .map(each)
        .buffer_unordered(JOBS)
        .fold(Ok(()), async |first: Result<(), StoreError>, done| {
            first.and(done)
        })
        .await
}
