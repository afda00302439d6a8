//! The slow commands of a server that runs.

use scarce_settings::ServerSettings;
use serde_json::json;

use super::finding::Finding;
use crate::call::{connect_to, json as answer_json};

const NAME: &str = "slow commands";

/// Nothing where no server answers, which other findings tell.
pub(super) fn examine(settings: &ServerSettings) -> Option<Finding> {
    let mut client = connect_to(settings).ok()?;
    client.set_timeout(super::ports::PATIENCE).ok()?;
    let answer = answer_json(&client.call(&["SLOWLOG", "GET", "-1"]).ok()?);
    let rows = answer.as_array()?;
    let took_us = |row: &serde_json::Value| row[2].as_u64().unwrap_or_default();
    let Some(slowest) = rows.iter().max_by_key(|row| took_us(row)) else {
        return Some(Finding::ok(NAME, "none"));
    };
    let words = slowest[3].as_array().into_iter().flatten().filter_map(|word| word.as_str());
    let told = words.collect::<Vec<_>>().join(" ");
    let (count, slowest_ms) = (rows.len(), took_us(slowest) / 1_000);
    let figures = json!({ "remembered": count, "slowest_ms": slowest_ms, "slowest": told });
    let found = format!("{count} are remembered; the slowest took {slowest_ms} ms: {told}");
    let advice = "SLOWLOG GET lists them; compare the time of a sync and of a call to Redis (docs/reference/monitoring.md)";
    Some(Finding::warn(NAME, found, advice).with(figures))
}
