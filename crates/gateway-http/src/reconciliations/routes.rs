//! `/v1/reconciliations`: the last ones, one with its report, and a new one.

use axum::extract::State;
use axum::response::Response;
use scarce_api::Misshapen;
use scarce_api::problem::PortCode;
use scarce_engine::Failure;
use serde_json::json;

use crate::exchange::Exchange;
use crate::{Context, reply};

/// `GET /v1/reconciliations`: the last ones without their reports, the latest first.
pub(crate) async fn list(State(shared): Context, exchange: Exchange) -> Response {
    match exchange.query_fields().check_none() {
        Ok(()) => reply::json(200, &json!({ "reconciliations": shared.flows.reconciliations.list() })),
        Err(misshapen) => reply::misshapen(&misshapen, exchange.speech),
    }
}

/// `GET /v1/reconciliations/{id}`: one with its report.
pub(crate) async fn show(State(shared): Context, exchange: Exchange) -> Response {
    let mut fields = exchange.fields();
    let id = match fields.take_text("id").and_then(|id| fields.check_none().map(|()| id)) {
        Ok(id) => id.unwrap_or_default().parse().map_err(|_| Misshapen::new("id", "must be a whole number")),
        Err(misshapen) => Err(misshapen),
    };
    let id = match id {
        Ok(id) => id,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    match shared.flows.reconciliations.find(id) {
        Some(found) => reply::json(200, &found),
        None => reply::of_port(PortCode::NotFound, exchange.speech),
    }
}

/// `POST /v1/reconciliations`: asks for one; answers the one that waits or runs where there is one.
pub(crate) async fn request(State(shared): Context, exchange: Exchange) -> Response {
    if let Err(misshapen) = exchange.fields().check_none() {
        return reply::misshapen(&misshapen, exchange.speech);
    }
    match shared.flows.reconciliations.request() {
        Some((asked, true)) => reply::json(202, &asked),
        Some((running, false)) => reply::json(200, &running),
        None => {
            let reason = "the server ends, or does not reconcile".to_owned();
            reply::refusal(&Failure::Unavailable { reason }.outcome(), None, exchange.speech)
        }
    }
}
