//! `MULTI … EXEC`: an atomic batch, applied whole or not at all.

use scarce_core::command::work::{WORK_MAX, too_much};
use scarce_core::command::{Body, Command, CommandSpec, Common, Invalid};
use scarce_core::outcome::{Code, Durability, Outcome, Value};
use scarce_core::types::{Natural, OperationId};
use scarce_limits::rooms::NotAdmitted;

use super::documents::usage_of_control;
use super::form::Form;
use super::reply::{Replies, invalid};
use super::session::{Session, Turn};

/// The maximum number of lines of a batch.
const LINES_MAX: usize = 1_000;

/// The maximum size of a batch as sent.
const BYTES_MAX: usize = 1 << 20;

/// What was queued since `MULTI`.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    common: Common,
    lines: Vec<Line>,
    commands: Vec<Command>,
    bytes: usize,
    /// What its lines ask for together.
    work: u64,
    is_aborted: bool,
    /// The first of its users who waits. What became of the batch before is told again all the same.
    waits: Option<Box<NotAdmitted>>,
}

impl Transaction {
    /// The work that its lines ask for.
    pub(super) fn work(&self) -> u64 {
        self.work
    }
}

/// The kind of a line of a batch, which determines its reply.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    /// `BATCH.ID`, `BATCH.DEADLINE` or `BATCH.DURABILITY`.
    Option,
    /// A command.
    Command,
}

impl Session {
    pub(super) fn abort_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.is_aborted = true;
            transaction.commands = Vec::new();
        }
    }

    /// Whether the batch that is being queued has an id.
    pub(super) fn is_named_batch(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| transaction.common.operation.is_some())
    }

    /// Notes that the user of a line waits.
    pub(super) fn wait_in_batch(&mut self, refused: Box<NotAdmitted>) {
        if let Some(transaction) = &mut self.transaction {
            transaction.waits.get_or_insert(refused);
        }
    }

    /// Refuses a line, and so the whole batch at `EXEC`.
    pub(super) fn refuse_line(&mut self, turn: &mut Turn<'_>, text: &str) {
        self.abort_transaction();
        self.say(turn, |replies| replies.error("ERR", text));
    }

    pub(super) fn queue(
        &mut self,
        spec: &'static CommandSpec,
        (command, bytes): (Command, usize),
        common: &Common,
        turn: &mut Turn<'_>,
    ) {
        if !spec.joins_atomic_batches() {
            let text = format!("{} cannot be part of an atomic batch; ask before or after it", spec.name);
            return self.refuse_line(turn, &text);
        }
        if *common != Common::default() {
            return self.refuse_line(
                turn,
                "lines of a batch carry no ID, DEADLINE or DURABILITY; begin it with BATCH.ID id [DEADLINE ms] [DURABILITY level]",
            );
        }
        let Some(transaction) = &mut self.transaction else { return };
        if transaction.is_aborted {
            // The batch will not be carried out, so its lines need not be kept.
            return self.say(turn, |replies| replies.simple("QUEUED"));
        }
        if transaction.commands.len() >= LINES_MAX {
            return self.refuse_line(turn, "a batch has at most 1000 lines");
        }
        transaction.bytes += bytes;
        if transaction.bytes > BYTES_MAX {
            return self.refuse_line(turn, "a batch has at most 1048576 bytes");
        }
        transaction.work = transaction.work.saturating_add(command.work());
        if transaction.work > WORK_MAX {
            let problem = too_much(transaction.work);
            return self.refuse_line(turn, &format!("INVALID {problem}"));
        }
        transaction.lines.push(Line::Command);
        transaction.commands.push(command);
        self.say(turn, |replies| replies.simple("QUEUED"));
    }

    pub(super) fn multi(&mut self, turn: &mut Turn<'_>) {
        if self.transaction.is_some() {
            return self.say(turn, |replies| replies.error("ERR", "MULTI calls can not be nested"));
        }
        self.transaction = Some(Transaction::default());
        self.say(turn, |replies| replies.simple("OK"));
    }

    pub(super) fn discard(&mut self, turn: &mut Turn<'_>) {
        match self.transaction.take() {
            None => self.say(turn, |replies| replies.error("ERR", "DISCARD without MULTI")),
            Some(_) => self.say(turn, |replies| replies.simple("OK")),
        }
    }

    /// `BATCH.ID id [DEADLINE ms] [DURABILITY level]`, `BATCH.DEADLINE ms` or `BATCH.DURABILITY level`, before
    /// the commands.
    pub(super) fn batch_option(&mut self, name: &str, arguments: &[&[u8]], turn: &mut Turn<'_>) {
        let first = self.transaction.as_ref().is_some_and(|transaction| transaction.commands.is_empty());
        if !first {
            return self.refuse_line(turn, &format!("{name} must come after MULTI and before the commands"));
        }
        match parse_option(name, arguments) {
            Err(problem) => {
                let usage = usage_of_control(name).unwrap_or_default();
                self.refuse_line(turn, &format!("INVALID {problem}. Usage: {usage}"));
            }
            Ok(common) => {
                if let Some(transaction) = &mut self.transaction {
                    let given = &mut transaction.common;
                    given.operation = common.operation.or(given.operation.take());
                    given.deadline = common.deadline.or(given.deadline);
                    given.durability = common.durability.or(given.durability);
                    transaction.lines.push(Line::Option);
                }
                self.say(turn, |replies| replies.simple("QUEUED"));
            }
        }
    }

    pub(super) fn exec(&mut self, turn: &mut Turn<'_>) {
        let Some(transaction) = self.transaction.take() else {
            return self.say(turn, |replies| replies.error("ERR", "EXEC without MULTI"));
        };
        if transaction.is_aborted {
            let text = "Transaction discarded because of previous errors.";
            return self.say(turn, |replies| replies.error("EXECABORT", text));
        }
        if transaction.commands.is_empty() {
            let count = transaction.lines.len();
            return self.say(turn, |replies| {
                replies.array(count);
                (0..count).for_each(|_| replies.simple("OK"));
            });
        }
        let Transaction { common, lines, commands, waits, .. } = transaction;
        let (body, form) = (Body::Atomic(commands), Form::Exec(lines));
        match waits {
            None => self.write(common, body, form, turn),
            Some(refused) => {
                self.refuse_waiting(refused, (common, body, form), turn);
            }
        }
    }
}

/// `BATCH.ID x` and the like have the same options as commands; an id may have more options after it.
fn parse_option(name: &str, arguments: &[&[u8]]) -> Result<Common, Invalid> {
    let option = name.strip_prefix("BATCH.").unwrap_or(name).as_bytes();
    let words = [&[option], arguments].concat();
    if words.len() % 2 != 0 || (words.len() > 2 && option != b"ID") {
        return Err(Invalid::new("arguments", "are not as the usage says"));
    }
    let mut common = Common::default();
    for pair in words.chunks_exact(2) {
        take_option(pair[0], pair[1], &mut common)?;
    }
    Ok(common)
}

fn take_option(option: &[u8], value: &[u8], common: &mut Common) -> Result<(), Invalid> {
    let is_second = match option.to_ascii_uppercase().as_slice() {
        b"ID" => common.operation.replace(OperationId::parse(value, "id")?).is_some(),
        b"DEADLINE" => common.deadline.replace(Natural::parse(value, "deadline")?.get()).is_some(),
        b"DURABILITY" => common.durability.replace(Durability::parse(value, "durability")?).is_some(),
        _ => return Err(Invalid::new("arguments", "are not as the usage says")),
    };
    if is_second { Err(Invalid::new("arguments", "name an option twice")) } else { Ok(()) }
}

/// One reply per line. In an applied batch, each line has its own; in a refused one, the culprit has its
/// refusal and the others say why the batch failed. Never nil, which clients take for a failed `WATCH`.
pub(super) fn write_exec(replies: &mut Replies<'_>, lines: &[Line], outcome: &Outcome) {
    if outcome.code == Code::Invalid {
        return replies.error("ERR", &invalid(outcome));
    }
    if outcome.code == Code::Overloaded {
        return replies.overloaded(outcome);
    }
    replies.array(lines.len());
    let mut index = 0;
    for line in lines {
        match line {
            Line::Option => replies.simple("OK"),
            Line::Command => {
                write_line(replies, outcome, index);
                index += 1;
            }
        }
    }
}

fn write_line(replies: &mut Replies<'_>, outcome: &Outcome, index: usize) {
    match (outcome.code, outcome.facts.as_slice()) {
        (Code::Applied, answers) => answers.get(index).into_iter().for_each(|answer| replies.value(answer)),
        (Code::BatchRefused, [Value::Integer(culprit), code, facts]) => {
            let is_culprit = i64::try_from(index) == Ok(*culprit);
            let zero = Value::Integer(0);
            let values = match facts {
                Value::List(facts) if is_culprit => [&[zero, code.clone()], facts.as_slice()].concat(),
                _ => {
                    vec![zero, Value::from(Code::BatchRefused.word()), Value::Integer(*culprit), code.clone()]
                }
            };
            replies.value(&Value::List(values));
        }
        _ => replies.refused(outcome),
    }
}
