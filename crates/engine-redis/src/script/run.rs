//! Runs calls. A call is known by a mark while it runs, does nothing if it begins too late, and is ended when it takes too
//! long, whenever it runs.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{Either, select};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, RedisResult, Value};

use super::super::address::Endpoint;
use super::super::connection::Link;
use super::super::nodes::{Node, Traffic};
use super::super::program::{Rights, ScriptKind};
use super::text::Reply;
use super::{Call, Fate, Script, ScriptError, Scripts};

/// How much longer than it may take a call is waited for, so that it can be ended and what became of it told.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// How often a server is asked whether it runs a call that is to be ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a server's clock is reckoned on before it is asked again.
const CLOCK_KEPT: Duration = Duration::from_secs(10);

/// How often a call is sent that a server takes for late although its time is not over: its clock has moved.
const SENDS_MAX: u32 = 3;

/// An answer that is on its way.
type Underway = Pin<Box<dyn Future<Output = Result<Value, ScriptError>> + Send>>;

/// What calls have in common.
#[derive(Debug)]
pub(super) struct Runs {
    /// Tells the calls of this process from those of others.
    origin: u64,
    calls: AtomicU64,
    /// What the servers' clocks said, in milliseconds, and when.
    clocks: Mutex<BTreeMap<Endpoint, (Instant, u64)>>,
}

impl Default for Runs {
    fn default() -> Self {
        Self { origin: RandomState::new().hash_one(0), calls: AtomicU64::new(0), clocks: Mutex::default() }
    }
}

impl Runs {
    /// What no other call has.
    pub(super) fn mark(&self) -> String {
        format!("{:016x}-{}", self.origin, self.calls.fetch_add(1, Ordering::Relaxed))
    }

    fn clocks(&self) -> std::sync::MutexGuard<'_, BTreeMap<Endpoint, (Instant, u64)>> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a server's clock says at a moment, if it was asked.
    fn time_ms(&self, endpoint: &Endpoint, at: Instant) -> Option<u64> {
        let (asked_at, told_ms) = *self.clocks().get(endpoint)?;
        Some(told_ms + u64::try_from(at.saturating_duration_since(asked_at).as_millis()).unwrap_or(0))
    }

    /// Asks a server for its time, unless that was done a moment ago.
    async fn ask_time(&self, node: &Node, kept: Duration) {
        let is_known = |(asked_at, _): &(Instant, u64)| asked_at.elapsed() < kept;
        if self.clocks().get(&node.endpoint).is_some_and(is_known) {
            return;
        }
        let asked_at = Instant::now();
        let time: RedisResult<(u64, u64)> = redis::cmd("TIME").query_async(&mut node.connection()).await;
        // Who does not answer will not run the call either.
        if let Ok((seconds, micros)) = time {
            self.clocks().insert(node.endpoint.clone(), (asked_at, seconds * 1000 + micros / 1000));
        }
    }
}

/// A call, and how it is seen on a server.
struct Sent {
    scripts: Scripts,
    script: Script,
    call: Call,
    link: Link,
    mark: String,
    begin_by: Instant,
    /// Where it was sent last.
    endpoint: Mutex<Option<Endpoint>>,
}

impl Scripts {
    /// Runs a script.
    ///
    /// # Errors
    /// What became of the call otherwise; only [`ScriptError::TimedOut`] and [`ScriptError::Unknown`] leave
    /// open whether it did something.
    pub async fn run<T: FromRedisValue>(&self, script: &Script, call: &Call) -> Result<T, ScriptError> {
        let sent = Arc::new(Sent {
            scripts: self.clone(),
            script: script.clone(),
            call: call.clone(),
            link: self.link(call, Traffic::Scripts)?,
            mark: self.runs.mark(),
            begin_by: Instant::now() + self.time_limit,
            endpoint: Mutex::default(),
        });
        let its = Arc::clone(&sent);
        let mut underway: Underway = Box::pin(async move { its.send().await });
        let answer = match tokio::time::timeout(self.time_limit, &mut underway).await {
            Ok(answer) => answer,
            Err(_) => sent.end(underway).await,
        };
        redis::from_redis_value(answer?)
            .map_err(|error| ScriptError::WrongShape { name: script.name.clone(), reason: error.to_string() })
    }
}

impl Sent {
    async fn send(&self) -> Result<Value, ScriptError> {
        let (name, slot) = (&self.script.name, self.link.slot);
        let mut clock_kept = CLOCK_KEPT;
        for _ in 0..SENDS_MAX {
            if let Ok(node) = self.scripts.nodes.of_slot(slot, Traffic::Scripts).await {
                self.scripts.runs.ask_time(&node, clock_kept).await;
            }
            let make = |node: &Node| self.command(node);
            let sent = self.script.program.call(self.scripts.kind, &self.link, &make).await;
            let told = |refused| ScriptError::of(refused, name, slot).in_lines_of_the_text(name);
            let (value, _) = sent.map_err(told)?;
            match Reply::of(value) {
                Some(Reply::Answer(value)) => return Ok(value),
                Some(Reply::Error(message)) => return Err(ScriptError::answered(name, &message)),
                Some(Reply::Late) if Instant::now() >= self.begin_by => break,
                Some(Reply::Late) => clock_kept = Duration::ZERO,
                None => {
                    return Err(ScriptError::WrongShape { name: name.clone(), reason: NOT_OURS.to_owned() });
                }
            }
        }
        Err(self.timed_out(Fate::NotBegun))
    }

    /// The call as a server gets it, with its mark, and with the time until which it may begin.
    fn command(&self, node: &Node) -> Cmd {
        let its = &self.script;
        let rights = if its.is_read_only { Rights::Read } else { Rights::Write };
        let mut command = its.program.command(self.scripts.kind.on(node), rights, &self.call.keys);
        // A server whose clock is not known runs it whenever it comes.
        let begin_by_ms = self.scripts.runs.time_ms(&node.endpoint, self.begin_by).unwrap_or(1 << 53);
        command.arg(&self.call.arguments).arg(&self.mark).arg(begin_by_ms);
        *self.endpoint() = Some(node.endpoint.clone());
        command
    }

    fn endpoint(&self) -> std::sync::MutexGuard<'_, Option<Endpoint>> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timed_out(&self, fate: Fate) -> ScriptError {
        let limit_ms = u64::try_from(self.scripts.time_limit.as_millis()).unwrap_or(u64::MAX);
        ScriptError::TimedOut { name: self.script.name.clone(), limit_ms, fate }
    }

    /// Ends a call whose time is over, unless it has written something, and tells what became of it. Its answer says so for
    /// certain. If that does not come, the call is ended whenever it runs, also after its caller was told.
    async fn end(self: Arc<Self>, underway: Underway) -> Result<Value, ScriptError> {
        if self.scripts.kind == ScriptKind::Evalsha {
            // Only a server with Functions says what it runs; elsewhere it could be anyone's call that is ended.
            return Err(self.timed_out(Fate::Unknown));
        }
        let ended = select(Box::pin(self.kill()), Box::pin(tokio::time::sleep(END_PATIENCE)));
        let (told, underway) = match select(underway, ended).await {
            Either::Left((answer, _)) => return self.ended(answer),
            Either::Right((Either::Left(_), underway)) => (Fate::HasWritten, underway),
            Either::Right((Either::Right(_), underway)) => (Fate::Unknown, underway),
        };
        if told == Fate::Unknown {
            let its = Arc::clone(&self);
            tokio::spawn(async move { drop(select(underway, Box::pin(its.kill())).await) });
        }
        Err(self.timed_out(told))
    }

    /// What the answer to a call says that was to be ended: it came to its end, or was ended having written nothing.
    fn ended(&self, answer: Result<Value, ScriptError>) -> Result<Value, ScriptError> {
        match answer {
            Err(ScriptError::Failed { message, .. }) if message.contains(KILLED) => {
                Err(self.timed_out(Fate::Killed))
            }
            answer => answer,
        }
    }

    /// Ends it whenever the server runs it. Comes back when it has written something, and cannot be ended.
    async fn kill(&self) {
        loop {
            let endpoint = self.endpoint().clone();
            if let Some(endpoint) = endpoint {
                let mut has_written = false;
                let told =
                    self.scripts.nodes.tell(&endpoint, async |connection: &mut MultiplexedConnection| {
                        has_written = self.kill_over(connection).await.is_ok();
                    });
                // A server that cannot be reached is tried again.
                if told.await.is_ok() && has_written {
                    return;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Gives an error once the server does not answer any more, or does not say what it runs.
    async fn kill_over(&self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        loop {
            if self.is_running(connection).await? {
                let killed: RedisResult<()> =
                    redis::cmd("FUNCTION").arg("KILL").query_async(connection).await;
                let is_unkillable = killed.is_err_and(|error| error.code() == Some("UNKILLABLE"));
                // What has written may have been the next one.
                if is_unkillable && self.is_running(connection).await? {
                    return Ok(());
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Whether a server says that it runs just this call.
    async fn is_running(&self, connection: &mut MultiplexedConnection) -> RedisResult<bool> {
        let stats: Value = redis::cmd("FUNCTION").arg("STATS").query_async(connection).await?;
        Ok(running(&stats)
            .is_some_and(|words| words.iter().rev().nth(1).is_some_and(|word| *word == self.mark)))
    }
}

/// What the error of a call says that was ended.
const KILLED: &str = "killed by user";

/// What is wrong with an answer that the function around a text cannot have given.
const NOT_OURS: &str = "the function was not made by Scarce";

/// The words of the call that a server runs.
fn running(stats: &Value) -> Option<Vec<String>> {
    let its = field(&field(stats, "running_script")?, "command")?;
    let words: Vec<Vec<u8>> = redis::from_redis_value(its).ok()?;
    Some(words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

fn field(value: &Value, name: &str) -> Option<Value> {
    let fields: Vec<Value> = redis::from_redis_value(value.clone()).ok()?;
    let is_it =
        |pair: &&[Value]| redis::from_redis_value::<String>(pair[0].clone()).is_ok_and(|its| its == name);
    fields.chunks_exact(2).find(is_it).map(|pair| pair[1].clone())
}
