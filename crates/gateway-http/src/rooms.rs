//! Waiting rooms: `POST /v1/waiting-rooms/{room}/tickets` and `GET …/{ticket}`, and the header that shows tickets.

use axum::extract::State;
use axum::http::HeaderName;
use axum::response::Response;
use scarce_access::Need;
use scarce_api::Misshapen;
use scarce_api::arguments::{given, only};
use scarce_api::problem::{PortCode, Problem};
use scarce_core::command::rules::Verb;
use scarce_core::command::{Command, Common};
use scarce_core::outcome::{Code, Outcome};
use scarce_core::types::Id;
use scarce_engine::Failure;
use scarce_gateway::steady_ms;
use scarce_limits::rooms::{NotAdmitted, TICKETS_MAX, Ticket, TicketStatus};
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Speech};
use super::{Context, HttpShared, guard, reply};

/// The header with tickets, with commas between them.
const TICKET: HeaderName = HeaderName::from_static("scarce-ticket");

/// Whether the caller may wait: with a key that may take something, where the deployment is served.
fn check(shared: &HttpShared, exchange: &Exchange) -> Result<(), Box<Response>> {
    if let Err(failure @ Failure::Migrated { .. }) = shared.engine.check_ready(0) {
        return Err(reply::refusal(&failure.outcome(), None, exchange.speech).into());
    }
    let Some(caller) = &exchange.caller else {
        return Err(reply::of_port(PortCode::Unauthenticated, exchange.speech).into());
    };
    let need = Need::on_some(Verb::Take);
    if !caller.may_some(need) {
        let checked = caller.check_need(need, None, "/v1/waiting-rooms");
        checked.map_err(|lack| guard::lacking(&lack, exchange.speech))?;
    }
    let limited = exchange.limited.as_ref();
    limited.map_or(Ok(()), |limited| limited.count_other(caller, need, exchange.speech))
}

/// `POST /v1/waiting-rooms/{room}/tickets`: gives a user a place.
pub(super) async fn join(State(shared): Context, exchange: Exchange) -> Response {
    if let Err(refused) = check(&shared, &exchange) {
        return *refused;
    }
    let (room, user) = match read_user(&exchange) {
        Ok(read) => read,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    match shared.access.limiting.join(&room, user.as_str(), steady_ms()) {
        Some((text, ticket, place)) => reply::json(201, &answer(&text, &ticket, place)),
        None => reply::of_port(PortCode::NotFound, exchange.speech),
    }
}

fn read_user(exchange: &Exchange) -> Result<(String, Id), Misshapen> {
    exchange.query_fields().check_none()?;
    let body = exchange.body.as_ref().ok_or_else(|| Misshapen::new("body", "is missing"))?;
    only(body, &["user"])?;
    let user = given(body, "user").and_then(Value::as_str);
    let user = user.ok_or_else(|| Misshapen::new("user", "is missing, or no text"))?;
    let room = exchange.fields().take_text("room")?.unwrap_or_default().to_owned();
    Ok((room, Id::parse(user.as_bytes(), "user")?))
}

/// `GET /v1/waiting-rooms/{room}/tickets/{ticket}`: where a ticket stands.
pub(super) async fn show(State(shared): Context, exchange: Exchange) -> Response {
    if let Err(refused) = check(&shared, &exchange) {
        return *refused;
    }
    let read = || -> Result<(Ticket, String), Misshapen> {
        exchange.query_fields().check_none()?;
        let mut fields = exchange.fields();
        let room = fields.take_text("room")?.unwrap_or_default().to_owned();
        let text = fields.take_text("ticket")?.unwrap_or_default().to_owned();
        let ticket = shared.access.limiting.read_ticket(&text).filter(|ticket| ticket.room == room);
        let wrong = || Misshapen::new("ticket", "is no ticket of this room; take one with POST");
        Ok((ticket.ok_or_else(wrong)?, text))
    };
    match read() {
        Err(misshapen) => reply::misshapen(&misshapen, exchange.speech),
        Ok((ticket, text)) => match shared.access.limiting.place(&ticket, steady_ms()) {
            Some(place) => reply::json(200, &answer(&text, &ticket, place)),
            None => reply::of_port(PortCode::NotFound, exchange.speech),
        },
    }
}

fn answer(text: &str, ticket: &Ticket, place: TicketStatus) -> Value {
    json!({
        "ticket": text,
        "room": ticket.room,
        "user": ticket.user,
        "place": place.place,
        "wait_ms": place.wait_ms,
        "is_admitted": place.is_admitted,
        "expires_ms": place.expires_ms,
    })
}

/// Whether commands may be sent with the tickets that the request shows.
///
/// # Errors
/// The waiting room that guards one of them.
pub(super) fn admit<'a>(
    shared: &HttpShared,
    exchange: &Exchange,
    mut commands: impl Iterator<Item = &'a Command>,
) -> Result<(), Box<NotAdmitted>> {
    let limiting = &shared.access.limiting;
    let rooms = limiting.rooms();
    let Some(rooms) = &*rooms else { return Ok(()) };
    let shown = exchange.headers.get_all(TICKET).iter().filter_map(|value| value.to_str().ok());
    let texts = shown.flat_map(|value| value.split(',')).map(str::trim).take(TICKETS_MAX);
    let tickets: Vec<Ticket> = texts.filter_map(|text| limiting.read_ticket(text)).collect();
    let now = steady_ms();
    commands.try_for_each(|command| rooms.check(command, &tickets.iter(), now))
}

/// What is sent under an id whose user waits: what became of it before is told again, and it is not carried out any more.
///
/// # Errors
/// The answer where it has no id.
pub(super) fn as_duplicate(
    common: &mut Common,
    refused: Box<NotAdmitted>,
    exchange: &Exchange,
) -> Result<Box<NotAdmitted>, Box<Response>> {
    match common.clone().of_duplicate() {
        None => Err(refuse(&refused, exchange.speech).into()),
        Some(duplicate) => {
            *common = duplicate;
            Ok(refused)
        }
    }
}

/// The answer to a user who waits, unless there is one to what was sent before under the same id.
pub(super) fn refuse_waiting(
    waits: Option<&NotAdmitted>,
    outcome: &Outcome,
    exchange: &Exchange,
) -> Option<Response> {
    waits.filter(|_| outcome.code == Code::DeadlinePassed).map(|refused| refuse(refused, exchange.speech))
}

fn refuse(refused: &NotAdmitted, speech: Speech) -> Response {
    let NotAdmitted { room, user, wait_ms } = refused;
    let facts = Map::from_iter([
        ("room".to_owned(), Value::from(room.as_str())),
        ("user".to_owned(), user.as_str().into()),
        ("wait_ms".to_owned(), (*wait_ms).into()),
    ]);
    let mut problem = Problem::of_port_with(PortCode::NotAdmitted, facts, speech.0);
    problem.retry_after_s = wait_ms.map(|wait_ms| wait_ms.div_ceil(1_000));
    reply::problem(&problem, speech)
}
