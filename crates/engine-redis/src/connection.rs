//! Sends a command to the server of its slot. Nothing is ever sent twice by itself, except what a server
//! has refused without doing anything: sent elsewhere, too early, or to a library that was not there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value};
use scarce_engine::engine::Failure;

use super::address::Endpoint;
use super::failure::{UNMENDED, failure_of, is_broken, unmended, word_of};
use super::nodes::{Node, Nodes, Traffic};
use super::script::is_raised;

/// How often a command is sent on to another server before that is told.
const REDIRECTS_MAX: u32 = 16;

/// How long a command waits until the keys of a slot that is being moved are together again.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before the first retry, and between later ones at most. The pause doubles without jitter: one
/// lane waits for one slot here, so there is no crowd to spread.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Makes a command for the server that gets it.
pub type MakeCommand<'a> = dyn Fn(&Node) -> Cmd + Sync + 'a;

/// A way to the server of one slot.
#[derive(Clone, Debug)]
pub struct Link {
    /// All servers.
    pub nodes: Arc<Nodes>,
    /// The slot.
    pub slot: u16,
    traffic: Traffic,
}

/// Why a command has no answer.
#[derive(Debug)]
pub enum Refused {
    /// The engine could not ask.
    Failure(Failure),
    /// The server did not answer in time.
    TimedOut {
        /// Who.
        endpoint: Endpoint,
    },
    /// The server answered with an error. What is one command of its own has done nothing then; what a script
    /// had done before its error stays, unless it takes it back itself, as the library does.
    ByServer {
        /// What it said.
        error: RedisError,
        /// Who.
        node: Arc<Node>,
    },
}

impl Refused {
    /// Whether the server found a key of another type than the command is for.
    pub(super) fn is_of_type(&self) -> bool {
        matches!(self, Self::ByServer { error, .. } if error.code() == Some("WRONGTYPE"))
    }

    /// What an error says. A connection after whose error nothing is certain is used no more.
    fn of(error: RedisError, node: Arc<Node>) -> Self {
        if !is_broken(&error) {
            return Self::ByServer { error, node };
        }
        node.retire();
        if error.is_timeout() {
            return Self::TimedOut { endpoint: node.endpoint.clone() };
        }
        let reason = format!("Redis at {}: {error}", node.endpoint);
        Self::Failure(Failure::Unknown { reason })
    }

    /// Whether the server has no memory left for it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::ByServer { error, .. } if word_of(error) == "OOM")
    }

    /// Why nothing may be served from now on, where a change was written in part and nothing in Redis says so.
    #[must_use]
    pub(super) fn unmended(&self) -> Option<Failure> {
        let Self::ByServer { error, .. } = self else { return None };
        unmended(error).map(|detail| Failure::Unavailable { reason: format!("{UNMENDED}: {detail}") })
    }

    /// What the partition has lost, where the library has noticed that.
    #[must_use]
    pub(super) fn damage(&self) -> Option<Damage<'_>> {
        let Self::ByServer { error, .. } = self else { return None };
        let detail = error.detail().filter(|_| error.code() == Some("SCARCE"))?;
        let (word, detail) = detail.split_once(' ')?;
        match word {
            "INCOMPLETE" => Some(Damage::Incomplete(detail)),
            "OLDER" => Some(Damage::Older(detail)),
            _ => None,
        }
    }

    /// Whether a primary refuses writes, and still serves reads. A replica may have what its primary has lost.
    #[must_use]
    pub fn is_of_writes(&self) -> bool {
        let words = ["OOM", "NOREPLICAS", "MISCONF", "CLOCK"];
        matches!(self, Self::ByServer { error, .. } if words.contains(&word_of(error)))
    }
}

/// Why a partition serves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage<'a> {
    /// Keys, rows or fields are missing.
    Incomplete(&'a str),
    /// The server's data was replaced by older data while it ran.
    Older(&'a str),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failure(failure) => failure,
            Refused::TimedOut { endpoint } => {
                Failure::Unknown { reason: format!("Redis at {endpoint} did not answer in time") }
            }
            Refused::ByServer { error, node } => failure_of(&error, &node.endpoint, &node.user),
        }
    }
}

/// What to do about an error that says that nothing was done.
enum Redirect {
    /// Another server serves the slot.
    Moved(Endpoint),
    /// Another one has the keys already.
    Ask(Endpoint),
    /// They are on their way.
    Wait,
    /// The server is a replica by now.
    Demoted,
}

impl Redirect {
    fn of(error: &RedisError, from: &Endpoint) -> Option<Self> {
        let target = || Endpoint::announced(error.redirect_node()?.0, from);
        match error.kind() {
            ErrorKind::Server(ServerErrorKind::Moved) => target().map(Self::Moved),
            ErrorKind::Server(ServerErrorKind::Ask) => target().map(Self::Ask),
            ErrorKind::Server(ServerErrorKind::TryAgain) => Some(Self::Wait),
            // A script by its digest says so in its own words, and has done nothing.
            _ if word_of(error) == "READONLY" => Some(Self::Demoted),
            _ => None,
        }
    }
}

impl Link {
    /// A way that has not been gone yet.
    #[must_use]
    pub fn new(nodes: Arc<Nodes>, slot: u16, traffic: Traffic) -> Self {
        Self { nodes, slot, traffic }
    }

    /// Sends a command.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] when it was not sent, [`Failure::Unknown`] when it was sent and not
    /// answered; [`Refused::ByServer`] for what the server says against the command itself.
    pub async fn send<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Refused> {
        self.send_made(&|_: &Node| command.clone()).await.map(|(answer, _)| answer)
    }

    /// Sends a command that is made for the server that serves the slot. Gives the answer and who gave it.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn send_made<T: FromRedisValue>(
        &self,
        make: &MakeCommand<'_>,
    ) -> Result<(T, Arc<Node>), Refused> {
        read_answer(self.send_for_value(make).await?)
    }

    /// The same for whatever is answered, so that it is compiled once.
    pub(super) async fn send_for_value(&self, make: &MakeCommand<'_>) -> Result<(Value, Arc<Node>), Refused> {
        let (begun, mut pause) = (Instant::now(), PAUSES.0);
        let mut asked: Option<Endpoint> = None;
        let (mut redirects, mut retired) = (0, 0);
        loop {
            let found = match &asked {
                Some(endpoint) => self.nodes.at(endpoint, self.traffic).await,
                None => self.nodes.of_slot(self.slot, self.traffic).await,
            };
            let node = found.map_err(Refused::Failure)?;
            node.check_alive().await;
            if node.is_retired() && retired < 2 {
                // Nothing was sent on it; the next one is made anew.
                retired += 1;
                continue;
            }
            let error = match send_to(&node, &make(&node), asked.is_some())
                .await
                .and_then(|answer| self.checked(answer))
            {
                Ok(answer) => return Ok((answer, node)),
                Err(error) => error,
            };
            asked = None;
            if is_broken(&error) {
                return Err(Refused::of(error, node));
            }
            let redirect = match self.traffic {
                // It has run, whatever words it takes from the server.
                Traffic::Scripts if is_raised(&error) => None,
                _ => Redirect::of(&error, &node.endpoint),
            };
            redirects += u32::from(matches!(redirect, Some(Redirect::Moved(_) | Redirect::Demoted)));
            match redirect {
                // The keys of the slot are on their way; some are here and some are there.
                Some(Redirect::Wait | Redirect::Ask(_)) if begun.elapsed() >= PATIENCE => {
                    return Err(Refused::ByServer { error, node });
                }
                Some(Redirect::Wait) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSES.1);
                }
                Some(Redirect::Ask(to)) => asked = Some(to),
                Some(Redirect::Moved(to)) if redirects < REDIRECTS_MAX => {
                    self.nodes.note_moved(self.slot, to);
                }
                Some(Redirect::Demoted) if redirects < 2 => self.nodes.note_demoted(self.slot, &node),
                _ => return Err(Refused::ByServer { error, node }),
            }
        }
    }
}

impl Link {
    /// An answer that is no error, nor has one in it; a script of a user's may answer a list with errors in it.
    fn checked(&self, answer: Value) -> RedisResult<Value> {
        match (self.traffic, answer) {
            (Traffic::Scripts, Value::Array(parts)) => Ok(Value::Array(parts)),
            (_, answer) => answer.extract_error(),
        }
    }
}

/// Reads what a server answered.
pub(crate) fn read_answer<T: FromRedisValue>(
    (value, node): (Value, Arc<Node>),
) -> Result<(T, Arc<Node>), Refused> {
    match redis::from_redis_value(value) {
        Ok(answer) => Ok((answer, node)),
        Err(error) => Err(Refused::of(error.into(), node)),
    }
}

/// Sends a command over a connection; with `is_asked` to a server that only takes the slot over.
async fn send_to(node: &Node, command: &Cmd, is_asked: bool) -> RedisResult<Value> {
    let mut connection = node.connection();
    if !is_asked {
        return connection.req_packed_command(command).await;
    }
    // Each with its own error, for the error of a pipeline has lost what it says.
    let mut both = redis::pipe();
    both.cmd("ASKING").add_command(command.clone()).ignore_errors();
    let (asking, answer): (RedisResult<Value>, RedisResult<Value>) =
        both.query_async(&mut connection).await?;
    asking?;
    answer
}
