//! Entries of the log, byte by byte, as `docs/journal-format.md` lists them; they were written there
//! by a program in another language.

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;

const PAGE: &str = include_str!("../../../docs/journal-format.md");

#[test]
fn entries_are_those_of_the_page() {
    let rest = PAGE.split_once("### Vectors").expect("the section begins").1;
    let section = rest.split_once("\n## ").expect("the section ends").0;
    let lines: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let (mut machine, mut read) = (Machine::new(StateSettings::default(), 0), 0);
    for pair in lines.chunks(2) {
        let words: Vec<&[u8]> = pair[0].split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
        let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("no cut");
        let mut log = Vec::new();
        machine.submit(&envelope, 1_000, &mut log);
        let found: String = log.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, pair[1].trim(), "{}", pair[0]);
        read += Entry::read_all(&log).expect("an entry").len();
    }
    assert_eq!(read, 4);
}
