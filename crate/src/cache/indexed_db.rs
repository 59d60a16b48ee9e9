//! IndexedDB: what was fetched survives the page.
//!
//! Three stores: `bytes` by name; `entries`, the size and last use of each, with an index by last use; and `total`, the
//! sum of all sizes, so that any number of tabs keep to one bound. Whatever changes does so in one transaction.
//!
//! Browsers take IndexedDB away: private windows refuse it, Safari drops connections and sometimes never answers. So
//! a connection that fails is opened again at the next use, one that cannot be opened is not tried again, and nothing
//! is waited for longer than [`PATIENCE`]. Writes are queued, wait for reads and go one entry at a time, so that a
//! lookup never waits for them.

use core::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use futures_channel::oneshot;
use futures_util::future::{Either, FutureExt, LocalBoxFuture, Shared, join_all, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Date, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, IdbCursor, IdbDatabase, IdbFactory, IdbRequest, IdbTransaction, IdbTransactionMode};

use super::{Cache, Keep};

/// Milliseconds after which what was not answered is not there.
const PATIENCE: u32 = 1_000;
/// Milliseconds that a write waits for the lookup that caused it to go on.
const PAUSE: u32 = 20;
/// Writes that may wait; further ones are dropped.
const QUEUE: usize = 512;
/// The version of the layout of stores.
const VERSION: u32 = 1;

#[wasm_bindgen]
extern "C" {
    type Global;

    #[wasm_bindgen(js_name = globalThis, thread_local_v2)]
    static GLOBAL: Global;

    // Of whatever the global scope is; a browser may refuse even to tell.
    #[wasm_bindgen(method, getter, structural, catch, js_name = indexedDB)]
    fn indexed_db(this: &Global) -> Result<Option<IdbFactory>, JsValue>;
}

/// A cache in the browser's IndexedDB, shared by all tabs of an origin that use the same name.
#[derive(Debug, Clone)]
pub struct IndexedDb(Rc<Inner>);

type Connection = Shared<LocalBoxFuture<'static, Option<IdbDatabase>>>;

#[derive(Debug)]
struct Inner {
    name: String,
    capacity: Cell<f64>,
    connection: RefCell<Option<Connection>>,
    queue: RefCell<VecDeque<Change>>,
    writing: Cell<bool>,
    reads: Cell<u32>,
    /// A read was not answered in time, and still is not.
    stuck: Cell<bool>,
}

#[derive(Debug)]
enum Change {
    Put { name: JsValue, bytes: Uint8Array, keep: Keep },
    Touch { name: JsValue },
    Remove { name: JsValue },
}

impl IndexedDb {
    /// A cache of at most `bytes` in the IndexedDB database `name`. Where there is no IndexedDB it is always empty.
    pub fn new(name: &str, bytes: u64) -> IndexedDb {
        let inner = Rc::new(Inner {
            name: name.to_string(),
            capacity: Cell::new(bytes as f64),
            connection: RefCell::new(None),
            queue: RefCell::new(VecDeque::new()),
            writing: Cell::new(false),
            reads: Cell::new(0),
            stuck: Cell::new(false),
        });
        // Opens while the manifest is on its way.
        spawn_local(inner.connection().map(drop));
        IndexedDb(inner)
    }

    fn change(&self, change: Change) {
        let mut queue = self.0.queue.borrow_mut();
        if queue.len() < QUEUE {
            queue.push_back(change);
        }
        if !self.0.writing.replace(true) {
            spawn_local(write(self.0.clone()));
        }
    }
}

impl Cache for IndexedDb {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        let nothing = vec![None; names.len()];
        if self.0.stuck.get() {
            return nothing;
        }
        let names: Vec<JsValue> = names.iter().map(JsValue::from).collect();
        let (send, answer) = oneshot::channel();
        let (inner, wanted) = (self.0.clone(), names.clone());
        spawn_local(async move {
            inner.reads.set(inner.reads.get() + 1);
            let found = inner.read(&wanted).await;
            inner.reads.set(inner.reads.get() - 1);
            inner.stuck.set(false);
            let _ = send.send(found);
        });
        match select(answer, TimeoutFuture::new(PATIENCE)).await {
            Either::Left((Ok(Some(found)), _)) => {
                for (name, _) in names.into_iter().zip(&found).filter(|(_, found)| found.is_some()) {
                    self.change(Change::Touch { name });
                }
                found
            }
            Either::Left(_) => nothing,
            Either::Right(_) => {
                self.0.stuck.set(true);
                nothing
            }
        }
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        self.change(Change::Put { name: name.into(), bytes: Uint8Array::from(bytes), keep });
    }

    fn remove(&self, name: &str) {
        self.change(Change::Remove { name: name.into() });
    }
}

/// Works the queue off, one transaction a change.
async fn write(inner: Rc<Inner>) {
    loop {
        TimeoutFuture::new(PAUSE).await;
        while inner.reads.get() == 0 {
            let Some(change) = inner.queue.borrow_mut().pop_front() else {
                inner.writing.set(false);
                return;
            };
            if let Some(database) = inner.connection().await
                && inner.apply(&database, change).await.is_err()
            {
                inner.disconnect();
            }
        }
    }
}

impl Inner {
    /// The connection, opened if need be.
    fn connection(self: &Rc<Self>) -> Connection {
        self.connection
            .borrow_mut()
            .get_or_insert_with(|| {
                let (name, inner) = (self.name.clone(), Rc::downgrade(self));
                async move { open(&name, inner).await.ok() }.boxed_local().shared()
            })
            .clone()
    }

    /// Has the next use open a new connection, unless there is none to be had.
    fn disconnect(&self) {
        let mut connection = self.connection.borrow_mut();
        if let Some(Some(database)) = connection.as_ref().and_then(|connection| connection.peek()) {
            database.close();
            *connection = None;
        }
    }

    async fn read(self: &Rc<Self>, names: &[JsValue]) -> Option<Vec<Option<Vec<u8>>>> {
        // A connection that was lost is noticed when it is used.
        for _ in 0..2 {
            let database = self.connection().await?;
            if let Ok(found) = get(&database, names).await {
                return Some(found);
            }
            self.disconnect();
        }
        None
    }

    async fn apply(&self, database: &IdbDatabase, change: Change) -> Result<(), JsValue> {
        let stores = Array::of3(&"bytes".into(), &"entries".into(), &"total".into());
        let transaction = database.transaction_with_str_sequence_and_mode(&stores, IdbTransactionMode::Readwrite)?;
        let (bytes, entries) = (transaction.object_store("bytes")?, transaction.object_store("entries")?);
        let totals = transaction.object_store("total")?;
        let mut end = End::of(&transaction);
        match change {
            Change::Touch { name } => {
                let entry = done(&entries.get(&name)?).await?;
                if used(&entry).is_finite() {
                    entries.put_with_key(&new_entry(size(&entry), Date::now())?, &name)?;
                }
            }
            Change::Remove { name } => {
                let total = done(&totals.get(&0.into())?).await?.as_f64().unwrap_or(0.0);
                let former = size(&done(&entries.get(&name)?).await?);
                bytes.delete(&name)?;
                entries.delete(&name)?;
                totals.put_with_key(&(total - former).into(), &0.into())?;
            }
            Change::Put { name, bytes: value, keep } => {
                let room = self.capacity.get() - f64::from(value.length());
                if room < 0.0 {
                    return Ok(());
                }
                let total = done(&totals.get(&0.into())?).await?.as_f64().unwrap_or(0.0);
                let mut total = total - size(&done(&entries.get(&name)?).await?);
                entries.delete(&name)?;
                if total > room {
                    let oldest = entries.index("used")?.open_cursor()?;
                    while total > room {
                        let cursor = done(&oldest).await?;
                        if cursor.is_null() {
                            break;
                        }
                        let cursor: IdbCursor = cursor.unchecked_into();
                        let entry = Reflect::get(&cursor, &"value".into())?;
                        total -= size(&entry);
                        bytes.delete(&cursor.primary_key()?)?;
                        cursor.delete()?;
                        cursor.continue_()?;
                    }
                }
                let used = match keep {
                    Keep::WhileUsed => Date::now(),
                    Keep::Longest => f64::INFINITY,
                };
                let size = f64::from(value.length());
                bytes.put_with_key(&value, &name)?;
                entries.put_with_key(&new_entry(size, used)?, &name)?;
                totals.put_with_key(&(total + size).into(), &0.into())?;
            }
        }
        if !end.is_commit().await {
            // The disk or the origin's share of it is full: make do with less from now on.
            self.capacity.set(self.capacity.get() / 2.0);
        }
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.disconnect();
    }
}

async fn open(name: &str, inner: Weak<Inner>) -> Result<IdbDatabase, JsValue> {
    let factory = GLOBAL.with(Global::indexed_db)?.ok_or(JsValue::NULL)?;
    let request = factory.open_with_u32(name, VERSION)?;
    let upgrade = {
        let request = request.clone();
        Closure::<dyn FnMut() -> Result<(), JsValue>>::new(move || {
            let database: IdbDatabase = request.result()?.unchecked_into();
            database.create_object_store("bytes")?;
            database.create_object_store("entries")?.create_index_with_str("used", "used")?;
            database.create_object_store("total")?;
            Ok(())
        })
    };
    request.set_onupgradeneeded(Some(upgrade.as_ref().unchecked_ref()));
    let database: IdbDatabase = done(&request).await?.unchecked_into();
    // The browser closes the connection, or another tab needs it closed.
    let lost = Closure::<dyn FnMut()>::new(move || {
        if let Some(inner) = inner.upgrade() {
            inner.disconnect();
        }
    });
    database.set_onclose(Some(lost.as_ref().unchecked_ref()));
    database.set_onversionchange(Some(lost.as_ref().unchecked_ref()));
    lost.forget();
    Ok(database)
}

async fn get(database: &IdbDatabase, names: &[JsValue]) -> Result<Vec<Option<Vec<u8>>>, JsValue> {
    let store = database.transaction_with_str("bytes")?.object_store("bytes")?;
    let requests: Vec<IdbRequest> = names.iter().map(|name| store.get(name)).collect::<Result<_, _>>()?;
    let answers = join_all(requests.iter().map(done)).await;
    answers.into_iter().map(|found| Ok(found?.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec))).collect()
}

fn new_entry(size: f64, used: f64) -> Result<JsValue, JsValue> {
    let entry = Object::new();
    Reflect::set(&entry, &"size".into(), &size.into())?;
    Reflect::set(&entry, &"used".into(), &used.into())?;
    Ok(entry.into())
}

fn size(entry: &JsValue) -> f64 {
    Reflect::get(entry, &"size".into()).ok().and_then(|size| size.as_f64()).unwrap_or(0.0)
}

/// The last use of an entry; that of none, and of one that is kept longest, is infinite.
fn used(entry: &JsValue) -> f64 {
    Reflect::get(entry, &"used".into()).ok().and_then(|used| used.as_f64()).unwrap_or(f64::INFINITY)
}

/// How a transaction ends.
struct End {
    transaction: IdbTransaction,
    _handler: Closure<dyn FnMut(Event)>,
    end: oneshot::Receiver<bool>,
}

impl End {
    fn of(transaction: &IdbTransaction) -> End {
        let (send, end) = oneshot::channel();
        let mut send = Some(send);
        let handler = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            let _ = send.take().map(|send| send.send(event.type_() == "complete"));
        });
        transaction.set_oncomplete(Some(handler.as_ref().unchecked_ref()));
        transaction.set_onabort(Some(handler.as_ref().unchecked_ref()));
        End { transaction: transaction.clone(), _handler: handler, end }
    }

    async fn is_commit(&mut self) -> bool {
        (&mut self.end).await.unwrap_or(false)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.transaction.set_oncomplete(None);
        self.transaction.set_onabort(None);
    }
}

/// The next answer to `request`.
async fn done(request: &IdbRequest) -> Result<JsValue, JsValue> {
    let (send, answer) = oneshot::channel();
    let mut send = Some(send);
    let handler = Closure::<dyn FnMut()>::new(move || {
        let _ = send.take().map(|send| send.send(()));
    });
    let handler: &js_sys::Function = handler.as_ref().unchecked_ref();
    request.set_onsuccess(Some(handler));
    request.set_onerror(Some(handler));
    let _ = answer.await;
    request.set_onsuccess(None);
    request.set_onerror(None);
    match request.error()? {
        Some(error) => Err(error.into()),
        None => request.result(),
    }
}
