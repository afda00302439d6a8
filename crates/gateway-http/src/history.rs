//! `GET /v1/history/…`: past events, read from the tables into which the log is projected.

use axum::extract::State;
use axum::response::Response;
use scarce_access::Need;
use scarce_api::Misshapen;
use scarce_api::history::{Asked, History};
use scarce_api::problem::PortCode;
use scarce_core::command::rules::Verb;
use scarce_engine::Failure;
use scarce_projection::ProjectionError;

use super::exchange::Exchange;
use super::{Context, guard, reply};

/// Whether the caller may read a history: that of a resource, or of all of its kind. Operations of all callers are for
/// those who operate the server.
fn check(history: &History, exchange: &Exchange) -> Result<(), Box<Response>> {
    let need = history.resource.map_or(Need::OPERATE, |kind| Need::on(Verb::Read, kind.into()));
    let mut fields = exchange.fields();
    let id = history.of.and_then(|name| fields.take_text(name).ok()).flatten();
    let Some(caller) = &exchange.caller else {
        return Err(reply::of_port(PortCode::Unauthenticated, exchange.speech).into());
    };
    let checked = caller.check_need(need, id, history.path);
    checked.map_err(|lack| guard::lacking(&lack, exchange.speech).into())
}

/// Answers a page of a history.
pub(super) async fn handle(
    history: &'static History,
    State(shared): Context,
    exchange: Exchange,
) -> Response {
    if let Err(refused) = check(history, &exchange) {
        return *refused;
    }
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
