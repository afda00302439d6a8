//! The last trades of each market, for readers that join later. They are derived from the log, which also
//! has the older ones.

use std::collections::VecDeque;

use crate::codec::Malformed;
use crate::codec::Wire;
use crate::command::shapes::Side;
use crate::pieces::{PieceReader, PieceWriter};
use crate::record_wire;
use crate::store::{Frozen, Reversible, Slice, Sliced, Slot, put_frozen};
use crate::types::TimeMs;

/// How many trades of a market are kept.
pub const TRADES_KEPT: usize = 100;

/// A trade, without the names of its parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    /// Its number in the market, from 1.
    pub trade: u64,
    /// The maker's price.
    pub price: u64,
    /// The number of units.
    pub quantity: u64,
    /// The side of the taker.
    pub taker_side: Side,
    /// The time of the trade.
    pub at: TimeMs,
}

record_wire!(Trade { trade, price, quantity, taker_side, at });

/// The tapes of a partition's markets by their slots.
#[derive(Debug, Default)]
pub(super) struct Tapes {
    tapes: Vec<VecDeque<Trade>>,
    changes: Option<Vec<Change>>,
    /// While a snapshot is written.
    frozen: Option<Box<Frozen<u32, VecDeque<Trade>>>>,
}

#[derive(Debug)]
enum Change {
    Opened,
    /// A trade was added, and this one was dropped.
    Put(Slot, Option<Trade>),
}

impl Tapes {
    /// Begins the tape of the next market.
    pub(super) fn open(&mut self) {
        self.tapes.push(VecDeque::new());
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Opened);
        }
    }

    pub(super) fn put_on(&mut self, market: Slot, trade: Trade) {
        let Some(tape) = self.tapes.get_mut(market.0 as usize) else { return };
        if let Some(frozen) = &mut self.frozen {
            frozen.save(&market.0, || Some(tape.clone()));
        }
        let fallen = if tape.len() < TRADES_KEPT { None } else { tape.pop_front() };
        tape.push_back(trade);
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Put(market, fallen));
        }
    }

    /// A market's trades, the last one first.
    pub(super) fn of(&self, market: Slot) -> impl Iterator<Item = &Trade> {
        self.tapes.get(market.0 as usize).into_iter().flat_map(|tape| tape.iter().rev())
    }

    pub(super) fn put(&self, out: &mut PieceWriter<'_>) {
        out.count(self.tapes.len());
        for tape in &self.tapes {
            out.count(tape.len());
            tape.iter().for_each(|trade| out.value(trade));
        }
    }

    /// Reads the tapes of the given number of markets.
    pub(super) fn load(&mut self, markets: usize, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        if input.value::<u64>()? != markets as u64 {
            return Err(Malformed);
        }
        for _ in 0..markets {
            let count: u64 = input.value()?;
            if count > TRADES_KEPT as u64 {
                return Err(Malformed);
            }
            self.tapes.push((0..count).map(|_| input.value::<Trade>()).collect::<Result<_, _>>()?);
        }
        Ok(())
    }
}

impl Sliced for Tapes {
    fn freeze(&mut self) {
        let last = u32::try_from(self.tapes.len()).unwrap_or(u32::MAX).checked_sub(1);
        let apart = |tape: &VecDeque<Trade>| tape.len() * size_of::<Trade>();
        self.frozen = last.map(|last| Box::new(Frozen::with_apart(self.tapes.len(), 0, last, apart)));
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        let tapes = &self.tapes;
        let live = |first: &u32, last: &u32| (*first..=*last).map(|slot| (slot, tapes.get(slot as usize)));
        let put = |_: &u32, tape: &VecDeque<Trade>, out: &mut Vec<u8>| {
            (tape.len() as u64).put(out);
            tape.iter().for_each(|trade| trade.put(out));
        };
        put_frozen(&mut self.frozen, slice, live, put, put)
    }

    fn remembered_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |frozen| frozen.bytes())
    }

    fn thaw(&mut self) {
        self.frozen = None;
    }
}

impl Reversible for Tapes {
    fn begin(&mut self) {
        self.changes = Some(Vec::new());
    }

    fn commit(&mut self) {
        self.changes = None;
    }

    fn rollback(&mut self) {
        for change in self.changes.take().into_iter().flatten().rev() {
            match change {
                Change::Opened => {
                    self.tapes.pop();
                }
                Change::Put(market, fallen) => {
                    let Some(tape) = self.tapes.get_mut(market.0 as usize) else { continue };
                    tape.pop_back();
                    if let Some(fallen) = fallen {
                        tape.push_front(fallen);
                    }
                }
            }
        }
    }
}
