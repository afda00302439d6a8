//! What is reported of the clock.

use super::ClockApart;

/// Less than this is what a wall clock may be followed ahead, and then fall behind.
const WORTH_TELLING_MS: u64 = 5_000;

/// What is to be known of the clock, and what to do; nothing if all is well.
#[must_use]
pub fn notice(apart: ClockApart, doubted_ms: u64) -> Option<String> {
    let ClockApart { wall_ahead_ms, wall_behind_ms } = apart;
    if doubted_ms > 0 {
        return Some(format!(
            "the clock went ahead by {doubted_ms} ms while the server was off, and nothing confirms it; until a time service does, or \
             it has run steadily for a while, no deadline ends by it and no operation id is forgotten; if it is right, \
             restart with --accept-clock"
        ));
    }
    if wall_ahead_ms >= WORTH_TELLING_MS {
        return Some(format!(
            "the wall clock is {wall_ahead_ms} ms ahead of the time that has passed, and is not believed until a time \
             service confirms it, or it has run steadily for a while; set the clock, or, if it is right, restart with --accept-clock"
        ));
    }
    (wall_behind_ms >= WORTH_TELLING_MS).then(|| {
        format!(
            "the wall clock is {wall_behind_ms} ms behind the last timestamp; timestamps go on from there at nine tenths of \
             the speed until it has caught up; if the wall clock is right, restart with --accept-clock"
        )
    })
}
