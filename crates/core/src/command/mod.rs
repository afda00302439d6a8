//! Commands: what callers can request. One table ([`table`]) declares each command with its arguments,
//! its answer and its refusals. Parsing, usage lines, content hashes, documents and the conformance
//! checklist are generated from it.

pub mod argument;
pub mod lists;
mod parse;
pub mod plain;
pub mod rows;
pub mod rules;
pub mod shapes;
mod spec;
pub mod table;
pub mod work;

pub use argument::{ArgumentKind, Invalid};
pub use spec::{AnswerLayout, ArgumentSpec, COMMON_OPTIONS, CommandSpec, Effect, is_common_option};
pub use table::{COMMANDS, Command};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Wire;
use crate::outcome::Durability;
use crate::packets::Prepared;
use crate::types::{Id, OperationId, TimeMs};

/// The trailing options that every mutating command takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// `ID`: the operation id, under which the command is applied at most once.
    pub operation: Option<OperationId>,
    /// `DEADLINE`: from this stamp on, the command must not be applied.
    pub deadline: Option<TimeMs>,
    /// `DURABILITY`: how safe the change must be before the answer; the deployment sets the default.
    pub durability: Option<Durability>,
}

impl Common {
    /// A deadline that is over: such a command is answered if its id is known, and otherwise refused.
    const OVER: TimeMs = 1;

    /// The same for a command that must not be carried out any more: if its id is known, its first answer is given again. `None`
    /// without an id.
    #[must_use]
    pub fn of_duplicate(self) -> Option<Self> {
        self.operation.is_some().then_some(Self { deadline: Some(Self::OVER), ..self })
    }
}

/// The body of an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// One command.
    Single(Command),
    /// Commands that are applied all or none, under one operation id.
    Atomic(Vec<Command>),
}

/// No command.
impl Default for Body {
    fn default() -> Self {
        Self::Atomic(Vec::new())
    }
}

impl Body {
    /// The commands in order.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        match self {
            Self::Single(command) => std::slice::from_ref(command),
            Self::Atomic(commands) => commands,
        }
    }
}

/// A request on its way to the state machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The namespace of the operation ids; empty if callers are not distinguished.
    pub namespace: compact_str::CompactString,
    /// The id, the deadline and the durability.
    pub common: Common,
    /// When the request was first sent, if its port knows: if the engine may have forgotten ids since then, a new
    /// id is refused as expired.
    pub issued_at: Option<TimeMs>,
    /// The epoch in which the request may be decided, if it rests on what was read of the log: in another one, that may
    /// be lost.
    pub epoch: Option<u64>,
    /// The requested commands.
    pub body: Body,
    /// The packets of each campaign that the body creates, cut before the writer's turn.
    pub(crate) prepared: Vec<Prepared>,
}

impl Envelope {
    /// Wraps a body and cuts the packets of the campaigns that it creates. `secret` belongs to the
    /// deployment, so that nobody outside can predict a cut.
    ///
    /// # Errors
    /// When the body asks for more work than a request may, or a campaign's plan cannot be cut.
    pub fn new(namespace: &str, common: Common, body: Body, secret: &[u8; 32]) -> Result<Self, Invalid> {
        work::check(body.commands())?;
        let mut prepared = Vec::new();
        for command in body.commands() {
            if let Command::PacketCreate(create) = command {
                prepared.push(Prepared::new(create, common.operation.as_ref(), secret)?);
            }
        }
        Ok(Self { namespace: namespace.into(), common, issued_at: None, epoch: None, body, prepared })
    }

    /// Reads a single command in place of what was in the envelope before, so that it is moved nowhere afterwards.
    ///
    /// # Errors
    /// As [`Command::parse`].
    pub fn read(&mut self, spec: &CommandSpec, words: &[&[u8]]) -> Result<(), Invalid> {
        self.namespace.clear();
        self.common = Common::default();
        self.issued_at = None;
        self.epoch = None;
        self.prepared.clear();
        self.body = Body::Single(Command::parse_with(spec, words, &mut self.common)?);
        Ok(())
    }

    /// Whether nothing needs to be prepared before it can be decided; otherwise [`Envelope::new`] does that.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !matches!(self.body, Body::Single(Command::PacketCreate(_)))
    }

    /// The hash of the body without operation id, deadline and durability: equal content has an equal
    /// hash on every port.
    #[must_use]
    pub fn fingerprint(&self, scratch: &mut Vec<u8>) -> u64 {
        scratch.clear();
        match &self.body {
            Body::Single(command) => command.put(scratch),
            Body::Atomic(commands) => {
                0_u64.put(scratch);
                commands.put(scratch);
            }
        }
        xxh3_64(scratch)
    }

    /// The packets of each campaign that the body creates, in order.
    #[must_use]
    pub fn prepared(&self) -> &[Prepared] {
        &self.prepared
    }

    /// The commands in order.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        self.body.commands()
    }
}

/// The ids that determine a command's partition.
pub trait Routed {
    /// Calls `visit` with each id in order.
    fn visit(&self, visit: &mut dyn FnMut(&Id));
}

impl Routed for Id {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        visit(self);
    }
}

impl Routed for Option<Id> {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        if let Some(id) = self {
            visit(id);
        }
    }
}

#[cfg(test)]
mod tests;
