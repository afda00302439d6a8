//! Requests joined to a message.

use scarce_core::state::StateSettings;

use super::settings::write_settings;
use super::{EncodedRequest, MESSAGE_VERSION, SeenEvent};
use crate::moved::MovedPlace;
use crate::status::PartitionStatus;
use crate::values::MessageWriter;

/// What a message says beside its requests.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// What outcomes depend on.
    pub settings: &'a StateSettings,
    /// The deployment that the partition must be of; not checked without one.
    pub deployment: Option<&'a str>,
    /// The run of the server that gets it: when it is another one than at the last call, what was written in between
    /// may be lost, and the epoch is raised.
    pub primary: Option<&'a str>,
    /// How far the server's clock is believed; a test's clock itself.
    pub clock: Option<u64>,
    /// The last event that the partition is known to have had: a server that has less has older data.
    pub seen: Option<SeenEvent>,
}

impl<'a> From<&'a StateSettings> for Heading<'a> {
    fn from(settings: &'a StateSettings) -> Self {
        Self { settings, deployment: None, primary: None, clock: None, seen: None }
    }
}

impl<'a> Heading<'a> {
    /// The same for a run of a server, of which it is known what it was seen to have.
    pub(crate) fn for_run(self, run_id: &'a str, status: &PartitionStatus) -> Self {
        Self { primary: Some(run_id), seen: status.seen.by(run_id), ..self }
    }
}

/// What a message says of itself: mostly the same as the one before, which the library need not take apart again.
fn head(heading: &Heading<'_>) -> Vec<u8> {
    let mut writer = MessageWriter::default();
    let text = |writer: &mut MessageWriter, text: Option<&str>| match text {
        Some(text) => writer.text(text),
        None => writer.nothing(),
    };
    writer.list(4);
    writer.quantity(MESSAGE_VERSION);
    write_settings(&mut writer, heading.settings);
    text(&mut writer, heading.primary);
    text(&mut writer, heading.deployment);
    writer.into_bytes()
}

/// How many values a message has: what it says of itself, the clock and the requests; the event that was seen, if one was;
/// and where ids may be besides, if the deployment has moved here.
fn values_of(has_seen: bool, has_moved: bool) -> usize {
    match (has_seen, has_moved) {
        (false, false) => 3,
        (true, false) => 6,
        (_, true) => 7,
    }
}

/// Joins requests to a message.
#[must_use]
pub fn message(heading: &Heading<'_>, requests: &[&EncodedRequest]) -> Vec<u8> {
    let moved: Vec<&MovedPlace> = requests.iter().filter_map(|request| request.moved.as_ref()).collect();
    let mut writer = MessageWriter::default();
    writer.list(values_of(heading.seen.is_some(), !moved.is_empty()));
    writer.bytes(&head(heading));
    writer.optional(heading.clock);
    writer.list(requests.iter().map(|request| request.values).sum());
    requests.iter().for_each(|request| writer.raw(&request.bytes));
    match heading.seen {
        Some(SeenEvent { epoch, sequence, is_of_this_run }) => {
            writer.quantity(epoch);
            writer.quantity(sequence);
            writer.quantity(u64::from(is_of_this_run));
        }
        None if moved.is_empty() => {}
        None => (0..3).for_each(|_| writer.nothing()),
    }
    if !moved.is_empty() {
        writer.list(2 * moved.len());
        for MovedPlace { text, hashed } in moved {
            writer.text(text);
            writer.text(hashed);
        }
    }
    writer.into_bytes()
}
