//! `GET /v1/events`: the log as a page, or as a stream that follows it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{ACCEPT, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use scarce_api::cursor;
use scarce_api::{Misshapen, event};
use scarce_core::event::Position;
use scarce_core::facts;
use scarce_core::outcome::{Code, Outcome};
use scarce_core::types::Natural;
use scarce_engine::{Engine, Failure, Watch};
use scarce_outflow::{Cursor, CursorError};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinError;

use super::command::read_limit;
use super::exchange::Exchange;
use super::{Context, Shared, reply};

/// The default and the maximum number of events of a page.
const EVENTS_DEFAULT: u64 = 100;
const EVENTS_MAX: u64 = 1_000;

/// The maximum number of log bytes read at once for a stream or a page.
const BYTES_MAX: u64 = 1 << 20;

/// How often an idle stream sends a keep-alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The header in which a browser sends the id of the last event it saw.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What the caller requests.
struct Asked {
    positions: Vec<Position>,
    partition: Option<u32>,
    limit: usize,
}

/// Answers a page, or starts a stream.
pub(super) async fn handle(State(shared): Context, exchange: Exchange) -> Response {
    let asked = match Asked::read(&shared, &exchange) {
        Ok(asked) => asked,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let mut reader = LogReader::new(shared.engine.clone(), asked.positions, asked.partition);
    if let Err(outcome) = reader.check_positions().await {
        return reply::refusal(&outcome, None, exchange.speech);
    }
    let accept = exchange.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return stream(&shared, reader).into_response();
    }
    match reader.next_events(asked.limit).await {
        Err(error) => reply::refusal(&refused(&error), None, exchange.speech),
        Ok(events) => {
            let events: Vec<Value> = events.into_iter().map(|(_, event)| event).collect();
            let body = json!({ "events": events, "has_more": reader.has_more(), "cursor": reader.cursor() });
            reply::json(200, &body)
        }
    }
}

impl Asked {
    fn read(shared: &Shared, exchange: &Exchange) -> Result<Self, Misshapen> {
        let mut fields = exchange.query_fields();
        let partitions = shared.engine.partitions();
        let limit = read_limit(&mut fields, EVENTS_DEFAULT, EVENTS_MAX)?;
        let partition = match fields.take_text("partition")? {
            None => None,
            Some(text) => Some(read_partition(text, partitions)?),
        };
        let header = exchange.header(&LAST_EVENT_ID, "Last-Event-ID")?.map(String::from_utf8_lossy);
        let cursor = fields.take_text("cursor")?;
        fields.check_none()?;
        // After a disconnect, the browser's header is ahead of the cursor in the URL.
        let positions = match header.as_deref().or(cursor) {
            Some(cursor) => cursor::positions(cursor, partitions)?,
            None => vec![Position::default(); partitions as usize],
        };
        Ok(Self { positions, partition, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
    }
}

fn read_partition(text: &str, partitions: u32) -> Result<u32, Misshapen> {
    let number = Natural::parse(text.as_bytes(), "partition")?.get();
    let partition = u32::try_from(number).ok().filter(|partition| *partition < partitions);
    partition.ok_or_else(|| Misshapen::new("partition", format!("must be 0 to {}", partitions - 1)))
}

/// Reads the logs of all partitions in turn.
struct LogReader {
    engine: Arc<dyn Engine>,
    cursors: Vec<Cursor>,
    partitions: Vec<u32>,
}

impl LogReader {
    fn new(engine: Arc<dyn Engine>, positions: Vec<Position>, only: Option<u32>) -> Self {
        let partitions = match only {
            Some(partition) => vec![partition],
            None => (0..engine.partitions()).collect(),
        };
        let cursors = (0..).zip(positions);
        let cursors =
            cursors.map(|(partition, after)| Cursor::new(engine.clone(), partition, after)).collect();
        Self { engine, cursors, partitions }
    }

    fn cursor(&self) -> String {
        cursor::of_positions(&self.cursors.iter().map(Cursor::position).collect::<Vec<_>>())
    }

    fn cursors(&self) -> impl Iterator<Item = (usize, &Cursor)> {
        let places = self.partitions.iter().map(|partition| *partition as usize);
        places.filter_map(|place| Some((place, self.cursors.get(place)?)))
    }

    fn has_more(&self) -> bool {
        self.cursors().any(|(_, cursor)| cursor.lag().is_ok_and(|lag| lag > 0))
    }

    /// Rejects a cursor of another history instead of ignoring the mismatch.
    async fn check_positions(&self) -> Result<(), Outcome> {
        for (_, cursor) in self.cursors() {
            let checked = cursor.clone().aside(Cursor::check).await;
            let checked = checked.map_err(unfinished).and_then(|(_, checked)| checked);
            checked.map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// The next events of any partition, each with the cursor behind it; `None` when all were read.
    async fn next_events(&mut self, count_max: usize) -> Result<Vec<(String, Value)>, CursorError> {
        let mut events = Vec::new();
        for place in self.partitions.clone().into_iter().map(|partition| partition as usize) {
            let Some(cursor) = self.cursors.get(place).cloned() else { continue };
            if events.len() >= count_max || cursor.lag()? == 0 {
                continue;
            }
            let (_, batch) = cursor.aside(|cursor| cursor.next_batch(BYTES_MAX)).await.map_err(unfinished)?;
            let Some(batch) = batch? else { continue };
            let after = batch.after.sequence;
            for entry in &batch.entries {
                for (sequence, event) in event::of_entry(batch.partition, entry, after) {
                    if events.len() >= count_max {
                        return Ok(events);
                    }
                    self.cursors[place].set_position(Position { epoch: entry.head.epoch, sequence });
                    events.push((self.cursor(), event));
                }
            }
        }
        Ok(events)
    }
}

/// The error for a read that did not finish.
fn unfinished(_: JoinError) -> CursorError {
    Failure::Unavailable { reason: "reading the log was not finished".to_owned() }.into()
}

/// The answer for a cursor that cannot be used.
fn refused(error: &CursorError) -> Outcome {
    match error {
        CursorError::Engine(failure) => failure.outcome(),
        CursorError::OtherHistory { .. } => {
            let reason = "belongs to another history of the log; begin without one";
            Outcome { code: Code::Invalid, facts: facts!["cursor", reason] }
        }
        CursorError::Trimmed { .. } => {
            Outcome { code: Code::Unavailable, facts: facts![error.to_string().as_str()] }
        }
    }
}

/// A stream in progress.
struct Following {
    reader: LogReader,
    ready: std::vec::IntoIter<(String, Value)>,
    grown: Arc<Notify>,
    ending: watch::Receiver<bool>,
    _watches: Vec<Watch>,
}

/// Follows the log. It reads only as fast as the caller consumes, so nothing piles up here.
fn stream(shared: &Shared, reader: LogReader) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let grown = Arc::new(Notify::new());
    let watches = reader.partitions.iter().filter_map(|partition| {
        let grown = grown.clone();
        reader.engine.watch(*partition, Arc::new(move || grown.notify_one())).ok()
    });
    let watches = watches.collect();
    let ending = shared.ending.clone();
    let following = Following { reader, ready: Vec::new().into_iter(), grown, ending, _watches: watches };
    let events = stream::unfold(following, |mut following| async move {
        let event = following.next().await?;
        Some((Ok(event), following))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

impl Following {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((cursor, event)) = self.ready.next() {
                let name = event.get("name").and_then(Value::as_str).unwrap_or_default();
                return Some(Event::default().id(cursor).event(name).data(event.to_string()));
            }
            let count_max = usize::try_from(EVENTS_MAX).unwrap_or(usize::MAX);
            match self.reader.next_events(count_max).await {
                // The caller reconnects from its last id and then receives the error.
                Err(_) => return None,
                Ok(events) if !events.is_empty() => self.ready = events.into_iter(),
                Ok(_) => tokio::select! {
                    () = self.grown.notified() => {}
                    _ = self.ending.wait_for(|ending| *ending) => return None,
                },
            }
        }
    }
}
