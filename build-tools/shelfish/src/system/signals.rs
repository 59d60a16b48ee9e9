//! SIGINT and SIGTERM: the only place that handles them.
//!
//! Code that creates temporary files registers a cleanup with [`on_interruption`]. Code that must end its work in order,
//! such as an upload or a server, waits for [`interruption`].

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// The registered cleanups, by number.
static CLEANUPS: Mutex<Cleanups> = Mutex::new(Cleanups {
    next: 0,
    has_thread: false,
    all: BTreeMap::new(),
});

/// The number of [`Takeover`]s.
static TAKEOVERS: AtomicUsize = AtomicUsize::new(0);

struct Cleanups {
    next: u64,
    has_thread: bool,
    all: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// A registered cleanup, which is forgotten when this value is dropped.
///
/// The drop never returns while a signal ends the process, so that no other error is printed then.
#[derive(Debug)]
#[must_use]
pub struct Cleanup(u64);

impl Drop for Cleanup {
    fn drop(&mut self) {
        CLEANUPS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .all
            .remove(&self.0);
    }
}

/// Registers `cleanup`. If a signal arrives, all cleanups run, and the process exits with 128 plus the signal's number.
pub fn on_interruption(cleanup: impl Fn() + Send + 'static) -> io::Result<Cleanup> {
    let mut cleanups = CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner);
    if !cleanups.has_thread {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // Signals count from now on, not from the start of the thread.
        let mut next = {
            let _context = runtime.enter();
            interruption()?
        };
        std::thread::spawn(move || {
            let signal = runtime.block_on(async {
                loop {
                    let signal = next.await;
                    match interruption() {
                        Ok(later) if TAKEOVERS.load(SeqCst) > 0 => next = later,
                        _ => return signal,
                    }
                }
            });
            let cleanups = CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner);
            cleanups.all.values().for_each(|cleanup| cleanup());
            std::process::exit(128 + i32::from(signal));
        });
    }
    cleanups.has_thread = true;
    let number = cleanups.next;
    cleanups.next += 1;
    cleanups.all.insert(number, Box::new(cleanup));
    Ok(Cleanup(number))
}

/// Keeps signals from ending the process while it exists: its owner waits for [`interruption`].
#[derive(Debug)]
pub struct Takeover(());

impl Default for Takeover {
    fn default() -> Takeover {
        TAKEOVERS.fetch_add(1, SeqCst);
        Takeover(())
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        TAKEOVERS.fetch_sub(1, SeqCst);
    }
}

/// Returns a future that resolves to the number of the next signal. Signals count from this call on.
#[cfg(unix)]
pub fn interruption() -> io::Result<impl Future<Output = u8>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => 2,
            _ = terminate.recv() => 15,
        }
    })
}

/// Returns a future that resolves to 2 at the next Ctrl-C. Signals count from this call on.
#[cfg(windows)]
pub fn interruption() -> io::Result<impl Future<Output = u8>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        let _ = interrupt.recv().await;
        2
    })
}
