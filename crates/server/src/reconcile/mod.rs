//! Reconciliations beside the load: one thread compares log, engine and tables now and then, or when it is asked to,
//! and takes no more than its share of a core.

mod sides;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use rustix::process::setpriority_process;
use scarce_engine::Engine;
use scarce_gateway_http::{Cause, Reconciliations, Verdict};
use scarce_reconcile::{Check, ReconcileProgress, RepairReport, Report};
use scarce_settings::ServerSettings;

use sides::Sides;

/// The first one begins so long after the start, or sooner if the interval is shorter: a server that is restarted every
/// day compares, too.
const FIRST_WAIT_MAX: Duration = Duration::from_mins(1);

/// How far other threads are preferred to it.
const NICENESS: i32 = 10;

/// It works so long at a time.
const WORK_AT_ONCE: Duration = Duration::from_millis(10);

/// How long it may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The thread that makes them.
pub(crate) struct Reconciling {
    reconciliations: Reconciliations,
    ended: Receiver<()>,
}

impl Reconciling {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system starts none.
    pub(crate) fn start(
        engine: Arc<dyn Engine>,
        settings: &ServerSettings,
        reconciliations: Reconciliations,
    ) -> std::io::Result<Self> {
        let interval = Duration::from_millis(settings.reconcile);
        let worker = Worker {
            sides: Sides::new(engine, settings),
            reconciliations: reconciliations.clone(),
            interval: Some(interval).filter(|interval| !interval.is_zero()),
            share_percent: u32::try_from(settings.reconcile_share).unwrap_or(100).clamp(1, 100),
        };
        // Dropped by the thread when it ends, which is what the receiver waits for.
        let (running, ended) = bounded(0);
        reconciliations.open();
        std::thread::Builder::new().name("reconcile".to_owned()).spawn(move || {
            worker.run();
            drop::<crossbeam_channel::Sender<()>>(running);
        })?;
        Ok(Self { reconciliations, ended })
    }

    /// Ends the one that runs, and the thread. A database that does not answer is not waited for.
    pub(crate) fn end(self) {
        self.reconciliations.close();
        let _ = self.ended.recv_timeout(ENDS_WITHIN);
    }
}

struct Worker {
    sides: Sides,
    reconciliations: Reconciliations,
    interval: Option<Duration>,
    share_percent: u32,
}

impl Worker {
    fn run(&self) {
        // On Linux this is the thread's own, and that of the threads that it starts.
        if let Err(error) = setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "reconciliations run at the usual priority");
        }
        let mut wait = self.interval.map(|interval| interval.min(FIRST_WAIT_MAX));
        while let Some(cause) = self.reconciliations.next(wait) {
            self.make(cause);
            wait = self.interval;
        }
    }

    fn make(&self, cause: Cause) {
        let begun = Instant::now();
        let id = self.reconciliations.begin(cause);
        tracing::debug!(id, "a reconciliation begins");
        let made = catch_unwind(AssertUnwindSafe(|| self.compare()));
        let took = begun.elapsed();
        let verdict =
            match made.unwrap_or_else(|_| Err("it panicked; please report the log's line".to_owned())) {
                // The server ends.
                Ok(None) => return,
                Ok(Some(report)) => {
                    self.announce(id, &report);
                    tell(id, &report, took)
                }
                Err(reason) => {
                    tracing::warn!(id, took_ms = millis(took), reason, "a reconciliation could not compare");
                    Verdict::Failed { reason }
                }
            };
        self.reconciliations.end(verdict, took);
    }

    /// Tells endpoints of webhooks. What fails is made up for by the next reconciliation.
    fn announce(&self, id: u64, report: &Report) {
        match catch_unwind(AssertUnwindSafe(|| self.sides.announce(id, report))) {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(endpoints)) => {
                tracing::info!(id, endpoints, "endpoints are told how the reconciliation ended");
            }
            Ok(Err(reason)) => {
                tracing::warn!(id, reason, "endpoints cannot be told how the reconciliation ended");
            }
        }
    }

    fn compare(&self) -> Result<Option<Report>, String> {
        let mut pace = Pace {
            reconciliations: &self.reconciliations,
            share_percent: self.share_percent,
            since: Instant::now(),
        };
        self.sides.compare(&mut |progress| pace.go_on(progress))
    }
}

/// Says in the log how one ended; without what differs, which is data of callers.
fn tell(id: u64, report: &Report, took: Duration) -> Verdict {
    let (differences, took_ms) = (report.differences(), millis(took));
    if let Some(RepairReport { is_done, rows, refused }) = &report.repair {
        let count = rows.added + rows.changed + rows.removed;
        match refused {
            Some(reason) => tracing::warn!(id, reason, "no row of the tables is put right"),
            None if *is_done && count > 0 => {
                tracing::warn!(id, rows = count, "rows of the tables were put right");
            }
            None if count > 0 => tracing::warn!(id, rows = count, "rows of the tables would be put right"),
            None => {}
        }
    }
    let names = |is_wanted: fn(&Check) -> bool| {
        let names = report.checks.iter().filter(|check| is_wanted(check)).map(|check| check.kind.word());
        names.collect::<Vec<_>>().join(",")
    };
    if differences == 0 {
        let checks = names(|check| check.compared > 0);
        tracing::info!(id, took_ms, checks, "a reconciliation found no difference");
    } else {
        let checks = names(|check| check.differences > 0);
        tracing::error!(
            id,
            took_ms,
            differences,
            checks,
            "a reconciliation found differences; GET /v1/reconciliations names them"
        );
    }
    Verdict::Compared { differences, report: report.json() }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Rests between pieces of work, so that only a share of a core is taken.
struct Pace<'p> {
    reconciliations: &'p Reconciliations,
    share_percent: u32,
    /// When the work since the last rest began.
    since: Instant,
}

impl Pace<'_> {
    fn go_on(&mut self, progress: ReconcileProgress) -> bool {
        let worked = self.since.elapsed();
        if worked < WORK_AT_ONCE {
            return true;
        }
        self.reconciliations.note(progress.doing, progress.partition, progress.done);
        let rest = worked * (100 - self.share_percent) / self.share_percent;
        let goes_on = self.reconciliations.rest(rest);
        self.since = Instant::now();
        goes_on
    }
}
