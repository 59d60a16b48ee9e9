//! Simulation of a slow network.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::Response,
};
use futures_util::StreamExt;

/// Network with a latency, and a bandwidth that all answers share.
pub(super) struct Network {
    latency: Duration,
    bytes_a_second: f64,
    /// Time when the connection becomes free.
    free: Mutex<Instant>,
}

impl Network {
    /// Creates a network with a latency in milliseconds and a bandwidth in Mbit/s.
    pub(super) fn new(latency_ms: u64, mbit: f64) -> Network {
        let (latency, bytes_a_second) = (Duration::from_millis(latency_ms), mbit * 1e6 / 8.0);
        Network {
            latency,
            bytes_a_second,
            free: Mutex::new(Instant::now()),
        }
    }

    /// Adds the network to a server.
    pub(super) fn before(self, server: Router) -> Router {
        server.layer(middleware::from_fn_with_state(Arc::new(self), delay))
    }

    /// Returns the time when `bytes` more bytes are sent.
    fn send(&self, bytes: usize) -> Instant {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = (*free).max(Instant::now())
            + Duration::from_secs_f64(bytes as f64 / self.bytes_a_second);
        *free
    }
}

async fn delay(State(network): State<Arc<Network>>, request: Request, next: Next) -> Response {
    tokio::time::sleep(network.latency).await;
    next.run(request).await.map(|body| {
        Body::from_stream(body.into_data_stream().then(move |chunk| {
            let through = network.send(chunk.as_ref().map_or(0, |chunk| chunk.len()));
            async move {
                tokio::time::sleep_until(through.into()).await;
                chunk
            }
        }))
    })
}
