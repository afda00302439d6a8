//! What is compared, by the settings of the server.

use scarce_client::Info;
use scarce_delivery::{DatabaseError, Delivery, DeliveryError, DeliveryOptions};
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_mirror::Mirror;
use scarce_projection::{Projection, ProjectionOptions};
use scarce_reconcile::{
    EngineSource, FilesLog, LogCopy, LogSource, Mending, MirrorSide, ReconcileError, Served, Sources,
};
use scarce_server::pipeline::{SQL, kafka::event_copy};
use scarce_settings::{EngineChoice, ServerSettings};
use tokio::runtime::Runtime;

use super::logs::{ends_by, redis_engine};
use super::port::Port;
use crate::call::connect_to;
use crate::{Exit, Failed};

/// The sides, opened.
pub(super) struct Opened {
    log: Box<dyn LogSource>,
    engine: Option<Box<dyn EngineSource>>,
    tables: Option<Projection>,
    settlements: Option<Delivery>,
    copy: Option<Box<dyn LogCopy>>,
    mirror: Option<Mirror>,
    /// The tables once more, where they are to be put right.
    mended: Option<Projection>,
    /// Keeps servers away from the data.
    lock: Option<DirectoryLock>,
    /// Who projects the log, as far as that is known.
    served_by: Option<String>,
    /// What one should know before.
    pub(super) notes: Vec<String>,
}

impl Opened {
    fn of(log: Box<dyn LogSource>) -> Self {
        Self {
            log,
            engine: None,
            tables: None,
            settlements: None,
            copy: None,
            mirror: None,
            mended: None,
            lock: None,
            served_by: None,
            notes: Vec::new(),
        }
    }

    /// The log alone.
    pub(super) fn log(&mut self) -> &mut dyn LogSource {
        &mut *self.log
    }

    /// Where data is only read, a server may begin to use it.
    pub(super) fn let_servers_start(&mut self) {
        self.lock = None;
    }

    /// The sides; their rows are put right, or that is tried, where it is said whether it is done.
    pub(super) fn sources(&mut self, commits: Option<bool>) -> Sources<'_> {
        let mended = self.mended.as_ref().zip(commits);
        Sources {
            mending: mended.map(|(tables, commits)| Mending { tables, commits }),
            log: &mut *self.log,
            engine: self.engine.as_mut().map(|engine| &mut **engine as &mut dyn EngineSource),
            tables: self.tables.as_ref(),
            settlements: self.settlements.as_ref(),
            mirror: self.mirror.as_ref().map(|mirror| MirrorSide { mirror, repairs: commits }),
            copy: self.copy.as_mut().map(|copy| &mut **copy as &mut dyn LogCopy),
        }
    }
}

/// Opens the tables so that their rows can be put right. No consumer may write to them: it would keep wrong rows in memory.
pub(super) fn open_to_mend(
    settings: &ServerSettings,
    runtime: &Runtime,
    opened: &mut Opened,
) -> Result<(), Failed> {
    if settings.sql_url().is_none() && opened.mirror.is_some() {
        // A mirror is written together with its position: who writes it meanwhile is noticed.
        return Ok(());
    }
    let (Some(url), Some(tables)) = (settings.sql_url(), &opened.tables) else {
        return Err(Failed::text(
            Exit::Usage,
            "no database and no mirror is named whose rows could be put right; see --sql and --mirror",
        ));
    };
    if let Some(who) = &opened.served_by {
        let text =
            format!("{who} projects the log and keeps rows in memory; stop it, then put its tables right");
        return Err(Failed::text(Exit::Usage, text));
    }
    let options = ProjectionOptions::default();
    let mended = Projection::open_existing(&url, tables.deployment_id(), options);
    opened.mended = Some(runtime.block_on(mended)?);
    Ok(())
}

/// Opens what the settings name; nothing is created.
pub(super) fn open(settings: &ServerSettings, runtime: &Runtime) -> Result<Opened, Failed> {
    let mut opened = match settings.engine {
        EngineChoice::Embedded => embedded(settings)?,
        EngineChoice::Redis => redis(settings)?,
    };
    opened.copy = event_copy(settings, opened.log.deployment_id())?;
    if let Some(redis) = settings.mirror_redis().map_err(|error| Failed::text(Exit::Usage, error))? {
        let (partitions, id) = (opened.log.partitions(), opened.log.deployment_id());
        opened.mirror = Some(Mirror::new(&redis, partitions, id)?);
    }
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
    let lock = DirectoryLock::share(&settings.data);
    let is_served = matches!(&lock, Err(LockError::Held { .. }));
    let log = FilesLog::open(&settings.data, is_served).map_err(|error| Failed::new(Exit::Failed, &error))?;
    let mut opened = Opened::of(Box::new(log));
    opened.lock = lock.ok().flatten();
    if !is_served {
        let text = "no server runs on this data, so that no engine is compared; 'scarce journal verify' compares the \
                    snapshots with the log";
        opened.notes.push(text.to_owned());
        return Ok(opened);
    }
    let (port, info) = (Port::new(connect_to(settings)?)?, Info::ask(&mut connect_to(settings)?)?);
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
    opened.served_by = Some(format!("the server on {}", settings.data.display()));
    opened.log = Box::new(log.with_ends(ends_by(connect_to(settings)?)));
    opened.engine = Some(Box::new(port));
    Ok(opened)
}

fn redis(settings: &ServerSettings) -> Result<Opened, Failed> {
    let engine = redis_engine(settings)?;
    let served = Served::new(engine.clone());
    let mut opened = Opened::of(Box::new(served.clone()));
    opened.engine = Some(Box::new(served));
    for partition in 0..engine.partitions() {
        let consumers = engine.consumers(partition).map_err(ReconcileError::from)?;
        let projects = consumers.into_iter().find(|its| its.name.as_str() == SQL);
        opened.served_by = opened.served_by.or(projects.and_then(|its| its.holder));
    }
    Ok(opened)
}
