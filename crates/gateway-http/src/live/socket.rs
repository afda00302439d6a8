//! `/ws`: many subscriptions over one WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::SinkExt as _;
use scarce_api::Misshapen;
use scarce_api::problem::PortCode;
use scarce_gateway::{Caller, now_ms};
use scarce_push::{Subscriber, heartbeat};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::requests;
use super::{HEARTBEAT, Kept, Listener};
use crate::exchange::Speech;
use crate::guard::Peer;
use crate::{Context, HttpShared, reply};

/// What a page names beside its key.
const PROTOCOL: &str = "scarce";

/// The most that a caller may send at once.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// What is kept of what is written and read, for each connection.
const BUFFER_BYTES: usize = 4 << 10;
const UNWRITTEN_BYTES_MAX: usize = 1 << 20;

/// A caller of whom nothing was heard for so long, not even an answer to a ping, is gone.
const SILENT_MAX: Duration = Duration::from_secs(60);

/// How long a caller may take to hear why its connection ends.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// How many messages are written before the caller's own are looked at.
const MESSAGES_AT_ONCE: usize = 64;

/// Why a connection ends.
enum Ended {
    /// The caller is gone, or does not speak WebSocket.
    Gone,
    /// The caller is told why.
    Told(u16, &'static str),
}

/// Begins a connection.
pub(crate) async fn connect(
    State(shared): Context,
    caller: Option<Extension<Caller>>,
    Extension(Peer(address)): Extension<Peer>,
    Extension(kept): Extension<Kept>,
    speech: Speech,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Some(Extension(caller)) = caller else { return reply::of_port(PortCode::Unauthenticated, speech) };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let reason = format!("must begin a WebSocket of version 13: {}", rejection.body_text());
            return reply::misshapen(&Misshapen::new("Upgrade", reason), speech);
        }
    };
    let listener = Listener { caller, address, speech };
    upgrade
        .protocols([PROTOCOL])
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_write_buffer_size(UNWRITTEN_BYTES_MAX)
        .on_upgrade(|socket| async move {
            kept.reader.note_answer(None);
            Connection::new(socket, shared, listener, kept).serve().await;
        })
}

/// Waits for the end of the server.
async fn begun(ending: &mut watch::Receiver<bool>) {
    // The sender is gone, and that is the end too.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// A connection.
struct Connection {
    socket: WebSocket,
    shared: Arc<HttpShared>,
    listener: Listener,
    kept: Kept,
    subscriber: Subscriber,
    news: Arc<Notify>,
    heard_at: Instant,
    /// When a message was last sent, and when the caller was last asked whether it is there.
    told_at: Instant,
    pinged_at: Instant,
}

impl Connection {
    fn new(socket: WebSocket, shared: Arc<HttpShared>, listener: Listener, kept: Kept) -> Self {
        let news = Arc::new(Notify::new());
        let wake = news.clone();
        let subscriber =
            Subscriber::new(shared.push.clone(), listener.caller.key(), Arc::new(move || wake.notify_one()));
        let now = Instant::now();
        Self { socket, shared, listener, kept, subscriber, news, heard_at: now, told_at: now, pinged_at: now }
    }

    /// Serves until the caller is gone, may not go on, or the server ends. The latter two also end the wait for a caller that
    /// does not read, which must get nothing more.
    async fn serve(mut self) {
        let (shared, caller) = (self.shared.clone(), self.listener.caller.clone());
        let mut ending = shared.ending.clone();
        let ended = tokio::select! {
            biased;
            () = shared.access.ended(&caller) => {
                Ended::Told(close_code::POLICY, "the key was revoked or has expired")
            }
            () = begun(&mut ending) => Ended::Told(close_code::AWAY, "the server is shutting down"),
            ended = self.talk() => ended,
        };
        if let Ended::Told(code, reason) = ended {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            // Who does not read hears nothing.
            let _ = timeout(CLOSE_MAX, self.socket.send(Message::Close(Some(frame)))).await;
        }
    }

    /// Sends what is new and answers requests until the connection ends.
    async fn talk(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.tell_news().await {
                return ended;
            }
            let due = self.told_at.min(self.pinged_at) + HEARTBEAT;
            // What was received comes before the question whether the caller is there, and that before what is new.
            let outcome = tokio::select! {
                biased;
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => self.hear(message).await,
                    // What is no WebSocket, or too large, ends the connection.
                    Some(Err(_)) | None => Err(Ended::Gone),
                },
                () = sleep_until(due) => self.beat().await,
                () = self.news.notified() => Ok(()),
                () = tokio::task::yield_now(), if self.subscriber.has_next() => Ok(()),
            };
            if let Err(ended) = outcome {
                return ended;
            }
        }
    }

    /// Sends some of what is new.
    async fn tell_news(&mut self) -> Result<(), Ended> {
        let mut has_more = false;
        for _ in 0..MESSAGES_AT_ONCE {
            let Some(message) = self.subscriber.take_next() else { break };
            let Ok(text) = Utf8Bytes::try_from(message.text) else { continue };
            self.write(Message::Text(text), false).await?;
            has_more = true;
        }
        if has_more { self.write_out().await } else { Ok(()) }
    }

    async fn hear(&mut self, message: Message) -> Result<(), Ended> {
        self.heard_at = Instant::now();
        match message {
            Message::Text(text) => {
                let answer =
                    requests::answer(&text, &self.listener, &self.shared, &mut self.subscriber).to_string();
                self.write(Message::Text(answer.into()), true).await
            }
            Message::Binary(_) => {
                Err(Ended::Told(close_code::UNSUPPORTED, "messages are JSON as text, and not binary"))
            }
            // Pings are answered by the library.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => Err(Ended::Gone),
        }
    }

    /// Says that the server is there, if nothing else did for a while, and asks whether the caller is.
    async fn beat(&mut self) -> Result<(), Ended> {
        if self.told_at.elapsed() >= HEARTBEAT
            && let Ok(text) = Utf8Bytes::try_from(heartbeat(now_ms()))
        {
            self.write(Message::Text(text), true).await?;
        }
        if self.pinged_at.elapsed() < HEARTBEAT {
            return Ok(());
        }
        if self.heard_at.elapsed() > SILENT_MAX {
            return Err(Ended::Gone);
        }
        self.pinged_at = Instant::now();
        self.write(Message::Ping(Vec::new().into()), true).await
    }

    /// Writes a message. A caller that takes nothing for too long is disconnected.
    async fn write(&mut self, message: Message, is_last: bool) -> Result<(), Ended> {
        if matches!(message, Message::Text(_)) {
            self.told_at = Instant::now();
        }
        let max = self.shared.stream_unread_max;
        let fed = tokio::select! {
            fed = timeout(max, self.socket.feed(message)) => fed,
            () = self.kept.reader.cut_off() => return Err(Ended::Gone),
        };
        match fed {
            Ok(Ok(())) if is_last => self.write_out().await,
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended::Gone),
            Err(_) => Err(self.stalled()),
        }
    }

    async fn write_out(&mut self) -> Result<(), Ended> {
        let flushed = tokio::select! {
            flushed = timeout(self.shared.stream_unread_max, self.socket.flush()) => flushed,
            () = self.kept.reader.cut_off() => return Err(Ended::Gone),
        };
        match flushed {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended::Gone),
            Err(_) => Err(self.stalled()),
        }
    }

    fn stalled(&self) -> Ended {
        self.kept.reader.note_stalled(self.shared.stream_unread_max);
        Ended::Gone
    }
}
