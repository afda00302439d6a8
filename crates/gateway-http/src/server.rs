//! Listens, serves connections, and shuts both down.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use scarce_engine::Engine;
use scarce_gateway::{Access, ConnectionPlaces, PortKind, Tls};
use scarce_push::Hub;
use tokio::sync::{Semaphore, watch};

use super::connection::{Connection, serve};
use super::crowded::Crowded;
use super::guard::Peer;
use super::reader::{Readers, WatchedSocket};
use super::tail::Tails;
use super::{HttpShared, KeyKeeper, Metrics, SettingsShown, router};
use crate::flows::Flows;

/// The maximum number of concurrent connections; more are [told so](super::crowded).
pub const CONNECTIONS_MAX: usize = 10_000;

/// How long requests in progress have to finish when the port ends.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Threads that read and write sockets; the engine's threads do the work.
const THREADS_MAX: usize = 4;

/// Opens the port.
///
/// # Errors
/// When the address cannot be bound.
pub fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// What the port serves, and how.
pub struct Served {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// How callers authenticate.
    pub access: Access,
    /// The certificate, if the port speaks TLS.
    pub tls: Option<Tls>,
    /// The metrics of the port and the engine.
    pub metrics: Metrics,
    /// What flows into this process and out of it.
    pub flows: Flows,
    /// The channels that callers subscribe to.
    pub push: Arc<Hub>,
    /// The settings in effect, as they are shown.
    pub settings: SettingsShown,
    /// Where the keys of callers are kept.
    pub keys: Arc<dyn KeyKeeper>,
    /// The places for connections of all ports.
    pub places: Arc<ConnectionPlaces>,
    /// Whether the server ends soon.
    pub is_ending: Arc<AtomicBool>,
    /// How long a caller may leave a stream of events unread.
    pub stream_unread_max: Duration,
    /// How long a connection stays open without a request.
    pub keep_alive: Duration,
}

/// The running port.
pub struct Http {
    runtime: tokio::runtime::Runtime,
    ending: watch::Sender<bool>,
    listening: tokio::task::JoinHandle<()>,
}

impl Http {
    /// Starts serving.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn start(listener: TcpListener, served: Served) -> std::io::Result<Self> {
        let Served { engine, access, tls, metrics, flows, push, settings, keys, places, is_ending, .. } =
            served;
        let (stream_unread_max, keep_alive) = (served.stream_unread_max, served.keep_alive);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(cores.min(THREADS_MAX))
            .thread_name("http")
            .enable_all()
            .build()?;
        let (ending, ended) = watch::channel(false);
        let tails = Tails::new(engine.clone());
        let shared = Arc::new(HttpShared {
            access,
            is_tls: tls.is_some(),
            engine,
            metrics,
            tails,
            push,
            stream_unread_max,
            flows,
            settings,
            keys,
            ending: ended,
            is_ending,
        });
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let listening = runtime.spawn(listen(listener, shared, places, tls, keep_alive));
        Ok(Self { runtime, ending, listening })
    }

    /// Accepts no more requests, and waits for those in progress.
    pub fn shut_down(self) {
        // If this fails, the listener has already ended, which is the goal.
        let _ = self.ending.send(true);
        self.runtime.block_on(async {
            // A listener that panicked has ended too.
            let _ = tokio::time::timeout(END_TIMEOUT, self.listening).await;
        });
        self.runtime.shutdown_background();
    }
}

/// Accepts connections until the end, then waits for the open ones.
async fn listen(
    listener: tokio::net::TcpListener,
    shared: Arc<HttpShared>,
    all: Arc<ConnectionPlaces>,
    tls: Option<Tls>,
    keep_alive: Duration,
) {
    let mut ending = shared.ending.clone();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let app = router::router(shared.clone());
    let readers = Readers::new(all.clone());
    let crowded = Crowded::new(router::health(shared.clone()), all.clone(), tls.clone());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ending.wait_for(|ending| *ending) => break,
        };
        match accepted {
            Ok((socket, address)) => {
                let peer = Peer(address.ip());
                let free = places.clone().try_acquire_owned().ok();
                let Some(place) = free.and_then(|place| Some((place, all.try_take(PortKind::Http)?))) else {
                    crowded.serve(socket, peer);
                    continue;
                };
                let connection = Connection {
                    accepted_at: Instant::now(),
                    tls: tls.as_ref().map(Tls::for_http),
                    peer,
                    unread_max: shared.stream_unread_max,
                    keep_alive,
                    app: app.clone(),
                    ending: shared.ending.clone(),
                    place: Arc::new(place),
                };
                let reader = readers.join(address.ip());
                tokio::spawn(serve(WatchedSocket { socket, reader }, connection));
            }
            // Most likely out of file descriptors: other connections must end first.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    // All permits are returned once the connections have ended.
    let count = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = places.acquire_many(count).await;
}
