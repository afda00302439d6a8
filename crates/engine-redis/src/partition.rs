//! A partition of the engine: its lane, and what sweeps it.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Sender, channel};

use super::caller::Caller;
use super::connection::Link;
use super::keys::Keys;
use super::lane::{Lane, Mail, Shared};
use super::nodes::{Nodes, Traffic};
use super::reader::Watchers;
use super::settings::Settings;
use super::sweep::Sweeper;
use super::trim::Trimmer;
use super::waits::Waits;

/// What all partitions have in common.
pub(super) struct Common<'a> {
    pub(super) settings: &'a Settings,
    pub(super) nodes: &'a Arc<Nodes>,
    pub(super) caller: &'a Caller,
    pub(super) waits: &'a Arc<Waits>,
    pub(super) runtime: &'a Runtime,
    /// Dropped by each lane when it ends.
    pub(super) ended: crossbeam_channel::Sender<()>,
}

/// A partition that is served.
pub(super) struct Partition {
    pub(super) keys: Keys,
    pub(super) inbox: Sender<Mail>,
    pub(super) shared: Arc<Shared>,
    pub(super) watchers: Arc<Watchers>,
}

impl Partition {
    /// Starts its lane, and its sweeper unless the clock is a test's.
    pub(super) fn start(number: u32, common: &Common<'_>) -> Self {
        let Common { settings, nodes, caller, waits, runtime, ended } = common;
        let keys = Keys::new(&settings.prefix, number, settings.partitions);
        let shared = Arc::new(Shared::new(settings.outflow_lag_max));
        let link = |traffic| Link::new(Arc::clone(nodes), keys.slot(), traffic);
        let lane = Lane {
            partition: number,
            keys: keys.clone(),
            settings: settings.state.clone(),
            clock: settings.clock.clone(),
            link: link(Traffic::Calls),
            reading: link(Traffic::Reads),
            caller: (*caller).clone(),
            durability: settings.durability,
            waits: Arc::clone(waits),
            is_full: false,
            shared: Arc::clone(&shared),
        };
        let (inbox, outlet) = channel(settings.inbox_batches_max.max(1));
        let ended = ended.clone();
        runtime.spawn(async move {
            lane.run(outlet).await;
            drop(ended);
        });
        if settings.clock.is_none() {
            let sweeper = Sweeper {
                link: link(Traffic::Reads),
                keys: keys.clone(),
                settings: settings.state.clone(),
                shared: Arc::clone(&shared),
                inbox: inbox.downgrade(),
                trimmer: Trimmer::new(settings.log_retention),
            };
            runtime.spawn(sweeper.run());
        }
        Self { keys, inbox, shared, watchers: Arc::default() }
    }
}
