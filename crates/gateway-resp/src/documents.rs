//! `COMMAND …` and `<GROUP>.HELP`, from the command table.

use scarce_access::{Kind, Need};
use scarce_core::command::rules::Verb;
use scarce_core::command::{ArgumentSpec, COMMANDS, CommandSpec, Effect, table};

use super::reply::Replies;

/// What the caller of a control needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// To be admitted. What is carried out in the end, such as the lines of a batch, is checked by itself.
    Nothing,
    /// To operate the server.
    Operate,
    /// A verb on the script that the first argument names.
    Script(Verb),
    /// A verb on the script whose digest the first argument is. Which that is turns out when it is looked up.
    Digest(Verb),
    /// To read all scripts.
    Scripts,
    /// A verb on some kind of resource.
    Some(Verb),
}

impl Needs {
    /// What that is, and on which script.
    pub(super) fn of(self, arguments: &[&[u8]]) -> Option<(Need, Option<String>)> {
        match self {
            Self::Nothing => None,
            Self::Operate => Some((Need::OPERATE, None)),
            Self::Some(verb) => Some((Need::on_some(verb), None)),
            Self::Scripts => Some((Need::on(Verb::Read, Kind::Script), None)),
            Self::Digest(verb) => Some((Need::on(verb, Kind::Script), None)),
            Self::Script(verb) => {
                let name = arguments.first().map(|name| String::from_utf8_lossy(name));
                let name = name.map(|name| name.split('@').next().unwrap_or_default().to_owned());
                Some((Need::on(verb, Kind::Script), name))
            }
        }
    }
}

/// Which requests of a control are administrative acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    /// None.
    Never,
    /// Each.
    Always,
    /// Those with one of these subcommands.
    With(&'static [&'static str]),
}

impl Acts {
    /// What a request does, if it is an act: the control, its subcommand and what that is about.
    pub(super) fn of(self, name: &str, arguments: &[&[u8]]) -> Option<String> {
        match self {
            Self::Never => None,
            Self::Always => Some(name.to_owned()),
            Self::With(known) => {
                let (subcommand, rest) = arguments.split_first()?;
                let subcommand = String::from_utf8_lossy(subcommand).to_ascii_uppercase();
                let about = rest.first().map(|about| format!(" {}", String::from_utf8_lossy(about)));
                let is_known = known.contains(&subcommand.as_str());
                is_known.then(|| format!("{name} {subcommand}{}", about.unwrap_or_default()))
            }
        }
    }
}

const fn row(name: &'static str, usage: &'static str, needs: Needs) -> Control {
    act(name, usage, needs, Acts::Never)
}

const fn act(name: &'static str, usage: &'static str, needs: Needs, acts: Acts) -> Control {
    Control { name, usage, needs, acts }
}

/// What the port answers besides the command table.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What its caller needs.
    pub needs: Needs,
    /// Which of its requests the audit log has.
    pub acts: Acts,
}

/// What the port answers besides the command table. A control without a row is unknown.
pub const CONTROLS: &[Control] = &[
    row("PING", "PING [text]", Needs::Nothing),
    row("ECHO", "ECHO text", Needs::Nothing),
    row("HELLO", "HELLO [2|3] [AUTH user password] [SETNAME name]", Needs::Nothing),
    row("AUTH", "AUTH [user] password", Needs::Nothing),
    row("SELECT", "SELECT 0", Needs::Nothing),
    row("QUIT", "QUIT", Needs::Nothing),
    row("RESET", "RESET", Needs::Nothing),
    row("INFO", "INFO [section ...]", Needs::Nothing),
    row("COMMAND", "COMMAND [COUNT|LIST|DOCS [name ...]|INFO [name ...]]", Needs::Nothing),
    row("CLIENT", "CLIENT ID|GETNAME|INFO|LIST|SETNAME name|SETINFO attribute value", Needs::Nothing),
    row("CONFIG", "CONFIG GET pattern [pattern ...]", Needs::Operate),
    row("MULTI", "MULTI", Needs::Nothing),
    row("EXEC", "EXEC", Needs::Nothing),
    row("DISCARD", "DISCARD", Needs::Nothing),
    row("BATCH.ID", "BATCH.ID id [DEADLINE ms] [DURABILITY level]", Needs::Nothing),
    row("BATCH.DEADLINE", "BATCH.DEADLINE ms", Needs::Nothing),
    row("BATCH.DURABILITY", "BATCH.DURABILITY level", Needs::Nothing),
    row("DRYRUN", "DRYRUN command [argument ...]", Needs::Nothing),
    act("SNAPSHOT", "SNAPSHOT", Needs::Operate, Acts::Always),
    act(
        "CONSUMER",
        "CONSUMER LIST|CONFIRM name holder partition epoch sequence|LEASE name holder partition ttl_ms|FORGET name|STANDING partition epoch sequence|REBASE name",
        Needs::Operate,
        Acts::With(&["FORGET", "REBASE"]),
    ),
    row("FCALL", "FCALL name[@version] numkeys [key ...] [argument ...]", Needs::Script(Verb::Take)),
    row("FCALL_RO", "FCALL_RO name[@version] numkeys [key ...] [argument ...]", Needs::Script(Verb::Read)),
    row("EVALSHA", "EVALSHA digest numkeys [key ...] [argument ...]", Needs::Digest(Verb::Take)),
    row("EVALSHA_RO", "EVALSHA_RO digest numkeys [key ...] [argument ...]", Needs::Digest(Verb::Read)),
    row("SCRIPT", "SCRIPT EXISTS digest [digest ...]|LOAD text", Needs::Scripts),
    act("SLOWLOG", "SLOWLOG GET [count]|LEN|RESET", Needs::Operate, Acts::With(&["RESET"])),
    row("EVENTS", super::events::USAGE, Needs::Operate),
    row("WAITINGROOM", "WAITINGROOM JOIN room user|GET ticket|SHOW [ticket ...]", Needs::Some(Verb::Take)),
    row("SUBSCRIBE", "SUBSCRIBE channel[;after=epoch.sequence][;conflate] [channel ...]", Needs::Nothing),
    row("UNSUBSCRIBE", "UNSUBSCRIBE [channel ...]", Needs::Nothing),
];

/// Rows of what is not shown: Redis commands that are explained away, and the clock of tests.
const HIDDEN: &[Control] = &[
    row("WATCH", "", Needs::Nothing),
    row("UNWATCH", "", Needs::Nothing),
    row("DEBUG.CLOCK", "", Needs::Operate),
    row("DEBUG.EXPIRE", "", Needs::Operate),
];

/// The row of a name.
pub(super) fn control(name: &str) -> Option<&'static Control> {
    CONTROLS.iter().chain(HIDDEN).find(|control| control.name == name)
}

/// The usage line of a command that is not in the command table.
pub fn usage_of_control(name: &str) -> Option<&'static str> {
    CONTROLS.iter().find(|control| control.name == name).map(|control| control.usage)
}

/// Whether commands of this group exist.
pub fn has_group(group: &str) -> bool {
    COMMANDS.iter().any(|spec| spec.group() == group)
}

/// `<GROUP>.HELP`: a usage line and a summary for each command of the group.
pub fn help(replies: &mut Replies<'_>, group: &str) {
    let specs: Vec<_> = COMMANDS.iter().filter(|spec| spec.group() == group).collect();
    replies.array(2 * specs.len());
    for spec in specs {
        replies.bulk(spec.usage().as_bytes());
        replies.bulk(format!("    {}", spec.summary).as_bytes());
    }
}

/// `COMMAND` and its subcommands.
pub fn command(replies: &mut Replies<'_>, arguments: &[&[u8]]) {
    let (subcommand, names) =
        arguments.split_first().map_or((&b"INFO"[..], arguments), |(first, rest)| (*first, rest));
    let found = names.iter().map(|name| table::find(name));
    if subcommand.eq_ignore_ascii_case(b"COUNT") {
        replies.integer(i64::try_from(COMMANDS.len()).unwrap_or(i64::MAX));
    } else if subcommand.eq_ignore_ascii_case(b"LIST") {
        replies.array(COMMANDS.len());
        COMMANDS.iter().for_each(|spec| replies.bulk(spec.name.as_bytes()));
    } else if subcommand.eq_ignore_ascii_case(b"DOCS") {
        let specs: Vec<_> = if names.is_empty() { COMMANDS.to_vec() } else { found.flatten().collect() };
        replies.map(specs.len());
        specs.iter().for_each(|spec| docs(replies, spec));
    } else if subcommand.eq_ignore_ascii_case(b"INFO") {
        let specs: Vec<_> =
            if names.is_empty() { COMMANDS.iter().copied().map(Some).collect() } else { found.collect() };
        replies.array(specs.len());
        specs.iter().for_each(|spec| info(replies, *spec));
    } else {
        replies.error("ERR", "unknown subcommand; try COMMAND COUNT, LIST, DOCS or INFO");
    }
}

fn docs(replies: &mut Replies<'_>, spec: &CommandSpec) {
    replies.bulk(spec.name.as_bytes());
    replies.map(4);
    for (name, value) in [("summary", spec.summary), ("since", "0.1.0"), ("group", "generic")] {
        replies.bulk(name.as_bytes());
        replies.bulk(value.as_bytes());
    }
    replies.bulk(b"arguments");
    replies.array(spec.arguments.len());
    spec.arguments.iter().for_each(|argument| argument_docs(replies, argument));
}

fn argument_docs(replies: &mut Replies<'_>, argument: &ArgumentSpec) {
    let display = argument.syntax.filter(|syntax| !syntax.is_empty()).unwrap_or(argument.name);
    let is_flag = argument.syntax == Some("");
    let pairs = [
        ("name", argument.name),
        ("type", if is_flag { "pure-token" } else { "string" }),
        ("display_text", display),
    ];
    replies.map(pairs.len() + usize::from(argument.token.is_some()) + usize::from(argument.optional));
    for (name, value) in pairs {
        replies.bulk(name.as_bytes());
        replies.bulk(value.as_bytes());
    }
    if let Some(token) = argument.token {
        replies.bulk(b"token");
        replies.bulk(token.as_bytes());
    }
    if argument.optional {
        replies.bulk(b"flags");
        replies.array(1);
        replies.simple("optional");
    }
}

/// Name, arity, flags, first and last position of a resource's id, step.
fn info(replies: &mut Replies<'_>, spec: Option<&CommandSpec>) {
    let Some(spec) = spec else { return replies.null() };
    let required = spec.arguments.iter().filter(|argument| !argument.optional).count();
    replies.array(6);
    replies.bulk(spec.name.to_ascii_lowercase().as_bytes());
    replies.integer(-i64::try_from(1 + required).unwrap_or(1));
    replies.array(2);
    replies.simple(if spec.effect == Effect::Write { "write" } else { "readonly" });
    replies.simple("fast");
    let has_key = spec.resource.is_some() && !spec.is_list();
    (0..3).for_each(|_| replies.integer(i64::from(has_key)));
}

#[cfg(test)]
mod tests {
    use super::usage_of_control;

    #[test]
    fn what_operates_says_whether_it_is_an_act() {
        let acts = |line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            let name = std::str::from_utf8(words[0]).expect("text");
            let control = super::control(name).expect("a control");
            control.acts.of(control.name, &words[1..])
        };
        assert_eq!(acts("CONSUMER forget tables").as_deref(), Some("CONSUMER FORGET tables"));
        assert_eq!(acts("SNAPSHOT").as_deref(), Some("SNAPSHOT"));
        assert_eq!(acts("SLOWLOG RESET").as_deref(), Some("SLOWLOG RESET"));
        for line in ["CONSUMER CONFIRM t h 0 1 2", "CONSUMER LIST", "SLOWLOG GET", "PING", "EVENTS 0 0 0"] {
            assert_eq!(acts(line), None, "{line}");
        }
    }

    #[test]
    fn the_pages_show_how_events_is_written() {
        let usage = usage_of_control("EVENTS").expect("a control");
        for (name, page) in [
            ("resp.md", include_str!("../../../docs/reference/resp.md")),
            ("events.md", include_str!("../../../docs/reference/events.md")),
            ("zh/events.md", include_str!("../../../docs/reference/zh/events.md")),
        ] {
            assert!(page.contains(usage), "{name} does not show {usage}");
        }
    }
}
