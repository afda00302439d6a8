//! Whether the clock can be trusted: timestamps and deadlines depend on it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indicatif::HumanDuration;
use scarce_engine::clock::LEAP_STARTING_MAX;
use serde_json::json;

use super::finding::Finding;

/// Compares the wall clock with the monotonic clock.
pub(super) struct Steps {
    started_at: Instant,
    wall: SystemTime,
}

/// A clock that is being slewed does not deviate by more than this within a few seconds.
const STEP_MAX: Duration = Duration::from_millis(10);

impl Steps {
    /// Starts watching.
    pub(super) fn watch() -> Self {
        Self { started_at: Instant::now(), wall: SystemTime::now() }
    }

    fn judge(&self) -> Finding {
        let elapsed = self.started_at.elapsed();
        let expected = self.wall + elapsed;
        let now = SystemTime::now();
        let apart =
            now.duration_since(expected).or_else(|_| expected.duration_since(now)).unwrap_or_default();
        let text = format!(
            "wall and monotonic clock went {} µs apart in {} ms",
            apart.as_micros(),
            elapsed.as_millis()
        );
        Finding::ok("clock", text)
            .warn_if(apart > STEP_MAX, "somebody sets the clock in steps: let NTP slew it instead")
            .with(json!({
                "apart_us": u64::try_from(apart.as_micros()).unwrap_or(u64::MAX),
                "watched_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            }))
    }
}

/// `newest_stamp` is the last timestamp of the log, in Unix milliseconds.
pub(super) fn examine(steps: &Steps, newest_stamp: Option<u64>) -> Vec<Finding> {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let stamp = newest_stamp.map(|stamp| against_log(Duration::from_millis(stamp), wall));
    [Some(steps.judge()), stamp, Some(synchronized())].into_iter().flatten().collect()
}

/// A clock this far behind the log's last timestamp delays deadlines noticeably.
const BEHIND_MAX: Duration = Duration::from_secs(1);

fn against_log(stamp: Duration, wall: Duration) -> Finding {
    const NAME: &str = "clock and log";
    let figures = json!({ "stamp_ms": millis(stamp), "wall_ms": millis(wall) });
    let finding = if wall > stamp + LEAP_STARTING_MAX {
        Finding::fail(
            NAME,
            format!("{} past the last stamp of the log", HumanDuration(wall.saturating_sub(stamp))),
            "the server does not follow it until a time service confirms it: set the clock, or start with --accept-clock if it is right",
        )
    } else if stamp > wall + BEHIND_MAX {
        Finding::warn(
            NAME,
            format!("{} behind the last stamp of the log", HumanDuration(stamp.saturating_sub(wall))),
            "stamps go on from there at nine tenths of the speed until the clock has caught up: set the clock, or start with --accept-clock if it is right",
        )
    } else {
        Finding::ok(
            NAME,
            format!("{} after the last stamp of the log", HumanDuration(wall.saturating_sub(stamp))),
        )
    };
    finding.with(figures)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn synchronized() -> Finding {
    const NAME: &str = "time service";
    match asked_systemd() {
        Some(true) => Finding::ok(NAME, "the clock is synchronized"),
        Some(false) => Finding::warn(
            NAME,
            "the clock is not synchronized",
            "run a time service: systemd-timesyncd or chrony; deadlines are in wall time",
        ),
        None => Finding::ok(NAME, "not known here; in a container the host keeps the clock"),
    }
}

/// Whether the kernel's clock is synchronized, by any service, if systemd can tell.
fn asked_systemd() -> Option<bool> {
    if !Path::new("/run/systemd/system").exists() {
        return None;
    }
    let mut command = Command::new("timedatectl");
    command
        .args(["show", "--property=NTPSynchronized", "--value"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    match command.output().ok()?.stdout.trim_ascii() {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Status;
    use super::*;

    #[test]
    fn a_clock_far_from_the_log_is_told() {
        let stamp = Duration::from_hours(24 * 365);
        let judge = |wall| against_log(stamp, wall).status;
        assert_eq!(judge(stamp), Status::Ok);
        assert_eq!(judge(stamp + LEAP_STARTING_MAX), Status::Ok);
        assert_eq!(judge(stamp + LEAP_STARTING_MAX + Duration::from_millis(1)), Status::Fail);
        assert_eq!(judge(stamp - BEHIND_MAX - Duration::from_millis(1)), Status::Warn);
    }

    #[test]
    fn a_step_is_seen() {
        let steps = Steps { started_at: Instant::now(), wall: SystemTime::now() - Duration::from_secs(1) };
        assert_eq!(steps.judge().status, Status::Warn);
    }
}
