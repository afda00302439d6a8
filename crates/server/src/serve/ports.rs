//! The ports. They are opened before the engine starts, so that an address in use is reported at once.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_gateway::latencies::Latencies;
use scarce_gateway::{Access, ConnectionPlaces, Tls, Unread};
use scarce_gateway_http::{self as http, Http, Measured, Metrics, Served, SettingsShown};
use scarce_gateway_resp::{Aside, CONNECTIONS_MAX, Reactor, RespShared, Statuses, bind};
use scarce_push::Hub;
use scarce_settings::{EngineChoice, Password, ServerSettings};

use super::encryption::Encryption;
use super::ending::Ending;
use super::loading::Loading;
use super::memory::budget_bytes;
use super::{ServeError, audit, descriptors, limits};
use crate::keys::KeyStore;
use crate::pipeline::Pipeline;

/// How many threads cut red packets for the RESP port: each takes a core while it does.
const CUTTING_THREADS: usize = 1;

/// How many threads read the log for the RESP port.
const READING_THREADS: usize = 2;

/// How long the caller of a local port may take nothing of its replies.
const LOCAL_UNREAD_MAX: Duration = Duration::from_mins(1);

pub(super) struct Ports {
    resp: TcpListener,
    http: Option<TcpListener>,
    access: Access,
    encryption: Option<Arc<Encryption>>,
    started_at: Instant,
    slow: Option<Duration>,
    unread_max: Duration,
    keep_alive: Duration,
    places: Arc<ConnectionPlaces>,
    statuses: Arc<OnceLock<Statuses>>,
    push: OnceLock<Arc<Hub>>,
    latencies: Arc<Latencies>,
    directory: PathBuf,
    ending: Ending,
    shown: SettingsShown,
}

impl Ports {
    pub(super) fn open(settings: &ServerSettings, shown: SettingsShown) -> Result<Self, ServeError> {
        let open_files_max = scarce_gateway::descriptors::open_max();
        descriptors::check(settings, open_files_max)?;
        let resp = bind(settings.resp).map_err(|error| ServeError::Listen {
            address: settings.resp,
            error,
            advice: "choose another address with --resp",
        })?;
        let http = settings.http.map(listen_http).transpose()?;
        let password = settings.password.as_ref().map(Password::reveal).map(str::to_owned);
        let mut access = Access::new(password, settings.http_origins.0.clone());
        access.audit = audit::start(settings)?;
        access.limiting.set(limits::read(settings.rate_limits.as_deref())?);
        access.limiting.set_rooms(limits::read_rooms(settings.waiting_rooms.as_deref())?);
        let connections_max = descriptors::connections_max(settings, open_files_max);
        tracing::info!(connections_max, open_files_max, "the ports are open");
        let budget = match settings.engine {
            EngineChoice::Embedded => budget_bytes(settings),
            EngineChoice::Redis => None,
        };
        let places = ConnectionPlaces::new(connections_max, Unread::max_of(budget));
        Ok(Self {
            resp,
            http,
            access,
            encryption: Encryption::start(settings)?.map(Arc::new),
            started_at: Instant::now(),
            slow: settings.slow(),
            unread_max: Duration::from_millis(settings.event_stream_unread_ms),
            keep_alive: Duration::from_millis(settings.http_keep_alive_ms),
            places,
            statuses: Arc::default(),
            push: OnceLock::new(),
            latencies: Arc::default(),
            directory: settings.data.clone(),
            ending: Ending::default(),
            shown,
        })
    }

    /// A local RESP port on a free port number, and nothing else.
    pub(super) fn local(password: String) -> Result<Self, ServeError> {
        Ok(Self {
            resp: bind(SocketAddr::from(([127, 0, 0, 1], 0)))?,
            http: None,
            access: Access::new(Some(password), Vec::new()),
            encryption: None,
            started_at: Instant::now(),
            slow: None,
            unread_max: LOCAL_UNREAD_MAX,
            keep_alive: LOCAL_UNREAD_MAX,
            places: ConnectionPlaces::new(CONNECTIONS_MAX as u64, Unread::max_of(None)),
            statuses: Arc::default(),
            push: OnceLock::new(),
            latencies: Arc::default(),
            directory: PathBuf::new(),
            ending: Ending::default(),
            shown: SettingsShown::default(),
        })
    }

    /// The addresses: RESP, and HTTP if it is enabled.
    pub(super) fn addresses(&self) -> Result<(SocketAddr, Option<SocketAddr>), ServeError> {
        Ok((self.resp.local_addr()?, self.http.as_ref().map(TcpListener::local_addr).transpose()?))
    }

    /// How the ports end.
    pub(super) fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// Who is admitted.
    pub(super) fn access(&self) -> Access {
        self.access.clone()
    }

    /// The certificate, if the ports speak TLS.
    pub(super) fn tls(&self) -> Option<Tls> {
        self.encryption.as_ref().map(|encryption| encryption.tls.clone())
    }

    /// What keeps TLS going.
    pub(super) fn encryption(&self) -> Option<Arc<Encryption>> {
        self.encryption.clone()
    }

    /// Answers callers until it is dropped, while the engine recovers.
    pub(super) fn loading(&self) -> std::io::Result<Loading> {
        Loading::begin(&self.resp, self.http.as_ref(), &self.places, self.tls().as_ref())
    }

    /// Tells callers until it is dropped where the deployment is.
    pub(super) fn elsewhere(&self, address: String) -> std::io::Result<Loading> {
        Loading::elsewhere(&self.resp, self.http.as_ref(), &self.places, self.tls().as_ref(), address)
    }

    /// What the RESP port's threads share.
    pub(super) fn shared(
        &self,
        engine: Arc<dyn Engine>,
        manual_clock: Option<ManualClock>,
    ) -> std::io::Result<Arc<RespShared>> {
        self.access.limiting.sign_with(engine.secret());
        Ok(Arc::new(RespShared {
            access: self.access.at("resp"),
            handshakes: self.encryption.as_ref().and_then(|encryption| encryption.handshakes()),
            push: self.push(&engine),
            latencies: self.latencies.clone(),
            engine,
            manual_clock,
            connection_ids: AtomicU64::new(1),
            connections_open: AtomicU64::new(0),
            places: self.places.clone(),
            statuses: self.statuses.clone(),
            drain: self.ending.resp.clone(),
            snapshot_runs: Arc::default(),
            cuts: Aside::start("cuts", CUTTING_THREADS)?,
            reads: Aside::start("reads", READING_THREADS)?,
            unread_max: self.unread_max,
            started_at: self.started_at,
        }))
    }

    /// The channels that callers of both ports subscribe to.
    pub(super) fn push(&self, engine: &Arc<dyn Engine>) -> Arc<Hub> {
        self.push.get_or_init(|| Hub::new(engine.clone())).clone()
    }

    /// The reactor that serves RESP on one thread.
    pub(super) fn reactor(&self, shared: Arc<RespShared>) -> std::io::Result<Reactor> {
        Reactor::new(self.resp.try_clone()?, shared)
    }

    /// Starts serving HTTP, if it is enabled.
    pub(super) fn serve_http(
        self,
        engine: &Arc<dyn Engine>,
        pipeline: &Pipeline,
        keys: KeyStore,
    ) -> Result<Option<Http>, ServeError> {
        // Only the first pipeline is served.
        let _ = self.statuses.set(pipeline.flows().statuses.clone());
        let (tls, push) = (self.tls(), self.push(engine));
        let Some(listener) = self.http else { return Ok(None) };
        let (flows, places) = (pipeline.flows().clone(), self.places.clone());
        let measured = Measured {
            engine: engine.clone(),
            flows,
            places,
            tls: tls.clone(),
            access: self.access.clone(),
            push: push.clone(),
            latencies: self.latencies.clone(),
            directory: self.directory.clone(),
        };
        let metrics = Metrics::new(measured, self.slow);
        let served = Served {
            engine: engine.clone(),
            push,
            tls,
            access: self.access.at("http"),
            metrics,
            flows: pipeline.flows().clone(),
            settings: self.shown,
            keys: Arc::new(keys),
            places: self.places,
            is_ending: self.ending.is_begun.clone(),
            stream_unread_max: self.unread_max,
            keep_alive: self.keep_alive,
        };
        let http = Http::start(listener, served)?;
        Ok(Some(http))
    }
}

fn listen_http(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let advice = "choose another address with --http, or none with --http off";
    http::bind(address).map_err(|error| ServeError::Listen { address, error, advice })
}
