//! What an operation was asked to do, as far as its events and its answer tell: its command, and the arguments.

use std::sync::LazyLock;

use scarce_core::command::{ArgumentKind, ArgumentSpec, COMMANDS, CommandSpec, Effect};
use scarce_core::event::{Entry, Event};
use scarce_core::outcome::{Code, Outcome, Value};

use super::json;
use crate::rows::CommandName;
use crate::table::Text;

/// A command with its arguments by name, as far as they can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedCommand {
    pub(crate) command: Option<CommandName>,
    pub(crate) arguments: Option<Text>,
}

/// The public fields of an event.
pub(super) type Fields = [(&'static str, Value)];

type Commands = Vec<&'static CommandSpec>;

/// The commands that make an event, by its number.
static MAKERS: LazyLock<Vec<Commands>> = LazyLock::new(|| {
    let writes = || COMMANDS.iter().copied().filter(|spec| spec.effect == Effect::Write);
    let numbers = writes().flat_map(|spec| spec.events).map(|event| usize::from(event.number));
    let mut makers = vec![Commands::new(); numbers.max().unwrap_or(0) + 1];
    for spec in writes() {
        spec.events.iter().for_each(|event| makers[usize::from(event.number)].push(spec));
    }
    makers
});

impl AskedCommand {
    /// What an operation of several steps was asked, by its first entry.
    pub(super) fn at_first_step(entry: &Entry) -> Self {
        let Some(event) = entry.events.first().filter(|_| entry.head.operation.is_some()) else {
            return Self::default();
        };
        let mut commands = makers(event);
        narrow(&mut commands, |spec| leads(spec, event));
        narrow(&mut commands, CommandSpec::takes_several_steps);
        Self::of(&commands, &event.fields(), entry.head.at)
    }

    /// What an operation was asked that took one step.
    pub(super) fn in_one_step(entry: &Entry, outcome: &Outcome, fields: &Fields) -> Self {
        let Some(event) = entry.events.first().filter(|_| outcome.is_applied()) else {
            return Self { command: refused(outcome), arguments: None };
        };
        let mut commands = makers(event);
        commands.retain(|spec| spec.reply.len() == outcome.facts.len());
        narrow(&mut commands, |spec| leads(spec, event));
        if entry.events.len() > 1 {
            narrow(&mut commands, CommandSpec::takes_several_steps);
        }
        // What has the same name in the answer and in the event has the same value.
        let answers = |spec: &CommandSpec, is_same: bool| {
            let mut answer = spec.reply.iter().zip(outcome.facts.iter());
            answer.any(|(its, value)| {
                value_of(fields, its.name).is_some_and(|other| (other == value) == is_same)
            })
        };
        narrow(&mut commands, |spec| !answers(spec, false));
        narrow(&mut commands, |spec| answers(spec, true));
        Self::of(&commands, fields, entry.head.at)
    }

    /// Of an atomic batch only that is told.
    pub(super) fn unless_batch(self, outcome: &Outcome) -> Self {
        // The answer of a batch is a list of answers; no single command begins with a list.
        let is_batch = outcome.code == Code::BatchRefused
            || (outcome.is_applied() && matches!(outcome.facts.iter().next(), Some(Value::List(_))));
        if is_batch { Self { command: Some(CommandName::BATCH), arguments: None } } else { self }
    }

    fn of(commands: &[&'static CommandSpec], fields: &Fields, at: u64) -> Self {
        let [spec] = commands else { return Self::default() };
        Self { command: Some(CommandName(spec.name)), arguments: Some(arguments(spec, fields, at)) }
    }
}

fn makers(event: &Event) -> Commands {
    MAKERS.get(usize::from(event.spec().number)).cloned().unwrap_or_default()
}

/// Whether a command begins with such an event.
fn leads(spec: &CommandSpec, event: &Event) -> bool {
    spec.events.first().is_some_and(|first| first.number == event.spec().number)
}

/// Keeps the commands of which something is so, if it is so of any.
fn narrow(commands: &mut Commands, is_so: impl Fn(&CommandSpec) -> bool) {
    if commands.len() > 1 && commands.iter().any(|spec| is_so(spec)) {
        commands.retain(|spec| is_so(spec));
    }
}

/// The only command whose remembered refusal it can be.
fn refused(outcome: &Outcome) -> Option<CommandName> {
    let mut refusing =
        COMMANDS.iter().filter(|spec| spec.remembers_refusals() && spec.refusals.contains(&outcome.code));
    let first = refusing.next()?;
    refusing.next().is_none().then_some(CommandName(first.name))
}

fn value_of<'f>(fields: &'f Fields, name: &str) -> Option<&'f Value> {
    let (_, value) = fields.iter().find(|(its, _)| *its == name)?;
    (*value != Value::Absent).then_some(value)
}

/// The arguments that the fields of an event tell, by the names of the command's table.
fn arguments(spec: &CommandSpec, fields: &Fields, at: u64) -> Text {
    let mut told = json::Object::default();
    for argument in spec.arguments {
        match argument.kind {
            ArgumentKind::Pricing => {
                let price = value_of(fields, "price");
                told.put("type", &Value::from(if price.is_some() { "LIMIT" } else { "MARKET" }));
                price.into_iter().for_each(|price| told.put("price", price));
            }
            // The amounts themselves are not public; their number and their sum are.
            ArgumentKind::Cut => ["count", "total"]
                .into_iter()
                .filter_map(|name| Some((name, value_of(fields, name)?)))
                .for_each(|(name, value)| told.put(name, value)),
            ArgumentKind::Flag if is_set(argument, fields) => told.put_true(argument.name),
            ArgumentKind::Flag => {}
            ArgumentKind::Subject => {
                if let Some(Value::List(pairs)) = value_of(fields, argument.name) {
                    told.put_pairs(argument.name, pairs);
                }
            }
            _ => value(argument, fields, at).iter().for_each(|value| told.put(argument.name, value)),
        }
    }
    told.end()
}

/// The value of an argument: the field of its name, or what the deadline shows of a time to live.
fn value(argument: &ArgumentSpec, fields: &Fields, at: u64) -> Option<Value> {
    if argument.name != "ttl_ms" {
        return value_of(fields, argument.name).cloned();
    }
    match value_of(fields, "deadline")? {
        Value::Integer(deadline) => Some(Value::Integer(deadline - i64::try_from(at).ok()?)),
        _ => None,
    }
}

/// Whether the event shows that a flag was given.
fn is_set(argument: &ArgumentSpec, fields: &Fields) -> bool {
    match argument.name {
        "keep_rest" => value_of(fields, "open") == Some(&Value::Integer(1)),
        "give_back" => {
            matches!(value_of(fields, "given_back"), Some(Value::List(names)) if !names.is_empty())
        }
        _ => false,
    }
}
