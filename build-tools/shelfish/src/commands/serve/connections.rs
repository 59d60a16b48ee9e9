//! Connections, which are limited in number and time.
//!
//! hyper limits the head of a request and its time. This module limits the number of connections and the time for answers.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use shelfish::source::http::time_limit;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, Sleep};
use tower::Service;

use super::limits;

/// Pause between attempts to close a connection, while all connections are being answered.
const PAUSE: Duration = Duration::from_millis(50);

/// Time of a connection that is being answered.
const BUSY: u64 = u64::MAX;

/// Open connections by number.
struct Connections {
    start: Instant,
    all: Mutex<HashMap<u64, Arc<Connection>>>,
}

/// Open connection.
struct Connection {
    start: Instant,
    /// Time of the last sent bytes of an answer, or of the beginning, in milliseconds since `start`; [`BUSY`] before the first
    /// bytes of an answer.
    waits_since: AtomicU64,
    closed: Notify,
}

impl Connection {
    /// Returns the time in milliseconds since `start`.
    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    fn wait(&self, since: u64) {
        self.waits_since.store(since, Relaxed);
    }

    fn answer(&self) {
        self.waits_since.store(BUSY, Relaxed);
    }

    /// Ends [`BUSY`] before the first bytes of an answer are sent. If the thread is interrupted after the bytes were sent, the
    /// connection still counts as older than connections whose clients came later.
    fn begin_to_send(&self, now: u64) {
        if self.waits_since.load(Relaxed) == BUSY {
            self.wait(now);
        }
    }
}

impl Connections {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        // The map is valid even after a panic.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection.
    fn open(&self, number: u64) -> Arc<Connection> {
        let connection = Connection {
            start: self.start,
            waits_since: AtomicU64::new(0),
            closed: Notify::new(),
        };
        connection.wait(connection.now());
        let connection = Arc::new(connection);
        self.all().insert(number, connection.clone());
        connection
    }

    /// Closes the connection that has waited longest for a request, or for a client to read. Returns whether there was
    /// such a connection.
    fn close_oldest(&self) -> bool {
        let mut all = self.all();
        let waiting = all
            .iter()
            .map(|(number, connection)| (connection.waits_since.load(Relaxed), *number));
        let oldest = waiting.filter(|(since, _)| *since != BUSY).min();
        let closed = oldest.and_then(|(_, number)| all.remove(&number));
        closed.is_some_and(|connection| {
            connection.closed.notify_one();
            true
        })
    }
}

/// Serves `app` until `stop` changes. Then refuses new connections and waits for pending answers.
pub(super) async fn serve(
    mut listener: TcpListener,
    app: Router,
    limits: limits::Args,
    most: usize,
    mut stop: watch::Receiver<bool>,
) {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.max_head as usize);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(most));
    let connections = Arc::new(Connections {
        start: Instant::now(),
        all: Mutex::default(),
    });
    for number in 0.. {
        let (stream, client) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let place = loop {
            if let Ok(place) = places.clone().try_acquire_owned() {
                break place;
            }
            // A closed connection gives its place back, even if that takes long on a busy machine.
            let pause = if connections.close_oldest() {
                Duration::MAX
            } else {
                PAUSE
            };
            tokio::select! {
                Ok(place) = places.clone().acquire_owned() => break place,
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
        };
        // Without Nagle's algorithm, a head and a short body do not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let connection = connections.open(number);
        let io = TokioIo::new(Paced::new(
            stream,
            limits.answer_timeout,
            connection.clone(),
        ));
        let (app, answering) = (app.clone(), connection.clone());
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            answering.answer();
            let mut request = request.map(Body::new);
            request
                .extensions_mut()
                .insert(ConnectInfo::<SocketAddr>(client));
            app.clone().call(request)
        });
        let served = graceful.watch(protocol.serve_connection(io, service));
        let connections = connections.clone();
        tokio::spawn(async move {
            tokio::select! {
                // An error concerns one client only.
                _ = served => {}
                () = connection.closed.notified() => {}
            }
            connections.all().remove(&number);
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Stream whose answers may wait only a limited time for the client.
///
/// Waits use up the time. Sent bytes restore it, a second for 16 KiB, so that a client cannot read a byte at a time. The
/// time never exceeds its limit, because the first bytes of an answer only fill the buffers of the system.
struct Paced {
    stream: TcpStream,
    limit: Duration,
    connection: Arc<Connection>,
    /// Time that is left for waits.
    left: Duration,
    /// Beginning of the current wait, and its end.
    wait: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Paced {
    fn new(stream: TcpStream, limit: Duration, connection: Arc<Connection>) -> Paced {
        Paced {
            stream,
            limit,
            connection,
            left: limit,
            wait: None,
        }
    }

    /// Sends bytes by `attempt`, and counts its result.
    fn send(
        &mut self,
        cx: &mut Context<'_>,
        attempt: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let now = self.connection.now();
        self.connection.begin_to_send(now);
        match attempt(Pin::new(&mut self.stream), cx) {
            Poll::Ready(Ok(bytes)) => {
                if let Some((start, _)) = self.wait.take() {
                    self.left = self.left.saturating_sub(start.elapsed());
                }
                self.left = time_limit(self.left, bytes as u64).min(self.limit);
                self.connection.wait(now);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let left = self.left;
                let wait = || (Instant::now(), Box::pin(tokio::time::sleep(left)));
                let (_, end) = self.wait.get_or_insert_with(wait);
                ready!(end.as_mut().poll(cx));
                // The system must not keep the rest of the answer for the client.
                let _ = self.stream.set_zero_linger();
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
