//! The page of commands.

use std::fmt::Write;

use scarce_core::command::{Answer, ArgumentSpec, COMMANDS, CommandSpec, Effect};

use super::{anchor, cell, head, meanings, names};

const INTRODUCTION: &str = "\
Any Redis client sends these. The usage lines are those that `STOCK.HELP` and its like and `COMMAND DOCS` show.

**Shapes.** An id is 1 to 64 bytes of `A-Z a-z 0-9 _ . : @ / + = -`, with one `{tag}` where resources are to live
together. Amounts, quantities and prices are integers from 1 to 2^53 − 1 in decimal digits, without sign, point, exponent
or leading zeros. Times are milliseconds since the Unix epoch. What has another shape is answered by an error `-ERR INVALID` that
names the argument and shows the usage line; nothing is changed, and the connection stays usable.

**Answers.** Commands that change something answer `[1, values…]` when they were applied and `[0, CODE, facts…]` when they were
refused. A refusal is no error, so clients raise no exception for it. Commands that only read answer a map (RESP3) or
names and values in turn (RESP2), and a refusal in the same way as all others.

**Every command that changes something** takes `ID operation-id` at its end, under which it is applied once however often it is
sent: a copy gets the first answer again. And `DEADLINE ms`: at or after that stamp it is not applied any more. Beside
the refusals of its own it may be answered
[`ID_REUSED`](codes.md#id_reused), [`ID_EXPIRED`](codes.md#id_expired), [`DEADLINE_PASSED`](codes.md#deadline_passed),
[`RESOLVED_ABSENT`](codes.md#resolved_absent), and where it names several resources
[`CROSS_PARTITION`](codes.md#cross_partition). Own refusals are listed in the order in which they are checked: the first
that holds is answered.

**Atomic batches.** Lines between `MULTI` and `EXEC` are applied all or not at all; the first may be
`BATCH.ID id [DEADLINE ms]` or `BATCH.DEADLINE ms`. `EXEC` answers an array with one reply per line, never nil. Where a line was refused, that line's reply is
`[0, CODE, facts…]` and each of the others `[0, \"BATCH_REFUSED\", index, CODE]`, the index counting commands from 0.

";

/// All commands by their groups.
pub fn page() -> String {
    let mut page = head("Commands", "`crates/core/src/command/table.rs`") + INTRODUCTION;
    let groups = groups();
    for group in &groups {
        let links: Vec<String> =
            of_group(group).map(|spec| format!("[{}](#{})", spec.name, anchor(spec.name))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "- **{group}**: {}", links.join(" · "));
    }
    for group in groups {
        let _ = write!(page, "\n## {group} commands\n");
        of_group(group).for_each(|spec| describe(&mut page, spec));
    }
    page
}

/// The groups in the order of the table.
fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = Vec::new();
    for spec in COMMANDS {
        if !groups.contains(&spec.group()) {
            groups.push(spec.group());
        }
    }
    groups
}

fn of_group(group: &str) -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().copied().filter(move |spec| spec.group() == group)
}

fn describe(page: &mut String, spec: &CommandSpec) {
    let effect = if spec.effect == Effect::Write { "" } else { " Changes nothing." };
    let _ = write!(page, "\n### {}\n\n{}{effect}\n\n    {}\n\n", spec.name, spec.summary, spec.usage());
    if !spec.arguments.is_empty() {
        page.push_str("| argument | written | needed | what it is |\n|---|---|---|---|\n");
        spec.arguments.iter().for_each(|argument| describe_argument(page, argument));
        page.push('\n');
    }
    let _ = writeln!(page, "- Answer: {}", answer(spec));
    if !spec.refusals.is_empty() {
        page.push_str("- Refusals, in order:\n");
    }
    for (at, code) in spec.refusals.iter().enumerate() {
        let word = code.word();
        let facts = names(code.facts().iter().copied());
        let facts = if facts.is_empty() { facts } else { format!(" with {facts}") };
        let _ = writeln!(page, "  {}. [`{word}`](codes.md#{}){facts}", at + 1, anchor(word));
    }
    if !spec.events.is_empty() {
        let links = spec.events.iter().map(|event| format!("[`{event}`](events.md#{})", anchor(event)));
        let _ = writeln!(page, "- Events: {}", links.collect::<Vec<_>>().join(", "));
    }
}

fn describe_argument(page: &mut String, argument: &ArgumentSpec) {
    let value = argument.syntax.unwrap_or(argument.name);
    let written = match argument.token {
        Some(token) if value.is_empty() => token.to_owned(),
        Some(token) => format!("{token} {value}"),
        None => value.to_owned(),
    };
    let needed = if argument.optional { "no" } else { "yes" };
    let meaning = meanings::of(argument.name);
    let _ = writeln!(page, "| {} | `{}` | {needed} | {meaning} |", argument.name, cell(&written));
}

fn answer(spec: &CommandSpec) -> String {
    let values = spec.reply.join(", ");
    match spec.answer {
        Answer::Array if values.is_empty() => "`[1]`".to_owned(),
        Answer::Array => format!("`[1, {values}]`"),
        Answer::Map => format!("a map of {}", names(spec.reply.iter().copied())),
        Answer::Bare if spec.reply.len() == 1 => format!("`{values}`, an array"),
        Answer::Bare => format!("`[{values}]`"),
    }
}
