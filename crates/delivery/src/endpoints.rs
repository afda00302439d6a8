//! Endpoints: the receivers of events by webhook.

mod secrets;

use scarce_core::event::EVENTS;
use scarce_engine::random::{bytes, hex};
use scarce_sql::{Cell, ColumnKind, Link};
use sqlx::Error;

use crate::announcements::ANNOUNCEMENTS;
use crate::http::check_url;
use crate::page::Taken;
use crate::store::now_ms;
use crate::{Delivery, DeliveryError, Secret, SecretReference, suspension};
pub use secrets::Encrypted;
pub(crate) use secrets::{Target, Targets};

/// Whether deliveries to an endpoint are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointState {
    /// They are.
    Active,
    /// They wait until the endpoint is resumed.
    Paused,
    /// Nothing arrived there for long: they wait until the endpoint is resumed.
    Suspended,
    /// It answered 410 Gone: nothing more is written for it until it is resumed.
    Disabled,
}

impl EndpointState {
    /// The word in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Suspended => "suspended",
            Self::Disabled => "disabled",
        }
    }

    fn from_word(word: &str, is_suspended: bool) -> Self {
        match word {
            "active" if is_suspended => Self::Suspended,
            "active" => Self::Active,
            "paused" => Self::Paused,
            _ => Self::Disabled,
        }
    }
}

/// An endpoint. Its secret is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: String,
    /// The address of its receiver.
    pub url: String,
    /// The events that it gets: names, patterns such as `stock.*`, or `*`.
    pub events: Vec<String>,
    /// Whether deliveries are made.
    pub state: EndpointState,
    /// Why it is disabled.
    pub reason: Option<String>,
    /// Its failures, if nothing has arrived there since the last one.
    pub failing: Option<Failing>,
    /// When it was added, in Unix milliseconds.
    pub created_at_ms: u64,
    /// When it was last changed, in Unix milliseconds.
    pub updated_at_ms: u64,
}

/// An endpoint's failures since its last success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// How many tries failed.
    pub failures: u64,
    /// Since when, in Unix milliseconds.
    pub since_ms: u64,
    /// The last error.
    pub last_error: String,
    /// When it was suspended, in Unix milliseconds.
    pub suspended_at_ms: Option<u64>,
}

/// A new endpoint. Its secret is not shown again.
#[derive(Clone, Debug)]
pub struct AddedEndpoint {
    /// Its id.
    pub id: String,
    /// The secret that signs its deliveries.
    pub secret: Secret,
}

/// The columns that are read of an endpoint, and of its failures.
const COLUMNS: &str = "e.endpoint_id, e.url, e.events, e.state, e.reason, e.created_at_ms, e.updated_at_ms";
const FAILING: &str = "f.failures, f.since_ms, f.last_error, f.suspended_at_ms";
pub(crate) const TABLES: &str =
    "delivery_endpoints AS e LEFT JOIN delivery_failing AS f ON f.endpoint_id = e.endpoint_id";
const KINDS: [ColumnKind; 11] = [
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Text,
    ColumnKind::Integer,
    ColumnKind::Integer,
    ColumnKind::Integer,
    ColumnKind::Integer,
    ColumnKind::Text,
    ColumnKind::Integer,
];

impl Endpoint {
    fn read(row: Vec<Cell>) -> Self {
        let mut row = Taken::new(row);
        let (id, url, events, state) = (row.text(), row.text(), row.text(), row.text());
        let (reason, created_at_ms, updated_at_ms) = (row.optional_text(), row.natural(), row.natural());
        let failing = Failing::read(&mut row);
        let is_suspended = failing.as_ref().is_some_and(|failing| failing.suspended_at_ms.is_some());
        Self {
            id,
            url,
            events: events.split(' ').map(str::to_owned).collect(),
            state: EndpointState::from_word(&state, is_suspended),
            reason,
            failing,
            created_at_ms,
            updated_at_ms,
        }
    }

    /// Whether it gets events of this name.
    #[must_use]
    pub fn wants(&self, event: &str) -> bool {
        self.events.iter().any(|pattern| is_like(event, pattern))
    }
}

impl Failing {
    fn read(row: &mut Taken) -> Option<Self> {
        let failures = row.time()?;
        Some(Self { failures, since_ms: row.natural(), last_error: row.text(), suspended_at_ms: row.time() })
    }
}

/// Whether an event's name matches a pattern.
fn is_like(event: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => event.starts_with(prefix),
        None => event == pattern,
    }
}

impl Delivery {
    /// Adds an endpoint, which gets events from now on. Without a secret one is generated.
    ///
    /// # Errors
    /// When the address is unusable, a pattern matches no event, or the database does not answer.
    pub async fn add_endpoint(
        &self,
        url: &str,
        events: &[&str],
        secret: Option<Secret>,
    ) -> Result<AddedEndpoint, DeliveryError> {
        check_url(url)?;
        check_patterns(events)?;
        let secret = secret.map_or_else(Secret::generate, Ok)?;
        let id = new_id()?;
        let stored = self.stored_secret(&id, &secret)?;
        self.write_endpoint(&id, url, events, &stored).await?;
        Ok(AddedEndpoint { id, secret })
    }

    /// Adds an endpoint whose secret is kept elsewhere, and read for each delivery; returns its id.
    ///
    /// # Errors
    /// As [`Delivery::add_endpoint`].
    pub async fn add_endpoint_with(
        &self,
        url: &str,
        events: &[&str],
        secret: &SecretReference,
    ) -> Result<String, DeliveryError> {
        check_url(url)?;
        check_patterns(events)?;
        let id = new_id()?;
        self.write_endpoint(&id, url, events, secret.text()).await?;
        Ok(id)
    }

    async fn write_endpoint(
        &self,
        id: &str,
        url: &str,
        events: &[&str],
        secret: &str,
    ) -> Result<(), DeliveryError> {
        let sql = "INSERT INTO delivery_endpoints \
                   (endpoint_id, url, events, secret, state, created_at_ms, updated_at_ms) \
                   VALUES (?, ?, ?, ?, 'active', ?, ?)";
        let now = now_ms();
        let values = [id.into(), url.into(), events.join(" ").into(), secret.into(), now.into(), now.into()];
        self.store().execute(sql, &values).await?;
        Ok(())
    }

    /// All endpoints, in the order in which they were added.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn endpoints(&self) -> Result<Vec<Endpoint>, DeliveryError> {
        let sql =
            format!("SELECT {COLUMNS}, {FAILING} FROM {TABLES} ORDER BY e.created_at_ms, e.endpoint_id");
        Ok(self.store().fetch(&sql, &[], &KINDS).await?.into_iter().map(Endpoint::read).collect())
    }

    /// The endpoint with this id, if there is one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn endpoint(&self, id: &str) -> Result<Option<Endpoint>, DeliveryError> {
        let sql = format!("SELECT {COLUMNS}, {FAILING} FROM {TABLES} WHERE e.endpoint_id = ?");
        Ok(self.store().fetch(&sql, &[id.into()], &KINDS).await?.into_iter().map(Endpoint::read).next())
    }

    /// Removes an endpoint with all its deliveries. Returns whether it existed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remove_endpoint(&self, id: &str) -> Result<bool, DeliveryError> {
        self.store()
            .in_time(async {
                let mut link = self.store().lend_to_write().await?;
                let removed = remove(&mut link, id).await.map_err(|error| self.store().failed(&error))?;
                link.done();
                Ok::<_, DeliveryError>(removed)
            })
            .await
    }

    /// Pauses deliveries to an endpoint. Returns whether it exists and is not disabled.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pause_endpoint(&self, id: &str) -> Result<bool, DeliveryError> {
        let sql = "UPDATE delivery_endpoints SET state = 'paused', updated_at_ms = ? \
                   WHERE endpoint_id = ? AND state <> 'disabled'";
        Ok(self.store().execute(sql, &[now_ms().into(), id.into()]).await? > 0)
    }

    /// Resumes deliveries to a paused, suspended or disabled endpoint. What waited while it was suspended is due at
    /// once, with all its tries. Returns whether the endpoint exists.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn resume_endpoint(&self, id: &str) -> Result<bool, DeliveryError> {
        let is_there = self
            .store()
            .in_time(async {
                let mut link = self.store().lend_to_write().await?;
                let resumed = resume(&mut link, id).await.map_err(|error| self.store().failed(&error))?;
                link.done();
                Ok::<_, DeliveryError>(resumed)
            })
            .await?;
        self.webhooks_written().notify_one();
        Ok(is_there)
    }

    /// Stops deliveries to an endpoint whose receiver wants no more.
    pub(crate) async fn disable_endpoint(&self, id: &str, reason: &str) -> Result<(), DeliveryError> {
        let sql = "UPDATE delivery_endpoints SET state = 'disabled', reason = ?, updated_at_ms = ? \
                   WHERE endpoint_id = ? AND state <> 'disabled'";
        self.store().execute(sql, &[reason.into(), now_ms().into(), id.into()]).await?;
        Ok(())
    }
}

async fn resume(link: &mut Link, id: &str) -> Result<bool, Error> {
    link.begin().await?;
    let sql = "UPDATE delivery_endpoints SET state = 'active', reason = NULL, updated_at_ms = ? \
               WHERE endpoint_id = ?";
    let resumed = link.execute(sql, &[now_ms().into(), id.into()]).await?;
    suspension::forget(link, id).await?;
    link.commit().await?;
    Ok(resumed > 0)
}

async fn remove(link: &mut Link, id: &str) -> Result<bool, Error> {
    link.begin().await?;
    link.execute("DELETE FROM delivery_failing WHERE endpoint_id = ?", &[id.into()]).await?;
    let removed = link.execute("DELETE FROM delivery_endpoints WHERE endpoint_id = ?", &[id.into()]).await?;
    link.execute("DELETE FROM delivery_webhooks WHERE endpoint_id = ?", &[id.into()]).await?;
    link.commit().await?;
    Ok(removed > 0)
}

/// The endpoints for which deliveries are written, within the transaction that writes them. The removal of an
/// endpoint waits for the end of that, and then finds its rows.
pub(crate) async fn wanting(link: &mut Link) -> Result<Vec<Endpoint>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM delivery_endpoints AS e WHERE state <> 'disabled' ORDER BY endpoint_id {}",
        link.dialect().keep_rows()
    );
    Ok(link.fetch(&sql, &[], &KINDS[..7]).await?.into_iter().map(Endpoint::read).collect())
}

fn new_id() -> Result<String, DeliveryError> {
    let drawn = bytes::<12>().map_err(|error| DeliveryError::Random { what: error.to_string() })?;
    Ok(format!("ep_{}", hex(&drawn)))
}

/// The names of all that an endpoint may get.
fn names() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().map(|spec| spec.name).chain(ANNOUNCEMENTS)
}

/// Checks that every pattern matches the name of some event.
fn check_patterns(patterns: &[&str]) -> Result<(), DeliveryError> {
    if patterns.is_empty() {
        return Err(DeliveryError::Pattern { pattern: String::new() });
    }
    for pattern in patterns {
        let is_shaped = *pattern == "*" || !pattern.contains('*') || pattern.ends_with(".*");
        if !is_shaped || !names().any(|name| is_like(name, pattern)) {
            return Err(DeliveryError::Pattern { pattern: (*pattern).to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_events() {
        for right in [&["stock.taken"][..], &["stock.*", "packets.claimed"], &["reconciliation.*"], &["*"]] {
            assert!(check_patterns(right).is_ok(), "{right:?}");
        }
        for wrong in [&[][..], &["stock"], &["stocks.*"], &["stock.t*"], &["*.taken"], &["stock.*", ""]] {
            assert!(check_patterns(wrong).is_err(), "{wrong:?}");
        }
        assert!(is_like("stock.taken", "stock.*") && !is_like("account.opened", "stock.*"));
        assert!(!is_like("stock.taken", "stock.take"));
    }
}
