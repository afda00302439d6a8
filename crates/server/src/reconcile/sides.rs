//! What a server compares: its own engine and log, and the tables that its settings name.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use scarce_core::machine::Machine;
use scarce_delivery::{DatabaseError, Delivery, DeliveryError, DeliveryOptions};
use scarce_engine::{Engine, Image};
use scarce_outflow::LogCopy;
use scarce_projection::{Projection, ProjectionOptions};
use scarce_reconcile::{
    FilesLog, LogSource, Mending, MirrorSide, Options, ReconcileError, ReconcileProgress, Report, Served,
    Sources, Take, reconcile,
};
use scarce_settings::{EngineChoice, RepairLevel, ServerSettings};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::pipeline::kafka::event_copy;
use crate::pipeline::mirror_of;

/// Differences of each check that a kept report lists; all are counted.
const LISTED_MAX: usize = 100;

/// How long to wait for tables that are behind the log.
const WAIT_FOR_TABLES: Duration = Duration::from_secs(10);

/// From this share of the memory budget on no partition's state is made a second time, in percent. Above it the engine
/// would refuse new records for it.
const MEMORY_PERCENT_MAX: u64 = 85;

/// The sides, which are opened for each comparison.
pub(super) struct Sides {
    engine: Arc<dyn Engine>,
    sql: Option<String>,
    /// The data directory, if the log is there.
    data: Option<PathBuf>,
    settings: ServerSettings,
}

impl Sides {
    pub(super) fn new(engine: Arc<dyn Engine>, settings: &ServerSettings) -> Self {
        let data = match settings.engine {
            EngineChoice::Embedded => Some(settings.data.clone()),
            EngineChoice::Redis => None,
        };
        Self { engine, sql: settings.sql_url(), data, settings: settings.clone() }
    }

    /// Compares them; `None` if it was stopped.
    pub(super) fn compare(
        &self,
        on_progress: &mut dyn FnMut(ReconcileProgress) -> bool,
    ) -> Result<Option<Report>, String> {
        self.check_memory()?;
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(1).thread_name("reconcile").enable_all();
        let runtime = runtime.build().map_err(|error| told(&error))?;
        let tables = self.open_tables(&runtime);
        let (tables, settlements) = tables.map_err(|error| told(&*error))?;
        let both = (tables.as_ref(), settlements.as_ref());
        let mut report = self.compare_with(&runtime, both, true, on_progress);
        if let Ok(Some(Report { repair: Some(repair), .. })) = &report
            && repair.is_done
        {
            // What is said in the end is how it is now.
            let repair = Some(repair.clone());
            let again = self.compare_with(&runtime, both, false, on_progress);
            report = again.map(|again| again.map(|again| Report { repair, ..again }));
        }
        runtime.block_on(async {
            if let Some(tables) = tables {
                tables.close().await;
            }
            if let Some(settlements) = settlements {
                settlements.close().await;
            }
        });
        runtime.shutdown_background();
        report
    }

    /// Tells endpoints of webhooks how a reconciliation ended, those that were told otherwise last; returns how many.
    pub(super) fn announce(&self, id: u64, report: &Report) -> Result<u64, String> {
        let Some(url) = self.sql.as_ref().filter(|_| self.settings.webhooks) else { return Ok(0) };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| told(&error))?;
        let checks = report.checks.iter().map(|check| {
            json!({ "check": check.kind.word(), "state": check.state.word(), "differences": check.differences })
        });
        // What differs is data of callers: who wants to see it asks for the report.
        let data = json!({
            "deployment_id": report.deployment_id,
            "reconciliation": id,
            "differences": report.differences(),
            "checks": checks.collect::<Vec<_>>(),
        });
        runtime.block_on(async {
            let options = DeliveryOptions::default();
            let opened = Delivery::open_existing(url, self.engine.deployment_id(), options).await;
            let delivery = opened.map_err(|error| told(&error))?;
            let written = delivery.announce_reconciliation(id, report.differences(), &data).await;
            delivery.close().await;
            written.map_err(|error| told(&error))
        })
    }

    fn compare_with(
        &self,
        runtime: &Runtime,
        (tables, settlements): (Option<&Projection>, Option<&Delivery>),
        mends: bool,
        on_progress: &mut dyn FnMut(ReconcileProgress) -> bool,
    ) -> Result<Option<Report>, String> {
        let mut engine = Served::new(self.engine.clone());
        let mut log: Box<dyn LogSource> = match &self.data {
            Some(data) => {
                let files = FilesLog::open(data, true).map_err(|error| told(&error))?;
                Box::new(OwnLog { files, served: engine.clone() })
            }
            None => Box::new(engine.clone()),
        };
        let copy = event_copy(&self.settings, self.engine.deployment_id());
        let mut copy = copy.map_err(|error| told(&error))?;
        let mirror = mirror_of(&*self.engine, &self.settings).map_err(|error| told(&error))?;
        let mended = if mends { self.open_to_mend(runtime, tables)? } else { None };
        let commits = self.settings.reconcile_repair == RepairLevel::Repair;
        let sources = Sources {
            log: &mut *log,
            engine: Some(&mut engine),
            tables,
            settlements,
            mirror: mirror.as_ref().map(|mirror| MirrorSide { mirror, repairs: None }),
            copy: copy.as_mut().map(|copy| &mut **copy as &mut dyn LogCopy),
            mending: mended.as_ref().map(|tables| Mending { tables, commits }),
        };
        let options = Options { limit: LISTED_MAX, wait: WAIT_FOR_TABLES };
        let report = match reconcile(runtime.handle(), sources, options, on_progress) {
            Ok(report) => Ok(Some(report)),
            Err(ReconcileError::Stopped) => Ok(None),
            Err(error) => Err(told(&error)),
        };
        if let Some(mended) = mended {
            runtime.block_on(mended.close());
        }
        report
    }

    /// The tables, read only, over connections of their own.
    fn open_tables(
        &self,
        runtime: &Runtime,
    ) -> Result<(Option<Projection>, Option<Delivery>), Box<dyn Error>> {
        let Some(url) = &self.sql else { return Ok((None, None)) };
        let tables = runtime.block_on(Projection::open_read_only(url, ProjectionOptions::default()))?;
        let settlements = Delivery::open_read_only(url, DeliveryOptions::default());
        let settlements = match runtime.block_on(settlements) {
            // A server that settles nothing has no such tables.
            Err(DeliveryError::Database(DatabaseError::NoTables { .. })) => None,
            settlements => Some(settlements?),
        };
        Ok((Some(tables), settlements))
    }

    /// The tables once more, where their rows are to be put right, or that is to be tried.
    fn open_to_mend(
        &self,
        runtime: &Runtime,
        tables: Option<&Projection>,
    ) -> Result<Option<Projection>, String> {
        let url = self.sql.as_ref().filter(|_| self.settings.reconcile_repair != RepairLevel::Alarm);
        let (Some(url), Some(tables)) = (url, tables) else { return Ok(None) };
        let opening = Projection::open_existing(url, tables.deployment_id(), ProjectionOptions::default());
        runtime.block_on(opening).map(Some).map_err(|error| told(&error))
    }

    /// The state of one partition is made a second time.
    fn check_memory(&self) -> Result<(), String> {
        let Some(levels) = self.engine.memory().filter(|levels| levels.max_bytes > 0) else { return Ok(()) };
        let needed = levels.needed_bytes().saturating_add(levels.second_state_bytes);
        let allowed = levels.max_bytes / 100 * MEMORY_PERCENT_MAX;
        if needed <= allowed {
            return Ok(());
        }
        let [needed, allowed] = [needed, allowed].map(|bytes| bytes >> 20);
        Err(format!(
            "to make the state of a partition a second time would take {needed} MiB of memory in all, and {allowed} MiB \
             are allowed; raise --memory-max, or run 'scarce reconcile' where there is more memory"
        ))
    }
}

/// An error with its causes.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// The log of the engine in this process: read by it, and begun with the oldest snapshot of its files.
struct OwnLog {
    files: FilesLog,
    served: Served,
}

impl LogSource for OwnLog {
    fn partitions(&self) -> u32 {
        self.served.partitions()
    }

    fn deployment_id(&self) -> &str {
        self.files.deployment_id()
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        self.files.base(partition)
    }

    fn base_image(&mut self, partition: u32) -> Result<Box<dyn Image>, ReconcileError> {
        self.files.base_image(partition)
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        self.served.read(partition, from, take)
    }

    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError> {
        self.served.end(partition)
    }
}
