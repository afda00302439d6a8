//! What the kernel knows of time: how long it has run, and whether its wall clock is synchronised.

use std::time::Duration;

/// How long the machine has run since its boot, with what it slept.
#[cfg(target_os = "linux")]
pub(super) fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// How long this process has looked at the clock: there is no boot to compare with here.
#[cfg(not(target_os = "linux"))]
pub(super) fn since_boot() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGUN.elapsed()
}

/// The wall clock, where the kernel says that it is synchronised: by any time service, which reports to the kernel.
/// After someone sets the clock the kernel says no, until the service has synchronised it again.
#[cfg(target_os = "linux")]
pub(super) fn synchronised_wall() -> Option<Duration> {
    let (status, found) = asked();
    if status < 0 || status == libc::TIME_ERROR || found.status & libc::STA_UNSYNC != 0 {
        return None;
    }
    let seconds = u64::try_from(found.time.tv_sec).ok()?;
    let fraction = u64::try_from(found.time.tv_usec).ok()?;
    let is_fine = found.status & libc::STA_NANO != 0;
    let fraction = if is_fine { Duration::from_nanos(fraction) } else { Duration::from_micros(fraction) };
    Some(Duration::from_secs(seconds) + fraction)
}

/// Without such a kernel nothing is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn synchronised_wall() -> Option<Duration> {
    None
}

/// Asks the kernel, and changes nothing.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "no crate asks this; see docs/decisions/0021-asking-the-kernel.md")]
fn asked() -> (i32, libc::timex) {
    // SAFETY: `timex` consists of integers, for which all bits zero is a value.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole `timex` of this function's own, which outlives the call. With `modes` 0, as it
    // is, the call reads the clock's state into it, changes nothing of the clock's and needs no privilege.
    let status = unsafe { libc::adjtimex(&raw mut timex) };
    (status, timex)
}
