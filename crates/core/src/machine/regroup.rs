//! The resources of a deployment among another number of partitions.
//!
//! A resource lives where its id's slot says, so with another number of partitions it has another partition. All that is
//! its own goes with it. Of what belongs to a partition, the rules are:
//!
//! | what | rule |
//! |---|---|
//! | world accounts | each partition has the share of its accounts, so that balances sum to zero |
//! | remembered ids | go wherever a resource of their partition may go |
//! | stamp, doubt of the clock | the latest, the largest of all partitions |
//! | sequence | the sum of those of the partitions that resources come from; sequences of remembered ids are put on |
//! | epoch | a higher one, whose history begins with the first sequence: no position of before is one of the new log |

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use super::Machine;
use crate::event::{Histories, Position};
use crate::operations::{Clashes, TakenFrom};
use crate::placement;
use crate::state::State;
use crate::types::{INTEGER_MAX, Id};

/// The number of slots that ids are spread over.
const SLOTS: u32 = 16_384;

/// A partition of which another one gets something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its number.
    pub partition: u32,
    /// What its sequences are put on by.
    pub shift: u64,
    /// Its last sequence.
    pub sequence: u64,
}

/// A new partition, and where what is in it comes from.
#[derive(Debug)]
pub struct Regrouped {
    /// The partition.
    pub machine: Machine,
    /// The partitions of which it has resources or ids.
    pub origins: Vec<Origin>,
}

/// Why partitions cannot be regrouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegroupError {
    /// An operation has further steps to take.
    Unfinished {
        /// Which partition.
        partition: u32,
    },
    /// Two partitions remember an id for different operations.
    Ids {
        /// How many ids.
        count: usize,
    },
    /// More ids than a partition may remember.
    TooManyIds {
        /// Which new partition.
        partition: u32,
        /// How many it would be.
        count: usize,
        /// How many it may be.
        max: usize,
    },
    /// A world account would hold more than a number can say.
    Overflow {
        /// Which new partition.
        partition: u32,
        /// The asset.
        asset: Id,
    },
    /// A book cannot be made of its orders.
    Book {
        /// Which new partition.
        partition: u32,
    },
}

impl fmt::Display for RegroupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished { partition } => write!(
                formatter,
                "partition {partition} has an operation with further steps to take; start its server once, which takes them"
            ),
            Self::Ids { count } => write!(
                formatter,
                "{count} operation ids were used for different operations in two partitions that would become one; choose a multiple of the number of partitions, or wait until these ids are forgotten"
            ),
            Self::TooManyIds { partition, count, max } => write!(
                formatter,
                "partition {partition} would remember {count} operation ids, and may remember {max}; choose another number of partitions, or wait until ids are forgotten"
            ),
            Self::Overflow { partition, asset } => write!(
                formatter,
                "the accounts of {} in partition {partition} would come to more than 2^53-1; choose more partitions",
                asset.as_str()
            ),
            Self::Book { partition } => write!(
                formatter,
                "an order in partition {partition} cannot rest as its record says; look into the source with 'scarce journal verify'"
            ),
        }
    }
}

impl Error for RegroupError {}

/// What all partitions come to, whatever their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The sum of all entities' digests but those of world accounts.
    pub digest: u128,
    /// How many records there are, those that no digest shows among them.
    pub records: u64,
    /// What the world's accounts sum to, by their names.
    pub worlds: BTreeMap<Id, i128>,
}

/// Lets all partitions be of one moment: the latest stamp of any, and the largest doubt.
pub fn align(machines: &mut [Machine]) {
    let at = machines.iter().map(|machine| machine.now.max(machine.state.at)).max().unwrap_or(0);
    let doubted_ms = machines.iter().map(|machine| machine.state.doubted_ms).max().unwrap_or(0);
    for machine in machines {
        (machine.now, machine.state.at, machine.state.doubted_ms) = (at, at, doubted_ms);
    }
}

/// Whether resources of one of so many partitions may go to one of another number of them.
#[must_use]
pub fn may_go((from, from_count): (u32, u32), (to, to_count): (u32, u32)) -> bool {
    let (from_count, to_count) = (from_count.max(1), to_count.max(1));
    (from..SLOTS).step_by(from_count as usize).any(|slot| slot % to_count == to)
}

/// Makes one of `partitions` of all partitions of a deployment, which are of one moment (see [`align`]).
///
/// # Errors
/// When the partition would not follow the rules.
pub fn regroup(
    sources: &[Machine],
    partition: u32,
    partitions: u32,
    epoch: u64,
) -> Result<Regrouped, RegroupError> {
    let count = u32::try_from(sources.len()).unwrap_or(u32::MAX);
    let mut origins: Vec<Origin> = Vec::new();
    let mut state = State::new(sources.first().map(|first| first.state.settings.clone()).unwrap_or_default());
    for source in sources.iter().filter(|its| may_go((its.partition, count), (partition, partitions))) {
        if source.state.unfinished.is_some() {
            return Err(RegroupError::Unfinished { partition: source.partition });
        }
        let shift = origins.last().map_or(0, |last| last.shift + last.sequence);
        origins.push(Origin { partition: source.partition, shift, sequence: source.sequence });
        state.take_over(&source.state, &|id| placement::partition(id, partitions) == partition);
        (state.at, state.doubted_ms) = (source.state.at, source.state.doubted_ms);
    }
    take_ids(&mut state, sources, &origins, partition)?;
    state.settle_in().map_err(|_| RegroupError::Book { partition })?;
    check_worlds(&state, partition)?;
    let sequence = origins.last().map_or(0, |last| last.shift + last.sequence);
    let mut machine = Machine::with_state(state, partition, epoch, sequence);
    machine.histories = Histories::of(vec![Position { epoch, sequence: 1 }]);
    Ok(Regrouped { machine, origins })
}

fn take_ids(
    state: &mut State,
    sources: &[Machine],
    origins: &[Origin],
    partition: u32,
) -> Result<(), RegroupError> {
    let memories: Vec<TakenFrom<'_>> = origins
        .iter()
        .filter_map(|origin| {
            let source = sources.iter().find(|source| source.partition == origin.partition)?;
            Some(TakenFrom { operations: &source.state.operations, shift: origin.shift })
        })
        .collect();
    state.operations.take_over(&memories).map_err(|Clashes(count)| RegroupError::Ids { count })?;
    let (count, max) = (state.operations.len(), state.settings.operations_max);
    if count > max {
        return Err(RegroupError::TooManyIds { partition, count, max });
    }
    Ok(())
}

fn check_worlds(state: &State, partition: u32) -> Result<(), RegroupError> {
    let too_large = state
        .accounts
        .iter()
        .find(|(id, account)| id.listed().is_none() && account.balance.unsigned_abs() > INTEGER_MAX);
    too_large.map_or(Ok(()), |(_, account)| {
        Err(RegroupError::Overflow { partition, asset: account.asset.clone() })
    })
}

impl Totals {
    /// What these partitions come to.
    #[must_use]
    pub fn of<'a>(machines: impl IntoIterator<Item = &'a Machine>) -> Self {
        let mut totals = Self::default();
        machines.into_iter().for_each(|machine| totals.add(&machine.state));
        totals
    }

    /// Adds a partition.
    pub fn add(&mut self, state: &State) {
        self.digest = self.digest.wrapping_add(state.digest(None));
        self.records += state.resource_record_count() as u64;
        for (id, account) in state.accounts.iter().filter(|(id, _)| id.listed().is_none()) {
            self.digest = self.digest.wrapping_sub(state.digest(Some(id)));
            self.records -= 1;
            *self.worlds.entry(id.clone()).or_default() += i128::from(account.balance);
        }
    }
}

impl Machine {
    /// The assets whose balances do not sum to zero, as they must in each partition.
    #[must_use]
    pub fn unbalanced(&self) -> Vec<Id> {
        let mut sums: BTreeMap<&Id, i128> = BTreeMap::new();
        for (_, account) in self.state.accounts.iter() {
            *sums.entry(&account.asset).or_default() += i128::from(account.balance);
        }
        sums.into_iter().filter(|(_, sum)| *sum != 0).map(|(asset, _)| asset.clone()).collect()
    }
}
