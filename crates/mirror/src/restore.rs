//! Writes the partitions of a deployment into a Redis that has none, from copies of them. The deployment is put last: until then no
//! server finds one there, and what an interrupted restore has left is removed by the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use redis::{Cmd, cmd};
use scarce_core::state::{State, StateSettings};
use scarce_engine::Failure;
use scarce_engine_redis::connection::Link;
use scarce_engine_redis::copy::{DEPLOYMENT, PartitionCopy, Rows, sequence_of};
use scarce_engine_redis::keys::{Keys, NAMES, slot};
use scarce_engine_redis::nodes::{Nodes, Traffic};
use scarce_engine_redis::records::FORMAT_VERSION;
use scarce_engine_redis::{RedisSettings, read_still};

use crate::rows::{Item, put_secrets};
use crate::session::commands_of;
use crate::tracker::Tracker;
use crate::whole::SETS;

/// What is written at a time, of rows.
const ROWS_PER_WRITE: usize = 2_048;

/// Names the deployment that is being restored, and into how many partitions.
const RESTORING: &str = "restoring";

/// What stands before a consumer's name in the field of its lease.
const LEASE: &str = "lease ";

/// The list of remembered operations.
const OPERATIONS_BY: &str = "operations_by";

/// Why a deployment cannot be restored into a Redis.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The address or the prefix is invalid.
    #[error(transparent)]
    Settings(#[from] scarce_engine_redis::RedisError),
    /// Redis does not answer, or refuses.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// There is something already.
    #[error(
        "Redis has the key {key}, and a deployment is restored only where there is none: choose another --redis-prefix or another \
         Redis, or delete what is there if nobody needs it"
    )]
    Occupied {
        /// A key that is there.
        key: String,
    },
    /// What was written is not what is there.
    #[error(
        "partition {partition} has the digest {found} in Redis and {expected} in the backup: someone else writes there, or Redis drops \
         keys; nothing serves it, and the next restore removes it"
    )]
    Differs {
        /// The partition.
        partition: u32,
        /// What the keys come to.
        found: String,
        /// What they should.
        expected: String,
    },
}

/// A Redis that a deployment is restored into.
pub struct RestoreTarget {
    nodes: Arc<Nodes>,
    prefix: String,
    partitions: u32,
    settings: StateSettings,
}

impl RestoreTarget {
    /// Where to. Nothing is sent yet. `settings` has the retentions of the deployment.
    ///
    /// # Errors
    /// When the address or the prefix is invalid.
    pub fn new(
        redis: &RedisSettings,
        partitions: u32,
        settings: StateSettings,
    ) -> Result<Self, RestoreError> {
        let nodes = Arc::new(Nodes::of(redis)?);
        Ok(Self { nodes, prefix: redis.prefix.clone(), partitions, settings })
    }

    /// Checks that there is nothing, but for what an interrupted restore has left, which is removed; and notes that one is under way.
    ///
    /// # Errors
    /// When Redis fails, or has keys behind the prefix.
    pub async fn begin(&self, deployment: &str) -> Result<(), RestoreError> {
        let there = self.key(DEPLOYMENT);
        if ask(&there.1, cmd("EXISTS").arg(&there.0)).await? {
            return Err(RestoreError::Occupied { key: there.0 });
        }
        let (key, link) = self.key(RESTORING);
        let left: BTreeMap<String, String> = ask(&link, cmd("HGETALL").arg(&key)).await?;
        let left = left.get("partitions").and_then(|count| count.parse().ok()).unwrap_or(0);
        for partition in 0..left {
            let keys = Keys::new(&self.prefix, partition, left);
            let mut unlink = cmd("UNLINK");
            unlink.arg(keys.all()).arg(&[keys.of("consumers"), keys.of("inputs"), keys.of("waited")]);
            let _: u64 = ask(&self.link(&keys), &unlink).await?;
        }
        if let Some(key) = scarce_engine_redis::copy::leftover(&self.prefix, &self.nodes).await? {
            return Err(RestoreError::Occupied { key });
        }
        let mut set = cmd("HSET");
        set.arg(&key).arg("deployment").arg(deployment).arg("partitions").arg(self.partitions);
        let _: u64 = ask(&link, &set).await?;
        Ok(())
    }

    /// Writes a partition, reads it back and compares digests. Gives the digest and how many rows were written.
    ///
    /// # Errors
    /// When Redis fails, or what is there is not what was written.
    pub async fn write(&self, copy: PartitionCopy, deployment: &str) -> Result<(String, u64), RestoreError> {
        let PartitionCopy { machine, operations, meta, histories, consumers, inputs } = copy;
        let keys = Keys::new(&self.prefix, machine.partition(), self.partitions);
        let link = self.link(&keys);
        let (epoch, sequence, at) = (machine.epoch(), machine.sequence(), machine.state().at);
        let digest = digest_of(machine.state());
        let mut writing = Writing { keys: &keys, link: &link, waiting: Vec::new(), written: 0 };
        writing.write_state(&Tracker::new(machine)).await?;
        writing.write_operations(&operations).await?;
        writing.write_rows("histories", &histories).await?;
        let consumers = consumers.into_iter().filter(|(field, _)| !field.starts_with(LEASE)).collect();
        writing.write_rows("consumers", &consumers).await?;
        writing.write_rows("inputs", &inputs).await?;
        writing.begin_log(sequence).await?;
        let written = writing.written;
        let meta = Meta { position: (epoch, sequence, at), kept: meta, deployment };
        self.write_meta(&keys, &link, &meta).await?;
        let found = read_still(&link, &keys, &self.settings).await?;
        let found = found.map_or_else(String::new, |(state, _)| digest_of(&state));
        if found != digest {
            return Err(RestoreError::Differs { partition: keys.partition(), found, expected: digest });
        }
        Ok((digest, written))
    }

    /// Puts what belongs to no partition, and the deployment last: from then on a server can serve it.
    ///
    /// # Errors
    /// When Redis fails.
    pub async fn finish(&self, shared: &BTreeMap<String, Rows>) -> Result<(), RestoreError> {
        let is_last = |name: &String| name == DEPLOYMENT;
        let others = shared.iter().filter(|(name, rows)| !is_last(name) && !rows.is_empty());
        for (name, rows) in others.chain(shared.iter().filter(|(name, _)| is_last(name))) {
            let (key, link) = self.key(name);
            let mut set = cmd("HSET");
            set.arg(key);
            for (field, text) in rows.iter().filter(|(field, _)| *field != "format_version") {
                set.arg(field).arg(text);
            }
            if is_last(name) {
                set.arg("format_version").arg(FORMAT_VERSION);
            }
            let _: u64 = ask(&link, &set).await?;
        }
        let (key, link) = self.key(RESTORING);
        let _: u64 = ask(&link, cmd("DEL").arg(key)).await?;
        Ok(())
    }

    /// A key without a partition, and the way to it.
    fn key(&self, name: &str) -> (String, Link) {
        let key = format!("{}{name}", self.prefix);
        let link = Link::new(Arc::clone(&self.nodes), slot(key.as_bytes()), Traffic::Reads);
        (key, link)
    }

    fn link(&self, keys: &Keys) -> Link {
        Link::new(Arc::clone(&self.nodes), keys.slot(), Traffic::Reads)
    }

    /// Writes `meta`, with the sizes of all keys as they are.
    async fn write_meta(&self, keys: &Keys, link: &Link, meta: &Meta<'_>) -> Result<(), RestoreError> {
        let (epoch, sequence, at) = meta.position;
        let mut names: Vec<&str> = NAMES.into_iter().filter(|name| !["meta", "log"].contains(name)).collect();
        names.sort_unstable();
        let mut sizes = Vec::new();
        for name in names {
            let word = match name {
                OPERATIONS_BY => "LLEN",
                name if SETS.contains(&name) => "ZCARD",
                _ => "HLEN",
            };
            let count: u64 = ask(link, cmd(word).arg(keys.of(name))).await?;
            if count > 0 {
                sizes.push(format!("{name} {count}"));
            }
        }
        let mut set = cmd("HSET");
        set.arg(keys.of("meta")).arg("epoch").arg(epoch).arg("sequence").arg(sequence).arg("at").arg(at);
        for (field, text) in &meta.kept {
            set.arg(field).arg(text);
        }
        for field in ["unfinished", "primary", "lost", "damaged"] {
            set.arg(field).arg("");
        }
        set.arg("sizes").arg(sizes.join(" ")).arg("format").arg(FORMAT_VERSION);
        set.arg("deployment").arg(meta.deployment);
        let _: u64 = ask(link, &set).await?;
        Ok(())
    }
}

/// What `meta` says of a partition that is restored.
struct Meta<'a> {
    position: (u64, u64, u64),
    kept: Rows,
    deployment: &'a str,
}

/// Writes rows, many with one command.
struct Writing<'a> {
    keys: &'a Keys,
    link: &'a Link,
    waiting: Vec<Item>,
    written: u64,
}

impl Writing<'_> {
    /// The rows of all records, with what is still to be drawn.
    async fn write_state(&mut self, tracker: &Tracker) -> Result<(), RestoreError> {
        for name in tracker.names() {
            self.waiting.extend(tracker.items(&name));
            if self.waiting.len() >= ROWS_PER_WRITE {
                self.send().await?;
            }
        }
        self.send().await?;
        for (campaign, _) in tracker.state().campaigns.iter() {
            put_secrets(tracker.state(), campaign, &mut self.waiting);
            self.send().await?;
        }
        Ok(())
    }

    async fn write_operations(&mut self, operations: &[(String, String)]) -> Result<(), RestoreError> {
        for chunk in operations.chunks(ROWS_PER_WRITE) {
            self.waiting
                .extend(chunk.iter().map(|(id, row)| Item::Row("operations", id.clone(), row.clone())));
            self.send().await?;
        }
        for chunk in elements_of(operations).chunks(ROWS_PER_WRITE) {
            let mut push = cmd("RPUSH");
            push.arg(self.keys.of(OPERATIONS_BY)).arg(chunk);
            let _: u64 = ask(self.link, &push).await?;
        }
        Ok(())
    }

    async fn write_rows(&mut self, name: &'static str, rows: &Rows) -> Result<(), RestoreError> {
        self.waiting.extend(rows.iter().map(|(field, text)| Item::Row(name, field.clone(), text.clone())));
        self.send().await
    }

    /// A log without entries that goes on behind a sequence.
    async fn begin_log(&mut self, sequence: u64) -> Result<(), RestoreError> {
        if sequence == 0 {
            return Ok(());
        }
        let (key, last) = (self.keys.of("log"), format!("{sequence}-0"));
        let _: String = ask(self.link, cmd("XADD").arg(&key).arg(&last).arg("restored").arg(1)).await?;
        let _: u64 = ask(self.link, cmd("XDEL").arg(&key).arg(&last)).await?;
        Ok(())
    }

    async fn send(&mut self) -> Result<(), RestoreError> {
        let mut items = std::mem::take(&mut self.waiting);
        items.sort_unstable();
        for command in commands_of(self.keys, &items) {
            self.written += ask::<u64>(self.link, &command).await?;
        }
        Ok(())
    }
}

/// The elements of the list of operations: stamp, sequence and number of the first, and the IDs of those whose sequences follow
/// each other at one stamp, a line each.
fn elements_of(operations: &[(String, String)]) -> Vec<String> {
    let place = |row: &str| Some((row.split('|').nth(1)?.to_owned(), sequence_of(row)?));
    let mut elements: Vec<String> = Vec::new();
    let mut next: Option<(String, u64)> = None;
    for (ordinal, (id, row)) in operations.iter().enumerate() {
        let Some((at, sequence)) = place(row) else { continue };
        match elements.last_mut().filter(|_| next.as_ref() == Some(&(at.clone(), sequence))) {
            Some(element) => {
                element.push('\n');
                element.push_str(id);
            }
            None => elements.push(format!("{at} {sequence} {ordinal} {id}")),
        }
        next = Some((at, sequence + 1));
    }
    elements
}

fn digest_of(state: &State) -> String {
    format!("{:032x}", state.digest(None))
}

async fn ask<T: redis::FromRedisValue>(link: &Link, command: &Cmd) -> Result<T, RestoreError> {
    Ok(link.send(command).await.map_err(Failure::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_whose_sequences_follow_each_other_at_one_stamp_are_one_element() {
        let row = |at: u64, sequence: u64| format!("00|{at}|{sequence}|1|1|0|[]");
        let rows = [("a", row(5, 1)), ("b", row(5, 2)), ("c", row(5, 4)), ("d", row(6, 5)), ("e", row(6, 6))];
        let rows: Vec<_> = rows.into_iter().map(|(id, row)| (id.to_owned(), row)).collect();
        assert_eq!(elements_of(&rows), ["5 1 0 a\nb", "5 4 2 c", "6 5 3 d\ne"]);
    }
}
