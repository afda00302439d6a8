//! `GET /v1/consumers`: who consumes the log, how far each consumer is, and why one is stuck.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use scarce_engine::consumers::Consumption;
use scarce_engine::{Engine, Failure};
use scarce_gateway::consumers::{Shown, state_shown};
use scarce_outflow::{State as ConsumerState, Status};
use serde_json::{Value, json};

use super::exchange::Exchange;
use super::{Context, reply};

/// Lists consumers, ordered by partition and name.
pub(super) async fn handle(State(shared): Context, exchange: Exchange) -> Response {
    if let Err(misshapen) = exchange.query_fields().check_none() {
        return reply::misshapen(&misshapen, exchange.speech);
    }
    let (engine, statuses) = (shared.engine.clone(), shared.flows.statuses.clone());
    // An engine may have to query a server for it.
    let listed = tokio::task::spawn_blocking(move || list(&*engine, &statuses)).await;
    let unfinished =
        |_| Err(Failure::Unavailable { reason: "the engine was not asked to the end".to_owned() });
    match listed.unwrap_or_else(unfinished) {
        Ok(rows) => reply::json(200, &json!({ "consumers": rows })),
        Err(failure) => reply::refusal(&failure.outcome(), None, exchange.speech),
    }
}

fn list(engine: &dyn Engine, statuses: &[Arc<Status>]) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for partition in 0..engine.partitions() {
        let through = engine.durable_through(partition)?;
        let known = engine.consumers(partition)?;
        let of_here: Vec<&Arc<Status>> = statuses.iter().filter(|its| its.partition == partition).collect();
        for its in &known {
            let here = of_here.iter().find(|status| status.name == its.name).map(|status| status.state());
            rows.push(row(partition, through, its, here.as_ref()));
        }
        // The engine does not know consumers that could not even learn their start position.
        for status in of_here.iter().filter(|status| known.iter().all(|its| its.name != status.name)) {
            let its = Consumption::none(status.name.clone());
            rows.push(row(partition, through, &its, Some(&status.state())));
        }
    }
    Ok(rows)
}

fn row(partition: u32, through: u64, its: &Consumption, here: Option<&ConsumerState>) -> Value {
    let Shown { state, since, reason } = state_shown(partition, its, here);
    json!({
        "name": its.name.as_str(),
        "partition": partition,
        "epoch": its.confirmed.epoch,
        "sequence": its.confirmed.sequence,
        "confirmed_at": its.confirmed_at,
        "lag_events": through.saturating_sub(its.confirmed.sequence),
        "holder": its.holder,
        "state": state,
        "troubled_since": since,
        "reason": reason,
        "diverged": its.diverged.map(|held| json!({ "epoch": held.epoch, "sequence": held.sequence })),
    })
}
