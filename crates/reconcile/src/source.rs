//! Where the log and the engine's answers come from.

use scarce_core::command::table::find;
use scarce_core::command::{Command, CommandSpec};
use scarce_core::event::Entry;
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::outcome::Outcome;
use scarce_core::types::Id;
use scarce_engine::Image;

use crate::ReconcileError;

/// Takes entries in their order, and answers whether more are wanted.
pub type Take<'t> = &'t mut dyn FnMut(Vec<Entry>) -> Result<bool, ReconcileError>;

/// A log that can be read from its oldest event on.
pub trait LogSource {
    /// How many partitions there are.
    fn partitions(&self) -> u32;

    /// The deployment's id, in hexadecimal digits.
    fn deployment_id(&self) -> &str;

    /// The state that the oldest event which is still there follows; an empty one at the beginning of the log.
    ///
    /// # Errors
    /// When it cannot be read; [`ReconcileError::Broken`] when what is there is wrong.
    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError>;

    /// The same state, where it can be read row by row without being in memory.
    ///
    /// # Errors
    /// As [`LogSource::base`].
    fn base_image(&mut self, partition: u32) -> Result<Box<dyn Image>, ReconcileError> {
        Ok(Box::new(self.base(partition)?))
    }

    /// Whether the base of a partition, once it was asked for, is the state that the engine has now, for want of another. What
    /// was before it is compared with nothing then.
    fn is_state_of_engine(&self, _partition: u32) -> bool {
        false
    }

    /// The first sequence that can be read, of a partition whose base is the state after `base`.
    ///
    /// # Errors
    /// When it cannot be learned.
    fn first(&mut self, _partition: u32, base: u64) -> Result<u64, ReconcileError> {
        Ok(base + 1)
    }

    /// Hands over the entries from a sequence on, as far as they are durable.
    ///
    /// # Errors
    /// As [`LogSource::base`].
    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError>;

    /// The last durable sequence, where that can be said without reading the log.
    ///
    /// # Errors
    /// When it cannot be learned.
    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError>;
}

/// A digest, and the last sequence that it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldDigest {
    /// The last event.
    pub sequence: u64,
    /// The digest.
    pub digest: u128,
}

/// Values of a resource with their names.
pub type Figures = Vec<(String, String)>;

/// The state as an engine answers it.
pub trait EngineSource {
    /// The deployment's id, in hexadecimal digits.
    fn deployment_id(&self) -> &str;

    /// The digest of each resource.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn digests(&mut self, partition: u32, resources: &[Id]) -> Result<Vec<HeldDigest>, ReconcileError>;

    /// The digest of a whole partition.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn whole(&mut self, partition: u32) -> Result<HeldDigest, ReconcileError>;

    /// What the engine shows of a resource.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn figures(&mut self, partition: u32, resource: &Id) -> Result<Figures, ReconcileError>;

    /// The rows of the whole state, where the engine's store can be read as one; without it, resources that only the engine
    /// has are counted, not named.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn image(&mut self, partition: u32) -> Result<Option<Box<dyn Image>>, ReconcileError>;
}

/// The commands that show what there is under a name.
pub fn look_commands() -> impl Iterator<Item = &'static CommandSpec> {
    ["ACCOUNT.GET", "STOCK.GET", "PACKET.GET", "COUPON.GET", "MARKET.GET"]
        .into_iter()
        .filter_map(|name| find(name.as_bytes()))
}

/// The values of an answer with their names, without that of the resource itself.
#[must_use]
pub fn figures_of(spec: &CommandSpec, outcome: &Outcome) -> Figures {
    if !outcome.is_applied() {
        return Figures::new();
    }
    let named = spec.reply.iter().zip(outcome.facts.iter()).skip(1);
    let group = spec.group().to_ascii_lowercase();
    named.map(|(its, value)| (format!("{group}.{}", its.name), value.to_string())).collect()
}

/// The command that shows what there is under a name.
pub(crate) fn look(spec: &'static CommandSpec, resource: &Id) -> Option<Command> {
    Command::parse(spec, &[resource.as_str().as_bytes()]).ok().map(|(command, _)| command)
}

/// What a state shows of a resource.
pub(crate) fn figures_in(machine: &Machine, resource: &Id) -> Figures {
    let answers =
        look_commands().filter_map(|spec| match machine.query("", &look(spec, resource)?, machine.now()) {
            MachineAnswer::Receipt(receipt) => Some(figures_of(spec, &receipt.outcome)),
            MachineAnswer::Replay(_) => None,
        });
    answers.flatten().collect()
}
