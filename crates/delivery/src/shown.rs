//! Endpoints, deliveries and settlements as JSON, for programs and pages.

use serde_json::{Value, json};

use crate::{Endpoint, Settlement, WebhookDelivery};

impl Endpoint {
    /// The endpoint; its secret is not shown.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let failing = self.failing.as_ref();
        let last_error = failing.map(|failing| failing.last_error.as_str());
        json!({
            "endpoint": self.id,
            "url": self.url,
            "events": self.events,
            "state": self.state.word(),
            "failures": failing.map_or(0, |failing| failing.failures),
            "reason": self.reason.as_deref().or(last_error),
            "failing_since_ms": failing.map(|failing| failing.since_ms),
            "suspended_at_ms": failing.and_then(|failing| failing.suspended_at_ms),
            "created_at_ms": self.created_at_ms,
            "updated_at_ms": self.updated_at_ms,
        })
    }
}

impl WebhookDelivery {
    /// The delivery with its body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "delivery": self.id,
            "endpoint": self.endpoint_id,
            "message_id": self.message_id,
            "event": self.event,
            "body": self.body,
            "state": self.state.word(),
            "attempts": self.attempts,
            "next_at_ms": self.next_at_ms,
            "last_status": self.last_status,
            "last_error": self.last_error,
            "created_at_ms": self.created_at_ms,
            "done_at_ms": self.done_at_ms,
        })
    }
}

impl Settlement {
    /// The settlement.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "campaign": self.campaign,
            "packet": self.packet,
            "user": self.user,
            "amount": self.amount,
            "asset": self.asset,
            "state": self.state.word(),
            "account": self.account,
            "operation_id": self.operation_id,
            "attempts": self.attempts,
            "claimed_at_ms": self.claimed_at_ms,
            "next_at_ms": self.next_at_ms,
            "last_status": self.last_status,
            "last_error": self.last_error,
            "done_at_ms": self.done_at_ms,
            "lost_at_ms": self.lost_at_ms,
            "resolved_at_ms": self.resolved_at_ms,
        })
    }
}
