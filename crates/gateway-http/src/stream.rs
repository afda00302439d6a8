//! `GET /v1/events` as a stream of server-sent events that follows the log.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use scarce_api::event::{Filter, Marks};
use scarce_api::glossary::Language;
use scarce_api::problem::Problem;
use scarce_core::outcome::overload;
use scarce_engine::Failure;
use scarce_outflow::CursorError;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::Instant;

use super::HttpShared;
use super::events::{LogReader, problem, publics};
use super::exchange::Speech;
use super::tail::{Following, Next, Told, push_event, push_id};

/// How much is handed to a connection at a time, but for the last event.
const FRAME_BYTES: usize = 16 << 10;

/// How many events a stream that is behind reads of the log at a time, and of how many bytes of it.
const BEHIND_EVENTS_MAX: usize = 64;
const BEHIND_BYTES_MAX: u64 = 64 << 10;

/// How often an idle stream sends a comment.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a caller that has left its stream unread for too long has to read on, and so to be told why it ends, before its
/// connection is closed.
const TOLD_WITHIN: Duration = Duration::from_secs(15);

/// Since when a connection has not taken what a stream handed to it.
#[derive(Debug)]
pub(super) struct Unread {
    since: Mutex<Option<Instant>>,
    /// How long that may take.
    max: Duration,
}

impl Unread {
    pub(super) fn new(max: Duration) -> Self {
        Self { since: Mutex::default(), max }
    }

    /// How long a connection may take nothing.
    pub(super) const fn max(&self) -> Duration {
        self.max
    }

    /// A frame is handed to the connection.
    pub(super) fn begin(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// It was taken. Returns whether that took too long.
    pub(super) fn end(&self) -> bool {
        let since = self.since.lock().unwrap_or_else(PoisonError::into_inner).take();
        since.is_some_and(|since| since.elapsed() > self.max)
    }

    fn deadline(&self) -> Option<Instant> {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.map(|since| since + self.max + TOLD_WITHIN.min(self.max))
    }

    /// Waits until a caller has left its stream unread for too long.
    pub(super) async fn overdue(&self) {
        loop {
            match self.deadline() {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => tokio::time::sleep(TOLD_WITHIN.min(self.max)).await,
            }
        }
    }
}

/// The same for connections that may have several streams.
#[derive(Debug)]
pub(super) struct UnreadStreams {
    max: Duration,
    those: Mutex<Vec<Weak<Unread>>>,
}

impl UnreadStreams {
    pub(super) fn new(max: Duration) -> Self {
        Self { max, those: Mutex::default() }
    }

    /// That of a further stream.
    pub(super) fn join(&self) -> Arc<Unread> {
        let its = Arc::new(Unread::new(self.max));
        let mut those = self.those.lock().unwrap_or_else(PoisonError::into_inner);
        those.retain(|its| its.strong_count() > 0);
        those.push(Arc::downgrade(&its));
        its
    }

    /// Waits until the caller has left one of them unread for too long.
    pub(super) async fn overdue(&self) {
        let is_overdue = |its: &Weak<Unread>| {
            its.upgrade().and_then(|its| its.deadline()).is_some_and(|deadline| deadline <= Instant::now())
        };
        loop {
            if self.those.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_overdue) {
                return;
            }
            tokio::time::sleep(TOLD_WITHIN.min(self.max)).await;
        }
    }
}

/// A stream in progress.
struct EventStream {
    reader: LogReader,
    filter: Filter,
    following: Following,
    /// The partition that is looked at first, so that a busy one does not keep the others out.
    first: usize,
    speech: Speech,
    ending: watch::Receiver<bool>,
    unread: Arc<Unread>,
    has_ended: bool,
}

/// Follows the log. It reads only as fast as the caller does, so nothing piles up here.
pub(super) fn respond(
    shared: &HttpShared,
    reader: LogReader,
    filter: Filter,
    unread: Arc<Unread>,
    speech: Speech,
) -> Response {
    let following = shared.tails.follow(reader.partitions());
    let ending = shared.ending.clone();
    let stream =
        EventStream { reader, filter, following, first: 0, speech, ending, unread, has_ended: false };
    let frames = stream::unfold(stream, |mut stream| async move {
        let was_overdue = stream.unread.end();
        let frame = stream.next(was_overdue).await?;
        stream.unread.begin();
        Some((Ok::<_, Infallible>(Bytes::from(frame)), stream))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    (head, Body::from_stream(frames)).into_response()
}

impl EventStream {
    /// The next events as text, unless the caller took too long for those before.
    async fn next(&mut self, was_overdue: bool) -> Option<String> {
        if self.has_ended {
            return None;
        }
        if was_overdue {
            return Some(self.cut_off());
        }
        let due = Instant::now() + KEEP_ALIVE;
        loop {
            self.following.look();
            let (mut frame, before) = (String::new(), self.reader.positions());
            if let Err(error) = self.fill(&mut frame).await {
                // The last event says why. It has no id, so the caller still knows where it was.
                let problem = problem(&self.reader.placed(error), self.speech);
                self.end(&mut frame, &problem.body);
            }
            if !frame.is_empty() {
                return Some(frame);
            }
            if due <= Instant::now() {
                return Some(self.keep_alive());
            }
            // What was looked at and is not wanted may be followed by more.
            let has_moved = self.reader.positions() != before;
            tokio::select! {
                () = tokio::task::yield_now(), if has_moved => {}
                () = self.following.grown(), if !has_moved => {}
                () = tokio::time::sleep_until(due) => {}
                _ = self.ending.wait_for(|ending| *ending) => return None,
            }
        }
    }

    /// What an idle stream sends: the position, if it may be behind events that are not wanted.
    fn keep_alive(&self) -> String {
        if self.filter.is_all() {
            return ":\n\n".to_owned();
        }
        let mut text = String::new();
        push_id(&mut text, &self.reader.positions());
        text.push('\n');
        text
    }

    /// Takes from every partition, until the frame is full.
    async fn fill(&mut self, frame: &mut String) -> Result<(), CursorError> {
        let partitions = self.reader.partitions().to_vec();
        self.first = (self.first + 1) % partitions.len().max(1);
        for partition in partitions.iter().cycle().skip(self.first).take(partitions.len()) {
            if frame.len() >= FRAME_BYTES {
                break;
            }
            let after = self.reader.position(*partition).sequence;
            match self.following.next(*partition, after) {
                Next::Nothing => {}
                Next::NotHeld => self.read(*partition, frame).await?,
                Next::Events(chunk) => {
                    for (told, text) in chunk.events_after(after) {
                        self.push(*partition, told, text, frame);
                        if frame.len() >= FRAME_BYTES {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// An event of the tail. It has its id if there is but one partition.
    fn push(&mut self, partition: u32, told: &Told, text: &str, frame: &mut String) {
        self.reader.set_position(partition, told.position);
        if !self.filter.wants(&told.marks) {
            return;
        }
        if self.reader.positions().len() > 1 {
            push_id(frame, &self.reader.positions());
        }
        frame.push_str(text);
    }

    /// Reads a few events that the tail does not hold. Few streams do so at a time.
    async fn read(&mut self, partition: u32, frame: &mut String) -> Result<(), CursorError> {
        let turn = self.following.turn().await;
        let batch = self.reader.next_batch(partition, BEHIND_EVENTS_MAX, BEHIND_BYTES_MAX).await?;
        drop(turn);
        let Some(batch) = batch else { return Ok(()) };
        for (position, public) in publics(&batch).take(BEHIND_EVENTS_MAX) {
            self.reader.set_position(partition, position);
            if self.filter.is_all() || self.filter.wants(&Marks::of(public.event)) {
                push_id(frame, &self.reader.positions());
                push_event(frame, &public);
            }
        }
        Ok(())
    }

    /// Tells a caller that did not read its stream, and ends it.
    fn cut_off(&mut self) -> String {
        let mut frame = String::new();
        self.end(&mut frame, &unread_problem(self.reader.cursor(), self.speech.0));
        frame
    }

    fn end(&mut self, frame: &mut String, problem: &Value) {
        self.has_ended = true;
        frame.push_str("event: problem\ndata: ");
        frame.push_str(&problem.to_string());
        frame.push_str("\n\n");
    }
}

/// Why a stream that is not read ends, and where to go on.
fn unread_problem(cursor: String, language: Language) -> Value {
    let outcome = Failure::Overloaded { queue: overload::EVENT_STREAM }.outcome();
    let mut body = Problem::of(&outcome, None, language).body;
    if let Some(body) = body.as_object_mut() {
        body.insert("cursor".to_owned(), cursor.into());
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_read_is_told_about_the_stream_and_not_about_a_command() {
        let problem = unread_problem("c".to_owned(), Language::English);
        assert_eq!((&problem["code"], &problem["cursor"]), (&"OVERLOADED".into(), &"c".into()));
        let said = format!("{} {}", problem["title"], problem["advice"]);
        assert!(said.contains("left unread for too long") && said.contains("with this cursor"), "{said}");
        assert!(!said.contains("command") && !said.contains("operation id"), "{said}");
        let chinese = unread_problem("c".to_owned(), Language::Chinese);
        assert!(chinese["title"].as_str().is_some_and(|title| title.contains("事件流")), "{chinese}");
    }
}
