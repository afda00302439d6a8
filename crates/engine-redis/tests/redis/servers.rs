//! The servers that a test plays on: one, or a cluster.

use std::time::{Duration, Instant};

use redis::Connection;
pub use scarce_launch::{Cluster, Options, Server};

/// How long a server may take until it serves again after a crash.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(180);

/// One server that keeps an append-only file.
pub fn server() -> Server {
    Server::start(Options::new()).expect("redis-server must be installed (cargo xtask test does it)")
}

/// A connection of the test's own.
pub fn connection(server: &Server) -> Connection {
    server.connection().expect("the server")
}

/// Ends a server as a crash would, starts it again and waits until it serves.
pub fn restart(server: &mut Server) {
    server.restart().expect("the server");
    let begun = Instant::now();
    while !serves(server) {
        assert!(begun.elapsed() < RECOVERY_TIMEOUT, "the server does not serve again");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn serves(server: &Server) -> bool {
    // A node of a cluster answers a ping before it takes its slots up again.
    let key = server.ask::<Option<String>>(&["RANDOMKEY"]);
    let state = server.ask::<String>(&["CLUSTER", "INFO"]);
    key.is_ok() && state.map_or(true, |state| state.contains("cluster_state:ok"))
}

/// Every change is on disk before it is answered, and the disk is quick.
fn syncing() -> Options {
    Options::new().with("appendfsync", "always").in_memory()
}

/// One or several servers.
pub enum Servers {
    /// One.
    Alone(Box<Server>),
    /// Three primaries, each with a replica.
    Cluster(Cluster),
}

impl Servers {
    /// One that can give the level `synced`.
    pub fn alone() -> Self {
        Self::Alone(Box::new(Server::start(syncing()).expect("a server")))
    }

    /// Three primaries, each with a replica.
    pub fn cluster() -> Self {
        Self::Cluster(Cluster::start(&syncing(), 3, 1).expect("a cluster"))
    }

    /// What `--redis-url` takes.
    pub fn url(&self) -> String {
        match self {
            Self::Alone(server) => server.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// Removes all keys.
    pub fn clear(&self) {
        let primaries = match self {
            Self::Alone(server) => std::slice::from_ref(&**server),
            Self::Cluster(cluster) => &cluster.nodes[..3],
        };
        for server in primaries {
            server.ask::<()>(&["FLUSHALL"]).expect("no keys");
        }
    }

    /// Ends the one that has the first partition as a crash would, and starts it again.
    pub fn restart(&mut self) {
        match self {
            Self::Alone(server) => restart(server),
            Self::Cluster(cluster) => restart(&mut cluster.nodes[0]),
        }
    }
}
