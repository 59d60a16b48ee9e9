//! Books of players, opened on demand.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use shelfish::reader::Options;
use tokio::sync::Mutex;

use super::Book;
use crate::BoxError;
use crate::database::{self, OpenError};
use crate::terminal::shown::beginning;

/// Maximum number of open books.
const MOST: usize = 32;
/// Memory of the decoded blocks of a book, in bytes.
const MEMORY: usize = 8 << 20;

/// Books of players by name and colour.
pub struct Players {
    /// Address with `{player}` and `{color}`.
    address: String,
    /// Seconds that a host has for an answer.
    timeout: u64,
    /// Time after which the manifest of a book is requested again.
    interval: Duration,
    /// Open books, the last used last.
    open: Mutex<Vec<(String, Arc<Book>)>>,
}

/// Reasons why the book of a player cannot be used.
#[derive(Debug)]
pub enum PlayersError {
    /// The name is not the name of a player.
    Name(String),
    /// The colour is neither white nor black.
    Color(String),
    /// There is no book of the player.
    Missing,
    /// The book cannot be opened.
    Open(BoxError),
}

impl fmt::Display for PlayersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayersError::Name(found) => {
                write!(f, "player: expected the name of a player, found {found:?}")
            }
            PlayersError::Color(found) => {
                write!(f, "color: expected white or black, found {found:?}")
            }
            PlayersError::Missing => f.write_str("this player has no book"),
            PlayersError::Open(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PlayersError {}

impl Players {
    pub fn new(address: &str, timeout: u64, interval: Duration) -> Players {
        Players {
            address: address.to_owned(),
            timeout,
            interval,
            open: Mutex::default(),
        }
    }

    /// Returns the book of a player. Opens the book if it is not open.
    pub async fn book(
        &self,
        (player, color): &(String, String),
    ) -> Result<Arc<Book>, PlayersError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        // A name is a part of a path.
        if !(2..=30).contains(&player.len()) || !player.chars().all(is_plain) {
            return Err(PlayersError::Name(beginning(player)));
        }
        if color != "white" && color != "black" {
            return Err(PlayersError::Color(beginning(color)));
        }
        let address = self
            .address
            .replace("{player}", player)
            .replace("{color}", color);
        if let Some(book) = self.known(&address).await {
            if book.reader.is_due(self.interval) {
                // After an error, the old book stays in use.
                drop(book.reader.revalidate().await);
            }
            return Ok(book);
        }
        let args = database::Args {
            timeout: self.timeout,
            ..database::Args::of(&address)
        };
        let source = args
            .source()
            .map_err(|error| PlayersError::Open(error.into()))?;
        let options = Options::default().with_memory(MEMORY);
        let book = Book::open(source, options).await.map_err(|error| {
            match error.downcast_ref::<OpenError>() {
                Some(OpenError::Missing { .. }) => PlayersError::Missing,
                _ => PlayersError::Open(error),
            }
        })?;
        let book = Arc::new(book);
        let mut open = self.open.lock().await;
        // A question at the same time may have opened the book too.
        open.retain(|(known, _)| *known != address);
        open.push((address, Arc::clone(&book)));
        let excess = open.len().saturating_sub(MOST);
        open.drain(..excess);
        Ok(book)
    }

    /// Returns an open book, and notes its use.
    async fn known(&self, address: &str) -> Option<Arc<Book>> {
        let mut open = self.open.lock().await;
        let at = open.iter().position(|(known, _)| known == address)?;
        let used = open.remove(at);
        let book = Arc::clone(&used.1);
        open.push(used);
        Some(book)
    }
}
