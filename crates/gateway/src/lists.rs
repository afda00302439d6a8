//! Lists of resources by name, over all partitions: what each partition is asked, as far as the caller's key covers it, and
//! the page that its answers make.

use scarce_access::Part;
use scarce_core::command::{Command, CommandSpec, lists};
use scarce_core::outcome::{Outcome, Receipt};
use scarce_core::types::{RowCount, Text};
use scarce_engine::Request;

use super::Caller;

/// A page of a list that a caller asks for.
#[derive(Clone, Debug)]
pub struct ListAsked {
    spec: &'static CommandSpec,
    caller: Option<Caller>,
    count: RowCount,
    /// What every partition is asked.
    commands: Vec<Command>,
}

impl ListAsked {
    /// What a command that lists asks for.
    #[must_use]
    pub fn new(spec: &'static CommandSpec, command: Command, caller: Option<&Caller>) -> Self {
        let page = command.page();
        let count = page.map_or(RowCount::ONE, |page| page.count);
        let prefix = page.and_then(|page| page.prefix).unwrap_or_default();
        let commands = match caller.and_then(|caller| caller.parts(spec, prefix)) {
            None => vec![command],
            Some(parts) => parts.into_iter().map(|part| narrowed(&command, part, count)).collect(),
        };
        Self { spec, caller: caller.cloned(), count, commands }
    }

    /// The row of the command table.
    #[must_use]
    pub const fn spec(&self) -> &'static CommandSpec {
        self.spec
    }

    /// What every partition is asked; nothing where the caller is shown nothing of the list.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.commands.iter().map(|command| Request::Read(String::new(), command.clone())).collect()
    }

    /// The page of what all partitions answered.
    pub fn join<'a>(&self, answers: impl Iterator<Item = &'a Receipt>) -> Outcome {
        let is_shown = |id: &str| self.caller.as_ref().is_none_or(|caller| caller.is_shown(self.spec, id));
        lists::merge(answers.map(|receipt| &receipt.outcome), self.count, is_shown)
    }
}

/// The list of one part of the names.
fn narrowed(command: &Command, part: Part, count: RowCount) -> Command {
    let (text, count) = match part {
        Part::Beginning(text) => (text, count),
        // It is the first of all names that begin so.
        Part::One(id) => (id, RowCount::ONE),
    };
    command.clone().with_names(Text::parse(text.as_bytes(), "prefix").ok(), count)
}
