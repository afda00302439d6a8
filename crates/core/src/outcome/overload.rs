//! What is full where the code is `OVERLOADED`, and what to do about it.

use super::{Code, Outcome, Value};
use crate::language::Text;

/// Something that is full for longer than a queue between threads.
#[derive(Clone, Copy, Debug)]
pub struct Overload {
    /// Its name, as the fact `queue` gives it.
    pub queue: &'static str,
    /// What happened.
    pub cause: Text,
    /// What to do about it.
    pub advice: Text,
}

/// The operation ids that a partition may remember.
pub const OPERATIONS: &str = "operations";

/// The operation ids that have not left memory for their files.
pub const OPERATION_FILES: &str = "operation files";

/// The memory budget of the process.
pub const MEMORY: &str = "memory";

/// A stream of events whose caller does not read on.
pub const EVENT_STREAM: &str = "event stream";

/// All of them. The code's own texts hold for every other name.
pub static OVERLOADS: &[Overload] = &[
    Overload {
        queue: OPERATIONS,
        cause: Text::new(
            "No more operation ids can be remembered, and the oldest must not be forgotten yet.",
            "可记录的操作 ID 已达上限，而最早的 ID 还不能遗忘。",
        ),
        advice: Text::new(
            "Send fewer new ids per second, or restart with a larger --operations-max; send this command again with the same id.",
            "降低每秒新 ID 的数量，或调大 --operations-max 后重启；用同一个 ID 重发本命令。",
        ),
    },
    Overload {
        queue: OPERATION_FILES,
        cause: Text::new(
            "Operation ids do not leave memory for their files as fast as new ones come, or not at all.",
            "操作 ID 从内存移入文件的速度赶不上新 ID，或者完全无法移入。",
        ),
        advice: Text::new(
            "If the server's log says that its disk fails, free space there or replace it. Otherwise send fewer new ids per second, or raise --operations-in-memory-max. Then send this command again with the same id.",
            "如果服务器日志显示磁盘出错，请释放空间或更换磁盘；否则降低每秒新 ID 的数量，或调大 --operations-in-memory-max。然后用同一个 ID 重发本命令。",
        ),
    },
    Overload {
        queue: MEMORY,
        cause: Text::new(
            "The memory budget (--memory-max) is nearly used up, so new operation ids and new records are refused.",
            "内存预算（--memory-max）即将用尽，因此不再接受新的操作 ID 和新记录。",
        ),
        advice: Text::new(
            "Reads, repeated requests and commands that free memory are served. End what is open, or restart with a larger budget; then send the command again with the same id.",
            "读取、重复请求和释放内存的命令照常执行。请结束未完结的记录，或调大预算后重启；然后用同一个 ID 重发。",
        ),
    },
    Overload {
        queue: EVENT_STREAM,
        cause: Text::new(
            "This stream of events was left unread for too long, so it ends here.",
            "该事件流长时间未被读取，因此到此结束。",
        ),
        advice: Text::new(
            "Open the stream again with this cursor, and read faster, or raise --event-stream-unread-ms. No event is lost.",
            "用此 cursor 重新打开事件流，并加快读取，或调大 --event-stream-unread-ms。事件不会丢失。",
        ),
    },
];

fn find(queue: &str) -> Option<&'static Overload> {
    OVERLOADS.iter().find(|its| its.queue == queue)
}

/// What happened and what to do, for an outcome of any code.
#[must_use]
pub fn texts(outcome: &Outcome) -> (Text, Text) {
    let overload = match (outcome.code, outcome.facts.first()) {
        (Code::Overloaded, Some(Value::Text(queue))) => find(queue),
        _ => None,
    };
    overload.map_or((outcome.code.cause(), outcome.code.advice()), |its| (its.cause, its.advice))
}

/// After how long the same command may succeed, in milliseconds, where an outcome says it.
#[must_use]
pub fn retry_after_ms(outcome: &Outcome) -> Option<u64> {
    match (outcome.code, outcome.facts.get(1)) {
        (Code::Overloaded, Some(Value::Integer(wait_ms))) => u64::try_from(*wait_ms).ok(),
        _ => None,
    }
}

/// The text of an error that names what is full, and how long to wait where that is known.
#[must_use]
pub fn sentence(queue: &str, retry_after_ms: Option<u64>) -> String {
    let wait = retry_after_ms.map(|wait_ms| format!(" retry_after_ms={wait_ms}")).unwrap_or_default();
    match find(queue) {
        Some(Overload { cause, advice, .. }) => {
            format!("'{queue}' is full. {} {}{wait}", cause.en, advice.en)
        }
        None => {
            format!("the queue '{queue}' is full; wait a moment and send the command again with the same id")
        }
    }
}
