//! Messages as subscribers get them: JSON, written once for all.

use std::sync::Arc;

use bytes::Bytes;
use scarce_core::event::Position;
use serde_json::{Value, json};

/// A message for one subscriber.
#[derive(Clone, Debug)]
pub struct Message {
    /// The channel.
    pub channel: Arc<str>,
    /// The message's JSON, which all subscribers share.
    pub text: Bytes,
    /// Where the subscriber has come to with it; none for the end of a subscription.
    pub position: Option<Position>,
}

/// Why a subscription ends although nobody asked for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The subscriber reads slower than the channel changes.
    TooSlow,
}

impl End {
    /// The word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooSlow => "TOO_SLOW",
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::TooSlow => {
                "this subscriber reads slower than the channel changes; subscribe again, with ;conflate to get a snapshot instead of what it misses"
            }
        }
    }

    pub(crate) fn text(self, channel: &str) -> Bytes {
        written(&json!({ "channel": channel, "type": "end", "code": self.code(), "reason": self.reason() }))
    }
}

/// What an idle connection gets now and then.
#[must_use]
pub fn heartbeat(at: u64) -> Bytes {
    written(&json!({ "type": "heartbeat", "at": at }))
}

pub(crate) fn snapshot(channel: &str, position: Position, data: &Value) -> Bytes {
    let Position { epoch, sequence } = position;
    written(
        &json!({ "channel": channel, "type": "snapshot", "epoch": epoch, "sequence": sequence, "data": data }),
    )
}

pub(crate) fn delta(channel: &str, first: u64, last: Position, data: &Value) -> Bytes {
    let Position { epoch, sequence } = last;
    written(
        &json!({ "channel": channel, "type": "delta", "epoch": epoch, "first": first, "last": sequence, "data": data }),
    )
}

fn written(message: &Value) -> Bytes {
    Bytes::from(message.to_string())
}
