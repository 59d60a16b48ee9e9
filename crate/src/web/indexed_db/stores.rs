//! The object stores of the cache, and changes to them.

use js_sys::{Array, Date, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbCursorWithValue, IdbDatabase, IdbKeyRange, IdbObjectStore, IdbRequest};

use super::events::answer;

/// Entries of some keys. Changes return an empty list of the same type, so that one function waits for both.
pub(super) type Kept = Vec<Option<Vec<u8>>>;

/// A change of the stores.
pub(super) enum Change {
    Put {
        key: String,
        bytes: Uint8Array,
        used: f64,
    },
    Touch(String),
    Remove(String),
    Clear {
        folder: String,
    },
}

/// The object stores in one transaction.
pub(super) struct Stores {
    pub(super) bytes: IdbObjectStore,
    pub(super) entries: IdbObjectStore,
    pub(super) total: IdbObjectStore,
}

/// Returns the key of a name. No URL contains a space, so the keys of different folders differ.
pub(super) fn key(folder: &str, name: &str) -> String {
    format!("{folder} {name}")
}

impl Stores {
    pub(super) async fn change(&self, capacity: f64, change: Change) -> Result<(), JsValue> {
        let target = match &change {
            Change::Put { key, .. } | Change::Touch(key) | Change::Remove(key) => {
                JsValue::from(key)
            }
            Change::Clear { folder } => {
                // All names that begin with the folder and a space; the next character is an exclamation mark.
                let (from, until) = (key(folder, "").into(), format!("{folder}!").into());
                IdbKeyRange::bound_with_lower_open_and_upper_open(&from, &until, false, true)?
                    .into()
            }
        };
        let former: Array = answer(&self.entries.get_all_with_key(&target)?)
            .await?
            .unchecked_into();
        let stored = answer(&self.total.get(&0.into())?).await?;
        if let Change::Touch(_) = change {
            let former = former.get(0);
            if former.is_object() && Reflect::get(&former, &"used".into())? != f64::INFINITY {
                self.entries
                    .put_with_key(&entry(size_of_entry(&former), Date::now())?, &target)?;
            }
            return Ok(());
        }
        let mut sum = if stored.is_undefined() {
            0.0
        } else {
            size(&stored)
        };
        sum -= former
            .iter()
            .map(|entry| size_of_entry(&entry))
            .sum::<f64>();
        self.bytes.delete(&target)?;
        self.entries.delete(&target)?;
        if let Change::Put { bytes, used, .. } = change {
            let length = f64::from(bytes.length());
            sum = self.make_room(sum, capacity - length).await? + length;
            self.bytes.put_with_key(&bytes, &target)?;
            self.entries.put_with_key(&entry(length, used)?, &target)?;
        }
        self.total.put_with_key(&sum.into(), &0.into())?;
        Ok(())
    }

    /// Evicts the least recently used entries until the sum of all sizes is at most `most`. Returns the sum.
    async fn make_room(&self, mut sum: f64, most: f64) -> Result<f64, JsValue> {
        // A sum that is NaN does not fit.
        let fits = |sum: f64| sum <= most;
        if fits(sum) {
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
            if fits(sum) {
                return Ok(sum);
            }
            cursor.continue_()?;
        }
    }
}

/// Makes the object stores of a database that is new or of another version.
pub(super) fn create_stores(event: &Event) -> Result<(), JsValue> {
    let Some(target) = event.target() else {
        return Ok(());
    };
    let database: IdbDatabase = target
        .unchecked_into::<IdbRequest>()
        .result()?
        .unchecked_into();
    let former = database.object_store_names();
    let former: Vec<String> = (0..former.length())
        .filter_map(|n| former.item(n))
        .collect();
    former
        .iter()
        .try_for_each(|name| database.delete_object_store(name))?;
    database.create_object_store("bytes")?;
    database
        .create_object_store("entries")?
        .create_index_with_str("used", "used")?;
    database.create_object_store("total")?;
    Ok(())
}

pub(super) async fn read(database: &IdbDatabase, keys: &[String]) -> Result<Kept, JsValue> {
    let store = database
        .transaction_with_str("bytes")?
        .object_store("bytes")?;
    let requests = keys
        .iter()
        .map(|key| Ok(answer(&store.get(&key.as_str().into())?)));
    let requests: Vec<_> = requests.collect::<Result<_, JsValue>>()?;
    let mut found = Vec::new();
    for request in requests {
        found.push(
            request
                .await?
                .dyn_ref::<Uint8Array>()
                .map(Uint8Array::to_vec),
        );
    }
    Ok(found)
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
