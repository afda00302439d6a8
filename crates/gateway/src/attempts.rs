//! Wrong passwords, counted for each address, so that guessing takes long.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use scarce_limits::network;

/// How many wrong passwords an address may show in a row.
const BURST: u32 = 10;

/// After those, one more is looked at in each of these.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many addresses are remembered. A further one takes the place of the one that was noted longest ago: if those beyond
/// the bound shared a count, a caller with many addresses could lock out everyone.
const ADDRESSES_MAX: usize = 4_096;

/// The addresses that showed wrong passwords.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    known: Mutex<BTreeMap<IpAddr, Debt>>,
}

/// What an address owes.
#[derive(Clone, Copy, Debug)]
struct Debt {
    noted_at: Instant,
    /// When all its wrong passwords are forgiven, one for each interval.
    forgiven_at: Instant,
}

impl Attempts {
    /// How long an address must wait before another password of it is looked at.
    pub(crate) fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let owed = known.get(&network(address))?.forgiven_at.saturating_duration_since(now);
        owed.checked_sub(INTERVAL * (BURST - 1)).filter(|wait| !wait.is_zero())
    }

    /// Notes a wrong password.
    pub(crate) fn note(&self, address: IpAddr, now: Instant) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let address = network(address);
        if known.len() >= ADDRESSES_MAX && !known.contains_key(&address) {
            known.retain(|_, debt| debt.forgiven_at > now);
        }
        if known.len() >= ADDRESSES_MAX && !known.contains_key(&address) {
            let oldest = known.iter().min_by_key(|(_, debt)| debt.noted_at).map(|(address, _)| *address);
            if let Some(oldest) = oldest {
                known.remove(&oldest);
            }
        }
        let debt = known.entry(address).or_insert(Debt { noted_at: now, forgiven_at: now });
        *debt = Debt { noted_at: now, forgiven_at: debt.forgiven_at.max(now) + INTERVAL };
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn after_some_guesses_an_address_waits_and_others_do_not() {
        let (attempts, begun) = (Attempts::default(), Instant::now());
        let (guesser, other) = (address("203.0.113.7"), address("203.0.113.8"));
        for _ in 0..BURST {
            assert_eq!(attempts.wait(guesser, begun), None);
            attempts.note(guesser, begun);
        }
        assert_eq!(attempts.wait(guesser, begun), Some(INTERVAL));
        assert_eq!(attempts.wait(address("::ffff:203.0.113.7"), begun), Some(INTERVAL));
        assert_eq!(attempts.wait(other, begun), None);
        assert_eq!(attempts.wait(guesser, begun + INTERVAL), None, "one more");
        attempts.note(guesser, begun + INTERVAL);
        assert_eq!(attempts.wait(guesser, begun + INTERVAL), Some(INTERVAL));
        assert_eq!(attempts.wait(guesser, begun + INTERVAL * (BURST + 1)), None);
    }

    #[test]
    fn a_network_counts_as_one_and_memory_is_bounded() {
        let (attempts, begun) = (Attempts::default(), Instant::now());
        for host in 0..u128::from(BURST) {
            attempts.note(IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | host)), begun);
        }
        assert!(attempts.wait(address("2001:db8::ffff"), begun).is_some());
        assert!(attempts.wait(address("2001:db8:0:1::1"), begun).is_none());
        let guesser = address("203.0.113.7");
        for host in 0..3 * u32::try_from(ADDRESSES_MAX).expect("small") {
            attempts.note(IpAddr::V4(host.into()), begun);
            if host % 1_000 == 0 {
                attempts.note(guesser, begun);
            }
        }
        assert!(attempts.known.lock().expect("not poisoned").len() <= ADDRESSES_MAX);
        assert!(attempts.wait(guesser, begun).is_some(), "who goes on guessing is remembered");
        assert!(attempts.wait(address("198.51.100.1"), begun).is_none(), "who never did need not wait");
    }
}
