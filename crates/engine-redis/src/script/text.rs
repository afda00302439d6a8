//! What a server is given for a user's text: the text as a function, and around it what lets a call be told from others
//! while it runs, keeps one from beginning too late, and tells what the text answers from what the server says itself.
//!
//! A server's refusals (`MOVED`, `BUSY`, `NOSCRIPT`) are errors, and mean that nothing was done. A text may answer an error
//! with the same words after it has written. So no answer of a text is an error of the call: it comes in a list, behind a
//! word. An error that is raised cannot be caught without losing its line; servers mark it as raised.

use redis::{RedisError, Value};
use xxhash_rust::xxh3::xxh3_64;

/// What stands before a text. It is in the line before, or in front of the first one, so that its lines can be counted.
const HEAD: &str = "local its = function(KEYS, ARGV, ...) ";

/// The most levels of lists and maps in an answer: what reads answers gives up a connection beyond some hundred.
const DEPTH_MAX: usize = 64;

/// The most bytes in an answer. While one is on its way, others on the same connection wait.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// What stands behind it. The last two arguments are the call's own: its mark, which is there to be seen, and until when it may
/// begin by the server's clock, in milliseconds.
const TAIL: &str = "\nend
local function size_of(value, depth)
    if type(value) == 'string' then return #value end
    if type(value) ~= 'table' then return 8 end
    if depth > DEPTH_MAX then error('the answer is nested more than DEPTH_MAX levels deep; what was written stays', 0) end
    local size = 0
    for name, held in next, value do
        size = size + size_of(name, depth + 1) + size_of(held, depth + 1)
    end
    return size
end
local function run(KEYS, ARGV)
    local begin_by, now = tonumber(ARGV[#ARGV]), redis.call('TIME')
    if now[1] * 1000 + now[2] / 1000 > begin_by then return { 'late' } end
    ARGV[#ARGV] = nil
    ARGV[#ARGV] = nil
    local answer = its(KEYS, ARGV)
    if type(answer) == 'table' and type(answer.err) == 'string' then return { 'error', answer.err } end
    if size_of(answer, 0) > BYTES_MAX then error('the answer is larger than 8 MiB; what was written stays', 0) end
    return { 'answer', answer }
end
";

/// The forms that a text takes.
pub(super) struct Forms {
    /// The function's name: another one for another text, or for the same text with other rights.
    pub function: String,
    /// For `FUNCTION LOAD`.
    pub functions: String,
    /// For `SCRIPT LOAD`.
    pub script: String,
}

impl Forms {
    pub fn of(name: &str, body: &str, is_read_only: bool) -> Self {
        let tail = TAIL.replace("DEPTH_MAX", &DEPTH_MAX.to_string());
        let tail = tail.replace("BYTES_MAX", &ANSWER_BYTES_MAX.to_string());
        let flags = if is_read_only { ", flags = { 'no-writes' }" } else { "" };
        let script = format!("{HEAD}{body}{tail}return run(KEYS, ARGV)\n");
        let function = format!("{name}_{:016x}", xxh3_64(format!("{flags}{script}").as_bytes()));
        let functions = format!(
            "#!lua name={function}\n{HEAD}\n{body}{tail}\
             redis.register_function{{ function_name = '{function}', callback = run{flags} }}\n"
        );
        Self { function, functions, script }
    }
}

/// What a call came to.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    /// What the text answers.
    Answer(Value),
    /// The error that it answers.
    Error(String),
    /// Its time was over before it began; it has done nothing.
    Late,
}

impl Reply {
    /// Reads what the function around a text answers. `None` for anything else.
    pub fn of(value: Value) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        let mut parts = parts.into_iter();
        let word: String = redis::from_redis_value(parts.next()?).ok()?;
        let held = parts.next().unwrap_or(Value::Nil);
        match word.as_str() {
            "answer" => Some(Self::Answer(held)),
            "error" => redis::from_redis_value(held).ok().map(Self::Error),
            "late" => Some(Self::Late),
            _ => None,
        }
    }
}

/// Whether an error was raised while a script ran, and is not what the server says before it runs one. What was written
/// until then stays.
pub(crate) fn is_raised(error: &RedisError) -> bool {
    // From 7.0 on, and before.
    let is_so = |text: &str| text.contains(" script: ") || text.starts_with("Error running script (call to ");
    error.detail().is_some_and(is_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_rights_make_another_function() {
        let of = |body, is_read_only| Forms::of("f", body, is_read_only).function;
        assert_ne!(of("return 1", false), of("return 1", true));
        assert_ne!(of("return 1", false), of("return 2", false));
        assert_eq!(of("return 1", false), of("return 1", false));
    }

    #[test]
    fn an_answer_of_nothing_is_an_answer() {
        let word = |word: &str| Value::BulkString(word.as_bytes().to_vec());
        assert_eq!(Reply::of(Value::Array(vec![word("answer")])), Some(Reply::Answer(Value::Nil)));
        assert_eq!(Reply::of(Value::Array(vec![word("late")])), Some(Reply::Late));
        assert_eq!(Reply::of(word("answer")), None);
    }
}
