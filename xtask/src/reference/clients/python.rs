//! `clients/python/src/scarce_client/_generated`.

use std::fmt::Write;

use super::model::{Command, Field, Model, Record, Type, camel};
use super::{HEAD, wrapped};

/// Where the files are.
pub const FOLDER: &str = "clients/python/src/scarce_client/_generated";

const PACKAGE: &str = "\
from ._codes import *  # noqa: F403
from ._commands import *  # noqa: F403
from ._types import *  # noqa: F403
";

const OF_TYPES: &str = "\
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._outcome import Arguments

";

const OF_CODES: &str = "\
from __future__ import annotations

from collections.abc import Mapping

from ._types import *  # noqa: F403
";

const OF_COMMANDS: &str = "\
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, cast

from .._outcome import Answer, CallOptions, Outcome, Route, Send
from ._types import *  # noqa: F403
";

/// Their names and texts.
pub fn files(model: &Model) -> [(&'static str, String); 4] {
    let begun = |says: &str, imports: &str| format!("# {HEAD}\n\"\"\"{says}\"\"\"\n\n{imports}");
    let package = begun("What is made from the tables of commands and codes.", PACKAGE);
    let mut its_types = begun("What commands take and answer, and the facts of codes.", OF_TYPES);
    types(model, &mut its_types);
    let mut its_codes = begun("Outcome codes.", OF_CODES);
    codes(model, &mut its_codes);
    let mut its_commands = begun("Commands, and how each is sent.", OF_COMMANDS);
    routes(model, &mut its_commands);
    model.groups().iter().for_each(|group| commands(group, model, &mut its_commands));
    [
        ("__init__.py", package),
        ("_types.py", its_types),
        ("_codes.py", its_codes),
        ("_commands.py", its_commands),
    ]
}

fn types(model: &Model, out: &mut String) {
    let _ = writeln!(out, "VERSION = \"{}\"\n", model.version);
    let of_codes = model.codes.iter().map(|code| &code.facts);
    let of_commands = model.commands.iter().map(|command| &command.result);
    model.shared.iter().chain(of_codes).chain(of_commands).for_each(|record| class(record, None, out));
    model.commands.iter().for_each(|command| class(&command.arguments, Some(command), out));
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

/// A record, which is what a command takes, or none of that.
fn class(record: &Record, takes_it: Option<&Command>, out: &mut String) {
    let base = takes_it.map(|command| format!("(Arguments[{}Result])", command.name)).unwrap_or_default();
    let _ =
        writeln!(out, "\n@dataclass(frozen=True, slots=True, kw_only=True)\nclass {}{base}:", record.name);
    doc(&record.meaning, "    ", out);
    out.push('\n');
    if let Some(command) = takes_it {
        let _ = writeln!(out, "    COMMAND: ClassVar[str] = \"{}\"", command.spec.name);
        let _ = writeln!(out, "    RESULT: ClassVar[type] = {}Result", command.name);
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
        let mut query = command.quoted_query();
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
