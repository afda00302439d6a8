//! Commands as words, decided by a machine.

use std::path::Path;

use scarce_core::command::shapes::Cut;
use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Effect, Envelope};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "commands",
    about: "lines of words as commands: the log of what was decided is read back and folded",
    examples,
    check,
    weight: 100,
};

/// How many commands one input has at most.
const LINES_MAX: usize = 64;

/// A campaign with more packets than this only takes time.
const PACKETS_MAX: u64 = 1_000;

/// The conformance files, with the commands only.
pub(super) fn scripts() -> Vec<String> {
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance")), &mut files);
    files.sort();
    let sections = files.iter().flat_map(|text| text.split("\n\n"));
    sections.map(commands_of).filter(|script| !script.is_empty()).collect()
}

fn collect(folder: &Path, files: &mut Vec<String>) {
    let Ok(listed) = std::fs::read_dir(folder) else { return };
    for path in listed.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            files.extend(std::fs::read_to_string(&path));
        }
    }
}

fn commands_of(section: &str) -> String {
    let lines = section.lines().map(|line| line.split(" -> ").next().unwrap_or(line));
    let commands = lines.filter(|line| find(line.split(' ').next().unwrap_or_default().as_bytes()).is_some());
    commands.collect::<Vec<_>>().join("\n")
}

fn examples() -> Vec<Vec<u8>> {
    scripts().into_iter().map(String::into_bytes).collect()
}

fn parse(line: &[u8]) -> Option<(Command, Common)> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    Command::parse(find(words[0])?, &words[1..]).ok()
}

/// Runs the lines that are commands on a machine, and returns it with its log.
pub(super) fn run(bytes: &[u8]) -> (Machine, Vec<u8>) {
    let mut machine = Machine::new(StateSettings::default(), 0);
    let mut log = Vec::new();
    for (at, line) in (1_000..).step_by(10).zip(bytes.split(|byte| *byte == b'\n').take(LINES_MAX)) {
        let Some((command, common)) = parse(line).filter(|(command, _)| !is_large(command)) else { continue };
        if command.spec().effect == Effect::Read {
            let _ = machine.query("", &command, at);
        } else if let Ok(envelope) = Envelope::new("", common, Body::Single(command), &[0; 32]) {
            let _ = machine.submit(&envelope, at, &mut log);
        }
    }
    machine.finish(&mut log);
    (machine, log)
}

fn is_large(command: &Command) -> bool {
    let Command::PacketCreate(create) = command else { return false };
    matches!(create.cut, Cut::Plan { count, .. } if count.get() > PACKETS_MAX)
}

fn check(bytes: &[u8]) {
    let (machine, log) = run(bytes);
    let entries = Entry::read_all(&log).unwrap_or_else(|_| panic!("the log cannot be read"));
    let (mut again, mut folded) = (Vec::new(), Machine::new(StateSettings::default(), 0));
    for entry in &entries {
        Entry::write(&mut again, &entry.head, entry.outcome.as_ref(), &entry.events);
        folded.apply(entry);
    }
    assert!(again == log, "an entry is written as it was read");
    assert_eq!(folded.state().digest(None), machine.state().digest(None), "the log folds into the state");
}
