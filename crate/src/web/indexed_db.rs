//! A cache in IndexedDB.

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
use web_sys::{
    Event, EventTarget, IdbCursorWithValue, IdbDatabase, IdbFactory, IdbKeyRange, IdbObjectStore, IdbRequest,
    IdbTransaction, IdbTransactionMode,
};

use super::time::pause;
use crate::reader::{Cache, Keep};
use crate::sync::OnceCell;

/// Time after which what IndexedDB did not answer is not there.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time after which a change that has not ended stops all further ones: no lookup waits for them, and disks are slow.
const WRITE_PATIENCE: Duration = Duration::from_secs(10);
/// Time that a write waits for the lookup that caused it to go on.
const PAUSE: Duration = Duration::from_millis(20);
/// Writes that may wait; further ones are dropped.
const QUEUE: usize = 512;
/// Version of the layout of stores and names; what another one left is dropped.
const VERSION: u32 = 2;

/// Bytes of one database by name in IndexedDB, bounded; the least recently used ones go first.
///
/// Databases share the store and its bound, but every name begins with where the database is: bytes belong to where they
/// came from, so that no host can answer for another, whatever names it gives to its files.
///
/// Three stores: `bytes` by name; `entries`, the size and last use of each, with an index by last use; and `total`, the
/// sum of all sizes, so that any number of tabs keep to one bound: whatever changes does so in one transaction.
///
/// Browsers take IndexedDB away: private windows refuse it, Safari drops connections and sometimes never answers. So a
/// connection that fails is opened again at the next use, one that cannot be opened is not tried again, and nothing is
/// waited for beyond a second. Writes are queued, wait for reads and go one entry at a time, so that no lookup waits for
/// them; while one does not end, no other is taken. What is kept is not believed: an entry of another type is none, and
/// where sizes do not add up the cache begins anew.
#[derive(Clone)]
pub struct IndexedDb(Rc<State>);

struct State {
    name: String,
    folder: String,
    /// In bytes.
    capacity: Cell<f64>,
    connection: RefCell<Connection>,
    queue: RefCell<VecDeque<Change>>,
    /// Whom to tell when the queue is empty.
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
    is_writing: Cell<bool>,
    reads: Cell<u32>,
    is_read_stuck: Cell<bool>,
    is_write_stuck: Cell<bool>,
}

/// A connection, or that there is none to be had, once that is known.
type Connection = Rc<OnceCell<Option<Rc<Open>>>>;

/// What is kept under some names. Changes give nothing, as the same type: one copy of what waits for either.
type Kept = Vec<Option<Vec<u8>>>;

struct Open {
    database: IdbDatabase,
    /// The browser closes it, or another tab needs it closed.
    _lost: [EventListener; 2],
}

impl Drop for Open {
    fn drop(&mut self) {
        self.database.close();
    }
}

/// A lookup that reads. One that is dropped on the way has writes wait for it no longer, either.
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

/// What is to be written.
enum Change {
    Put { key: String, bytes: Uint8Array, used: f64 },
    Touch(String),
    Remove(String),
    Clear,
}

/// The object stores in one transaction.
struct Stores {
    bytes: IdbObjectStore,
    entries: IdbObjectStore,
    total: IdbObjectStore,
}

impl fmt::Debug for IndexedDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedDb").field("name", &self.0.name).field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

impl IndexedDb {
    /// Opens the cache of a name, which takes at most `bytes`, for the database that is at `folder`, a URL. It is empty
    /// where there is no IndexedDB.
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

    /// Gives up all that is kept of the database.
    pub fn clear(&self) {
        // What waits would be given up, too, and may fill the queue.
        self.0.queue.borrow_mut().clear();
        self.later(Change::Clear);
    }

    /// Waits until all that was to be written is.
    pub async fn written(&self) {
        while self.0.is_writing.get() {
            let (send, receive) = oneshot::channel();
            self.0.waiting.borrow_mut().push(send);
            let _ = receive.await;
        }
    }

    /// Closes the connection, once nothing uses it any more; what is queued is still written, by a new one.
    pub fn close(&self) {
        // Where there is none to be had, none is to be tried for again.
        if !matches!(self.0.connection.borrow().get(), Some(None)) {
            self.0.connection.take();
        }
    }

    /// No URL has a space in it, so that no folder and name are those of another.
    fn key(&self, name: &str) -> String {
        format!("{} {name}", self.0.folder)
    }

    async fn connect(&self) -> Option<Rc<Open>> {
        let connection = self.0.connection.borrow().clone();
        connection.get_or_init(self.try_connect().map(Result::ok)).await.clone()
    }

    async fn try_connect(&self) -> Result<Rc<Open>, JsValue> {
        let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())?;
        if !factory.is_object() {
            return Err(JsValue::UNDEFINED);
        }
        let factory: IdbFactory = factory.unchecked_into();
        let request = factory.open_with_u32(&self.0.name, VERSION)?;
        let _upgrade = EventListener::once(&request, "upgradeneeded", |event| {
            // What cannot be made is missed by whoever uses it.
            let _ = lay_out(event);
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
        Ok(Rc::new(Open { database, _lost: lost }))
    }

    async fn read(&self, keys: &[String]) -> Kept {
        let mut found = Vec::new();
        // A connection that was lost is noticed when it is used.
        for _ in 0..2 {
            let Some(open) = self.connect().await else { break };
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
                let Some(change) = self.0.queue.borrow_mut().pop_front() else { break };
                let cache = self.clone();
                let changing = async move {
                    if cache.change(change).await.is_err() {
                        cache.close();
                    }
                    Kept::new()
                };
                if let Either::Right((_, changing)) = select(changing.boxed_local(), pause(WRITE_PATIENCE)).await {
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
            // Whoever waited may have gone.
            let _ = waiting.send(());
        }
    }

    /// Has `is_stuck` say so until work ends that nobody waits for any more.
    fn stuck(&self, work: LocalBoxFuture<'static, Kept>, is_stuck: fn(&State) -> &Cell<bool>) {
        is_stuck(&self.0).set(true);
        let cache = self.clone();
        spawn_local(work.map(move |_| is_stuck(&cache.0).set(false)));
    }

    async fn change(&self, change: Change) -> Result<(), JsValue> {
        if matches!(&change, Change::Put { bytes, .. } if f64::from(bytes.length()) > self.0.capacity.get()) {
            return Ok(());
        }
        let Some(open) = self.connect().await else { return Ok(()) };
        let names: Array = ["bytes", "entries", "total"].map(JsValue::from).iter().collect();
        let transaction =
            open.database.transaction_with_str_sequence_and_mode(&names, IdbTransactionMode::Readwrite)?;
        let ended = ended(transaction.clone(), heard(&transaction, ["complete", "abort"]));
        let stores = Stores {
            bytes: transaction.object_store("bytes")?,
            entries: transaction.object_store("entries")?,
            total: transaction.object_store("total")?,
        };
        let done = stores.change(self, change).await;
        if done.is_err() {
            // All or nothing; it fails where the transaction has ended already.
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
    async fn get(&self, names: Vec<String>) -> Vec<Option<Vec<u8>>> {
        if self.0.is_read_stuck.get() {
            return Vec::new();
        }
        let _reading = Reading::new(&self.0.reads);
        let keys: Vec<String> = names.iter().map(|name| self.key(name)).collect();
        let (cache, asked) = (self.clone(), keys.clone());
        let reading = async move { cache.read(&asked).await }.boxed_local();
        match select(reading, pause(PATIENCE)).await {
            Either::Left((found, _)) => {
                for (key, _) in keys.into_iter().zip(&found).filter(|(_, found)| found.is_some()) {
                    self.later(Change::Touch(key));
                }
                found
            }
            Either::Right((_, reading)) => {
                self.stuck(reading, |state| &state.is_read_stuck);
                Vec::new()
            }
        }
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        let used = match keep {
            Keep::Recent => Date::now(),
            Keep::Longest => f64::INFINITY,
        };
        self.later(Change::Put { key: self.key(name), bytes: Uint8Array::from(bytes), used });
    }

    fn remove(&self, name: &str) {
        self.later(Change::Remove(self.key(name)));
    }
}

impl Stores {
    async fn change(&self, cache: &IndexedDb, change: Change) -> Result<(), JsValue> {
        let target = match &change {
            Change::Put { key, .. } | Change::Touch(key) | Change::Remove(key) => JsValue::from(key),
            Change::Clear => {
                // All that begins with the folder and a space; the next sign is an exclamation mark.
                let (from, until) = (cache.key("").into(), format!("{}!", cache.0.folder).into());
                IdbKeyRange::bound_with_lower_open_and_upper_open(&from, &until, false, true)?.into()
            }
        };
        let former: Array = answer(&self.entries.get_all_with_key(&target)?).await?.unchecked_into();
        let told = answer(&self.total.get(&0.into())?).await?;
        if let Change::Touch(_) = change {
            let former = former.get(0);
            if former.is_object() && Reflect::get(&former, &"used".into())? != f64::INFINITY {
                self.entries.put_with_key(&entry(size_of_entry(&former), Date::now())?, &target)?;
            }
            return Ok(());
        }
        let mut sum = if told.is_undefined() { 0.0 } else { size(&told) };
        sum -= former.iter().map(|entry| size_of_entry(&entry)).sum::<f64>();
        self.bytes.delete(&target)?;
        self.entries.delete(&target)?;
        if let Change::Put { bytes, used, .. } = change {
            let length = f64::from(bytes.length());
            sum = self.make_room(sum, cache.0.capacity.get() - length).await? + length;
            self.bytes.put_with_key(&bytes, &target)?;
            self.entries.put_with_key(&entry(length, used)?, &target)?;
        }
        self.total.put_with_key(&sum.into(), &0.into())?;
        Ok(())
    }

    /// Gives up the least recently used until the sum of all sizes is at most `most`; gives that sum.
    async fn make_room(&self, mut sum: f64, most: f64) -> Result<f64, JsValue> {
        // A sum that is no number is too much, too.
        let fits = |sum: f64| sum <= most;
        if fits(sum) {
            return Ok(sum);
        }
        let oldest = self.entries.index("used")?.open_cursor()?;
        loop {
            let cursor = answer(&oldest).await?;
            if cursor.is_null() {
                // Nothing is left that has a size, so what there is does not add up.
                self.bytes.clear()?;
                self.entries.clear()?;
                return Ok(0.0);
            }
            let cursor: IdbCursorWithValue = cursor.unchecked_into();
            sum -= size_of_entry(&cursor.value()?);
            self.bytes.delete(&cursor.primary_key()?)?;
            cursor.delete()?;
            if fits(sum) {
                return Ok(sum);
            }
            cursor.continue_()?;
        }
    }
}

/// Makes the object stores of a database that is new or of another version.
fn lay_out(event: &Event) -> Result<(), JsValue> {
    let Some(target) = event.target() else { return Ok(()) };
    let database: IdbDatabase = target.unchecked_into::<IdbRequest>().result()?.unchecked_into();
    let former = database.object_store_names();
    let former: Vec<String> = (0..former.length()).filter_map(|n| former.item(n)).collect();
    former.iter().try_for_each(|name| database.delete_object_store(name))?;
    database.create_object_store("bytes")?;
    database.create_object_store("entries")?.create_index_with_str("used", "used")?;
    database.create_object_store("total")?;
    Ok(())
}

async fn read(database: &IdbDatabase, keys: &[String]) -> Result<Kept, JsValue> {
    let store = database.transaction_with_str("bytes")?.object_store("bytes")?;
    let requests = keys.iter().map(|key| Ok(answer(&store.get(&key.as_str().into())?)));
    let requests: Vec<_> = requests.collect::<Result<_, JsValue>>()?;
    let mut found = Vec::new();
    for request in requests {
        found.push(request.await?.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec));
    }
    Ok(found)
}

/// What a request comes to. It is heard of from now on, whenever this is waited for.
fn answer(request: &IdbRequest) -> LocalBoxFuture<'static, Result<JsValue, JsValue>> {
    let events = heard(request, ["success", "error"]);
    let request = request.clone();
    let answer = async move {
        match events.await {
            "success" => request.result(),
            _ => Err(request.error().ok().flatten().into()),
        }
    };
    // A box is small where it is waited for, which is often.
    answer.boxed_local()
}

/// How a transaction ends: the name of its error, or nothing.
async fn ended(transaction: IdbTransaction, events: LocalBoxFuture<'static, &'static str>) -> Option<String> {
    match events.await {
        "complete" => None,
        _ => transaction.error().map(|error| error.name()),
    }
}

/// Waits for the first of two events of a target that has no others to come.
fn heard(target: &EventTarget, events: [&'static str; 2]) -> LocalBoxFuture<'static, &'static str> {
    let (send, receive) = oneshot::channel();
    let send = Rc::new(Cell::new(Some(send)));
    let listeners = events.map(|event| {
        let send = send.clone();
        EventListener::new(target, event, move |_| {
            if let Some(send) = send.take() {
                let _ = send.send(event);
            }
        })
    });
    let event = async move {
        // The sender lives as long as the listeners.
        let event = receive.await.unwrap_or_default();
        drop(listeners);
        event
    };
    event.boxed_local()
}

/// A size that was kept, which others may have damaged; NaN if it is none.
fn size(value: &JsValue) -> f64 {
    value.as_f64().filter(|size| *size >= 0.0).unwrap_or(f64::NAN)
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
