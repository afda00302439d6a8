//! What of a packet differs, and what one should know of it.

use scarce_delivery::SettlementState;

use super::{Counts, Noted, Packet, Settlements, finding};
use crate::findings::Findings;
use crate::report::{EventPlace, Finding};

impl Settlements {
    /// What one should know though it is no difference.
    pub(super) fn tell(&self, findings: &mut Findings) {
        let Counts { lost, pending, pending_since, unknown } = &self.counts;
        if *lost > 0 {
            findings.note(format!(
                "{lost} settlements are of claims that were lost with events of the engine; 'scarce settlements list --lost' \
                 names them"
            ));
        }
        if let Some(since) = pending_since {
            findings.note(format!(
                "{pending} settlements are not done, the oldest of a claim of {}; 'scarce settlements list --state pending' \
                 says why",
                date(*since)
            ));
        }
        if *unknown > 0 {
            findings.note(format!(
                "{unknown} claims have neither a settlement nor a credit; the table was not filled when they were made"
            ));
        }
    }

    pub(super) fn difference(
        &mut self,
        of: (&str, u64),
        partition: Option<u32>,
        packet: &Packet,
    ) -> Option<Finding> {
        let Some((amount, sequence, _)) = packet.claim else { return self.without_claim(of, packet) };
        let claimed_at =
            partition.map(|partition| EventPlace { partition, sequence, event: Some("packets.claimed") });
        let expected = amount.to_string();
        if let Some(credit) = packet.credit.filter(|credit| credit.0 != amount) {
            let found = credit.0.to_string();
            return Some(finding(of, "amount credited", Some(&expected), Some(&found), credited_at(credit)));
        }
        let Some(noted) = packet.noted else {
            let of_table = partition.and_then(|its| self.noted.get(&its));
            let is_due = of_table.is_some_and(|(first, last)| (*first..=*last).contains(&sequence));
            let is_unknown = !is_due && self.has_table && packet.credit.is_none();
            self.counts.unknown += u64::from(is_unknown);
            return is_due.then(|| finding(of, "settlement", Some(&expected), None, claimed_at));
        };
        if noted.amount != amount {
            let found = noted.amount.to_string();
            return Some(finding(of, "amount to be settled", Some(&expected), Some(&found), claimed_at));
        }
        let (field, expected, found) = self.state_difference(noted, partition, packet, &expected)?;
        Some(finding(of, field, Some(expected), found.as_deref(), claimed_at))
    }

    /// A row or a credit of a packet that nobody claimed. A log without its beginning has no claims of before, but its state
    /// has.
    fn without_claim(&mut self, of: (&str, u64), packet: &Packet) -> Option<Finding> {
        let (what, found, place) = match (packet.credit, packet.noted) {
            (Some(credit), _) => ("credit", credit.0, credited_at(credit)),
            (None, Some(noted)) if noted.is_lost => {
                self.counts.lost += 1;
                return None;
            }
            (None, Some(noted)) => ("settlement", noted.amount, None),
            (None, None) => return None,
        };
        Some(finding(of, what, None, Some(&found.to_string()), place))
    }

    /// What of a row's state cannot be: the value, what it must be, and what it is.
    fn state_difference<'d>(
        &self,
        noted: Noted,
        partition: Option<u32>,
        packet: &Packet,
        amount: &'d str,
    ) -> Option<(&'static str, &'d str, Option<String>)> {
        match noted.state {
            SettlementState::Dead => Some(("settlement", "settled", Some("dead".to_owned()))),
            SettlementState::Settled if noted.route.is_none() && !noted.is_resolved => {
                Some(("route", "engine or outside", None))
            }
            SettlementState::Settled
                if noted.is_credited_here
                    && packet.credit.is_none()
                    && self.would_see_credit(partition, packet) =>
            {
                Some(("credit", amount, None))
            }
            SettlementState::Pending if noted.next_at_ms > now_ms().saturating_add(WAIT_MAX_MS) => {
                Some(("next attempt", "within a month", Some(date(noted.next_at_ms))))
            }
            SettlementState::Settled | SettlementState::Pending => None,
        }
    }

    /// Whether a credit of a claim must be in what was read, in whichever partition the account is.
    fn would_see_credit(&self, partition: Option<u32>, packet: &Packet) -> bool {
        let (Some((_, sequence, at)), Some(partition)) = (packet.claim, partition) else { return false };
        let is_of_base = self.bases.get(&partition).is_some_and(|base| sequence <= base.sequence);
        // A time behind the log's own is of a clock that was ahead: it does not tell what came later.
        let is_ahead = self.times.get(&partition).is_some_and(|now| at > *now);
        let mut others = self.bases.iter().filter(|(its, _)| **its != partition);
        !is_of_base && others.all(|(_, base)| !is_ahead && at > base.at)
    }
}

/// Longer than any delay between two attempts.
const WAIT_MAX_MS: u64 = 30 * 24 * 3_600_000;

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn credited_at((_, partition, sequence): (u64, u32, u64)) -> Option<EventPlace> {
    Some(EventPlace { partition, sequence, event: Some("account.credited") })
}

/// A stamp in ISO 8601 format, in UTC; its milliseconds if it is too far away for a date.
fn date(at: u64) -> String {
    let date = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    date.map_or_else(|| at.to_string(), |date| date.to_string())
}
