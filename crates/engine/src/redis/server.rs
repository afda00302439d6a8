//! What a server says of itself.

use std::collections::BTreeMap;

use redis::aio::ConnectionLike;
use redis::{RedisError, cmd};

use super::address::Endpoint;
use crate::engine::Failure;

/// What a server said when a connection to it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Which run of the server it is: another one after each restart.
    pub run_id: String,
    /// Redis' or Valkey's version, as `[major, minor]`.
    pub version: [u32; 2],
    /// `master` or `slave`.
    pub role: String,
    /// Whether it still reads its data from disk.
    pub is_loading: bool,
    /// Whether a change is on disk before it is answered.
    pub syncs_always: bool,
}

impl ServerState {
    /// Asks a server.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn ask(connection: &mut impl ConnectionLike, at: &Endpoint) -> Result<Self, Failure> {
        let unavailable = |error: RedisError| Failure::Unavailable {
            reason: format!("Redis at {at} does not say what it is: {error}; the user needs +info"),
        };
        let info: String = cmd("INFO").query_async(connection).await.map_err(unavailable)?;
        let mut get = cmd("CONFIG");
        get.arg("GET").arg("appendfsync");
        // Who is not allowed to ask, or keeps no such file, promises nothing.
        let policy: BTreeMap<String, String> = get.query_async(connection).await.unwrap_or_default();
        let always = policy.get("appendfsync").is_some_and(|policy| policy == "always");
        Ok(Self::read(&info, always))
    }

    fn read(info: &str, syncs_always: bool) -> Self {
        let fields: BTreeMap<&str, &str> =
            info.lines().filter_map(|line| line.trim().split_once(':')).collect();
        let text = |name: &str| fields.get(name).map(|value| (*value).to_owned());
        let version = text("valkey_version").or_else(|| text("redis_version")).unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        Self {
            run_id: text("run_id").unwrap_or_default(),
            version: [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)],
            role: text("role").unwrap_or_else(|| "master".to_owned()),
            is_loading: fields.get("loading") == Some(&"1"),
            syncs_always: syncs_always && fields.get("aof_enabled") == Some(&"1"),
        }
    }

    /// Whether it may be written to.
    ///
    /// # Errors
    /// When it is a replica, or still loading.
    pub fn check_primary(&self, at: &Endpoint) -> Result<(), Failure> {
        let refused = |what: &str| Err(Failure::Unavailable { reason: format!("Redis at {at} {what}") });
        match (self.role.as_str(), self.is_loading) {
            (_, true) => refused("is loading its data; it is used as soon as it is done"),
            ("master", false) => Ok(()),
            _ => refused("is a replica; name the primary, or its sentinels, in redis_url"),
        }
    }

    /// Whether `WAITAOF` is there, which waits until a change is on disk.
    #[must_use]
    pub fn has_waitaof(&self) -> bool {
        self.version >= [7, 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_read() {
        let info = "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.1.0\r\nrun_id:abc\r\n\
                    loading:0\r\naof_enabled:1\r\nrole:slave\r\n";
        let state = ServerState::read(info, true);
        assert_eq!((state.version, state.run_id.as_str()), ([8, 1], "abc"));
        assert!(state.syncs_always && state.has_waitaof());
        let refused = state.check_primary(&Endpoint::Tcp("host".to_owned(), 1)).expect_err("a replica");
        assert!(refused.to_string().contains("host:1 is a replica"), "{refused}");
        assert!(!ServerState::read("aof_enabled:0", true).syncs_always);
    }
}
