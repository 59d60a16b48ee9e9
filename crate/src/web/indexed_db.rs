//! A cache in IndexedDB.

use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, Shared, select};
use gloo_events::EventListener;
use js_sys::{Array, Date, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Event, IdbCursorWithValue, IdbDatabase, IdbFactory, IdbKeyRange, IdbObjectStore, IdbRequest,
    IdbTransactionMode,
};

use super::{bytes_of, time::pause};
use crate::reader::{Cache, Entries, Keep};

/// Time after which a read that IndexedDB did not answer has no entries.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time after which a write is given up. No lookup waits for writes, and disks are slow.
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
/// one second. Writes are queued and wait for reads, so that no lookup waits for them. While IndexedDB does not answer, nothing
/// else is asked of it. Entries of a wrong type are ignored, and the cache is cleared if the sizes do not add up.
#[derive(Clone)]
pub struct IndexedDb(Rc<State>);

struct State {
    name: String,
    folder: String,
    /// In bytes.
    capacity: Cell<f64>,
    connection: RefCell<Option<Connection>>,
    queue: RefCell<VecDeque<Change>>,
    is_writing: Cell<bool>,
    /// One reference more than there are pending reads. Writes wait until they end.
    reads: Rc<()>,
    /// Whether IndexedDB has not answered yet after a time-out.
    is_stuck: Cell<bool>,
}

/// A connection that is open or being opened; `None` if opening has failed.
type Connection = Shared<LocalBoxFuture<'static, Option<Rc<Open>>>>;

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

/// A change of the stores.
enum Change {
    Put {
        key: String,
        bytes: Uint8Array,
        used: f64,
    },
    Touch(String),
    Clear,
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
            queue: RefCell::default(),
            is_writing: Cell::new(false),
            reads: Rc::default(),
            is_stuck: Cell::new(false),
        }));
        // Opens while the manifest is on its way.
        spawn_local(cache.connect().map(drop));
        cache
    }

    /// Deletes all entries of the database.
    pub async fn clear(&self) {
        // Queued changes are obsolete.
        self.0.queue.borrow_mut().clear();
        self.change(Change::Clear).await;
    }

    /// Closes the connection after its last use. Queued changes are written with a new connection.
    pub fn close(&self) {
        let mut connection = self.0.connection.borrow_mut();
        // After a failed attempt, no further attempt is made.
        if connection
            .as_ref()
            .is_some_and(|open| !matches!(open.peek(), Some(None)))
        {
            *connection = None;
        }
    }

    /// Returns the connection, which is opened again if it was lost.
    fn connect(&self) -> Connection {
        let mut connection = self.0.connection.borrow_mut();
        let open = || {
            let state = Rc::downgrade(&self.0);
            let opening = async move { IndexedDb(state.upgrade()?).try_connect().await.ok() };
            opening.boxed_local().shared()
        };
        connection.get_or_insert_with(open).clone()
    }

    async fn try_connect(&self) -> Result<Rc<Open>, JsValue> {
        let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())?;
        if !factory.is_object() {
            return Err(JsValue::UNDEFINED);
        }
        let factory: IdbFactory = factory.unchecked_into();
        let request = factory.open_with_u32(&self.0.name, VERSION)?;
        // Old browsers return null in private windows.
        if !request.is_object() {
            return Err(JsValue::UNDEFINED);
        }
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

    /// Returns the key of a name. No URL contains a space, so the keys of different folders differ.
    fn key(&self, name: &str) -> String {
        format!("{} {name}", self.0.folder)
    }

    /// Waits for `work`, but no longer than a time-out. Nothing is asked of IndexedDB until work that takes longer ends.
    async fn within<T: 'static>(
        &self,
        time: Duration,
        work: LocalBoxFuture<'static, T>,
    ) -> Option<T> {
        match select(work, pause(time)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right((_, work)) => {
                self.0.is_stuck.set(true);
                let cache = self.clone();
                spawn_local(work.map(move |_| cache.0.is_stuck.set(false)));
                None
            }
        }
    }

    async fn read(self, keys: Vec<String>) -> Vec<Option<Vec<u8>>> {
        // A connection that was lost is noticed when it is used.
        for _ in 0..2 {
            let Some(open) = self.connect().await else {
                break;
            };
            match read(&open.database, &keys).await {
                Ok(found) => return found,
                Err(_) => self.close(),
            }
        }
        Vec::new()
    }

    /// Queues a change.
    fn later(&self, change: Change) {
        let mut queue = self.0.queue.borrow_mut();
        if queue.len() < QUEUE && !self.0.is_stuck.get() {
            queue.push_back(change);
        }
        if !self.0.is_writing.replace(true) {
            spawn_local(self.clone().write());
        }
    }

    /// Writes the queued changes.
    async fn write(self) {
        loop {
            pause(PAUSE).await;
            while Rc::strong_count(&self.0.reads) == 1 {
                let change = self.0.queue.borrow_mut().pop_front();
                match change {
                    Some(change) => self.change(change).await,
                    None => return self.0.is_writing.set(false),
                }
            }
        }
    }

    async fn change(&self, change: Change) {
        let cache = self.clone();
        let changing = async move {
            if cache.try_change(change).await.is_err() {
                cache.close();
            }
        };
        if self
            .within(WRITE_TIMEOUT, changing.boxed_local())
            .await
            .is_none()
        {
            self.0.queue.borrow_mut().clear();
        }
    }

    async fn try_change(&self, change: Change) -> Result<(), JsValue> {
        let Some(open) = self.connect().await else {
            return Ok(());
        };
        let names = ["bytes", "entries", "total"].map(JsValue::from);
        let transaction = open.database.transaction_with_str_sequence_and_mode(
            &names.iter().collect::<Array>(),
            IdbTransactionMode::Readwrite,
        )?;
        let ended = event(|complete, abort| {
            transaction.set_oncomplete(Some(complete));
            transaction.set_onabort(Some(abort));
        });
        let [bytes, entries, total] =
            ["bytes", "entries", "total"].map(|name| transaction.object_store(name));
        let stores = Stores {
            bytes: bytes?,
            entries: entries?,
            total: total?,
        };
        let done = self.change_stores(&stores, change).await;
        if done.is_err() {
            // Fails if the transaction has already ended.
            let _ = transaction.abort();
        }
        // The disk or the origin's share of it is full: make do with less from now on.
        if ended.await.is_err()
            && transaction
                .error()
                .is_some_and(|error| error.name() == "QuotaExceededError")
        {
            self.0.capacity.set(self.0.capacity.get() / 2.0);
        }
        done
    }

    async fn change_stores(&self, stores: &Stores, change: Change) -> Result<(), JsValue> {
        let Stores {
            bytes: contents,
            entries,
            total,
        } = stores;
        let target = match &change {
            Change::Put { key, .. } | Change::Touch(key) => JsValue::from(key),
            Change::Clear => {
                // All names that begin with the folder and a space; the next character is an exclamation mark.
                let (from, until) = (self.key("").into(), format!("{}!", self.0.folder).into());
                IdbKeyRange::bound_with_lower_open_and_upper_open(&from, &until, false, true)?
                    .into()
            }
        };
        let former: Array = answer(&entries.get_all_with_key(&target)?)
            .await?
            .unchecked_into();
        if let Change::Touch(_) = change {
            let former = former.get(0);
            if former.is_object() && Reflect::get(&former, &"used".into())? != f64::INFINITY {
                entries.put_with_key(&entry(size_of_entry(&former), Date::now())?, &target)?;
            }
            return Ok(());
        }
        let sum = answer(&total.get(&0.into())?).await?;
        let mut sum = if sum.is_undefined() { 0.0 } else { size(&sum) };
        sum -= former
            .iter()
            .map(|entry| size_of_entry(&entry))
            .sum::<f64>();
        contents.delete(&target)?;
        entries.delete(&target)?;
        if let Change::Put { bytes, used, .. } = change {
            let length = f64::from(bytes.length());
            let room = self.0.capacity.get() - length;
            if room >= 0.0 {
                sum = stores.make_room(sum, room).await? + length;
                contents.put_with_key(&bytes, &target)?;
                entries.put_with_key(&entry(length, used)?, &target)?;
            }
        }
        total.put_with_key(&sum.into(), &0.into())?;
        Ok(())
    }
}

impl Cache for IndexedDb {
    fn get(&self, names: Vec<String>) -> Entries<'_> {
        let entries = async move {
            if self.0.is_stuck.get() {
                return Vec::new();
            }
            let _reading = self.0.reads.clone();
            let keys: Vec<String> = names.iter().map(|name| self.key(name)).collect();
            let reading = self.clone().read(keys.clone()).boxed_local();
            let found = self.within(TIMEOUT, reading).await.unwrap_or_default();
            for (key, found) in keys.into_iter().zip(&found) {
                if found.is_some() {
                    self.later(Change::Touch(key));
                }
            }
            found
        };
        entries.boxed_local()
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        let used = match keep {
            Keep::Recent => Date::now(),
            Keep::Longest => f64::INFINITY,
        };
        self.later(Change::Put {
            key: self.key(name),
            bytes: Uint8Array::from(bytes),
            used,
        });
    }
}

/// The object stores in one transaction.
struct Stores {
    bytes: IdbObjectStore,
    entries: IdbObjectStore,
    total: IdbObjectStore,
}

impl Stores {
    /// Evicts the least recently used entries until the sum of all sizes is at most `most`. Returns the sum.
    async fn make_room(&self, mut sum: f64, most: f64) -> Result<f64, JsValue> {
        // A sum that is NaN does not fit.
        if sum <= most {
            return Ok(sum);
        }
        let oldest = self.entries.index("used")?.open_cursor()?;
        loop {
            let cursor = answer(&oldest).await?;
            if cursor.is_null() {
                // No entry is left, so the sum was wrong.
                self.bytes.clear()?;
                self.entries.clear()?;
                return Ok(0.0);
            }
            let cursor: IdbCursorWithValue = cursor.unchecked_into();
            sum -= size_of_entry(&cursor.value()?);
            self.bytes.delete(&cursor.primary_key()?)?;
            cursor.delete()?;
            if sum <= most {
                return Ok(sum);
            }
            cursor.continue_()?;
        }
    }
}

/// Makes the object stores of a database that is new or of another version.
fn create_stores(event: &Event) -> Result<(), JsValue> {
    let target = event.target().ok_or(JsValue::UNDEFINED)?;
    let database = target.unchecked_into::<IdbRequest>().result()?;
    let database: IdbDatabase = database.unchecked_into();
    while let Some(former) = database.object_store_names().item(0) {
        database.delete_object_store(&former)?;
    }
    database.create_object_store("bytes")?;
    database
        .create_object_store("entries")?
        .create_index_with_str("used", "used")?;
    database.create_object_store("total")?;
    Ok(())
}

async fn read(database: &IdbDatabase, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, JsValue> {
    let store = database
        .transaction_with_str("bytes")?
        .object_store("bytes")?;
    let requests = keys
        .iter()
        .map(|key| Ok(answer(&store.get(&key.as_str().into())?)));
    let requests: Vec<_> = requests.collect::<Result<_, JsValue>>()?;
    let mut found = Vec::new();
    for request in requests {
        let entry = request.await?;
        found.push(bytes_of(&entry));
    }
    Ok(found)
}

/// Returns the result of a request. Its events are observed from now on, even before the future is polled.
fn answer(request: &IdbRequest) -> LocalBoxFuture<'static, Result<JsValue, JsValue>> {
    let ended = event(|success, error| {
        request.set_onsuccess(Some(success));
        request.set_onerror(Some(error));
    });
    let request = request.clone();
    // The box keeps the many callers small.
    async move {
        ended.await?;
        request.result()
    }
    .boxed_local()
}

/// Waits for the first of two events. `listen` sets the listeners of the good event and of the bad event.
fn event(mut listen: impl FnMut(&Function, &Function)) -> JsFuture {
    JsFuture::from(Promise::new(&mut |good, bad| listen(&good, &bad)))
}

/// Parses a stored size, which may be damaged; NaN if it is invalid.
fn size(value: &JsValue) -> f64 {
    value
        .as_f64()
        .filter(|size| *size >= 0.0)
        .unwrap_or(f64::NAN)
}

fn size_of_entry(entry: &JsValue) -> f64 {
    size(&Reflect::get(entry, &"size".into()).unwrap_or_default())
}

fn entry(size: f64, used: f64) -> Result<JsValue, JsValue> {
    let entry = js_sys::Object::new();
    Reflect::set(&entry, &"size".into(), &size.into())?;
    Reflect::set(&entry, &"used".into(), &used.into())?;
    Ok(entry.into())
}
