//! A running server, put together from its settings:
//!
//! ```text
//! settings ─▶ PORTS, opened first, so that an address in use is told at once
//!               │ resp                                │ http
//!               ▼                                     ▼
//!            ENGINE embedded: serves RESP on the threads of its owners
//!            ENGINE redis:    RESP on a thread of its own, in front of a Redis
//!               │ log
//!               ▼
//!            PIPELINE: tables, topics, webhooks, settlement
//!               │ log, tables
//!               ▼
//!            RECONCILING: compares all of them, now and then
//! ```

pub mod audit;
pub mod descriptors;
mod elsewhere;
mod embedded;
mod encryption;
mod ending;
mod error;
mod inside;
mod limits;
mod loading;
pub mod machine;
pub mod memory;
mod ports;
mod redis;
pub mod remembered;
mod rooms;
mod shipping;
mod watch;

pub use elsewhere::Elsewhere;
pub use encryption::tls_files;
pub use ending::Stopper;
pub use error::ServeError;
pub use inside::Inside;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use scarce_audit::{Kind, Record, Who};
use scarce_core::state;
use scarce_engine::Engine;
use scarce_engine::clock::ManualClock;
use scarce_engine::stop::Stop;
use scarce_engine_embedded::{Embedded, RecoveryProgress};
use scarce_gateway::{Access, Tls, now_ms};
pub use scarce_gateway_http::SettingsShown;
use scarce_push::Hub;
use scarce_settings::{EngineChoice, ServerSettings};

use crate::keys::{KeyStore, KeyWatch};
use crate::pipeline::Pipeline;
use crate::reconcile::Reconciling;
use crate::relocation::{Arrival, Departure};
use encryption::Encryption;
use ending::Ending;
use ports::Ports;
pub(crate) use rooms::ROOMS_FILE;
use rooms::RoomKeeper;
use shipping::Shipping;
use watch::ReadyWatch;

/// Options of a start besides the settings.
#[derive(Clone, Default)]
pub struct Options {
    /// The operator says that the system's clock is right, whether it is ahead of the log's last timestamp or behind it.
    pub accept_clock: bool,
    /// The operator says that the deployment in Redis is right, although it is new or not the one that was served before.
    pub accept_deployment: bool,
    /// The operator says that settings which all servers of a deployment in Redis must have alike are changed for all.
    pub accept_settings: bool,
    /// The source of time in place of the system's clock.
    pub manual_clock: Option<ManualClock>,
    /// Settings that outcomes depend on, such as `step_max=2`.
    pub sets: Vec<String>,
    /// The settings, as the HTTP port shows them.
    pub shown: SettingsShown,
}

/// A deployment that another server serves until it is handed over.
pub struct TakeOver {
    /// The copy that follows.
    pub arrival: Arrival,
    /// What callers of the other server are told; otherwise the address of the RESP port.
    pub address: Option<String>,
}

/// Where a deployment's state comes from.
enum StartFrom<'a> {
    /// From its files; the function receives the progress of the recovery.
    Files(&'a mut dyn FnMut(RecoveryProgress)),
    /// From another server.
    Served(Box<TakeOver>),
}

/// A running engine that serves RESP.
struct Started {
    engine: Arc<dyn Engine>,
    /// The same, if it keeps its log in files here.
    embedded: Option<Arc<Embedded>>,
    stop: Stop,
    /// Waits until it ends.
    join: Box<dyn FnOnce() -> Result<(), ServeError>>,
    /// The location of the state.
    state_at: String,
    warnings: Vec<String>,
}

/// A running server.
pub struct Server {
    started: Started,
    pipeline: Arc<Pipeline>,
    ending: Ending,
    grace: Duration,
    access: Access,
    encryption: Option<Arc<Encryption>>,
    watch: ReadyWatch,
    key_watch: KeyWatch,
    rooms: RoomKeeper,
    reconciling: Reconciling,
    shipping: Option<Shipping>,
    departure: Option<Departure>,
    push: Arc<Hub>,
    resp_address: SocketAddr,
    http_address: Option<SocketAddr>,
}

impl Server {
    /// Starts everything that the settings ask for; `progress` receives the progress of a recovery.
    ///
    /// # Errors
    /// When a port, the engine or part of the pipeline cannot be started.
    pub fn start(
        settings: &ServerSettings,
        options: &Options,
        progress: &mut dyn FnMut(RecoveryProgress),
    ) -> Result<Self, ServeError> {
        Self::start_from(settings, options, StartFrom::Files(progress))
    }

    /// Starts with a deployment that another server serves until this one's ports are open.
    ///
    /// # Errors
    /// As [`Server::start`], and when the deployment does not arrive: the other server goes on then.
    pub fn take_over(
        settings: &ServerSettings,
        options: &Options,
        take_over: TakeOver,
    ) -> Result<Self, ServeError> {
        Self::start_from(settings, options, StartFrom::Served(Box::new(take_over)))
    }

    fn start_from(
        settings: &ServerSettings,
        options: &Options,
        from: StartFrom<'_>,
    ) -> Result<Self, ServeError> {
        let keys = KeyStore::of(settings)?;
        // Where only keys protect a port, they are read before it is opened.
        let ring = settings.exposed().is_some().then(|| keys.load()).transpose()?;
        check_exposed(settings, ring.as_ref().is_some_and(|ring| !ring.is_empty()))?;
        let ports = Ports::open(settings, options.shown.clone())?;
        let access = ports.access();
        let admit = || -> Result<(), ServeError> {
            access.set_keys(keys.load()?, now_ms());
            Ok(())
        };
        let (resp_address, http_address) = ports.addresses()?;
        let state = state_settings(settings, options)?;
        let started = match settings.engine {
            EngineChoice::Embedded => {
                admit()?;
                let started = embedded::start(settings, options, &ports, state, from)?;
                // Those that came along with a deployment from elsewhere.
                admit()?;
                started
            }
            EngineChoice::Redis => {
                let known = remembered::known(settings, options.accept_deployment)?;
                let mut started = redis::start(settings, options, known, &ports, state, admit)?;
                started.warnings.extend(remembered::remember(settings, started.engine.deployment_id()));
                started
            }
        };
        let pipeline = Arc::new(Pipeline::start(&started.engine, settings, &access.limiting)?);
        let (ending, encryption) = (ports.ending(), ports.encryption());
        let push = ports.push(&started.engine);
        *ending.http.lock().unwrap_or_else(PoisonError::into_inner) =
            ports.serve_http(&started.engine, &pipeline, KeyStore::of(settings)?)?;
        let grace = Duration::from_millis(settings.drain_ms);
        let key_watch = KeyWatch::start(keys, access.clone())?;
        let watch = ReadyWatch::start(started.engine.clone())?;
        let rooms = RoomKeeper::start(settings, access.limiting.clone())?;
        let reconciliations = pipeline.flows().reconciliations.clone();
        let reconciling = Reconciling::start(started.engine.clone(), settings, reconciliations)?;
        let shipping = Shipping::start(settings, started.embedded.as_ref(), pipeline.flows().backup.clone())?;
        let departure = match &started.embedded {
            Some(engine) => Departure::start(&settings.data, engine, &pipeline)?,
            None => None,
        };
        Ok(Self {
            started,
            pipeline,
            ending,
            grace,
            access,
            encryption,
            watch,
            key_watch,
            rooms,
            reconciling,
            shipping,
            departure,
            push,
            resp_address,
            http_address,
        })
    }

    /// The address of the RESP port.
    #[must_use]
    pub const fn resp_address(&self) -> SocketAddr {
        self.resp_address
    }

    /// The address of the HTTP port, if there is one.
    #[must_use]
    pub const fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }

    /// The location of the state, in words.
    #[must_use]
    pub fn state_at(&self) -> &str {
        &self.started.state_at
    }

    /// Settings that are likely mistakes.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.started.warnings
    }

    /// A handle to stop it from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        let (ending, grace) = (self.ending.clone(), self.grace);
        Stopper { ending, grace, pipeline: self.pipeline.clone(), stop: self.started.stop.clone() }
    }

    /// A handle to apply other settings to it from another thread.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        let tls = self.encryption.as_ref().map(|encryption| encryption.tls.clone());
        Reloader { access: self.access.clone(), tls }
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// When the engine or its port failed.
    pub fn join(self) -> Result<(), ServeError> {
        let ended = (self.started.join)();
        if let Some(departure) = self.departure {
            departure.end();
        }
        self.watch.end();
        self.key_watch.end();
        self.rooms.end();
        self.reconciling.end();
        self.ending.end_http();
        self.push.end();
        self.pipeline.stop();
        if let Some(shipping) = self.shipping {
            shipping.end();
        }
        self.access.audit.end();
        ended
    }
}

/// Applies settings to a running server.
pub struct Reloader {
    access: Access,
    tls: Option<Tls>,
}

impl Reloader {
    /// Records in the audit log that the settings were read again, and what of them is in effect.
    pub fn note(&self, outcome: &str, detail: &str) {
        let record = Record::new(Kind::Act, Who::Server, "server", "reload", outcome);
        self.access.audit.note(record.with_detail(detail));
    }

    /// Applies what can change while the server runs, and names it.
    ///
    /// # Errors
    /// When the settings would expose the server, or its certificate cannot be used; then nothing is changed.
    pub fn apply(&self, settings: &ServerSettings) -> Result<Vec<&'static str>, ServeError> {
        check_exposed(settings, self.access.keys.are_there())?;
        let limits = limits::read(settings.rate_limits.as_deref())?;
        let rooms = limits::read_rooms(settings.waiting_rooms.as_deref())?;
        let has_new_certificate = self.tls.as_ref().map(Tls::reload).transpose()?.unwrap_or_default();
        let password = settings.password.as_ref().map(|password| password.reveal().to_owned());
        let has_new_password = self.access.set_password(password);
        let has_new_limits = self.access.limiting.set(limits);
        let has_new_rooms = self.access.limiting.set_rooms(rooms);
        let applied = [
            ("password", has_new_password),
            ("tls_cert", has_new_certificate),
            ("rate_limits", has_new_limits),
            ("waiting_rooms", has_new_rooms),
        ];
        Ok(applied.into_iter().filter_map(|(key, is_new)| is_new.then_some(key)).collect())
    }
}

/// Refuses a port that can be reached from outside if nothing protects it: keys do, in place of a password, but not against
/// a password that is soon guessed.
fn check_exposed(settings: &ServerSettings, has_keys: bool) -> Result<(), ServeError> {
    match settings.exposed() {
        Some(exposed) if settings.password.is_some() || !has_keys => Err(ServeError::Exposed(exposed)),
        _ => Ok(()),
    }
}

/// The settings that outcomes depend on.
///
/// # Errors
/// When one of the options is invalid.
pub fn state_settings(
    settings: &ServerSettings,
    options: &Options,
) -> Result<state::StateSettings, ServeError> {
    let usual = match settings.engine {
        EngineChoice::Embedded => state::StateSettings::default(),
        EngineChoice::Redis => scarce_engine_redis::default_state(),
    };
    let mut state = state::StateSettings {
        operations_max: memory::operations_max(settings),
        receipt_retention_ms: settings.receipt_retention_ms,
        ulid_times: settings.ulid_times,
        ..usual
    };
    for set in &options.sets {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        state.set(name, value).map_err(|reason| ServeError::Set { set: set.clone(), reason })?;
    }
    Ok(state)
}
