//! A Redis Cluster: primaries that share the slots, each with replicas.

use super::{Options, Server};
use crate::{LaunchError, wait_until};

/// The number of slots.
const SLOTS: usize = 16_384;

/// The time in milliseconds after which a silent node counts as failed.
const NODE_TIMEOUT_MS: &str = "1500";

/// The nodes of a cluster.
#[derive(Debug)]
pub struct Cluster {
    /// First the initial primaries, then their replicas in turn.
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Starts `primaries` nodes with `replicas` replicas each, and waits until all slots are served.
    ///
    /// # Errors
    /// When a node does not start or does not discover the others.
    pub fn start(options: &Options, primaries: usize, replicas: usize) -> Result<Self, LaunchError> {
        let mut options = options.clone();
        options.kind.is_cluster = true;
        let options =
            options.with("cluster-node-timeout", NODE_TIMEOUT_MS).with("repl-diskless-sync-delay", "0");
        let count = primaries * (1 + replicas);
        let nodes = (0..count).map(|_| Server::start(options.clone())).collect::<Result<Vec<_>, _>>()?;
        let cluster = Self { nodes };
        cluster.assign(primaries)?;
        cluster.meet()?;
        for at in primaries..count {
            let primary = cluster.id(at % primaries)?;
            cluster.nodes[at].ask::<()>(&["CLUSTER", "REPLICATE", &primary])?;
        }
        cluster.wait(primaries)?;
        Ok(cluster)
    }

    /// The value for `--redis-url`.
    #[must_use]
    pub fn url(&self) -> String {
        let addresses: Vec<String> = self.nodes.iter().map(Server::address).collect();
        format!("redis+cluster://{}", addresses.join(","))
    }

    /// The id of a node.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn id(&self, node: usize) -> Result<String, LaunchError> {
        self.nodes[node].ask(&["CLUSTER", "MYID"])
    }

    /// The node that serves a slot, according to another node.
    ///
    /// # Errors
    /// When `asked` does not answer or knows no owner.
    pub fn owner(&self, asked: usize, slot: u16) -> Result<usize, LaunchError> {
        let ranges: Vec<Vec<redis::Value>> = self.nodes[asked].ask(&["CLUSTER", "SLOTS"])?;
        let port = ranges.iter().find_map(|range| primary_port(range, slot));
        if let Some(found) = self.nodes.iter().position(|node| Some(node.port()) == port) {
            return Ok(found);
        }
        Err(LaunchError::Late { what: format!("nobody serves slot {slot}") })
    }

    /// Moves a slot with all its keys, as `redis-cli --cluster reshard` does: `per_step` keys at a time, with
    /// a call of `between` after each step.
    ///
    /// # Errors
    /// When a node refuses.
    pub fn move_slot(
        &self,
        slot: u16,
        from: usize,
        to: usize,
        per_step: usize,
        mut between: impl FnMut(),
    ) -> Result<(), LaunchError> {
        let (source, target) = (self.id(from)?, self.id(to)?);
        let (slot, count) = (slot.to_string(), per_step.to_string());
        self.nodes[to].ask::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source])?;
        self.nodes[from].ask::<()>(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target])?;
        loop {
            between();
            let keys: Vec<String> = self.nodes[from].ask(&["CLUSTER", "GETKEYSINSLOT", &slot, &count])?;
            if keys.is_empty() {
                break;
            }
            let port = self.nodes[to].port().to_string();
            let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "10000", "KEYS"];
            words.extend(keys.iter().map(String::as_str));
            self.nodes[from].ask::<()>(&words)?;
        }
        // The target first, so that no node ever names an owner that does not know it yet.
        self.nodes[to].ask::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &target])?;
        self.nodes[from].ask::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &target])
    }

    fn assign(&self, primaries: usize) -> Result<(), LaunchError> {
        for (at, node) in self.nodes.iter().enumerate() {
            node.ask::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()])?;
        }
        for (at, node) in self.nodes.iter().take(primaries).enumerate() {
            let (first, end) = (at * SLOTS / primaries, (at + 1) * SLOTS / primaries);
            let mut words = vec!["CLUSTER".to_owned(), "ADDSLOTS".to_owned()];
            words.extend((first..end).map(|slot| slot.to_string()));
            node.ask::<()>(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn meet(&self) -> Result<(), LaunchError> {
        let first = &self.nodes[0];
        for node in &self.nodes[1..] {
            let (port, bus_port) = (node.port().to_string(), node.bus_port().to_string());
            first.ask::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus_port])?;
        }
        wait_until("the nodes do not know each other", || {
            self.nodes.iter().all(|node| self.known(node) == Some(self.nodes.len()))
        })
    }

    fn known(&self, node: &Server) -> Option<usize> {
        let text: String = node.ask(&["CLUSTER", "NODES"]).ok()?;
        let settled = |line: &&str| !line.contains("handshake") && line.contains(" connected");
        Some(text.lines().filter(settled).count())
    }

    fn wait(&self, primaries: usize) -> Result<(), LaunchError> {
        wait_until("the cluster does not serve all slots", || {
            self.nodes.iter().all(|node| {
                let state: Option<String> = node.ask(&["CLUSTER", "INFO"]).ok();
                state.is_some_and(|state| state.contains("cluster_state:ok"))
            })
        })?;
        wait_until("the replicas are not in step", || {
            self.nodes.iter().skip(primaries).all(|node| {
                let state: Option<String> = node.ask(&["INFO", "replication"]).ok();
                state.is_some_and(|state| state.contains("master_link_status:up"))
            })
        })
    }
}

/// The port of a range's primary, if the slot is in the range.
fn primary_port(range: &[redis::Value], slot: u16) -> Option<u16> {
    let [first, last, primary, ..] = range else { return None };
    let primary: Vec<redis::Value> = read(primary)?;
    (read(first)?..=read(last)?).contains(&slot).then(|| read(primary.get(1)?)).flatten()
}

fn read<T: redis::FromRedisValue>(value: &redis::Value) -> Option<T> {
    redis::from_redis_value(value.clone()).ok()
}
