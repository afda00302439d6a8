//! The table of settings: each one's name, default, bounds, unit and meaning. Flags, variables, the file's
//! keys, `scarce config` and the server's settings struct are generated from it.

use std::net::SocketAddr;
use std::path::PathBuf;

use scarce_core::outcome::Durability;
use scarce_delivery::AccountTemplate;
use scarce_engine_redis::ScriptAccess;

use super::duration;
use super::logs::{LogFormat, LogLevel};
use super::memory::MemoryMax;
use super::origins::Origins;
use super::outflow::{Properties, SettlementChoice, SqlUrl};
use super::reconciling::RepairLevel;
use super::scales::AssetScales;
use super::value::{DeploymentId, EngineChoice, Kind, Password, RedisUrl, Setting};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The key in a file, prefixed with its section: `journal.segment_mib`.
    pub key: &'static str,
    /// The heading under which it is listed.
    pub heading: &'static str,
    /// The default as it would be written; `None` if the setting is unset by default.
    pub default: Option<&'static str>,
    /// The placeholder for the value in a usage line.
    pub value_name: &'static str,
    /// How its value is written.
    pub kind: Kind,
    /// The minimum of a number.
    pub min: u64,
    /// The maximum of a number.
    pub max: u64,
    /// The unit of a number.
    pub unit: Option<&'static str>,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    shape: fn(&Self) -> String,
    can_read: fn(&Self, &str) -> bool,
}

impl Spec {
    /// Checks a text.
    ///
    /// # Errors
    /// The requirement that the text violates, to follow "must be".
    pub fn check(&self, text: &str) -> Result<(), String> {
        if (self.can_read)(self, text) { Ok(()) } else { Err(self.shape()) }
    }

    /// The requirement on a text, to follow "must be".
    #[must_use]
    pub fn shape(&self) -> String {
        (self.shape)(self)
    }

    /// The key without its section. It is unique, so flags and variables use it alone.
    #[must_use]
    pub fn short_key(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, last)| last)
    }

    /// The flag without its hyphens.
    #[must_use]
    pub fn flag(&self) -> String {
        self.short_key().replace('_', "-")
    }

    /// Whether it is a duration in milliseconds, which can also be written with a unit.
    #[must_use]
    pub fn is_duration(&self) -> bool {
        self.unit == Some("ms")
    }

    /// A value as people read it: a duration with the longest unit that divides it, any other number with its unit.
    #[must_use]
    pub fn readable(&self, text: &str) -> String {
        match (self.unit, text.parse()) {
            (Some(_), Ok(ms)) if self.is_duration() => duration::readable(ms),
            (Some(unit), _) => format!("{text} {unit}"),
            (None, _) => text.to_owned(),
        }
    }

    /// A text that [`Spec::check`] accepts, as it is kept: a duration in plain milliseconds.
    pub(super) fn plain(&self, text: String) -> String {
        if !self.is_duration() {
            return text;
        }
        duration::read(&text, &(self.min..=self.max)).map_or(text, |ms| ms.to_string())
    }

    /// The variables that set it: by the short key and by the full key.
    #[must_use]
    pub fn variables(&self) -> [String; 2] {
        [variable(self.short_key()), variable(self.key)]
    }
}

/// The prefix of every variable.
pub const VARIABLE_PREFIX: &str = "SCARCE_";

/// The variable of a key: upper case, with two underscores for the dot.
fn variable(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

/// Declares the settings: the struct and the table.
macro_rules! settings {
    ($($heading:literal: $($field:ident: $type:ty, $key:literal = $default:expr, $value:literal
        {$($detail:ident: $is:expr),*} $meaning:literal;)*)*) => {
        /// What `scarce serve` runs with.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct ServerSettings { $($(#[doc = $meaning] pub $field: $type,)*)* }

        /// Every setting, in the order of the table.
        pub static SETTINGS: &[Spec] = &[$($(Spec {
            $($detail: $is,)*
            ..Spec {
                key: $key,
                heading: $heading,
                default: $default,
                value_name: $value,
                kind: <$type as Setting>::KIND,
                min: 0,
                max: u64::MAX,
                unit: None,
                meaning: $meaning,
                shape: <$type as Setting>::shape,
                can_read: |spec, text| <$type as Setting>::read(text, spec).is_some(),
            }
        },)*)*];

        impl ServerSettings {
            /// Builds the settings from checked texts; absent ones stay unset.
            pub(super) fn read(text_of: impl Fn(&str) -> Option<String>) -> Result<Self, &'static str> {
                let mut rows = SETTINGS.iter();
                Ok(Self { $($($field: {
                    // There is one row for each field, in the same order.
                    let spec = rows.next().ok_or($key)?;
                    match text_of($key) {
                        Some(text) => <$type as Setting>::read(&text, spec).ok_or($key)?,
                        None => <$type as Setting>::unset().ok_or($key)?,
                    }
                },)*)* })
            }
        }
    };
}

settings! {
    "Server":
    data: PathBuf, "data" = Some("scarce-data"), "DIR" {}
        "Where the journal and snapshots are kept; with the engine redis, which deployment was served.";
    resp: SocketAddr, "resp" = Some("127.0.0.1:7379"), "ADDR" {}
        "Where any Redis client connects; port 0 takes a free one.";
    http: Option<SocketAddr>, "http" = Some("127.0.0.1:7380"), "ADDR" {}
        "Where HTTP clients connect; port 0 takes a free one, off opens none.";
    http_origins: Origins, "http_origins" = None, "ORIGIN,…" {}
        "Web pages of these origins may call the HTTP port from a browser, such as https://shop.example; other pages may not.";
    tls_cert: Option<PathBuf>, "tls_cert" = None, "FILE" {}
        "The certificate in PEM that both ports show, and after it those between it and its authority; with it, they speak TLS only.";
    tls_key: Option<PathBuf>, "tls_key" = None, "FILE" {}
        "The key of that certificate.";
    tls_client_ca: Option<PathBuf>, "tls_client_ca" = None, "FILE" {}
        "Authorities in PEM; with them, callers must show a certificate of one of them.";
    engine: EngineChoice, "engine" = Some("embedded"), "ENGINE" {}
        "Which engine decides: embedded keeps state and journal here, redis in a Redis or Valkey.";
    partitions: u32, "partitions" = Some("1"), "N" {min: 1, max: 1_024}
        "How many partitions; fixed when the deployment is created.";
    password: Option<Password>, "password" = None, "PASSWORD" {}
        "The password that callers may show in place of a key; it or a key is required off loopback, with at least 12 characters.";
    accept_weak_password: bool, "accept_weak_password" = Some("false"), "BOOL" {}
        "Listen off loopback although the password has fewer than 12 characters.";
    drain_ms: u64, "drain_ms" = Some("0"), "TIME" {max: 600_000, unit: Some("ms")}
        "How long /readyz says that the server ends before it does, so that no traffic is routed to it any more.";
    event_stream_unread_ms: u64, "event_stream_unread_ms" = Some("60000"), "TIME" {min: 1_000, max: 3_600_000, unit: Some("ms")}
        "How long a caller may read nothing of a stream of /v1/events, or of its replies over RESP, before it is disconnected.";
    http_keep_alive_ms: u64, "http_keep_alive_ms" = Some("75000"), "TIME" {min: 1_000, max: 3_600_000, unit: Some("ms")}
        "How long a connection of the HTTP port stays open without a request; longer than a load balancer in front of it keeps one.";
    clock_steady_ms: u64, "clock_steady_ms" = Some("3600000"), "TIME" {min: 1_000, unit: Some("ms")}
        "How long a clock that leapt must run steadily to be believed, where no time service confirms it.";
    "Audit":
    audit: bool, "audit" = Some("true"), "BOOL" {}
        "Record administrative acts and callers that are turned away, in the folder audit of the data directory.";
    audit_retention_days: u64, "audit_retention_days" = Some("400"), "DAYS" {min: 1, max: 36_500, unit: Some("days")}
        "How long records of the audit log are kept.";
    audit_max_mib: u64, "audit_max_mib" = Some("1024"), "MIB" {min: 32, max: 1 << 20, unit: Some("MiB")}
        "How much the audit log takes at most; the oldest records are removed.";
    "Backup":
    backup: Option<String>, "backup" = None, "URL" {}
        "The store of backups that the log is shipped to all the time: a folder, file:///folder, or s3://bucket/prefix. Only with the engine embedded.";
    backup_key_file: Option<PathBuf>, "backup_key_file" = None, "FILE" {}
        "The file of keys that encrypt backups, one on each line; 'scarce backup key' makes it.";
    backup_interval_ms: u64, "backup_interval_ms" = Some("500"), "TIME" {min: 50, max: 60_000, unit: Some("ms")}
        "How often what was logged is shipped to the store of backups; with the time that it takes, as much may be lost with this machine.";
    backup_full_ms: u64, "backup_full_ms" = Some("86400000"), "TIME" {min: 60_000, unit: Some("ms")}
        "How old the newest full backup in the store becomes before the server makes another.";
    backup_log_max_mib: u64, "backup_log_max_mib" = Some("10240"), "MIB" {min: 1, max: 1 << 40, unit: Some("MiB")}
        "How much log may wait on disk for the store of backups; beyond that it is not kept for it any more.";
    "Redis engine":
    redis_url: RedisUrl, "redis_url" = Some("redis://127.0.0.1:6379"), "URL" {}
        "Where the engine 'redis' finds its servers: redis://HOST:PORT, redis+sentinel://HOST,HOST/SERVICE, redis+cluster://HOST,HOST.";
    redis_user: Option<String>, "redis_user" = None, "NAME" {}
        "The user at those servers; without one, their default user.";
    redis_password: Option<Password>, "redis_password" = None, "PASSWORD" {}
        "The user's password there.";
    redis_sentinel_password: Option<Password>, "redis_sentinel_password" = None, "PASSWORD" {}
        "The password of the sentinels.";
    redis_tls_ca: Option<PathBuf>, "redis_tls_ca" = None, "FILE" {}
        "Authorities in PEM that servers of rediss:// must be certified by, instead of the system's.";
    redis_tls_cert: Option<PathBuf>, "redis_tls_cert" = None, "FILE" {}
        "The certificate in PEM that is shown to those servers.";
    redis_tls_key: Option<PathBuf>, "redis_tls_key" = None, "FILE" {}
        "The key of that certificate.";
    redis_durability: Durability, "redis_durability" = Some("memory"), "LEVEL" {}
        "How safe a change in Redis must be before it is answered: memory, replicated or synced.";
    redis_replicas: u32, "redis_replicas" = Some("1"), "N" {min: 1, max: 16, unit: Some("replicas")}
        "How many replicas must have what is to be replicated.";
    redis_prefix: String, "redis_prefix" = Some("scarce:"), "TEXT" {}
        "What the names of all keys there begin with.";
    redis_deployment: Option<DeploymentId>, "redis_deployment" = None, "ID" {}
        "The deployment that must be in Redis: an empty Redis, or one with another deployment, is refused.";
    redis_scripts: ScriptAccess, "redis_scripts" = Some("off"), "ACCESS" {}
        "What clients may do with your own scripts: off, run those that are registered, or manage, which is to register and remove them, too.";
    redis_timeout_ms: u32, "redis_timeout_ms" = Some("5000"), "TIME" {min: 10, max: 600_000, unit: Some("ms")}
        "How long Redis may take to answer before the outcome is unknown.";
    redis_clock_skew_ms: u64, "redis_clock_skew_ms" = Some("300000"), "TIME" {max: 86_400_000, unit: Some("ms")}
        "How far the clock of a Redis server may be ahead of this machine's before it is refused.";
    redis_log_retention_ms: u64, "redis_log_retention_ms" = Some("600000"), "TIME" {unit: Some("ms")}
        "How long events stay in Redis that no consumer waits for.";
    "SQL projection":
    sql: Option<SqlUrl>, "sql" = None, "URL" {}
        "The database that the log is projected into: sqlite://FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE.";
    sql_password: Option<Password>, "sql_password" = None, "PASSWORD" {}
        "The password of the database's user, where it is not in the address.";
    sql_asset_scales: AssetScales, "sql_asset_scales" = None, "ASSET=DECIMALS,…" {}
        "Of how many decimals the amounts of assets are, for the decimal columns of the projection's views.";
    "Webhooks and settlement":
    webhooks: bool, "webhooks" = Some("false"), "BOOL" {}
        "Send events to the endpoints that 'scarce webhooks' knows; needs sql.";
    webhooks_retention_days: u64, "webhooks_retention_days" = Some("7"), "DAYS" {max: 36_500, unit: Some("days")}
        "How long deliveries that succeeded are kept, to be looked at or made again.";
    webhooks_suspend_after_ms: u64, "webhooks_suspend_after_ms" = Some("3600000"), "TIME" {max: 2_592_000_000, unit: Some("ms")}
        "After how long without a success an endpoint is suspended, so that its deliveries wait instead of becoming dead letters; 0 suspends none.";
    webhooks_suspend_failures: u64, "webhooks_suspend_failures" = Some("10"), "N" {min: 1, max: 1_000_000, unit: Some("attempts")}
        "How many attempts in a row must have failed in that time, too.";
    secrets_key: Option<Password>, "secrets_key" = None, "KEYS" {}
        "The keys that encrypt the secrets of webhooks in the database: 32 bytes each as base64. The first encrypts, further ones decrypt.";
    settlement: SettlementChoice, "settlement" = Some("off"), "WAY" {}
        "Where claimed red packets are credited: off, engine, or the http(s):// address of a balance system; needs sql.";
    settlement_account: AccountTemplate, "settlement_account" = Some("{user}"), "TEMPLATE" {}
        "Which account of the engine a packet is credited to, made of {user}, {asset} and {campaign}.";
    settlement_opens_accounts: bool, "settlement_opens_accounts" = Some("true"), "BOOL" {}
        "Open the account where there is none.";
    settlement_from_beginning: bool, "settlement_from_beginning" = Some("false"), "BOOL" {}
        "When settlement is first turned on, credit what was claimed before, too, as far as the log reaches back; otherwise only what is claimed from then on.";
    settlement_looks_up_first_tries: bool, "settlement_looks_up_first_tries" = Some("false"), "BOOL" {}
        "Look up in the projection, too, packets that were never tried by what the tables say: after these were put back from a copy.";
    settlement_secret: Option<Password>, "settlement_secret" = None, "SECRET" {}
        "What calls to the balance system are signed with: whsec_ and 24 to 64 bytes as base64.";
    receivers_ca: Option<PathBuf>, "receivers_ca" = None, "FILE" {}
        "Further authorities in PEM that receivers of webhooks and settlements may be certified by.";
    "Kafka":
    kafka: Option<String>, "kafka" = None, "BROKERS" {}
        "The brokers of Kafka that the log goes out to: HOST:PORT, several with commas between them.";
    kafka_commands: bool, "kafka_commands" = Some("false"), "BOOL" {}
        "Take commands from Kafka too, and answer them there.";
    kafka_audit: bool, "kafka_audit" = Some("false"), "BOOL" {}
        "Send the audit log to Kafka too.";
    kafka_prefix: String, "kafka_prefix" = Some("scarce"), "TEXT" {}
        "What the names of the topics begin with.";
    kafka_create_topics: bool, "kafka_create_topics" = Some("false"), "BOOL" {}
        "Create topics that are missing.";
    kafka_replication: Option<u64>, "kafka_replication" = None, "N" {min: 1, max: 100, unit: Some("copies")}
        "How many copies a topic that is created has; as the brokers say where it is not set.";
    kafka_properties: Properties, "kafka_properties" = None, "NAME=VALUE,…" {}
        "Further settings of the Kafka client by the names of librdkafka, such as security.protocol, sasl.mechanism, sasl.username.";
    kafka_password: Option<Password>, "kafka_password" = None, "PASSWORD" {}
        "The password of sasl.username at the brokers.";
    "Mirror":
    mirror: Option<RedisUrl>, "mirror" = None, "URL" {}
        "The Redis that the state is mirrored into for readers, in the keys of the engine redis: redis://HOST:PORT, redis+sentinel://HOST,HOST/SERVICE, redis+cluster://HOST,HOST.";
    mirror_user: Option<String>, "mirror_user" = None, "NAME" {}
        "The user that logs in to that Redis.";
    mirror_password: Option<Password>, "mirror_password" = None, "PASSWORD" {}
        "The password of that user.";
    mirror_tls_ca: Option<PathBuf>, "mirror_tls_ca" = None, "FILE" {}
        "Authorities in PEM that the mirror's servers of rediss:// must be certified by, instead of the system's.";
    mirror_prefix: String, "mirror_prefix" = Some("scarce:"), "TEXT" {}
        "What all keys of the mirror begin with.";
    mirror_timeout_ms: u32, "mirror_timeout_ms" = Some("5000"), "TIME" {min: 10, max: 600_000, unit: Some("ms")}
        "How long an answer of that Redis is waited for.";
    "Reconciling":
    reconcile: u64, "reconcile" = Some("0"), "TIME" {max: 2_592_000_000, unit: Some("ms")}
        "How long after one comparison of log, engine and tables the server begins the next; 0 makes only those that are asked for.";
    reconcile_share: u64, "reconcile_share" = Some("25"), "PERCENT" {min: 1, max: 100, unit: Some("%")}
        "How much of one core such a comparison takes at most.";
    reconcile_repair: RepairLevel, "reconcile_repair" = Some("alarm"), "LEVEL" {}
        "What such a comparison does about rows of the tables that differ: alarm, propose or repair.";
    "Logs":
    log_level: LogLevel, "log_level" = Some("info"), "LEVEL" {}
        "How much is logged: off, error, warn, info, debug or trace, and with commas after it levels of single modules, such as info,scarce_outflow=debug.";
    log_format: LogFormat, "log_format" = Some("text"), "FORMAT" {}
        "How a line of the log is written: text or json.";
    slow_ms: u64, "slow_ms" = Some("1000"), "TIME" {max: 3_600_000, unit: Some("ms")}
        "Log what took longer than this: requests over HTTP, calls to Redis, syncs of the journal; 0 logs none.";
    "Journal":
    segment_mib: u64, "journal.segment_mib" = Some("64"), "MIB" {min: 1, max: 4_096, unit: Some("MiB")}
        "How large a journal segment is; one more is kept ready.";
    snapshot_mib: u64, "journal.snapshot_mib" = Some("512"), "MIB" {min: 1, max: 1 << 40, unit: Some("MiB")}
        "Make a snapshot whenever so much journal was written.";
    log_retention_ms: u64, "journal.log_retention_ms" = Some("0"), "TIME" {unit: Some("ms")}
        "How long events stay in the journal at least, though no snapshot and no consumer needs them any more.";
    "Limits":
    memory_max: MemoryMax, "limits.memory_max" = Some("80%"), "SIZE" {}
        "How much memory the embedded engine may take: a size such as 6GiB, a share of the machine's or the control group's such as 80%, or off; near it new operation ids and new records are refused.";
    operations_max: Option<u64>, "limits.operations_max" = None, "N" {min: 1, max: 4_294_967_295, unit: Some("ids")}
        "How many operation ids each partition remembers at most, those on disk too; 16000000 where it is not set.";
    operations_in_memory_max: Option<u64>, "limits.operations_in_memory_max" = None, "N" {max: 1_000_000_000, unit: Some("ids")}
        "How many operation ids each partition of the embedded engine keeps in memory, the others are on disk; 4000000 where it is not set, or as many as fit into a sixth of the memory budget.";
    receipt_retention_ms: u64, "limits.receipt_retention_ms" = Some("7776000000"), "TIME" {min: 1, max: 3_153_600_000_000, unit: Some("ms")}
        "How long the receipt of a sale stays in memory, and its units can be returned, and claims of red packets after the end of their campaign; then they are in the history and the log only.";
    outflow_lag_max: Option<u64>, "limits.outflow_lag_max" = None, "N" {min: 1, unit: Some("events")}
        "How many events may wait for the slowest consumer of a partition's log before commands are refused; 100000000, or 2000000 inside Redis, where it is not set.";
    rate_limits: Option<PathBuf>, "limits.rate_limits" = None, "FILE" {}
        "The file of limits of rate: how many requests of a kind a caller, an address or a resource may have in a time; read again on SIGHUP.";
    waiting_rooms: Option<PathBuf>, "limits.waiting_rooms" = None, "FILE" {}
        "The file of waiting rooms: what is taken from guarded resources needs a ticket, and tickets are good at a set rate in the order of arrival; read again on SIGHUP.";
    ulid_times: bool, "ids.ulid_times" = Some("false"), "BOOL" {}
        "Read the time of an operation from ids that are ULIDs too, not only from UUIDs of version 7.";
}
