//! Who consumes a partition's log, and how far each is: in a hash beside it, for all processes.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::Value;
use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease, diverged, not_of_this_log, unknown};
use scarce_engine::engine::Failure;
use xxhash_rust::xxh3::xxh3_64;

use super::connection::Link;
use super::keys::Keys;
use super::nodes::Node;
use super::program::{Program, Rights, ScriptKind};

/// The key of the hash.
pub const KEY: &str = "consumers";

/// What stands before a name in the field of its lease.
const LEASE: &str = "lease ";

const TEXT: &str = include_str!("scripts/consumers.lua");

/// The script that notes positions and leases, and trims by them.
#[derive(Clone, Debug)]
pub(super) struct Consumers {
    program: Program,
    kind: ScriptKind,
}

impl Consumers {
    pub(super) fn new(kind: ScriptKind) -> Self {
        let name = format!("scarce_consumers_{:016x}", xxh3_64(TEXT.as_bytes()));
        // Positions are noted although memory is full, since that is how the log gets shorter.
        let functions = format!(
            "#!lua name={name}\n{TEXT}\
             redis.register_function{{function_name='{name}', callback=serve, flags={{'allow-oom'}}}}\n"
        );
        let script = format!("{TEXT}return serve(KEYS, ARGV)\n");
        Self { program: Program::new(name, None, functions, script), kind }
    }

    async fn ask(&self, link: &Link, keys: &Keys, words: &[&str]) -> Result<Value, Failure> {
        let its = [keys.of(KEY), keys.of("log"), keys.of("meta"), keys.of("histories")];
        let make = |node: &Node| {
            let mut command = self.program.command(self.kind.on(node), Rights::Write, &its);
            command.arg(words);
            command
        };
        Ok(self.program.call(self.kind, link, &make).await?.0)
    }

    /// Notes how far a consumer is.
    pub(super) async fn confirm(
        &self,
        link: &Link,
        keys: &Keys,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
    ) -> Result<Lease, Failure> {
        let [epoch, sequence] = words_of(confirmed);
        let answer = self.ask(link, keys, &["confirm", name.as_str(), holder, &epoch, &sequence]).await?;
        if answer == NOT_HERE {
            return Err(not_of_this_log(keys.partition(), confirmed));
        }
        lease_of(name, keys, &answer)
    }

    /// Notes that a consumer holds a position which the log does not have.
    pub(super) async fn note_divergence(
        &self,
        link: &Link,
        keys: &Keys,
        name: &ConsumerName,
        held: Position,
    ) -> Result<(), Failure> {
        let [epoch, sequence] = words_of(held);
        self.ask(link, keys, &["diverge", name.as_str(), &epoch, &sequence]).await.map(drop)
    }

    /// Sets a consumer onto a position, and ends its divergence.
    pub(super) async fn rebase(
        &self,
        link: &Link,
        keys: &Keys,
        name: &ConsumerName,
        to: Position,
    ) -> Result<(), Failure> {
        let [epoch, sequence] = words_of(to);
        let answer = self.ask(link, keys, &["rebase", name.as_str(), &epoch, &sequence]).await?;
        if answer == NOT_HERE { Err(not_of_this_log(keys.partition(), to)) } else { Ok(()) }
    }

    /// Gives the lease of a consumer, prolongs it, or ends it where the time is none.
    pub(super) async fn lease(
        &self,
        link: &Link,
        keys: &Keys,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure> {
        let ttl_ms = ttl.as_millis().to_string();
        let answer = self.ask(link, keys, &["lease", name.as_str(), holder, &ttl_ms]).await?;
        lease_of(name, keys, &answer)
    }

    /// Trims the log up to a sequence, but nothing that a consumer has not confirmed. Gives how many of at most `limit`
    /// entries of the stream went.
    pub(super) async fn trim(
        &self,
        link: &Link,
        keys: &Keys,
        through: u64,
        limit: usize,
    ) -> Result<u64, Failure> {
        let answer = self.ask(link, keys, &["trim", &through.to_string(), &limit.to_string()]).await?;
        Ok(if let Value::Int(count) = answer { u64::try_from(count).unwrap_or(0) } else { 0 })
    }

    /// Forgets a consumer. Whether there was one.
    pub(super) async fn forget(
        &self,
        link: &Link,
        keys: &Keys,
        name: &ConsumerName,
    ) -> Result<bool, Failure> {
        Ok(self.ask(link, keys, &["forget", name.as_str()]).await? == Value::Int(1))
    }
}

/// The answer that the log does not have a position, or no longer has it.
const NOT_HERE: Value = Value::Int(-1);

fn words_of(position: Position) -> [String; 2] {
    [position.epoch.to_string(), position.sequence.to_string()]
}

fn lease_of(name: &ConsumerName, keys: &Keys, answer: &Value) -> Result<Lease, Failure> {
    match answer {
        Value::Array(held) => {
            let [epoch, sequence] = [0, 1].map(|at| held.get(at).and_then(number).unwrap_or(0));
            Err(diverged(name, keys.partition(), Position { epoch, sequence }))
        }
        Value::Int(1) => Ok(Lease::Held),
        Value::BulkString(holder) => Ok(Lease::HeldBy(String::from_utf8_lossy(holder).into_owned())),
        _ => Err(unknown(name)),
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

/// All consumers of a partition, in the order of their names.
pub(super) async fn list(link: &Link, keys: &Keys) -> Result<Vec<Consumption>, Failure> {
    let mut get = redis::cmd("HGETALL");
    get.arg(keys.of(KEY));
    let fields: BTreeMap<String, String> = link.send(&get).await?;
    let (seconds, microseconds): (u64, u64) = link.send(&redis::cmd("TIME")).await?;
    let now = seconds * 1_000 + microseconds / 1_000;
    let leases: BTreeMap<&str, &str> = fields
        .iter()
        .filter_map(|(field, text)| Some((field.strip_prefix(LEASE)?, text.as_str())))
        .filter_map(|(name, text)| {
            let (until, holder) = text.split_once(' ')?;
            (until.parse::<u64>().ok()? > now).then_some((name, holder))
        })
        .collect();
    let rows = fields.iter().filter(|(field, _)| !field.starts_with(LEASE));
    rows.map(|(name, text)| {
        read(name, text, leases.get(name.as_str()).copied()).ok_or_else(|| Failure::Unavailable {
            reason: format!(
                "the field '{name}' of {} is damaged; scarce consumers forget {name}",
                keys.of(KEY)
            ),
        })
    })
    .collect()
}

/// A consumer's field as the library writes it.
pub(super) fn text_of(its: &Consumption) -> String {
    let Position { epoch, sequence } = its.confirmed;
    let of_history = |word: &str, at: Option<Position>| {
        at.map(|Position { epoch, sequence }| format!(" {word} {epoch} {sequence}")).unwrap_or_default()
    };
    let other = of_history("diverged", its.diverged) + &of_history("abandoned", its.abandoned);
    format!("{epoch} {sequence} {}{other}", its.confirmed_at)
}

fn read(name: &str, text: &str, holder: Option<&str>) -> Option<Consumption> {
    let at = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (text, other_history) = text.split_at(at);
    let mut words = text.split(' ').map(|word| word.parse::<u64>().ok());
    let mut number = || words.next().flatten();
    let confirmed = Position { epoch: number()?, sequence: number()? };
    let (name, confirmed_at) = (ConsumerName::parse(name).ok()?, number()?);
    let place = |word: &str| {
        let (epoch, sequence) = other_history.strip_prefix(word)?.trim().split_once(' ')?;
        Some(Position { epoch: epoch.parse().ok()?, sequence: sequence.parse().ok()? })
    };
    let (diverged, abandoned) = (place("diverged"), place("abandoned"));
    let holder = holder.map(str::to_owned);
    Some(Consumption { name, confirmed, confirmed_at, holder, diverged, abandoned })
}
