//! Bounded steps: the result of one step of a command, and the input of the next.

use crate::codec::{Input, Malformed, Wire};
use crate::event::from_shown::list;
use crate::event::{FromShown, OperationMark, Shown};
use crate::facts;
use crate::outcome::{Facts, Value};
use crate::record_wire;
use crate::types::{Id, TimeMs};

pub use crate::markets::sweep::Sweep;

/// The result of one step of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The command is finished, with the values of its answer.
    Done(Facts),
    /// The command continues in another step.
    More(OperationProgress),
}

const SWEEP: &str = "sweep";
const CANCEL_ALL: &str = "cancel_all";
const PACKETS: &str = "packets";

/// The progress of an unfinished command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationProgress {
    /// An order that trades through the book.
    Sweep(Sweep),
    /// The cancellation of all of an owner's orders.
    CancelAll {
        /// The market.
        market: Id,
        /// The owner.
        owner: Id,
        /// How many were cancelled so far.
        cancelled: u64,
    },
    /// The preparation of a campaign's packets.
    Packets {
        /// The campaign.
        campaign: Id,
    },
}

impl OperationProgress {
    /// The kinds, by the first word of a shown progress.
    pub const KINDS: [&'static str; 3] = [SWEEP, CANCEL_ALL, PACKETS];
}

impl Wire for OperationProgress {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Sweep(sweep) => {
                out.push(1);
                sweep.put(out);
            }
            Self::CancelAll { market, owner, cancelled } => {
                out.push(2);
                market.put(out);
                owner.put(out);
                cancelled.put(out);
            }
            Self::Packets { campaign } => {
                out.push(3);
                campaign.put(out);
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(match input.byte()? {
            1 => Self::Sweep(Wire::get(input)?),
            2 => Self::CancelAll {
                market: Wire::get(input)?,
                owner: Wire::get(input)?,
                cancelled: Wire::get(input)?,
            },
            3 => Self::Packets { campaign: Wire::get(input)? },
            _ => return Err(Malformed),
        })
    }
}

/// Written as sweep, market, order, fills; cancel_all, market, owner, cancelled; or packets, campaign.
impl Shown for OperationProgress {
    fn shown(&self) -> Value {
        let values = match self {
            Self::Sweep(Sweep { market, order, fills }) => facts![SWEEP, market, order, fills.shown()],
            Self::CancelAll { market, owner, cancelled } => facts![CANCEL_ALL, market, owner, *cancelled],
            Self::Packets { campaign } => facts![PACKETS, campaign],
        };
        Value::List(values.into_vec())
    }
}

impl FromShown for OperationProgress {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        match list(value)? {
            [Value::Text(word), market, order, fills] if word == SWEEP => Ok(Self::Sweep(Sweep {
                market: Id::from_shown(market)?,
                order: Id::from_shown(order)?,
                fills: Vec::from_shown(fills)?,
            })),
            [Value::Text(word), market, owner, cancelled] if word == CANCEL_ALL => Ok(Self::CancelAll {
                market: Id::from_shown(market)?,
                owner: Id::from_shown(owner)?,
                cancelled: u64::from_shown(cancelled)?,
            }),
            [Value::Text(word), campaign] if word == PACKETS => {
                Ok(Self::Packets { campaign: Id::from_shown(campaign)? })
            }
            _ => Err(Malformed),
        }
    }
}

impl OperationProgress {
    /// Merges the values of a further step into those so far. Each step's event contains only its own
    /// fills, so that a long sweep does not repeat them in the log.
    pub(crate) fn join(self, so_far: Option<OperationProgress>) -> Self {
        match (self, so_far) {
            (Self::Sweep(step), Some(Self::Sweep(before))) => Self::Sweep(step.after(before)),
            (step, _) => step,
        }
    }
}

/// The operation that must finish before anything else, kept in the state so that a restart finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The stamp of all its steps.
    pub at: TimeMs,
    /// The operation.
    pub operation: Option<OperationMark>,
    /// The sequence of its first event.
    pub sequence_first: u64,
    /// Its progress.
    pub progress: OperationProgress,
}

record_wire!(Unfinished { at, operation, sequence_first, progress });
