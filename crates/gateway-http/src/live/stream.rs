//! `GET /v1/live?channels=stock.sku-1,market.BTC-USDT.depth`: subscriptions as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use scarce_api::Misshapen;
use scarce_api::problem::PortCode;
use scarce_core::event::Position;
use scarce_push::{Asked, Message, Subscriber};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use super::{HEARTBEAT, Listener, misshapen};
use crate::exchange::Exchange;
use crate::guard::Peer;
use crate::stream::Unread;
use crate::{Context, reply};

/// The header in which a browser sends the id of the last event it saw.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The most channels of one stream: each event carries the position in all of them.
const CHANNELS_MAX: usize = 100;

/// How much is handed to a connection at a time, but for the last event.
const FRAME_BYTES: usize = 16 << 10;

/// A stream in progress.
struct LiveStream {
    subscriber: Subscriber,
    /// The channels with the position in each.
    channels: Vec<(String, Option<Position>)>,
    news: Arc<Notify>,
    ending: watch::Receiver<bool>,
    unread: Arc<Unread>,
}

/// Starts a stream.
pub(crate) async fn handle(
    State(shared): Context,
    Extension(unread): Extension<Arc<Unread>>,
    Extension(Peer(address)): Extension<Peer>,
    exchange: Exchange,
) -> Response {
    let speech = exchange.speech;
    let all = match read(&exchange) {
        Ok(all) => all,
        Err(problem) => return reply::misshapen(&problem, speech),
    };
    let Some(caller) = exchange.caller else { return reply::of_port(PortCode::Unauthenticated, speech) };
    let listener = Listener { caller, address, speech };
    let news = Arc::new(Notify::new());
    let wake = news.clone();
    let mut subscriber =
        Subscriber::new(shared.push.clone(), listener.caller.key(), Arc::new(move || wake.notify_one()));
    let channels = all.iter().map(|asked| (asked.channel.name.clone(), asked.after)).collect();
    for asked in all {
        if let Err(problem) = listener.subscribe(&shared, &mut subscriber, asked) {
            return reply::problem(&problem, speech);
        }
    }
    let live = LiveStream { subscriber, channels, news, ending: shared.ending.clone(), unread };
    let frames = stream::unfold(live, |mut live| async move {
        if live.unread.end() {
            return None;
        }
        let frame = live.next().await?;
        live.unread.begin();
        Some((Ok::<_, Infallible>(Bytes::from(frame)), live))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    (head, Body::from_stream(frames)).into_response()
}

/// The channels, each from where the browser has come to.
fn read(exchange: &Exchange) -> Result<Vec<Asked>, Misshapen> {
    let mut fields = exchange.query_fields();
    let channels = fields.take_text("channels")?.unwrap_or_default();
    let last_id = exchange.header(&LAST_EVENT_ID, "Last-Event-ID")?.map(String::from_utf8_lossy);
    fields.check_none()?;
    let mut positions = last_id.as_deref().unwrap_or_default().split(',').map(read_position);
    let mut all = Vec::new();
    for text in channels.split(',').filter(|text| !text.is_empty()) {
        let mut asked = Asked::parse(text).map_err(|error| misshapen(&error))?;
        // After a disconnect, the browser's header is ahead of what the URL says.
        asked.after = positions.next().flatten().or(asked.after);
        all.push(asked);
    }
    match all.len() {
        0 => Err(Misshapen::new("channels", "must name channels, divided by commas")),
        count if count > CHANNELS_MAX => {
            Err(Misshapen::new("channels", "are more than 100; open another stream, or use /ws"))
        }
        _ => Ok(all),
    }
}

/// The position in one channel, as [`LiveStream::push`] writes it.
fn read_position(text: &str) -> Option<Position> {
    let (epoch, sequence) = text.split_once('.')?;
    Some(Position { epoch: epoch.parse().ok()?, sequence: sequence.parse().ok()? })
}

impl LiveStream {
    /// The next events as text.
    async fn next(&mut self) -> Option<String> {
        let due = Instant::now() + HEARTBEAT;
        loop {
            let mut frame = String::new();
            while frame.len() < FRAME_BYTES
                && let Some(message) = self.subscriber.take_next()
            {
                self.push(&message, &mut frame);
            }
            if !frame.is_empty() {
                return Some(frame);
            }
            tokio::select! {
                () = self.news.notified() => {}
                () = sleep_until(due) => return Some(":\n\n".to_owned()),
                _ = self.ending.wait_for(|ending| *ending) => return None,
            }
        }
    }

    /// Writes an event, with the position in every channel as its id.
    fn push(&mut self, message: &Message, frame: &mut String) {
        for (name, position) in &mut self.channels {
            if **name == *message.channel {
                *position = message.position.or(*position);
            }
        }
        let shown = |(_, position): &(String, Option<Position>)| {
            position.map_or_else(|| "-".to_owned(), |position| position.to_string())
        };
        let positions: Vec<String> = self.channels.iter().map(shown).collect();
        for part in
            ["id: ", &positions.join(","), "\ndata: ", &String::from_utf8_lossy(&message.text), "\n\n"]
        {
            frame.push_str(part);
        }
    }
}
