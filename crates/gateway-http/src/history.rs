//! `GET /v1/history/…`: past events, read from the tables into which the log is projected.

use axum::extract::State;
use axum::response::Response;
use scarce_api::Misshapen;
use scarce_api::history::{Asked, History};
use scarce_engine::Failure;
use scarce_projection::ProjectionError;

use super::exchange::Exchange;
use super::{Context, reply};

/// Answers a page of a history.
pub(super) async fn handle(
    history: &'static History,
    State(shared): Context,
    exchange: Exchange,
) -> Response {
    let asked = match Asked::read(history, exchange.fields()) {
        Ok(asked) => asked,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let Some(projection) = &shared.flows.projection else {
        let reason = "this server projects its log into no database; start it with --sql".to_owned();
        return reply::refusal(&Failure::Unavailable { reason }.outcome(), None, exchange.speech);
    };
    match projection.history().ask(&asked).await {
        Ok(page) => reply::json(200, &serde_json::to_value(page).unwrap_or_default()),
        Err(ProjectionError::Cursor { .. }) => {
            let misshapen = Misshapen::new("cursor", "is not one that this list gave; begin without one");
            reply::misshapen(&misshapen, exchange.speech)
        }
        Err(error) => {
            let failure = Failure::Unavailable { reason: error.to_string() };
            reply::refusal(&failure.outcome(), None, exchange.speech)
        }
    }
}
