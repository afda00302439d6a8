//! Endpoints at which nothing arrives any more: they are suspended before their deliveries become dead letters.

use std::collections::BTreeMap;

use scarce_sql::{Database, DatabaseError, Link};
use sqlx::Error;

use crate::queue::clipped;
use crate::store::{millis, now_ms};
use crate::{Delivery, DeliveryOptions};

/// What deliveries to endpoints came to, since it was last written down.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, Tried>);

#[derive(Debug, Default)]
struct Tried {
    failures: u64,
    /// The last error; `None` once a delivery succeeded.
    error: Option<String>,
    has_success: bool,
}

impl Tally {
    pub(crate) fn succeeded(&mut self, endpoint_id: &str) {
        self.0.entry(endpoint_id.to_owned()).or_default().has_success = true;
    }

    pub(crate) fn failed(&mut self, endpoint_id: &str, error: &str) {
        let tried = self.0.entry(endpoint_id.to_owned()).or_default();
        tried.failures += 1;
        tried.error = Some(error.to_owned());
    }
}

impl Delivery {
    /// Writes down which endpoints fail, and suspends those that have failed for long. `was_failing` says whether the
    /// tables say so of an endpoint already.
    pub(crate) async fn note_tally(
        &self,
        tally: Tally,
        was_failing: impl Fn(&str) -> bool,
    ) -> Result<(), DatabaseError> {
        for (endpoint_id, tried) in tally.0 {
            if tried.has_success {
                // Usually nothing is written down of it.
                if was_failing(&endpoint_id) {
                    let sql =
                        "DELETE FROM delivery_failing WHERE endpoint_id = ? AND suspended_at_ms IS NULL";
                    self.store().execute(sql, &[endpoint_id.as_str().into()]).await?;
                }
                continue;
            }
            let Some(error) = tried.error else { continue };
            if note(self.store(), self.options(), &endpoint_id, (tried.failures, &error)).await? {
                tracing::warn!(
                    endpoint = endpoint_id,
                    last_error = error,
                    "an endpoint is suspended: nothing arrived there for long. Deliveries to it wait until you run \
                     'scarce webhooks resume'"
                );
            }
        }
        Ok(())
    }

    /// Writes down that nothing can be sent to an endpoint, although that is no failure of its receiver.
    pub(crate) async fn note_unsendable(&self, endpoint_id: &str, why: &str) -> Result<(), DatabaseError> {
        note(self.store(), self.options(), endpoint_id, (0, why)).await.map(drop)
    }

    /// Forgets that nothing could be sent to an endpoint whose receiver has not failed.
    pub(crate) async fn note_sendable(&self, endpoint_id: &str) -> Result<(), DatabaseError> {
        let sql = "DELETE FROM delivery_failing WHERE endpoint_id = ? AND failures = 0";
        self.store().execute(sql, &[endpoint_id.into()]).await.map(drop)
    }
}

/// Writes failures down; returns whether the endpoint is suspended by them.
async fn note(
    store: &Database,
    options: &DeliveryOptions,
    endpoint_id: &str,
    failed: (u64, &str),
) -> Result<bool, DatabaseError> {
    store
        .in_time(async {
            let mut lent = store.lend_to_write().await?;
            let noted = note_failures(&mut lent, options, endpoint_id, failed).await;
            let is_suspended = noted.map_err(|error| store.failed(&error))?;
            lent.done();
            Ok(is_suspended)
        })
        .await
}

async fn note_failures(
    link: &mut Link,
    options: &DeliveryOptions,
    endpoint_id: &str,
    (failures, error): (u64, &str),
) -> Result<bool, Error> {
    let (now, failures) = (now_ms(), i64::try_from(failures).unwrap_or(i64::MAX));
    link.begin().await?;
    let columns = ["endpoint_id", "failures", "since_ms", "last_error"];
    let sql = link.dialect().insert_if_missing("delivery_failing", &columns);
    link.execute(&sql, &[endpoint_id.into(), 0.into(), now.into(), "".into()]).await?;
    let sql = "UPDATE delivery_failing SET failures = failures + ?, last_error = ? WHERE endpoint_id = ?";
    link.execute(sql, &[failures.into(), clipped(error).into(), endpoint_id.into()]).await?;
    let Some(after) = options.suspend_after.filter(|_| failures > 0) else {
        link.commit().await?;
        return Ok(false);
    };
    let sql = "UPDATE delivery_failing SET suspended_at_ms = ? WHERE endpoint_id = ? AND suspended_at_ms IS NULL \
               AND failures >= ? AND since_ms <= ?";
    let values = [
        now.into(),
        endpoint_id.into(),
        i64::from(options.suspend_failures_min).into(),
        now.saturating_sub(millis(after)).into(),
    ];
    let is_suspended = link.execute(sql, &values).await? > 0;
    link.commit().await?;
    Ok(is_suspended)
}

/// Forgets failures of an endpoint, within a transaction. If it was suspended, its deliveries are due now, with all
/// their tries.
pub(crate) async fn forget(link: &mut Link, endpoint_id: &str) -> Result<(), Error> {
    let endpoint = [endpoint_id.into()];
    let sql = "DELETE FROM delivery_failing WHERE endpoint_id = ? AND suspended_at_ms IS NOT NULL";
    if link.execute(sql, &endpoint).await? > 0 {
        let sql = "UPDATE delivery_webhooks SET next_at_ms = ?, attempts = 0 \
                   WHERE endpoint_id = ? AND state = 'pending' AND lease_owner IS NULL";
        link.execute(sql, &[now_ms().into(), endpoint_id.into()]).await?;
    }
    link.execute("DELETE FROM delivery_failing WHERE endpoint_id = ?", &endpoint).await.map(drop)
}
