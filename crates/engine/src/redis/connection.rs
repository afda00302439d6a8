//! Connections to the server: one for calls, which is made anew when it breaks, and further ones for what
//! waits or reads much. Nothing is ever sent twice by itself, but a call that no library answered.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, RedisError, ServerErrorKind};

use super::keys::Keys;
use super::library::Library;
use crate::engine::Failure;

/// How a library is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// As a Function, where the server has them (from 7.0).
    Functions,
    /// By EVALSHA, which every server has.
    Evalsha,
}

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A way to the server.
#[derive(Clone, Debug)]
pub struct Link {
    client: Client,
    response_timeout: Option<Duration>,
    connection: Option<MultiplexedConnection>,
}

impl Link {
    /// A way that has not been gone yet. Without `response_timeout` an answer is waited for as long as the
    /// connection lives.
    #[must_use]
    pub fn new(client: Client, response_timeout: Option<Duration>) -> Self {
        Self { client, response_timeout, connection: None }
    }

    /// Sends a command, over a new connection where there is none.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it was not sent or the server did nothing, [`Failure::Unknown`] when
    /// it was sent and not answered; [`Refused`] for what the server says against the command itself.
    pub async fn send<T: redis::FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Refused> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        match command.query_async(&mut connection).await {
            Ok(answer) => {
                self.connection = Some(connection);
                Ok(answer)
            }
            Err(error) if is_broken(&error) => {
                Err(Refused::Failure(Failure::Unknown { reason: told(&error) }))
            }
            Err(error) => {
                self.connection = Some(connection);
                Err(Refused::ByServer(error))
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, Refused> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(self.response_timeout);
        let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
        connected.map_err(|error| {
            let address = self.client.get_connection_info().addr().to_string();
            let reason = format!("Redis at {address} cannot be reached: {}; is it running?", told(&error));
            Refused::Failure(Failure::Unavailable { reason })
        })
    }
}

/// Why a command has no answer.
#[derive(Debug)]
pub enum Refused {
    /// The engine could not ask.
    Failure(Failure),
    /// The server answered with an error; the command did nothing.
    ByServer(RedisError),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failure(failure) => failure,
            Refused::ByServer(error) => failure_of(&error),
        }
    }
}

/// Whether nobody knows what became of the command.
fn is_broken(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::Parse
}

fn told(error: &RedisError) -> String {
    error.to_string()
}

/// What an error of the server means. All but a failure that was not undone leave everything as it was.
fn failure_of(error: &RedisError) -> Failure {
    let (code, detail) = (error.code().unwrap_or(""), error.detail().unwrap_or(""));
    if code == "SCARCE" && detail.starts_with("DAMAGED") {
        return Failure::Unknown { reason: format!("the partition is damaged: {detail}") };
    }
    let advice = match code {
        "OOM" => "; its memory is full, raise maxmemory",
        "READONLY" => "; it is a replica, name the primary",
        "LOADING" => "; it is loading its data, wait",
        "BUSY" => "; another script is running",
        "NOAUTH" | "WRONGPASS" | "NOPERM" => {
            "; give a user that may run functions and all commands on its keys"
        }
        "MISCONF" => "; it cannot write its data to disk",
        _ => "",
    };
    Failure::Unavailable { reason: format!("Redis refused: {}{advice}", told(error)) }
}

/// The library on a server, as it is called.
#[derive(Clone, Debug)]
pub struct Caller {
    library: Library,
    kind: ScriptKind,
    sha: String,
}

impl Caller {
    /// A library that is loaded when it is first missed.
    #[must_use]
    pub fn new(library: Library, kind: ScriptKind) -> Self {
        // Of no script, so that the first call finds none and loads it.
        Self { library, kind, sha: "0".repeat(40) }
    }

    /// Calls the library with a message. Where the server does not have it, which a restart, a flush or a
    /// change of primary brings about, it is loaded and the call is sent once more: it did nothing before.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub async fn call(
        &mut self,
        link: &mut Link,
        keys: &Keys,
        message: &[u8],
        is_read: bool,
    ) -> Result<redis::Value, Failure> {
        match link.send(&self.command(keys, message, is_read)).await {
            Err(Refused::ByServer(error)) if is_missing(&error) => {
                self.load(link).await?;
                Ok(link.send(&self.command(keys, message, is_read)).await?)
            }
            answer => Ok(answer?),
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

    async fn load(&mut self, link: &mut Link) -> Result<(), Failure> {
        match self.kind {
            ScriptKind::Functions => {
                let mut load = redis::cmd("FUNCTION");
                load.arg("LOAD").arg(self.library.functions());
                match link.send::<String>(&load).await {
                    Ok(_) => Ok(()),
                    // Another engine was faster; the name says that it is the same text.
                    Err(Refused::ByServer(error)) if error.to_string().contains("already exists") => Ok(()),
                    Err(refused) => Err(refused.into()),
                }
            }
            ScriptKind::Evalsha => {
                let mut load = redis::cmd("SCRIPT");
                load.arg("LOAD").arg(self.library.script());
                self.sha = link.send(&load).await?;
                Ok(())
            }
        }
    }
}

fn is_missing(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
        || error.to_string().contains("Function not found")
}
