//! How a caller receives a code, and whether the caller may send the command again.

use scarce_core::command::{COMMANDS, CommandSpec, Effect};
use scarce_core::language::Text;
use scarce_core::outcome::Code;
use scarce_core::outcome::codes::Kind;
use scarce_core::outcome::shape::names;

/// The kind of a code.
#[must_use]
pub const fn kind(code: Code) -> Text {
    match code.kind() {
        Kind::Applied => Text::new("applied", "已执行"),
        Kind::Refusal => Text::new("refusal", "业务拒绝"),
        Kind::Rejected => Text::new("rejected", "请求无效"),
        Kind::Failure => Text::new("failure", "系统错误"),
    }
}

/// The commands that have a code among their own refusals, in the order of the table.
pub fn commands_of(code: Code) -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().copied().filter(move |spec| spec.refusals.contains(&code))
}

/// Which other requests return a code, if it does not belong to particular commands.
#[must_use]
pub const fn answered_beside(code: Code) -> Option<Text> {
    Some(match code {
        Code::Applied
        | Code::Invalid
        | Code::Overloaded
        | Code::Unavailable
        | Code::Unknown
        | Code::Migrated => Text::new("every command", "所有命令"),
        Code::IdReused | Code::IdExpired | Code::DeadlinePassed | Code::ResolvedAbsent => {
            Text::new("every write command", "所有写命令")
        }
        Code::CrossPartition => Text::new(
            "every command and batch that names more than one resource",
            "所有涉及多个资源的命令与批次",
        ),
        Code::BatchRefused => Text::new("every atomic batch", "所有原子批次"),
        _ => return None,
    })
}

/// Whether and how to send a command again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Not needed.
    Done,
    /// Immediately or a little later, with the same id.
    SameId,
    /// Later, with the same id or another.
    LaterAnyId,
    /// Later, with a new id, since the refusal is stored under the first.
    LaterFreshId,
    /// Later; the command changes nothing and needs no id.
    LaterRead,
    /// After correcting the request.
    Corrected,
    /// Not in this form.
    No,
}

impl Again {
    /// Whether and how to retry after a code.
    #[must_use]
    pub fn after(code: Code) -> Self {
        match code.kind() {
            Kind::Applied => Self::Done,
            Kind::Failure => Self::SameId,
            Kind::Rejected => Self::Corrected,
            Kind::Refusal if !code.is_retryable() => Self::No,
            Kind::Refusal => Self::after_refusal(code),
        }
    }

    fn after_refusal(code: Code) -> Self {
        let mut writes = commands_of(code).filter(|spec| spec.effect == Effect::Write).peekable();
        if writes.peek().is_none() {
            Self::LaterRead
        } else if writes.any(CommandSpec::remembers_refusals) {
            Self::LaterFreshId
        } else {
            Self::LaterAnyId
        }
    }

    /// A word for programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::SameId => "same_id",
            Self::LaterAnyId => "later_any_id",
            Self::LaterFreshId => "later_fresh_id",
            Self::LaterRead => "later",
            Self::Corrected => "corrected",
            Self::No => "no",
        }
    }

    /// The text for people.
    #[must_use]
    pub const fn text(self) -> Text {
        match self {
            Self::Done => Text::new(
                "not needed: the command took effect, and a duplicate with the same ID gets this answer again without a second effect",
                "无需重试：已经生效；同一 ID 的重复请求会得到同样的结果，不会再次生效",
            ),
            Self::SameId => Text::new(
                "yes: send the same command again with the same ID, it takes effect at most once; without an ID, check first whether it took effect",
                "可以：用同一个 ID 原样重发，至多生效一次；未带 ID 的命令请先查明是否已生效",
            ),
            Self::LaterAnyId => Text::new(
                "yes, later, with the same ID or a new one: this refusal is not remembered",
                "可以稍后重试，沿用同一 ID 或换新 ID 均可：这类拒绝不会被记录",
            ),
            Self::LaterFreshId => Text::new(
                "yes, later, with a new ID: this refusal is remembered, and a duplicate with the same ID gets it again",
                "可以稍后重试，但要换新 ID：这类拒绝会被记录，同一 ID 的重复请求只会得到同样的拒绝",
            ),
            Self::LaterRead => Text::new(
                "yes, later: a read-only command needs no ID",
                "可以稍后重新查询：只读命令不需要 ID",
            ),
            Self::Corrected => Text::new(
                "no, correct the request first: nothing was changed, and this attempt is not remembered",
                "不能原样重试，请先更正：没有任何改动，本次请求也不会被记录",
            ),
            Self::No => Text::new("no: retrying the same command does not help", "不能：原样重试不会成功"),
        }
    }
}

/// The form of a code on the RESP port.
#[must_use]
pub fn resp_form(code: Code) -> String {
    match code {
        Code::Applied => "[1, values…]".to_owned(),
        Code::Invalid => "-ERR INVALID argument reason. Usage: …".to_owned(),
        Code::Overloaded | Code::Unavailable | Code::Unknown | Code::Migrated => {
            format!("-{} …", code.word())
        }
        _ => {
            let facts = names(code.facts()).map(|fact| format!(", {fact}"));
            format!("[0, \"{}\"{}]", code.word(), facts.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_needs_a_fresh_id() {
        assert_eq!(Again::after(Code::InsufficientFunds), Again::LaterFreshId);
        assert_eq!(Again::after(Code::WouldNotFill), Again::LaterFreshId);
        assert_eq!(Again::after(Code::SoldOut), Again::LaterAnyId);
        assert_eq!(Again::after(Code::LimitReached), Again::LaterAnyId);
        assert_eq!(Again::after(Code::OperationNotFound), Again::LaterRead);
        assert_eq!(Again::after(Code::Unknown), Again::SameId);
        assert_eq!(Again::after(Code::Invalid), Again::Corrected);
        assert_eq!(Again::after(Code::AlreadyClaimed), Again::No);
        assert_eq!(Again::after(Code::Applied), Again::Done);
    }

    #[test]
    fn every_code_is_answered_by_something() {
        for code in Code::ALL {
            let is_answered = commands_of(*code).next().is_some() || answered_beside(*code).is_some();
            assert!(is_answered, "{}", code.word());
        }
    }

    #[test]
    fn refusals_are_arrays_and_failures_errors() {
        assert_eq!(resp_form(Code::SoldOut), "[0, \"SOLD_OUT\", available, requested]");
        assert_eq!(resp_form(Code::NotOwner), "[0, \"NOT_OWNER\"]");
        assert_eq!(resp_form(Code::Overloaded), "-OVERLOADED …");
    }
}
