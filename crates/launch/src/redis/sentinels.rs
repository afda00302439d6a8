//! A primary with replicas, and sentinels that monitor them.

use super::{Options, Server};
use crate::{LaunchError, wait_until};

/// The sentinels' name for the primary.
const SERVICE: &str = "scarce";

/// The time in milliseconds after which a silent primary counts as down.
const DOWN_AFTER_MS: &str = "1000";

/// How many sentinels must agree.
const QUORUM: usize = 2;

/// A primary, its replicas, and three sentinels.
#[derive(Debug)]
pub struct Sentinels {
    /// The servers; which of them is the primary changes.
    pub servers: Vec<Server>,
    /// The sentinels.
    pub sentinels: Vec<Server>,
}

impl Sentinels {
    /// Starts a primary with that many replicas and three sentinels, and waits until they know each other.
    /// All servers, but not the sentinels, require `password` if there is one.
    ///
    /// # Errors
    /// When a server does not start or does not discover the others.
    pub fn start(options: &Options, replicas: usize, password: Option<&str>) -> Result<Self, LaunchError> {
        let mut options = options.clone();
        if let Some(password) = password {
            options = options.with("requirepass", password).with("masterauth", password);
        }
        let options = options.with("repl-diskless-sync-delay", "0");
        let primary = Server::start(options.clone())?;
        let following = options.with("replicaof", &format!("127.0.0.1 {}", primary.port()));
        let mut servers = vec![primary];
        for _ in 0..replicas {
            servers.push(Server::start(following.clone())?);
        }
        let watching = Self::watching(servers[0].port(), password);
        let sentinels = (0..3).map(|_| Server::start(watching.clone())).collect::<Result<Vec<_>, _>>()?;
        let started = Self { servers, sentinels };
        started.wait(replicas)?;
        Ok(started)
    }

    fn watching(port: u16, password: Option<&str>) -> Options {
        let mut options = Options::bare();
        options.kind.is_sentinel = true;
        options = options
            .with("sentinel monitor", &format!("{SERVICE} 127.0.0.1 {port} {QUORUM}"))
            .with("sentinel down-after-milliseconds", &format!("{SERVICE} {DOWN_AFTER_MS}"))
            .with("sentinel failover-timeout", &format!("{SERVICE} 5000"));
        if let Some(password) = password {
            options = options.with("sentinel auth-pass", &format!("{SERVICE} {password}"));
        }
        options
    }

    /// The value for `--redis-url`.
    #[must_use]
    pub fn url(&self) -> String {
        let addresses: Vec<String> = self.sentinels.iter().map(Server::address).collect();
        format!("redis+sentinel://{}/{SERVICE}", addresses.join(","))
    }

    /// The server that the sentinels name as the primary.
    ///
    /// # Errors
    /// When no sentinel answers.
    pub fn primary(&self) -> Result<usize, LaunchError> {
        let mut refused = None;
        for sentinel in &self.sentinels {
            match sentinel.ask::<(String, u16)>(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE]) {
                Ok((_, port)) => {
                    let found = self.servers.iter().position(|server| server.port() == port);
                    return found
                        .ok_or_else(|| LaunchError::Late { what: format!("{port} is none of ours") });
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(LaunchError::Late { what: "there is no sentinel".to_owned() }))
    }

    /// Waits until the sentinels name a primary other than `former`.
    ///
    /// # Errors
    /// When they do not.
    pub fn wait_for_failover(&self, former: usize) -> Result<usize, LaunchError> {
        wait_until("no replica was promoted", || self.primary().is_ok_and(|primary| primary != former))?;
        self.primary()
    }

    fn wait(&self, replicas: usize) -> Result<(), LaunchError> {
        let known = |sentinel: &Server, count: &str| -> Option<usize> {
            let words: Vec<String> = sentinel.ask(&["SENTINEL", "MASTER", SERVICE]).ok()?;
            let at = words.iter().position(|word| word == count)?;
            words.get(at + 1)?.parse().ok()
        };
        wait_until("the sentinels do not know all servers", || {
            self.sentinels.iter().all(|sentinel| {
                known(sentinel, "num-slaves") == Some(replicas)
                    && known(sentinel, "num-other-sentinels") == Some(self.sentinels.len() - 1)
            })
        })
    }
}
