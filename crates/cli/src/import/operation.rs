//! Operations as they go over the wire, and what is checked before they do.

use scarce_core::command::{Command, CommandSpec, Common, table};
use scarce_core::outcome::Durability;
use scarce_core::types::Natural;

use super::lines::LINE_BYTES_MAX;
use scarce_client::pack;

/// The most words of a command, so that with `ID`, `DEADLINE` and `DURABILITY` the server still takes it.
const WORDS_MAX: usize = 4_090;

/// An operation, ready to be sent, once or again.
#[derive(Debug)]
pub(super) struct Operation {
    /// The line it stands on.
    pub(super) line: u64,
    /// Under which it is applied once.
    pub(super) id: String,
    /// As it goes over the wire.
    pub(super) packed: Vec<u8>,
    /// How many answers the server gives to it.
    pub(super) answers: usize,
    /// Whether it is a batch.
    pub(super) is_atomic: bool,
    /// What its answer leads to.
    pub(super) role: Role,
}

/// What is asked of an operation beside its content: by when, and how safely.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    pub(super) deadline: Option<Natural>,
    pub(super) durability: Option<Durability>,
}

impl Terms {
    /// As options behind an id.
    fn words(self) -> Vec<String> {
        let deadline = self.deadline.map(|deadline| ["DEADLINE".to_owned(), deadline.get().to_string()]);
        let durability = self.durability.map(|level| ["DURABILITY".to_owned(), level.word().to_owned()]);
        deadline.into_iter().chain(durability).flatten().collect()
    }
}

/// What the answer to an operation leads to.
#[derive(Debug)]
pub(super) enum Role {
    /// It is the line's outcome.
    Whole,
    /// What was to be made may exist already; then it is left as it is, or looked at.
    Create(Option<Box<Existing>>),
    /// It shows what exists.
    Look(Box<Existing>),
}

/// What to do with an account that exists already.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) account: String,
    /// The asset that it must keep.
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

    /// A question about an account that exists already.
    pub(super) fn look(existing: Box<Existing>) -> Self {
        let Operation { line, ref id, .. } = existing.credit;
        let id = id.clone();
        let mut packed = Vec::new();
        pack(&["ACCOUNT.GET", &existing.account], &mut packed);
        Self { line, id, packed, answers: 1, is_atomic: false, role: Role::Look(existing) }
    }
}

/// The command of a name, if it changes what can be imported.
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
    // What is derived from a line can be longer than the line.
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

/// A caller's text, short and without what a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(32).collect()
}
