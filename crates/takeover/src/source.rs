//! The Redis that is in use: reads the keys of a map as they are at one moment.
//!
//! Writers are paused by the server itself meanwhile, or have been stopped by the operator. Either is checked: a server
//! counts its changes, and the count must not have moved while it was read.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, Value, cmd};
use scarce_engine_redis::RedisSettings;
use scarce_engine_redis::address::{Address, Endpoint, Login, SHAPE, Tls};
use scarce_engine_redis::nodes::Nodes;

use crate::error::TakeoverError;
use crate::map::Map;
use crate::snapshot::{Matched, Snapshot};

/// How many keys are asked for at once.
const KEYS_PER_CALL: usize = 1_000;

/// How often reading begins again because a server saved meanwhile, which begins its count of changes anew.
const READS_MAX: u32 = 3;

/// How all keys are read as they are at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The servers hold up writers while they are read, for so long at most.
    Pause(Duration),
    /// Nobody writes: the operator has stopped the writers, or the server is a replica that follows no more.
    Still,
    /// They are read without that, to see what there is.
    Look,
}

/// A Redis that is read.
#[derive(Debug)]
pub struct Source {
    nodes: Nodes,
    database: i64,
}

/// One server of it.
struct Server {
    at: Endpoint,
    connection: MultiplexedConnection,
}

/// A server's count of its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    run: String,
    changes: String,
    saved_at: String,
}

impl Source {
    /// A source at an address; nothing is sent yet.
    ///
    /// # Errors
    /// When the address has another shape.
    pub fn new(url: &str, login: Login, tls: Tls) -> Result<Self, TakeoverError> {
        let wrong = || TakeoverError::Address {
            url: url.rsplit('@').next().unwrap_or_default().to_owned(),
            shape: SHAPE,
        };
        let database = Address::parse(url).ok_or_else(wrong)?.database;
        let settings = RedisSettings { url: url.to_owned(), login, tls, ..RedisSettings::default() };
        Ok(Self { nodes: Nodes::of(&settings).map_err(|_| wrong())?, database })
    }

    /// Reads what the map names.
    ///
    /// # Errors
    /// When a server does not answer, or was written to meanwhile, or there is too much.
    pub async fn read(&self, map: &Map, moment: Moment) -> Result<Snapshot, TakeoverError> {
        let mut servers = self.connect().await?;
        let Moment::Pause(pause) = moment else {
            return read_still(&mut servers, map, moment).await;
        };
        let begun = Instant::now();
        let read = match hold(&mut servers, pause).await {
            Ok(()) => read_still(&mut servers, map, moment).await,
            Err(error) => Err(error),
        };
        let took = begun.elapsed();
        for server in &mut servers {
            // The pause ends by itself too.
            let _ = server.ask::<Value>(&["CLIENT", "UNPAUSE"]).await;
        }
        let snapshot = read?;
        if took >= pause {
            let [took_ms, pause_ms] = [took, pause].map(milliseconds);
            return Err(TakeoverError::Late { took_ms, pause_ms });
        }
        Ok(snapshot)
    }

    async fn connect(&self) -> Result<Vec<Server>, TakeoverError> {
        let found = self.nodes.primaries().await;
        let endpoints = found.map_err(|failure| TakeoverError::Source {
            at: "the address".to_owned(),
            what: failure.to_string(),
        })?;
        let mut servers = Vec::new();
        for at in endpoints {
            let mut connection = None;
            let told = self.nodes.tell(&at, async |made| connection = Some(made.clone())).await;
            told.map_err(|error| refused(&at, &error))?;
            let Some(connection) = connection else { continue };
            let mut server = Server { at, connection };
            if self.database != 0 {
                server.ask::<Value>(&["SELECT", &self.database.to_string()]).await?;
            }
            servers.push(server);
        }
        Ok(servers)
    }
}

/// Holds up the writers of all servers before any of them is read.
async fn hold(servers: &mut [Server], pause: Duration) -> Result<(), TakeoverError> {
    let pause_ms = milliseconds(pause).to_string();
    for server in servers {
        let paused: RedisResult<Value> =
            cmd("CLIENT").arg(&["PAUSE", &pause_ms, "WRITE"]).query_async(&mut server.connection).await;
        paused
            .map_err(|error| TakeoverError::Pause { at: server.at.to_string(), said: error.to_string() })?;
    }
    Ok(())
}

/// Reads all servers, and once more if one has saved meanwhile.
async fn read_still(servers: &mut [Server], map: &Map, moment: Moment) -> Result<Snapshot, TakeoverError> {
    for _ in 0..READS_MAX {
        let before = marks(servers).await?;
        let mut snapshot = Snapshot::new(map);
        for server in &mut *servers {
            server.read(map, &mut snapshot).await?;
        }
        let after = marks(servers).await?;
        let moved = before.iter().zip(&after).position(|(before, after)| before != after);
        let Some(place) = moved.filter(|_| moment != Moment::Look) else { return Ok(snapshot) };
        if before[place].run == after[place].run && before[place].saved_at != after[place].saved_at {
            continue;
        }
        return Err(moving(&servers[place], moment));
    }
    Err(moving(&servers[0], moment))
}

fn moving(server: &Server, moment: Moment) -> TakeoverError {
    let advice = match moment {
        Moment::Pause(_) => {
            "The server said that it paused its writers and did not; stop them yourself, and say --moment still"
        }
        _ => {
            "Stop the writers, or read a replica after REPLICAOF NO ONE, or let the server pause them: --moment pause"
        }
    };
    TakeoverError::Moving { at: server.at.to_string(), advice }
}

async fn marks(servers: &mut [Server]) -> Result<Vec<Mark>, TakeoverError> {
    let mut marks = Vec::new();
    for server in servers {
        marks.push(server.mark().await?);
    }
    Ok(marks)
}

impl Server {
    async fn ask<T: redis::FromRedisValue>(&mut self, words: &[&str]) -> Result<T, TakeoverError> {
        let mut command = redis::Cmd::new();
        command.arg(words);
        command.query_async(&mut self.connection).await.map_err(|error| refused(&self.at, &error))
    }

    async fn mark(&mut self) -> Result<Mark, TakeoverError> {
        let info: String = self.ask(&["INFO"]).await?;
        let figure = |name: &str| {
            let mut all = info.lines().filter_map(|line| line.trim().split_once(':'));
            all.find(|(its, _)| *its == name).map(|(_, value)| value.to_owned()).ok_or_else(|| {
                let what =
                    format!("INFO does not say {name}, without which nobody knows whether it was written to");
                TakeoverError::Source { at: self.at.to_string(), what }
            })
        };
        Ok(Mark {
            run: figure("run_id")?,
            changes: figure("rdb_changes_since_last_save")?,
            saved_at: figure("rdb_last_save_time")?,
        })
    }

    async fn read(&mut self, map: &Map, snapshot: &mut Snapshot) -> Result<(), TakeoverError> {
        let mut cursor = "0".to_owned();
        loop {
            let count = KEYS_PER_CALL.to_string();
            let (next, keys): (String, Vec<Vec<u8>>) = self.ask(&["SCAN", &cursor, "COUNT", &count]).await?;
            let matched: Vec<Matched> = keys.iter().filter_map(|key| snapshot.sort(map, key)).collect();
            for some in matched.chunks(KEYS_PER_CALL) {
                self.values(map, some, snapshot).await?;
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    async fn values(
        &mut self,
        map: &Map,
        keys: &[Matched],
        snapshot: &mut Snapshot,
    ) -> Result<(), TakeoverError> {
        let mut asked = Pipeline::with_capacity(keys.len() * 2);
        asked.ignore_errors();
        for matched in keys {
            asked.add_command(map.rules[matched.rule].reading.command(&matched.key));
            asked.cmd("PTTL").arg(&matched.key);
        }
        let answers: Vec<Value> = {
            let sent = self.connection.send_packed_commands(&asked, 0, keys.len() * 2).await;
            sent.map_err(|error| refused(&self.at, &error))?
        };
        let mut answers = answers.into_iter();
        for matched in keys {
            let (Some(value), Some(ttl)) = (answers.next(), answers.next()) else { break };
            snapshot.add(map, matched, value, &ttl)?;
        }
        Ok(())
    }
}

fn refused(at: &Endpoint, error: &redis::RedisError) -> TakeoverError {
    TakeoverError::Source { at: at.to_string(), what: error.to_string() }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
