//! How far inputs of commands were consumed: in a hash beside the log of a partition, so that a failover that loses
//! effects loses the positions behind them as well.

use std::collections::BTreeMap;

use scarce_engine::engine::Failure;
use scarce_engine::inputs::InputPosition;

use super::connection::Link;
use super::keys::Keys;

/// The key of the hash.
pub const KEY: &str = "inputs";

/// All positions that a partition keeps.
pub(super) async fn list(link: &Link, keys: &Keys) -> Result<Vec<InputPosition>, Failure> {
    let mut get = redis::cmd("HGETALL");
    get.arg(keys.of(KEY));
    let fields: BTreeMap<String, String> = link.send(&get).await?;
    let read = |(input, values): (&String, &String)| {
        InputPosition::read(input, values).ok_or_else(|| Failure::Unavailable {
            reason: format!(
                "the field '{input}' of {} is damaged; remove it with HDEL, and its commands are read from the offsets of the consumer group",
                keys.of(KEY)
            ),
        })
    };
    fields.iter().map(read).collect()
}

/// Keeps positions, each in place of the earlier one with its name.
pub(super) async fn keep(link: &Link, keys: &Keys, positions: &[InputPosition]) -> Result<(), Failure> {
    if positions.is_empty() {
        return Ok(());
    }
    let mut set = redis::cmd("HSET");
    set.arg(keys.of(KEY));
    for position in positions {
        set.arg(&position.input).arg(position.values());
    }
    let _: redis::Value = link.send(&set).await?;
    Ok(())
}
