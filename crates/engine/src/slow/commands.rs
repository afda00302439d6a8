//! The last slow commands of a partition: for someone who is told that the server was slow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scarce_core::codec::Input;
use scarce_core::command::{COMMANDS, Command};
use scarce_core::event::{Entry, Event, PacketsEvent};
use scarce_core::types::TimeMs;

use crate::clock::wall_ms;
use crate::engine::Request;

/// How many a partition remembers.
pub const REMEMBERED_MAX: usize = 128;

/// How many of one batch or call are remembered, all of which took equally long.
const OF_BATCH_MAX: usize = 8;

/// How many entries of a batch are read to name its commands: one command may have made a thousand.
const ENTRIES_READ_MAX: usize = 256;

/// What a slow command was: its name and the resource that it was for.
pub type SlowName = (&'static str, String);

/// A command that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowCommand {
    /// Its place among the partition's slow commands since the start.
    pub number: u64,
    /// When it was done, in Unix milliseconds.
    pub at_ms: TimeMs,
    /// How long it took.
    pub took: Duration,
    /// Its name.
    pub command: &'static str,
    /// The resource that it was for; no other argument is kept.
    pub resource: String,
}

/// The last slow commands. Nothing is done here for a command that is not slow.
#[derive(Debug, Default)]
pub struct SlowCommands {
    ring: Mutex<Ring>,
    total: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    commands: VecDeque<SlowCommand>,
    next: u64,
}

impl SlowCommands {
    /// Notes that `count` commands took so long together; of many, the first few are remembered.
    pub fn note(&self, took: Duration, count: u64, names: impl IntoIterator<Item = SlowName>) {
        self.total.fetch_add(count, Ordering::Relaxed);
        let at_ms = wall_ms();
        let mut ring = self.ring();
        for (command, resource) in names.into_iter().take(OF_BATCH_MAX) {
            let number = ring.next;
            ring.next += 1;
            ring.commands.push_front(SlowCommand { number, at_ms, took, command, resource });
        }
        ring.commands.truncate(REMEMBERED_MAX);
    }

    /// What is remembered, the newest first.
    #[must_use]
    pub fn newest(&self) -> Vec<SlowCommand> {
        self.ring().commands.iter().cloned().collect()
    }

    /// Forgets all; the total stays.
    pub fn clear(&self) {
        self.ring().commands.clear();
    }

    /// How many commands were slow since the start.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request asks for; nothing if no caller asked.
#[must_use]
pub fn name_of(request: &Request) -> Option<SlowName> {
    let commands = match request {
        Request::Write(envelope) | Request::DryRun(envelope) => envelope.commands(),
        Request::Read(_, command) => std::slice::from_ref(command),
        Request::Expire(_) => return None,
    };
    let name = match commands {
        [command] => command.spec().name,
        _ => "BATCH",
    };
    Some((name, commands.first().map(resource_of).unwrap_or_default()))
}

fn resource_of(command: &Command) -> String {
    let mut first = None;
    command.route(&mut |id| {
        first.get_or_insert_with(|| id.to_string());
    });
    first.unwrap_or_default()
}

/// The commands of encoded entries, by what they did. A command of several entries is named once, by its first one, and so is
/// the creation of a campaign whose packets are in several.
pub fn names_of_entries(bytes: &[u8]) -> impl Iterator<Item = SlowName> {
    let mut input = Input::new(bytes);
    let mut goes_on = false;
    std::iter::from_fn(move || if input.is_empty() { None } else { Entry::read(&mut input).ok() })
        .take(ENTRIES_READ_MAX)
        .filter(move |entry| !std::mem::replace(&mut goes_on, entry.head.more))
        .filter(|entry| !matches!(entry.events.first(), Some(Event::Packets(PacketsEvent::PacketsFilled(_)))))
        .filter_map(|entry| entry.events.first().and_then(name_of_event))
}

/// The command that makes an event, or the event where several do; nothing where time alone makes it.
fn name_of_event(event: &Event) -> Option<SlowName> {
    let name = event.spec().name;
    let mut makers = COMMANDS.iter().filter(|spec| spec.events.iter().any(|its| its.name == name));
    let command = match (makers.next(), makers.next()) {
        (None, _) => return None,
        (Some(only), None) => only.name,
        (Some(_), Some(_)) => name,
    };
    // What is logged of operations begins with the caller's id, which is not a resource.
    let resource = match event {
        Event::Operation(_) => None,
        _ => event.fields().into_iter().next().map(|(_, value)| value.to_string()),
    };
    Some((command, resource.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use scarce_core::command::table::find;
    use scarce_core::command::{Body, Envelope};
    use scarce_core::machine::Machine;
    use scarce_core::state::StateSettings;

    use super::*;

    fn request(line: &str) -> Request {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let (command, common) =
            Command::parse(find(words[0]).expect("a command"), &words[1..]).expect("read");
        Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
    }

    #[test]
    fn the_newest_are_remembered_and_all_are_counted() {
        let slow = SlowCommands::default();
        for number in 0..2 * REMEMBERED_MAX {
            slow.note(Duration::from_secs(1), 1, [("STOCK.TAKE", format!("s{number}"))]);
        }
        let newest = slow.newest();
        assert_eq!((newest.len(), slow.total()), (REMEMBERED_MAX, 2 * REMEMBERED_MAX as u64));
        assert_eq!((newest[0].number, newest[0].resource.as_str()), (255, "s255"));
        slow.clear();
        slow.note(Duration::from_secs(1), 64, (0..64).map(|_| ("STOCK.TAKE", "s".to_owned())));
        assert_eq!((slow.newest().len(), slow.total()), (OF_BATCH_MAX, 256 + 64));
        assert_eq!(slow.newest().last().map(|oldest| oldest.number), Some(256), "numbers go on");
    }

    #[test]
    fn requests_and_entries_tell_the_command_and_its_resource_and_nothing_else() {
        let (mut machine, mut log) = (Machine::new(StateSettings::default(), 0), Vec::new());
        let mut names = Vec::new();
        for line in
            ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 7 ID op", "STOCK.CREATE s 5", "STOCK.TAKE s 2 bob"]
        {
            let request = request(line);
            names.extend(name_of(&request));
            let Request::Write(envelope) = &request else { continue };
            machine.submit(envelope, 1, &mut log);
        }
        assert_eq!(names[1], ("ACCOUNT.CREDIT", "a".to_owned()));
        assert_eq!(names[3], ("STOCK.TAKE", "s".to_owned()));
        assert_eq!(names_of_entries(&log).collect::<Vec<_>>(), names);
        let Request::Write(resolve) = request("OPERATION.RESOLVE secret ON a") else {
            unreachable!("it writes")
        };
        machine.submit(&resolve, 1, &mut log);
        let last = names_of_entries(&log).last();
        assert_eq!(last, Some(("OPERATION.RESOLVE", String::new())), "no caller's id");
        let create = request("PACKET.CREATE c EUR PLAN 5000 5000 EVEN");
        let (begins_at, Request::Write(create)) = (log.len(), create) else { unreachable!("it writes") };
        machine.submit(&create, 1, &mut log);
        let Request::Write(claim) = request("PACKET.CLAIM c u") else { unreachable!("it writes") };
        machine.submit(&claim, 1, &mut log);
        let named: Vec<_> = names_of_entries(&log[begins_at..]).collect();
        let of_campaign = |name| (name, "c".to_owned());
        assert_eq!(
            named,
            [of_campaign("PACKET.CREATE"), of_campaign("PACKET.CLAIM")],
            "five entries, one name"
        );
        assert_eq!(name_of(&Request::Expire(5)), None);
        assert_eq!(names_of_entries(b"damaged").count(), 0);
    }
}
