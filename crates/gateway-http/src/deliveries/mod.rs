//! What the server delivers to outside systems and credits to accounts: endpoints, deliveries and settlements, and how
//! an operator has dead letters tried again.

mod settlements;
mod webhooks;

pub(super) use settlements::{list as list_settlements, replay as replay_settlements};
pub(super) use webhooks::{
    endpoints, list as list_deliveries, pause, replay as replay_delivery, replay_endpoint, resume,
};

use axum::response::Response;
use scarce_api::problem::PortCode;
use scarce_api::{Fields, Misshapen};
use scarce_delivery::{Delivery, DeliveryError, Page};
use scarce_engine::Failure;
use serde_json::{Value, json};

use super::command::read_limit;
use super::exchange::{Exchange, Speech};
use super::{HttpShared, reply};

/// The default and the maximum number of rows of a page.
const ROWS_DEFAULT: u64 = 100;
const ROWS_MAX: u64 = 1_000;

/// What ends a request early.
enum Stop {
    Misshapen(Misshapen),
    Delivery(DeliveryError),
    /// Nothing is delivered here.
    Off,
    /// There is nothing at this path.
    NotFound,
}

impl From<Misshapen> for Stop {
    fn from(misshapen: Misshapen) -> Self {
        Self::Misshapen(misshapen)
    }
}

impl From<DeliveryError> for Stop {
    fn from(error: DeliveryError) -> Self {
        Self::Delivery(error)
    }
}

/// The database of deliveries.
fn delivery(shared: &HttpShared) -> Result<&Delivery, Stop> {
    shared.flows.delivery.as_ref().ok_or(Stop::Off)
}

fn answer(done: Result<Value, Stop>, speech: Speech) -> Response {
    let away = |reason: String| reply::refusal(&Failure::Unavailable { reason }.outcome(), None, speech);
    match done {
        Ok(body) => reply::json(200, &body),
        Err(Stop::Misshapen(misshapen)) => reply::misshapen(&misshapen, speech),
        Err(Stop::Delivery(DeliveryError::Cursor { .. })) => {
            let misshapen = Misshapen::new("cursor", "is not one that this list gave; begin without one");
            reply::misshapen(&misshapen, speech)
        }
        Err(Stop::Delivery(error)) => away(error.to_string()),
        Err(Stop::Off) => away(
            "this server delivers to no endpoints and settles no packets; start it with --webhooks or --settlement"
                .to_owned(),
        ),
        Err(Stop::NotFound) => reply::of_port(PortCode::NotFound, speech),
    }
}

/// Where a page begins, and how many rows it has.
struct Paging<'e> {
    after: Option<&'e str>,
    limit: usize,
}

impl<'e> Paging<'e> {
    fn take(fields: &mut Fields<'e>) -> Result<Self, Misshapen> {
        let limit = read_limit(fields, ROWS_DEFAULT, ROWS_MAX)?;
        Ok(Self { after: fields.take_text("cursor")?, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
    }
}

/// One of the states that rows are in.
fn take_state<S: Copy>(
    fields: &mut Fields<'_>,
    all: [S; 3],
    word: fn(S) -> &'static str,
) -> Result<Option<S>, Misshapen> {
    let Some(asked) = fields.take_text("state")? else { return Ok(None) };
    let found = all.into_iter().find(|state| word(*state) == asked);
    found.map(Some).ok_or_else(|| Misshapen::new("state", format!("must be {}", all.map(word).join(", "))))
}

fn page<T>(list: &str, page: &Page<T>, row: fn(&T) -> Value) -> Value {
    let rows: Vec<Value> = page.items.iter().map(row).collect();
    json!({ list: rows, "has_more": page.next.is_some(), "cursor": page.next })
}

/// A part of the path, with nothing in the query and nothing but known fields in the body.
fn named<'e>(exchange: &'e Exchange, part: &str, body: &[&str]) -> Result<&'e str, Misshapen> {
    exchange.query_fields().check_none()?;
    if let Some(given) = &exchange.body {
        scarce_api::arguments::only(given, body)?;
    }
    Ok(exchange.fields().take_text(part)?.unwrap_or_default())
}
