//! How delivery works.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::settlement::{AccountTemplate, SettledLookup};

/// How deliveries are made and retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// How long the database may take for anything before it counts as standing still.
    pub timeout: Duration,
    /// How many connections to the database there are at most.
    pub connections_max: usize,
    /// How long a receiver may take for its answer, and as long again for its body.
    pub request_timeout: Duration,
    /// How many attempts it has before it is a dead letter.
    pub attempts_max: u32,
    /// How often a settlement is sent that is refused by an answer of 400 to 499 other than 408, 409, 425 and 429,
    /// before it is a dead letter.
    pub refused_attempts_max: u32,
    /// The delay of the first retry. It doubles from failure to failure, and each delay is cut at random to between half
    /// and the whole.
    pub retry_first: Duration,
    /// The longest delay, and the longest `Retry-After` that is honored.
    pub retry_max: Duration,
    /// After how long another worker takes over what a worker has claimed. More than twice
    /// `request_timeout`, so that nobody takes over what is still under way.
    pub lease: Duration,
    /// How often a worker that has nothing to do looks for work that another process wrote.
    pub poll_interval: Duration,
    /// How many requests are under way at a time to one endpoint.
    pub endpoint_requests_max: usize,
    /// How many requests are under way at a time in all.
    pub requests_max: usize,
    /// A file of further certificates, in PEM, of authorities that receivers may be known by.
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
            lease: Duration::from_secs(60),
            poll_interval: Duration::from_millis(500),
            endpoint_requests_max: 8,
            requests_max: 64,
            ca_file: None,
        }
    }
}

/// How claimed packets are credited in an engine.
#[derive(Clone)]
pub struct SettlementOptions {
    /// Which account a packet is credited to.
    pub account_template: AccountTemplate,
    /// Whether an account that does not exist is opened, in the campaign's asset.
    pub open_accounts: bool,
    /// How many packets are credited at a time.
    pub batch_max: usize,
    /// How many such batches are under way at a time.
    pub lanes: usize,
    /// Knows whether a credit happened that the engine no longer remembers.
    pub lookup: Option<Arc<dyn SettledLookup>>,
    /// Whether that is asked even about packets that were never tried, by what the tables say, and that were claimed
    /// longer ago than the engine remembers. For tables that were put back from a copy: they may have been credited
    /// after it was made.
    pub looks_up_first_tries: bool,
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
            .finish()
    }
}
