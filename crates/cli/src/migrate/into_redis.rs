//! A deployment whose files rest goes into a Redis.
//!
//! The mark in the old directory decides here, too. Until it is there, no server serves what is in Redis, because the
//! deployment has no ID there; from then on, giving it that ID is all that is left to do, and the same command does it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use scarce_core::event::epoch;
use scarce_core::machine::Machine;
use scarce_core::machine::regroup::{Origin, Regrouped, Totals, align, regroup};
use scarce_engine::consumers::Consumption;
use scarce_engine::random::{self, hex};
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_engine_embedded::relocation::{CompleteOperations, Moved, RelocationId, read_consumptions};
use scarce_engine_embedded::storage::FileStorage;
use scarce_engine_embedded::{EmbeddedError, PartitionFiles};
use scarce_engine_redis::RedisSettings;
use scarce_engine_redis::relocation::{Coming, Found, Target};

use super::into_files::{EPOCH_MARGIN, check_balanced, differs, read_all};
use super::partition_in_redis::{Made, write};
use super::report::{self, Part};
use super::{Migrate, Source, storage};
use crate::config::load;
use crate::files::Opened;
use crate::{Ended, Exit, Failed};

/// The address of a Redis, if a place is one.
pub(super) fn address_of(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| text.starts_with("redis") && text.contains("://"))
}

pub(super) fn run(options: &Migrate, url: &str) -> Ended {
    let from = options.from.canonicalize().map_err(|error| {
        Failed::text(Exit::Failed, format!("cannot read {}: {error}", options.from.display()))
    })?;
    let source = storage(&from)?;
    let partitions = options.partitions.unwrap_or(crate::files::load_deployment(&from)?.partitions);
    let target = Target::connect(redis_settings(options, url, partitions)?)?;
    for warning in &target.warnings {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    let found = target.find()?;
    if finish_earlier(&source, &target, &found)? {
        writeln!(
            io::stderr(),
            "{} had moved to {url} already; it is served there from now on",
            from.display()
        )?;
        return Ok(Exit::Done);
    }
    if matches!(DirectoryLock::share(&from), Err(LockError::Held { .. })) {
        let text = format!(
            "{} is served; stop the server: into a Redis, a deployment moves while it rests",
            from.display()
        );
        return Err(Failed::text(Exit::Refused, text));
    }
    let resting = Source::begin(&from)?;
    let the_move = IntoRedis { options, from, source, resting, partitions, target };
    if options.dry_run {
        let parts: Vec<_> = the_move.regroup()?.iter().map(|made| Part::of_new(&made.machine, 0)).collect();
        report::print(options, partitions, &parts)?;
        return Ok(Exit::Done);
    }
    the_move.clear(found)?;
    let parts = the_move.run(url)?;
    report::print(options, partitions, &parts)?;
    Ok(Exit::Done)
}

fn redis_settings(options: &Migrate, url: &str, partitions: u32) -> Result<RedisSettings, Failed> {
    let usual = load(&options.redis.0)?.settings.redis().map_err(|text| Failed::text(Exit::Usage, text))?;
    Ok(RedisSettings { url: url.to_owned(), partitions, ..usual })
}

/// Gives the deployment its ID, if a move was ended before it could. Gives whether it was.
fn finish_earlier(source: &FileStorage, target: &Target, found: &Found) -> Result<bool, Failed> {
    let (Some(moved), Found::Arriving { move_id, .. }) =
        (Moved::load(source).map_err(EmbeddedError::from)?, found)
    else {
        return Ok(false);
    };
    Ok(moved.id.as_str() == move_id && target.open(move_id)?)
}

/// A move whose source rests.
struct IntoRedis<'a> {
    options: &'a Migrate,
    from: PathBuf,
    source: FileStorage,
    resting: Source,
    partitions: u32,
    target: Target,
}

impl IntoRedis<'_> {
    /// Removes what an earlier move of these files has left.
    fn clear(&self, found: Found) -> Result<(), Failed> {
        let Found::Arriving { move_id, from, deployment_id, partitions } = found else { return Ok(()) };
        let own = hex(&self.resting.deployment.deployment_id);
        if from != self.from.display().to_string() || deployment_id != own {
            let text = format!(
                "a move from {from} is not finished there; finish it with the same command, or choose another prefix with --redis-prefix"
            );
            return Err(Failed::text(Exit::Refused, text));
        }
        Ok(self.target.discard(&move_id, partitions)?)
    }

    fn run(&self, url: &str) -> Result<Vec<Part>, Failed> {
        let id = RelocationId::random().map_err(EmbeddedError::from)?;
        let address = self.options.address.clone().unwrap_or_else(|| url.to_owned());
        // Before the work: the disk of the old directory may be full.
        Moved { id: id.clone(), address }.prepare(&self.source).map_err(EmbeddedError::from)?;
        let made = self.make(&id);
        if made.is_err() {
            Moved::discard_prepared(&self.source);
            self.remove(&id);
        }
        let parts = made?;
        if let Err(error) = Moved::leave_prepared(&self.source) {
            return Err(self.explain(Failed::from(EmbeddedError::from(error)), &id));
        }
        self.open(&id).map_err(|failed| self.explain(failed, &id))?;
        Ok(parts)
    }

    /// Writes all of the deployment, and compares it.
    fn make(&self, id: &RelocationId) -> Result<Vec<Part>, Failed> {
        let opened = Opened::open(&self.options.from, None)?;
        let files: Vec<PartitionFiles<'_>> = opened.partitions().collect();
        let made = self.regroup()?;
        let deployment = &self.resting.deployment;
        let youngest = |made: &Regrouped| {
            let operations = &made.machine.state().operations;
            operations.from_number(0).map(|operation| operations.made_at_of(&operation)).max()
        };
        self.target.begin(&Coming {
            move_id: id.as_str().to_owned(),
            from: self.from.display().to_string(),
            deployment_id: deployment.deployment_id,
            secret: deployment.secret,
            ids_moved_at: made.iter().filter_map(youngest).max().unwrap_or(0),
        })?;
        for its in &made {
            let operations = CompleteOperations::read(its, &files)?;
            let consumptions = self.consumptions(its, &files)?;
            let made = Made { regrouped: its, operations: &operations, deployment, consumptions };
            write(&self.target, &made)?;
        }
        self.target.wait_until_safe()?;
        Ok(made.iter().map(|made| Part::of_new(&made.machine, 0)).collect())
    }

    /// How far consumers are, with as many partitions as there were: positions of the old log are not those of another number.
    fn consumptions(
        &self,
        made: &Regrouped,
        files: &[PartitionFiles<'_>],
    ) -> Result<Vec<Consumption>, Failed> {
        let is_it = |its: &&PartitionFiles<'_>| its.partition == made.machine.partition();
        let same = files.iter().find(is_it).filter(|_| self.keeps_partitions());
        Ok(same.map(read_consumptions).transpose()?.unwrap_or_default())
    }

    fn keeps_partitions(&self) -> bool {
        self.partitions == self.resting.deployment.partitions
    }

    /// The new partitions, with an epoch that is higher than all before. With as many as there were, positions of the old log
    /// are positions of the new one.
    fn regroup(&self) -> Result<Vec<Regrouped>, Failed> {
        let opened = Opened::open(&self.options.from, None)?;
        let files: Vec<PartitionFiles<'_>> = opened.partitions().collect();
        let (mut machines, last_epoch) = read_all(&files)?;
        machines.iter().try_for_each(check_movable)?;
        let salt = random::bytes().map(u32::from_le_bytes)?;
        let higher = epoch::advanced(last_epoch, EPOCH_MARGIN, salt);
        if self.keeps_partitions() {
            return Ok(machines.into_iter().map(|machine| same(machine, higher)).collect());
        }
        align(&mut machines);
        let mut totals = Totals::default();
        let mut made = Vec::new();
        for partition in 0..self.partitions {
            let its = regroup(&machines, partition, self.partitions, higher)
                .map_err(|error| Failed::new(Exit::Refused, &error))?;
            check_balanced(&its.machine)?;
            totals.add(its.machine.state());
            made.push(its);
        }
        if totals == Totals::of(&machines) { Ok(made) } else { Err(differs()) }
    }

    fn open(&self, id: &RelocationId) -> Result<(), Failed> {
        let is_open = self.target.open(id.as_str())?;
        let text = "the deployment is not there any more: its hash was changed or deleted";
        if is_open { Ok(()) } else { Err(Failed::text(Exit::Failed, text)) }
    }

    /// Removes what is in Redis of a move that did not come to be.
    fn remove(&self, id: &RelocationId) {
        if let Err(error) = self.target.discard(id.as_str(), self.partitions) {
            // The next move removes it; if stderr is gone, there is nobody to tell.
            let _ = writeln!(io::stderr(), "what was written to Redis is still there: {error}");
        }
    }

    /// Says where the deployment is after a failure at the very end.
    fn explain(&self, mut failed: Failed, id: &RelocationId) -> Failed {
        let from = self.from.display();
        let text = match Moved::load(&self.source) {
            Ok(Some(moved)) if moved.id == *id => {
                format!(
                    "{from} has moved all the same; give the same command again, which lets the new place be served"
                )
            }
            Ok(_) => {
                self.remove(id);
                format!("nothing was moved: {from} is served as before")
            }
            Err(_) => format!(
                "whether {from} has moved could not be read: give the same command again once it can be"
            ),
        };
        failed.message.push_str(&format!("\n{text}"));
        failed
    }
}

/// A partition that stays as it is, in a new epoch.
fn same(mut machine: Machine, epoch: u64) -> Regrouped {
    machine.set_epoch(epoch);
    let origin = Origin { partition: machine.partition(), shift: 0, sequence: machine.sequence() };
    Regrouped { machine, origins: vec![origin] }
}

/// Redis has no place for an operation's next step of another engine, nor for a clock that is in doubt.
fn check_movable(machine: &Machine) -> Result<(), Failed> {
    let (state, partition) = (machine.state(), machine.partition());
    if state.unfinished.is_some() {
        let text = format!(
            "partition {partition} has an operation with further steps to take; start its server once, which takes them"
        );
        return Err(Failed::text(Exit::Refused, text));
    }
    if state.doubted_ms > 0 {
        let text = format!(
            "partition {partition} has a clock that is in doubt; start its server once with --accept-clock, when the clock is right"
        );
        return Err(Failed::text(Exit::Refused, text));
    }
    Ok(())
}
