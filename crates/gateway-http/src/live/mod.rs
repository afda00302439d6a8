//! What callers watch: `/ws` over WebSocket, `GET /v1/live` as server-sent events. Both show the channels of
//! [`scarce_push`], which every caller may subscribe to whose key allows the read that a channel shows.

mod requests;
pub(super) mod socket;
pub(super) mod stream;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use scarce_api::Misshapen;
use scarce_api::problem::Problem;
use scarce_core::facts;
use scarce_core::outcome::{Code, Outcome, Value as Figure};
use scarce_gateway::{Caller, Denied};
use scarce_push::{Asked, ChannelError, Full, Subscriber};

use super::HttpShared;
use super::exchange::Speech;
use super::limits::RateLimited;
use super::reader::Reader;

/// How often an idle connection gets a heartbeat.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Who subscribes, and from where.
#[derive(Clone)]
pub(super) struct Listener {
    pub(super) caller: Caller,
    pub(super) address: IpAddr,
    pub(super) speech: Speech,
}

/// What a connection holds for as long as it lasts, also once it is no longer one of HTTP.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) reader: Arc<Reader>,
    pub(super) _place: Arc<dyn Send + Sync>,
}

impl Listener {
    /// Subscribes, if the caller's key allows what the channel shows, and no limit counts too many requests.
    pub(super) fn subscribe(
        &self,
        shared: &HttpShared,
        subscriber: &mut Subscriber,
        asked: Asked,
    ) -> Result<(), Box<Problem>> {
        let (read, command) = (asked.channel.read, &asked.channel.command);
        if let Err(lack) = self.caller.check(read, command) {
            let scope = lack.to_string();
            let denied = Denied { what: "SUBSCRIBE", outcome: "LACKS_SCOPE", detail: Some(&scope) };
            shared.access.deny(Some(&self.caller), self.address, denied);
            return Err(super::guard::lack_problem(&lack, self.speech).into());
        }
        if let Some(limited) = RateLimited::of(&shared.access, self.address) {
            limited.count_subscription(&self.caller, read, command, self.speech)?;
        }
        subscriber.subscribe(asked).map_err(|full| self.full(full).into())
    }

    fn full(&self, full: Full) -> Problem {
        let reason = full.to_string();
        let outcome = match full {
            Full::Unavailable => Outcome { code: Code::Unavailable, facts: facts![reason.as_str()] },
            Full::OfOne | Full::OfKey | Full::OfAll => {
                Outcome { code: Code::Overloaded, facts: facts!["subscriptions", Figure::Absent] }
            }
        };
        let mut problem = Problem::of(&outcome, None, self.speech.0);
        if let Some(body) = problem.body.as_object_mut() {
            body.insert("reason".to_owned(), reason.into());
        }
        problem
    }
}

/// What is wrong with the name of a channel.
pub(super) fn misshapen(error: &ChannelError) -> Misshapen {
    match error {
        ChannelError::Unknown { .. } => Misshapen::new("channel", error.to_string()),
        ChannelError::Malformed(invalid) => {
            Misshapen::new("channel", format!("has a malformed part: {invalid}"))
        }
    }
}
