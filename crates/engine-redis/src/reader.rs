//! Reading a partition's log: by cursor, and waiting for more of it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use redis::{Cmd, FromRedisValue, Value};
use scarce_core::event::{Entry, Histories, Position};
use scarce_engine::engine::Failure;

use super::connection::Link;
use super::failure::failure_of;
use super::keys::Keys;
use super::log::read_entries;
use super::nodes::Node;

/// How many entries of the stream one reading brings at most.
const ENTRIES_PER_READING: usize = 64;

/// How long the server holds on to a question for more.
const BLOCK: Duration = Duration::from_secs(1);

/// How long to wait before a broken connection is made anew.
const RETRY_DELAY: Duration = Duration::from_millis(500);

type StreamEntry = (String, Vec<Vec<u8>>);

/// Entries from the one that holds `sequence` on, until they make up `bytes_max`.
pub(super) async fn entries(
    link: &Link,
    keys: &Keys,
    sequence: u64,
    bytes_max: u64,
) -> Result<(Vec<Entry>, Arc<Node>), Failure> {
    let (mut from, mut bytes) = (sequence.max(1), 0);
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let mut range = redis::cmd("XRANGE");
        range.arg(keys.of("log")).arg(format!("{from}-0")).arg("+").arg("COUNT").arg(ENTRIES_PER_READING);
        let (found, node): (Vec<StreamEntry>, _) = link.send_made(&|_: &Node| range.clone()).await?;
        let is_end = found.is_empty();
        for (_, fields) in &found {
            if bytes >= bytes_max && !entries.is_empty() {
                break;
            }
            bytes += fields.iter().map(|word| word.len() as u64).sum::<u64>();
            let fresh =
                read_entries(fields).map_err(|error| Failure::Unavailable { reason: error.to_string() })?;
            entries.extend(fresh.into_iter().filter(|entry| entry.sequence_last() >= sequence));
        }
        if is_end || (bytes >= bytes_max && !entries.is_empty()) {
            check_front(&entries, sequence.max(1))?;
            return Ok((entries, node));
        }
        from = entries.last().map_or(from, Entry::sequence_last) + 1;
    }
}

fn check_front(entries: &[Entry], sequence: u64) -> Result<(), Failure> {
    match entries.first().map(|entry| entry.head.sequence_first) {
        Some(first) if first > sequence => Err(Failure::Unavailable {
            reason: format!("the log begins at sequence {first}; what was before it has been trimmed"),
        }),
        _ => Ok(()),
    }
}

/// The first sequence that the log still has, or the one that comes next.
pub(super) async fn first_sequence(link: &Link, keys: &Keys) -> Result<u64, Failure> {
    let (last, _) = last_sequence(link, keys).await?;
    let mut range = redis::cmd("XRANGE");
    range.arg(keys.of("log")).arg("-").arg("+").arg("COUNT").arg(1);
    let found: Vec<StreamEntry> = link.send(&range).await?;
    let Some((_, fields)) = found.first() else { return Ok(last + 1) };
    let entries = read_entries(fields).map_err(|error| Failure::Unavailable { reason: error.to_string() })?;
    Ok(entries.first().map_or(last + 1, |entry| entry.head.sequence_first))
}

/// The sequence of a partition's last event, and who says so.
pub(super) async fn last_sequence(link: &Link, keys: &Keys) -> Result<(u64, Arc<Node>), Failure> {
    let (sequence, node): (Option<u64>, _) = link.send_made(&|_: &Node| read_sequence(keys)).await?;
    Ok((sequence.unwrap_or(0), node))
}

/// The epoch of the partition; 0 before its first change.
pub(super) async fn epoch(link: &Link, keys: &Keys) -> Result<u64, Failure> {
    let mut get = redis::cmd("HGET");
    get.arg(keys.of("meta")).arg("epoch");
    let epoch: Option<u64> = link.send(&get).await?;
    Ok(epoch.unwrap_or(0))
}

/// Which epochs wrote the log.
pub(super) async fn histories(link: &Link, keys: &Keys) -> Result<Histories, Failure> {
    let mut firsts = redis::cmd("HGETALL");
    firsts.arg(keys.of("histories"));
    let firsts: Vec<(u64, u64)> = link.send(&firsts).await?;
    // Asked afterwards: an epoch that was not there yet makes the end unknown.
    let epoch = epoch(link, keys).await?;
    let firsts = firsts.into_iter().map(|(sequence, epoch)| Position { epoch, sequence }).collect();
    Ok(Histories::of(firsts).ending_with(epoch))
}

fn read_sequence(keys: &Keys) -> Cmd {
    let mut get = redis::cmd("HGET");
    get.arg(keys.of("meta")).arg("sequence");
    get
}

type Wake = dyn Fn() + Send + Sync;

/// Who is to be called when there is more.
#[derive(Default)]
pub(super) struct Watchers {
    wakes: Mutex<Vec<Weak<Wake>>>,
}

impl Watchers {
    /// Adds one. Whether it is the first that there ever was.
    pub(super) fn add(&self, wake: &Arc<Wake>) -> bool {
        let mut wakes = self.wakes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = wakes.capacity() == 0;
        wakes.retain(|known| known.strong_count() > 0);
        wakes.push(Arc::downgrade(wake));
        is_first
    }

    fn wake(&self) {
        let mut wakes = self.wakes.lock().unwrap_or_else(PoisonError::into_inner);
        wakes.retain(|wake| {
            wake.upgrade().is_some_and(|wake| {
                wake();
                true
            })
        });
    }
}

/// Waits for more on a connection of its own and calls the watchers, as long as there are any.
pub(super) async fn watch(link: Link, keys: Keys, watchers: Weak<Watchers>) {
    loop {
        let waited = wait_and_wake(&link, &keys, &watchers).await;
        if watchers.strong_count() == 0 {
            return;
        }
        if waited.is_err() {
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

async fn wait_and_wake(link: &Link, keys: &Keys, watchers: &Weak<Watchers>) -> Result<(), Failure> {
    // Asked first, because that finds the server of a slot that has moved.
    let (mut known, _) = last_sequence(link, keys).await?;
    let node = link.nodes.own(link.slot, BLOCK).await?;
    loop {
        // At the start too: something may have come between the watch and this.
        match watchers.upgrade() {
            Some(watchers) => watchers.wake(),
            None => return Ok(()),
        }
        let mut read = redis::cmd("XREAD");
        read.arg("COUNT").arg(1).arg("BLOCK").arg(BLOCK.as_secs() * 1_000);
        read.arg("STREAMS").arg(keys.of("log")).arg(format!("{known}-0"));
        while ask::<Option<Value>>(&node, &read).await?.is_none() {
            if watchers.strong_count() == 0 {
                return Ok(());
            }
        }
        known = ask::<Option<u64>>(&node, &read_sequence(keys)).await?.unwrap_or(0);
    }
}

async fn ask<T: FromRedisValue>(node: &Node, command: &Cmd) -> Result<T, Failure> {
    let answer = command.query_async(&mut node.connection()).await;
    answer.map_err(|error| failure_of(&error, &node.endpoint, &node.user))
}
