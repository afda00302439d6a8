//! How many denials are recorded: a caller that is turned away again and again must not fill the disk, nor push out what others did.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How many denials of one address are recorded at once, and after that one in each of these times.
const ADDRESS_BURST: u32 = 20;
const ADDRESS_INTERVAL: Duration = Duration::from_mins(1);

/// How many of all addresses together.
const ALL_BURST: u32 = 1_000;
const ALL_INTERVAL: Duration = Duration::from_secs(1);

/// After this time without a record, the count of those that were left out is recorded by itself.
const TOLD_AFTER: Duration = Duration::from_mins(1);

/// How many addresses are counted each by itself.
const ADDRESSES_MAX: usize = 4_096;

/// What is allowed at once, and comes back over time.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    /// When all of it is there again.
    full_at: Instant,
}

impl Allowance {
    fn take(&mut self, now: Instant, burst: u32, interval: Duration) -> bool {
        let full_at = self.full_at.max(now);
        let is_left = full_at.duration_since(now) <= interval * (burst - 1);
        if is_left {
            self.full_at = full_at + interval;
        }
        is_left
    }
}

#[derive(Clone, Copy, Debug)]
struct Denied {
    allowance: Allowance,
    noted_at: Instant,
    /// How many were left out, and since when.
    left_out: u64,
    left_out_since: Option<Instant>,
}

/// What was denied lately.
#[derive(Debug)]
pub(crate) struct Flood {
    addresses: BTreeMap<Option<IpAddr>, Denied>,
    all: Allowance,
    /// Those of addresses that are no longer counted by themselves.
    others_left_out: u64,
}

impl Flood {
    pub(crate) fn new(now: Instant) -> Self {
        Self { addresses: BTreeMap::new(), all: Allowance { full_at: now }, others_left_out: 0 }
    }

    /// Notes a denial. If it may be recorded: how many of its address were not since the last one.
    pub(crate) fn note(&mut self, address: Option<IpAddr>, now: Instant) -> Option<u64> {
        if self.addresses.len() >= ADDRESSES_MAX && !self.addresses.contains_key(&address) {
            self.forget(now);
        }
        let fresh = Denied {
            allowance: Allowance { full_at: now },
            noted_at: now,
            left_out: 0,
            left_out_since: None,
        };
        let denied = self.addresses.entry(address).or_insert(fresh);
        denied.noted_at = now;
        let is_allowed = denied.allowance.take(now, ADDRESS_BURST, ADDRESS_INTERVAL)
            && self.all.take(now, ALL_BURST, ALL_INTERVAL);
        if is_allowed {
            denied.left_out_since = None;
            return Some(std::mem::take(&mut denied.left_out));
        }
        denied.left_out += 1;
        denied.left_out_since.get_or_insert(now);
        None
    }

    /// Makes room for another address. What it takes the place of is counted with all others.
    fn forget(&mut self, now: Instant) {
        self.addresses.retain(|_, denied| denied.allowance.full_at > now || denied.left_out > 0);
        if self.addresses.len() < ADDRESSES_MAX {
            return;
        }
        let oldest =
            self.addresses.iter().min_by_key(|(_, denied)| denied.noted_at).map(|(address, _)| *address);
        let oldest = oldest.and_then(|oldest| self.addresses.remove(&oldest));
        self.others_left_out += oldest.map_or(0, |denied| denied.left_out);
    }

    /// The counts that are due by themselves, each with its address; all if it is the end.
    pub(crate) fn due(&mut self, now: Instant, is_end: bool) -> Vec<(Option<IpAddr>, u64)> {
        let is_due = |denied: &Denied| {
            denied.left_out_since.is_some_and(|since| is_end || now.duration_since(since) >= TOLD_AFTER)
        };
        let mut due = Vec::new();
        for (address, denied) in self.addresses.iter_mut().filter(|(_, denied)| is_due(denied)) {
            denied.left_out_since = None;
            due.push((*address, std::mem::take(&mut denied.left_out)));
        }
        // Many addresses would be a flood again.
        let rest = due.split_off(due.len().min(ADDRESS_BURST as usize));
        let rest: u64 = rest.into_iter().map(|(_, count)| count).sum();
        let others = rest + std::mem::take(&mut self.others_left_out);
        due.extend((others > 0).then_some((None, others)));
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> Option<IpAddr> {
        Some(std::net::Ipv4Addr::from_bits(n).into())
    }

    #[test]
    fn an_address_is_recorded_a_few_times_and_then_counted() {
        let begun = Instant::now();
        let mut flood = Flood::new(begun);
        let told = (0..1_000).filter(|_| flood.note(address(1), begun).is_some()).count();
        assert_eq!(told, 20);
        assert_eq!(flood.note(address(2), begun), Some(0), "others are recorded");
        assert!(flood.due(begun, false).is_empty());
        let later = begun + ADDRESS_INTERVAL;
        assert_eq!(flood.note(address(1), later), Some(980));
        assert_eq!(flood.note(address(1), later), None);
        assert_eq!(flood.due(later + TOLD_AFTER, false), [(address(1), 1)]);
        assert!(flood.due(later + 2 * TOLD_AFTER, true).is_empty());
    }

    #[test]
    fn many_addresses_take_bounded_memory_and_records_and_each_denial_is_counted() {
        let now = Instant::now();
        let mut flood = Flood::new(now);
        let told = (0..20_000).filter(|n| flood.note(address(*n), now).is_some()).count();
        assert_eq!(told, 1_000);
        assert!(flood.addresses.len() <= ADDRESSES_MAX);
        let due = flood.due(now, true);
        assert!(due.len() <= 21);
        assert_eq!(due.iter().map(|(_, count)| count).sum::<u64>(), 19_000);
    }
}
