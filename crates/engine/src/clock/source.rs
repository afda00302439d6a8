//! What the machine says of time: its wall clock, and the clock since its boot, which nobody can set.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The clocks of a machine.
pub trait TimeSource: Send + Sync + fmt::Debug {
    /// The wall clock, since the Unix epoch. Anyone may have set it.
    fn wall(&self) -> Duration;

    /// How long the machine has run since its boot, with what it slept.
    fn boot(&self) -> Duration;

    /// Which boot that was, where the machine can say so.
    fn boot_id(&self) -> Option<String>;

    /// The wall clock as the kernel has it, where the kernel says that it is synchronised with the world's.
    fn synchronised_wall(&self) -> Option<Duration>;
}

/// The clocks of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemTimeSource;

impl TimeSource for SystemTimeSource {
    fn wall(&self) -> Duration {
        super::wall()
    }

    fn boot(&self) -> Duration {
        super::kernel::since_boot()
    }

    fn boot_id(&self) -> Option<String> {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    }

    fn synchronised_wall(&self) -> Option<Duration> {
        super::kernel::synchronised_wall()
    }
}

/// What a [`ManualTimeSource`] shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock.
    pub wall: Duration,
    /// The time since the boot.
    pub boot: Duration,
    /// Which boot.
    pub boot_id: Option<String>,
    /// Whether the kernel says that the wall clock is synchronised.
    pub is_synchronised: bool,
}

/// Clocks that stand still until they are set: for tests that decide what a machine shows.
#[derive(Clone, Debug, Default)]
pub struct ManualTimeSource {
    reading: Arc<Mutex<Reading>>,
}

impl ManualTimeSource {
    /// Changes what every copy of these clocks shows.
    pub fn set(&self, change: impl FnOnce(&mut Reading)) {
        change(&mut self.reading.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets time pass: every clock goes on by as much.
    pub fn pass(&self, time: Duration) {
        self.set(|reading| {
            reading.wall += time;
            reading.boot += time;
        });
    }

    fn reading(&self) -> Reading {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TimeSource for ManualTimeSource {
    fn wall(&self) -> Duration {
        self.reading().wall
    }

    fn boot(&self) -> Duration {
        self.reading().boot
    }

    fn boot_id(&self) -> Option<String> {
        self.reading().boot_id
    }

    fn synchronised_wall(&self) -> Option<Duration> {
        let reading = self.reading();
        reading.is_synchronised.then_some(reading.wall)
    }
}
