//! The proxy: accepts callers, and begins to compare when it is told to.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedMutexGuard, OwnedRwLockReadGuard, RwLock, Semaphore};

use crate::error::ShadowError;
use crate::map::CallMap;
use crate::mirror::{Connect, Follower, Mirror, Settings, mirror};
use crate::report::{Report, Reporting};
use crate::session;

/// How many locks resources share: two of the same lock only wait for each other.
const LOCKS: usize = 4_096;

/// How many callers may be connected.
const CALLERS_MAX: usize = 10_000;

/// What is done when comparing begins: Scarce is given what the source has at that moment.
pub trait Begin: Send + Sync {
    /// Reads the source; no call of the map is under way meanwhile.
    ///
    /// # Errors
    /// Why it cannot; comparing does not begin then.
    fn read(&self) -> Result<(), String>;

    /// Makes in Scarce what was read; calls are answered by Redis meanwhile, and compared afterwards.
    ///
    /// # Errors
    /// Why it cannot; comparing is broken off then.
    fn make(&self) -> Result<(), String>;
}

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What all callers' connections share.
pub(crate) struct Shared {
    /// The Redis in use.
    upstream: String,
    /// The database whose calls are compared.
    pub(crate) database: i64,
    pub(crate) map: Arc<CallMap>,
    pub(crate) mirror: Mirror,
    pub(crate) reporting: Arc<Reporting>,
    locks: Vec<Arc<tokio::sync::Mutex<()>>>,
    gate: Arc<RwLock<()>>,
    is_comparing: AtomicBool,
    begin: Box<dyn Begin>,
    follower: Mutex<Option<(Follower, Connect)>>,
}

impl Proxy {
    /// Listens, in front of the Redis at `upstream` (`host:port`).
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn listen(
        address: SocketAddr,
        (upstream, database): (String, i64),
        map: CallMap,
        settings: Settings,
        (begin, connect): (Box<dyn Begin>, Connect),
    ) -> Result<Self, ShadowError> {
        let cannot = |source| ShadowError::Listen { address: address.to_string(), source };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let map = Arc::new(map);
        let reporting = Arc::new(Reporting::new(&map));
        let (mirror, follower) = mirror(&map, &reporting, settings);
        let shared = Shared {
            upstream,
            database,
            map,
            mirror,
            reporting,
            locks: (0..LOCKS).map(|_| Arc::default()).collect(),
            gate: Arc::default(),
            is_comparing: AtomicBool::new(false),
            begin,
            follower: Mutex::new(Some((follower, connect))),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What was found so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.shared.report()
    }

    /// Serves callers without end.
    pub async fn serve(&self) {
        let places = Arc::new(Semaphore::new(CALLERS_MAX));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            // Who has left before it was accepted is not served; the system has no room for others for a moment.
            let Ok((caller, address)) = self.listener.accept().await else {
                tokio::task::yield_now().await;
                continue;
            };
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move {
                session::serve(caller, address, &shared).await;
                drop(place);
            });
        }
    }
}

impl Shared {
    pub(crate) async fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.upstream).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    pub(crate) fn report(&self) -> Report {
        self.reporting.note(|report| report.clone())
    }

    /// A place beside other calls; none is under way while the source is read.
    pub(crate) async fn pass_gate(&self) -> OwnedRwLockReadGuard<()> {
        Arc::clone(&self.gate).read_owned().await
    }

    pub(crate) fn is_comparing(&self) -> bool {
        self.is_comparing.load(Ordering::Acquire)
    }

    /// Waits for earlier calls of the same resources. Locks are taken in one order, so that nobody waits in a circle.
    pub(crate) async fn lock(&self, resources: &[String]) -> Vec<OwnedMutexGuard<()>> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let place = |name: &String| usize::try_from(hasher.hash_one(name) % LOCKS as u64).unwrap_or_default();
        let mut places: Vec<usize> = resources.iter().map(place).collect();
        places.sort_unstable();
        places.dedup();
        let mut held = Vec::with_capacity(places.len());
        for place in places {
            held.push(Arc::clone(&self.locks[place]).lock_owned().await);
        }
        held
    }

    /// Begins to compare.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<(), String> {
        let taken = self.follower.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (follower, connect) = taken.ok_or("comparing has begun already")?;
        let closed = Arc::clone(&self.gate).write_owned().await;
        if let Err(why) = self.blocking(|begin| begin.read()).await {
            // It may be tried again.
            *self.follower.lock().unwrap_or_else(PoisonError::into_inner) = Some((follower, connect));
            return Err(why);
        }
        self.reporting.note(|report| "comparing".clone_into(&mut report.state));
        self.is_comparing.store(true, Ordering::Release);
        drop(closed);
        match self.blocking(|begin| begin.make()).await {
            Ok(()) => {
                let name = std::thread::Builder::new().name("shadow-compare".to_owned());
                name.spawn(move || follower.run(&connect)).map(|_| ()).map_err(|error| error.to_string())
            }
            Err(why) => {
                self.reporting.note(|report| {
                    "broken off".clone_into(&mut report.state);
                    report.broken_off = Some(why.clone());
                    report.not_compared += std::mem::take(&mut report.waiting);
                });
                Err(why)
            }
        }
    }

    async fn blocking(
        self: &Arc<Self>,
        act: impl FnOnce(&dyn Begin) -> Result<(), String> + Send + 'static,
    ) -> Result<(), String> {
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || act(shared.begin.as_ref())).await;
        done.unwrap_or_else(|error| Err(error.to_string()))
    }
}
