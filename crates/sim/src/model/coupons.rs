//! Coupons: every counter is recounted from the claims.

use scarce_core::command::shapes::{CalendarUnit, LIMITS_MAX, Limit, Subject, Window};
use scarce_core::command::table::{CouponClaim, CouponCreate, CouponRedeem, CouponRevoke, CouponUpdate};
use scarce_core::event::Shown;
use scarce_core::facts;
use scarce_core::outcome::{Code, Refusal, Value, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::{MAX, Model, deadline_after, figure, phase, refuse, within};

#[derive(Clone, Debug)]
pub(super) struct Coupon {
    pub(super) limits: Vec<Limit>,
    pub(super) starts_at: Option<TimeMs>,
    pub(super) ends_at: Option<TimeMs>,
    pub(super) claim_ttl_ms: Option<u64>,
    pub(super) paused: bool,
    pub(super) claims: Vec<Claim>,
}

/// A claim; its serial is its position in the list.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) subject: Subject,
    pub(super) at: TimeMs,
    pub(super) deadline: Option<TimeMs>,
    pub(super) status: &'static str,
    /// When it was redeemed or revoked.
    pub(super) ended_at: TimeMs,
    /// For each limit that the coupon had, in order, the window in which the claim counts.
    pub(super) windows: Vec<i64>,
    /// For each of those, whether it still counts.
    pub(super) counts: Vec<bool>,
}

impl Claim {
    pub(super) fn is_expired(&self, now: TimeMs) -> bool {
        self.status == "open" && self.deadline.is_some_and(|deadline| now >= deadline)
    }

    /// When it ended, if it has.
    fn end(&self, now: TimeMs) -> Option<TimeMs> {
        match self.status {
            "open" => self.deadline.filter(|_| self.is_expired(now)),
            _ => Some(self.ended_at),
        }
    }
}

/// The values of a limit's dimensions.
pub(super) fn values(limit: &Limit, subject: &Subject) -> Vec<Option<Id>> {
    limit.shape.per.iter().map(|dimension| subject.get(dimension).cloned()).collect()
}

impl Coupon {
    /// How many claims count in the limit with the index `place`, for that subject, in that window.
    pub(super) fn used(&self, place: usize, subject: &Subject, window: i64) -> u64 {
        let limit = &self.limits[place];
        let wanted = values(limit, subject);
        let counts = |claim: &&Claim| {
            claim.counts.get(place) == Some(&true)
                && claim.windows.get(place) == Some(&window)
                && values(limit, &claim.subject) == wanted
        };
        self.claims.iter().filter(counts).count() as u64
    }
}

impl Model {
    fn coupon(&self, coupon: &Id) -> Result<&Coupon, Refusal> {
        self.coupons.get(coupon).ok_or_else(|| Refusal::new(Code::CouponNotFound, facts![coupon]))
    }

    pub(super) fn create_coupon(&mut self, c: &CouponCreate) -> Verdict {
        if self.coupons.contains_key(&c.coupon) {
            return refuse(Code::CouponExists, facts![&c.coupon]);
        }
        let coupon = Coupon {
            limits: c.limits.0.clone(),
            starts_at: c.starts_at.map(|at| at.get()),
            ends_at: c.ends_at.map(|at| at.get()),
            claim_ttl_ms: c.claim_ttl_ms.map(|ttl| ttl.get()),
            paused: false,
            claims: Vec::new(),
        };
        let count = coupon.limits.len() as u64;
        self.coupons.insert(c.coupon.clone(), coupon);
        self.note("coupon.created");
        Ok(facts![count])
    }

    pub(super) fn update_coupon(&mut self, c: &CouponUpdate) -> Verdict {
        let before = self.coupon(&c.coupon)?.limits.clone();
        let mut limits = before.clone();
        for change in &c.limits.0 {
            match (limits.iter_mut().find(|limit| limit.name == change.name), &change.shape) {
                (Some(limit), Some(shape)) if limit.shape != *shape => {
                    return Err(Refusal::invalid("limits", "cannot change what a limit counts"));
                }
                (Some(limit), _) => limit.max = change.max,
                (None, Some(shape)) => {
                    limits.push(Limit { name: change.name.clone(), max: change.max, shape: shape.clone() });
                }
                (None, None) => return Err(Refusal::invalid("limits", "need PER and WINDOW when new")),
            }
        }
        if limits.len() > LIMITS_MAX {
            return Err(Refusal::invalid("limits", "are more than 16"));
        }
        let count = limits.len() as u64;
        if limits != before {
            if let Some(coupon) = self.coupons.get_mut(&c.coupon) {
                coupon.limits = limits;
            }
            self.note("coupon.updated");
        }
        Ok(facts![count])
    }

    /// Whether the subject can claim now; returns the windows in which the claim counts.
    pub(super) fn check_claim(&self, id: &Id, subject: &Subject, now: TimeMs) -> Result<Vec<i64>, Refusal> {
        let coupon = self.coupon(id)?;
        if coupon.paused {
            return refuse(Code::CouponPaused, facts![id]);
        }
        within(coupon.starts_at, coupon.ends_at, now)?;
        for limit in &coupon.limits {
            let missing = limit.shape.per.iter().find(|dimension| subject.get(dimension).is_none());
            if let Some(dimension) = missing {
                return refuse(Code::SubjectIncomplete, facts![&limit.name, dimension.as_str()]);
            }
        }
        let mut windows = Vec::new();
        for (place, limit) in coupon.limits.iter().enumerate() {
            let (window, resets_at) = window_at(limit.shape.window, now);
            let (used, max) = (coupon.used(place, subject, window), limit.max.get());
            if used >= max {
                return refuse(Code::LimitReached, facts![&limit.name, used, max, resets_at.map(figure)]);
            }
            windows.push(window);
        }
        Ok(windows)
    }

    pub(super) fn claim_coupon(&mut self, c: &CouponClaim, now: TimeMs) -> Verdict {
        let windows = self.check_claim(&c.coupon, &c.subject, now)?;
        let deadline = self.coupon(&c.coupon)?.claim_ttl_ms.map(|ttl| deadline_after(now, ttl));
        let (status, counts) = ("open", vec![true; windows.len()]);
        let claim =
            Claim { subject: c.subject.clone(), at: now, deadline, status, ended_at: 0, windows, counts };
        let mut serial = 0;
        if let Some(coupon) = self.coupons.get_mut(&c.coupon) {
            coupon.claims.push(claim);
            serial = coupon.claims.len() as u64;
        }
        self.note("coupon.claimed");
        Ok(facts![serial, deadline])
    }

    /// A claim whose retention has not ended.
    pub(super) fn visible_claim(&self, coupon: &Id, serial: u64, now: TimeMs) -> Option<&Claim> {
        let at = usize::try_from(serial).ok()?.checked_sub(1)?;
        let claim = self.coupons.get(coupon)?.claims.get(at)?;
        let gone = claim.end(now).is_some_and(|end| !self.is_retained(end, now));
        Some(claim).filter(|_| !gone)
    }

    fn found_claim(&self, coupon: &Id, serial: u64, now: TimeMs) -> Result<&Claim, Refusal> {
        self.visible_claim(coupon, serial, now)
            .ok_or_else(|| Refusal::new(Code::ClaimNotFound, facts![serial]))
    }

    fn check_open(claim: &Claim, serial: u64, now: TimeMs) -> Result<(), Refusal> {
        match claim.status {
            "redeemed" => refuse(Code::ClaimRedeemed, facts![serial]),
            "revoked" => refuse(Code::ClaimRevoked, facts![serial]),
            _ if claim.is_expired(now) => refuse(Code::ClaimExpired, facts![serial, claim.deadline]),
            _ => Ok(()),
        }
    }

    fn change_claim(&mut self, coupon: &Id, serial: u64, change: impl FnOnce(&[Limit], &mut Claim)) {
        let Some(coupon) = self.coupons.get_mut(coupon) else { return };
        let at = usize::try_from(serial).unwrap_or(0).saturating_sub(1);
        if let Some(claim) = coupon.claims.get_mut(at) {
            change(&coupon.limits, claim);
        }
    }

    pub(super) fn redeem(&mut self, c: &CouponRedeem, now: TimeMs) -> Verdict {
        let serial = c.serial.get();
        let claim = self.found_claim(&c.coupon, serial, now)?;
        if claim.subject.user() != Some(&c.user) {
            return refuse(Code::NotOwner, facts![]);
        }
        Self::check_open(claim, serial, now)?;
        self.change_claim(&c.coupon, serial, |_, claim| {
            (claim.status, claim.ended_at) = ("redeemed", now);
        });
        self.note("coupon.redeemed");
        Ok(facts![serial])
    }

    pub(super) fn revoke(&mut self, c: &CouponRevoke, now: TimeMs) -> Verdict {
        let serial = c.serial.get();
        Self::check_open(self.found_claim(&c.coupon, serial, now)?, serial, now)?;
        let mut given_back = 0_u64;
        self.change_claim(&c.coupon, serial, |limits, claim| {
            (claim.status, claim.ended_at) = ("revoked", now);
            for (place, counts) in claim.counts.iter_mut().enumerate() {
                let runs = window_at(limits[place].shape.window, now).0 == claim.windows[place];
                if c.give_back && runs {
                    *counts = false;
                    given_back += 1;
                }
            }
        });
        self.note("coupon.revoked");
        Ok(facts![given_back])
    }

    pub(super) fn set_paused(&mut self, id: &Id, paused: bool) -> Verdict {
        if self.coupon(id)?.paused != paused {
            if let Some(coupon) = self.coupons.get_mut(id) {
                coupon.paused = paused;
            }
            self.note(if paused { "coupon.paused" } else { "coupon.resumed" });
        }
        Ok(facts![if paused { "paused" } else { "open" }])
    }

    pub(super) fn show_claim(&self, coupon: &Id, serial: u64, now: TimeMs) -> Verdict {
        let claim = self.found_claim(coupon, serial, now)?;
        let status = if claim.is_expired(now) { "expired" } else { claim.status };
        Ok(facts![serial, claim.subject.user().map(Value::from), status, claim.at, claim.deadline])
    }

    pub(super) fn show_coupon(&self, id: &Id, now: TimeMs) -> Verdict {
        let coupon = self.coupon(id)?;
        let status = match coupon.paused {
            true => "paused",
            false => phase(false, coupon.starts_at, coupon.ends_at, now),
        };
        let limits: Vec<Value> = coupon.limits.iter().map(Shown::shown).collect();
        let claimed = coupon.claims.len() as u64;
        Ok(facts![id, status, claimed, coupon.starts_at, coupon.ends_at, coupon.claim_ttl_ms, limits])
    }
}

const MINUTE_MS: i128 = 60_000;
const DAY_MS: i128 = 86_400_000;

/// The index of the window that contains `now`, and when it ends.
pub(super) fn window_at(window: Window, now: TimeMs) -> (i64, Option<i128>) {
    let now = i128::from(now);
    let number = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
    match window {
        Window::None => (0, None),
        Window::Fixed(duration) => {
            let duration = i128::from(duration.get());
            (number(now / duration), Some(((now / duration + 1) * duration).min(MAX)))
        }
        Window::Calendar(unit, offset_minutes) => {
            let offset = i128::from(offset_minutes) * MINUTE_MS;
            let (index, ends) = calendar_at(unit, now + offset);
            (number(index), Some(ends - offset))
        }
    }
}

/// The index of the calendar unit in local time, and when it ends.
fn calendar_at(unit: CalendarUnit, local: i128) -> (i128, i128) {
    let even = |length: i128, shift: i128| {
        let index = (local + shift).div_euclid(length);
        (index, (index + 1) * length - shift)
    };
    match unit {
        CalendarUnit::Hour => even(3_600_000, 0),
        CalendarUnit::Day => even(DAY_MS, 0),
        // The epoch was a Thursday, three days after a Monday.
        CalendarUnit::Week => even(7 * DAY_MS, 3 * DAY_MS),
        CalendarUnit::Month => month_at(local.div_euclid(DAY_MS)),
    }
}

/// Counts months from January 1970 one by one.
fn month_at(day: i128) -> (i128, i128) {
    let (mut month, mut start) = (0_i128, 0_i128);
    while day < start {
        month -= 1;
        start -= days_in(month);
    }
    while day >= start + days_in(month) {
        start += days_in(month);
        month += 1;
    }
    (month, (start + days_in(month)) * DAY_MS)
}

fn days_in(month: i128) -> i128 {
    let year = 1970 + month.div_euclid(12);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month.rem_euclid(12) {
        1 if leap => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}
