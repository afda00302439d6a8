//! References to other resources, and reasons.

use super::list_wire;
use crate::codec::{Input, Malformed, Wire};
use crate::command::Routed;
use crate::command::argument::{Argument, ArgumentKind, Invalid, Words};
use crate::event::Shown;
use crate::outcome::Value;
use crate::types::{Id, Text};

/// Why stock was adjusted, written as `REASON text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub Text);

impl Argument for Reason {
    const KIND: ArgumentKind = ArgumentKind::Reason;
    const SYNTAX: Option<&'static str> = Some("REASON text");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("REASON") {
            Text::take(words, argument).map(Self)
        } else {
            Err(Invalid::new(argument, "must be given as REASON text"))
        }
    }
}
list_wire!(Reason);

impl Shown for Reason {
    fn shown(&self) -> Value {
        self.0.shown()
    }
}

/// Any resource, to name its partition, written as `ON resource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource(pub Id);

impl Argument for Resource {
    const KIND: ArgumentKind = ArgumentKind::Resource;
    const SYNTAX: Option<&'static str> = Some("ON resource");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("ON") {
            Id::take(words, argument).map(Self)
        } else {
            Err(Invalid::new(argument, "must be given as ON resource"))
        }
    }
}
list_wire!(Resource);

impl Shown for Resource {
    fn shown(&self) -> Value {
        self.0.shown()
    }
}

impl Routed for Resource {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        visit(&self.0);
    }
}

/// An optional resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalResource(pub Option<Id>);

impl Argument for OptionalResource {
    const KIND: ArgumentKind = ArgumentKind::OptionalResource;
    const SYNTAX: Option<&'static str> = Some("[resource]");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        words.next().map(|word| Id::parse(word, argument)).transpose().map(Self)
    }
}
list_wire!(OptionalResource);

impl Shown for OptionalResource {
    fn shown(&self) -> Value {
        self.0.shown()
    }
}

impl Routed for OptionalResource {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        self.0.visit(visit);
    }
}
