//! Opens a database and looks up positions.

use core::error::Error;
use std::{cell::RefCell, rc::Rc, sync::Arc};

use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::Reader;
use shelfish::source::Source as _;
use shelfish::web::{Fetch, IndexedDb, reason};
use web_sys::Url;

/// Maximum size of the cache in IndexedDB, in bytes.
const CACHE: u64 = 64 << 20;

type Database = Reader<Fetch>;

/// Keeps the last database open, so that later lookups use the bytes that it has read.
#[derive(Clone, Default)]
pub(crate) struct OpenDatabase(Rc<RefCell<Option<(String, Database)>>>);

impl OpenDatabase {
    /// Looks up the position of a FEN in the database whose manifest is at `url`. Returns `None` if the database lacks the position.
    pub(crate) async fn look_up(
        &self,
        url: &str,
        fen: &str,
    ) -> Result<Option<PositionEval>, Box<dyn Error>> {
        let position: Position = fen.parse()?;
        let database = self.database(absolute(url)?).await?;
        Ok(database.lookup(&position).await?)
    }

    #[allow(
        clippy::arc_with_non_send_sync,
        reason = "native readers share the cache among threads"
    )]
    async fn database(&self, url: String) -> Result<Database, Box<dyn Error>> {
        if let Some((open, database)) = &*self.0.borrow()
            && *open == url
        {
            return Ok(database.clone());
        }
        let source = Fetch::new(&url);
        let cache = IndexedDb::open("shelfish", CACHE, &source.locate(""));
        let database = Reader::builder(source)
            .cache(Some(Arc::new(cache)))
            .open()
            .await?;
        self.0.replace(Some((url, database.clone())));
        Ok(database)
    }
}

/// Resolves a URL relative to the page.
fn absolute(url: &str) -> Result<String, String> {
    let page = web_sys::window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    Url::new_with_base(url, &page)
        .map(|url| url.href())
        .map_err(|error| format!("{url}: {}", reason(&error)))
}
