//! A session with a server: queued commands, lost connections, safe retries.

use std::time::{Duration, Instant};

use redis::Value;
use scarce_core::command::Command;

use super::super::Failed;
use super::super::args::Target;
use super::super::show::spec_of;
use scarce_client::{Client, ClientError, text};

/// How long to wait for a lost server.
const PATIENCE: Duration = Duration::from_secs(5);

/// The delay between two attempts to reach it.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The result of a command.
#[derive(Debug)]
pub(super) enum Told {
    /// An answer.
    Answer(Value),
    /// The answers to the lines of a batch.
    Batch(Vec<Vec<String>>, Vec<Value>),
    /// The connection broke, and the result of the command is unknown.
    Unknown(String),
    /// There is no server.
    Unreachable(Failed),
}

/// A session.
pub(super) struct Session {
    target: Target,
    client: Option<Client>,
    /// The lines of the open batch.
    batch: Option<Vec<Vec<String>>>,
}

impl Session {
    /// A session that connects at the first command.
    pub(super) fn new(target: Target) -> Self {
        Self { target, client: None, batch: None }
    }

    /// Connects, unless it is connected.
    ///
    /// # Errors
    /// When nothing answers.
    pub(super) fn connect(&mut self) -> Result<&mut Client, Failed> {
        match &mut self.client {
            Some(client) => Ok(client),
            none => Ok(none.insert(self.target.connect()?)),
        }
    }

    /// Whether there is a connection, as far as known.
    pub(super) fn is_connected(&self) -> bool {
        self.client.is_some()
    }

    /// The server's address.
    pub(super) fn address(&self) -> &str {
        &self.target.resp
    }

    /// The number of commands in the open batch.
    pub(super) fn queued(&self) -> Option<usize> {
        let lines = self.batch.as_ref()?;
        Some(lines.iter().filter(|words| spec_of(words).is_some()).count())
    }

    /// Sends a command. If the connection breaks, a repeatable command is sent again.
    pub(super) fn run(&mut self, words: &[String], on_lost: &mut dyn FnMut(&ClientError)) -> Told {
        let client = match self.connect() {
            Ok(client) => client,
            Err(failed) => return Told::Unreachable(failed),
        };
        match client.call(words) {
            Ok(value) => self.answered(words, value),
            Err(error) => {
                on_lost(&error);
                self.lost(words)
            }
        }
    }

    fn answered(&mut self, words: &[String], value: Value) -> Told {
        let is = |name: &str| words.first().is_some_and(|word| word.eq_ignore_ascii_case(name));
        match (&value, self.batch.as_mut()) {
            (Value::Okay, None) if is("MULTI") => self.batch = Some(Vec::new()),
            (_, Some(_)) if is("EXEC") => {
                let lines = self.batch.take().unwrap_or_default();
                return match value {
                    Value::Array(values) => Told::Batch(lines, values),
                    value => Told::Answer(value),
                };
            }
            (_, Some(_)) if is("DISCARD") || is("RESET") => self.batch = None,
            (value, Some(lines)) if text(value).as_deref() == Some("QUEUED") => lines.push(words.to_vec()),
            _ => {}
        }
        Told::Answer(value)
    }

    fn lost(&mut self, words: &[String]) -> Told {
        self.client = None;
        let was_batch = self.batch.take().is_some();
        let is_exec = words.first().is_some_and(|word| word.eq_ignore_ascii_case("EXEC"));
        if was_batch && !is_exec {
            return Told::Unknown("the open batch is gone with it, and nothing of it was applied".to_owned());
        }
        if was_batch {
            let text =
                "nobody knows whether the batch was applied; with BATCH.ID it can be sent again safely";
            return Told::Unknown(text.to_owned());
        }
        if !is_repeatable(words) {
            let text = "nobody knows whether it was applied; with an ID it could be sent again safely";
            return Told::Unknown(text.to_owned());
        }
        match self.reconnect() {
            Err(failed) => Told::Unreachable(failed),
            Ok(client) => match client.call(words) {
                Ok(value) => self.answered(words, value),
                Err(_) => {
                    self.client = None;
                    Told::Unknown("the connection broke again; send it once more".to_owned())
                }
            },
        }
    }

    fn reconnect(&mut self) -> Result<&mut Client, Failed> {
        let deadline = Instant::now() + PATIENCE;
        let client = loop {
            match self.target.connect() {
                Ok(client) => break client,
                Err(failed) if Instant::now() >= deadline => return Err(failed),
                Err(_) => std::thread::park_timeout(RETRY_INTERVAL),
            }
        };
        Ok(self.client.insert(client))
    }
}

/// Whether a duplicate is harmless: a read, or a command with an id.
fn is_repeatable(words: &[String]) -> bool {
    let Some(spec) = spec_of(words) else {
        let harmless = ["PING", "ECHO", "INFO", "COMMAND", "CLIENT", "CONFIG", "EVENTS", "SNAPSHOT"];
        return words.first().is_some_and(|word| harmless.iter().any(|name| word.eq_ignore_ascii_case(name)));
    };
    let arguments: Vec<_> = words.iter().skip(1).map(|word| word.as_bytes()).collect();
    let parsed = Command::parse(spec, &arguments);
    spec.common_options().is_empty() || parsed.is_ok_and(|(_, common)| common.operation.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_does_no_harm_twice_is_sent_twice() {
        let is = |line: &str| is_repeatable(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(is("STOCK.GET s") && is("STOCK.TAKE s 1 u ID op") && is("stock.take s 1 u deadline 5 id op"));
        assert!(is("PING") && is("OPERATION.RESOLVE op ON s"));
        assert!(!is("STOCK.TAKE s 1 u") && !is("STOCK.TAKE s 1 id") && !is("EXEC") && !is("MULTI"));
    }
}
