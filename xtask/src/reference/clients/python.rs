//! `clients/python/src/scarce_client/_generated.py`.

use std::fmt::Write;

use super::model::{Command, Field, Model, Record, Type, camel};
use super::{HEAD, wrapped};

const IMPORTS: &str = "\
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar, Unpack, cast

from ._outcome import Answer, Arguments, CallOptions, Outcome, Route, Send

T = TypeVar(\"T\")

";

/// Its text.
pub fn file(model: &Model) -> String {
    let mut out = format!("# {HEAD}\n\"\"\"Types of commands and codes.\"\"\"\n\n{IMPORTS}");
    let _ = writeln!(out, "VERSION = \"{}\"\n", model.version);
    model.records().filter(|record| !is_arguments(record)).for_each(|record| class(record, "", &mut out));
    let empty = model.codes.iter().map(|code| &code.facts).filter(|facts| facts.fields.is_empty());
    empty.for_each(|facts| class(facts, "", &mut out));
    for command in &model.commands {
        let base = format!("(Arguments[{}Result])", command.name);
        class(&command.arguments, &base, &mut out);
    }
    codes(model, &mut out);
    routes(model, &mut out);
    for group in model.groups() {
        commands(group, model, &mut out);
    }
    out
}

fn is_arguments(record: &Record) -> bool {
    record.name.ends_with("Arguments")
}

/// A name that is no word of the language.
fn safe(name: &str) -> String {
    if matches!(name, "from" | "return") { format!("{name}_") } else { name.to_owned() }
}

fn doc(text: &str, indent: &str, out: &mut String) {
    let lines = wrapped(text, 100);
    let _ = write!(out, "{indent}\"\"\"{}", lines.join(&format!("\n{indent}")));
    out.push_str("\"\"\"\n");
}

fn class(record: &Record, base: &str, out: &mut String) {
    let _ =
        writeln!(out, "\n@dataclass(frozen=True, slots=True, kw_only=True)\nclass {}{base}:", record.name);
    doc(&record.meaning, "    ", out);
    out.push('\n');
    if let Some(command) = record.meaning.strip_prefix("What ").and_then(|rest| rest.strip_suffix(" takes."))
    {
        let _ = writeln!(out, "    COMMAND: ClassVar[str] = \"{command}\"");
        let _ = writeln!(out, "    RESULT: ClassVar[type] = {}Result", camel(command));
    }
    for field in &record.fields {
        let _ = writeln!(out, "    {}", member(field));
        if !field.meaning.is_empty() {
            doc(&field.meaning, "    ", out);
        }
    }
    out.push('\n');
}

fn member(field: &Field) -> String {
    let (name, shown) = (safe(&field.name), shown(&field.is));
    if field.is_optional { format!("{name}: {shown} | None = None") } else { format!("{name}: {shown}") }
}

fn shown(its: &Type) -> String {
    match its {
        Type::Integer => "int".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Scalar => "int | str".to_owned(),
        Type::Words(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Type::List(inner) => format!("Sequence[{}]", shown(inner)),
        Type::Record(name) => name.clone(),
        Type::Subject => "Mapping[str, str]".to_owned(),
        Type::Open => "Mapping[str, Any]".to_owned(),
        Type::Any => "Any".to_owned(),
    }
}

fn codes(model: &Model, out: &mut String) {
    out.push_str("\n# Whether a code is an answer of the rules (a refusal), or an error.\nIS_REFUSAL: Mapping[str, bool] = {\n");
    for (word, is_refusal) in model.words() {
        let shown = if is_refusal { "True" } else { "False" };
        let _ = writeln!(out, "    \"{word}\": {shown},");
    }
    out.push_str("}\n\n# The type of each code's facts.\nFACTS: Mapping[str, type] = {\n");
    for code in &model.codes {
        let _ = writeln!(out, "    \"{}\": {},", code.word, code.facts.name);
    }
    out.push_str("}\n");
}

fn routes(model: &Model, out: &mut String) {
    out.push_str("\n# How each command is sent.\nROUTES: Mapping[str, Route] = {\n");
    for command in &model.commands {
        let flag = |is: bool| if is { "True" } else { "False" };
        let mut query: Vec<_> = command.query.iter().map(|name| format!("\"{name}\"")).collect();
        if query.len() == 1 {
            query.push(String::new());
        }
        let _ = writeln!(
            out,
            "    \"{}\": Route(\"{}\", \"{}\", ({}), \"{}\", {}, {}),",
            command.spec.name,
            command.method,
            command.path,
            query.join(", ").trim_end(),
            command.on(),
            flag(command.takes_id()),
            flag(command.remembers_refusals()),
        );
    }
    out.push_str("}\n");
}

fn commands(group: &str, model: &Model, out: &mut String) {
    let _ = writeln!(out, "\n\nclass {}Commands:", camel(group));
    let _ = writeln!(out, "    \"\"\"The {} commands.\"\"\"\n", group.to_ascii_uppercase());
    out.push_str("    def __init__(self, send: Send) -> None:\n        self._send = send\n");
    for command in model.commands.iter().filter(|command| command.group == group) {
        method(command, out);
    }
}

fn method(command: &Command, out: &mut String) {
    let Command { spec, name, verb, arguments, .. } = command;
    let outcome = if command.takes_id() { "Outcome" } else { "Answer" };
    let _ = writeln!(out, "\n    def {}(", safe(verb));
    out.push_str("        self,\n        *,\n");
    for field in &arguments.fields {
        let _ = writeln!(out, "        {},", member(field));
    }
    let _ = writeln!(out, "        **options: Unpack[CallOptions],\n    ) -> {outcome}[{name}Result]:");
    doc(spec.summary, "        ", out);
    let given: Vec<_> = arguments.fields.iter().map(|field| format!("{0}={0}", safe(&field.name))).collect();
    let _ = writeln!(out, "        arguments = {name}Arguments({})", given.join(", "));
    let _ = writeln!(out, "        return cast(\"{outcome}[{name}Result]\", self._send(arguments, options))");
}
