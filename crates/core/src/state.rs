//! A partition's state: the resources, the stored operations, and the records that end by time.

use crate::accounts::Accounts;
use crate::codec::Malformed;
use crate::command::shapes::LIMITS_MAX;
use crate::coupons::Coupons;
use crate::deadlines::{Deadlines, Ended, NamedKind, Over};
use crate::digest::Sum;
use crate::event::{ClockEvent, Event, OperationEvent, OperationMark};
use crate::machine::step::Unfinished;
use crate::markets::Markets;
use crate::operations::Operations;
use crate::packets::Campaigns;
use crate::pieces::{PieceReader, PieceWriter};
use crate::reversible_fields;
use crate::stock::StockItems;
use crate::store::{Goes, Sliced};
use crate::types::{INTEGER_MAX, Id, TimeMs};

/// The settings that outcomes depend on. They must be the same in every engine of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSettings {
    /// How long operation ids are stored.
    pub window_ms: u64,
    /// The minimum time for which they are stored. New operations are refused rather than forgetting an
    /// id earlier.
    pub window_ms_min: u64,
    /// The maximum number of operation ids that a partition stores.
    pub operations_max: usize,
    /// How long ended records stay visible under their names.
    pub retention_ms: u64,
    /// How long the receipt of a sale is kept at least, and its units can be returned, and how long packets and claims
    /// of a campaign that is over are; see [`StateSettings::receipt_due`].
    pub receipt_retention_ms: u64,
    /// The maximum number of makers or cancelled orders that one step touches.
    pub step_max: usize,
    /// The maximum number of packets that one step prepares.
    pub packets_per_step_max: usize,
    /// The maximum number of records that a line of an atomic batch touches, because it cannot take
    /// further steps.
    pub batch_step_max: usize,
    /// The maximum number of packets that a line of an atomic batch prepares.
    pub batch_packets_max: usize,
    /// The maximum number of a resource's deadlines that a command ends before it is decided.
    pub due_per_command_max: usize,
    /// The maximum number of receipts that one piece of an audit recounts.
    pub receipts_per_audit_max: usize,
    /// Whether ULIDs carry the time of an operation, in addition to version 7 UUIDs.
    pub ulid_times: bool,
    /// Keys the hashes of names and operation ids, so that callers cannot choose colliding ones.
    pub hash_seed: u64,
}

impl Default for StateSettings {
    fn default() -> Self {
        Self {
            window_ms: 24 * 3_600_000,
            window_ms_min: 600_000,
            operations_max: 16_000_000,
            retention_ms: 24 * 3_600_000,
            receipt_retention_ms: 90 * 24 * 3_600_000,
            step_max: 128,
            packets_per_step_max: 1_000,
            batch_step_max: 128,
            batch_packets_max: 1_000,
            due_per_command_max: 128,
            receipts_per_audit_max: 1_000,
            ulid_times: false,
            hash_seed: 0,
        }
    }
}

impl StateSettings {
    /// When the receipt of a sale that was made at `at` leaves, and the packets of a campaign that was over then. Receipts leave many at a time: as soon as their
    /// retention is over, rounded up to a slice of it, which is three hours for 90 days.
    #[must_use]
    pub fn receipt_due(&self, at: TimeMs) -> TimeMs {
        const SLICES: u64 = 720;
        let slice_ms = (self.receipt_retention_ms / SLICES).max(1);
        let over = at.saturating_add(self.receipt_retention_ms).min(INTEGER_MAX);
        over.div_ceil(slice_ms).saturating_mul(slice_ms).min(INTEGER_MAX)
    }

    /// How far ahead of the clock an id's time may be. Ids with a time expire this much before the end of
    /// the window, so that none can be forgotten while its own time is still within the window.
    #[must_use]
    pub const fn id_lead_ms_max(&self) -> u64 {
        self.window_ms_min / 10
    }

    /// How many new operation ids a partition can take every second in the long run: as many as are remembered at most,
    /// spread over the minimum window.
    #[must_use]
    pub const fn new_ids_per_second_max(&self) -> u64 {
        self.new_ids_per(1_000)
    }

    /// The same as people read it: the number, and for which time it is. A rate below ten is told for a longer time, so
    /// that a small one is not told as none.
    #[must_use]
    pub const fn new_ids_rate(&self) -> (u64, &'static str) {
        const RATE_MIN: u64 = 10;
        let (second, minute, hour) =
            (self.new_ids_per(1_000), self.new_ids_per(60_000), self.new_ids_per(3_600_000));
        match () {
            () if second >= RATE_MIN => (second, "a second"),
            () if minute >= RATE_MIN => (minute, "a minute"),
            () => (hour, "an hour"),
        }
    }

    const fn new_ids_per(&self, span_ms: u64) -> u64 {
        match (self.operations_max as u64).saturating_mul(span_ms).checked_div(self.window_ms_min) {
            Some(count) => count,
            None => u64::MAX,
        }
    }

    /// Makes steps as large as those of a batch's lines; a second call swaps the sizes back.
    pub(crate) const fn exchange_steps(&mut self) {
        std::mem::swap(&mut self.step_max, &mut self.batch_step_max);
        std::mem::swap(&mut self.packets_per_step_max, &mut self.batch_packets_max);
    }

    /// Sets one setting by name; step sizes are also set for the lines of batches.
    ///
    /// # Errors
    /// When no setting has this name, or the value is not a number (for `ulid_times`: `true` or `false`).
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        fn parsed<T: std::str::FromStr>(value: &str) -> Result<T, String> {
            value.parse().map_err(|_| format!("'{value}' is not a value that it can have"))
        }
        match name {
            "window_ms" => self.window_ms = parsed(value)?,
            "window_ms_min" => self.window_ms_min = parsed(value)?,
            "operations_max" => self.operations_max = parsed(value)?,
            "retention_ms" => self.retention_ms = parsed(value)?,
            "receipt_retention_ms" => self.receipt_retention_ms = parsed(value)?,
            "step_max" => (self.step_max, self.batch_step_max) = (parsed(value)?, parsed(value)?),
            "packets_per_step_max" => {
                (self.packets_per_step_max, self.batch_packets_max) = (parsed(value)?, parsed(value)?);
            }
            "due_per_command_max" => self.due_per_command_max = parsed(value)?,
            "receipts_per_audit_max" => self.receipts_per_audit_max = parsed(value)?,
            "ulid_times" => self.ulid_times = parsed(value)?,
            _ => return Err("is no setting".to_owned()),
        }
        Ok(())
    }
}

/// How many ended records, and how many counters of ended windows, are dropped for each event of an
/// entry: more than an event creates, so that memory use follows the window however large batches are.
pub const FORGOTTEN_PER_EVENT_MAX: usize = LIMITS_MAX + 4;

/// When an event happened, and which operation caused it.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The stamp.
    pub at: TimeMs,
    /// The caller's operation id; empty if the caller gave none.
    pub operation: &'a str,
}

impl<'a> Origin<'a> {
    pub(crate) fn of(at: TimeMs, operation: Option<&'a OperationMark>) -> Self {
        Self { at, operation: operation.map_or("", |mark| mark.id.as_str()) }
    }
}

/// The complete state of a partition.
#[derive(Debug)]
pub struct State {
    /// The settings that outcomes depend on besides the log.
    pub settings: StateSettings,
    /// The stamp of the last entry.
    pub at: TimeMs,
    /// Money.
    pub accounts: Accounts,
    /// Countable things.
    pub stock: StockItems,
    /// Red packets.
    pub campaigns: Campaigns,
    /// Quantity limits.
    pub coupons: Coupons,
    /// Order books.
    pub markets: Markets,
    /// Open holds and reservations by deadline.
    pub deadlines: Deadlines,
    /// Ended records by the time of their end.
    pub ended: Ended,
    /// The stored operations.
    pub operations: Operations,
    /// The operation whose next step must run before anything else.
    pub unfinished: Option<Unfinished>,
    /// How much of the stamps nothing confirms yet; see [`State::settled`].
    pub doubted_ms: u64,
}

reversible_fields!(State { accounts, stock, campaigns, coupons, markets, deadlines, ended });

impl State {
    /// An empty partition.
    #[must_use]
    pub fn new(settings: StateSettings) -> Self {
        let seed = settings.hash_seed;
        Self {
            settings,
            at: 0,
            accounts: Accounts::new(seed),
            stock: StockItems::new(seed),
            campaigns: Campaigns::new(seed),
            coupons: Coupons::new(seed),
            markets: Markets::new(seed),
            deadlines: Deadlines::default(),
            ended: Ended::default(),
            operations: Operations::new(seed),
            unfinished: None,
            doubted_ms: 0,
        }
    }

    /// The part of `now` that is beyond doubt: deadlines end and ids are forgotten by it, so that a clock that is wrong
    /// at a start ends nothing. What begins, and every new deadline, goes by the stamp itself.
    #[must_use]
    pub const fn settled(&self, now: TimeMs) -> TimeMs {
        now.saturating_sub(self.doubted_ms)
    }

    /// Whether a record that ended at `ended_at` is still visible under its name.
    #[must_use]
    pub fn is_retained(&self, ended_at: TimeMs, now: TimeMs) -> bool {
        ended_at.saturating_add(self.settings.retention_ms) > self.settled(now)
    }

    /// How many records there are of all kinds, remembered operations among them as far as they are in memory.
    #[must_use]
    pub fn record_count(&self) -> usize {
        self.resource_record_count() + self.operations.in_memory()
    }

    /// How many records there are of resources.
    #[must_use]
    pub fn resource_record_count(&self) -> usize {
        let resources = [
            self.accounts.record_count(),
            self.stock.record_count(),
            self.campaigns.record_count(),
            self.coupons.record_count(),
            self.markets.record_count(),
        ];
        resources.iter().sum()
    }

    /// The bytes that removed records left, and that the next new ones take.
    #[must_use]
    pub fn reusable_bytes(&self) -> usize {
        self.stock.reservations.reusable_bytes()
            + self.stock.owners.reusable_bytes()
            + self.campaigns.reusable_bytes()
            + self.coupons.reusable_bytes()
            + self.markets.orders.reusable_bytes()
    }

    /// Changes the state as the event says. Nothing else changes it, and it cannot fail.
    pub fn evolve(&mut self, event: &Event, origin: Origin<'_>) {
        match event {
            Event::Account(event) => crate::accounts::evolve(self, event, origin.at),
            Event::Stock(event) => crate::stock::evolve(self, event, origin),
            Event::Packets(event) => crate::packets::evolve(self, event, origin.at),
            Event::Coupon(event) => crate::coupons::evolve(self, event, origin.at),
            Event::Market(event) => crate::markets::evolve(self, event, origin.at),
            Event::Clock(ClockEvent::ClockDoubted(doubted)) => self.doubted_ms = doubted.doubted_ms,
            Event::Clock(ClockEvent::ClockConfirmed(_)) => self.doubted_ms = 0,
            Event::Clock(ClockEvent::ClockMoved(moved)) => {
                // Where it is now is certain, and so there is nothing left to doubt.
                self.doubted_ms = 0;
                self.operations.note_move(moved.from_ms, moved.to_ms);
            }
            // The entry as a whole settles the operations; see `Machine::settle`.
            Event::Operation(
                OperationEvent::OperationRefused(_)
                | OperationEvent::OperationResolved(_)
                | OperationEvent::OperationStepped(_)
                | OperationEvent::OperationUnchanged(_),
            ) => {}
        }
    }

    /// Drops ended records that no command can see any more, after an entry with the given number of
    /// events.
    pub(crate) fn forget(&mut self, now: TimeMs, events: usize) {
        let (now, count_max) = (self.settled(now), FORGOTTEN_PER_EVENT_MAX.saturating_mul(events));
        self.coupons.forget_windows(now, count_max);
        let Some(ended_at) = now.checked_sub(self.settings.retention_ms) else { return };
        for _ in 0..count_max {
            match self.ended.pop(ended_at) {
                None => break,
                Some(Over::Record(NamedKind::Hold, slot, record)) => self.accounts.forget(slot, &record),
                Some(Over::Record(NamedKind::Reservation, slot, record)) => self.stock.forget(slot, &record),
                Some(Over::Record(NamedKind::CouponClaim, slot, record)) => {
                    self.coupons.forget(slot, &record);
                }
                Some(Over::Order(row)) => {
                    self.markets.orders.remove_at(row);
                }
            }
        }
    }

    /// The sum of the digests of a resource's entities, or of all entities, as visible at the stamp of
    /// the last entry. Of one resource, only its own entities are looked at.
    #[must_use]
    pub fn digest(&self, only: Option<&Id>) -> u128 {
        let mut sum = Sum::new(only);
        self.add_to(only, &mut sum);
        sum.total()
    }

    /// Whether a digest looks at no more than so many entities.
    #[must_use]
    pub fn is_digest_within(&self, only: Option<&Id>, entities_max: usize) -> bool {
        if only.is_none() {
            return self.resource_record_count() <= entities_max;
        }
        let mut sum = Sum::new(only).up_to(entities_max);
        self.add_to(only, &mut sum);
        sum.has_room()
    }

    fn add_to(&self, only: Option<&Id>, sum: &mut Sum<'_>) {
        match only {
            None => {
                self.accounts.digest(self, sum);
                self.stock.digest(self, sum);
                self.campaigns.digest(sum);
                self.coupons.digest(self, sum);
                self.markets.digest(self, sum);
            }
            Some(id) => {
                self.accounts.digest_of(self, id, sum);
                self.stock.digest_of(self, id, sum);
                self.campaigns.digest_of(id, sum);
                self.coupons.digest_of(self, id, sum);
                self.markets.digest_of(self, id, sum);
            }
        }
    }

    /// Takes over the resources that go, from one partition after the other; [`State::settle_in`] comes last.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) {
        let accounts = self.accounts.take_over(&from.accounts, goes);
        let stock = self.stock.take_over(&from.stock, goes);
        self.campaigns.take_over(&from.campaigns, goes);
        let coupons = self.coupons.take_over(&from.coupons, goes);
        self.markets.take_over(&from.markets, goes);
        self.ended.take_over(&from.ended, |kind| match kind {
            NamedKind::Hold => &accounts,
            NamedKind::Reservation => &stock,
            NamedKind::CouponClaim => &coupons,
        });
    }

    /// Makes what follows from the resources that were taken over: books, and when records end.
    pub(crate) fn settle_in(&mut self) -> Result<(), Malformed> {
        self.markets.restore_books()?;
        self.accounts.queue_holds(&mut self.deadlines)?;
        self.stock.queue_reservations(&mut self.deadlines)?;
        self.ended.queue_orders(&self.markets)?;
        self.queue_receipts();
        self.queue_packets();
        Ok(())
    }

    /// What [`State::put`] writes between its first values and its last ones, in the same order, and what a machine writes
    /// at its end.
    pub(crate) fn sliced(&mut self) -> impl Iterator<Item = &mut dyn Sliced> {
        let Self { accounts, stock, campaigns, coupons, markets, ended, operations, .. } = self;
        let (stock, left_of_stock) = stock.sliced();
        let (campaigns, left_of_campaigns) = campaigns.sliced();
        let resources = accounts.sliced().into_iter().chain(stock).chain(campaigns).chain(coupons.sliced());
        let rest: [&mut dyn Sliced; 2] = [ended, operations];
        resources.chain(markets.sliced()).chain(rest).chain([left_of_stock, left_of_campaigns])
    }

    /// Appends everything, for a snapshot.
    pub fn put(&self, out: &mut PieceWriter<'_>) {
        out.value(&self.at);
        self.accounts.put(out);
        self.stock.put(out);
        self.campaigns.put(out);
        self.coupons.put(out);
        self.markets.put(out);
        self.ended.put(out);
        self.operations.put(out);
        out.value(&self.unfinished);
        out.value(&self.doubted_ms);
        self.operations.put_moves(out);
    }

    /// Reads what [`State::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode a state.
    pub fn load(settings: StateSettings, input: &mut PieceReader<'_>) -> Result<Self, Malformed> {
        let mut state = Self::new(settings);
        state.at = input.value()?;
        state.accounts.load(input, &mut state.deadlines)?;
        state.stock.load(input, &mut state.deadlines)?;
        state.campaigns.load(input)?;
        state.coupons.load(input)?;
        state.markets.load(input)?;
        state.ended.load(&state.markets, input)?;
        state.operations.load(input)?;
        state.unfinished = input.value()?;
        // A snapshot of a release that knew no doubts ends here.
        if !input.is_empty() {
            state.doubted_ms = input.value()?;
            state.operations.load_moves(input)?;
        }
        state.queue_receipts();
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_rate_of_ids_is_told_for_a_time_in_which_it_is_one() {
        let rate =
            |operations_max| StateSettings { operations_max, ..StateSettings::default() }.new_ids_rate();
        assert_eq!(rate(16_000_000), (26_666, "a second"));
        assert_eq!(rate(6_000), (10, "a second"));
        assert_eq!(rate(5_999), (599, "a minute"));
        assert_eq!(rate(100), (10, "a minute"));
        assert_eq!(rate(99), (594, "an hour"));
        assert_eq!(rate(1), (6, "an hour"));
    }
}
