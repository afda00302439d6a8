//! What all ports share: who is admitted, the certificate, how many connections may be open, what unread replies may take, and how a
//! consumer of the log is shown.
//!
//! Must not know: a protocol, an engine other than by its trait, or a setting's name.
//!
//! Where to begin: [`Access`], the password and the keys; [`Tls`], the certificate; [`ConnectionPlaces`], the connections.

#![forbid(unsafe_code)]

mod access;
mod attempts;
mod auditing;
mod bounded;
mod caller;
mod certificate;
pub mod consumers;
mod denials;
pub mod descriptors;
mod failures;
mod handshake;
mod keys;
pub mod latencies;
mod limiting;
pub mod lists;
mod places;
pub mod process;
mod records;
mod telling;
mod tls;
pub mod unread;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use scarce_core::types::TimeMs;
use scarce_engine::clock::{Clock as _, ClockStart, STEADY_SPAN, SystemTimeSource, TrustedClock};

pub use access::{Access, Login};
pub use auditing::{Acts, Denied, Noted};
pub use bounded::Bounded;
pub use caller::{Caller, Grant, USED_MS};
pub use certificate::{CertificateFacts, Validity};
pub use denials::Denials;
pub use failures::HandshakeFailure;
pub use handshake::{Accepted, PLAIN_MAX, Socket};
pub use keys::Keys;
pub use limiting::Limiting;
pub use places::{ConnectionPlace, ConnectionPlaces, PortKind};
pub use records::Records;
pub use tls::{HTTP_2, Tls, TlsError, TlsFiles};
pub use unread::Unread;

/// Unix milliseconds, by which keys expire: by the system's clock, and no earlier than by the time that has passed since
/// they were first asked for, so that a clock that is put back makes no key good again.
#[must_use]
pub fn now_ms() -> TimeMs {
    static BEGUN: LazyLock<(Instant, TimeMs)> = LazyLock::new(|| (Instant::now(), wall_ms()));
    let (begun, wall) = *BEGUN;
    let passed = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    wall_ms().max(wall.saturating_add(passed))
}

/// Unix milliseconds, by which waiting rooms admit: a clock that leaps admits nobody early, and lets nobody wait for longer.
#[must_use]
pub fn steady_ms() -> TimeMs {
    static CLOCK: LazyLock<Mutex<TrustedClock>> = LazyLock::new(|| {
        let start = ClockStart {
            note: None,
            stamp: 0,
            is_doubted: false,
            accepts_wall: false,
            steady_span: STEADY_SPAN,
        };
        Mutex::new(TrustedClock::start(Arc::new(SystemTimeSource), start))
    });
    let mut clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let now = clock.now();
    if let Some(change) = clock.proposal() {
        clock.adopt(change);
        return clock.now();
    }
    now
}

fn wall_ms() -> TimeMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What callers are told while nothing is served: the engine recovers, or the deployment is elsewhere.
pub type Unserved = std::sync::Arc<dyn Fn() -> scarce_engine::Failure + Send + Sync>;
