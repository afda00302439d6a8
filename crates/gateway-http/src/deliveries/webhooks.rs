//! `/v1/webhooks` and `/v1/deliveries`: endpoints, and what is sent to them.

use axum::extract::State;
use axum::response::Response;
use scarce_core::types::Natural;
use scarce_delivery::{DeliveryFilter, DeliveryState, Endpoint, WebhookDelivery};
use serde_json::{Value, json};

use super::super::Context;
use super::super::exchange::Exchange;
use super::{Paging, Stop, answer, delivery, named, page, take_state};

/// Whether deliveries to an endpoint are made.
#[derive(Clone, Copy)]
enum Change {
    Pause,
    Resume,
}

/// `GET /v1/webhooks`: all endpoints.
pub(in super::super) async fn endpoints(State(shared): Context, exchange: Exchange) -> Response {
    let listed = async {
        exchange.fields().check_none()?;
        let endpoints = delivery(&shared)?.endpoints().await?;
        let rows: Vec<Value> = endpoints.iter().map(Endpoint::to_json).collect();
        Ok::<_, Stop>(json!({ "endpoints": rows }))
    };
    answer(listed.await, exchange.speech)
}

/// `POST /v1/webhooks/{endpoint}/pause`: has deliveries wait.
pub(in super::super) async fn pause(context: Context, exchange: Exchange) -> Response {
    change(context, exchange, Change::Pause).await
}

/// `POST /v1/webhooks/{endpoint}/resume`: goes on with them.
pub(in super::super) async fn resume(context: Context, exchange: Exchange) -> Response {
    change(context, exchange, Change::Resume).await
}

async fn change(State(shared): Context, exchange: Exchange, change: Change) -> Response {
    let changed = async {
        let endpoint = named(&exchange, "endpoint", &[])?;
        let delivery = delivery(&shared)?;
        let is_changed = match change {
            Change::Pause => delivery.pause_endpoint(endpoint).await?,
            Change::Resume => delivery.resume_endpoint(endpoint).await?,
        };
        if is_changed { Ok(json!({ "endpoint": endpoint })) } else { Err(Stop::NotFound) }
    };
    answer(changed.await, exchange.speech)
}

/// `POST /v1/webhooks/{endpoint}/replay`: has all dead letters of an endpoint tried again.
pub(in super::super) async fn replay_endpoint(State(shared): Context, exchange: Exchange) -> Response {
    let replayed = async {
        let endpoint = named(&exchange, "endpoint", &[])?;
        let count = delivery(&shared)?.replay_endpoint(endpoint).await?;
        Ok::<_, Stop>(json!({ "replayed": count }))
    };
    answer(replayed.await, exchange.speech)
}

/// `GET /v1/deliveries`: a page of deliveries, the oldest first.
pub(in super::super) async fn list(State(shared): Context, exchange: Exchange) -> Response {
    let listed = async {
        let mut fields = exchange.query_fields();
        let states = [DeliveryState::Pending, DeliveryState::Delivered, DeliveryState::Dead];
        let state = take_state(&mut fields, states, DeliveryState::word)?;
        let filter = DeliveryFilter { endpoint_id: fields.take_text("endpoint")?, state };
        let Paging { after, limit } = Paging::take(&mut fields)?;
        fields.check_none()?;
        let found = delivery(&shared)?.deliveries(filter, after, limit).await?;
        Ok::<_, Stop>(page("deliveries", &found, WebhookDelivery::to_json))
    };
    answer(listed.await, exchange.speech)
}

/// `POST /v1/deliveries/{delivery}/replay`: makes one again.
pub(in super::super) async fn replay(State(shared): Context, exchange: Exchange) -> Response {
    let replayed = async {
        let number = Natural::parse(named(&exchange, "delivery", &[])?.as_bytes(), "delivery");
        let number = number.map_err(scarce_api::Misshapen::from)?.get();
        let id = i64::try_from(number).map_err(|_| Stop::NotFound)?;
        let is_there = delivery(&shared)?.replay_delivery(id).await?;
        if is_there { Ok(json!({ "replayed": 1 })) } else { Err(Stop::NotFound) }
    };
    answer(replayed.await, exchange.speech)
}
