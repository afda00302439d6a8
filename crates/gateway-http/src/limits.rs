//! Limits, as callers of the port meet them: 429 with `Retry-After`, and the headers of
//! draft-ietf-httpapi-ratelimit-headers with every answer.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use scarce_access::Need;
use scarce_api::problem::{PortCode, Problem};
use scarce_core::command::{Command, CommandSpec};
use scarce_gateway::{Access, Caller};
use scarce_limits::{Limits, Permit, Refused, Standing};
use serde_json::{Map, Value};

use super::exchange::Speech;
use super::reply;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The limits that count a request, and where its caller stands with them.
#[derive(Clone)]
pub(super) struct RateLimited {
    limits: Arc<Limits>,
    address: IpAddr,
    nearest: Arc<Mutex<Option<Standing>>>,
    /// What it counts for while it is in progress: until everyone who has this has dropped it.
    permits: Arc<Mutex<Vec<Permit>>>,
}

impl RateLimited {
    /// The limits in effect, if there are any.
    pub(super) fn of(access: &Access, address: IpAddr) -> Option<Self> {
        let limits = access.limiting.get().clone()?;
        Some(Self { limits, address, nearest: Arc::default(), permits: Arc::default() })
    }

    /// Counts commands, and lets them begin.
    ///
    /// # Errors
    /// The answer when there are too many.
    pub(super) fn count<'a>(
        &self,
        caller: &Caller,
        commands: impl Iterator<Item = (&'static CommandSpec, &'a Command)> + Clone,
        speech: Speech,
    ) -> Result<(), Box<Response>> {
        let asker = caller.asker(self.address);
        let counted = commands.clone().try_for_each(|(spec, command)| {
            self.limits.count(asker, spec, Some(command)).map(|standing| self.note(standing))
        });
        let begun = counted.and_then(|()| self.limits.enter(asker, commands.map(|(_, command)| command)));
        begun.map(|permit| self.hold(permit)).map_err(|refused| self.refuse(*refused, speech))
    }

    /// Counts a subscription as the read that it shows.
    ///
    /// # Errors
    /// The problem when there are too many.
    pub(super) fn count_subscription(
        &self,
        caller: &Caller,
        read: &CommandSpec,
        command: &Command,
        speech: Speech,
    ) -> Result<(), Box<Problem>> {
        let counted = self.limits.count(caller.asker(self.address), read, Some(command));
        counted.map(|standing| self.note(standing)).map_err(|refused| self.problem(*refused, speech).into())
    }

    /// Counts a request that is no command, and lets it begin.
    ///
    /// # Errors
    /// The answer when there are too many.
    pub(super) fn count_other(
        &self,
        caller: &Caller,
        need: Need,
        speech: Speech,
    ) -> Result<(), Box<Response>> {
        let (verb, kind) = need.parts();
        let asker = caller.asker(self.address);
        let counted = self.limits.count_other(asker, verb, kind).map(|standing| self.note(standing));
        let begun = counted.and_then(|()| self.limits.enter_other(asker, verb, kind));
        begun.map(|permit| self.hold(permit)).map_err(|refused| self.refuse(*refused, speech))
    }

    /// Counts the request as in progress.
    fn hold(&self, mut permit: Permit) {
        self.note(permit.nearest.take());
        self.permits.lock().unwrap_or_else(PoisonError::into_inner).push(permit);
    }

    /// Adds where the caller stands.
    pub(super) fn tell(&self, response: &mut Response) {
        let nearest = self.nearest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Standing { limit, burst, window_s, remaining }) = nearest else { return };
        let unit = match window_s {
            Some(window_s) => format!("w={window_s}"),
            None => "qu=\"concurrent-requests\"".to_owned(),
        };
        let headers = [
            (RATE_LIMIT_POLICY, format!("\"{limit}\";q={burst};{unit}")),
            (RATE_LIMIT, format!("\"{limit}\";r={remaining}")),
        ];
        for (name, text) in headers {
            if let Ok(value) = HeaderValue::try_from(text) {
                response.headers_mut().insert(name, value);
            }
        }
    }

    /// Keeps the standing with the fewest requests left: the commands of a batch may have several.
    fn note(&self, standing: Option<Standing>) {
        let mut nearest = self.nearest.lock().unwrap_or_else(PoisonError::into_inner);
        let is_nearer = |new: &Standing| nearest.as_ref().is_none_or(|its| new.remaining <= its.remaining);
        if let Some(standing) = standing.filter(is_nearer) {
            *nearest = Some(standing);
        }
    }

    fn refuse(&self, refused: Refused, speech: Speech) -> Box<Response> {
        reply::problem(&self.problem(refused, speech), speech).into()
    }

    fn problem(&self, refused: Refused, speech: Speech) -> Problem {
        let wait_ms = refused.wait_ms();
        let facts = Map::from_iter([
            ("limit".to_owned(), Value::from(refused.limit)),
            ("per".to_owned(), refused.per.word().into()),
            ("retry_after_ms".to_owned(), wait_ms.into()),
        ]);
        let mut problem = Problem::of_port_with(PortCode::TooManyRequests, facts, speech.0);
        problem.retry_after_s = Some(wait_ms.div_ceil(1_000));
        self.note(Some(refused.standing));
        problem
    }
}
