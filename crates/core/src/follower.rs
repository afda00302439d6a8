//! A state that follows the log of an engine and answers no command: so that another store shows the same. It remembers no
//! operations, and names for each change what is changed, before it is.

use crate::deadlines::{NamedKind, RecordKind};
use crate::event::{Entry, Event, Position};
use crate::limits::CounterKey;
use crate::machine::Machine;
use crate::operations::Operations;
use crate::state::{FORGOTTEN_PER_EVENT_MAX, Origin, State};
use crate::types::{Id, TimeMs};

/// What an entry changes.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// What an event says.
    Event(&'a Event),
    /// A record may be dropped, because it ended long ago: its kind, resource and name.
    Record(RecordKind, &'a Id, &'a Id),
    /// A coupon's counter may be dropped, because its window is over.
    Counter(&'a Id, &'a CounterKey),
}

/// The state at a position of the log.
#[derive(Debug)]
pub struct Follower {
    state: State,
    partition: u32,
    epoch: u64,
    sequence: u64,
}

impl Follower {
    /// Begins with the state of an engine.
    #[must_use]
    pub fn new(image: Machine) -> Self {
        let (partition, epoch, sequence) = (image.partition(), image.epoch(), image.sequence());
        let mut state = image.into_state();
        state.operations = Operations::new(state.settings.hash_seed);
        state.unfinished = None;
        Self { state, partition, epoch, sequence }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The partition's number.
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.partition
    }

    /// The position of the last event.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { epoch: self.epoch, sequence: self.sequence }
    }

    /// Folds an entry that follows; events that are folded already are left out. `seen` gets each change, and the state
    /// before it.
    pub fn follow(&mut self, entry: &Entry, mut seen: impl FnMut(&State, Change<'_>)) {
        if entry.sequence_last() <= self.sequence {
            return;
        }
        let origin = Origin::of(entry.head.at, entry.head.operation.as_ref());
        for (sequence, event) in (entry.head.sequence_first..).zip(&entry.events) {
            if sequence > self.sequence {
                seen(&self.state, Change::Event(event));
                self.state.evolve(event, origin);
            }
        }
        self.epoch = self.epoch.max(entry.head.epoch);
        self.sequence = entry.sequence_last();
        self.state.at = entry.head.at;
        let events = entry.events.len();
        self.state.each_forgettable(entry.head.at, events, &mut seen);
        self.state.forget(entry.head.at, events);
    }
}

impl State {
    /// Names everything that [`State::forget`] may drop.
    fn each_forgettable(&self, now: TimeMs, events: usize, seen: &mut impl FnMut(&Self, Change<'_>)) {
        let (now, count_max) = (self.settled(now), FORGOTTEN_PER_EVENT_MAX.saturating_mul(events));
        for (coupon, key) in self.coupons.overdue(now, count_max) {
            seen(self, Change::Counter(coupon, key));
        }
        let Some(ended_at) = now.checked_sub(self.settings.retention_ms) else { return };
        for (kind, slot, record) in self.ended.records_by(ended_at).take(count_max) {
            let (kind, resource) = match kind {
                NamedKind::Hold => (RecordKind::Hold, self.accounts.accounts.key_at(slot)),
                NamedKind::Reservation => (RecordKind::Reservation, self.stock.items.key_at(slot)),
                NamedKind::CouponClaim => (RecordKind::CouponClaim, self.coupons.name_at(slot)),
            };
            if let Some(resource) = resource {
                seen(self, Change::Record(kind, resource, record));
            }
        }
        for row in self.ended.orders_by(ended_at).take(count_max) {
            let Some((market, name)) = self.markets.orders.key_at(row) else { continue };
            if let Some(market) = self.markets.markets.key_at(*market) {
                seen(self, Change::Record(RecordKind::Order, market, name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Input;
    use crate::machine::bench::Bench;

    /// Everything that a state holds but its operations, as a digest and as what it still keeps.
    fn held(state: &State) -> (u128, usize) {
        (state.digest(None), state.resource_record_count())
    }

    #[test]
    fn a_follower_has_the_state_of_the_machine_and_no_operations() {
        let mut bench = Bench::new();
        let lines = [
            "ACCOUNT.OPEN a EUR",
            "ACCOUNT.CREDIT a 100 ID one",
            "ACCOUNT.HOLD a h 5 TTL 1000",
            "ACCOUNT.VOID a h",
            "STOCK.CREATE s 10",
            "STOCK.TAKE s 2 bob",
            "COUPON.CREATE c LIMIT daily 1 PER user WINDOW day",
        ];
        for line in lines {
            let envelope = Bench::envelope(&[line]).expect("a command");
            bench.machine.submit(&envelope, bench.clock, &mut bench.log);
        }
        let image = Machine::new(bench.machine.state().settings.clone(), 0);
        let mut follower = Follower::new(image);
        let (mut input, mut events) = (Input::new(&bench.log), 0);
        while !input.is_empty() {
            let entry = Entry::read(&mut input).expect("an entry");
            follower.follow(&entry, |_, change| events += usize::from(matches!(change, Change::Event(_))));
            follower.follow(&entry, |_, _| panic!("an entry is folded once"));
        }
        assert_eq!(held(follower.state()), held(bench.machine.state()));
        assert_eq!(follower.position().sequence, bench.machine.sequence());
        assert_eq!((events as u64, follower.state().operations.len()), (bench.machine.sequence(), 0));
    }
}
