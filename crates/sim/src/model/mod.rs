//! A reference model of the whole state machine, written from the semantics alone and as plainly as
//! possible: lists that are scanned, values that are recomputed from records, a full copy of the state
//! before anything that may be rolled back. It is slow and obvious; the core is fast. If the two differ,
//! one of them is wrong.

mod accounts;
mod coupons;
mod digest;
mod lists;
mod markets;
mod operations;
mod orders;
mod packets;
mod stock;

use std::collections::BTreeMap;

use scarce_core::command::{Body, Command, Envelope};
use scarce_core::facts;
use scarce_core::outcome::codes::Kind;
use scarce_core::outcome::{Code, Facts, Outcome, Refusal, Value, Verdict};
use scarce_core::state::StateSettings;
use scarce_core::types::{Id, TimeMs};

/// The largest magnitude of any number.
const MAX: i128 = (1 << 53) - 1;

/// The model's answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Applied with its values, or refused.
    pub outcome: Outcome,
    /// The stamp by which it was decided.
    pub at: TimeMs,
    /// Whether it is the first answer again.
    pub replayed: bool,
    /// The names of its events, in order, those of deadlines first.
    pub events: Vec<&'static str>,
}

/// The complete state of a partition.
#[derive(Clone, Debug)]
pub struct Model {
    settings: StateSettings,
    secret: [u8; 32],
    /// The stamp of the last entry that would have been logged.
    at: TimeMs,
    /// The last stamp.
    stamp: TimeMs,
    accounts: BTreeMap<Id, accounts::Account>,
    holds: Vec<accounts::Hold>,
    items: BTreeMap<Id, stock::Item>,
    reservations: Vec<stock::Reservation>,
    receipts: Vec<stock::Receipt>,
    campaigns: BTreeMap<Id, packets::Campaign>,
    coupons: BTreeMap<Id, coupons::Coupon>,
    markets: BTreeMap<Id, markets::Market>,
    operations: Vec<operations::Remembered>,
    /// The stamp of the youngest operation that was forgotten for lack of space.
    crowded_out: TimeMs,
    events: Vec<&'static str>,
}

/// What ends by time, in the order in which those of one millisecond do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Hold,
    Reservation,
    /// The retention of an item's oldest receipts.
    Sale,
    /// The retention of a campaign's packets.
    Share,
}

/// What a decision may use besides the command.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    now: TimeMs,
    operation: &'a str,
    /// Whether it is a line of an atomic batch, which must finish in one step.
    atomic: bool,
}

/// A signed number as a value.
fn figure(value: i128) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A deadline the given time after `now`, kept within the range.
fn deadline_after(now: TimeMs, ttl_ms: u64) -> TimeMs {
    let sum = i128::from(now) + i128::from(ttl_ms);
    u64::try_from(sum.min(MAX)).unwrap_or(u64::MAX)
}

fn refuse<T>(code: Code, facts: Facts) -> Result<T, Refusal> {
    Err(Refusal::new(code, facts))
}

/// Refuses before the start and from the end on.
fn within(starts_at: Option<u64>, ends_at: Option<u64>, now: TimeMs) -> Result<(), Refusal> {
    match (starts_at, ends_at) {
        (Some(start), _) if now < start => refuse(Code::NotStarted, facts![start, now]),
        (_, Some(end)) if now >= end => refuse(Code::Ended, facts![end, now]),
        _ => Ok(()),
    }
}

/// The word for the position of `now` relative to start and end.
fn phase(closed: bool, starts_at: Option<u64>, ends_at: Option<u64>, now: TimeMs) -> &'static str {
    match (closed, within(starts_at, ends_at, now)) {
        (true, _) => "closed",
        (false, Err(refusal)) if refusal.0.code == Code::NotStarted => "not_started",
        (false, Err(_)) => "ended",
        (false, Ok(())) => "open",
    }
}

impl Model {
    /// An empty partition.
    #[must_use]
    pub fn new(settings: StateSettings, secret: [u8; 32]) -> Self {
        Self {
            settings,
            secret,
            at: 0,
            stamp: 0,
            accounts: BTreeMap::new(),
            holds: Vec::new(),
            items: BTreeMap::new(),
            reservations: Vec::new(),
            receipts: Vec::new(),
            campaigns: BTreeMap::new(),
            coupons: BTreeMap::new(),
            markets: BTreeMap::new(),
            operations: Vec::new(),
            crowded_out: 0,
            events: Vec::new(),
        }
    }

    /// Forgets what a restart forgets: the stamps of commands that left nothing in the log.
    pub fn restart(&mut self) {
        self.stamp = self.at;
    }

    fn stamp(&mut self, clock: TimeMs) -> TimeMs {
        self.stamp = self.stamp.max(clock);
        self.stamp
    }

    /// Decides a request and applies it.
    pub fn submit(&mut self, envelope: &Envelope, clock: TimeMs) -> Reply {
        let now = self.stamp(clock);
        self.events.clear();
        if let Body::Single(Command::OperationResolve(resolve)) = &envelope.body {
            return self.resolve(&envelope.namespace, &resolve.operation, now);
        }
        if let Some(reply) = self.admit(envelope, now) {
            return reply;
        }
        self.end_due_of(envelope.commands(), now);
        let ended = self.events.len();
        let outcome = self.decide_whole(envelope, now);
        self.remember(envelope, &outcome, ended, now);
        self.reply(outcome, now)
    }

    /// Ends up to `limit` holds and reservations whose deadlines have passed, and forgets receipts; returns how many.
    pub fn expire(&mut self, limit: usize, clock: TimeMs) -> (usize, Vec<&'static str>) {
        let now = self.stamp(clock);
        self.events.clear();
        let mut ended = 0;
        loop {
            let mut due = self.due(now);
            due.truncate(limit - ended);
            if due.is_empty() {
                return (ended, std::mem::take(&mut self.events));
            }
            for (_, kind, resource, record) in &due {
                self.end_one(*kind, resource, record, now);
            }
            (self.at, ended) = (now, ended + due.len());
        }
    }

    /// What is due by now, in order: when it was, its kind, its resource and its name.
    fn due(&self, now: TimeMs) -> Vec<(TimeMs, Ending, Id, Id)> {
        let holds = self.holds.iter().filter(|hold| hold.is_due(now));
        let holds =
            holds.map(|its| (its.deadline.unwrap_or(0), Ending::Hold, its.account.clone(), its.name.clone()));
        let reservations = self.reservations.iter().filter(|reservation| reservation.is_due(now));
        let reservations =
            reservations.map(|its| (its.deadline, Ending::Reservation, its.sku.clone(), its.name.clone()));
        let sales = self.due_sales(now).map(|(due, sku)| (due, Ending::Sale, sku.clone(), sku.clone()));
        let shares = self.due_shares(now).map(|(due, id)| (due, Ending::Share, id.clone(), id.clone()));
        let mut due: Vec<_> = holds.chain(reservations).chain(sales).chain(shares).collect();
        due.sort();
        due
    }

    fn reply(&mut self, outcome: Outcome, at: TimeMs) -> Reply {
        Reply { outcome, at, replayed: false, events: std::mem::take(&mut self.events) }
    }

    fn note(&mut self, event: &'static str) {
        self.events.push(event);
    }

    /// Ends the due deadlines of the accounts and items that the commands name, each once.
    fn end_due_of(&mut self, commands: &[Command], now: TimeMs) {
        let mut seen = Vec::new();
        for command in commands {
            for named in named(command) {
                if !seen.contains(&named) {
                    self.end_due(named.0, &named.1, now);
                    seen.push(named);
                }
            }
        }
        if !self.events.is_empty() {
            self.at = now;
        }
    }

    fn end_due(&mut self, kinds: &[Ending], resource: &Id, now: TimeMs) {
        for kind in kinds {
            let due = self.due(now).into_iter().filter(|its| (its.1, &its.2) == (*kind, resource));
            let due: Vec<_> = due.take(self.settings.due_per_command_max).collect();
            for (.., record) in due {
                self.end_one(*kind, resource, &record, now);
            }
        }
    }

    fn end_one(&mut self, kind: Ending, resource: &Id, record: &Id, now: TimeMs) {
        match kind {
            Ending::Hold => self.end_hold(resource, record),
            Ending::Reservation => self.end_reservation(resource, record),
            Ending::Sale => self.forget_sales(resource, now),
            Ending::Share => self.forget_packets(resource),
        }
    }

    fn decide_whole(&mut self, envelope: &Envelope, now: TimeMs) -> Outcome {
        let operation = envelope.common.operation.as_ref().map_or("", |id| id.as_str());
        let atomic = matches!(envelope.body, Body::Atomic(_));
        let asked = Asked { now, operation, atomic };
        let before = self.clone();
        let mut lines = Facts::new();
        for (index, command) in envelope.commands().iter().enumerate() {
            match self.decide(command, asked) {
                Ok(facts) if !atomic => return Outcome::applied(facts),
                Ok(facts) => lines.push(Value::List(Outcome::applied(facts).to_values())),
                Err(refusal) => {
                    *self = before;
                    return if atomic { batch_refused(index, *refusal.0) } else { *refusal.0 };
                }
            }
        }
        Outcome::applied(lines)
    }

    fn decide(&mut self, command: &Command, asked: Asked<'_>) -> Verdict {
        use Command as C;
        let now = asked.now;
        match command {
            C::AccountOpen(c) => self.open(c),
            C::AccountCredit(c) => self.credit(c),
            C::AccountDebit(c) => self.debit(c),
            C::AccountTransfer(c) => self.transfer(c),
            C::AccountHold(c) => self.hold(c, now),
            C::AccountCapture(c) => self.capture(c, now),
            C::AccountVoid(c) => self.void(c, now),
            C::AccountExtend(c) => self.extend_hold(c, now),
            C::AccountFreeze(c) => self.set_status(&c.account, "frozen"),
            C::AccountUnfreeze(c) => self.set_status(&c.account, "open"),
            C::AccountClose(c) => self.close_account(&c.account),
            C::AccountOverdraft(c) => self.set_overdraft(c),
            C::StockCreate(c) => self.create_stock(c),
            C::StockRestock(c) => self.restock(&c.sku, i128::from(c.quantity.get())),
            C::StockAdjust(c) => self.adjust(&c.sku, i128::from(c.delta.get())),
            C::StockTake(c) => self.take(c, asked),
            C::StockReserve(c) => self.reserve(c, now),
            C::StockConfirm(c) => self.confirm(c, asked),
            C::StockRelease(c) => self.release(c, now),
            C::StockExtend(c) => self.extend_reservation(c, now),
            C::StockReturn(c) => self.take_back(c, now),
            C::StockClose(c) => self.close_stock(&c.sku),
            C::StockAudit(c) => self.audit(&c.sku),
            C::PacketCreate(c) => self.create_campaign(c, asked),
            C::PacketClaim(c) => self.claim_packet(c, now),
            C::PacketClose(c) => self.close_campaign(&c.campaign, now),
            C::CouponCreate(c) => self.create_coupon(c),
            C::CouponUpdate(c) => self.update_coupon(c),
            C::CouponClaim(c) => self.claim_coupon(c, now),
            C::CouponRedeem(c) => self.redeem(c, now),
            C::CouponRevoke(c) => self.revoke(c, now),
            C::CouponPause(c) => self.set_paused(&c.coupon, true),
            C::CouponResume(c) => self.set_paused(&c.coupon, false),
            C::MarketCreate(c) => self.create_market(c),
            C::MarketHalt(c) => self.set_halted(&c.market, true),
            C::MarketResume(c) => self.set_halted(&c.market, false),
            C::OrderPlace(c) => self.place(c, asked),
            C::OrderCancel(c) => self.cancel(c, now),
            C::OrderReduce(c) => self.reduce(c, now),
            C::OrderReplace(c) => self.replace(c, asked),
            C::OrderCancelAll(c) => self.cancel_all(c, asked),
            _ => Err(Refusal::invalid("command", "is not one that an operation carries out")),
        }
    }

    /// Answers a command that only reads.
    #[must_use]
    pub fn query(&self, namespace: &str, command: &Command, clock: TimeMs) -> Outcome {
        use Command as C;
        let now = clock.max(self.stamp);
        let verdict = match command {
            C::AccountGet(c) => self.show_account(&c.account),
            C::AccountHolds(c) => self.show_holds(c, now),
            C::AccountWorld(c) => self.show_world(&c.asset),
            C::StockGet(c) => self.show_stock(&c.sku, now),
            C::StockReservation(c) => self.show_reservation(&c.sku, &c.reservation, now),
            C::PacketGet(c) => self.show_campaign(&c.campaign, now),
            C::PacketClaims(c) => self.list_packets(c, now),
            C::PacketClaimed(c) => self.show_packet(&c.campaign, &c.user, now),
            C::CouponCheck(c) => self.check_claim(&c.coupon, &c.subject, now).map(|_| facts![]),
            C::CouponClaimed(c) => self.show_claim(&c.coupon, c.serial.get(), now),
            C::CouponGet(c) => self.show_coupon(&c.coupon, now),
            C::MarketGet(c) => self.show_market(&c.market),
            C::MarketDepth(c) => self.show_depth(&c.market, c.levels.get()),
            C::MarketTrades(c) => self.show_trades(&c.market, c.count.get()),
            C::MarketTicker(c) => self.show_ticker(&c.market),
            C::OrderList(c) => self.list_orders(c),
            C::OrderGet(c) => self.show_order(&c.market, &c.order, now),
            _ if command.page().is_some() => self.list(command, now),
            C::OperationGet(c) => self.show_operation(namespace, &c.operation, now),
            C::Digest(c) => Ok(facts![format!("{:032x}", self.digest(c.resource.0.as_ref())).as_str()]),
            _ => Err(Refusal::invalid("command", "is not one that reads")),
        };
        verdict.map_or_else(|refusal| *refusal.0, Outcome::applied)
    }

    /// Whether a record that ended then is still visible under its name.
    fn is_retained(&self, ended_at: TimeMs, now: TimeMs) -> bool {
        i128::from(ended_at) + i128::from(self.settings.retention_ms) > i128::from(now)
    }
}

fn batch_refused(index: usize, line: Outcome) -> Outcome {
    let facts = facts![index as u64, line.code.word(), line.facts.into_vec()];
    Outcome { code: Code::BatchRefused, facts }
}

/// Whether a refusal of the command is stored under its operation id.
fn is_remembered(envelope: &Envelope, outcome: &Outcome) -> bool {
    let kept = envelope.commands().iter().any(|command| {
        let group = command.spec().group();
        ["ACCOUNT", "ORDER"].contains(&group)
    });
    match outcome.code.kind() {
        Kind::Applied => true,
        Kind::Refusal => kept,
        Kind::Rejected | Kind::Failure => false,
    }
}

/// The accounts (true) and stock items (false) that a command names, in order.
fn named(command: &Command) -> Vec<(&'static [Ending], Id)> {
    let kinds: &[Ending] = match command.spec().group() {
        "ACCOUNT" => &[Ending::Hold],
        "STOCK" => &[Ending::Reservation, Ending::Sale],
        "PACKET" => &[Ending::Share],
        _ => return Vec::new(),
    };
    let mut ids = Vec::new();
    command.route(&mut |id| ids.push(id.clone()));
    ids.into_iter().map(|id| (kinds, id)).collect()
}
