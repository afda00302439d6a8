//! The Redis behind the engine 'redis': whether it is durable, fast enough, and accessible.

use std::fmt::Write;

use indicatif::HumanBytes;
use scarce_core::outcome::Durability;
use scarce_engine::scripts::ScriptFilling;
use scarce_engine_redis::address::Topology;
use scarce_engine_redis::inspect::{DeploymentReport, InspectReport, ServerReport, inspect};
use scarce_engine_redis::server::{SyncPolicy, VERSION_MIN};
use scarce_server::serve::remembered;
use scarce_settings::{EngineChoice, Loaded, Origin, ServerSettings};
use serde_json::json;

use super::finding::Finding;

/// The memory usage, in percent, at which to warn and to fail.
const MEMORY_PERCENT: [u64; 2] = [80, 95];

/// At how much of a limit the registry of scripts is nearly full, in percent.
const SCRIPTS_PERCENT: u64 = 80;

/// The duration of a command, in microseconds, above which it is reported as slow.
const SLOW_US: u64 = 10_000;

/// The maximum latency of a ping, in microseconds.
const PING_US: u64 = 2_000;

/// The maximum difference between the clocks.
const CLOCK_MS: u64 = 1_000;

/// The minimum time limit of scripts on a server, in milliseconds.
const BUSY_MS: u64 = 100;

/// The number of slots of a cluster.
const SLOTS: u32 = 16_384;

/// Whether Redis is configured: by the engine, or by its address.
pub(super) fn is_asked_for(loaded: &Loaded) -> bool {
    let is_named =
        loaded.shown.iter().any(|shown| shown.spec.key == "redis_url" && shown.origin != Origin::Default);
    loaded.settings.engine == EngineChoice::Redis || is_named
}

pub(super) fn examine(settings: &ServerSettings) -> Vec<Finding> {
    const NAME: &str = "redis";
    let options = match settings.redis() {
        Ok(options) => options,
        Err(reason) => return vec![Finding::fail(NAME, reason, "name files that are there")],
    };
    let report = match inspect(&options) {
        Ok(report) => report,
        Err(error) => {
            return vec![Finding::fail(NAME, error.to_string(), "see redis_url and how one logs in")];
        }
    };
    let mut findings = vec![topology(&report), deployment(&report, settings)];
    findings.extend(wholeness(&report));
    findings.push(scripts(&report));
    for server in &report.servers {
        let its = Its { server, settings, is_one_of_several: report.servers.len() > 1 };
        findings.extend(its.examine());
    }
    findings
}

fn topology(report: &InspectReport) -> Finding {
    const NAME: &str = "redis topology";
    let servers = report.servers.len();
    match &report.topology {
        Topology::Standalone(endpoint) => Finding::ok(NAME, format!("one server, {endpoint}")),
        Topology::Sentinel { sentinels, service } => {
            let found = format!("the primary of '{service}', by {} sentinels", sentinels.len());
            Finding::ok(NAME, found)
                .warn_if(sentinels.len() < 3, "name three sentinels or more, so that one may be missing")
        }
        Topology::Cluster { .. } => {
            let states = report.servers.iter().map(|server| &server.cluster);
            if states.clone().any(|state| state.is_empty()) {
                let found = format!("a cluster of {servers} primaries; it may not be asked how it is");
                return Finding::warn(NAME, found, "give the user +cluster|info");
            }
            let is_whole = states.clone().all(|state| {
                let served: Option<u32> = state.get("cluster_slots_ok").and_then(|count| count.parse().ok());
                state.get("cluster_state").is_some_and(|state| state == "ok") && served == Some(SLOTS)
            });
            let found = format!("a cluster of {servers} primaries");
            if is_whole {
                Finding::ok(NAME, format!("{found}, which serve all slots"))
            } else {
                let advice = "see redis-cli --cluster check, and mend it with redis-cli --cluster fix";
                Finding::fail(NAME, format!("{found}, and some slots are not served"), advice)
            }
        }
    }
}

fn deployment(report: &InspectReport, settings: &ServerSettings) -> Finding {
    const NAME: &str = "redis deployment";
    let prefix = &settings.redis_prefix;
    let known = match remembered::known(settings, false) {
        Ok(known) => known,
        Err(error) => return Finding::fail(NAME, error.to_string(), "see that file"),
    };
    let its = match (&report.deployment, known) {
        (found, Some(known)) if found.as_ref().and_then(|its| its.id.as_ref()) != Some(&known.id) => {
            let found = match found {
                None => format!("nothing behind '{prefix}'"),
                Some(its) => format!("'{prefix}' has the deployment {}", its.id.as_deref().unwrap_or("?")),
            };
            let found = format!("{found}, and {} names {}", known.named_by, known.id);
            let advice = format!(
                "connect to the Redis that has it, or restore its data; to go on without, {}",
                known.remedy
            );
            return Finding::fail(NAME, found, advice);
        }
        (found, _) => found,
    };
    match its {
        None => Finding::warn(
            NAME,
            format!(
                "nothing behind '{prefix}': 'scarce serve' creates a new deployment, which knows no earlier data"
            ),
            "if there was a deployment, restore Redis' data before a server starts; a first start needs nothing else",
        ),
        Some(its) if its.partitions == settings.partitions => {
            let created =
                its.created_at.and_then(|at| jiff::Timestamp::from_millisecond(at.cast_signed()).ok());
            let created = created.map_or_else(String::new, |at| format!(", created {at:.0}"));
            let found = format!("'{prefix}' has {} partitions{created}", its.partitions);
            let figures = json!({ "partitions": its.partitions, "id": its.id, "created_at": its.created_at });
            Finding::ok(NAME, found).with(figures)
        }
        Some(DeploymentReport { partitions, .. }) => Finding::fail(
            NAME,
            format!("'{prefix}' has {partitions} partitions, and {} are asked for", settings.partitions),
            format!("set partitions to {partitions}, or choose another redis_prefix"),
        ),
    }
}

/// Whether the partitions have everything that was written to them.
fn wholeness(report: &InspectReport) -> Option<Finding> {
    const NAME: &str = "redis keys";
    let damages = &report.damages;
    let Some(first) = damages.first() else {
        return report.deployment.as_ref().map(|_| Finding::ok(NAME, "every partition has all of its rows"));
    };
    let others = match damages.len() {
        1 => String::new(),
        count => format!(", and {} others like it", count - 1),
    };
    let advice = "restore Redis' data from a copy, or choose another redis_prefix to start anew; see to it that nobody may evict, delete or flush keys";
    Some(Finding::fail(NAME, format!("{first}{others}"), advice).with(json!({ "damaged": damages.len() })))
}

/// How full the registry of scripts is.
fn scripts(report: &InspectReport) -> Finding {
    let ScriptFilling { versions, bytes, names } = report.scripts;
    let max = ScriptFilling::MAX;
    let is_nearly_full =
        report.scripts.figures().iter().any(|(_, is, max)| is.saturating_mul(100) >= max * SCRIPTS_PERCENT);
    let found = format!(
        "{versions} versions of {} with {} of {}; {names} names of {}, with removed ones",
        max.versions,
        HumanBytes(bytes),
        HumanBytes(max.bytes),
        max.names
    );
    let figures = report
        .scripts
        .figures()
        .into_iter()
        .flat_map(|(name, is, max)| [(name.to_owned(), json!(is)), (format!("{name}_max"), json!(max))]);
    let advice = "remove what nobody calls with 'scarce scripts remove': at a limit, no script is registered";
    Finding::ok("redis scripts", found)
        .warn_if(is_nearly_full, advice)
        .with(figures.collect::<serde_json::Map<_, _>>().into())
}

/// A server and the queries to it.
struct Its<'a> {
    server: &'a ServerReport,
    settings: &'a ServerSettings,
    is_one_of_several: bool,
}

impl Its<'_> {
    fn examine(&self) -> Vec<Finding> {
        let findings = [
            self.version(),
            self.eviction(),
            self.memory(),
            self.persistence(),
            self.durability(),
            self.replicas(),
            self.slow_commands(),
            self.latency(),
            self.patience(),
            self.clock(),
            self.rights(),
        ];
        findings.into_iter().map(|finding| self.addressed(finding)).collect()
    }

    /// Adds which server is meant, if there are several.
    fn addressed(&self, mut finding: Finding) -> Finding {
        if self.is_one_of_several {
            finding.found = format!("{}: {}", self.server.address, finding.found);
        }
        finding
    }

    fn number(&self, name: &str) -> u64 {
        self.server.info.get(name).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn config(&self, name: &str) -> Option<&str> {
        self.server.config.get(name).map(String::as_str)
    }

    fn version(&self) -> Finding {
        const NAME: &str = "redis version";
        let [major, minor] = self.server.state.version;
        let product = if self.server.info.contains_key("valkey_version") { "Valkey" } else { "Redis" };
        let found = format!("{product} {major}.{minor}");
        if [major, minor] < VERSION_MIN {
            return Finding::fail(NAME, found, "use Redis 6.2 or newer, or Valkey");
        }
        let advice = "from 7.0 on scripts are Functions, which are kept and replicated with the data";
        Finding::ok(NAME, found).warn_if(major < 7, advice).with(json!({ "version": [major, minor] }))
    }

    fn eviction(&self) -> Finding {
        const NAME: &str = "redis eviction";
        match self.server.state.eviction.as_deref() {
            None => Finding::warn(NAME, "it does not say", "see to it that maxmemory-policy is noeviction"),
            Some("noeviction") => Finding::ok(NAME, "noeviction"),
            Some(policy) => Finding::fail(
                NAME,
                format!("{policy}: it drops keys when its memory is full, and with them money and stock"),
                "CONFIG SET maxmemory-policy noeviction, and in its file",
            ),
        }
    }

    fn memory(&self) -> Finding {
        const NAME: &str = "redis memory";
        let (used, max) = (self.number("used_memory"), self.number("maxmemory"));
        let figures = json!({ "used_bytes": used, "max_bytes": max });
        if max == 0 {
            let found = format!("{} used, without a limit", HumanBytes(used));
            let advice =
                "set maxmemory to what the machine can spare: a full Redis refuses, a full machine kills it";
            return Finding::warn(NAME, found, advice).with(figures);
        }
        let percent = used.saturating_mul(100) / max;
        let found = format!("{} of {} used, {percent} %", HumanBytes(used), HumanBytes(max));
        let advice = "raise maxmemory, or spread the partitions over more servers";
        let [warn, fail] = MEMORY_PERCENT;
        match percent {
            _ if percent >= fail => Finding::fail(NAME, found, advice),
            _ => Finding::ok(NAME, found).warn_if(percent >= warn, advice),
        }
        .with(figures)
    }

    fn persistence(&self) -> Finding {
        const NAME: &str = "redis persistence";
        let has_snapshots = self.config("save").is_some_and(|save| !save.is_empty());
        let failed = ["aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"];
        let failed =
            failed.into_iter().find(|name| self.server.info.get(*name).is_some_and(|its| its == "err"));
        if let Some(name) = failed {
            let advice = "see its log: the disk is full or cannot be written to";
            return Finding::fail(NAME, format!("it cannot write its data ({name}: err)"), advice);
        }
        match self.server.state.sync {
            Some(SyncPolicy::Always) => Finding::ok(NAME, "every change is on disk before it is answered"),
            Some(SyncPolicy::EverySecond) => Finding::ok(NAME, "an append-only file, synced once a second"),
            Some(SyncPolicy::Never) => Finding::warn(
                NAME,
                "an append-only file that the system writes out when it likes",
                "set appendfsync everysec or always",
            ),
            None if has_snapshots => Finding::warn(
                NAME,
                "snapshots only: a crash loses what came after the last one",
                "CONFIG SET appendonly yes, and in its file",
            ),
            None => Finding::fail(
                NAME,
                "none: a restart loses everything",
                "CONFIG SET appendonly yes, and in its file",
            ),
        }
    }

    fn durability(&self) -> Finding {
        const NAME: &str = "redis durability";
        let level = self.settings.redis_durability;
        match self.server.state.lack(level, self.settings.redis_replicas) {
            Some(lack) => Finding::fail(
                NAME,
                format!("{} is asked for, but it {lack}", level.word()),
                lack_advice(level),
            ),
            None => Finding::ok(NAME, format!("{} is asked for, and can be had", level.word())),
        }
    }

    fn replicas(&self) -> Finding {
        const NAME: &str = "redis replicas";
        let (count, offset) = (self.number("connected_slaves"), self.number("master_repl_offset"));
        let behind = (0..count).filter_map(|at| {
            let fields = self.server.info.get(&format!("slave{at}"))?;
            let its = fields.split(',').find_map(|field| field.strip_prefix("offset="))?;
            Some(offset.saturating_sub(its.parse().ok()?))
        });
        let behind: Vec<u64> = behind.collect();
        let mut found = format!("{count} connected");
        if let Some(most) = behind.iter().max() {
            // Writing to a string cannot fail.
            let _ = write!(found, ", {} behind at most", HumanBytes(*most));
        }
        let advice = "without replicas nobody takes over when it fails; what it answered is where it is";
        Finding::ok(NAME, found).warn_if(count == 0, advice).with(json!({ "behind_bytes": behind }))
    }

    fn slow_commands(&self) -> Finding {
        const NAME: &str = "redis slowlog";
        let slowest = self.server.slow_us.iter().max().copied().unwrap_or(0);
        let count = self.server.slow_us.iter().filter(|took| **took >= SLOW_US).count();
        let found = match count {
            0 => "nothing of the latest took 10 ms".to_owned(),
            _ => format!(
                "{count} of the latest commands took 10 ms or more, the slowest {} ms",
                slowest / 1_000
            ),
        };
        let advice = "see SLOWLOG GET: whoever shares this server keeps everybody waiting";
        Finding::ok(NAME, found).warn_if(count > 0, advice).with(json!({ "slowest_us": slowest }))
    }

    fn latency(&self) -> Finding {
        const NAME: &str = "redis latency";
        let pings = &self.server.pings_us;
        let Some(median) = pings.get(pings.len() / 2).copied() else {
            return Finding::fail(NAME, "it does not answer PING", "see its log");
        };
        let worst = pings.last().copied().unwrap_or(median);
        let advice = "run scarce next to it: every call waits for the way there and back";
        Finding::ok(NAME, format!("{median} µs there and back, {worst} µs at worst"))
            .warn_if(median > PING_US, advice)
            .with(json!({ "median_us": median, "worst_us": worst }))
    }

    fn patience(&self) -> Finding {
        const NAME: &str = "redis busy reply";
        let threshold = self.config("busy-reply-threshold").or_else(|| self.config("lua-time-limit"));
        let Some(threshold_ms) = threshold.and_then(|text| text.parse::<u64>().ok()) else {
            return Finding::ok(NAME, "it does not say after how long it answers BUSY");
        };
        let is_short = threshold_ms != 0 && threshold_ms < BUSY_MS;
        let advice = "set busy-reply-threshold to a second or more, or a long call makes others fail";
        Finding::ok(NAME, format!("others are answered BUSY once a script takes {threshold_ms} ms"))
            .warn_if(is_short, advice)
    }

    fn clock(&self) -> Finding {
        const NAME: &str = "redis clock";
        let ahead = self.server.clock_ahead_ms;
        let advice = "deadlines go by the clock there: set both by NTP";
        Finding::ok(NAME, format!("{ahead} ms ahead of this machine's"))
            .warn_if(ahead.unsigned_abs() > CLOCK_MS, advice)
            .with(json!({ "ahead_ms": ahead }))
    }

    fn rights(&self) -> Finding {
        const NAME: &str = "redis rights";
        match self.server.forbidden.first() {
            None => Finding::ok(NAME, "the user may do what is needed, as far as that can be tried"),
            Some(first) => Finding::fail(NAME, format!("the user may not {first}"), RIGHTS_ADVICE),
        }
    }
}

/// The permissions that a user needs.
const RIGHTS_ADVICE: &str = "ACL SETUSER … ~<prefix>* +@read +@write +@scripting +info +config|get +time +wait +select; \
                             +waitaof from 7.2 on, +cluster|slots +cluster|info +asking on a cluster";

fn lack_advice(level: Durability) -> &'static str {
    match level {
        Durability::Replicated => "connect replicas, or set redis_durability to memory",
        Durability::Synced | Durability::Memory => "mend that, or set redis_durability to memory",
    }
}
