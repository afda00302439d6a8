//! All that a partition is made of, at one sequence, read beside the servers that write it: for a backup. The state is that of
//! the image (`image.rs`); what is not in it is read before it or after it, whichever loses nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::machine::Machine;
use scarce_engine::engine::Failure;

use super::connection::Link;
use super::consumers;
use super::image::Imager;
use super::inputs;
use super::keys::{self, Keys};
use super::nodes::{Node, Nodes, Traffic};
use super::wholeness;
use super::{RedisEngine, RedisError};

mod files;

pub use files::{STATE, UnreadableCopy};

/// How long campaigns may go on being created until none lacks packets.
const PACKETS_PATIENCE: Duration = Duration::from_secs(120);
const PACKETS_PAUSE: Duration = Duration::from_millis(50);

/// How often it is begun anew because another run of a server has the partition.
const ATTEMPTS_MAX: usize = 5;

/// How many rows one reading brings, more or less.
const ROWS_PER_READING: usize = 1_000;

/// The fields of `meta` that a copy keeps beside what the state has.
const KEPT: [&str; 3] = ["now", "forgotten_at", "moved"];

/// The hashes that belong to no partition.
const SHARED: [&str; 3] = [DEPLOYMENT, "callers", "scripts"];

/// The hash of the deployment.
pub const DEPLOYMENT: &str = "deployment";

/// The rows of a hash, by their fields.
pub type Rows = BTreeMap<String, String>;

/// A partition at one sequence.
#[derive(Debug)]
pub struct PartitionCopy {
    /// The state, without operations, and the position that it is of.
    pub machine: Machine,
    /// What is remembered of operations up to that position: the key of each, and its row.
    pub operations: Vec<(String, String)>,
    /// Fields of `meta`: the last stamp that was given, up to when operations were forgotten, where the clock was put back.
    pub meta: Rows,
    /// The epochs that wrote the log, by their first sequence.
    pub histories: Rows,
    /// The consumers of the log, and how far each had confirmed, no further than the position.
    pub consumers: Rows,
    /// How far topics of commands were consumed, no further than the position.
    pub inputs: Rows,
}

impl RedisEngine {
    /// Reads all of a partition at one sequence, while it is served.
    ///
    /// # Errors
    /// When a server cannot be asked, the partition has lost something, or does not come to rest.
    pub fn copy(&self, partition: u32) -> Result<PartitionCopy, Failure> {
        let imager = Arc::clone(&self.whole(partition)?.imager);
        let (waits, wanted) = (Arc::clone(&self.waits), self.wanted());
        self.wait(async move {
            let (copy, node) = imager.copy().await?;
            waits.wait(&node, &imager.keys, wanted).await?;
            Ok(copy)
        })
    }

    /// The hashes that belong to no partition: the deployment with its secret, keys of callers, scripts.
    ///
    /// # Errors
    /// When a server cannot be asked.
    pub fn copy_shared(&self) -> Result<BTreeMap<String, Rows>, Failure> {
        let mut shared = BTreeMap::new();
        for name in SHARED {
            let key = format!("{}{name}", self.settings.prefix);
            let link = Link::new(Arc::clone(&self.nodes), keys::slot(key.as_bytes()), Traffic::Reads);
            let rows = self.wait(async move { Ok(link.send(redis::cmd("HGETALL").arg(key)).await?) })?;
            shared.insert(name.to_owned(), rows);
        }
        Ok(shared)
    }
}

impl Imager {
    /// Everything at one sequence.
    async fn copy(&self) -> Result<(PartitionCopy, Arc<Node>), Failure> {
        let (link, keys) = (&self.reading, &self.keys);
        for _ in 0..ATTEMPTS_MAX {
            // What was consumed has had its effects by now; read later, it would be ahead of the state.
            let consumers = rows(link, keys, consumers::KEY).await?;
            let inputs = rows(link, keys, inputs::KEY).await?;
            let moved = field(link, keys, "moved").await?;
            let (machine, node) = self.complete_machine().await?;
            // All that is remembered up to here is there from now on until its window is over.
            let operations = operations(link, keys, machine.sequence()).await?;
            let histories = rows(link, keys, "histories").await?;
            let meta = meta(link, keys).await?;
            let epoch = field(link, keys, "epoch").await?;
            let is_same = epoch == machine.epoch().to_string() && meta.get("moved") == Some(&moved);
            if is_same {
                let copy = PartitionCopy { machine, operations, meta, histories, consumers, inputs };
                return Ok((copy, node));
            }
        }
        let reason = "another run of the server has the partition again and again, or its clock is put back; back up when it is settled";
        Err(Failure::Unavailable { reason: reason.to_owned() })
    }

    /// The state, once no campaign lacks packets: those that are still to be prepared are in no event.
    async fn complete_machine(&self) -> Result<(Machine, Arc<Node>), Failure> {
        let begun = Instant::now();
        loop {
            let (machine, node) = self.machine().await?;
            if !machine.state().campaigns.lacks_packets() {
                return Ok((machine, node));
            }
            if begun.elapsed() >= PACKETS_PATIENCE {
                let reason = "packets of a campaign are being prepared all the time; back up again later";
                return Err(Failure::Unavailable { reason: reason.to_owned() });
            }
            tokio::time::sleep(PACKETS_PAUSE).await;
        }
    }
}

async fn rows(link: &Link, keys: &Keys, name: &str) -> Result<Rows, Failure> {
    Ok(link.send(redis::cmd("HGETALL").arg(keys.of(name))).await?)
}

async fn field(link: &Link, keys: &Keys, name: &str) -> Result<String, Failure> {
    let found: Option<String> = link.send(redis::cmd("HGET").arg(keys.of("meta")).arg(name)).await?;
    Ok(found.unwrap_or_default())
}

async fn meta(link: &Link, keys: &Keys) -> Result<Rows, Failure> {
    let mut get = redis::cmd("HMGET");
    get.arg(keys.of("meta")).arg(&KEPT);
    let found: Vec<Option<String>> = link.send(&get).await?;
    let texts = found.into_iter().map(Option::unwrap_or_default);
    Ok(KEPT.iter().map(|name| (*name).to_owned()).zip(texts).collect())
}

/// The last sequence that a row of an operation says: behind content hash and stamp.
#[must_use]
pub fn sequence_of(row: &str) -> Option<u64> {
    row.split('|').nth(2)?.parse().ok()
}

/// What is remembered of operations up to a sequence, in its order.
async fn operations(link: &Link, keys: &Keys, through: u64) -> Result<Vec<(String, String)>, Failure> {
    let key = keys.of("operations");
    let (mut found, mut cursor) = (BTreeMap::new(), 0_u64);
    loop {
        let mut scan = redis::cmd("HSCAN");
        scan.arg(&key).arg(cursor).arg("COUNT").arg(ROWS_PER_READING);
        let (next, words): (u64, Vec<String>) = link.send(&scan).await?;
        let mut words = words.into_iter();
        while let (Some(id), Some(row)) = (words.next(), words.next()) {
            let sequence = sequence_of(&row).ok_or_else(|| Failure::Unavailable {
                reason: format!("{key} has '{row}' at '{id}', which Scarce does not write; remove the row, and the operation is forgotten"),
            })?;
            if sequence <= through {
                // A row may come twice.
                found.insert((sequence, id), row);
            }
        }
        cursor = next;
        if cursor == 0 {
            return Ok(found.into_iter().map(|((_, id), row)| (id, row)).collect());
        }
    }
}

/// A key behind a prefix that belongs to no deployment: the first of a partition that is found.
///
/// # Errors
/// When a server cannot be asked.
pub async fn leftover(prefix: &str, nodes: &Arc<Nodes>) -> Result<Option<String>, RedisError> {
    wholeness::leftover(prefix, nodes).await
}
