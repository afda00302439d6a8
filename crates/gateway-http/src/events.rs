//! `GET /v1/events`: the log as a page; and where a stream of it begins.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{ACCEPT, HeaderName};
use axum::response::Response;
use scarce_api::cursor;
use scarce_api::event::{FILTERS, Filter, Marks, Public};
use scarce_api::problem::{PortCode, Problem};
use scarce_api::{Misshapen, event};
use scarce_core::event::Position;
use scarce_core::facts;
use scarce_core::outcome::{Code, Outcome};
use scarce_core::placement;
use scarce_core::types::Natural;
use scarce_engine::{Engine, Failure};
use scarce_outflow::{Batch, Cursor, CursorError};
use serde_json::{Value, json};
use tokio::task::JoinError;

use super::command::read_limit;
use super::exchange::{Exchange, Speech};
use super::stream::{self, Unread};
use super::{Context, HttpShared, reply};

/// The default and the maximum number of events of a page.
const EVENTS_DEFAULT: u64 = 100;
const EVENTS_MAX: u64 = 1_000;

/// How many events of each partition a page looks at for those that are wanted.
const LOOKED_AT_MAX: usize = 10_000;

/// The maximum number of log bytes read at once for a page.
const BYTES_MAX: u64 = 1 << 20;

/// The header in which a browser sends the id of the last event it saw.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Where to begin.
enum Start {
    /// Behind what the caller has seen.
    At(Vec<Position>),
    /// At the oldest event that each log still has.
    Oldest,
    /// Behind the last event of each log.
    Now,
}

/// What the caller requests.
struct Asked {
    start: Start,
    partition: Option<u32>,
    limit: usize,
    filter: Filter,
}

/// Answers a page, or starts a stream.
pub(super) async fn handle(
    State(shared): Context,
    Extension(unread): Extension<Arc<Unread>>,
    exchange: Exchange,
) -> Response {
    let asked = match Asked::read(&shared, &exchange) {
        Ok(asked) => asked,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let opened = LogReader::open(shared.engine.clone(), asked.start, asked.partition).await;
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => return reply::problem(&problem(&error, exchange.speech), exchange.speech),
    };
    let accept = exchange.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return stream::respond(&shared, reader, asked.filter, unread, exchange.speech);
    }
    match reader.next_events(asked.limit, &asked.filter).await {
        Err(error) => reply::problem(&problem(&reader.placed(error), exchange.speech), exchange.speech),
        Ok(events) => {
            let body = json!({ "events": events, "has_more": reader.has_more(), "cursor": reader.cursor() });
            reply::json(200, &body)
        }
    }
}

impl Asked {
    fn read(shared: &HttpShared, exchange: &Exchange) -> Result<Self, Misshapen> {
        let mut fields = exchange.query_fields();
        let partitions = shared.engine.partitions();
        let limit = read_limit(&mut fields, EVENTS_DEFAULT, EVENTS_MAX)?;
        let partition = match fields.take_text("partition")? {
            None => None,
            Some(text) => Some(read_partition(text, partitions)?),
        };
        let mut filter = Filter::default();
        for by in FILTERS {
            if let Some(text) = fields.take_text(by)? {
                filter.add(by, text)?;
            }
        }
        // All that happens to a resource is in its partition's log.
        let of_resource = filter.resource.as_ref().map(|id| placement::partition(id, partitions));
        let header = exchange.header(&LAST_EVENT_ID, "Last-Event-ID")?.map(String::from_utf8_lossy);
        let (cursor, from) = (fields.take_text("cursor")?, fields.take_text("from")?);
        fields.check_none()?;
        if cursor.is_some() && from.is_some() {
            return Err(Misshapen::new("from", "does not go with cursor; send one of them"));
        }
        // After a disconnect, the browser's header is ahead of what the URL says.
        let start = match (header.as_deref().or(cursor), from) {
            (Some(cursor), _) => Start::At(cursor::positions(cursor, partitions)?),
            (None, Some("oldest")) => Start::Oldest,
            (None, Some("now")) => Start::Now,
            (None, Some(_)) => return Err(Misshapen::new("from", "must be oldest or now")),
            (None, None) => Start::At(vec![Position::default(); partitions as usize]),
        };
        let partition = partition.or(of_resource);
        Ok(Self { start, partition, filter, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
    }
}

impl Start {
    /// The position in each partition's log. It may ask a server, and block.
    fn positions(self, engine: &dyn Engine) -> Result<Vec<Position>, Failure> {
        let before = |sequence| Position { epoch: 0, sequence };
        let all = 0..engine.partitions();
        match self {
            Self::At(positions) => Ok(positions),
            Self::Oldest => {
                all.map(|partition| Ok(before(engine.first_sequence(partition)?.saturating_sub(1)))).collect()
            }
            Self::Now => all.map(|partition| Ok(before(engine.durable_through(partition)?))).collect(),
        }
    }
}

fn read_partition(text: &str, partitions: u32) -> Result<u32, Misshapen> {
    let number = Natural::parse(text.as_bytes(), "partition")?.get();
    let partition = u32::try_from(number).ok().filter(|partition| *partition < partitions);
    partition.ok_or_else(|| Misshapen::new("partition", format!("must be 0 to {}", partitions - 1)))
}

/// Reads the logs of all partitions in turn.
pub(super) struct LogReader {
    cursors: Vec<Cursor>,
    partitions: Vec<u32>,
}

impl LogReader {
    /// Opens the logs, if they still have what follows the start. Otherwise it fails before anything is sent.
    async fn open(engine: Arc<dyn Engine>, start: Start, only: Option<u32>) -> Result<Self, Stuck> {
        let opened = tokio::task::spawn_blocking(move || -> Result<Self, Stuck> {
            let partitions = match only {
                Some(partition) => vec![partition],
                None => (0..engine.partitions()).collect(),
            };
            let cursors = (0..).zip(start.positions(&*engine)?);
            let cursors =
                cursors.map(|(partition, after)| Cursor::new(engine.clone(), partition, after)).collect();
            let mut reader = Self { cursors, partitions };
            reader.check().map_err(|error| reader.placed(error))?;
            Ok(reader)
        });
        opened.await.unwrap_or_else(|error| Err(unfinished(error).into()))
    }

    pub(super) fn cursor(&self) -> String {
        cursor::of_positions(&self.positions())
    }

    fn cursors(&self) -> impl Iterator<Item = (usize, &Cursor)> {
        let places = self.partitions.iter().map(|partition| *partition as usize);
        places.filter_map(|place| Some((place, self.cursors.get(place)?)))
    }

    fn has_more(&self) -> bool {
        self.cursors().any(|(_, cursor)| cursor.lag().is_ok_and(|lag| lag > 0))
    }

    /// Rejects a cursor of another history, or of before the log, instead of ignoring the mismatch.
    fn check(&mut self) -> Result<(), CursorError> {
        for place in self.partitions.iter().map(|partition| *partition as usize) {
            if let Some(cursor) = self.cursors.get_mut(place) {
                cursor.check()?;
                cursor.check_kept()?;
            }
        }
        Ok(())
    }

    /// An error with the cursor at which the caller can go on.
    pub(super) fn placed(&self, error: CursorError) -> Stuck {
        let CursorError::Trimmed { partition, begins_at, .. } = error else { return error.into() };
        let mut positions: Vec<_> = self.cursors.iter().map(Cursor::position).collect();
        if let Some(position) = positions.get_mut(partition as usize) {
            *position = Position { epoch: 0, sequence: begins_at.saturating_sub(1) };
        }
        Stuck { error, oldest: Some(cursor::of_positions(&positions)) }
    }

    /// The next events of any partition that are wanted; none when all were read, or when none was wanted among those that
    /// one page looks at.
    async fn next_events(&mut self, count_max: usize, filter: &Filter) -> Result<Vec<Value>, CursorError> {
        let mut events = Vec::new();
        for partition in self.partitions.clone() {
            let wanted = count_max - events.len();
            if wanted == 0 {
                break;
            }
            let looked_at = if filter.is_all() { wanted } else { LOOKED_AT_MAX };
            let Some(batch) = self.next_batch(partition, looked_at, BYTES_MAX).await? else { continue };
            for (position, public) in publics(&batch) {
                if events.len() == count_max {
                    break;
                }
                self.set_position(partition, position);
                if filter.is_all() || filter.wants(&Marks::of(public.event)) {
                    events.push(serde_json::to_value(public).unwrap_or_default());
                }
            }
        }
        Ok(events)
    }

    /// The next entries of a partition, without moving past them: they may be more than are wanted.
    pub(super) async fn next_batch(
        &self,
        partition: u32,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Option<Batch>, CursorError> {
        let Some(cursor) = self.cursors.get(partition as usize).cloned() else { return Ok(None) };
        if cursor.lag()? == 0 {
            return Ok(None);
        }
        let (_, batch) = cursor
            .aside(move |cursor| cursor.next_batch_up_to(events_max, bytes_max))
            .await
            .map_err(unfinished)?;
        batch
    }

    /// The partitions that are read.
    pub(super) fn partitions(&self) -> &[u32] {
        &self.partitions
    }

    /// The position in each partition, also in those that are not read.
    pub(super) fn positions(&self) -> Vec<Position> {
        self.cursors.iter().map(Cursor::position).collect()
    }

    /// The position in a partition.
    pub(super) fn position(&self, partition: u32) -> Position {
        self.cursors.get(partition as usize).map_or_else(Position::default, Cursor::position)
    }

    /// Moves to an event that was read.
    pub(super) fn set_position(&mut self, partition: u32, position: Position) {
        if let Some(cursor) = self.cursors.get_mut(partition as usize) {
            cursor.set_position(position);
        }
    }
}

/// The events of a batch after its cursor, each with its position.
pub(super) fn publics(batch: &Batch) -> impl Iterator<Item = (Position, Public<'_>)> {
    batch.entries.iter().flat_map(move |entry| {
        event::public(batch.partition, entry, batch.after.sequence)
            .map(move |public| (Position { epoch: entry.head.epoch, sequence: public.sequence }, public))
    })
}

/// The error for a read that did not finish.
pub(super) fn unfinished(_: JoinError) -> CursorError {
    Failure::Unavailable { reason: "reading the log was not finished".to_owned() }.into()
}

/// Why a caller cannot go on, and the cursor of the oldest event if that is the way in.
pub(super) struct Stuck {
    error: CursorError,
    oldest: Option<String>,
}

impl From<CursorError> for Stuck {
    fn from(error: CursorError) -> Self {
        Self { error, oldest: None }
    }
}

impl From<Failure> for Stuck {
    fn from(failure: Failure) -> Self {
        CursorError::from(failure).into()
    }
}

/// The answer for a cursor that cannot be used.
pub(super) fn problem(stuck: &Stuck, speech: Speech) -> Problem {
    match &stuck.error {
        CursorError::Engine(failure) => Problem::of(&failure.outcome(), None, speech.0),
        CursorError::OtherHistory { .. } => {
            let reason = "belongs to another history of the log; begin without one";
            Problem::of(&Outcome { code: Code::Invalid, facts: facts!["cursor", reason] }, None, speech.0)
        }
        CursorError::Trimmed { partition, after, begins_at } => {
            let facts = json!({
                "partition": partition,
                "after": after.sequence,
                "oldest_sequence": begins_at,
                "oldest": stuck.oldest,
            });
            let facts = facts.as_object().cloned().unwrap_or_default();
            Problem::of_port_with(PortCode::CursorTrimmed, facts, speech.0)
        }
    }
}
