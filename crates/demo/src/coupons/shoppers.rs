//! The shoppers: each wants more coupons than the limits allow, on the evening before the sale and in its
//! first minutes.

use std::collections::BTreeMap;

use super::super::ask::{Ask, CallerAnswer, Deed, Request};
use super::super::crowd::{Crowd, Draw};
use super::super::proof::grouped;
use super::super::record::{Noted, Record};
use scarce_client::text;

/// The coupon.
pub(super) const COUPON: &str = "singles-day";

/// The offset of local time from UTC.
pub(super) const OFFSET_MINUTES: u64 = 480;

/// A day, in milliseconds.
pub(super) const DAY_MS: u64 = 86_400_000;

/// 11 November 2026, 00:00 at the offset, in milliseconds since the Unix epoch.
pub(super) const MIDNIGHT: u64 = 20_768 * DAY_MS - OFFSET_MINUTES * 60_000;

/// The last millisecond of the day before.
pub(super) const EVENING: u64 = MIDNIGHT - 1;

/// How often every user tries on each of the days.
const TRIES: u64 = 3;

/// A limit, as it is created and recounted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) name: &'static str,
    pub(super) max: u64,
    /// The subject that it counts by; `None` for everyone together.
    pub(super) per: Option<&'static str>,
    /// Whether it restarts every day.
    pub(super) is_daily: bool,
}

/// The limits, in the order in which they are checked.
pub(super) fn limits(coupons: u64) -> [Limit; 4] {
    [
        Limit { name: "all", max: coupons, per: None, is_daily: false },
        Limit { name: "user", max: 3, per: Some("user"), is_daily: false },
        Limit { name: "daily", max: 2, per: Some("user"), is_daily: true },
        Limit { name: "device", max: 3, per: Some("device"), is_daily: true },
    ]
}

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    Claim {
        user: u64,
    },
    /// A claim without a device.
    ClaimFromNowhere {
        user: u64,
    },
    Redeem {
        serial: u64,
        user: u64,
    },
    Revoke {
        serial: u64,
    },
}

/// Counts of the answers so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Answered attempts.
    begun: u64,
    claimed: u64,
    redeemed: u64,
    given_back: u64,
    /// How often each limit refused a claim.
    pub(super) stopped: BTreeMap<String, u64>,
}

/// The crowd, generated from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shoppers {
    pub(super) seed: u64,
    pub(super) count: u64,
    pub(super) coupons: u64,
}

pub(super) fn user_name(user: u64) -> String {
    format!("user-{user}")
}

/// Two users share a device.
pub(super) fn device_name(user: u64) -> String {
    format!("device-{}", user / 2)
}

impl Shoppers {
    /// The number of attempts on the two days.
    pub(super) fn tries(&self) -> u64 {
        2 * TRIES * self.count
    }
}

impl Crowd for Shoppers {
    type Deed = Errand;
    type Tally = Tally;

    fn arrive(&self, number: u64) -> Ask<Errand> {
        let (user, round) = (number % self.count, number / self.count);
        let mut draw = Draw::of(self.seed, number);
        let claim = if draw.percent(1) { Errand::ClaimFromNowhere { user } } else { Errand::Claim { user } };
        let ask = Ask::new(format!("claim/{user}/{round}"), claim);
        Ask { insists: draw.percent(20), doubles: draw.percent(10), ..ask }
    }

    fn follow_ups(&self, ask: &Ask<Errand>, answer: &CallerAnswer, noted: Noted) -> Vec<Ask<Errand>> {
        let (Some(serial), true) = (answer.figure(0), noted.is_applied_now) else { return Vec::new() };
        let mut draw = Draw::of(!self.seed, serial);
        let errand = |word: &str, errand| Ask::new(format!("{word}/{serial}"), errand);
        match ask.deed {
            Errand::Claim { user } => match draw.below(100) {
                0..40 => vec![Ask {
                    insists: draw.percent(30),
                    ..errand("redeem", Errand::Redeem { serial, user })
                }],
                40..45 => vec![errand("steal", Errand::Redeem { serial, user: (user + 2) % self.count })],
                45..55 => vec![errand("revoke", Errand::Revoke { serial })],
                _ => Vec::new(),
            },
            Errand::Redeem { user, .. } if ask.id.starts_with("redeem/") && draw.percent(30) => {
                vec![errand("redeem-again", Errand::Redeem { serial, user })]
            }
            _ => Vec::new(),
        }
    }

    fn count(&self, tally: &mut Tally, ask: &Ask<Errand>, answer: &CallerAnswer, noted: Noted) {
        let is_claim = matches!(ask.deed, Errand::Claim { .. } | Errand::ClaimFromNowhere { .. });
        tally.begun += u64::from(noted.is_first && is_claim);
        if answer.code() == Some("LIMIT_REACHED") {
            let limit = answer.values().first().and_then(text).unwrap_or_default();
            *tally.stopped.entry(limit).or_default() += 1;
        }
        match ask.deed {
            _ if !noted.is_applied_now => {}
            Errand::Claim { .. } | Errand::ClaimFromNowhere { .. } => tally.claimed += 1,
            Errand::Redeem { .. } => tally.redeemed += 1,
            Errand::Revoke { .. } => tally.given_back += 1,
        }
    }

    /// The kill comes in the evening, and midnight while the last attempts of the evening are in flight.
    fn is_due(&self, given: usize, record: &Record<Self>) -> bool {
        let Tally { begun, claimed, .. } = record.tally;
        match given {
            0 => claimed >= self.coupons / 4 || begun >= self.count,
            _ => begun >= TRIES * self.count - self.count / 4,
        }
    }

    fn picture(&self, record: &Record<Self>) -> (u64, String) {
        let Tally { claimed, redeemed, given_back, stopped, .. } = &record.tally;
        let stopped: Vec<String> =
            stopped.iter().map(|(limit, count)| format!("{limit} {}", grouped(*count))).collect();
        let text = format!("{} redeemed · stopped by {}", grouped(*redeemed), stopped.join(", "));
        (self.coupons.saturating_sub(claimed - given_back), text)
    }

    fn so_far(&self, record: &Record<Self>) -> String {
        let Tally { claimed, redeemed, .. } = record.tally;
        format!("{} claims given, {} redeemed", grouped(claimed), grouped(redeemed))
    }
}

impl Deed for Errand {
    fn request(&self, id: &str) -> Request {
        match *self {
            Self::Claim { user } => {
                let (user, device) = (user_name(user), device_name(user));
                Request::one(id, &["COUPON.CLAIM", COUPON, "USER", &user, "device", &device])
            }
            Self::ClaimFromNowhere { user } => {
                Request::one(id, &["COUPON.CLAIM", COUPON, "USER", &user_name(user)])
            }
            Self::Redeem { serial, user } => {
                Request::one(id, &["COUPON.REDEEM", COUPON, &serial.to_string(), &user_name(user)])
            }
            Self::Revoke { serial } => {
                Request::one(id, &["COUPON.REVOKE", COUPON, &serial.to_string(), "GIVEBACK"])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_tries_as_often_on_either_day() {
        let shoppers = Shoppers { seed: 1, count: 10, coupons: 25 };
        let mut tries: BTreeMap<String, u64> = BTreeMap::new();
        (0..shoppers.tries()).for_each(|number| {
            let id = shoppers.arrive(number).id;
            *tries.entry(id.split('/').nth(1).unwrap_or_default().to_owned()).or_default() += 1;
        });
        assert!(tries.len() == 10 && tries.values().all(|count| *count == 2 * TRIES), "{tries:?}");
    }
}
