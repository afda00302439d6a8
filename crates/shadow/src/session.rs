//! One caller: its requests go to a connection of its own to the Redis in use, and the answers come back as they are.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Mutex;

use crate::answer;
use crate::frame::{self, FrameEnd, Malformed};
use crate::mirror::Answered;
use crate::pending::{Asked, HeldCall, Pending};
use crate::proxy::Shared;

/// How much is read at once.
const READ_BYTES: usize = 16 << 10;

/// Requests after which answers are no longer one for each request.
const STREAMING: [&[u8]; 8] =
    [b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE", b"MONITOR", b"SYNC", b"PSYNC", b"REPLCONF", b"QUIT"];

/// The two directions of a caller's connection.
struct Session {
    shared: Arc<Shared>,
    address: SocketAddr,
    pending: Pending,
    /// Whether bytes are passed on without looking at them from now on.
    is_streaming: AtomicBool,
    to_caller: Mutex<OwnedWriteHalf>,
}

/// What the requests have said so far.
#[derive(Debug)]
struct Standing {
    in_transaction: bool,
    database: i64,
}

/// Serves a caller until either side ends.
pub(crate) async fn serve(caller: TcpStream, address: SocketAddr, shared: &Arc<Shared>) {
    let Ok(upstream) = shared.connect().await else {
        let mut caller = caller;
        // It may have left by now.
        let _ = caller.write_all(b"-ERR the Redis behind this proxy cannot be reached\r\n").await;
        return;
    };
    // Without it answers wait for more of them.
    let _ = caller.set_nodelay(true);
    let (from_caller, to_caller) = caller.into_split();
    let (from_redis, mut to_redis) = upstream.into_split();
    let session = Session {
        shared: Arc::clone(shared),
        address,
        pending: Pending::default(),
        is_streaming: AtomicBool::new(false),
        to_caller: Mutex::new(to_caller),
    };
    tokio::select! {
        () = async {
            let _ = session.requests(from_caller, &mut to_redis).await;
            // What was sent is carried out, although its caller has left: its answer is still read.
            let _ = to_redis.shutdown().await;
            std::future::pending::<()>().await;
        } => {}
        () = async { let _ = session.answers(from_redis).await; } => {}
    }
    session.note_unanswered();
}

/// Why a direction ended.
#[derive(Debug)]
struct Over;

impl From<std::io::Error> for Over {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

impl From<Malformed> for Over {
    fn from(_: Malformed) -> Self {
        Self
    }
}

/// Reads more; an end is an end.
async fn more(from: &mut OwnedReadHalf, bytes: &mut Vec<u8>) -> Result<(), Over> {
    bytes.reserve(READ_BYTES);
    if from.read_buf(bytes).await? == 0 { Err(Over) } else { Ok(()) }
}

impl Session {
    async fn requests(&self, mut from: OwnedReadHalf, to: &mut OwnedWriteHalf) -> Result<(), Over> {
        let (mut bytes, mut standing) = (Vec::new(), Standing { in_transaction: false, database: 0 });
        let mut end = FrameEnd::default();
        loop {
            more(&mut from, &mut bytes).await?;
            let mut done = 0;
            // Up to where requests were looked at and wait to be sent together.
            let mut looked = 0;
            while let Some(length) = end.request(&bytes[looked..])? {
                let request = &bytes[looked..looked + length];
                let words = frame::words(request);
                let step = self.look(&words, &mut standing);
                match step {
                    Look::Nothing => looked += length,
                    Look::PassOn => {
                        self.pending.push(Asked::Passed);
                        looked += length;
                    }
                    Look::Stream => {
                        to.write_all(&bytes[done..looked]).await?;
                        self.pending.all_answered().await;
                        self.is_streaming.store(true, Ordering::Release);
                        to.write_all(&bytes[looked..]).await?;
                        tokio::io::copy(&mut from, to).await?;
                        return Ok(());
                    }
                    Look::Own(act) => {
                        to.write_all(&bytes[done..looked]).await?;
                        self.pending.all_answered().await;
                        let answer = self.own(&act).await;
                        self.to_caller.lock().await.write_all(&answer).await?;
                        looked += length;
                        done = looked;
                    }
                    Look::Call(made) => {
                        to.write_all(&bytes[done..looked]).await?;
                        self.pending.all_answered().await;
                        let gate = self.shared.pass_gate().await;
                        let is_compared = self.shared.is_comparing();
                        let resources =
                            if is_compared { self.shared.lock(&made.resources).await } else { Vec::new() };
                        let held = HeldCall { made, is_compared, _resources: resources, _gate: gate };
                        self.pending.push(Asked::Call(Box::new(held)));
                        to.write_all(&bytes[looked..looked + length]).await?;
                        looked += length;
                        done = looked;
                    }
                }
            }
            to.write_all(&bytes[done..looked]).await?;
            bytes.drain(..looked);
        }
    }

    /// What is done with a request.
    fn look(&self, words: &[&[u8]], standing: &mut Standing) -> Look {
        let Some(name) = words.first().map(|name| name.to_ascii_uppercase()) else { return Look::Nothing };
        let argument = words.get(1).map(|word| word.to_ascii_uppercase()).unwrap_or_default();
        match name.as_slice() {
            b"SHADOW" => return Look::Own(argument),
            b"CLIENT" if argument == b"REPLY" => return Look::Stream,
            b"MULTI" => standing.in_transaction = true,
            b"EXEC" | b"DISCARD" | b"RESET" => standing.in_transaction = false,
            b"SELECT" => {
                standing.database =
                    str::from_utf8(&argument).ok().and_then(|text| text.parse().ok()).unwrap_or(-1);
            }
            name if STREAMING.contains(&name) => return Look::Stream,
            _ => {}
        }
        let Some(made) = self.shared.map.find(words) else {
            self.shared.reporting.note(|report| report.passed_on += 1);
            return Look::PassOn;
        };
        let is_other = standing.database != self.shared.database;
        if standing.in_transaction || is_other {
            self.shared.reporting.note(|report| {
                *(if is_other { &mut report.in_other_databases } else { &mut report.in_transactions }) += 1;
            });
            return Look::PassOn;
        }
        Look::Call(made)
    }

    /// The proxy's own commands. They are for the operator, on this machine.
    async fn own(&self, act: &[u8]) -> Vec<u8> {
        if !self.address.ip().is_loopback() {
            return b"-NOPERM SHADOW is for callers on the machine of the proxy\r\n".to_vec();
        }
        match act {
            b"BEGIN" => match self.shared.begin().await {
                Ok(()) => b"+OK\r\n".to_vec(),
                Err(why) => format!("-ERR {}\r\n", why.replace(['\r', '\n'], " ")).into_bytes(),
            },
            b"REPORT" => {
                let text = serde_json::to_string(&self.shared.report()).unwrap_or_default();
                format!("${}\r\n{text}\r\n", text.len()).into_bytes()
            }
            _ => b"-ERR usage: SHADOW BEGIN or SHADOW REPORT\r\n".to_vec(),
        }
    }

    async fn answers(&self, mut from: OwnedReadHalf) -> Result<(), Over> {
        let (mut bytes, mut end) = (Vec::new(), FrameEnd::default());
        loop {
            more(&mut from, &mut bytes).await?;
            let mut to = self.to_caller.lock().await;
            if self.is_streaming.load(Ordering::Acquire) {
                to.write_all(&bytes).await?;
                bytes.clear();
                continue;
            }
            let mut done = 0;
            while let Some(length) = end.answer(&bytes[done..])? {
                let answer = &bytes[done..done + length];
                // What is pushed answers nothing.
                if answer.first() != Some(&b'>') {
                    self.answered(answer);
                }
                done += length;
            }
            to.write_all(&bytes[..done]).await?;
            drop(to);
            bytes.drain(..done);
            self.pending.note_answered();
        }
    }

    /// Counts a call of which nobody knows whether Redis has carried it out.
    fn note_unanswered(&self) {
        while let Some(asked) = self.pending.pop() {
            if matches!(asked, Asked::Call(call) if call.is_compared) {
                self.shared.reporting.note(|report| report.unanswered += 1);
            }
        }
    }

    /// Leaves an answered call to the thread that compares, before the next call of its resources is sent.
    fn answered(&self, answer: &[u8]) {
        let Some(Asked::Call(call)) = self.pending.pop() else { return };
        let HeldCall { made, is_compared, .. } = *call;
        let value = redis::parse_redis_value(answer);
        let is_run = value.as_ref().is_ok_and(|value| answer::of_redis(value).is_some());
        match value {
            Ok(value) if is_run && is_compared => self.shared.mirror.leave(Answered::new(made, value)),
            _ => self.shared.reporting.note(|report| {
                *(if is_run { &mut report.not_compared } else { &mut report.not_run }) += 1;
            }),
        }
    }
}

/// What is done with a request.
enum Look {
    /// It asks for nothing.
    Nothing,
    PassOn,
    Stream,
    Own(Vec<u8>),
    Call(crate::map::Made),
}
