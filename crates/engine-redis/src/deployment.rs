//! What is fixed when a deployment is created: its id, its number of partitions and its secret, in a hash of its
//! own. And what a server must be like.

use std::collections::BTreeMap;

use scarce_engine::engine::Failure;
use scarce_engine::random::{self, hex, unhex};

use super::RedisError;
use super::connection::{Link, Refused};
use super::program::ScriptKind;

/// The newest version of keys and records.
const FORMAT_VERSION: u32 = 1;

/// The field that says that all partitions were begun: one without keys has lost them.
const BEGUN: &str = "begun";

/// The hash in which it is kept.
pub(super) fn key(prefix: &str) -> String {
    format!("{prefix}deployment")
}

/// What a deployment has for ever.
pub(super) struct Deployment {
    /// Its id, in hexadecimal digits.
    pub(super) id: String,
    /// What keys the cuts of its red packets.
    pub(super) secret: [u8; 32],
    /// Whether all of its partitions were begun.
    pub(super) is_begun: bool,
}

/// Loads the deployment behind a prefix, or creates it.
pub(super) async fn load_or_create(
    link: &Link,
    prefix: &str,
    partitions: u32,
) -> Result<Deployment, RedisError> {
    if partitions == 0 {
        return Err(RedisError::NoPartition);
    }
    let key = key(prefix);
    let fields = [
        ("format_version", FORMAT_VERSION.to_string()),
        ("partitions", partitions.to_string()),
        ("deployment_id", hex(&random::bytes::<16>().map_err(RedisError::Random)?)),
        ("secret", hex(&random::bytes::<32>().map_err(RedisError::Random)?)),
    ];
    for (name, value) in fields {
        let mut set = redis::cmd("HSETNX");
        set.arg(&key).arg(name).arg(value);
        let _is_new: bool = ask(link, &set).await?;
    }
    let mut get = redis::cmd("HGETALL");
    get.arg(&key);
    let found: BTreeMap<String, String> = ask(link, &get).await?;
    let number = |name: &str| found.get(name).and_then(|text| text.parse::<u32>().ok());
    let damaged = || RedisError::Damaged { key: key.clone() };
    let version = number("format_version").ok_or_else(damaged)?;
    if version > FORMAT_VERSION {
        return Err(RedisError::Newer { key: key.clone(), found: version, supported: FORMAT_VERSION });
    }
    match number("partitions").ok_or_else(damaged)? {
        its if its == partitions => {
            let secret = found.get("secret").and_then(|text| unhex(text)).ok_or_else(damaged)?;
            let id: [u8; 16] = found.get("deployment_id").and_then(|text| unhex(text)).ok_or_else(damaged)?;
            Ok(Deployment { id: hex(&id), secret, is_begun: found.contains_key(BEGUN) })
        }
        its => Err(RedisError::Partitions { key: key.clone(), found: its, wanted: partitions }),
    }
}

/// Whether there is a deployment behind a prefix.
pub(super) async fn exists(link: &Link, prefix: &str) -> Result<bool, RedisError> {
    ask(link, redis::cmd("EXISTS").arg(key(prefix))).await
}

/// The id of a deployment whose partitions were begun; nothing where there is none.
pub(super) async fn begun(link: &Link, prefix: &str) -> Result<Option<String>, RedisError> {
    let mut get = redis::cmd("HMGET");
    get.arg(key(prefix)).arg("deployment_id").arg(BEGUN);
    let (id, begun): (Option<String>, Option<u8>) = ask(link, &get).await?;
    Ok(id.filter(|_| begun.is_some()))
}

/// Notes that all partitions were begun.
pub(super) async fn note_begun(link: &Link, prefix: &str) -> Result<(), RedisError> {
    ask(link, redis::cmd("HSET").arg(key(prefix)).arg(BEGUN).arg(1)).await
}

async fn ask<T: redis::FromRedisValue>(link: &Link, command: &redis::Cmd) -> Result<T, RedisError> {
    Ok(link.send(command).await.map_err(Failure::from)?)
}

/// Functions where the server has them.
pub(super) async fn script_kind(link: &Link) -> Result<ScriptKind, RedisError> {
    let mut list = redis::cmd("FUNCTION");
    list.arg("STATS");
    match link.send::<redis::Value>(&list).await {
        Ok(_) => Ok(ScriptKind::Functions),
        Err(Refused::ByServer { .. }) => Ok(ScriptKind::Evalsha),
        Err(refused) => Err(Failure::from(refused).into()),
    }
}
