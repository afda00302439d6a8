//! What a server tells endpoints besides the events of the log: that a reconciliation has found differences, and that everything
//! is equal again.
//!
//! Each endpoint that wants it is told when the end of a reconciliation is another one than it was told last. That is read from its
//! deliveries, so that restarts repeat nothing.

use scarce_core::types::signed;
use scarce_sql::{Cell, Column, ColumnKind, DatabaseError, Lent};
use serde_json::{Value, json};
use sqlx::Error;

use crate::consumer::{DELIVERY_COLUMNS, iso_8601};
use crate::endpoints::{Endpoint, wanting};
use crate::store::now_ms;
use crate::{Delivery, DeliveryError};

/// A reconciliation has found differences.
pub const DIFFERENT: &str = "reconciliation.different";

/// A reconciliation has found no difference any more.
pub const EQUAL: &str = "reconciliation.equal";

/// The names of all announcements.
pub(crate) const ANNOUNCEMENTS: [&str; 2] = [DIFFERENT, EQUAL];

/// The partition in the rows of announcements, which are of none.
const NO_PARTITION: i64 = -1;

/// The id that receivers see for an announcement.
pub(crate) fn announcement_id(deployment_id: &str, number: u64) -> String {
    format!("rec_{deployment_id}_{number}")
}

impl Delivery {
    /// Writes deliveries that tell how a reconciliation has ended, to the endpoints that were told otherwise last; returns how
    /// many. An endpoint that knows of no differences does not learn that there are no more.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn announce_reconciliation(
        &self,
        number: u64,
        differences: u64,
        data: &Value,
    ) -> Result<u64, DeliveryError> {
        let store = self.store();
        let written = Box::pin(store.in_time(async {
            let mut lent = store.lend_to_write().await?;
            let written = announce(&mut lent, number, differences, data).await;
            let written = written.map_err(|error| store.failed(&error))?;
            lent.done();
            Ok::<_, DatabaseError>(written)
        }));
        let written = written.await?;
        if written > 0 {
            self.webhooks_written().notify_one();
        }
        Ok(written)
    }
}

async fn announce(lent: &mut Lent, number: u64, differences: u64, data: &Value) -> Result<u64, Error> {
    lent.begin().await?;
    let name = if differences > 0 { DIFFERENT } else { EQUAL };
    let now = now_ms();
    let body = json!({ "type": name, "timestamp": iso_8601(now.unsigned_abs()), "data": data }).to_string();
    let mut cells = Vec::new();
    for endpoint in wanting(lent).await?.into_iter().filter(|endpoint| endpoint.wants(name)) {
        let last = last_told(lent, &endpoint).await?;
        let is_news =
            if differences > 0 { last.as_deref() != Some(name) } else { last.as_deref() == Some(DIFFERENT) };
        if is_news {
            cells.extend([
                Cell::Text(endpoint.id.as_str().into()),
                NO_PARTITION.into(),
                0.into(),
                signed(number).into(),
                Cell::Word(name),
                Cell::Text(body.as_str().into()),
                Cell::Word("pending"),
                0.into(),
                now.into(),
                now.into(),
            ]);
        }
    }
    let columns: &[Column] = &DELIVERY_COLUMNS;
    let written =
        if cells.is_empty() { 0 } else { lent.insert_missing("delivery_webhooks", columns, &cells).await? };
    lent.commit().await?;
    Ok(written)
}

/// What an endpoint was told last.
async fn last_told(lent: &mut Lent, endpoint: &Endpoint) -> Result<Option<String>, Error> {
    let sql = "SELECT event FROM delivery_webhooks WHERE endpoint_id = ? AND partition_id = ? \
               ORDER BY epoch DESC, sequence DESC LIMIT 1";
    let values = [Cell::Text(endpoint.id.as_str().into()), NO_PARTITION.into()];
    let rows = lent.fetch(sql, &values, &[ColumnKind::Text]).await?;
    Ok(rows.first().and_then(|row| row.first()?.text()).map(str::to_owned))
}
