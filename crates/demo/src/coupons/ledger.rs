//! The claims in the log, recounted here: by subject, and by the day of their timestamps.

use std::collections::{BTreeMap, BTreeSet};

use redis::Value;

use super::super::log::{Effects, Event, Log};
use super::shoppers::{COUPON, DAY_MS, Limit, OFFSET_MINUTES, limits};
use crate::failure::DemoError;
use scarce_client::{integer, text};

/// A claim in the log.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) user: String,
    device: String,
    /// The local day of its timestamp, in days since 1970.
    pub(super) day: u64,
    pub(super) redeemed: u64,
    /// It was used by someone other than its owner.
    pub(super) is_stolen: bool,
}

/// A counter of a limit: the limit's name, the subject, and the day, or 0 for a limit without days.
type Window = (&'static str, String, u64);

/// The folded log.
#[derive(Default)]
pub(super) struct Ledger {
    limits: Vec<Limit>,
    pub(super) claims: BTreeMap<u64, Claim>,
    /// The count of each window.
    pub(super) counts: BTreeMap<Window, u64>,
    /// The highest count in any window of each limit.
    pub(super) peaks: BTreeMap<&'static str, u64>,
    /// Windows that ever exceeded their limit.
    pub(super) exceeded: BTreeSet<Window>,
    /// The number of claims on each day, and of those that the engine counts in another.
    pub(super) days: BTreeMap<u64, u64>,
    pub(super) wrong_days: u64,
    pub(super) revoked: u64,
    /// Revocations whose effect differs from these rules, and serials out of order.
    pub(super) deviations: u64,
    pub(super) effects: Effects,
    /// What was left after each claim, and the indices of the kill and of midnight.
    pub(super) levels: Vec<u64>,
    pub(super) killed_at: Option<usize>,
    pub(super) midnight_at: Option<usize>,
}

/// The local day of a timestamp, in days since 1970.
pub(super) fn day_of(at: u64) -> u64 {
    (at + OFFSET_MINUTES * 60_000) / DAY_MS
}

impl Limit {
    /// The window in which this limit counts a claim.
    fn window(&self, claim: &Claim, day: u64) -> Window {
        let whom = match self.per {
            None => String::new(),
            Some("device") => claim.device.clone(),
            Some(_) => claim.user.clone(),
        };
        (self.name, whom, if self.is_daily { day } else { 0 })
    }
}

impl Ledger {
    /// Folds the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log, coupons: u64) -> Result<Self, DemoError> {
        log.fold(Self { limits: limits(coupons).to_vec(), ..Self::default() }, Self::fold)
    }

    fn fold(&mut self, event: &Event) -> Option<()> {
        if event.text("coupon") != COUPON {
            return Some(());
        }
        let last = self.levels.len().saturating_sub(1);
        if event.is_after_kill {
            self.killed_at.get_or_insert(last);
        }
        match event.name.as_str() {
            "coupon.claimed" => self.claim(event)?,
            "coupon.redeemed" => self.redeem(event)?,
            "coupon.revoked" => self.revoke(event)?,
            _ => return Some(()),
        }
        let all = self.counts.get(&("all", String::new(), 0)).copied().unwrap_or(0);
        self.levels.push(self.limits[0].max.saturating_sub(all));
        Some(())
    }

    fn claim(&mut self, event: &Event) -> Option<()> {
        let serial = event.number("serial")?;
        let subject = list(event, "subject");
        let named = |name: &str| {
            let found = subject.chunks(2).find(|pair| text(&pair[0]).as_deref() == Some(name))?;
            text(found.get(1)?)
        };
        let day = day_of(event.at);
        let (user, device) = (named("user")?, named("device").unwrap_or_default());
        let claim = Claim { user, device, day, redeemed: 0, is_stolen: false };
        if self.days.last_key_value().is_some_and(|(last, _)| *last < day) {
            self.midnight_at.get_or_insert(self.levels.len().saturating_sub(1));
        }
        *self.days.entry(day).or_default() += 1;
        let expected = self.limits.iter().map(|limit| if limit.is_daily { day.cast_signed() } else { 0 });
        let told = list(event, "windows");
        self.wrong_days += u64::from(!expected.eq(told.iter().filter_map(integer)));
        for limit in &self.limits {
            let window = limit.window(&claim, day);
            let count = self.counts.entry(window.clone()).or_default();
            *count += 1;
            let peak = self.peaks.entry(limit.name).or_default();
            *peak = (*peak).max(*count);
            if *count > limit.max {
                self.exceeded.insert(window);
            }
        }
        self.deviations += u64::from(serial != self.claims.len() as u64 + 1);
        self.claims.insert(serial, claim);
        self.effects.note(event, &["serial"]);
        Some(())
    }

    fn redeem(&mut self, event: &Event) -> Option<()> {
        let serial = event.number("serial")?;
        if let Some(claim) = self.claims.get_mut(&serial) {
            claim.redeemed += 1;
            claim.is_stolen |= claim.user != event.text("user");
        }
        self.effects.note(event, &["serial"]);
        Some(())
    }

    /// A revoked claim no longer counts, if its window is still open.
    fn revoke(&mut self, event: &Event) -> Option<()> {
        let serial = event.number("serial")?;
        let given_back: Vec<String> = list(event, "given_back").iter().filter_map(text).collect();
        self.revoked += 1;
        if let Some(claim) = self.claims.get(&serial) {
            let runs = |limit: &&Limit| !limit.is_daily || claim.day == day_of(event.at);
            let running: Vec<&Limit> = self.limits.iter().filter(runs).collect();
            self.deviations += u64::from(!running.iter().map(|limit| limit.name).eq(given_back.iter()));
            for limit in running {
                let count = self.counts.entry(limit.window(claim, claim.day)).or_default();
                *count = count.saturating_sub(1);
            }
        }
        self.effects.note_figures(event, vec![i64::try_from(given_back.len()).ok()?]);
        Some(())
    }

    /// The expected answer to this user's claim on a day: the first limit that blocks it and that limit's
    /// count.
    pub(super) fn in_the_way(&self, user: &str, device: &str, day: u64) -> Option<(&'static str, u64)> {
        let claim =
            Claim { user: user.to_owned(), device: device.to_owned(), day, redeemed: 0, is_stolen: false };
        self.limits.iter().find_map(|limit| {
            let used = self.counts.get(&limit.window(&claim, day)).copied().unwrap_or(0);
            (used >= limit.max).then_some((limit.name, used))
        })
    }
}

/// The elements of a field that is a list.
fn list<'a>(event: &'a Event, name: &str) -> &'a [Value] {
    match event.find(name) {
        Some(Value::Array(values)) => values,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::shoppers::{EVENING, MIDNIGHT};
    use super::*;

    #[test]
    fn a_millisecond_lies_between_the_days() {
        assert_eq!(day_of(EVENING) + 1, day_of(MIDNIGHT));
        assert_eq!(day_of(MIDNIGHT), day_of(MIDNIGHT + DAY_MS - 1));
    }
}
