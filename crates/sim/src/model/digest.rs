//! The digest, from the documented record layouts: kind, resource, fields.

use std::collections::BTreeMap;

use compact_str::CompactString;
use scarce_core::codec::Wire;
use scarce_core::digest::{Kind, Sum};
use scarce_core::types::Id;

use super::Model;
use super::coupons::{Coupon, values, window_at};
use super::packets::commitment;
use super::stock::Receipt;

/// The index of a word among the possible words of a record.
fn place(word: &str, words: &[&str]) -> u8 {
    let at = words.iter().position(|its| *its == word).unwrap_or(usize::MAX);
    u8::try_from(at).unwrap_or(u8::MAX)
}

fn number(value: i128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl Model {
    /// The digest of a resource or of everything, as visible at the stamp of the last entry.
    #[must_use]
    pub fn digest(&self, only: Option<&Id>) -> u128 {
        let mut sum = Sum::new(only);
        self.digest_accounts(&mut sum);
        self.digest_items(&mut sum);
        self.digest_sales(&mut sum);
        self.digest_campaigns(&mut sum);
        self.digest_coupons(&mut sum);
        self.digest_markets(&mut sum);
        sum.total()
    }

    fn digest_accounts(&self, sum: &mut Sum<'_>) {
        for (id, account) in &self.accounts {
            sum.add(Kind::Account, id, |out| {
                account.asset.put(out);
                i64::try_from(account.balance).unwrap_or(i64::MAX).put(out);
                number(self.held(id)).put(out);
                number(account.overdraft).put(out);
                out.push(place(account.status, &["open", "frozen", "closed"]));
            });
        }
        for hold in &self.holds {
            if hold.status == "open" || self.is_retained(hold.ended_at, self.at) {
                sum.add(Kind::Hold, &hold.account, |out| {
                    hold.name.put(out);
                    number(hold.amount).put(out);
                    out.push(place(hold.status, &["open", "captured", "voided", "expired"]));
                    hold.deadline.put(out);
                    hold.ended_at.put(out);
                });
            }
        }
    }

    fn digest_items(&self, sum: &mut Sum<'_>) {
        for (sku, item) in &self.items {
            let figures = [
                item.total,
                self.units_available(sku),
                self.reserved(sku),
                self.sold(sku),
                self.returned(sku),
                item.serial,
            ];
            let audit = item.audit.map(|(horizon, through)| {
                [horizon, through, self.kept_through(sku, through), self.kept_through(sku, horizon)]
            });
            sum.add(Kind::Stock, sku, |out| {
                figures.iter().for_each(|figure| number(*figure).put(out));
                item.per_owner_max.put(out);
                item.starts_at.put(out);
                item.ends_at.put(out);
                item.closed.put(out);
                audit.is_some().put(out);
                audit.iter().flatten().for_each(|figure| number(*figure).put(out));
            });
        }
        for its in &self.reservations {
            if its.status == "open" || self.is_retained(its.ended_at, self.at) {
                sum.add(Kind::Reservation, &its.sku, |out| {
                    its.name.put(out);
                    its.owner.put(out);
                    number(its.quantity).put(out);
                    out.push(place(its.status, &["open", "confirmed", "released", "expired"]));
                    its.deadline.put(out);
                    number(its.first_serial).put(out);
                    its.ended_at.put(out);
                });
            }
        }
    }

    fn digest_sales(&self, sum: &mut Sum<'_>) {
        for receipt in self.receipts.iter().filter(|its| !its.forgotten) {
            sum.add(Kind::StockReceipt, &receipt.sku, |out| {
                number(receipt.first).put(out);
                number(receipt.count).put(out);
                number(receipt.returned_count()).put(out);
                receipt.owner.put(out);
                CompactString::from(receipt.operation.as_str()).put(out);
                receipt.at.put(out);
                returned_ranges(receipt).put(out);
            });
        }
        let reserved = self.reservations.iter().map(|its| (&its.sku, &its.owner));
        let bought = self.receipts.iter().map(|its| (&its.sku, &its.owner));
        let mut owners: Vec<(&Id, &Id)> = reserved.chain(bought).collect();
        owners.sort();
        owners.dedup();
        for (sku, owner) in owners {
            let counted = self.items.get(sku).is_some_and(|item| item.per_owner_max.is_some());
            let used = self.used_by(sku, owner);
            if counted && used > 0 {
                sum.add(Kind::StockOwner, sku, |out| {
                    owner.put(out);
                    number(used).put(out);
                });
            }
        }
    }

    fn digest_campaigns(&self, sum: &mut Sum<'_>) {
        for (id, its) in &self.campaigns {
            sum.add(Kind::Campaign, id, |out| {
                its.asset.put(out);
                its.count().put(out);
                its.total().put(out);
                its.method.put(out);
                its.min.put(out);
                its.max.put(out);
                its.starts_at.put(out);
                its.ends_at.put(out);
                its.seed.filter(|_| its.closed_at.is_some()).put(out);
                commitment(its).put(out);
                its.count().put(out);
                its.claimed_count().put(out);
                its.claimed_amount().put(out);
                its.closed_at.put(out);
            });
            for (packet, amount) in (1_u64..).zip(its.amounts.iter().take(its.claims.len())).skip(its.left) {
                sum.add(Kind::Packet, id, |out| (packet, *amount).put(out));
            }
            for (packet, (user, at)) in (1_u64..).zip(&its.claims).skip(its.left) {
                sum.add(Kind::PacketClaim, id, |out| {
                    user.put(out);
                    (packet, *at).put(out);
                });
            }
        }
    }

    fn digest_coupons(&self, sum: &mut Sum<'_>) {
        for (id, coupon) in &self.coupons {
            sum.add(Kind::Coupon, id, |out| {
                coupon.limits.put(out);
                coupon.starts_at.put(out);
                coupon.ends_at.put(out);
                coupon.claim_ttl_ms.put(out);
                coupon.paused.put(out);
                (coupon.claims.len() as u64).put(out);
            });
            self.digest_counters(id, coupon, sum);
            for (serial, claim) in (1_u64..).zip(&coupon.claims) {
                if self.visible_claim(id, serial, self.at).is_none() {
                    continue;
                }
                let status = if claim.is_expired(self.at) { "expired" } else { claim.status };
                sum.add(Kind::CouponClaim, id, |out| {
                    serial.put(out);
                    claim.subject.put(out);
                    out.push(place(status, &["open", "redeemed", "revoked", "expired"]));
                    claim.windows.put(out);
                    claim.at.put(out);
                    claim.deadline.put(out);
                    claim.ended_at.put(out);
                });
            }
        }
    }

    /// The current use of every limit by every subject, in the window that contains the stamp.
    fn digest_counters(&self, id: &Id, coupon: &Coupon, sum: &mut Sum<'_>) {
        for (place, limit) in coupon.limits.iter().enumerate() {
            let (window, _) = window_at(limit.shape.window, self.at);
            let mut counted: BTreeMap<String, u64> = BTreeMap::new();
            for claim in &coupon.claims {
                let subject: Vec<String> =
                    values(limit, &claim.subject).iter().flatten().map(Id::to_string).collect();
                counted.insert(subject.join("|"), coupon.used(place, &claim.subject, window));
            }
            for (subject, used) in counted.into_iter().filter(|(_, used)| *used > 0) {
                sum.add(Kind::CouponCounter, id, |out| {
                    Some(limit.name.clone()).put(out);
                    window.put(out);
                    CompactString::from(subject.as_str()).put(out);
                    used.put(out);
                });
            }
        }
    }

    fn digest_markets(&self, sum: &mut Sum<'_>) {
        for (id, market) in &self.markets {
            sum.add(Kind::Market, id, |out| {
                [market.tick, market.lot, market.min_quantity, market.max_quantity]
                    .iter()
                    .for_each(|figure| figure.put(out));
                market.halted.put(out);
                market.trades.put(out);
            });
            for order in &market.orders {
                if order.ended_at.is_some_and(|end| !self.is_retained(end, self.at)) {
                    continue;
                }
                sum.add(Kind::Order, id, |out| {
                    order.name.put(out);
                    order.owner.put(out);
                    order.side.put(out);
                    order.price.put(out);
                    order.remaining.put(out);
                    order.filled.put(out);
                    order.tif.put(out);
                    order.stp.put(out);
                    out.push(place(order.status(), &["open", "partially_filled", "filled", "cancelled"]));
                    order.cancelled.is_some().put(out);
                    let reasons = ["", "requested", "unfilled", "self_trade"];
                    order.cancelled.iter().for_each(|reason| out.push(place(reason, &reasons)));
                });
            }
        }
    }
}

/// The returned serials of a receipt as ranges, none adjacent.
fn returned_ranges(receipt: &Receipt) -> Vec<(u64, u64)> {
    let mut ranges = receipt.returned.clone();
    ranges.sort_unstable();
    let mut joined: Vec<(i128, i128)> = Vec::new();
    for (first, count) in ranges {
        match joined.last_mut().filter(|last| last.0 + last.1 == first) {
            Some(last) => last.1 += count,
            None => joined.push((first, count)),
        }
    }
    joined.into_iter().map(|(first, count)| (number(first), number(count))).collect()
}
