//! Operation IDs that came with a move from the embedded engine, which keeps a hash of each and not its text. Here their
//! records have a place by that hash. While they may still be asked for, each request with an ID says its hash, too, and
//! the library looks in both places (`scripts/operations.lua`).

use std::sync::Arc;

use scarce_core::command::{Body, Common, Envelope};
use scarce_core::operations::hash_of;
use scarce_core::types::{OperationId, TimeMs};
use scarce_engine::clock::{Clock, ManualClock, TimeSource};
use scarce_engine::engine::Request;

use super::call::{self, EncodedRequest};
use super::settings::RedisSettings;

/// How much longer than they are remembered they are looked for: clocks differ by less.
const MARGIN_MS: u64 = 3_600_000;

/// The field in `operations` of an ID by its hash. No text of an ID begins with a blank.
#[must_use]
pub fn field_of([first, second]: [u64; 2]) -> String {
    format!(" #{first:016x}{second:016x}")
}

/// Where the record of an ID may be: by its text, and by its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MovedPlace {
    pub(super) text: String,
    pub(super) hashed: String,
}

/// The IDs that a deployment has brought along.
#[derive(Clone, Debug)]
pub(super) struct MovedIds {
    seed: u64,
    /// When the last of them is forgotten.
    until: TimeMs,
    clock: Option<ManualClock>,
    time_source: Arc<dyn TimeSource>,
}

impl MovedIds {
    /// Those of a deployment with this secret, the youngest of which was made at `last_at`.
    pub(super) fn new(settings: &RedisSettings, secret: &[u8; 32], last_at: TimeMs) -> Self {
        Self {
            seed: seed_of(secret),
            until: last_at.saturating_add(settings.state.window_ms).saturating_add(MARGIN_MS),
            clock: settings.clock.clone(),
            time_source: Arc::clone(&settings.time_source),
        }
    }

    /// Writes a request, and where its ID may be.
    pub(super) fn add_place(&self, request: &Request, encoded: &mut EncodedRequest) {
        if self.now() <= self.until {
            encoded.moved = self.place_of(request);
        }
    }

    fn now(&self) -> TimeMs {
        match &self.clock {
            Some(clock) => clock.clone().now(),
            None => u64::try_from(self.time_source.wall().as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn place_of(&self, request: &Request) -> Option<MovedPlace> {
        let (namespace, id) = match request {
            Request::Write(envelope) | Request::DryRun(envelope) => (&*envelope.namespace, id_of(envelope)?),
            Request::Read(namespace, command) => (&**namespace, call::asked_id(command)?),
            Request::Expire(_) => return None,
        };
        let text = if namespace.is_empty() { id.as_str().to_owned() } else { format!("{namespace} {id}") };
        let hash = hash_of(self.seed, namespace.as_bytes(), id.as_str().as_bytes());
        Some(MovedPlace { text, hashed: field_of(hash) })
    }
}

/// The ID under which an envelope is remembered, or after which it asks.
fn id_of(envelope: &Envelope) -> Option<&OperationId> {
    let Common { operation, .. } = &envelope.common;
    operation.as_ref().or_else(|| match &envelope.body {
        Body::Single(command) => call::asked_id(command),
        Body::Atomic(_) => None,
    })
}

/// What keys the hashes of a deployment, as in the embedded engine.
#[must_use]
pub fn seed_of(secret: &[u8; 32]) -> u64 {
    secret.first_chunk().copied().map_or(0, u64::from_le_bytes)
}
