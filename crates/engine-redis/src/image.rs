//! The state of a partition or of one resource, made of the keys: what digests are taken of. Never of the log, so that
//! the two can be compared.
//!
//! Keys are read in pieces (`scan.rs`), between which others are served. What these change meanwhile is learned from
//! the log: the library gives the rows that its events touch, as they are then (`scripts/corrections.lua`), until it is at
//! the end of the log. So the state is that of one sequence.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::command::Command;
use scarce_core::event::Position;
use scarce_core::facts;
use scarce_core::machine::Machine;
use scarce_core::outcome::{Durability, Outcome, Receipt, Value};
use scarce_core::state::{State, StateSettings};
use scarce_core::types::Id;
use scarce_engine::engine::{Failure, Request};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::call::{self, Heading};
use super::caller::Caller;
use super::connection::Link;
use super::keys::Keys;
use super::nodes::Node;
use super::program::Rights;
use super::records::META_FIELDS;
use super::settle::Answered;
use super::status::PartitionStatus;

mod accounts;
mod book;
mod changes;
mod coupons;
mod markets;
mod packets;
mod record;
mod returned;
mod rows;
mod scan;
mod stock;

use changes::Changes;
use rows::Image;

/// How often the keys are read from the beginning, because another server has the partition or the log was trimmed.
const READINGS_MAX: usize = 20;

/// How many digests of a partition may wait for their turn.
const WAITING_MAX: usize = 8;

/// How long an operation with further steps may keep a digest waiting, and how often it is looked.
const STEPS_PATIENCE: Duration = Duration::from_secs(30);
const STEPS_PAUSE: Duration = Duration::from_millis(2);

/// A digest that is still to be taken.
pub(super) struct PendingDigest {
    request: Request,
    /// Its place among those that wait.
    _place: OwnedSemaphorePermit,
}

/// Reads the state of a partition, once at a time, beside the lane.
pub(super) struct Imager {
    pub(super) partition: u32,
    pub(super) keys: Keys,
    pub(super) settings: StateSettings,
    pub(super) deployment: Arc<str>,
    pub(super) caller: Caller,
    pub(super) reading: Link,
    pub(super) status: Arc<PartitionStatus>,
    pub(super) turn: Mutex<()>,
    pub(super) places: Arc<Semaphore>,
}

impl Imager {
    /// The places of those that wait.
    pub(super) fn places() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(WAITING_MAX))
    }

    /// Lets a digest wait for its turn, if there is room.
    pub(super) fn queue(&self, request: &Request) -> Result<PendingDigest, Failure> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Failure::Overloaded { queue: "digests" })?;
        Ok(PendingDigest { request: request.clone(), _place: place })
    }

    /// Takes a digest.
    pub(super) async fn answer(&self, pending: &PendingDigest) -> Answered {
        let only = match &pending.request {
            Request::Read(_, Command::Digest(digest)) => digest.resource.0.as_ref(),
            _ => None,
        };
        let answer = self.digest(only).await.unwrap_or_else(Answered::from);
        let code = answer.result.as_ref().map(|receipt| receipt.outcome.code);
        self.status.metrics.count(&pending.request, code);
        answer
    }

    async fn digest(&self, only: Option<&Id>) -> Result<Answered, Failure> {
        let (state, as_of, node) = self.read(only).await?;
        let (partition, only) = (self.partition, only.cloned());
        let digest = aside(move || Ok(state.digest(only.as_ref()))).await?;
        Ok(Answered::of(receipt(partition, &as_of, &format!("{digest:032x}")), &node))
    }

    /// The machine whose state the keys hold, at a sequence at which no operation has further steps to take; and a
    /// server that has as much.
    pub(super) async fn machine(&self) -> Result<(Machine, Arc<Node>), Failure> {
        let (state, as_of, node) = self.read(None).await?;
        Ok((Machine::with_state(state, self.partition, as_of.epoch, as_of.sequence), node))
    }

    /// The state at one sequence, or what of it belongs to one resource.
    async fn read(&self, only: Option<&Id>) -> Result<(State, Meta, Arc<Node>), Failure> {
        let _turn = self.turn.lock().await;
        self.status.check_whole()?;
        for _ in 0..READINGS_MAX {
            if let Some(found) = self.attempt(only).await? {
                return Ok(found);
            }
        }
        let reason = "the servers change faster than the partition can be read; ask when they are settled";
        Err(Failure::Unavailable { reason: reason.to_owned() })
    }

    /// Reads the keys once; nothing where they have to be read from the beginning.
    async fn attempt(&self, only: Option<&Id>) -> Result<Option<(State, Meta, Arc<Node>)>, Failure> {
        let (link, keys) = (&self.reading, &self.keys);
        let before = Meta::read(link, keys).await?;
        let mut image = Image::new(&self.settings);
        match only {
            Some(only) => scan::read_one(link, keys, &mut image, only).await?,
            None => {
                scan::read_all(link, keys, &mut image).await?;
                if Meta::read(link, keys).await? == before {
                    markets::read_books(link, keys, &mut image.kept).await?;
                }
            }
        }
        let Some((after, node)) = self.catch_up(&mut image, only, &before).await? else { return Ok(None) };
        // What the keys hold of books beside the orders can be compared only where nothing has changed.
        let compares = only.is_none() && after == before;
        let (keys, at) = (keys.clone(), after.at);
        let state = aside(move || state_of(image, &keys, at, compares)).await?;
        Ok(Some((state, after, node)))
    }

    /// Corrects what was read to the sequence at which the log ends; nothing where the log cannot tell.
    async fn catch_up(
        &self,
        image: &mut Image,
        only: Option<&Id>,
        before: &Meta,
    ) -> Result<Option<(Meta, Arc<Node>)>, Failure> {
        let (begun, mut through) = (Instant::now(), before.sequence);
        loop {
            let asked = call::changes(through, only);
            let message = |node: &Node| {
                let heading = Heading { deployment: Some(&self.deployment), ..Heading::from(&self.settings) };
                call::message(&heading.for_run(&node.state.run_id, &self.status), &[&asked])
            };
            let called = self.caller.call(&self.reading, &self.keys, &message, Rights::Read).await;
            let (answer, node) =
                called.map_err(|refused| self.status.failure_of(self.keys.partition(), refused))?;
            let changes =
                Changes::read(&answer).map_err(|error| Failure::Unavailable { reason: error.to_string() })?;
            let Some(reached) = changes.through.filter(|_| changes.epoch == before.epoch) else {
                return Ok(None);
            };
            if node.state.run_id != before.run_id {
                return Ok(None);
            }
            for (hash, id, text) in changes.rows() {
                let damaged = |_| scan::damaged(&self.keys.of(hash), id, text);
                image.correct(hash, id, text).map_err(damaged)?;
            }
            through = reached;
            if through < changes.sequence {
                continue;
            }
            if !changes.is_unfinished {
                let after = Meta { sequence: through, at: changes.at, ..before.clone() };
                return Ok(Some((after, node)));
            }
            if begun.elapsed() >= STEPS_PATIENCE {
                let reason = "an operation of many steps does not end; ask again later".to_owned();
                return Err(Failure::Unavailable { reason });
            }
            tokio::time::sleep(STEPS_PAUSE).await;
        }
    }
}

/// The state that the keys of a partition hold, and its position; nothing where they change while they are read. All that is
/// read are the keys, so this is for those of a mirror, too.
///
/// # Errors
/// When a server cannot be asked, or holds what Scarce does not write.
pub async fn read_still(
    link: &Link,
    keys: &Keys,
    settings: &StateSettings,
) -> Result<Option<(State, Position)>, Failure> {
    let before = Meta::read(link, keys).await?;
    let mut image = Image::new(settings);
    scan::read_all(link, keys, &mut image).await?;
    markets::read_books(link, keys, &mut image.kept).await?;
    if Meta::read(link, keys).await? != before {
        return Ok(None);
    }
    let (keys, at) = (keys.clone(), before.at);
    let state = aside(move || state_of(image, &keys, at, true)).await?;
    Ok(Some((state, Position { epoch: before.epoch, sequence: before.sequence })))
}

/// Whether a call has to come first: an operation has further steps to take, or a change is to be taken back.
///
/// # Errors
/// When the server fails.
pub(super) async fn is_unfinished(link: &Link, keys: &Keys) -> Result<bool, Failure> {
    let mut fields = redis::cmd("HMGET");
    fields.arg(keys.of("meta")).arg("unfinished").arg("damaged");
    let fields: Vec<Option<Vec<u8>>> = link.send(&fields).await?;
    Ok(fields.iter().flatten().any(|text| !text.is_empty()))
}

/// Lets a thread of its own do what takes long.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let ended = |_| Failure::Unavailable { reason: "the engine has stopped".to_owned() };
    tokio::task::spawn_blocking(work).await.map_err(ended)?
}

/// The state that was read.
fn state_of(image: Image, keys: &Keys, at: u64, compares: bool) -> Result<State, Failure> {
    let finished = image.finish(at).map_err(|what| markets::disagreement(keys, "orders", &what))?;
    match finished.kept.difference(&finished.made).filter(|_| compares) {
        Some((name, what)) => Err(markets::disagreement(keys, name, &what)),
        None => Ok(finished.state),
    }
}

/// The answer to `DIGEST`: the partition, its sequence and the digest as 32 hexadecimal digits.
fn receipt(partition: u32, as_of: &Meta, digest: &str) -> Receipt {
    let fields = facts![u64::from(partition), as_of.sequence, digest];
    Receipt {
        outcome: Outcome::applied(facts![vec![Value::List(fields.into_vec())]]),
        partition,
        epoch: as_of.epoch,
        sequence_first: as_of.sequence,
        sequence_last: as_of.sequence,
        at: as_of.at,
        replayed: false,
        durability: Durability::Memory,
    }
}

/// What `meta` says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meta {
    epoch: u64,
    sequence: u64,
    at: u64,
    /// A scan that goes on at another server skips rows.
    run_id: String,
}

impl Meta {
    async fn read(link: &Link, keys: &Keys) -> Result<Self, Failure> {
        let mut command = redis::cmd("HMGET");
        command.arg(keys.of("meta")).arg(&META_FIELDS[..3]);
        type Numbers = (Option<u64>, Option<u64>, Option<u64>);
        let ((epoch, sequence, at), node): (Numbers, _) = link.send_made(&|_: &Node| command.clone()).await?;
        let run_id = node.state.run_id.clone();
        Ok(Self { epoch: epoch.unwrap_or(1), sequence: sequence.unwrap_or(0), at: at.unwrap_or(0), run_id })
    }
}
