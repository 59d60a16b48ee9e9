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
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Manifest, Shard};
use thiserror::Error;
use tokio::sync::watch;

use crate::database::{self, parse_manifest};
use crate::store::{Address, Current, Kind, Store, StoreError, StoreErrorKind};
use crate::system::quantity;
use crate::system::signals::{self, Takeover};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::hexadecimal;
pub use error::{LocalErrorKind, PublishError};
use plan::{Local, Plan};

/// Name of the folder, next to the shards, for replaced manifests.
pub const SUPERSEDED: &str = "superseded";

/// Publish a database to S3, R2, Google Cloud Storage or a folder.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish publish db s3://my-bucket/evals --dry-run
  shelfish publish db s3://my-bucket/evals --cors --prune
  shelfish publish db https://ACCOUNT.r2.cloudflarestorage.com/my-bucket/evals --prune --keep 3 --grace 14d
  shelfish publish db gs://my-bucket/evals
  shelfish publish db ../site/evals --pages

Files that the store already has are not sent again; the command compares name, length and hash. The manifest is sent last,
and only if the published manifest did not change in the meantime. Readers therefore see the old or the new database, even
after a failure. Run the same command again to continue. If two users publish at the same time, the second command fails.

The replaced manifest is kept in the folder `superseded`. With --prune, a file is removed if no kept manifest names it and if
it was sent before --grace. Allow some days, because browsers may still have an old manifest.

Shards are served as model/mesh and cached for a year; the manifest is served as application/json and cached for a minute.
The bucket must be readable by the public, and by pages of other sites (see --cors). `shelfish doctor URL --origin SITE` checks this.

Credentials come from the environment:
  S3      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; AWS_ENDPOINT for MinIO, Garage and others
  R2      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
  Google  GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT, the path of a key
An empty variable counts as unset. Files of profiles (~/.aws) are not read. Parts of a killed upload stay until a life-cycle
rule of the bucket removes them.

Exit codes: 0 if the database is published, changed or not; 1 otherwise; 2 if the usage is wrong; 130 and 143 if
interrupted.")]
pub struct Options {
    /// Directory of the database
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Folder in the store: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, the https:// URL of an R2 bucket, or a local directory
    #[arg(value_name = "URL", value_parser = Address::parse)]
    pub to: Address,
    /// Print the number of files that would be sent and removed
    #[arg(long)]
    pub dry_run: bool,
    /// Remove files that no kept database needs
    #[arg(long)]
    pub prune: bool,
    /// Number of databases that --prune keeps, including the new database
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = quantity::integer(1_u32, u32::MAX), requires = "prune")]
    pub keep: u32,
    /// Time that --prune keeps a database after its replacement and a file after its upload; a number alone counts seconds
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = quantity::time, requires = "prune")]
    pub grace: Duration,
    /// Print the commands that allow pages of other sites to read the bucket
    #[arg(long)]
    pub cors: bool,
    /// Fail if the database exceeds the limits of GitHub Pages: 1 GB per site, 100 MB per file
    #[arg(long)]
    pub pages: bool,
    /// Fail if the published database has more positions and the new database lacks more than this share of them
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub max_loss: Option<f64>,
    /// Options of the summary.
    #[command(flatten)]
    pub output: report::Output,
    /// Condition on the published manifest.
    #[arg(skip)]
    pub replaces: Replaces,
}

/// Error of a share in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a number from 0 to 100")]
pub struct PercentError;

/// Parses a share in percent.
pub fn percent(text: &str) -> Result<f64, PercentError> {
    text.trim_end_matches('%')
        .trim_end()
        .parse()
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or(PercentError)
}

/// Number of files that are sent in parallel.
const JOBS: usize = 4;

/// Condition on the manifest that a publication replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Replaces {
    /// No condition.
    #[default]
    Any,
    /// The manifest has this hash, as returned by [`current`] before the build; `None` means that nothing was
    /// published. Otherwise, a build on the old manifest would lose a concurrent publication.
    Only(Option<String>),
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
    let _takeover = Takeover::default();
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
    let plan = plan::plan(&store, &local, old.as_ref()).await?;
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
        if changed {
            replace(&store, before.as_ref(), &local.bytes).await?;
        }
    }
    if options.prune {
        // In a dry run, readers still use the published manifest.
        let replaced = old
            .as_ref()
            .zip(before.as_ref())
            .filter(|_| changed && options.dry_run);
        let replaced = replaced.map(|(old, before)| (superseded(&before.bytes), old.clone()));
        let found = prune::find(&store, &local.manifest, replaced, options).await?;
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
    if let Some(before) = &before {
        published(store, before)?;
    }
    match &before {
        Some(before) if before.bytes == bytes => Ok(()),
        _ => Ok(replace(store, before.as_ref(), bytes).await?),
    }
}

async fn replace(store: &Store, before: Option<&Current>, bytes: &[u8]) -> Result<(), StoreError> {
    if let Some(before) = before {
        // The modification time of this file says how long its shards are needed.
        let name = superseded(&before.bytes);
        store.write(&name, &before.bytes).await?;
    }
    store.replace(before, bytes).await
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

/// Sends shards. Returns an error if the store then lacks a shard, because the manifest may only name shards that exist.
async fn send_all(
    store: &Store,
    local: &Local,
    plan: &Plan,
    options: &Options,
    stop: &watch::Sender<bool>,
) -> Result<(), PublishError> {
    send(store, &plan.send, options, stop).await?;
    let listed = store.list("").await?.into_iter();
    let there: BTreeSet<(String, u64)> = listed.map(|entry| (entry.name, entry.bytes)).collect();
    let shards = local.manifest.shards().iter();
    match shards
        .filter(|shard| !there.contains(&(shard.file.clone(), shard.bytes)))
        .count()
    {
        0 => Ok(()),
        shards => Err(PublishError::Vanished {
            at: store.locate(""),
            shards,
        }),
    }
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
    let _progress = Progress::start(work, options.output.quiet || shards.is_empty());
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
