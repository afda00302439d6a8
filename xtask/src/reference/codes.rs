//! The page of outcome codes.

use std::fmt::Write;

use scarce_core::command::COMMANDS;
use scarce_core::outcome::Code;
use scarce_core::outcome::codes::Kind;

use super::{anchor, head, names};

const INTRODUCTION: &str = "\
Every command ends with one of these codes. Numbers and words never change their meaning. On the RESP port a refusal is
an ordinary array `[0, CODE, facts…]`, never an error; over HTTP it is a problem document with the status given here.
`scarce explain CODE` says the same on the command line.

- **applied**: the command was carried out.
- **refusal**: the rules forbid it now; an ordinary answer, and remembered under the operation id.
- **rejected**: the request itself is wrong or came too late; nothing was changed and nothing is remembered.
- **failure**: the engine could not decide; send the command again with the same id.

";

/// All codes: an overview, then each with what to do about it.
pub fn page() -> String {
    let mut page = head("Codes", "`crates/core/src/outcome/codes.rs`") + INTRODUCTION;
    page.push_str(
        "| number | code | kind | HTTP status | retryable | facts |\n|---:|---|---|---:|---|---|\n",
    );
    for code in Code::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | [`{}`](#{}) | {} | {} | {} | {} |",
            code.number(),
            code.word(),
            anchor(code.word()),
            kind(*code),
            code.http_status(),
            if code.is_retryable() { "yes" } else { "no" },
            names(code.facts().iter().copied()),
        );
    }
    for code in Code::ALL {
        describe(&mut page, *code);
    }
    page
}

fn kind(code: Code) -> &'static str {
    match code.kind() {
        Kind::Applied => "applied",
        Kind::Refusal => "refusal",
        Kind::Rejected => "rejected",
        Kind::Failure => "failure",
    }
}

fn describe(page: &mut String, code: Code) {
    let retry = if code.is_retryable() { "the same command may succeed later" } else { "not as it is" };
    let _ = write!(
        page,
        "\n## {}\n\n- What happened: {}\n- What to do: {}\n- Try again: {retry}.\n",
        code.word(),
        code.cause().en,
        code.advice().en,
    );
    let answered: Vec<String> = COMMANDS
        .iter()
        .filter(|spec| spec.refusals.contains(&code))
        .map(|spec| format!("[`{}`](commands.md#{})", spec.name, anchor(spec.name)))
        .collect();
    if !answered.is_empty() {
        let _ = writeln!(page, "- Answered by: {}", answered.join(", "));
    }
}
