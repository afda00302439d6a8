//! The map of calls: which call of a script or command means which command of Scarce, and which answer means which.

use std::collections::BTreeMap;
use std::path::Path;

use scarce_books::Numbers;
use scarce_core::command::{Effect, table};
use scarce_takeover::{Captures, Pattern, value_of};
use serde::Deserialize;

use crate::error::ShadowError;

/// All calls that are compared.
#[derive(Debug)]
pub struct CallMap {
    pub(crate) calls: Vec<Call>,
    /// The calls of each script, function or command; one of them is meant by its keys.
    by_name: BTreeMap<(Kind, Vec<u8>), Vec<usize>>,
    /// Whether a script is known by its digest alone.
    needs_digests: bool,
}

/// How a call is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// By the text of a script.
    Text,
    /// By its digest, in small hexadecimal digits.
    Digest,
    /// By the name of a function.
    Function,
    /// By the name of a command, in capitals.
    Command,
}

/// A call that is compared.
#[derive(Debug)]
pub(crate) struct Call {
    /// What it is called in the map.
    pub(crate) name: String,
    keys: Vec<Pattern>,
    args: Vec<Pattern>,
    command: Vec<Pattern>,
    is_write: bool,
    decimals: BTreeMap<String, u8>,
    answers: Vec<(Pattern, Vec<Pattern>)>,
}

/// A call as it was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// Its place in the map.
    pub(crate) call: usize,
    pub(crate) captures: Captures,
    /// The command of Scarce, or why there is none.
    pub(crate) command: Result<Vec<String>, String>,
    /// The names of the resources that it is about.
    pub(crate) resources: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MapText {
    calls: Vec<CallText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallText {
    on: String,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    command: String,
    #[serde(default)]
    decimals: BTreeMap<String, u8>,
    answers: Vec<[String; 2]>,
}

impl CallMap {
    /// Reads a map. Scripts are files beside it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ShadowError> {
        let read: MapText =
            toml::from_str(text).map_err(|error| ShadowError::Map { what: error.to_string() })?;
        let mut map = Self { calls: Vec::new(), by_name: BTreeMap::new(), needs_digests: false };
        for call in read.calls {
            let on = call.on.clone();
            map.add(call, folder).map_err(|what| ShadowError::Map { what: format!("{on}: {what}") })?;
        }
        if map.calls.is_empty() {
            return Err(ShadowError::Map { what: "it names no [[calls]]".to_owned() });
        }
        Ok(map)
    }

    fn add(&mut self, text: CallText, folder: &Path) -> Result<(), String> {
        let parse = |text: &String| Pattern::parse(text).map_err(|what| format!("'{text}' {what}"));
        let all = |texts: &[String]| texts.iter().map(parse).collect::<Result<Vec<_>, _>>();
        let words: Vec<String> = text.command.split_whitespace().map(str::to_owned).collect();
        let name = words.first().ok_or("command is empty")?;
        let spec =
            table::find(name.as_bytes()).ok_or_else(|| format!("{name} is not a command of Scarce"))?;
        let answer = |[redis, scarce]: &[String; 2]| {
            let scarce: Vec<String> = scarce.split_whitespace().map(str::to_owned).collect();
            Ok::<_, String>((parse(redis)?, all(&scarce)?))
        };
        let call = Call {
            name: text.on.clone(),
            keys: all(&text.keys)?,
            args: all(&text.args)?,
            command: all(&words)?,
            is_write: spec.effect == Effect::Write,
            decimals: text.decimals,
            answers: text.answers.iter().map(answer).collect::<Result<_, _>>()?,
        };
        call.check()?;
        let place = self.calls.len();
        for name in names(&text.on, folder)? {
            self.needs_digests |= name.0 == Kind::Digest && !text.on.starts_with("script:");
            self.by_name.entry(name).or_default().push(place);
        }
        self.calls.push(call);
        Ok(())
    }

    /// The call that a request makes, if it is compared.
    pub(crate) fn find(&self, words: &[&[u8]]) -> Option<Made> {
        let (name, rest) = words.split_first()?;
        let name = name.to_ascii_uppercase();
        let (key, keys, args) = match name.as_slice() {
            b"EVAL" => self.with_keys(Kind::Text, rest)?,
            b"EVALSHA" => self.with_keys(Kind::Digest, rest)?,
            b"FCALL" => self.with_keys(Kind::Function, rest)?,
            _ => ((Kind::Command, name), rest, rest),
        };
        let calls = self.by_name.get(&key)?;
        calls.iter().find_map(|place| {
            let call = &self.calls[*place];
            // The keys of a plain command are its first words.
            let args = if key.0 == Kind::Command { args.get(call.keys.len()..)? } else { args };
            call.made(*place, keys, args)
        })
    }

    #[allow(clippy::type_complexity, reason = "read once, right here")]
    fn with_keys<'a>(
        &self,
        kind: Kind,
        words: &'a [&'a [u8]],
    ) -> Option<((Kind, Vec<u8>), &'a [&'a [u8]], &'a [&'a [u8]])> {
        let (name, rest) = words.split_first()?;
        let (count, rest) = rest.split_first()?;
        let count: usize = str::from_utf8(count).ok()?.parse().ok()?;
        let (keys, args) = rest.split_at_checked(count)?;
        let mut key = (kind, name.to_vec());
        if kind == Kind::Digest {
            key.1.make_ascii_lowercase();
        }
        if kind == Kind::Text && self.needs_digests && !self.by_name.contains_key(&key) {
            key = (Kind::Digest, digest(name).into_bytes());
        }
        Some((key, keys, args))
    }
}

/// The names under which a call is made.
fn names(on: &str, folder: &Path) -> Result<Vec<(Kind, Vec<u8>)>, String> {
    let (kind, name) = on.split_once(':').unwrap_or(("", on));
    match kind {
        "script" => {
            let path = folder.join(name);
            let text =
                std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let digest = digest(&text).into_bytes();
            Ok(vec![(Kind::Text, text), (Kind::Digest, digest)])
        }
        "sha1" if name.len() == 40 => Ok(vec![(Kind::Digest, name.to_ascii_lowercase().into_bytes())]),
        "function" => Ok(vec![(Kind::Function, name.as_bytes().to_vec())]),
        "command" => Ok(vec![(Kind::Command, name.to_ascii_uppercase().into_bytes())]),
        _ => Err("on must be script:FILE, sha1:DIGEST, function:NAME or command:NAME".to_owned()),
    }
}

/// The digest by which Redis knows a script.
fn digest(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    redis::Script::new(&text).get_hash().to_owned()
}

impl Call {
    /// Whether each place has a value.
    fn check(&self) -> Result<(), String> {
        let captured: Vec<&str> = self.keys.iter().chain(&self.args).flat_map(Pattern::names).collect();
        let outer = |name: &str| name.split_once('.').map_or(name, |(outer, _)| outer).to_owned();
        let is_known = |name: &str, own: &[&str]| captured.iter().chain(own).any(|its| *its == outer(name));
        let unknown = |name: &str| Err(format!("'{{{name}}}' is captured by no key or argument"));
        if let Some(name) = self.command.iter().flat_map(Pattern::names).find(|name| !is_known(name, &[])) {
            return unknown(name);
        }
        for (redis, scarce) in &self.answers {
            let own: Vec<&str> = redis.names().collect();
            if let Some(name) = scarce.iter().flat_map(Pattern::names).find(|name| !is_known(name, &own)) {
                return unknown(name);
            }
        }
        Ok(())
    }

    fn made(&self, call: usize, keys: &[&[u8]], args: &[&[u8]]) -> Option<Made> {
        let mut captures = Captures::new();
        for (pattern, word) in self.keys.iter().zip(keys).chain(self.args.iter().zip(args)) {
            captures.extend(pattern.captures(str::from_utf8(word).ok()?)?);
        }
        if keys.len() < self.keys.len() || args.len() < self.args.len() {
            return None;
        }
        let command: Result<Vec<String>, String> =
            self.command.iter().map(|word| self.fill(word, &captures)).collect();
        let resources = command.as_ref().map_or_else(|_| Vec::new(), |words| resources(words));
        Some(Made { call, captures, command, resources })
    }

    /// A word with its values, amounts in minor units.
    fn fill(&self, word: &Pattern, captures: &Captures) -> Result<String, String> {
        word.fill(|name| {
            let value = value_of(captures, name)?;
            let Some(scale) = self.decimals.get(name).copied() else { return Ok(value) };
            let none = Vec::new;
            let numbers =
                Numbers { scale, decimal: '.', thousands: None, credit_marks: none(), debit_marks: none() };
            numbers.read(&value).map(|amount| amount.to_string())
        })
    }

    /// Whether it changes something, and takes an ID.
    pub(crate) fn is_write(&self) -> bool {
        self.is_write
    }

    /// What Scarce must answer where Redis answered this.
    ///
    /// # Errors
    /// Why that is not known.
    pub(crate) fn expected(&self, answer: &str, captures: &Captures) -> Result<Vec<String>, String> {
        for (redis, scarce) in &self.answers {
            let Some(mut values) = redis.captures(answer) else { continue };
            values.extend(captures.iter().cloned());
            return scarce.iter().map(|word| self.fill(word, &values)).collect();
        }
        Err("the map does not say what this answer means".to_owned())
    }
}

/// The resources of a command: its first argument, and the receiver of a transfer.
fn resources(words: &[String]) -> Vec<String> {
    let is_transfer = words.first().is_some_and(|name| name.eq_ignore_ascii_case("ACCOUNT.TRANSFER"));
    words.iter().skip(1).take(if is_transfer { 2 } else { 1 }).cloned().collect()
}
