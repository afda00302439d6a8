//! What is compared, by the settings of the server.

use scarce_client::{Client, Info};
use scarce_delivery::{DatabaseError, Delivery, DeliveryError, DeliveryOptions};
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_engine_redis::{RedisEngine, RedisSettings, inspect};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_reconcile::{EngineSource, FilesLog, LogSource, ReconcileError, Served, Sources};
use scarce_settings::{EngineChoice, Password, ServerSettings};
use tokio::runtime::Runtime;

use super::port::Port;
use crate::{Exit, Failed};

/// The sides, opened.
pub(super) struct Opened {
    log: Box<dyn LogSource>,
    engine: Option<Box<dyn EngineSource>>,
    tables: Option<Projection>,
    settlements: Option<Delivery>,
    /// What one should know before.
    pub(super) notes: Vec<String>,
}

impl Opened {
    pub(super) fn sources(&mut self) -> Sources<'_> {
        Sources {
            log: &mut *self.log,
            engine: self.engine.as_mut().map(|engine| &mut **engine as &mut dyn EngineSource),
            tables: self.tables.as_ref(),
            mending: None,
            settlements: self.settlements.as_ref(),
        }
    }
}

/// Opens what the settings name; nothing is created.
pub(super) fn open(settings: &ServerSettings, runtime: &Runtime) -> Result<Opened, Failed> {
    let mut opened = match settings.engine {
        EngineChoice::Embedded => embedded(settings)?,
        EngineChoice::Redis => redis(settings)?,
    };
    let Some(url) = settings.sql_url() else {
        opened.notes.push("no database is named, so that no tables are compared; see --sql".to_owned());
        return Ok(opened);
    };
    let options = ProjectionOptions::default();
    opened.tables = Some(runtime.block_on(Projection::open_read_only(&url, options))?);
    let settlements = Delivery::open_read_only(&url, DeliveryOptions::default());
    opened.settlements = match runtime.block_on(settlements) {
        // A server that settles nothing has no such tables.
        Err(DeliveryError::Database(DatabaseError::NoTables { .. })) => None,
        settlements => Some(settlements?),
    };
    Ok(opened)
}

fn embedded(settings: &ServerSettings) -> Result<Opened, Failed> {
    let is_served = matches!(DirectoryLock::share(&settings.data), Err(LockError::Held { .. }));
    let log = FilesLog::open(&settings.data, is_served).map_err(|error| Failed::new(Exit::Failed, &error))?;
    let mut opened =
        Opened { log: Box::new(log), engine: None, tables: None, settlements: None, notes: Vec::new() };
    if !is_served {
        let text = "no server runs on this data, so that no engine is compared; 'scarce journal verify' compares the \
                    snapshots with the log";
        opened.notes.push(text.to_owned());
        return Ok(opened);
    }
    let (port, info) = (Port::new(connect(settings)?)?, Info::ask(&mut connect(settings)?)?);
    let mut client = connect(settings)?;
    let ends = move |partition| {
        let info =
            Info::ask(&mut client).map_err(|error| ReconcileError::Unanswered { what: error.to_string() })?;
        Ok(info.partitions.get(&partition).and_then(|extent| extent.last))
    };
    let log = FilesLog::open(&settings.data, true).map_err(|error| Failed::new(Exit::Failed, &error))?;
    if info.deployment_id != log.deployment_id() {
        let text = format!(
            "a server runs on {}, and the one at {} is another: it has deployment {}; name its address with --resp",
            settings.data.display(),
            settings.resp,
            info.deployment_id
        );
        return Err(Failed::text(Exit::Usage, text));
    }
    opened.log = Box::new(log.with_ends(Box::new(ends)));
    opened.engine = Some(Box::new(port));
    Ok(opened)
}

fn connect(settings: &ServerSettings) -> Result<Client, Failed> {
    let password = settings.password.as_ref().map(Password::reveal);
    Ok(Client::connect(&settings.resp.to_string(), password)?)
}

fn redis(settings: &ServerSettings) -> Result<Opened, Failed> {
    let settings = settings.redis().map_err(|error| Failed::text(Exit::Usage, error))?;
    let settings = RedisSettings { sweeps: false, ..settings };
    // To open an engine creates a deployment where there is none.
    if inspect::inspect(&settings)?.deployment.is_none() {
        let text =
            format!("there is no deployment behind '{}' in this Redis; see --redis-prefix", settings.prefix);
        return Err(Failed::text(Exit::Usage, text));
    }
    let served = Served::new(std::sync::Arc::new(RedisEngine::open(settings)?));
    Ok(Opened {
        log: Box::new(served.clone()),
        engine: Some(Box::new(served)),
        tables: None,
        settlements: None,
        notes: Vec::new(),
    })
}
