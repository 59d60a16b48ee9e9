//! A cache in IndexedDB.

mod events;
mod stores;

use core::cell::{Cell, RefCell};
use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_events::EventListener;
use js_sys::{Array, Date, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{IdbDatabase, IdbFactory, IdbTransactionMode};

use self::events::{answer, ended, first_event};
use self::stores::{Change, Kept, Stores, create_stores, key, read};
use super::time::pause;
use crate::reader::{Cache, Entries, Keep};
use crate::sync::OnceCell;

/// Time after which a read that IndexedDB did not answer has no entries.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time after which a pending write stops all further writes. No lookup waits for writes, and disks are slow.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay of a write, so that the lookup that caused it continues first.
const PAUSE: Duration = Duration::from_millis(20);
/// Maximum number of queued writes. Further writes are dropped.
const QUEUE: usize = 512;
/// Version of the stores and names. Entries of another version are deleted.
const VERSION: u32 = 2;

/// A cache of one database in IndexedDB, with a maximum size and least-recently-used eviction.
///
/// All databases share the store and its size limit, but every key begins with the database's folder. So a host cannot
/// provide entries of another host's database.
///
/// There are three stores: `bytes` by key; `entries` with the size and last use of each key, indexed by last use; and
/// `total`, the sum of all sizes. All changes happen in one transaction, so that any number of tabs respect the limit.
///
/// IndexedDB may fail at any time: private windows refuse it, and Safari drops connections and sometimes never answers.
/// A lost connection is opened again at the next use; if opening fails, it is not tried again. A read waits for at most
/// one second. Writes are queued and wait for reads, so that no lookup waits for them. While a write is stuck, no
/// further write is accepted. Entries of a wrong type are ignored, and the cache is cleared if the sizes do not add up.
#[derive(Clone)]
pub struct IndexedDb(Rc<State>);

struct State {
    name: String,
    folder: String,
    /// In bytes.
    capacity: Cell<f64>,
    connection: RefCell<Connection>,
    queue: RefCell<VecDeque<Change>>,
    /// Senders to notify when the queue is empty.
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
    is_writing: Cell<bool>,
    reads: Cell<u32>,
    is_read_stuck: Cell<bool>,
    is_write_stuck: Cell<bool>,
}

/// A connection; `None` if opening has failed.
type Connection = Rc<OnceCell<Option<Rc<Open>>>>;

struct Open {
    database: IdbDatabase,
    /// Listeners that close the connection when the browser or another tab requires it.
    _lost: [EventListener; 2],
}

impl Drop for Open {
    fn drop(&mut self) {
        self.database.close();
    }
}

/// A pending read. Writes wait until it ends or is dropped.
struct Reading<'a>(&'a Cell<u32>);

impl Reading<'_> {
    fn new(reads: &Cell<u32>) -> Reading<'_> {
        reads.set(reads.get() + 1);
        Reading(reads)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl fmt::Debug for IndexedDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedDb")
            .field("name", &self.0.name)
            .field("folder", &self.0.folder)
            .finish_non_exhaustive()
    }
}

impl IndexedDb {
    /// Opens the cache of a name with at most `bytes` for the database at `folder`, a URL. Without IndexedDB the cache
    /// remains empty.
    pub fn open(name: &str, bytes: u64, folder: &str) -> IndexedDb {
        let cache = IndexedDb(Rc::new(State {
            name: name.to_string(),
            folder: folder.to_string(),
            capacity: Cell::new(bytes as f64),
            connection: RefCell::default(),
            queue: RefCell::new(VecDeque::new()),
            waiting: RefCell::new(Vec::new()),
            is_writing: Cell::new(false),
            reads: Cell::new(0),
            is_read_stuck: Cell::new(false),
            is_write_stuck: Cell::new(false),
        }));
        // Opens while the manifest is on its way.
        let opening = cache.clone();
        spawn_local(async move {
            opening.connect().await;
        });
        cache
    }

    /// Deletes all entries of the database.
    pub fn clear(&self) {
        // Queued changes are obsolete, and may fill the queue.
        self.0.queue.borrow_mut().clear();
        self.later(Change::Clear {
            folder: self.0.folder.clone(),
        });
    }

    /// Waits for all queued writes.
    pub async fn written(&self) {
        while self.0.is_writing.get() {
            let (send, receive) = oneshot::channel();
            self.0.waiting.borrow_mut().push(send);
            let _ = receive.await;
        }
    }

    /// Closes the connection after its last use. Queued changes are written with a new connection.
    pub fn close(&self) {
        // After a failed attempt, no further attempt is made.
        if !matches!(self.0.connection.borrow().get(), Some(None)) {
            self.0.connection.take();
        }
    }

    async fn connect(&self) -> Option<Rc<Open>> {
        let connection = self.0.connection.borrow().clone();
        connection
            .get_or_init(self.try_connect().map(Result::ok))
            .await
            .clone()
    }

    async fn try_connect(&self) -> Result<Rc<Open>, JsValue> {
        let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())?;
        if !factory.is_object() {
            return Err(JsValue::UNDEFINED);
        }
        let factory: IdbFactory = factory.unchecked_into();
        let request = factory.open_with_u32(&self.0.name, VERSION)?;
        let _upgrade = EventListener::once(&request, "upgradeneeded", |event| {
            // If this fails, later uses of the stores fail.
            let _ = create_stores(event);
        });
        let database: IdbDatabase = answer(&request).await?.unchecked_into();
        let lost = ["close", "versionchange"].map(|event| {
            // The state has the connection, and that its listeners.
            let state = Rc::downgrade(&self.0);
            EventListener::new(&database, event, move |_| {
                if let Some(state) = state.upgrade() {
                    IndexedDb(state).close();
                }
            })
        });
        Ok(Rc::new(Open {
            database,
            _lost: lost,
        }))
    }

    async fn read(&self, keys: &[String]) -> Kept {
        let mut found = Vec::new();
        // A connection that was lost is noticed when it is used.
        for _ in 0..2 {
            let Some(open) = self.connect().await else {
                break;
            };
            match read(&open.database, keys).await {
                Ok(values) => {
                    found = values;
                    break;
                }
                Err(_) => self.close(),
            }
        }
        found
    }

    fn later(&self, change: Change) {
        if self.0.is_write_stuck.get() {
            return;
        }
        let mut queue = self.0.queue.borrow_mut();
        if queue.len() < QUEUE {
            queue.push_back(change);
        }
        if !self.0.is_writing.replace(true) {
            spawn_local(self.clone().write());
        }
    }

    async fn write(self) {
        loop {
            pause(PAUSE).await;
            while self.0.reads.get() == 0 {
                let Some(change) = self.0.queue.borrow_mut().pop_front() else {
                    break;
                };
                let cache = self.clone();
                let changing = async move {
                    if cache.change(change).await.is_err() {
                        cache.close();
                    }
                    Kept::new()
                };
                if let Either::Right((_, changing)) =
                    select(changing.boxed_local(), pause(WRITE_TIMEOUT)).await
                {
                    self.0.queue.borrow_mut().clear();
                    self.stuck(changing, |state| &state.is_write_stuck);
                }
            }
            if self.0.queue.borrow().is_empty() {
                break;
            }
        }
        self.0.is_writing.set(false);
        for waiting in self.0.waiting.take() {
            // The receiver may be gone.
            let _ = waiting.send(());
        }
    }

    /// Sets `is_stuck` until abandoned work ends.
    fn stuck(&self, work: LocalBoxFuture<'static, Kept>, is_stuck: fn(&State) -> &Cell<bool>) {
        is_stuck(&self.0).set(true);
        let cache = self.clone();
        spawn_local(work.map(move |_| is_stuck(&cache.0).set(false)));
    }

    async fn change(&self, change: Change) -> Result<(), JsValue> {
        if matches!(&change, Change::Put { bytes, .. } if f64::from(bytes.length()) > self.0.capacity.get())
        {
            return Ok(());
        }
        let Some(open) = self.connect().await else {
            return Ok(());
        };
        let names: Array = ["bytes", "entries", "total"]
            .map(JsValue::from)
            .iter()
            .collect();
        let transaction = open
            .database
            .transaction_with_str_sequence_and_mode(&names, IdbTransactionMode::Readwrite)?;
        let ended = ended(
            transaction.clone(),
            first_event(&transaction, ["complete", "abort"]),
        );
        let stores = Stores {
            bytes: transaction.object_store("bytes")?,
            entries: transaction.object_store("entries")?,
            total: transaction.object_store("total")?,
        };
        let done = stores.change(self.0.capacity.get(), change).await;
        if done.is_err() {
            // Fails if the transaction has already ended.
            let _ = transaction.abort();
        }
        // The disk or the origin's share of it is full: make do with less from now on.
        if ended.await.as_deref() == Some("QuotaExceededError") {
            self.0.capacity.set(self.0.capacity.get() / 2.0);
        }
        done
    }
}

impl Cache for IndexedDb {
    fn get(&self, names: Vec<String>) -> Entries<'_> {
        let entries = async move {
            if self.0.is_read_stuck.get() {
                return Vec::new();
            }
            let _reading = Reading::new(&self.0.reads);
            let keys: Vec<String> = names.iter().map(|name| key(&self.0.folder, name)).collect();
            let (cache, asked) = (self.clone(), keys.clone());
            let reading = async move { cache.read(&asked).await }.boxed_local();
            match select(reading, pause(TIMEOUT)).await {
                Either::Left((found, _)) => {
                    for (key, _) in keys
                        .into_iter()
                        .zip(&found)
                        .filter(|(_, found)| found.is_some())
                    {
                        self.later(Change::Touch(key));
                    }
                    found
                }
                Either::Right((_, reading)) => {
                    self.stuck(reading, |state| &state.is_read_stuck);
                    Vec::new()
                }
            }
        };
        entries.boxed_local()
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        let used = match keep {
            Keep::Recent => Date::now(),
            Keep::Longest => f64::INFINITY,
        };
        self.later(Change::Put {
            key: key(&self.0.folder, name),
            bytes: Uint8Array::from(bytes),
            used,
        });
    }

    fn remove(&self, name: &str) {
        self.later(Change::Remove(key(&self.0.folder, name)));
    }
}
