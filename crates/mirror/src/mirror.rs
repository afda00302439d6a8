//! A mirror: where it is, whose it is, and how far each partition is.

use std::collections::BTreeMap;
use std::sync::Arc;

use redis::{Cmd, cmd};
use scarce_core::event::Position;
use scarce_engine::{Failure, Log};
use scarce_engine_redis::RedisSettings;
use scarce_engine_redis::connection::Link;
use scarce_engine_redis::keys::{Keys, slot};
use scarce_engine_redis::nodes::{Nodes, Traffic};
use scarce_engine_redis::records::{FORMAT_VERSION, MIRROR_OF};

use crate::consumer::MirrorConsumer;
use crate::error::MirrorError;

/// The fields of `meta` in the mirror of a partition. `mirror` names the deployment and `writer` the process that writes it.
pub(crate) const META: [&str; 6] = ["mirror", "writer", "epoch", "sequence", "at", "written_at"];

/// The state of an engine in a Redis for readers, in the keys of the engine inside Redis.
#[derive(Clone, Debug)]
pub struct Mirror {
    pub(crate) nodes: Arc<Nodes>,
    pub(crate) prefix: String,
    pub(crate) partitions: u32,
    pub(crate) deployment_id: String,
    /// Held while another number of partitions is left.
    leaving: Arc<tokio::sync::Mutex<()>>,
}

/// The field of the mark that says from which epoch on the mirror has its number of partitions.
const SINCE_EPOCH: &str = "since_epoch";

/// How the keys of a mirror are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    partitions: u32,
    since_epoch: u64,
}

/// What the mirror of a partition says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The deployment whose mirror it is, in hexadecimal digits; empty where there is none.
    pub mirror_of: String,
    /// The process that wrote it last.
    pub writer: String,
    /// The last event that it shows; the beginning while it is being written anew.
    pub position: Position,
    /// The stamp of that event.
    pub at: u64,
    /// When it was written last, by the clock of the process that did.
    pub written_at: u64,
}

impl Mark {
    pub(crate) fn read(fields: &[Option<String>]) -> Self {
        let text = |place: usize| fields.get(place).cloned().flatten().unwrap_or_default();
        let number = |place: usize| text(place).parse().unwrap_or_default();
        let position = Position { epoch: number(2), sequence: number(3) };
        Self { mirror_of: text(0), writer: text(1), position, at: number(4), written_at: number(5) }
    }
}

impl Mirror {
    /// The mirror of a deployment. Nothing is sent yet.
    ///
    /// # Errors
    /// When the address or the prefix is invalid.
    pub fn new(settings: &RedisSettings, partitions: u32, deployment_id: &str) -> Result<Self, MirrorError> {
        let nodes = Arc::new(Nodes::of(settings)?);
        let (prefix, deployment_id) = (settings.prefix.clone(), deployment_id.to_owned());
        Ok(Self { nodes, prefix, partitions, deployment_id, leaving: Arc::default() })
    }

    /// The consumer that writes a partition. `writer` names this process.
    #[must_use]
    pub fn consumer(&self, log: &Arc<dyn Log>, partition: u32, writer: &str) -> MirrorConsumer {
        MirrorConsumer::new(self.clone(), Arc::clone(log), partition, writer)
    }

    /// The deployment whose mirror it is to be.
    #[must_use]
    pub fn deployment_id(&self) -> &str {
        &self.deployment_id
    }

    /// The number of partitions.
    #[must_use]
    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// The keys of a partition.
    #[must_use]
    pub fn keys(&self, partition: u32) -> Keys {
        Keys::new(&self.prefix, partition, self.partitions)
    }

    pub(crate) fn link(&self, keys: &Keys) -> Link {
        Link::new(Arc::clone(&self.nodes), keys.slot(), Traffic::Reads)
    }

    fn deployment_link(&self) -> (String, Link) {
        let key = format!("{}deployment", self.prefix);
        let slot = slot(key.as_bytes());
        (key, Link::new(Arc::clone(&self.nodes), slot, Traffic::Reads))
    }

    async fn ask<T: redis::FromRedisValue>(&self, link: &Link, command: &Cmd) -> Result<T, MirrorError> {
        Ok(link.send(command).await.map_err(Failure::from)?)
    }

    /// Checks that the keys are those of this mirror, among as many partitions.
    ///
    /// # Errors
    /// When Redis does not answer, or the keys are someone else's.
    pub(crate) async fn check_owner(&self) -> Result<(), MirrorError> {
        let prefix = || self.prefix.clone();
        match self.find_layout().await? {
            None => Err(MirrorError::Absent { prefix: prefix() }),
            Some(layout) if layout.partitions != self.partitions => {
                let (found, own) = (layout.partitions, self.partitions);
                Err(MirrorError::Partitions { prefix: prefix(), found, own })
            }
            Some(_) => Ok(()),
        }
    }

    /// The same for a process that writes it: marks the prefix where there is nothing. Gives among how many partitions the keys
    /// are, where that is another number.
    ///
    /// # Errors
    /// As there.
    pub(crate) async fn claim(&self) -> Result<Option<Layout>, MirrorError> {
        match self.find_layout().await? {
            None => self.mark().await.map(|()| None),
            Some(layout) => Ok(Some(layout).filter(|layout| layout.partitions != self.partitions)),
        }
    }

    /// What the mark of the prefix says, if there is one.
    async fn find_layout(&self) -> Result<Option<Layout>, MirrorError> {
        let (key, link) = self.deployment_link();
        let fields: BTreeMap<String, String> = match link.send(cmd("HGETALL").arg(&key)).await {
            Err(scarce_engine_redis::connection::Refused::ByServer { error, .. })
                if error.code() == Some("WRONGTYPE") =>
            {
                return Err(MirrorError::Foreign { key });
            }
            found => found.map_err(Failure::from)?,
        };
        let prefix = || self.prefix.clone();
        if let Some(found) = fields.get("deployment_id") {
            return Err(MirrorError::Deployment { prefix: prefix(), found: found.clone() });
        }
        match fields.get(MIRROR_OF) {
            // One without a number was being marked; what there is of it has this one.
            Some(found) if *found == self.deployment_id => {
                let number = |name| fields.get(name).and_then(|text: &String| text.parse().ok());
                let partitions = number("partitions").and_then(|count| u32::try_from(count).ok());
                let since_epoch = number(SINCE_EPOCH).unwrap_or(0);
                Ok(Some(Layout { partitions: partitions.unwrap_or(self.partitions), since_epoch }))
            }
            Some(found) => {
                let (found, own) = (found.clone(), self.deployment_id.clone());
                Err(MirrorError::OtherMirror { prefix: prefix(), found, own })
            }
            None if !fields.is_empty() => Err(MirrorError::Damaged { key }),
            None => Ok(None),
        }
    }

    /// Marks the prefix as this mirror, unless someone is faster or has keys there.
    async fn mark(&self) -> Result<(), MirrorError> {
        let (key, link) = self.deployment_link();
        for partition in 0..self.partitions {
            let keys = self.keys(partition);
            let mark = self.read_mark(&keys).await?;
            if mark.mirror_of != self.deployment_id
                && let Some(key) = self.first_key(&keys).await?
            {
                return Err(MirrorError::Foreign { key });
            }
        }
        let mut create = cmd("HSETNX");
        create.arg(&key).arg(MIRROR_OF).arg(&self.deployment_id);
        let _: bool = self.ask(&link, &create).await?;
        let mut set = cmd("HSET");
        set.arg(&key).arg("partitions").arg(self.partitions).arg("format_version").arg(FORMAT_VERSION);
        let _: u64 = self.ask(&link, &set).await?;
        // A server that began a deployment at the same moment is seen with the next look.
        Ok(())
    }

    /// Removes what the mirror has of another number of partitions, and marks it as one of this number. `epoch` is of the state
    /// that takes its place: a state from before the deployment was moved does not.
    ///
    /// # Errors
    /// When Redis does not answer, or what is there is of a later epoch.
    pub(crate) async fn leave_layout(&self, epoch: u64) -> Result<(), MirrorError> {
        // Consumers of other partitions come for the same.
        let _one_at_a_time = self.leaving.lock().await;
        let Some(Layout { partitions, since_epoch }) = self.claim().await? else { return Ok(()) };
        let mut own = Vec::new();
        let mut later = since_epoch > epoch;
        for partition in 0..partitions {
            let keys = Keys::new(&self.prefix, partition, partitions);
            let mark = self.read_mark(&keys).await?;
            later |= mark.position.epoch > epoch;
            if mark.mirror_of == self.deployment_id {
                own.push(keys);
            }
        }
        if later {
            let prefix = self.prefix.clone();
            return Err(MirrorError::LaterLayout { prefix, found: partitions, own: self.partitions });
        }
        for keys in own {
            let _: u64 = self.ask(&self.link(&keys), cmd("UNLINK").arg(keys.all())).await?;
        }
        let (key, link) = self.deployment_link();
        let mut set = cmd("HSET");
        set.arg(&key).arg("partitions").arg(self.partitions).arg(SINCE_EPOCH).arg(epoch);
        let _: u64 = self.ask(&link, &set).await?;
        tracing::info!(
            from = partitions,
            to = self.partitions,
            "the mirror has another number of partitions now"
        );
        Ok(())
    }

    /// A key that a partition has, if any.
    async fn first_key(&self, keys: &Keys) -> Result<Option<String>, MirrorError> {
        let link = self.link(keys);
        for key in keys.all() {
            if self.ask::<bool>(&link, cmd("EXISTS").arg(key)).await? {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    async fn read_mark(&self, keys: &Keys) -> Result<Mark, MirrorError> {
        let fields: Vec<Option<String>> =
            self.ask(&self.link(keys), cmd("HMGET").arg(keys.of("meta")).arg(&META)).await?;
        Ok(Mark::read(&fields))
    }

    /// What each partition says of itself.
    ///
    /// # Errors
    /// When Redis does not answer, or has no mirror of this deployment.
    pub async fn marks(&self) -> Result<Vec<Mark>, MirrorError> {
        self.check_owner().await?;
        let mut marks = Vec::new();
        for partition in 0..self.partitions {
            marks.push(self.read_mark(&self.keys(partition)).await?);
        }
        Ok(marks)
    }

    /// Whether there is a mirror already, where a server can write it: the servers of all its keys are there and drop none, and no
    /// keys are someone else's. Nothing is changed.
    ///
    /// # Errors
    /// What keeps a server from writing it.
    pub async fn look(&self) -> Result<bool, MirrorError> {
        let layout = self.find_layout().await?;
        for partition in 0..self.partitions {
            self.nodes.of_slot(self.keys(partition).slot(), Traffic::Reads).await?;
        }
        Ok(layout.is_some())
    }

    /// Sets partitions onto their beginning: the server that writes them compares every row with its state, and writes what
    /// differs.
    ///
    /// # Errors
    /// When Redis does not answer, or has no mirror of this deployment.
    pub async fn begin_anew(&self, partition: u32) -> Result<(), MirrorError> {
        self.check_owner().await?;
        let keys = self.keys(partition);
        let mut set = cmd("HSET");
        set.arg(keys.of("meta")).arg("epoch").arg(0).arg("sequence").arg(0);
        let _: u64 = self.ask(&self.link(&keys), &set).await?;
        Ok(())
    }
}
