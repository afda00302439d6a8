//! A deployment that comes from the embedded engine: its hash, which is not served until it has arrived, and the keys of its
//! partitions.
//!
//! ```text
//! begin: a hash without an ID ─▶ keys of each partition ─▶ read back ─▶ on disk ─▶ the source is left ─▶ open: the ID
//! ```
//!
//! What calls is no task: each step waits for its answers.

mod operations;
mod rows;
mod scripts;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Position;
use scarce_core::outcome::Durability;
use scarce_core::state::{State, StateSettings};
use scarce_core::types::TimeMs;
use scarce_engine::consumers::Consumption;
use scarce_engine::engine::Failure;
use scarce_engine::random::hex;
use tokio::runtime::Runtime;

use super::connection::Link;
use super::deployment::{ARRIVING, ARRIVING_FROM, IDS_MOVED_AT, key, link};
use super::keys::{Keys, NAMES};
use super::nodes::{Nodes, Traffic};
use super::records::FORMAT_VERSION;
use super::waits::{Waits, WantedLevels};
use super::{RedisError, RedisSettings, consumers, read_still, server, wholeness};

pub use operations::OperationRows;
pub use rows::{PartitionRows, Purpose, Sizes};

/// How long it may take until what was written is on disk.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// The field that has the ID until the deployment has arrived.
const ARRIVING_ID: &str = "arriving_deployment";

/// A deployment on its way.
pub struct Coming {
    /// Which move it is.
    pub move_id: String,
    /// Where it comes from.
    pub from: String,
    /// Its ID.
    pub deployment_id: [u8; 16],
    /// What keys its hashes and the cuts of its red packets.
    pub secret: [u8; 32],
    /// When the youngest of the operations was made that it remembers.
    pub ids_moved_at: TimeMs,
}

/// A partition's place in the log, and its clock.
#[derive(Clone, Debug)]
pub struct PartitionHead {
    /// The epoch that begins behind the last event.
    pub epoch: u64,
    /// The last event.
    pub sequence: u64,
    /// The stamp of the last event.
    pub at: TimeMs,
    /// The last stamp.
    pub now: TimeMs,
    /// The stamp of the youngest operation that was forgotten for lack of space.
    pub forgotten_at: TimeMs,
    /// How far consumers of its log are.
    pub consumptions: Vec<Consumption>,
}

/// What is behind a prefix before a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// What a move has left, or leaves just now.
    Arriving {
        /// Which move.
        move_id: String,
        /// Where it comes from.
        from: String,
        /// The ID that the deployment will have.
        deployment_id: String,
        /// Among how many partitions.
        partitions: u32,
    },
}

/// A prefix in a Redis that a deployment goes to.
pub struct Target {
    runtime: Runtime,
    nodes: Arc<Nodes>,
    settings: RedisSettings,
    /// What should be known of the servers.
    pub warnings: Vec<String>,
}

impl Target {
    /// Connects.
    ///
    /// # Errors
    /// When a server cannot be reached, or must not be used.
    pub fn connect(mut settings: RedisSettings) -> Result<Self, RedisError> {
        settings.response_timeout = settings.response_timeout.max(SYNC_TIMEOUT);
        let nodes = Arc::new(Nodes::of(&settings)?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(RedisError::Threads)?;
        let warnings = runtime.block_on(async {
            let mut warnings = server::check_all(&nodes, settings.durability, settings.replicas).await?;
            for endpoint in nodes.primaries().await? {
                let lack = nodes.look(&endpoint).await?.lack(Durability::Synced, 0);
                warnings.extend(lack.map(|lack| format!("Redis at {endpoint} {lack}")));
            }
            Ok::<_, RedisError>(warnings)
        })?;
        Ok(Self { runtime, nodes, settings, warnings })
    }

    /// What is there.
    ///
    /// # Errors
    /// When there is anything but a move that was not finished, or a server cannot be asked.
    pub fn find(&self) -> Result<Found, RedisError> {
        self.runtime.block_on(async {
            let key = self.key();
            let fields: BTreeMap<String, String> =
                self.deployment_link().send(redis::cmd("HGETALL").arg(&key)).await.map_err(Failure::from)?;
            let field = |name: &str| fields.get(name).cloned();
            if let (Some(move_id), Some(from)) = (field(ARRIVING), field(ARRIVING_FROM)) {
                let partitions = field("partitions").and_then(|text| text.parse().ok()).unwrap_or(0);
                let deployment_id = field(ARRIVING_ID).unwrap_or_default();
                return Ok(Found::Arriving { move_id, from, deployment_id, partitions });
            }
            let left = if fields.is_empty() {
                wholeness::leftover(&self.settings.prefix, &self.nodes).await?
            } else {
                Some(key)
            };
            left.map_or(Ok(Found::Nothing), |key| Err(RedisError::Occupied { key }))
        })
    }

    /// Takes the prefix for a deployment that is on its way. No server serves it until [`Target::open`].
    ///
    /// # Errors
    /// When something is there by now, or the server fails.
    pub fn begin(&self, coming: &Coming) -> Result<(), RedisError> {
        let mut begin = redis::cmd("EVAL");
        begin.arg(scripts::BEGIN).arg(1).arg(self.key());
        begin.arg(ARRIVING).arg(&coming.move_id).arg(ARRIVING_FROM).arg(&coming.from);
        begin.arg(ARRIVING_ID).arg(hex(&coming.deployment_id)).arg("secret").arg(hex(&coming.secret));
        begin.arg("partitions").arg(self.settings.partitions).arg("format_version").arg(FORMAT_VERSION);
        begin.arg(IDS_MOVED_AT).arg(coming.ids_moved_at);
        let has_begun: bool =
            self.runtime.block_on(self.deployment_link().send(&begin)).map_err(Failure::from)?;
        if has_begun { Ok(()) } else { Err(RedisError::Occupied { key: self.key() }) }
    }

    /// Lets the deployment be served that has arrived with a move. Gives whether there was such a one.
    ///
    /// # Errors
    /// When the server fails; whether it was opened is not known then.
    pub fn open(&self, move_id: &str) -> Result<bool, RedisError> {
        let mut open = redis::cmd("EVAL");
        open.arg(scripts::OPEN).arg(1).arg(self.key()).arg(move_id);
        Ok(self.runtime.block_on(self.deployment_link().send(&open)).map_err(Failure::from)?)
    }

    /// Removes what a move has left that did not come to its end; its hash goes last. What is of anything else stays.
    ///
    /// # Errors
    /// When the server fails.
    pub fn discard(&self, move_id: &str, partitions: u32) -> Result<(), RedisError> {
        self.runtime.block_on(async {
            let mut whose = redis::cmd("HGET");
            whose.arg(self.key()).arg(ARRIVING);
            let found: Option<String> = self.deployment_link().send(&whose).await.map_err(Failure::from)?;
            if found.as_deref() != Some(move_id) {
                return Ok(());
            }
            for partition in 0..partitions {
                let keys = Keys::new(&self.settings.prefix, partition, partitions);
                let mut unlink = redis::cmd("UNLINK");
                unlink.arg(keys.all()).arg(keys.of("waited")).arg(keys.of(consumers::KEY));
                let _count: u64 = self.link(&keys).send(&unlink).await.map_err(Failure::from)?;
            }
            let mut discard = redis::cmd("EVAL");
            discard.arg(scripts::DISCARD).arg(1).arg(self.key()).arg(move_id);
            let _is_gone: bool = self.deployment_link().send(&discard).await.map_err(Failure::from)?;
            Ok(())
        })
    }

    /// The rows of a partition, to be written or to be compared.
    #[must_use]
    pub fn rows(&self, partition: u32, purpose: Purpose) -> PartitionRows<'_> {
        let keys = self.keys(partition);
        let link = self.link(&keys);
        PartitionRows::new(&self.runtime, link, keys, purpose)
    }

    /// Writes where a partition is, and how much its keys have; it is whole then.
    ///
    /// # Errors
    /// When the server fails.
    pub fn finish(
        &self,
        partition: u32,
        deployment_id: &[u8; 16],
        head: &PartitionHead,
        sizes: &Sizes,
    ) -> Result<(), RedisError> {
        let keys = self.keys(partition);
        let link = self.link(&keys);
        self.runtime.block_on(async {
            if head.sequence > 0 {
                // The log is there, and has no entry: as one of which all was trimmed.
                let (log, last) = (keys.of("log"), format!("{}-0", head.sequence));
                let mut add = redis::cmd("XADD");
                add.arg(&log).arg(&last).arg("entries").arg("");
                let _id: String = link.send(&add).await.map_err(Failure::from)?;
                let _count: u64 =
                    link.send(redis::cmd("XDEL").arg(&log).arg(&last)).await.map_err(Failure::from)?;
            }
            for its in &head.consumptions {
                let mut confirm = redis::cmd("HSET");
                confirm.arg(keys.of(consumers::KEY)).arg(its.name.as_str()).arg(consumers::text_of(its));
                let _count: u64 = link.send(&confirm).await.map_err(Failure::from)?;
            }
            let mut set = redis::cmd("HSET");
            set.arg(keys.of("meta")).arg("epoch").arg(head.epoch).arg("sequence").arg(head.sequence);
            set.arg("at").arg(head.at).arg("now").arg(head.now).arg("forgotten_at").arg(head.forgotten_at);
            for empty in ["unfinished", "primary", "moved", "lost", "damaged"] {
                set.arg(empty).arg("");
            }
            set.arg("deployment").arg(hex(deployment_id)).arg("format").arg(FORMAT_VERSION);
            set.arg("sizes").arg(sizes.text());
            let _count: u64 = link.send(&set).await.map_err(Failure::from)?;
            Ok(())
        })
    }

    /// The state that a partition's keys hold, as the engine reads it, and its place in the log.
    ///
    /// # Errors
    /// When the keys cannot be read, or change meanwhile.
    pub fn state(&self, partition: u32, settings: &StateSettings) -> Result<(State, Position), RedisError> {
        let keys = self.keys(partition);
        let found = self.runtime.block_on(read_still(&self.link(&keys), &keys, settings))?;
        found.ok_or_else(|| RedisError::Miswritten { key: keys.of("meta") })
    }

    /// Waits until all that was written is as safe as the settings ask for, and on disk where the servers keep a file.
    ///
    /// # Errors
    /// When it is not in time.
    pub fn wait_until_safe(&self) -> Result<(), RedisError> {
        let Self { settings, nodes, .. } = self;
        let waits = Waits::new(Arc::clone(nodes), settings.replicas, settings.response_timeout);
        self.runtime.block_on(async {
            for partition in 0..settings.partitions {
                let keys = self.keys(partition);
                let node = nodes.of_slot(keys.slot(), Traffic::Calls).await?;
                let mut wanted = WantedLevels::default();
                wanted.add(settings.durability);
                if node.state.lack(Durability::Synced, 0).is_none() {
                    wanted.add(Durability::Synced);
                }
                waits.wait(&node, &keys, wanted).await?;
            }
            Ok(())
        })
    }

    fn key(&self) -> String {
        key(&self.settings.prefix)
    }

    fn deployment_link(&self) -> Link {
        link(&self.settings.prefix, &self.nodes)
    }

    fn keys(&self, partition: u32) -> Keys {
        Keys::new(&self.settings.prefix, partition, self.settings.partitions)
    }

    fn link(&self, keys: &Keys) -> Link {
        Link::new(Arc::clone(&self.nodes), keys.slot(), Traffic::Reads)
    }
}

/// The keys of a partition that have rows, with their types.
fn counted_keys() -> impl Iterator<Item = (&'static str, rows::KeyType)> {
    NAMES.iter().filter_map(|name| Some((*name, rows::KeyType::of(name)?)))
}
