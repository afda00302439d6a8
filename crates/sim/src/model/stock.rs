//! Stock: reserved and sold units and those of an owner are recounted from reservations and receipts.

use scarce_core::command::table::{
    StockConfirm, StockCreate, StockExtend, StockRelease, StockReserve, StockReturn, StockTake,
};
use scarce_core::facts;
use scarce_core::outcome::{Code, Refusal, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::{Asked, MAX, Model, deadline_after, figure, phase, refuse, within};

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) total: i128,
    pub(super) serial: i128,
    pub(super) per_owner_max: Option<u64>,
    pub(super) starts_at: Option<TimeMs>,
    pub(super) ends_at: Option<TimeMs>,
    pub(super) closed: bool,
    /// The last serial to recount and the last one recounted, while a recount is in progress.
    pub(super) audit: Option<(i128, i128)>,
}

#[derive(Clone, Debug)]
pub(super) struct Reservation {
    pub(super) sku: Id,
    pub(super) name: Id,
    pub(super) owner: Id,
    pub(super) quantity: i128,
    pub(super) status: &'static str,
    pub(super) deadline: TimeMs,
    pub(super) first_serial: i128,
    pub(super) ended_at: TimeMs,
}

/// A sale; returned serials are kept as ranges, exactly as they were returned.
#[derive(Clone, Debug)]
pub(super) struct Receipt {
    pub(super) sku: Id,
    pub(super) first: i128,
    pub(super) count: i128,
    pub(super) owner: Id,
    pub(super) operation: String,
    pub(super) at: TimeMs,
    pub(super) returned: Vec<(i128, i128)>,
    /// Whether its retention was over. It still says what was sold.
    pub(super) forgotten: bool,
}

impl Reservation {
    pub(super) fn is_due(&self, now: TimeMs) -> bool {
        self.status == "open" && now >= self.deadline
    }

    fn end(&mut self, status: &'static str, at: TimeMs) {
        (self.status, self.ended_at) = (status, at);
    }
}

impl Receipt {
    pub(super) fn returned_count(&self) -> i128 {
        self.returned.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn kept(&self) -> i128 {
        self.count - self.returned_count()
    }
}

impl Model {
    pub(super) fn reserved(&self, sku: &Id) -> i128 {
        let open = self.reservations.iter().filter(|its| its.sku == *sku && its.status == "open");
        open.map(|its| its.quantity).sum()
    }

    pub(super) fn receipts_of(&self, sku: &Id) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter().filter(move |receipt| receipt.sku == *sku)
    }

    pub(super) fn sold(&self, sku: &Id) -> i128 {
        self.receipts_of(sku).map(Receipt::kept).sum()
    }

    pub(super) fn units_available(&self, sku: &Id) -> i128 {
        self.items.get(sku).map_or(0, |item| item.total) - self.reserved(sku) - self.sold(sku)
    }

    /// The units that an owner has reserved and bought.
    pub(super) fn used_by(&self, sku: &Id, owner: &Id) -> i128 {
        let reserved = self.reservations.iter().filter(|its| its.sku == *sku && its.status == "open");
        let reserved = reserved.filter(|its| its.owner == *owner).map(|its| its.quantity).sum::<i128>();
        reserved + self.receipts_of(sku).filter(|its| its.owner == *owner).map(Receipt::kept).sum::<i128>()
    }

    fn item(&self, sku: &Id) -> Result<&Item, Refusal> {
        self.items.get(sku).ok_or_else(|| Refusal::new(Code::StockNotFound, facts![sku]))
    }

    fn item_not_closed(&self, sku: &Id) -> Result<&Item, Refusal> {
        let item = self.item(sku)?;
        if item.closed { refuse(Code::StockClosed, facts![sku]) } else { Ok(item) }
    }

    fn change_item(&mut self, sku: &Id, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.items.get_mut(sku) {
            change(item);
        }
    }

    /// Records that the last unit was sold, or that the first came back.
    fn note_availability(&mut self, sku: &Id, before: i128) {
        let after = self.units_available(sku);
        let closed = self.items.get(sku).is_some_and(|item| item.closed);
        if before > 0 && after == 0 {
            self.note("stock.sold_out");
        } else if before == 0 && after > 0 && !closed {
            self.note("stock.available_again");
        }
    }

    pub(super) fn create_stock(&mut self, c: &StockCreate) -> Verdict {
        if self.items.contains_key(&c.sku) {
            return refuse(Code::StockExists, facts![&c.sku]);
        }
        let item = Item {
            total: i128::from(c.quantity.get()),
            serial: 0,
            per_owner_max: c.per_owner_max.map(|max| max.get()),
            starts_at: c.starts_at.map(|at| at.get()),
            ends_at: c.ends_at.map(|at| at.get()),
            closed: false,
            audit: None,
        };
        self.items.insert(c.sku.clone(), item);
        self.note("stock.created");
        Ok(facts![c.quantity.get()])
    }

    pub(super) fn restock(&mut self, sku: &Id, quantity: i128) -> Verdict {
        self.change_total(sku, quantity, "stock.restocked")
    }

    pub(super) fn adjust(&mut self, sku: &Id, delta: i128) -> Verdict {
        self.change_total(sku, delta, "stock.adjusted")
    }

    fn change_total(&mut self, sku: &Id, delta: i128, event: &'static str) -> Verdict {
        let total = self.item_not_closed(sku)?.total + delta;
        let available = self.units_available(sku);
        if available + delta < 0 {
            return refuse(Code::InsufficientStock, facts![figure(available), figure(-delta)]);
        }
        if total > MAX {
            return refuse(Code::Overflow, facts!["total"]);
        }
        self.change_item(sku, |item| item.total = total);
        self.note(event);
        self.note_availability(sku, available);
        Ok(facts![figure(available + delta), figure(total)])
    }

    /// The checks shared by take and reserve; `taken` says whether the reservation's name is in use.
    fn check_sale(
        &self,
        sku: &Id,
        quantity: i128,
        owner: &Id,
        now: TimeMs,
        taken: Option<&Id>,
    ) -> Result<(), Refusal> {
        let item = self.item_not_closed(sku)?;
        within(item.starts_at, item.ends_at, now)?;
        if let Some(reservation) = taken {
            return refuse(Code::ReservationExists, facts![reservation]);
        }
        let used = self.used_by(sku, owner);
        if let Some(max) = item.per_owner_max.filter(|max| used + quantity > i128::from(*max)) {
            return refuse(Code::OwnerLimitReached, facts![figure(used), max]);
        }
        let available = self.units_available(sku);
        if available < quantity {
            let code = if available == 0 { Code::SoldOut } else { Code::InsufficientStock };
            return refuse(code, facts![figure(available), figure(quantity)]);
        }
        if item.serial + self.reserved(sku) + quantity > MAX {
            return refuse(Code::Overflow, facts!["serial"]);
        }
        Ok(())
    }

    /// Assigns serials and makes a receipt.
    fn sell(&mut self, sku: &Id, owner: &Id, count: i128, asked: Asked<'_>) -> i128 {
        let first = self.items.get(sku).map_or(0, |item| item.serial) + 1;
        self.change_item(sku, |item| item.serial += count);
        let (sku, owner, operation) = (sku.clone(), owner.clone(), asked.operation.to_owned());
        self.receipts.push(Receipt {
            sku,
            first,
            count,
            owner,
            operation,
            at: asked.now,
            returned: Vec::new(),
            forgotten: false,
        });
        first
    }

    pub(super) fn take(&mut self, c: &StockTake, asked: Asked<'_>) -> Verdict {
        let quantity = i128::from(c.quantity.get());
        self.check_sale(&c.sku, quantity, &c.owner, asked.now, None)?;
        let before = self.units_available(&c.sku);
        let first = self.sell(&c.sku, &c.owner, quantity, asked);
        self.note("stock.taken");
        self.note_availability(&c.sku, before);
        Ok(facts![figure(first), figure(self.units_available(&c.sku))])
    }

    fn visible_reservation(&self, sku: &Id, name: &Id, now: TimeMs) -> Option<&Reservation> {
        self.reservations.iter().find(|its| {
            let kept = its.status == "open" || self.is_retained(its.ended_at, now);
            its.sku == *sku && its.name == *name && kept
        })
    }

    pub(super) fn reserve(&mut self, c: &StockReserve, now: TimeMs) -> Verdict {
        let quantity = i128::from(c.quantity.get());
        let taken = self.visible_reservation(&c.sku, &c.reservation, now).map(|its| &its.name);
        self.check_sale(&c.sku, quantity, &c.owner, now, taken)?;
        let before = self.units_available(&c.sku);
        let deadline = deadline_after(now, c.ttl_ms.get());
        let (sku, name, owner) = (c.sku.clone(), c.reservation.clone(), c.owner.clone());
        self.reservations.retain(|its| its.sku != sku || its.name != name);
        let (status, first_serial, ended_at) = ("open", 0, 0);
        self.reservations.push(Reservation {
            sku,
            name,
            owner,
            quantity,
            status,
            deadline,
            first_serial,
            ended_at,
        });
        self.note("reservation.placed");
        self.note_availability(&c.sku, before);
        Ok(facts![deadline, figure(self.units_available(&c.sku))])
    }

    /// The index of the open reservation, or the refusal.
    fn open_reservation(&self, sku: &Id, name: &Id, now: TimeMs) -> Result<usize, Refusal> {
        let Some(its) = self.visible_reservation(sku, name, now) else {
            return refuse(Code::ReservationNotFound, facts![name]);
        };
        match its.status {
            "confirmed" => refuse(Code::ReservationConfirmed, facts![name]),
            "released" => refuse(Code::ReservationReleased, facts![name]),
            "expired" => refuse(Code::ReservationExpired, facts![name, its.deadline]),
            _ if its.is_due(now) => refuse(Code::ReservationExpired, facts![name, its.deadline]),
            _ => {
                Ok(self.reservations.iter().position(|its| its.sku == *sku && its.name == *name).unwrap_or(0))
            }
        }
    }

    pub(super) fn confirm(&mut self, c: &StockConfirm, asked: Asked<'_>) -> Verdict {
        let at = self.open_reservation(&c.sku, &c.reservation, asked.now)?;
        let (owner, quantity) = (self.reservations[at].owner.clone(), self.reservations[at].quantity);
        let first = self.sell(&c.sku, &owner, quantity, asked);
        self.reservations[at].end("confirmed", asked.now);
        self.reservations[at].first_serial = first;
        self.note("reservation.confirmed");
        Ok(facts![figure(first), figure(quantity)])
    }

    pub(super) fn release(&mut self, c: &StockRelease, now: TimeMs) -> Verdict {
        let at = self.open_reservation(&c.sku, &c.reservation, now)?;
        let before = self.units_available(&c.sku);
        self.reservations[at].end("released", now);
        self.note("reservation.released");
        self.note_availability(&c.sku, before);
        Ok(facts![figure(self.reservations[at].quantity), figure(self.units_available(&c.sku))])
    }

    pub(super) fn extend_reservation(&mut self, c: &StockExtend, now: TimeMs) -> Verdict {
        let at = self.open_reservation(&c.sku, &c.reservation, now)?;
        let deadline = deadline_after(now, c.ttl_ms.get());
        self.reservations[at].deadline = deadline;
        self.note("reservation.extended");
        Ok(facts![deadline])
    }

    pub(super) fn end_reservation(&mut self, sku: &Id, name: &Id) {
        let before = self.units_available(sku);
        if let Some(its) = self.reservations.iter_mut().find(|its| its.sku == *sku && its.name == *name) {
            its.end("expired", its.deadline);
        }
        self.note("reservation.expired");
        self.note_availability(sku, before);
    }

    /// When a receipt is no longer kept.
    fn receipt_due(&self, receipt: &Receipt) -> TimeMs {
        self.kept_until(receipt.at)
    }

    /// When something is no longer kept whose retention began at `at`.
    pub(super) fn kept_until(&self, at: TimeMs) -> TimeMs {
        let retention = i128::from(self.settings.receipt_retention_ms);
        let slice = (retention / 720).max(1);
        let over = (i128::from(at) + retention).min(MAX);
        u64::try_from(((over + slice - 1) / slice * slice).min(MAX)).unwrap_or(u64::MAX)
    }

    /// The items whose oldest receipts are due, with when they are.
    pub(super) fn due_sales(&self, now: TimeMs) -> impl Iterator<Item = (TimeMs, &Id)> {
        let oldest = self.items.keys().filter_map(|sku| self.receipts_of(sku).find(|its| !its.forgotten));
        oldest.map(|its| (self.receipt_due(its), &its.sku)).filter(move |(due, _)| *due <= now)
    }

    /// Forgets the oldest receipts of an item that are due: eight, each returned unit counting like one.
    pub(super) fn forget_sales(&mut self, sku: &Id, now: TimeMs) {
        let mut weight = 0;
        for at in 0..self.receipts.len() {
            let its = &self.receipts[at];
            if its.sku != *sku || its.forgotten {
                continue;
            }
            if weight >= 8 || self.receipt_due(its) > now {
                break;
            }
            weight += 1 + its.returned_count();
            self.receipts[at].forgotten = true;
        }
        let through = self.forgotten_through(sku);
        self.change_item(sku, |item| {
            item.audit = item.audit.map(|(horizon, last)| (horizon, last.max(through.min(horizon))));
        });
        self.note("stock.receipts_forgotten");
    }

    /// The last serial of an item's forgotten receipts.
    fn forgotten_through(&self, sku: &Id) -> i128 {
        self.receipts_of(sku)
            .filter(|its| its.forgotten)
            .map(|its| its.first + its.count - 1)
            .max()
            .unwrap_or(0)
    }

    pub(super) fn take_back(&mut self, c: &StockReturn, now: TimeMs) -> Verdict {
        self.item(&c.sku)?;
        let before = self.units_available(&c.sku);
        let (first, count) = (i128::from(c.first.get()), i128::from(c.count.get()));
        let over = |its: &Receipt| its.forgotten || self.receipt_due(its) <= now;
        if self
            .receipts_of(&c.sku)
            .any(|its| its.first <= first && first < its.first + its.count && over(its))
        {
            return refuse(Code::ReceiptExpired, facts![figure(first), figure(count)]);
        }
        let holds = |receipt: &&mut Receipt| {
            let within = receipt.first <= first && first + count <= receipt.first + receipt.count;
            let fresh = |(start, length): &(i128, i128)| start + length <= first || first + count <= *start;
            receipt.sku == c.sku && within && receipt.returned.iter().all(fresh)
        };
        let Some(receipt) = self.receipts.iter_mut().find(holds) else {
            return refuse(Code::UnitsNotSold, facts![figure(first), figure(count)]);
        };
        receipt.returned.push((first, count));
        self.note("stock.returned");
        self.note_availability(&c.sku, before);
        Ok(facts![figure(count), figure(self.units_available(&c.sku))])
    }

    pub(super) fn close_stock(&mut self, sku: &Id) -> Verdict {
        if !self.item(sku)?.closed {
            self.change_item(sku, |item| item.closed = true);
            self.note("stock.closed");
        }
        let figures = [self.units_available(sku), self.reserved(sku), self.sold(sku)].map(figure);
        Ok(figures.into_iter().collect())
    }

    /// The units up to a serial that are still sold.
    pub(super) fn kept_through(&self, sku: &Id, serial: i128) -> i128 {
        self.receipts_of(sku).filter(|receipt| receipt.first <= serial).map(Receipt::kept).sum()
    }

    pub(super) fn audit(&mut self, sku: &Id) -> Verdict {
        let item = self.item(sku)?;
        let (horizon, before) = item.audit.unwrap_or((item.serial, 0));
        // What was forgotten counts as recounted.
        let before = before.max(self.forgotten_through(sku).min(horizon));
        let piece =
            self.receipts_of(sku).filter(|receipt| receipt.first > before && receipt.first <= horizon);
        let last = piece.take(self.settings.receipts_per_audit_max).last();
        let through = last.map_or(before, |receipt| receipt.first + receipt.count - 1);
        let counted = self.kept_through(sku, through);
        let running = through < horizon;
        self.change_item(sku, |item| item.audit = running.then_some((horizon, through)));
        self.note(if running { "stock.audit_advanced" } else { "stock.audited" });
        let state = if running { "RUNNING" } else { "CONSISTENT" };
        Ok(facts![state, figure(counted), figure(through)])
    }

    pub(super) fn returned(&self, sku: &Id) -> i128 {
        self.receipts_of(sku).map(Receipt::returned_count).sum()
    }

    pub(super) fn show_stock(&self, sku: &Id, now: TimeMs) -> Verdict {
        let item = self.item(sku)?;
        let (available, reserved) = (self.units_available(sku), self.reserved(sku));
        let figures = [item.total, available, reserved, self.sold(sku), self.returned(sku)].map(figure);
        let status = phase(item.closed, item.starts_at, item.ends_at, now);
        let mut shown = facts![sku];
        shown.extend(figures);
        shown.extend(facts![item.per_owner_max, item.starts_at, item.ends_at, status]);
        Ok(shown)
    }

    pub(super) fn show_reservation(&self, sku: &Id, name: &Id, now: TimeMs) -> Verdict {
        let Some(its) = self.visible_reservation(sku, name, now) else {
            return refuse(Code::ReservationNotFound, facts![name]);
        };
        let status = if its.is_due(now) { "expired" } else { its.status };
        let serial = Some(its.first_serial).filter(|serial| *serial > 0).map(figure);
        Ok(facts![name, &its.owner, figure(its.quantity), status, its.deadline, serial])
    }
}
