//! Operations in wire format, and the checks before they are sent.

use scarce_core::command::{Command, CommandSpec, Common, table};
use scarce_core::outcome::Durability;
use scarce_core::types::Natural;

use super::lines::LINE_BYTES_MAX;
use scarce_client::pack;

/// The maximum number of words of a command, so that the server accepts it with `ID`, `DEADLINE` and
/// `DURABILITY` added.
const WORDS_MAX: usize = 4_090;

/// An operation, ready to be sent or resent.
#[derive(Debug)]
pub(super) struct Operation {
    /// Its line in the file.
    pub(super) line: u64,
    /// The id under which it is applied once.
    pub(super) id: String,
    /// In wire format.
    pub(super) packed: Vec<u8>,
    /// The number of answers to it.
    pub(super) answers: usize,
    /// Whether it is a batch.
    pub(super) is_atomic: bool,
    /// How to handle its answer.
    pub(super) role: Role,
}

/// The terms of an operation besides its content: deadline and durability.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    pub(super) deadline: Option<Natural>,
    pub(super) durability: Option<Durability>,
}

impl Terms {
    /// As options after an id.
    fn words(self) -> Vec<String> {
        let deadline = self.deadline.map(|deadline| ["DEADLINE".to_owned(), deadline.get().to_string()]);
        let durability = self.durability.map(|level| ["DURABILITY".to_owned(), level.word().to_owned()]);
        deadline.into_iter().chain(durability).flatten().collect()
    }
}

/// How to handle the answer to an operation.
#[derive(Debug)]
pub(super) enum Role {
    /// It is the line's outcome.
    Whole,
    /// The resource may already exist; then it is left as it is, or inspected.
    Create(Option<Box<Existing>>),
    /// It shows an existing resource.
    Look(Box<Existing>),
}

/// What to do with an existing account.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) account: String,
    /// The asset that it must hold.
    pub(super) asset: String,
    /// Sent if it does.
    pub(super) credit: Operation,
}

impl Operation {
    /// One command, whose answer is the line's outcome.
    pub(super) fn single(line: u64, id: String, command: &[&str], terms: Terms) -> Self {
        let terms = terms.words();
        let mut words = [command, &["ID", &id]].concat();
        words.extend(terms.iter().map(String::as_str));
        let mut packed = Vec::new();
        pack(&words, &mut packed);
        Self { line, id, packed, answers: 1, is_atomic: false, role: Role::Whole }
    }

    /// Several commands, all or none.
    pub(super) fn batch<'a, C: AsRef<[&'a str]>>(
        line: u64,
        id: String,
        commands: &[C],
        terms: Terms,
    ) -> Self {
        let terms = terms.words();
        let mut head = vec!["BATCH.ID", id.as_str()];
        head.extend(terms.iter().map(String::as_str));
        let mut packed = Vec::new();
        pack(&["MULTI"], &mut packed);
        pack(&head, &mut packed);
        commands.iter().for_each(|words| pack(words.as_ref(), &mut packed));
        pack(&["EXEC"], &mut packed);
        Self { line, id, packed, answers: commands.len() + 3, is_atomic: true, role: Role::Whole }
    }

    /// A query for an existing account.
    pub(super) fn look(existing: Box<Existing>) -> Self {
        let Operation { line, ref id, .. } = existing.credit;
        let id = id.clone();
        let mut packed = Vec::new();
        pack(&["ACCOUNT.GET", &existing.account], &mut packed);
        Self { line, id, packed, answers: 1, is_atomic: false, role: Role::Look(existing) }
    }
}

/// Finds a command by name, if it can be imported.
pub(super) fn find(name: &str) -> Result<&'static CommandSpec, String> {
    let spec =
        table::find(name.as_bytes()).ok_or_else(|| format!("names an unknown command '{}'", shown(name)))?;
    if !spec.joins_atomic_batches() {
        return Err(format!("names {}, which changes nothing that could be imported", spec.name));
    }
    Ok(spec)
}

/// Checks that the server will understand the words of a command.
pub(super) fn check(spec: &CommandSpec, words: &[&str]) -> Result<(), String> {
    if words.len() > WORDS_MAX {
        return Err(format!("has more than {WORDS_MAX} words"));
    }
    // Values derived from a line can be longer than the line.
    if words.iter().map(|word| word.len()).sum::<usize>() > LINE_BYTES_MAX {
        return Err(format!("has more than {LINE_BYTES_MAX} bytes"));
    }
    let bytes: Vec<&[u8]> = words.iter().skip(1).map(|word| word.as_bytes()).collect();
    let (_, common) =
        Command::parse(spec, &bytes).map_err(|problem| format!("{problem}. Usage: {}", spec.usage()))?;
    if common != Common::default() {
        return Err("carries ID, DEADLINE or DURABILITY; these are fields of the line".to_owned());
    }
    Ok(())
}

/// A caller's text, shortened and without terminal control characters.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(32).collect()
}
