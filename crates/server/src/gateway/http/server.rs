//! Listening, connections, and the end of both.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use scarce_engine::Engine;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use super::{HEADERS_BYTES_MAX, Metrics, Shared, router};
use crate::gateway::Access;
use crate::pipeline::Flows;

/// The most connections at a time; more wait until one ends.
const CONNECTIONS_MAX: usize = 10_000;

/// How long a request's headers may take to arrive, so that a slow sender holds no place for ever.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(20);

/// How long requests that are under way have to finish when the port ends.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Threads that read and write sockets; the work is done by the engine's.
const THREADS_MAX: usize = 4;

/// Opens the port.
///
/// # Errors
/// When the address cannot be had.
pub fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The running port.
pub struct Http {
    runtime: tokio::runtime::Runtime,
    ending: watch::Sender<bool>,
    listening: tokio::task::JoinHandle<()>,
}

impl Http {
    /// Starts to serve.
    ///
    /// # Errors
    /// When threads cannot be had.
    pub fn start(
        listener: TcpListener,
        engine: Arc<dyn Engine>,
        access: Access,
        metrics: Metrics,
        flows: Flows,
    ) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(cores.min(THREADS_MAX))
            .thread_name("http")
            .enable_all()
            .build()?;
        let (ending, ended) = watch::channel(false);
        let shared = Arc::new(Shared { access, engine, metrics, flows, ending: ended });
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let listening = runtime.spawn(listen(listener, shared));
        Ok(Self { runtime, ending, listening })
    }

    /// Takes no more requests, and waits for those under way.
    pub fn shut_down(self) {
        // Nobody listens any more if this fails, which is what is wanted.
        let _ = self.ending.send(true);
        self.runtime.block_on(async {
            // A listener that ended by a panic has ended too.
            let _ = tokio::time::timeout(END_TIMEOUT, self.listening).await;
        });
        self.runtime.shutdown_background();
    }
}

/// Accepts until the end, then waits for the connections.
async fn listen(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let mut ending = shared.ending.clone();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let app = router::router(shared.clone());
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ending.wait_for(|ending| *ending) => break,
        };
        match accepted {
            Ok((socket, _)) => {
                let (app, ending) = (app.clone(), shared.ending.clone());
                tokio::spawn(async move {
                    serve(socket, app, ending).await;
                    drop(place);
                });
            }
            // Out of descriptors, most likely: others must end first.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    // All places come back as the connections end.
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = places.acquire_many(all).await;
}

async fn serve(socket: TcpStream, app: axum::Router, mut ending: watch::Receiver<bool>) {
    // Answers are small and awaited; where the system refuses, they are only later.
    let _ = socket.set_nodelay(true);
    let service = TowerToHyperService::new(app);
    let mut protocol = hyper::server::conn::http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEADERS_TIMEOUT).max_buf_size(HEADERS_BYTES_MAX);
    let connection = protocol.serve_connection(TokioIo::new(socket), service);
    let mut connection = std::pin::pin!(connection);
    // What fails here is the connection itself, and there is nobody left to tell.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
