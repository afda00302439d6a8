//! Calling the library: as a Function or by EVALSHA, loaded wherever it is missing.

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind};

use super::connection::{Link, Refused};
use super::failure::failure_of;
use super::keys::Keys;
use super::library::Library;
use super::nodes::Node;
use crate::engine::Failure;

/// How a library is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// As a Function, where the server has them (from 7.0).
    Functions,
    /// By EVALSHA, which every server has.
    Evalsha,
}

/// How often the library is loaded for one call: after a load the slot may have moved on to another server.
const LOADS_MAX: usize = 3;

/// The library on the servers, as it is called.
#[derive(Clone, Debug)]
pub struct Caller {
    library: Library,
    kind: ScriptKind,
    sha: String,
}

impl Caller {
    /// A library that is loaded where it is missed.
    #[must_use]
    pub fn new(library: Library, kind: ScriptKind) -> Self {
        let sha = redis::Script::new(&library.script()).get_hash().to_owned();
        Self { library, kind, sha }
    }

    /// Calls the library with a message, which is made for the server that gets it. Where the server does
    /// not have the library, which a restart, a flush or a change of primary brings about, it is loaded and
    /// the call is sent once more: it did nothing before. Gives the answer and who gave it.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub async fn call(
        &self,
        link: &Link,
        keys: &Keys,
        message: impl Fn(&Node) -> Vec<u8>,
        is_read: bool,
    ) -> Result<(Vec<u8>, std::sync::Arc<Node>), Failure> {
        let mut loads = 0;
        loop {
            match link.send_made(|node| self.command(keys, &message(node), is_read)).await {
                Err(Refused::ByServer { error, node }) if is_missing(&error) && loads < LOADS_MAX => {
                    loads += 1;
                    self.load(&node).await?;
                }
                answer => return Ok(answer?),
            }
        }
    }

    fn command(&self, keys: &Keys, message: &[u8], is_read: bool) -> Cmd {
        let mut command = match (self.kind, is_read) {
            (ScriptKind::Evalsha, _) => redis::cmd("EVALSHA"),
            (ScriptKind::Functions, true) => redis::cmd("FCALL_RO"),
            (ScriptKind::Functions, false) => redis::cmd("FCALL"),
        };
        match (self.kind, is_read) {
            (ScriptKind::Evalsha, _) => command.arg(&self.sha),
            (ScriptKind::Functions, true) => command.arg(self.library.reader_name()),
            (ScriptKind::Functions, false) => command.arg(&self.library.name),
        };
        command.arg(keys.all().len()).arg(keys.all()).arg(message);
        command.arg(if is_read { "read" } else { "write" });
        command
    }

    async fn load(&self, node: &Node) -> Result<(), Failure> {
        let load = match self.kind {
            ScriptKind::Functions => redis::cmd("FUNCTION").arg("LOAD").arg(self.library.functions()).clone(),
            ScriptKind::Evalsha => redis::cmd("SCRIPT").arg("LOAD").arg(self.library.script()).clone(),
        };
        match load.query_async::<String>(&mut node.connection()).await {
            Ok(_) => Ok(()),
            // Another engine was faster; the name says that it is the same text.
            Err(error) if error.to_string().contains("already exists") => Ok(()),
            Err(error) => Err(failure_of(&error, &node.endpoint)),
        }
    }
}

fn is_missing(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
        || error.to_string().contains("Function not found")
}
