//! A partition of a deployment that moves, in the keys of the Redis engine: written, read back and compared.

use scarce_core::machine::regroup::Regrouped;
use scarce_engine::consumers::Consumption;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::relocation::CompleteOperations;
use scarce_engine_redis::relocation::{OperationRows, PartitionHead, PartitionRows, Purpose, Sizes, Target};
use scarce_mirror::{Item, each_served};

use super::into_files::differs;
use crate::{Exit, Failed};

/// What a partition consists of.
pub(super) struct Made<'a> {
    pub(super) regrouped: &'a Regrouped,
    pub(super) operations: &'a CompleteOperations,
    pub(super) deployment: &'a Deployment,
    /// How far consumers of its log are, where that is the log from which they go on.
    pub(super) consumptions: Vec<Consumption>,
}

/// Writes a partition, and reads it back.
pub(super) fn write(target: &Target, made: &Made<'_>) -> Result<(), Failed> {
    let machine = &made.regrouped.machine;
    let partition = machine.partition();
    if made.operations.missing() > 0 {
        let text = format!(
            "partition {partition} remembers {} operations whose answers neither its log nor its files of receipts have; duplicates of them could not be told from new commands in Redis: wait until they are forgotten",
            made.operations.missing()
        );
        return Err(Failed::text(Exit::Refused, text));
    }
    let sizes = send(target.rows(partition, Purpose::Write), made)?;
    let head = PartitionHead {
        epoch: machine.epoch(),
        sequence: machine.sequence(),
        at: machine.state().at,
        now: machine.now(),
        forgotten_at: machine.state().operations.forgotten_at(),
        consumptions: made.consumptions.clone(),
    };
    target.finish(partition, &made.deployment.deployment_id, &head, &sizes)?;
    if send(target.rows(partition, Purpose::Compare), made)? != sizes {
        return Err(differs());
    }
    let (state, position) = target.state(partition, &machine.state().settings)?;
    let is_same = position.sequence == machine.sequence()
        && position.epoch == machine.epoch()
        && state.digest(None) == machine.state().digest(None);
    if is_same { Ok(()) } else { Err(differs()) }
}

/// Sends everything that the keys have, but for the position.
fn send(mut rows: PartitionRows<'_>, made: &Made<'_>) -> Result<Sizes, Failed> {
    let machine = &made.regrouped.machine;
    let state = machine.state();
    each_served(state, |item| match *item {
        Item::Row(key, ref place, ref text) => rows.row(key, place, text),
        Item::Member(key, ref member) => rows.member(key, member),
    });
    for first in machine.histories().firsts() {
        rows.row("histories", &first.sequence.to_string(), &first.epoch.to_string());
    }
    let mut operations = OperationRows::new(&mut rows);
    let mut is_readable = true;
    for operation in made.operations.each(made.regrouped) {
        is_readable &= operations.take(&operation, state.operations.made_at_of(&operation));
    }
    operations.finish();
    if !is_readable {
        let text = format!(
            "an answer that partition {} remembers cannot be read; look into the source with 'scarce journal verify'",
            machine.partition()
        );
        return Err(Failed::text(Exit::Failed, text));
    }
    Ok(rows.finish()?)
}
