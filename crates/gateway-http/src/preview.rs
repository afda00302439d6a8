//! `POST /v1/packet-previews`: how a plan would be cut. The seed is drawn here or given by the caller. It is
//! never the seed of a real campaign, because those are derived from the deployment's secret.

use axum::response::Response;
use scarce_api::Misshapen;
use scarce_api::arguments::{given, only, read_plan};
use scarce_api::packets::preview;
use scarce_core::packets::cut::Plan;
use scarce_engine::random::{self, unhex};
use serde_json::Value;

use super::exchange::Exchange;
use super::reply;

/// Answers a preview.
pub(super) async fn handle(exchange: Exchange) -> Response {
    let asked = match Asked::read(&exchange) {
        Ok(asked) => asked,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let Asked { plan, seed, with_amounts } = asked;
    // A million packets take tens of milliseconds; this thread serves others meanwhile.
    let cut = tokio::task::spawn_blocking(move || {
        preview::preview(&plan, &seed).map(|preview| preview.json(with_amounts))
    });
    match cut.await {
        Ok(Ok(body)) => reply::json(200, &body),
        Ok(Err(invalid)) => reply::misshapen(&invalid.into(), exchange.speech),
        Err(_) => reply::misshapen(&Misshapen::new("plan", "could not be cut"), exchange.speech),
    }
}

struct Asked {
    plan: Plan,
    seed: [u8; 32],
    with_amounts: bool,
}

impl Asked {
    fn read(exchange: &Exchange) -> Result<Self, Misshapen> {
        exchange.query_fields().check_none()?;
        let body = exchange.body.as_ref().ok_or_else(|| Misshapen::new("body", "is missing"))?;
        only(body, &["plan", "seed", "amounts"])?;
        let plan = given(body, "plan").ok_or_else(|| Misshapen::new("plan", "is missing"))?;
        let seed = match given(body, "seed") {
            None => random::bytes()
                .map_err(|_| Misshapen::new("seed", "must be given: the system has no random bytes"))?,
            Some(Value::String(text)) => unhex(text)
                .ok_or_else(|| Misshapen::new("seed", "must be 64 lower-case hexadecimal digits"))?,
            Some(_) => return Err(Misshapen::new("seed", "must be a JSON string")),
        };
        let with_amounts = match given(body, "amounts") {
            None => false,
            Some(Value::Bool(value)) => *value,
            Some(_) => return Err(Misshapen::new("amounts", "must be true or false")),
        };
        Ok(Self { plan: read_plan(plan)?, seed, with_amounts })
    }
}
