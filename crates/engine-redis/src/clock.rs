//! How far a server's clock is believed: as far as the clock of this machine confirms it. A promoted replica whose clock is
//! ahead would otherwise end every hold and forget every operation id.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::types::TimeMs;
use scarce_engine::clock::{Clock, ClockStart, STEADY_SPAN, TrustedClock};
use scarce_engine::engine::Failure;

use super::RedisError;
use super::call::{self, Heading};
use super::caller::Caller;
use super::connection::Link;
use super::keys::Keys;
use super::nodes::{Node, Nodes, Traffic};
use super::program::Rights;
use super::settings::RedisSettings;
use super::wholeness;

/// The latest time that a server may have, by the clock of this machine.
#[derive(Debug)]
pub(super) struct ClockBound {
    own: TrustedClock,
    ahead_ms_max: u64,
}

impl ClockBound {
    /// A bound `lead` further ahead than the settings say.
    pub(super) fn new(settings: &RedisSettings, lead: Duration) -> Self {
        let start = ClockStart {
            note: None,
            stamp: 0,
            is_doubted: false,
            accepts_wall: false,
            steady_span: STEADY_SPAN,
        };
        let own = TrustedClock::start(Arc::clone(&settings.time_source), start);
        let ahead = settings.clock_skew_max.saturating_add(lead);
        Self { own, ahead_ms_max: u64::try_from(ahead.as_millis()).unwrap_or(u64::MAX) }
    }

    /// How far a server's time is beyond what is believed.
    pub(super) fn excess_ms(&mut self, server: TimeMs) -> u64 {
        server.saturating_sub(self.now())
    }

    /// How far a server's time is ahead of this machine's.
    fn lead_of(&mut self, server: TimeMs) -> Duration {
        let own = self.now().saturating_sub(self.ahead_ms_max);
        Duration::from_millis(server.saturating_sub(own))
    }
}

impl Clock for ClockBound {
    fn now(&mut self) -> TimeMs {
        let now = self.own.now();
        let now = match self.own.proposal() {
            Some(change) => {
                self.own.adopt(change);
                self.own.now()
            }
            None => now,
        };
        now.saturating_add(self.ahead_ms_max)
    }

    fn wait_until(&mut self, _at: TimeMs) -> Option<Duration> {
        None
    }
}

/// The time that a server has.
pub(super) async fn server_time(link: &Link) -> Result<TimeMs, Failure> {
    let (seconds, microseconds): (u64, u64) = link.send(&redis::cmd("TIME")).await?;
    Ok(seconds.saturating_mul(1_000).saturating_add(microseconds / 1_000))
}

/// Takes the clocks of all servers for right, as the operator says: gives how far the first ones are ahead, and has the
/// stamps of partitions that are ahead of their server go on from its clock.
pub(super) async fn accept(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    caller: &Caller,
    deployment: &str,
) -> Result<Duration, RedisError> {
    let mut own = ClockBound::new(settings, Duration::ZERO);
    let mut lead = Duration::ZERO;
    for number in 0..settings.partitions {
        let keys = Keys::new(&settings.prefix, number, settings.partitions);
        let link = Link::new(Arc::clone(nodes), keys.slot(), Traffic::Calls);
        let server = server_time(&link).await?;
        lead = lead.max(own.lead_of(server));
        let request = call::put_back();
        let message = |node: &Node| {
            let primary = Some(node.state.run_id.as_str());
            let heading = Heading { deployment: Some(deployment), primary, ..Heading::from(&settings.state) };
            call::message(&heading, &[&request])
        };
        caller
            .call(&link, &keys, &message, Rights::Write)
            .await
            .map_err(|refused| wholeness::failure(number, &refused).unwrap_or_else(|| refused.into()))?;
    }
    Ok(lead)
}
