//! Waiting until a change is as safe as was promised: for each server on a connection of its own, so that
//! nobody else waits, and for all changes that were answered meanwhile at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::{Pipeline, RedisError, RedisResult, Value};
use scarce_core::outcome::Durability;
use scarce_engine::engine::Failure;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::address::Endpoint;
use super::connection::Link;
use super::failure::is_broken;
use super::keys::Keys;
use super::nodes::{Node, Nodes, Traffic};

/// How many changes may wait for a server at a time.
const TICKETS_MAX: usize = 1_024;

/// The key to which a wait writes before it begins: what follows no write of its own connection returns at
/// once, with a count that means nothing.
const KEY: &str = "waited";

/// What must have happened before an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WantedLevels {
    replicated: bool,
    synced: bool,
}

impl WantedLevels {
    /// Adds a level.
    pub(super) fn add(&mut self, level: Durability) {
        self.replicated |= level == Durability::Replicated;
        self.synced |= level == Durability::Synced;
    }

    /// Whether something is to be waited for at a server.
    fn waits_at(self, node: &Node) -> bool {
        self.replicated || (self.synced && !node.state.answers_are_synced())
    }
}

/// The level that a server gives without any waiting.
pub(super) fn level_of(node: &Node) -> Durability {
    if node.state.answers_are_synced() { Durability::Synced } else { Durability::Memory }
}

/// A time that does not come, in milliseconds since the Unix epoch.
const FAR_MS: u64 = 32_503_680_000_000;

/// A change that waits.
struct Ticket {
    /// The run of the server that made it; another run may not have it.
    run_id: String,
    /// A key of the change's slot.
    key: String,
    wanted: WantedLevels,
    done: oneshot::Sender<Result<(), Failure>>,
}

/// Everybody who waits.
#[derive(Debug)]
pub(super) struct Waits {
    nodes: Arc<Nodes>,
    replicas: u32,
    timeout: Duration,
    lines: Mutex<BTreeMap<Endpoint, Sender<Ticket>>>,
}

impl Waits {
    /// `replicas` must have what is to be replicated, within `timeout`.
    pub(super) fn new(nodes: Arc<Nodes>, replicas: u32, timeout: Duration) -> Self {
        Self { nodes, replicas, timeout, lines: Mutex::default() }
    }

    /// Why the server of a slot cannot give a level; nothing where it can, or is not there to be asked.
    pub(super) async fn lack(&self, link: &Link, level: Durability) -> Option<Failure> {
        let node = link.nodes.of_slot(link.slot, Traffic::Calls).await.ok()?;
        node.state.lack(level, self.replicas)?;
        // It may have changed since the connection was made.
        let state = self.nodes.look(&node.endpoint).await.ok()?;
        match state.lack(level, self.replicas) {
            Some(lack) => {
                let reason =
                    format!("Redis at {} cannot answer at '{}': it {lack}", node.endpoint, level.word());
                Some(Failure::Unavailable { reason })
            }
            None => {
                node.retire();
                None
            }
        }
    }

    /// Waits until whatever a server has answered about a partition before is safe.
    ///
    /// # Errors
    /// [`Failure::Unknown`] when it was not in time, or the server is another one by now.
    pub(super) async fn wait(&self, node: &Node, keys: &Keys, wanted: WantedLevels) -> Result<(), Failure> {
        if !wanted.waits_at(node) {
            return Ok(());
        }
        let (done, answer) = oneshot::channel();
        let ticket = Ticket { run_id: node.state.run_id.clone(), key: keys.of(KEY), wanted, done };
        let stopped = || Failure::Unknown { reason: "the engine has stopped".to_owned() };
        self.line(&node.endpoint).send(ticket).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    fn line(&self, endpoint: &Endpoint) -> Sender<Ticket> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            let (sender, receiver) = channel(TICKETS_MAX);
            let line = Line {
                nodes: Arc::clone(&self.nodes),
                endpoint: endpoint.clone(),
                replicas: self.replicas,
                timeout: self.timeout,
            };
            tokio::spawn(line.run(receiver));
            sender
        };
        lines.entry(endpoint.clone()).or_insert_with(open).clone()
    }
}

/// Those who wait for one server.
struct Line {
    nodes: Arc<Nodes>,
    endpoint: Endpoint,
    replicas: u32,
    timeout: Duration,
}

/// What a server said.
struct Reached {
    run_id: String,
    /// The keys that could be written to, whose slots are still there.
    written: BTreeSet<String>,
    replicas: u32,
    synced: bool,
}

/// Why a server said nothing.
struct Unasked {
    /// Whether the connection was closed.
    is_closed: bool,
    reason: String,
}

impl Line {
    async fn run(self, mut waiting: Receiver<Ticket>) {
        let mut tickets = Vec::new();
        while waiting.recv_many(&mut tickets, TICKETS_MAX).await > 0 {
            let reached = self.ask(&tickets).await;
            for ticket in tickets.drain(..) {
                let verdict =
                    reached.as_ref().map_err(String::clone).and_then(|its| self.judge(its, &ticket));
                let verdict = verdict.map_err(|reason| Failure::Unknown { reason });
                // Who asked may be gone; the change is there all the same.
                let _ = ticket.done.send(verdict);
            }
        }
    }

    fn judge(&self, reached: &Reached, ticket: &Ticket) -> Result<(), String> {
        let Self { endpoint, replicas, .. } = self;
        let seconds = self.timeout.as_secs_f64();
        if reached.run_id != ticket.run_id {
            return Err(format!("Redis at {endpoint} was started anew before the change was safe"));
        }
        if !reached.written.contains(&ticket.key) {
            return Err(format!("the slot has left {endpoint} before the change was safe"));
        }
        if ticket.wanted.replicated && reached.replicas < *replicas {
            let count = reached.replicas;
            return Err(format!("{count} of {replicas} replicas of {endpoint} had it within {seconds} s"));
        }
        if ticket.wanted.synced && !reached.synced {
            return Err(format!("Redis at {endpoint} had it not on disk within {seconds} s"));
        }
        Ok(())
    }

    /// Waits for all of them at once. A connection that was idle may have been closed by the server, or by what is between,
    /// which shows at its next use only; a wait decides nothing, so it is then asked for once more.
    async fn ask(&self, tickets: &[Ticket]) -> Result<Reached, String> {
        match self.try_to_ask(tickets).await {
            Err(Unasked { is_closed: true, .. }) => self.try_to_ask(tickets).await,
            told => told,
        }
        .map_err(|unasked| unasked.reason)
    }

    async fn try_to_ask(&self, tickets: &[Ticket]) -> Result<Reached, Unasked> {
        let found = self.nodes.at(&self.endpoint, Traffic::Waits).await;
        let node = found.map_err(|failure| Unasked { is_closed: false, reason: failure.to_string() })?;
        let mut wanted = WantedLevels::default();
        for ticket in tickets {
            wanted.replicated |= ticket.wanted.replicated;
            wanted.synced |= ticket.wanted.synced && !node.state.answers_are_synced();
        }
        let mut keys: Vec<&str> = tickets.iter().map(|ticket| ticket.key.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        self.send(&node, &keys, wanted).await.map_err(|error| {
            node.retire();
            let is_closed = is_broken(&error) && !error.is_timeout();
            Unasked { is_closed, reason: format!("Redis at {}: {error}", self.endpoint) }
        })
    }

    /// Writes to a key of each slot, which says that the slot is still there, and waits once.
    async fn send(&self, node: &Node, keys: &[&str], wanted: WantedLevels) -> Result<Reached, RedisError> {
        let timeout_ms = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let mut pipeline = Pipeline::new();
        for key in keys {
            pipeline.cmd("INCR").arg(key);
            // The same where memory is full: both are writes that are never refused for that.
            pipeline.cmd("PEXPIREAT").arg(key).arg(FAR_MS);
            pipeline.cmd("PERSIST").arg(key);
        }
        if wanted.replicated {
            pipeline.cmd("WAIT").arg(self.replicas).arg(timeout_ms);
        }
        if wanted.synced {
            pipeline.cmd("WAITAOF").arg(1).arg(0).arg(timeout_ms);
        }
        pipeline.ignore_errors();
        let answers: Vec<RedisResult<Value>> = pipeline.query_async(&mut node.connection()).await?;
        let mut answers = answers.into_iter();
        let mut written = BTreeSet::new();
        for key in keys {
            let [increased, _, persisted] = [answers.next(), answers.next(), answers.next()];
            let is_persisted =
                persisted.is_some_and(|answer| answer.is_ok_and(|value| value == Value::Int(1)));
            if increased.is_some_and(|answer| answer.is_ok()) || is_persisted {
                written.insert((*key).to_owned());
            }
        }
        let run_id = node.state.run_id.clone();
        let mut reached = Reached { run_id, written, replicas: 0, synced: node.state.answers_are_synced() };
        if let Some(count) = wanted.replicated.then(|| answers.next()).flatten() {
            reached.replicas = redis::from_redis_value(count?)?;
        }
        if let Some(counts) = wanted.synced.then(|| answers.next()).flatten() {
            let (local, _replicas): (u32, u32) = redis::from_redis_value(counts?)?;
            reached.synced = local > 0;
        }
        Ok(reached)
    }
}
