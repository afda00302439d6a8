//! The Redis of a demonstration: the user's own, with a unique key prefix, or servers that are started for
//! the demonstration and end with it.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use scarce_core::outcome::Durability;
use scarce_engine_redis as engine;
use scarce_engine_redis::connection::Link;
use scarce_engine_redis::keys::{Keys, slot};
use scarce_engine_redis::nodes::{Nodes, Traffic};
use scarce_launch::{Cluster, LaunchError, Options, Sentinels, Server};

use super::options::{EngineOptions, Topology};
use crate::failure::DemoError;

/// The number of primaries of a cluster, and of replicas of each.
const PRIMARIES: usize = 3;
const REPLICAS: usize = 1;

/// How long the user's own Redis may take to delete the demonstration's keys.
const PATIENCE: Duration = Duration::from_secs(5);

/// The Redis with the state.
pub(super) struct Backing {
    servers: Servers,
    url: String,
    prefix: String,
    topology: Topology,
    pub(super) durability: Durability,
    options: EngineOptions,
    /// The server that was killed, unless it is back.
    killed: Option<usize>,
}

enum Servers {
    /// The user's own Redis, which must be left as it was, with its connection settings.
    Own(Box<engine::RedisSettings>),
    /// A primary, and a replica if changes must be replicated.
    Single(Vec<Server>),
    Sentinels(Sentinels),
    Cluster(Cluster),
}

impl Backing {
    /// Starts the servers, unless the user named one.
    ///
    /// # Errors
    /// When they do not start, or the address is invalid.
    pub(super) fn start(options: &EngineOptions, prefix: String) -> Result<Self, DemoError> {
        let durability = options.durability.unwrap_or_default().durability();
        let topology = options.topology.unwrap_or_default();
        let servers = match &options.redis_url {
            Some(url) => {
                let reason = |reason| DemoError::failed(reason);
                let settings = options.settings(url, &prefix)?.redis().map_err(reason)?;
                Servers::Own(Box::new(settings))
            }
            None => launch(topology, durability)?,
        };
        let url = match &servers {
            Servers::Own(settings) => settings.url.clone(),
            Servers::Single(servers) => servers[0].url(),
            Servers::Sentinels(sentinels) => sentinels.url(),
            Servers::Cluster(cluster) => cluster.url(),
        };
        Ok(Self { servers, url, prefix, topology, durability, options: options.clone(), killed: None })
    }

    /// Adds the arguments for 'scarce serve'.
    pub(super) fn tell(&self, command: &mut Command) {
        command.args(["--engine", "redis", "--redis-url", &self.url, "--redis-prefix", &self.prefix]);
        command.args(["--redis-durability", self.durability.word()]);
        match &self.servers {
            Servers::Own(settings) => command.arg("--redis-replicas").arg(settings.replicas.to_string()),
            _ => command.args(["--redis-replicas", "1"]),
        };
        if let Some(file) = &self.options.redis_password_file {
            command.arg("--redis-password-file").arg(file);
        }
    }

    /// Whether an environment variable says how to reach the user's own Redis.
    pub(super) fn heeds(&self, variable: &str) -> bool {
        matches!(self.servers, Servers::Own(_)) && variable.starts_with("SCARCE_REDIS_")
    }

    /// The kind of Redis, in a word.
    pub(super) fn kind(&self) -> &'static str {
        match (&self.servers, self.topology) {
            (Servers::Own(_), _) => "your own Redis",
            (_, Topology::Standalone) => "standalone",
            (_, Topology::Sentinel) => "sentinel",
            (_, Topology::Cluster) => "cluster",
        }
    }

    /// Whether another server takes over when one is killed.
    pub(super) fn fails_over(&self) -> bool {
        matches!(self.servers, Servers::Sentinels(_) | Servers::Cluster(_))
    }

    /// Kills the server with the state if another one can take over. Returns its address.
    pub(super) fn kill_primary(&mut self) -> Result<Option<String>, LaunchError> {
        let found = match &self.servers {
            Servers::Sentinels(sentinels) => sentinels.primary()?,
            Servers::Cluster(cluster) => cluster.owner(0, self.slot())?,
            Servers::Own(_) | Servers::Single(_) => return Ok(None),
        };
        let servers = self.servers_mut();
        let address = servers[found].address();
        servers[found].kill()?;
        self.killed = Some(found);
        Ok(Some(address))
    }

    /// Checks whether another one has taken over. If changes must be replicated, the killed server then comes
    /// back as a replica of the new primary.
    pub(super) fn has_taken_over(&mut self) -> Result<bool, LaunchError> {
        let Some(former) = self.killed else { return Ok(true) };
        let Some(next) = self.primary().filter(|next| *next != former) else { return Ok(false) };
        if self.durability == Durability::Replicated {
            self.killed = None;
            let is_cluster = matches!(self.servers, Servers::Cluster(_));
            let servers = self.servers_mut();
            if is_cluster {
                servers[former].restart()?;
            } else {
                let [former, next] = servers.get_disjoint_mut([former, next]).map_err(|_| lost_track())?;
                former.restart_as_replica(next)?;
            }
        }
        Ok(true)
    }

    /// The current address of the state.
    pub(super) fn address(&mut self) -> String {
        match self.primary() {
            Some(at) => self.servers_mut()[at].address(),
            None => self.url.clone(),
        }
    }

    /// The server that currently has the state, according to the others.
    fn primary(&self) -> Option<usize> {
        match &self.servers {
            Servers::Own(_) => None,
            Servers::Single(_) => Some(0),
            Servers::Sentinels(sentinels) => sentinels.primary().ok(),
            Servers::Cluster(cluster) => {
                let mut living = (0..cluster.nodes.len()).filter(|at| Some(*at) != self.killed);
                living.find_map(|asked| cluster.owner(asked, self.slot()).ok())
            }
        }
    }

    fn slot(&self) -> u16 {
        self.keys().slot()
    }

    fn keys(&self) -> Keys {
        Keys::new(&self.prefix, 0, 1)
    }

    /// The started servers that hold state.
    fn servers_mut(&mut self) -> &mut [Server] {
        match &mut self.servers {
            Servers::Own(_) => &mut [],
            Servers::Single(servers) => servers,
            Servers::Sentinels(sentinels) => &mut sentinels.servers,
            Servers::Cluster(cluster) => &mut cluster.nodes,
        }
    }

    /// Says where the kept data is.
    pub(super) fn kept(&mut self) -> String {
        let prefix = self.prefix.clone();
        let primary = self.primary();
        match primary.and_then(|at| self.servers_mut().get(at)) {
            None => format!("keys behind '{prefix}' in {}", self.url),
            Some(server) => {
                let folder = server.folder().display();
                format!(
                    "{folder}, behind the prefix '{prefix}'; start it with 'redis-server redis.conf' there"
                )
            }
        }
    }

    /// Ends the started servers, and deletes what was written to the user's own Redis unless it `is_kept`.
    pub(super) fn clear(mut self, is_kept: bool) -> Result<(), String> {
        if is_kept {
            self.servers_mut().iter_mut().for_each(Server::keep);
            return Ok(());
        }
        match &self.servers {
            Servers::Own(settings) => self.delete_keys(settings).map_err(|reason| {
                format!("cannot delete the keys behind '{}' in {}: {reason}", self.prefix, self.url)
            }),
            _ => Ok(()),
        }
    }

    /// Deletes every key whose name the engine knows; nothing else is touched.
    fn delete_keys(&self, settings: &engine::RedisSettings) -> Result<(), String> {
        let settings = engine::RedisSettings { response_timeout: PATIENCE, ..settings.clone() };
        let nodes = Arc::new(Nodes::of(&settings).map_err(|error| error.to_string())?);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let keys = self.keys();
        let deployment = format!("{}deployment", self.prefix);
        let of_partition = keys.all().iter().cloned().chain([keys.of("waited")]);
        let all = of_partition
            .map(|key| (keys.slot(), key))
            .chain([(slot(deployment.as_bytes()), deployment.clone())]);
        for (slot, key) in all {
            let link = Link::new(Arc::clone(&nodes), slot, Traffic::Reads);
            let mut unlink = ::redis::cmd("UNLINK");
            unlink.arg(key);
            let deleted = runtime.block_on(link.send::<u64>(&unlink));
            deleted.map_err(|refused| scarce_engine::engine::Failure::from(refused).to_string())?;
        }
        Ok(())
    }
}

/// What will be started, in one line.
pub(super) fn description(options: &EngineOptions, prefix: &str) -> String {
    let durability = options.durability.unwrap_or_default().durability();
    let what = match (&options.redis_url, options.topology.unwrap_or_default()) {
        (Some(url), _) => format!("{url}, keys behind '{prefix}'"),
        (None, Topology::Standalone) if durability == Durability::Replicated => {
            "a redis-server of its own and a replica".to_owned()
        }
        (None, Topology::Standalone) => "a redis-server of its own".to_owned(),
        (None, Topology::Sentinel) => "a primary and a replica behind 3 sentinels".to_owned(),
        (None, Topology::Cluster) => format!("a cluster of {PRIMARIES} primaries with a replica each"),
    };
    format!("{what}; durability {}", durability.word())
}

fn launch(topology: Topology, durability: Durability) -> Result<Servers, LaunchError> {
    let sync = if durability == Durability::Synced { "always" } else { "no" };
    let options = Options::new().with("appendfsync", sync);
    Ok(match topology {
        Topology::Standalone => {
            let mut servers = vec![Server::start(options)?];
            if durability == Durability::Replicated {
                servers.push(servers[0].start_replica()?);
            }
            Servers::Single(servers)
        }
        Topology::Sentinel => Servers::Sentinels(Sentinels::start(&options, REPLICAS, None)?),
        Topology::Cluster => Servers::Cluster(Cluster::start(&options, PRIMARIES, REPLICAS)?),
    })
}

fn lost_track() -> LaunchError {
    LaunchError::Late { what: "the sentinels name a server that is not there".to_owned() }
}
