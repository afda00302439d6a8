//! How far a consumer of the log is, as every port shows it.

use scarce_core::types::TimeMs;
use scarce_engine::consumers::{self, Consumption};
use scarce_outflow::State as ConsumerState;

/// A consumer's state for display.
pub struct Shown {
    /// Its name.
    pub state: &'static str,
    /// Since when it is in trouble, in Unix milliseconds.
    pub since: Option<TimeMs>,
    /// Why.
    pub reason: Option<String>,
}

/// The state for display. Of consumers in other processes, only their existence is known, and what the engine keeps.
#[must_use]
pub fn state_shown(partition: u32, its: &Consumption, here: Option<&ConsumerState>) -> Shown {
    // A process that does not run the consumer, or has not come so far yet, says so too.
    let told = its.diverged.map(|held| consumers::diverged(&its.name, partition, held).to_string());
    let state = match here {
        Some(ConsumerState::Troubled { reason, since }) => {
            let reason = Some(told.unwrap_or_else(|| reason.clone()));
            return Shown { state: "troubled", since: Some(*since), reason };
        }
        _ if told.is_some() => "troubled",
        Some(ConsumerState::Running) => "running",
        Some(ConsumerState::Starting) => "starting",
        Some(ConsumerState::Elsewhere { .. }) => "elsewhere",
        None if its.holder.is_some() => "elsewhere",
        Some(ConsumerState::Stopped) | None => "absent",
    };
    Shown { state, since: None, reason: told }
}
