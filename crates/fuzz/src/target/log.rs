//! Entries of the log.

use scarce_core::event::Entry;

use super::{Target, commands};

pub(super) const TARGET: Target = Target {
    name: "log",
    about: "entries of the log, as in the journal and in backups",
    examples,
    check,
    weight: 1_000,
};

fn examples() -> Vec<Vec<u8>> {
    let logs = commands::scripts().into_iter().map(|script| commands::run(script.as_bytes()).1);
    logs.filter(|log| !log.is_empty()).collect()
}

fn check(bytes: &[u8]) {
    let Ok(entries) = Entry::read_all(bytes) else { return };
    let mut written = Vec::new();
    for entry in &entries {
        Entry::write(&mut written, &entry.head, entry.outcome.as_ref(), &entry.events);
        let _ = (entry.end(), entry.events.iter().map(|event| event.values().len()).sum::<usize>());
    }
    // A number may have been written longer than need be, so only what is read is compared.
    assert_eq!(Entry::read_all(&written).ok(), Some(entries), "written and read again");
}
