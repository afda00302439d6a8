//! A partition of the engine: its lane, and what sweeps it.

use std::sync::Arc;
use std::time::Duration;

use scarce_engine::slow::SlowLog;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Sender, channel};

use super::caller::Caller;
use super::clock::ClockBound;
use super::connection::Link;
use super::consumers::Consumers;
use super::deployment::DeploymentGuard;
use super::image::Imager;
use super::keys::Keys;
use super::lane::{Lane, Mail, REQUESTS_MAX};
use super::locked::LockedIds;
use super::moved::MovedIds;
use super::nodes::{Nodes, Traffic};
use super::reader::Watchers;
use super::settings::RedisSettings;
use super::status::PartitionStatus;
use super::sweep::Sweeper;
use super::trim::Trimmer;
use super::waits::Waits;
use super::wholeness::{Glance, Verifier};

/// What every partition is started with.
pub(super) struct PartitionContext<'a> {
    pub(super) settings: &'a RedisSettings,
    /// The deployment that the partitions are of.
    pub(super) deployment: &'a Arc<str>,
    pub(super) guard: &'a Arc<DeploymentGuard>,
    /// The IDs that came with a move.
    pub(super) moved: Option<Arc<MovedIds>>,
    /// How far the servers' clocks may be ahead besides, as the operator says.
    pub(super) lead: Duration,
    pub(super) nodes: &'a Arc<Nodes>,
    pub(super) caller: &'a Caller,
    pub(super) glance: &'a Glance,
    pub(super) consumers: &'a Consumers,
    pub(super) waits: &'a Arc<Waits>,
    pub(super) runtime: &'a Runtime,
    /// Dropped by each lane when it ends.
    pub(super) ended: crossbeam_channel::Sender<()>,
}

impl PartitionContext<'_> {
    fn verifier(&self, keys: &Keys, status: &Arc<PartitionStatus>) -> Arc<Verifier> {
        Arc::new(Verifier {
            keys: keys.clone(),
            settings: self.settings.state.clone(),
            deployment: Arc::clone(self.deployment),
            guard: Arc::clone(self.guard),
            caller: self.caller.clone(),
            glance: self.glance.clone(),
            link: Link::new(Arc::clone(self.nodes), keys.slot(), Traffic::Reads),
            status: Arc::clone(status),
        })
    }

    fn imager(&self, number: u32, keys: &Keys, status: &Arc<PartitionStatus>) -> Arc<Imager> {
        Arc::new(Imager {
            partition: number,
            keys: keys.clone(),
            settings: self.settings.state.clone(),
            deployment: Arc::clone(self.deployment),
            caller: self.caller.clone(),
            reading: Link::new(Arc::clone(self.nodes), keys.slot(), Traffic::Reads),
            status: Arc::clone(status),
            turn: tokio::sync::Mutex::default(),
            places: Imager::places(),
        })
    }
}

/// A partition that is served.
pub(super) struct Partition {
    pub(super) keys: Keys,
    pub(super) inbox: Sender<Mail>,
    pub(super) status: Arc<PartitionStatus>,
    pub(super) imager: Arc<Imager>,
    pub(super) watchers: Arc<Watchers>,
}

impl Partition {
    /// Starts its lane, and its sweeper unless the clock is a test's or the process only reads.
    pub(super) fn start(number: u32, context: &PartitionContext<'_>) -> Self {
        let PartitionContext { settings, lead, nodes, caller, consumers, waits, runtime, ended, .. } =
            context;
        let keys = Keys::new(&settings.prefix, number, settings.partitions);
        let status = Arc::new(PartitionStatus::new(settings.outflow_lag_max));
        let link = |traffic| Link::new(Arc::clone(nodes), keys.slot(), traffic);
        let verifier = context.verifier(&keys, &status);
        let imager = context.imager(number, &keys, &status);
        let lane = Lane {
            partition: number,
            keys: keys.clone(),
            settings: settings.state.clone(),
            moved: context.moved.clone(),
            clock: match &settings.clock {
                Some(clock) => Box::new(clock.clone()),
                None => Box::new(ClockBound::new(settings, *lead)),
            },
            link: link(Traffic::Calls),
            reading: link(Traffic::Reads),
            imager: Arc::clone(&imager),
            verifier: Arc::clone(&verifier),
            caller: (*caller).clone(),
            durability: settings.durability,
            waits: Arc::clone(waits),
            is_full: false,
            requests_max: REQUESTS_MAX,
            slow: SlowLog::above(settings.slow),
            unmended: None,
            serves_reads: true,
            status: Arc::clone(&status),
        };
        let (inbox, outlet) = channel(settings.inbox_batches_max.max(1));
        let ended = ended.clone();
        runtime.spawn(async move {
            lane.run(outlet).await;
            drop(ended);
        });
        if settings.clock.is_none() && settings.sweeps {
            let sweeper = Sweeper {
                link: link(Traffic::Reads),
                keys: keys.clone(),
                settings: settings.state.clone(),
                status: Arc::clone(&status),
                verifier,
                inbox: inbox.downgrade(),
                trimmer: Trimmer::new((*consumers).clone(), settings.log_retention),
                clock: ClockBound::new(settings, *lead),
                locked: LockedIds::default(),
                pieces_before: 0,
            };
            runtime.spawn(sweeper.run());
        }
        Self { keys, inbox, status, imager, watchers: Arc::default() }
    }
}
