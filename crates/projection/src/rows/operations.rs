//! Rows of operations.

use scarce_core::command::table as commands;
use scarce_core::event::find;
use scarce_core::outcome::Code;

use crate::table::{Cell, ColumnKind, Field, Text, row};

/// The name of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventName(pub(crate) &'static str);

impl Field for EventName {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Word(self.0)
    }

    fn read(cell: Cell) -> Option<Self> {
        find(cell.text()?).map(|spec| Self(spec.name))
    }
}

/// The name of a command, or [`CommandName::BATCH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandName(pub(crate) &'static str);

impl CommandName {
    /// Several commands that were applied all or none.
    pub(crate) const BATCH: Self = Self("MULTI");
}

impl Field for CommandName {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Word(self.0)
    }

    fn read(cell: Cell) -> Option<Self> {
        match cell.text()? {
            text if text == Self::BATCH.0 => Some(Self::BATCH),
            text => commands::find(text.as_bytes()).map(|spec| Self(spec.name)),
        }
    }
}

impl Field for Code {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Word(self.word())
    }

    fn read(cell: Cell) -> Option<Self> {
        Self::from_word(cell.text()?)
    }
}

row! {
    /// An operation with the answer that the engine remembers for its id.
    OperationRow in "operations", key 4 with uses {
        operation_id: Text,
        namespace: Text,
        partition_id: i64,
        use_number: i64,
        epoch: i64,
        first_sequence: i64,
        last_sequence: i64,
        outcome: Code,
        facts: Text,
        at_ms: i64,
        event: Option<EventName>,
        resource_id: Option<Text>,
        event_fields: Option<Text>,
        command: Option<CommandName>,
        arguments: Option<Text>,
    }
}
