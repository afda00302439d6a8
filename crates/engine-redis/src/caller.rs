//! Calling the library.

use std::sync::Arc;

use super::call::RequestKind;
use super::connection::{Link, Refused};
use super::keys::Keys;
use super::library::Library;
use super::nodes::Node;
use super::program::{Program, Rights, ScriptKind};

/// The library on the servers, as it is called.
#[derive(Clone, Debug)]
pub struct Caller {
    program: Program,
    kind: ScriptKind,
}

impl Caller {
    /// A library that is loaded where it is missed.
    #[must_use]
    pub fn new(library: &Library, kind: ScriptKind) -> Self {
        let (function, reader) = (library.name.clone(), Some(library.reader_name()));
        let mut program = Program::new(function, reader, library.functions(), library.script());
        program.shrinker = Some(library.shrinker_name());
        Self { program, kind }
    }

    /// Whether every server keeps the library once it is built.
    #[must_use]
    pub(super) fn is_kept(&self) -> bool {
        self.kind == ScriptKind::Functions
    }

    /// Calls the library with a message, which is made for the server that gets it. Gives the answer and
    /// who gave it.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub(super) async fn call(
        &self,
        link: &Link,
        keys: &Keys,
        message: &(dyn Fn(&Node) -> Vec<u8> + Sync),
        rights: Rights,
    ) -> Result<(redis::Value, Arc<Node>), Refused> {
        let kind = if rights == Rights::Read { RequestKind::Read } else { RequestKind::Write };
        let make = |node: &Node| {
            let declared = keys.declared(node.state.moves_keys);
            let mut command = self.program.command(self.kind.on(node), rights, declared);
            command.arg(message(node)).arg(kind.word());
            command
        };
        self.program.call(self.kind, link, &make).await
    }
}
