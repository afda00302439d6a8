//! A partition's machine, put together from its keys: what its digest is taken of. Never made from the log,
//! so that the two can be compared.

use scarce_core::facts;
use scarce_core::machine::Machine;
use scarce_core::outcome::{Durability, Outcome, Receipt, Value};
use scarce_core::state::{State, StateSettings};
use scarce_core::types::Id;

use super::connection::Link;
use super::keys::Keys;
use super::records::{self, META_FIELDS};
use scarce_engine::engine::Failure;

mod accounts;
mod book;
mod coupons;
mod markets;
mod packets;
mod record;
mod stock;

use record::{Damaged, Record};

/// How many rows one reading brings, more or less.
const ROWS_PER_READING: usize = 1_000;

/// How often a partition is read again because it changed meanwhile.
const READINGS_MAX: usize = 20;

/// The machine whose state the keys hold. Read in pieces between which others are served; where the
/// partition changed meanwhile, it is read again.
///
/// # Errors
/// When the server fails, the keys hold what this version does not write, or the partition never rests.
pub async fn machine(
    link: &Link,
    keys: &Keys,
    settings: &StateSettings,
    partition: u32,
) -> Result<Machine, Failure> {
    read(link, keys, settings, partition, |_| true).await
}

/// The same, at a sequence at which no operation has further steps to take.
///
/// # Errors
/// As for [`machine`].
pub async fn between_operations(
    link: &Link,
    keys: &Keys,
    settings: &StateSettings,
    partition: u32,
) -> Result<Machine, Failure> {
    read(link, keys, settings, partition, |meta| !meta.is_unfinished).await
}

async fn read(
    link: &Link,
    keys: &Keys,
    settings: &StateSettings,
    partition: u32,
    is_wanted: impl Fn(&Meta) -> bool,
) -> Result<Machine, Failure> {
    for _ in 0..READINGS_MAX {
        let before = Meta::read(link, keys).await?;
        if !is_wanted(&before) {
            continue;
        }
        let state = read_state(link, keys, settings, before.at).await;
        // What does not fit together may have been read before and after a change.
        if Meta::read(link, keys).await? == before {
            return state.map(|state| Machine::with_state(state, partition, before.epoch, before.sequence));
        }
    }
    let reason = "the partition changes faster than it can be read; ask when there is less to do".to_owned();
    Err(Failure::Unavailable { reason })
}

/// Whether a call has to come first: an operation has further steps to take, or a change is to be taken back.
///
/// # Errors
/// When the server fails.
pub async fn is_unfinished(link: &Link, keys: &Keys) -> Result<bool, Failure> {
    let mut fields = redis::cmd("HMGET");
    fields.arg(keys.of("meta")).arg("unfinished").arg("damaged");
    let fields: Vec<Option<Vec<u8>>> = link.send(&fields).await?;
    Ok(fields.iter().flatten().any(|text| !text.is_empty()))
}

/// The answer to `DIGEST`: the partition, its sequence and the digest as 32 hexadecimal digits.
#[must_use]
pub fn digest(machine: &Machine, only: Option<&Id>) -> Receipt {
    let digest = format!("{:032x}", machine.state().digest(only));
    let fields = facts![u64::from(machine.partition()), machine.sequence(), digest.as_str()];
    Receipt {
        outcome: Outcome::applied(facts![vec![Value::List(fields.into_vec())]]),
        partition: machine.partition(),
        epoch: machine.epoch(),
        sequence_first: machine.sequence(),
        sequence_last: machine.sequence(),
        at: machine.now(),
        replayed: false,
        durability: Durability::Memory,
    }
}

async fn read_state(link: &Link, keys: &Keys, settings: &StateSettings, at: u64) -> Result<State, Failure> {
    let mut state = State::new(settings.clone());
    state.at = at;
    accounts::read(link, keys, &mut state).await?;
    stock::read(link, keys, &mut state).await?;
    packets::read(link, keys, &mut state).await?;
    coupons::read(link, keys, &mut state).await?;
    markets::read(link, keys, &mut state).await?;
    Ok(state)
}

/// What `meta` says.
#[derive(Debug, PartialEq, Eq)]
struct Meta {
    epoch: u64,
    sequence: u64,
    at: u64,
    /// Whether an operation has further steps to take.
    is_unfinished: bool,
    /// A scan that goes on at another server skips rows.
    run_id: String,
}

impl Meta {
    async fn read(link: &Link, keys: &Keys) -> Result<Self, Failure> {
        let mut command = redis::cmd("HMGET");
        command.arg(keys.of("meta")).arg(&META_FIELDS[..3]).arg("unfinished");
        type Fields = (Option<u64>, Option<u64>, Option<u64>, Option<String>);
        let ((epoch, sequence, at, unfinished), node): (Fields, _) =
            link.send_made(|_| command.clone()).await?;
        Ok(Self {
            epoch: epoch.unwrap_or(1),
            sequence: sequence.unwrap_or(0),
            at: at.unwrap_or(0),
            is_unfinished: unfinished.is_some_and(|unfinished| !unfinished.is_empty()),
            run_id: node.state.run_id.clone(),
        })
    }
}

/// Reads a hash of records piece by piece; a row may come twice.
async fn each_row(
    link: &Link,
    keys: &Keys,
    name: &str,
    mut take: impl FnMut(&str, Record<'_>) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let Some(spec) = records::find(name) else { return Err(damaged(name, "", "")) };
    let take = |id: &str, text: &str| Record::new(spec, text).and_then(|record| take(id, record));
    each_pair(link, "HSCAN", &keys.of(name), take).await
}

/// Reads an ordered set piece by piece; a member may come twice.
async fn each_member(
    link: &Link,
    keys: &Keys,
    name: &str,
    mut take: impl FnMut(&[&str]) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let take = |member: &str, _: &str| take(&member.split(' ').collect::<Vec<_>>());
    each_pair(link, "ZSCAN", &keys.of(name), take).await
}

/// Scans a key piece by piece: ids and texts, or members and scores.
async fn each_pair(
    link: &Link,
    scan: &str,
    key: &str,
    mut take: impl FnMut(&str, &str) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let mut cursor = 0_u64;
    loop {
        let mut command = redis::cmd(scan);
        command.arg(key).arg(cursor).arg("COUNT").arg(ROWS_PER_READING);
        let (next, words): (u64, Vec<String>) = link.send(&command).await?;
        for pair in words.chunks_exact(2) {
            take(&pair[0], &pair[1]).map_err(|Damaged| damaged(key, &pair[0], &pair[1]))?;
        }
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

fn damaged(key: &str, id: &str, text: &str) -> Failure {
    let reason =
        format!("{key} has '{text}' at '{id}', which Scarce does not write; restore the key from a copy");
    Failure::Unavailable { reason }
}
