//! A script as servers take it: as a library of Functions, or by its digest; loaded wherever it is missing.

use std::sync::Arc;

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};

use super::connection::{Link, MakeCommand, Refused};
use super::nodes::Node;
use super::script::is_raised;

/// How a script is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// As a Function, where the server has them (from 7.0).
    Functions,
    /// By EVALSHA, which every server has.
    Evalsha,
}

impl ScriptKind {
    /// How a server is called: one that has no Functions by EVALSHA, although others have them. It would repeat the
    /// arguments of an `FCALL` in its error, and the bytes of a message are not text that a client can read.
    pub(super) fn on(self, node: &Node) -> Self {
        if node.state.has_functions() { self } else { Self::Evalsha }
    }
}

/// What a call may do, where the server holds it to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// Look.
    Read,
    /// Write.
    Write,
    /// Write although memory is full, because that frees some.
    Shrink,
}

/// How often a script is loaded for one call: after a load the slot may have moved on to another server.
const LOADS_MAX: usize = 3;

/// A script in both of its forms.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The function's name; another one for another text, so that nobody calls what somebody else loaded.
    pub(super) function: String,
    /// The function that may not write, where there is one.
    pub(super) reader: Option<String>,
    /// The function that may write although memory is full, where there is one.
    pub(super) shrinker: Option<String>,
    /// For `FUNCTION LOAD`.
    pub(super) functions: String,
    /// For `SCRIPT LOAD`.
    pub(super) script: String,
    /// What `SCRIPT LOAD` answers.
    pub(super) sha: String,
}

impl Program {
    /// A script in both of its forms.
    pub(super) fn new(function: String, reader: Option<String>, functions: String, script: String) -> Self {
        let sha = redis::Script::new(&script).get_hash().to_owned();
        Self { function, reader, shrinker: None, functions, script, sha }
    }

    /// The command that calls it with keys; arguments follow.
    pub(super) fn command(&self, kind: ScriptKind, rights: Rights, keys: &[String]) -> Cmd {
        let (word, name) = match (kind, rights, &self.reader, &self.shrinker) {
            (ScriptKind::Evalsha, ..) => ("EVALSHA", &self.sha),
            (ScriptKind::Functions, Rights::Read, Some(reader), _) => ("FCALL_RO", reader),
            (ScriptKind::Functions, Rights::Shrink, _, Some(shrinker)) => ("FCALL", shrinker),
            (ScriptKind::Functions, ..) => ("FCALL", &self.function),
        };
        let mut command = redis::cmd(word);
        command.arg(name).arg(keys.len()).arg(keys);
        command
    }

    /// Sends a call, which is made for the server that gets it. Where the server does not have the script,
    /// which a restart, a flush or a change of primary brings about, it is loaded and the call is sent once
    /// more: it did nothing before. Gives the answer and who gave it.
    ///
    /// # Errors
    /// As [`Link::send_made`].
    pub(super) async fn call(
        &self,
        kind: ScriptKind,
        link: &Link,
        make: &MakeCommand<'_>,
    ) -> Result<(Value, Arc<Node>), Refused> {
        let mut loads = 0;
        loop {
            match link.send_for_value(make).await {
                Err(Refused::ByServer { error, node }) if is_missing(&error) && loads < LOADS_MAX => {
                    loads += 1;
                    self.load(kind, &node).await.map_err(|error| Refused::ByServer { error, node })?;
                }
                answer => return answer,
            }
        }
    }

    /// Loads it.
    ///
    /// # Errors
    /// When the server refuses.
    pub(super) async fn load(&self, kind: ScriptKind, node: &Node) -> Result<(), RedisError> {
        let (word, text) = match kind.on(node) {
            ScriptKind::Functions => ("FUNCTION", &self.functions),
            ScriptKind::Evalsha => ("SCRIPT", &self.script),
        };
        let mut load = redis::cmd(word);
        load.arg("LOAD").arg(text);
        match load.query_async::<String>(&mut node.connection()).await {
            // Somebody else was faster; the name says that it is the same text.
            Err(error) if error.to_string().contains("already exists") => Ok(()),
            answer => answer.map(drop),
        }
    }
}

/// Whether a server does not have what was called.
pub(super) fn is_missing(error: &RedisError) -> bool {
    // What a script raises in these words has run.
    (error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) && !is_raised(error))
        || (error.kind() == ErrorKind::Server(ServerErrorKind::ResponseError)
            && error.detail() == Some("Function not found"))
}
