//! The options of delivery.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::SecretKeys;
use crate::settlement::{AccountTemplate, SettledLookup};

/// How deliveries are made and retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// The timeout of every operation on the database.
    pub timeout: Duration,
    /// The maximum number of connections to the database.
    pub connections_max: usize,
    /// How long a receiver may take for its response, and as long again for the body.
    pub request_timeout: Duration,
    /// How many attempts a delivery has before it becomes a dead letter.
    pub attempts_max: u32,
    /// How many attempts a settlement has that is refused by a status of 400 to 499 other than 408, 409, 425
    /// and 429, before it becomes a dead letter.
    pub refused_attempts_max: u32,
    /// The delay of the first retry. It doubles with each failure, and each delay is shortened at random by
    /// up to a half.
    pub retry_first: Duration,
    /// After how long without a success an endpoint is suspended; `None` for never. Shorter than the time of
    /// `attempts_max` tries, so that deliveries wait instead of becoming dead letters.
    pub suspend_after: Option<Duration>,
    /// How many tries must have failed in that time, too.
    pub suspend_failures_min: u32,
    /// The longest delay, and the longest `Retry-After` that is honored.
    pub retry_max: Duration,
    /// After how long another worker takes over a row that a worker has claimed. More than twice
    /// `request_timeout`, so that no request in progress is taken over.
    pub lease: Duration,
    /// How often an idle worker looks for work that another process wrote.
    pub poll_interval: Duration,
    /// How many requests may be in progress at a time to one endpoint.
    pub endpoint_requests_max: usize,
    /// How many requests may be in progress at a time in all.
    pub requests_max: usize,
    /// The keys that encrypt secrets in the database; without any, new secrets are stored as plain text.
    pub secret_keys: Option<SecretKeys>,
    /// A PEM file with further certificate authorities to trust.
    pub ca_file: Option<PathBuf>,
}

impl Default for DeliveryOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connections_max: 8,
            request_timeout: Duration::from_secs(15),
            attempts_max: 20,
            refused_attempts_max: 3,
            retry_first: Duration::from_secs(1),
            retry_max: Duration::from_secs(3_600),
            suspend_after: Some(Duration::from_secs(3_600)),
            suspend_failures_min: 10,
            lease: Duration::from_secs(60),
            poll_interval: Duration::from_millis(500),
            endpoint_requests_max: 8,
            requests_max: 64,
            secret_keys: None,
            ca_file: None,
        }
    }
}

/// How claimed packets are credited in an engine.
#[derive(Clone)]
pub struct SettlementOptions {
    /// The account that a packet is credited to.
    pub account_template: AccountTemplate,
    /// Whether a missing account is opened, in the campaign's asset.
    pub open_accounts: bool,
    /// How many packets are credited at a time.
    pub batch_max: usize,
    /// How many such batches are in progress at a time.
    pub lanes: usize,
    /// A source that knows whether a credit happened that the engine no longer remembers.
    pub lookup: Option<Arc<dyn SettledLookup>>,
    /// Whether that source is asked even about packets that, by the tables, were never tried, and that were
    /// claimed longer ago than the engine remembers. For tables that were restored from a backup: the packets
    /// may have been credited after it was made.
    pub looks_up_first_tries: bool,
    /// Whether only packets are credited whose first attempt was a credit: an outside system settles all others.
    pub only_begun: bool,
}

impl Default for SettlementOptions {
    fn default() -> Self {
        Self {
            account_template: AccountTemplate::default(),
            open_accounts: true,
            batch_max: 1_000,
            lanes: 2,
            lookup: None,
            looks_up_first_tries: false,
            only_begun: false,
        }
    }
}

impl std::fmt::Debug for SettlementOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SettlementOptions")
            .field("account_template", &self.account_template)
            .field("open_accounts", &self.open_accounts)
            .field("batch_max", &self.batch_max)
            .field("lanes", &self.lanes)
            .field("has_lookup", &self.lookup.is_some())
            .field("looks_up_first_tries", &self.looks_up_first_tries)
            .field("only_begun", &self.only_begun)
            .finish()
    }
}
