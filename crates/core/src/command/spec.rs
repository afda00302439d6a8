//! The types of a row of the command table, and the macro that generates types from the rows.

use super::argument::ArgumentKind;
use super::rules::{Batch, Memory, Refusals, Rules, Steps, Verb};
use super::work::{LINE_WORK, PIECE_WORK, STEP_WORK};
use crate::event::EventSpec;
use crate::outcome::Code;
use crate::outcome::shape::ValueSpec;
use crate::resource::ResourceKind;

/// Whether a command changes state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Sequenced, stamped and, if it has an id, stored under it.
    Write,
    /// Answered from the current state.
    Read,
}

/// The layout of an applied command's values in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerLayout {
    /// 1, then the values in order.
    Array,
    /// Names and values.
    Map,
    /// The values alone.
    Bare,
}

/// One argument, for documents and parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// The name, as in JSON.
    pub name: &'static str,
    /// The keyword in front of it, or `None` if its position identifies it.
    pub token: Option<&'static str>,
    /// What kind of thing it is.
    pub kind: ArgumentKind,
    /// The syntax of its value, if the name does not show it.
    pub syntax: Option<&'static str>,
    /// Whether the command works without it.
    pub optional: bool,
    /// Whether its numbers are amounts of an asset, in minor units.
    pub is_money: bool,
}

/// The options at the end of commands: the keyword, and what follows it. A command takes all of them or
/// none; see [`CommandSpec::common_options`].
pub const COMMON_OPTIONS: [(&str, &str); 3] =
    [("ID", "operation-id"), ("DEADLINE", "ms"), ("DURABILITY", "level")];

/// Whether a word is one of [`COMMON_OPTIONS`], in any case.
#[must_use]
pub fn is_common_option(word: &[u8]) -> bool {
    COMMON_OPTIONS.iter().any(|(option, _)| word.eq_ignore_ascii_case(option.as_bytes()))
}

/// One row of the command table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The number in content hashes; never changed.
    pub number: u16,
    /// The name on the RESP port.
    pub name: &'static str,
    /// The name before the dot.
    pub(super) group: &'static str,
    /// Whether it changes state.
    pub effect: Effect,
    /// The kind of resource that it acts on; `None` if an id only selects the partition.
    pub resource: Option<ResourceKind>,
    /// The names of the arguments whose ids determine its partition.
    pub route: &'static [&'static str],
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Its arguments in order, options last.
    pub arguments: &'static [ArgumentSpec],
    /// How the answer is laid out.
    pub answer: AnswerLayout,
    /// The answer's values.
    pub reply: &'static [ValueSpec],
    /// Its own refusals in the order of the checks.
    pub refusals: &'static [Code],
    /// The events that it may make.
    pub events: &'static [&'static EventSpec],
    /// What the machine and the engines must know about it.
    pub(super) rules: Rules,
}

impl CommandSpec {
    /// The command's resource: the name before the dot.
    #[must_use]
    pub const fn group(&self) -> &'static str {
        self.group
    }

    /// The verb that a key must have to send it.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        self.rules.verb
    }

    /// Whether a refusal is stored under the operation id.
    #[must_use]
    pub const fn remembers_refusals(&self) -> bool {
        matches!(self.rules.refusals, Refusals::Remembered)
    }

    /// Whether it ends a record, so that it is served even if memory is full.
    #[must_use]
    pub const fn frees_memory(&self) -> bool {
        matches!(self.rules.memory, Memory::Frees)
    }

    /// Whether it needs no memory, except to remember its operation id.
    #[must_use]
    pub const fn needs_no_memory(&self) -> bool {
        matches!(self.rules.memory, Memory::Frees | Memory::Keeps)
    }

    /// Whether it may take several steps, each a log entry.
    #[must_use]
    pub const fn takes_several_steps(&self) -> bool {
        matches!(self.rules.steps, Steps::Several)
    }

    /// Whether it always is a single entry of the log, which adds little.
    #[must_use]
    pub const fn takes_one_step(&self) -> bool {
        matches!(self.rules.steps, Steps::One)
    }

    /// The work of deciding it, whatever its arguments ask for; see [`super::work`].
    pub(super) const fn base_work(&self) -> u64 {
        match self.rules.steps {
            Steps::One => LINE_WORK,
            Steps::Piece => LINE_WORK + PIECE_WORK,
            Steps::Several => LINE_WORK + STEP_WORK,
        }
    }

    /// Whether it can be part of a batch.
    #[must_use]
    pub const fn joins_batches(&self) -> bool {
        matches!(self.rules.batch, Batch::Joins)
    }

    /// Whether it can be part of an atomic batch: it changes state and need not be sent alone.
    #[must_use]
    pub const fn joins_atomic_batches(&self) -> bool {
        matches!(self.effect, Effect::Write) && self.joins_batches()
    }

    /// Whether it lists resources of its kind by name, those of all partitions.
    #[must_use]
    pub const fn is_list(&self) -> bool {
        self.resource.is_some() && self.route.is_empty()
    }

    /// Whether it queries an operation by its id.
    #[must_use]
    pub fn asks_about_operation(&self) -> bool {
        self.arguments.iter().any(|argument| argument.kind == ArgumentKind::OperationId)
    }

    /// The options of [`COMMON_OPTIONS`] that it takes: all or none.
    #[must_use]
    pub const fn common_options(&self) -> &'static [(&'static str, &'static str)] {
        if self.joins_atomic_batches() { &COMMON_OPTIONS } else { &[] }
    }

    /// The command as a usage line.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut line = self.name.to_owned();
        for argument in self.arguments {
            line.push(' ');
            line.push_str(&argument.usage());
        }
        for (option, value) in self.common_options() {
            line.push_str(&format!(" [{option} {value}]"));
        }
        line
    }
}

impl ArgumentSpec {
    fn usage(&self) -> String {
        let value = self.syntax.unwrap_or(self.name);
        let text = match self.token {
            Some(token) if value.is_empty() => token.to_owned(),
            Some(token) => format!("{token} {value}"),
            None => value.to_owned(),
        };
        if self.optional { format!("[{text}]") } else { text }
    }
}

/// The part of a command's name before the dot.
pub(super) const fn group_of(name: &'static str) -> &'static str {
    let bytes = name.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'.' {
        end += 1;
    }
    match name.split_at_checked(end) {
        Some((group, _)) => group,
        None => name,
    }
}

/// Declares the commands: a struct each, the enum of all, their parser, encoding and table.
macro_rules! commands {
    ($(
        $effect:ident $number:literal $name:literal $variant:ident on $kind:ident [$($route:ident),*]
        $summary:literal
        ($($field:ident: $type:ty $(as $unit:ident)?),*)
        {$($token:literal $option:ident: $otype:ty $(as $ounit:ident)? = $default:expr),*}
        $answer:ident [$($reply:ident: $rtype:expr),*]
        refuses [$($refusal:ident),*]
        events [$($event:ident),*]
        rules { $($attribute:ident: $value:ident),* };
    )*) => {
        $(
            #[doc = $summary]
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[allow(missing_docs, reason = "the command table names and explains the arguments")]
            pub struct $variant { $(pub $field: $type,)* $(pub $option: $otype,)* }

            $crate::record_wire!($variant { $($field,)* $($option,)* });

            impl $variant {
                /// The row of the command table.
                pub const SPEC: &'static CommandSpec = &specs::$variant;

                fn parse(words: &mut Words<'_>, common: &mut Common) -> Result<Self, Invalid> {
                    $(let $field = <$type as Argument>::take(words, stringify!($field))?;)*
                    $(let mut $option: Option<$otype> = None;)*
                    while let Some(word) = words.next() {
                        $(if word.eq_ignore_ascii_case($token.as_bytes()) {
                            let value = <$otype as Argument>::take(words, stringify!($option))?;
                            $option = Some(match $option {
                                None => value,
                                Some(first) => first.join(value, stringify!($option))?,
                            });
                            continue;
                        })*
                        common_option(word, words, common, Effect::$effect)?;
                    }
                    Ok(Self { $($field,)* $($option: $option.unwrap_or($default),)* })
                }
            }
        )*

        /// A command with its arguments.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant carries the documented struct of its name")]
        pub enum Command { $($variant($variant)),* }

        $(impl From<$variant> for Command {
            fn from(command: $variant) -> Self {
                Command::$variant(command)
            }
        })*

        impl Wire for Command {
            fn put(&self, out: &mut Vec<u8>) {
                match self { $(Command::$variant(command) => { ($number as u64).put(out); command.put(out); })* }
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                match u64::get(input)? {
                    $($number => $variant::get(input).map(Command::$variant),)*
                    _ => Err(Malformed),
                }
            }
        }

        impl Command {
            pub(super) fn parse_as(number: u16, words: &mut Words<'_>, common: &mut Common) -> Result<Self, Invalid> {
                match number {
                    $($number => $variant::parse(words, common).map(Command::$variant),)*
                    _ => Err(Invalid::new("command", "is not in the table")),
                }
            }

            /// The row of the command table.
            #[must_use]
            pub fn spec(&self) -> &'static CommandSpec {
                match self { $(Command::$variant(_) => &specs::$variant),* }
            }

            /// The values of all arguments in the order of the table, for engines that take them in that form.
            #[must_use]
            pub fn values(&self) -> Vec<Value> {
                match self { $(Command::$variant(command) => {
                    vec![$(Shown::shown(&command.$field),)* $(Shown::shown(&command.$option),)*]
                })* }
            }

            /// The work that it asks for, known before it is decided; see [`work`](super::work).
            #[must_use]
            pub fn work(&self) -> u64 {
                match self { $(Command::$variant(command) => {
                    specs::$variant.base_work()
                        $(+ Argument::work(&command.$field))*
                        $(+ Argument::work(&command.$option))*
                })* }
            }

            /// Calls `visit` with every id by which the command finds its partition.
            pub fn route(&self, visit: &mut dyn FnMut(&Id)) {
                match self { $(Command::$variant(command) => {
                    let _ = (command, &visit);
                    $(Routed::visit(&command.$route, visit);)*
                })* }
            }
        }

        #[allow(non_upper_case_globals, reason = "named as the variants that they describe")]
        mod specs {
            use super::*;
            $(pub(super) static $variant: CommandSpec = CommandSpec {
                number: $number,
                name: $name,
                group: group_of($name),
                effect: Effect::$effect,
                resource: resource_kind!($kind),
                route: &[$(stringify!($route)),*],
                summary: $summary,
                arguments: &[
                    $(ArgumentSpec {
                        name: stringify!($field),
                        token: None,
                        kind: <$type as Argument>::KIND,
                        syntax: <$type as Argument>::SYNTAX,
                        optional: false,
                        is_money: is_money!($($unit)?),
                    },)*
                    $(ArgumentSpec {
                        name: stringify!($option),
                        token: Some($token),
                        kind: <$otype as Argument>::KIND,
                        syntax: <$otype as Argument>::SYNTAX,
                        optional: true,
                        is_money: is_money!($($ounit)?),
                    },)*
                ],
                answer: AnswerLayout::$answer,
                reply: values![$($reply: $rtype),*],
                refusals: &[$(Code::$refusal),*],
                events: &[$(event::$event::SPEC),*],
                rules: rules!($effect $($attribute: $value),*),
            };)*
        }

        /// Every command, in the order of the table.
        pub static COMMANDS: &[&CommandSpec] = &[$(&specs::$variant),*];
    };
}

pub(super) use commands;
