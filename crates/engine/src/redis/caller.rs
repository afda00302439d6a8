//! Calling the library.

use std::sync::Arc;

use super::connection::Link;
use super::keys::Keys;
use super::library::Library;
use super::nodes::Node;
use super::program::{Program, ScriptKind};
use crate::engine::Failure;

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
        Self { program: Program::new(function, reader, library.functions(), library.script()), kind }
    }

    /// Calls the library with a message, which is made for the server that gets it. Gives the answer and
    /// who gave it.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub async fn call(
        &self,
        link: &Link,
        keys: &Keys,
        message: impl Fn(&Node) -> Vec<u8>,
        is_read: bool,
    ) -> Result<(Vec<u8>, Arc<Node>), Failure> {
        let make = |node: &Node| {
            let mut command = self.program.command(self.kind, is_read, keys.all());
            command.arg(message(node)).arg(if is_read { "read" } else { "write" });
            command
        };
        Ok(self.program.call(self.kind, link, make).await?)
    }
}
