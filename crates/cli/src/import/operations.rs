//! Operations as CSV: columns for the command, the id, and each argument by name.

use std::ops::Range;

use scarce_core::command::{ArgumentKind, ArgumentSpec, COMMANDS, CommandSpec, Effect, Invalid};
use scarce_core::outcome::Durability;
use scarce_core::types::{Natural, OperationId};

use super::Problem;
use super::amounts::Amounts;
use super::cells::Row;
use super::operation::{self, Operation, Terms};

/// The columns that all commands share.
const COMMON: [&str; 5] = ["command", "id", "deadline", "durability", "asset"];

/// The columns that a header may contain.
pub(super) fn columns() -> Vec<&'static str> {
    let writes = COMMANDS.iter().filter(|spec| spec.effect == Effect::Write);
    let writes = writes.filter(|spec| spec.name != "OPERATION.RESOLVE");
    let mut columns = COMMON.to_vec();
    for argument in writes.flat_map(|spec| spec.arguments) {
        if !columns.contains(&argument.name) {
            columns.push(argument.name);
        }
    }
    columns
}

/// The operation of a row; `own_id` is the id if it has none, `asset` the asset of amounts.
pub(super) fn read(
    line: u64,
    row: &Row<'_>,
    amounts: &mut Amounts,
    asset: Option<&str>,
    own_id: Option<String>,
) -> Result<Operation, Problem> {
    let spec = operation::find(row.need("command")?).map_err(|reason| Problem::of("command", reason))?;
    check_columns(spec, row)?;
    let asset = row.get("asset").or(asset);
    let mut words = vec![spec.name.to_owned()];
    for argument in spec.arguments {
        match row.get(argument.name) {
            Some(cell) => push_argument(argument, cell, amounts, asset, &mut words)?,
            None if argument.optional => {}
            None => return Err(Problem::of(argument.name, format!("is missing for {}", spec.name))),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    operation::check(spec, &words)?;
    let id = match row.get("id") {
        Some(id) => id.to_owned(),
        None => {
            own_id.ok_or_else(|| Problem::of("id", "is missing; give one, or --run, or --allow-no-id"))?
        }
    };
    OperationId::parse(id.as_bytes(), "id").map_err(|problem| Problem::from(problem.to_string()))?;
    let terms = read_terms(row).map_err(|problem| Problem::from(problem.to_string()))?;
    Ok(Operation::single(line, id, &words, terms))
}

fn read_terms(row: &Row<'_>) -> Result<Terms, Invalid> {
    let deadline = row.get("deadline").map(|text| Natural::parse(text.as_bytes(), "deadline"));
    let durability = row.get("durability").map(|text| Durability::parse(text.as_bytes(), "durability"));
    Ok(Terms { deadline: deadline.transpose()?, durability: durability.transpose()? })
}

/// A row must not contain values for arguments that its command does not have: that is likely a mistake.
fn check_columns(spec: &CommandSpec, row: &Row<'_>) -> Result<(), Problem> {
    let is_taken =
        |name: &str| COMMON.contains(&name) || spec.arguments.iter().any(|argument| argument.name == name);
    match row.given().find(|name| !is_taken(name)) {
        Some(name) => {
            Err(Problem::of(name, format!("is not taken by {}. Usage: {}", spec.name, spec.usage())))
        }
        None => Ok(()),
    }
}

fn push_argument(
    argument: &ArgumentSpec,
    cell: &str,
    amounts: &mut Amounts,
    asset: Option<&str>,
    words: &mut Vec<String>,
) -> Result<(), Problem> {
    let problem = |reason| Problem::of(argument.name, reason);
    if argument.syntax == Some("") {
        if read_flag(cell).map_err(problem)? {
            words.extend(argument.token.map(str::to_owned));
        }
        return Ok(());
    }
    words.extend(argument.token.map(str::to_owned));
    let begin = words.len();
    match argument.syntax {
        Some(syntax) => words.extend(split(syntax, cell)),
        None => words.push(cell.to_owned()),
    }
    let given = &mut words[begin..];
    for at in money(argument, given) {
        let Some(word) = given.get_mut(at) else { break };
        *word = amounts.read(word, asset).map_err(problem)?.to_string();
    }
    Ok(())
}

/// Which words of an argument are amounts of the row's asset.
fn money(argument: &ArgumentSpec, words: &[String]) -> Range<usize> {
    let is_list = || words.first().is_some_and(|word| word.eq_ignore_ascii_case("AMOUNTS"));
    match argument.kind {
        _ if !argument.is_money => 0..0,
        ArgumentKind::Cut if is_list() => 2..words.len(),
        ArgumentKind::Cut => 1..2,
        _ => 0..1,
    }
}

fn read_flag(cell: &str) -> Result<bool, String> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// The words of a cell: if the syntax is a keyword and one text, the cell is the text; otherwise it is
/// written as on the port.
fn split(syntax: &str, cell: &str) -> Vec<String> {
    match syntax.split_once(' ') {
        Some((word, text)) if text.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            vec![word.to_owned(), cell.to_owned()]
        }
        _ => cell.split_ascii_whitespace().map(str::to_owned).collect(),
    }
}
