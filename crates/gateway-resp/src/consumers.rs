//! `CONSUMER …`: who consumes the log and how far each is, for consumers of other processes.

use std::sync::Arc;
use std::time::Duration;

use compact_str::CompactString;
use scarce_core::event::Position;
use scarce_core::outcome::Value;
use scarce_core::types::Natural;
use scarce_engine::Engine;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease};
use scarce_outflow::{State, Status};

use scarce_gateway::consumers::{Shown, state_shown};

/// The maximum duration of a lease in milliseconds; asking again renews it.
const LEASE_TTL_MS_MAX: u64 = 3_600_000;

/// The maximum length of a process's name in bytes.
const HOLDER_BYTES_MAX: usize = 128;

/// Answers a subcommand with its arguments; `None` if there is no such subcommand.
///
/// # Errors
/// What is wrong, in words for people.
pub(super) fn answer(
    engine: &dyn Engine,
    statuses: &[Arc<Status>],
    subcommand: &[u8],
    arguments: &[&[u8]],
) -> Option<Result<Value, String>> {
    let subcommand = String::from_utf8_lossy(subcommand).to_ascii_uppercase();
    Some(match (subcommand.as_str(), arguments) {
        ("LIST", []) => list(engine, statuses),
        ("CONFIRM", [name, holder, partition, epoch, sequence]) => {
            confirm(engine, [name, holder, partition], [epoch, sequence])
        }
        ("LEASE", [name, holder, partition, ttl_ms]) => lease(engine, [name, holder, partition], ttl_ms),
        ("FORGET", [name]) => forget(engine, name),
        ("STANDING", [partition, epoch, sequence]) => standing(engine, partition, [epoch, sequence]),
        ("REBASE", [name]) => rebase(engine, statuses, name),
        _ => return None,
    })
}

fn list(engine: &dyn Engine, statuses: &[Arc<Status>]) -> Result<Value, String> {
    let mut rows = Vec::new();
    for partition in 0..engine.partitions() {
        let through = engine.durable_through(partition).map_err(told)?;
        let known = engine.consumers(partition).map_err(told)?;
        let of_here: Vec<_> = statuses.iter().filter(|its| its.partition == partition).collect();
        // The engine does not know consumers that could not even learn their start position.
        let unknown = of_here.iter().filter(|status| known.iter().all(|its| its.name != status.name));
        let unknown: Vec<_> = unknown.map(|status| Consumption::none(status.name.clone())).collect();
        for its in known.into_iter().chain(unknown) {
            let state = of_here.iter().find(|status| status.name == its.name).map(|status| status.state());
            rows.push(row(partition, through, its, state.as_ref()));
        }
    }
    Ok(Value::List(rows))
}

/// Name, partition, epoch and sequence, time of that report, number of events left, holder of the lease, and the
/// position of another history that it holds; then state, beginning of the trouble and its reason.
fn row(partition: u32, through: u64, its: Consumption, state: Option<&State>) -> Value {
    let Shown { state, since, reason } = state_shown(partition, &its, state);
    let Consumption { name, confirmed, confirmed_at, holder, diverged, .. } = its;
    Value::List(vec![
        Value::from(name.as_str()),
        Value::from(u64::from(partition)),
        Value::from(confirmed.epoch),
        Value::from(confirmed.sequence),
        Value::from(confirmed_at),
        Value::from(through.saturating_sub(confirmed.sequence)),
        Value::from(holder.map(CompactString::from)),
        Value::from(diverged.map(|held| CompactString::from(held.to_string()))),
        Value::from(state),
        Value::from(since),
        Value::from(reason.map(CompactString::from)),
    ])
}

fn confirm(engine: &dyn Engine, who: [&[u8]; 3], position: [&[u8]; 2]) -> Result<Value, String> {
    let (name, holder, partition) = read(who)?;
    let confirmed =
        Position { epoch: number(position[0], "epoch")?, sequence: number(position[1], "sequence")? };
    let through = engine.durable_through(partition).map_err(told)?;
    if confirmed.sequence > through {
        return Err(format!("partition {partition} has no event {} yet", confirmed.sequence));
    }
    engine.confirm(partition, &name, &holder, confirmed).map(shown).map_err(told)
}

fn lease(engine: &dyn Engine, who: [&[u8]; 3], ttl_ms: &[u8]) -> Result<Value, String> {
    let (name, holder, partition) = read(who)?;
    let ttl_ms = number(ttl_ms, "ttl_ms")?;
    if ttl_ms > LEASE_TTL_MS_MAX {
        return Err(format!("ttl_ms must be 0 to {LEASE_TTL_MS_MAX}; prolong the lease by asking again"));
    }
    let lease = engine.lease(partition, &name, &holder, Duration::from_millis(ttl_ms));
    lease.map(shown).map_err(told)
}

/// What the log says of a position, in a word.
fn standing(engine: &dyn Engine, partition: &[u8], position: [&[u8]; 2]) -> Result<Value, String> {
    let partition = u32::try_from(number(partition, "partition")?).unwrap_or(u32::MAX);
    let position =
        Position { epoch: number(position[0], "epoch")?, sequence: number(position[1], "sequence")? };
    Ok(Value::from(engine.standing(partition, position).map_err(told)?.word()))
}

/// The number of partitions in which the consumer was known.
fn forget(engine: &dyn Engine, name: &[u8]) -> Result<Value, String> {
    let name = read_name(name)?;
    let mut known = 0_u64;
    for partition in 0..engine.partitions() {
        known += u64::from(engine.forget_consumer(partition, &name).map_err(told)?);
    }
    Ok(Value::from(known))
}

/// Sets a consumer that holds another history onto its last confirmed position. For each partition: partition, the epoch
/// and sequence that it held, and those from which it goes on. Where it runs in this process it begins again at once.
fn rebase(engine: &dyn Engine, statuses: &[Arc<Status>], name: &[u8]) -> Result<Value, String> {
    let name = read_name(name)?;
    let mut rows = Vec::new();
    for partition in 0..engine.partitions() {
        let known = engine.consumers(partition).map_err(told)?;
        let Some(its) = known.into_iter().find(|its| its.name == name) else { continue };
        let Some(held) = its.diverged else { continue };
        engine.rebase_consumer(partition, &name, its.confirmed).map_err(told)?;
        let Position { epoch, sequence } = its.confirmed;
        let numbers = [u64::from(partition), held.epoch, held.sequence, epoch, sequence];
        rows.push(Value::List(numbers.map(Value::from).to_vec()));
    }
    statuses.iter().filter(|status| status.name == name).for_each(|status| status.end_trouble());
    Ok(Value::List(rows))
}

/// 1 if the lease was granted, or 0 and who holds it.
fn shown(lease: Lease) -> Value {
    Value::List(match lease {
        Lease::Held => vec![Value::Integer(1)],
        Lease::HeldBy(other) => vec![Value::Integer(0), Value::from(other.as_str())],
    })
}

fn told(failure: impl std::fmt::Display) -> String {
    failure.to_string()
}

fn read([name, holder, partition]: [&[u8]; 3]) -> Result<(ConsumerName, String, u32), String> {
    let holder = std::str::from_utf8(holder).ok().filter(|its| {
        (1..=HOLDER_BYTES_MAX).contains(&its.len()) && its.bytes().all(|byte| byte.is_ascii_graphic())
    });
    let holder =
        holder.ok_or_else(|| format!("a holder must be 1 to {HOLDER_BYTES_MAX} printable characters"))?;
    let partition = u32::try_from(number(partition, "partition")?).unwrap_or(u32::MAX);
    Ok((read_name(name)?, holder.to_owned(), partition))
}

fn read_name(name: &[u8]) -> Result<ConsumerName, String> {
    ConsumerName::parse(&String::from_utf8_lossy(name)).map_err(|error| error.to_string())
}

fn number(text: &[u8], name: &'static str) -> Result<u64, String> {
    Natural::parse(text, name).map(Natural::get).map_err(|problem| problem.to_string())
}
