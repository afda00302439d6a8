//! Refusals and failures as problem documents (RFC 9457).

use crate::glossary::Language;
use scarce_core::outcome::{Code, Outcome, overload};
use serde_json::{Map, Value, json};

use crate::answer;

/// Problems of the port itself, which no command returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortCode {
    /// The caller did not authenticate.
    Unauthenticated,
    /// The caller's key lacks a scope.
    Forbidden,
    /// The caller's address showed too many wrong passwords.
    TooManyAttempts,
    /// The caller sends too many requests.
    TooManyRequests,
    /// The command needs a ticket of a waiting room.
    NotAdmitted,
    /// A page of another origin sent the request.
    CrossOrigin,
    /// No route has this path.
    NotFound,
    /// The path has other methods only.
    MethodNotAllowed,
    /// The requested host is not this server.
    Misdirected,
    /// The log no longer has what follows the cursor.
    CursorTrimmed,
    /// The body is too large.
    PayloadTooLarge,
    /// Clients may not do this with scripts.
    ScriptForbidden,
    /// No script of this name is registered.
    ScriptNotFound,
    /// There is no room for a further script.
    ScriptsFull,
    /// The script ended with an error.
    ScriptFailed,
    /// It is not known what a script did.
    ScriptUnknown,
    /// The content type is not JSON.
    UnsupportedMediaType,
    /// The line and the headers of a request are too large.
    HeadersTooLarge,
    /// The rest of a request did not arrive in time.
    RequestTimeout,
    /// Another key has the name of the new one.
    KeyExists,
    /// The key has a successor.
    KeyReplaced,
    /// Several keys have the name.
    KeyAmbiguous,
}

impl PortCode {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Unauthenticated,
        Self::Forbidden,
        Self::TooManyAttempts,
        Self::TooManyRequests,
        Self::NotAdmitted,
        Self::CrossOrigin,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Misdirected,
        Self::CursorTrimmed,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ScriptForbidden,
        Self::ScriptNotFound,
        Self::ScriptsFull,
        Self::ScriptFailed,
        Self::ScriptUnknown,
        Self::HeadersTooLarge,
        Self::RequestTimeout,
        Self::KeyExists,
        Self::KeyReplaced,
        Self::KeyAmbiguous,
    ];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::TooManyAttempts => "TOO_MANY_ATTEMPTS",
            Self::TooManyRequests => "TOO_MANY_REQUESTS",
            Self::NotAdmitted => "NOT_ADMITTED",
            Self::CrossOrigin => "CROSS_ORIGIN",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::Misdirected => "MISDIRECTED",
            Self::CursorTrimmed => "CURSOR_TRIMMED",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::ScriptForbidden => "SCRIPT_FORBIDDEN",
            Self::ScriptNotFound => "SCRIPT_NOT_FOUND",
            Self::ScriptsFull => "SCRIPTS_FULL",
            Self::ScriptFailed => "SCRIPT_FAILED",
            Self::ScriptUnknown => "SCRIPT_UNKNOWN",
            Self::HeadersTooLarge => "HEADERS_TOO_LARGE",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::KeyExists => "KEY_EXISTS",
            Self::KeyReplaced => "KEY_REPLACED",
            Self::KeyAmbiguous => "KEY_AMBIGUOUS",
        }
    }

    /// Whether the same request may succeed after a wait.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::TooManyAttempts | Self::TooManyRequests | Self::NotAdmitted | Self::RequestTimeout
        )
    }

    /// The status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::TooManyAttempts | Self::TooManyRequests => 429,
            Self::NotAdmitted => 409,
            Self::CrossOrigin => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Misdirected => 421,
            Self::CursorTrimmed => 410,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::ScriptForbidden => 403,
            Self::ScriptNotFound => 404,
            Self::ScriptsFull => 409,
            Self::ScriptFailed => 422,
            Self::ScriptUnknown => 504,
            Self::HeadersTooLarge => 431,
            Self::RequestTimeout => 408,
            Self::KeyExists | Self::KeyReplaced | Self::KeyAmbiguous => 409,
        }
    }

    /// What happened.
    #[must_use]
    pub const fn cause(self) -> crate::glossary::Text {
        use crate::glossary::Text;
        match self {
            Self::Unauthenticated => {
                Text::new("No password or key that is admitted was shown.", "未出示有效的口令或密钥。")
            }
            Self::Forbidden => {
                Text::new("The key that was shown lacks a scope.", "所出示的密钥缺少所需的权限范围。")
            }
            Self::TooManyAttempts => Text::new(
                "This address showed too many wrong passwords; the one in this request was not looked at.",
                "该地址出示错误口令次数过多；本次请求中的口令未作检查。",
            ),
            Self::TooManyRequests => Text::new(
                "A limit of the operator's on requests is reached; nothing was done.",
                "已达到运维人员设置的请求频率上限；本次请求未执行。",
            ),
            Self::NotAdmitted => Text::new(
                "The resource is behind a waiting room, and no ticket of its user was shown whose time has come; nothing was done.",
                "该资源设有等候室，而请求中没有该用户已到时间的号牌；未执行任何操作。",
            ),
            Self::CrossOrigin => Text::new(
                "A web page of another origin sent the request.",
                "请求来自其他源（origin）的网页。",
            ),
            Self::NotFound => Text::new("There is nothing at this path.", "该路径不存在。"),
            Self::MethodNotAllowed => Text::new("This path has other methods.", "该路径不支持此方法。"),
            Self::Misdirected => {
                Text::new("The request names a host that this server is not.", "请求的主机名不属于本服务器。")
            }
            Self::CursorTrimmed => Text::new(
                "The log no longer has the events after this cursor; older ones are deleted after snapshots.",
                "日志中已没有该游标之后的事件；旧事件会在快照之后删除。",
            ),
            Self::PayloadTooLarge => Text::new("The body is larger than 1 MiB.", "请求体超过 1 MiB。"),
            Self::UnsupportedMediaType => Text::new(
                "The request is not declared as application/json.",
                "请求未声明为 application/json。",
            ),
            Self::ScriptForbidden => Text::new(
                "This server does not let clients do this with scripts.",
                "本服务器不允许客户端对脚本执行此操作。",
            ),
            Self::ScriptNotFound => {
                Text::new("No script of this name is registered.", "没有注册该名称的脚本。")
            }
            Self::ScriptsFull => {
                Text::new("There is no room for a further version of a script.", "脚本版本已满，无法再注册。")
            }
            Self::ScriptFailed => Text::new(
                "The script ended with an error; what it wrote before stays.",
                "脚本以错误结束；此前写入的内容会保留。",
            ),
            Self::ScriptUnknown => Text::new(
                "The script may have run, in part, as a whole, or not at all.",
                "脚本可能已执行、部分执行或未执行。",
            ),
            Self::HeadersTooLarge => Text::new(
                "The line and the headers of the request have more than 16 KiB, or there are more than 100 headers.",
                "请求行和请求头超过 16 KiB，或请求头多于 100 个。",
            ),
            Self::RequestTimeout => Text::new(
                "The rest of the request did not arrive within 20 seconds; nothing was done.",
                "请求的其余部分没有在 20 秒内到达；未执行任何操作。",
            ),
            Self::KeyExists | Self::KeyReplaced | Self::KeyAmbiguous => self.cause_on_keys(),
        }
    }

    /// The same for keys.
    const fn cause_on_keys(self) -> crate::glossary::Text {
        use crate::glossary::Text;
        match self {
            Self::KeyReplaced => Text::new("The key was replaced already.", "该密钥已被替换。"),
            Self::KeyAmbiguous => Text::new("Several keys have this name.", "有多个密钥使用该名称。"),
            _ => Text::new(
                "Another key has this name, and what it did would be done again if the new one retried it.",
                "已有同名密钥；若由新密钥重试，旧密钥做过的操作会被再次执行。",
            ),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> crate::glossary::Text {
        use crate::glossary::Text;
        match self {
            Self::Unauthenticated => Text::new(
                "Send the header Authorization: Bearer with the password or a key.",
                "请在 Authorization: Bearer 头中携带口令或密钥。",
            ),
            Self::Forbidden => Text::new(
                "facts.scope names it; ask the operator for a key that has it.",
                "facts.scope 为所缺的范围；请向运维人员申请具有该范围的密钥。",
            ),
            Self::TooManyAttempts => Text::new(
                "Wait as long as Retry-After says, and check the password.",
                "请按 Retry-After 等待，并检查口令。",
            ),
            Self::TooManyRequests => Text::new(
                "Wait as long as Retry-After says, then send it again with the same Idempotency-Key; facts.limit names the limit.",
                "请按 Retry-After 等待，然后用相同的 Idempotency-Key 重发；facts.limit 为该上限的名称。",
            ),
            Self::NotAdmitted => Text::new(
                "Take a ticket of the room in facts.room, wait as long as it says, and send it in the header Scarce-Ticket.",
                "请领取 facts.room 所指等候室的号牌，按其所示时间等待，并在 Scarce-Ticket 头中携带它。",
            ),
            Self::CrossOrigin => Text::new(
                "Call the server from a program, or list the page's origin in the setting http_origins.",
                "请从程序调用，或在设置 http_origins 中列出该网页的源。",
            ),
            Self::NotFound => Text::new("/openapi.json names every path.", "全部路径见 /openapi.json。"),
            Self::MethodNotAllowed => Text::new("The header Allow names them.", "可用方法见 Allow 头。"),
            Self::Misdirected => Text::new(
                "Without a password only localhost and addresses are answered to; set a password to serve by name.",
                "未设口令时只接受 localhost 与 IP 地址；如需按域名提供服务，请设置口令。",
            ),
            Self::CursorTrimmed => Text::new(
                "Rebuild from another source, then continue from facts.oldest or with from=oldest; a consumer keeps the log.",
                "请从其他来源重建数据，再从 facts.oldest 或用 from=oldest 继续；登记为消费者可让日志为其保留。",
            ),
            Self::PayloadTooLarge => {
                Text::new("Send fewer operations at a time.", "请减少单次请求中的操作数。")
            }
            Self::UnsupportedMediaType => Text::new(
                "Send the header Content-Type: application/json, even without a body.",
                "请设置 Content-Type: application/json，没有请求体时也要设置。",
            ),
            Self::ScriptForbidden
            | Self::ScriptNotFound
            | Self::ScriptsFull
            | Self::ScriptFailed
            | Self::ScriptUnknown => self.advice_on_scripts(),
            Self::HeadersTooLarge => Text::new("Send fewer or shorter headers.", "请减少或缩短请求头。"),
            Self::RequestTimeout => Text::new(
                "Send it again with the same Idempotency-Key, in one piece.",
                "请用相同的 Idempotency-Key 一次性完整重发。",
            ),
            Self::KeyExists | Self::KeyReplaced | Self::KeyAmbiguous => self.advice_on_keys(),
        }
    }

    /// The same for scripts.
    const fn advice_on_scripts(self) -> crate::glossary::Text {
        use crate::glossary::Text;
        match self {
            Self::ScriptForbidden => Text::new(
                "facts.reason says which setting allows it; only the Redis engine runs scripts.",
                "facts.reason 说明需要哪项设置；只有 Redis 引擎能运行脚本。",
            ),
            Self::ScriptNotFound => Text::new(
                "GET /v1/scripts lists them; 'scarce scripts load' registers one.",
                "GET /v1/scripts 列出已注册的脚本；用 'scarce scripts load' 注册。",
            ),
            Self::ScriptsFull => Text::new(
                "facts.reason says which limit is reached; remove scripts that are not used any more.",
                "facts.reason 说明达到了哪项上限；请删除不再使用的脚本。",
            ),
            Self::ScriptFailed => Text::new(
                "facts.reason has the script's error, with lines of the text that was registered.",
                "facts.reason 为脚本的错误，行号对应注册时的文本。",
            ),
            _ => Text::new(
                "Look at what the script writes before you call it again: a call has no operation ID, and may be made twice.",
                "再次调用前请先查看脚本写入的数据：脚本调用没有操作 ID，重发可能执行两次。",
            ),
        }
    }

    /// The same for keys.
    const fn advice_on_keys(self) -> crate::glossary::Text {
        use crate::glossary::Text;
        match self {
            Self::KeyReplaced => {
                Text::new("Rotate the one in facts.replaced_by.", "请轮换 facts.replaced_by 所指的密钥。")
            }
            Self::KeyAmbiguous => {
                Text::new("Name it by its ID, which GET /v1/keys shows.", "请使用 GET /v1/keys 列出的 ID。")
            }
            _ => Text::new(
                "Rotate the key in facts.key, or send a namespace: that of facts.namespace shares its operation IDs, another one does not.",
                "请轮换 facts.key 所指的密钥，或指定 namespace：使用 facts.namespace 则共享其操作 ID，使用其他名称则不共享。",
            ),
        }
    }
}

/// After how many seconds a caller should retry where nothing else is known.
const RETRY_AFTER_S: u64 = 1;

/// A problem document with its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The status.
    pub status: u16,
    /// The document.
    pub body: Value,
    /// How long the caller should wait before it retries, if that helps.
    pub retry_after_s: Option<u64>,
}

impl Problem {
    /// The document of a refusal or a failure; `operation` is the id that the request had or received.
    #[must_use]
    pub fn of(outcome: &Outcome, operation: Option<&str>, language: Language) -> Self {
        let code = outcome.code;
        let facts = answer::facts(code, &outcome.facts);
        let (cause, advice) = overload::texts(outcome);
        let texts = (cause.get(language), advice.get(language));
        let mut body = document(code.word(), code.http_status(), texts, code.is_retryable());
        body.insert("detail".to_owned(), detail(&facts).into());
        body.insert("facts".to_owned(), facts.into());
        if let Some(operation) = operation {
            body.insert("operation".to_owned(), operation.into());
        }
        let retry_after_s = matches!(code, Code::Overloaded | Code::Unavailable).then(|| {
            let wait_ms = overload::retry_after_ms(outcome);
            wait_ms.map_or(RETRY_AFTER_S, |wait_ms| wait_ms.div_ceil(1_000).max(RETRY_AFTER_S))
        });
        Self { status: code.http_status(), body: body.into(), retry_after_s }
    }

    /// The document of a problem of the port itself.
    #[must_use]
    pub fn of_port(code: PortCode, language: Language) -> Self {
        Self::of_port_with(code, Map::new(), language)
    }

    /// The same with facts.
    #[must_use]
    pub fn of_port_with(code: PortCode, facts: Map<String, Value>, language: Language) -> Self {
        let texts = (code.cause().get(language), code.advice().get(language));
        let is_retryable = code.is_retryable();
        let mut body = document(code.word(), code.status(), texts, is_retryable);
        if !facts.is_empty() {
            body.insert("detail".to_owned(), detail(&facts).into());
            body.insert("facts".to_owned(), facts.into());
        }
        Self {
            status: code.status(),
            body: body.into(),
            retry_after_s: is_retryable.then_some(RETRY_AFTER_S),
        }
    }
}

fn document(word: &str, status: u16, (cause, advice): (&str, &str), retryable: bool) -> Map<String, Value> {
    let document = json!({
        "type": format!("/problems/{word}"),
        "title": cause,
        "status": status,
        "code": word,
        "retryable": retryable,
        "advice": advice,
    });
    match document {
        Value::Object(document) => document,
        _ => Map::new(),
    }
}

/// The facts in one line, for logs and people.
fn detail(facts: &Map<String, Value>) -> String {
    let fact = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    };
    facts.iter().map(fact).collect::<Vec<_>>().join(", ")
}
