//! `clients/java/src/main/java/io/github/scarce_rs/Api.java`.

use std::fmt::Write;

use super::model::{Command, Field, Model, Record, Type, camel};
use super::{HEAD, wrapped};

const IMPORTS: &str = "\
package io.github.scarce_rs;

import java.util.List;
import java.util.Map;

";

/// Where it is.
pub const PATH: &str = "clients/java/src/main/java/io/github/scarce_rs/Api.java";

/// Its text.
pub fn file(model: &Model) -> String {
    let mut out = format!("// {HEAD}\n{IMPORTS}");
    out.push_str("/** The types of commands and codes, and the commands by their groups. */\npublic final class Api {\n");
    let _ = writeln!(out, "    /** The version of Scarce that these types are of. */");
    let _ = writeln!(
        out,
        "    public static final String VERSION = \"{}\";\n\n    private Api() {{}}",
        model.version
    );
    model
        .records()
        .filter(|record| !record.name.ends_with("Arguments"))
        .for_each(|its| record(its, None, &mut out));
    let empty = model.codes.iter().map(|code| &code.facts).filter(|facts| facts.fields.is_empty());
    empty.for_each(|facts| record(facts, None, &mut out));
    model.commands.iter().for_each(|command| record(&command.arguments, Some(command), &mut out));
    codes(model, &mut out);
    for group in model.groups() {
        commands(group, model, &mut out);
    }
    out.push_str("}\n");
    out
}

fn doc(text: &str, indent: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    let lines = wrapped(&text.replace('<', "&lt;"), 100);
    match lines.as_slice() {
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(
                out,
                "{indent}/**\n{indent} * {}\n{indent} */",
                lines.join(&format!("\n{indent} * "))
            );
        }
    }
}

/// `ttl_ms` as `ttlMs`.
fn name(field: &Field) -> String {
    let camel = camel(&field.name);
    camel[..1].to_ascii_lowercase() + &camel[1..]
}

fn record(its: &Record, command: Option<&Command>, out: &mut String) {
    out.push('\n');
    let mut about = its.meaning.clone();
    for field in its.fields.iter().filter(|field| !field.meaning.is_empty()) {
        let _ = write!(about, "\n@param {} {}", name(field), field.meaning);
    }
    params(&about, out);
    let members: Vec<_> =
        its.fields.iter().map(|field| format!("{} {}", member(field), name(field))).collect();
    let base =
        command.map(|command| format!(" implements Arguments<{}>", command.result.name)).unwrap_or_default();
    let _ = writeln!(out, "    public record {}({}){base} {{", its.name, members.join(", "));
    if its.is_request {
        short(its, out);
        let options = its.fields.iter().filter(|field| field.is_optional);
        options.for_each(|option| with(its, option, out));
    }
    if let Some(command) = command {
        route(command, out);
    }
    out.push_str("    }\n");
}

/// A comment in which each parameter has a line of its own.
fn params(text: &str, out: &mut String) {
    out.push_str("    /**\n");
    for line in text.lines().flat_map(|line| wrapped(&line.replace('<', "&lt;"), 100)) {
        let _ = writeln!(out, "     * {line}");
    }
    out.push_str("     */\n");
}

/// A constructor without what is optional.
fn short(its: &Record, out: &mut String) {
    if its.fields.iter().all(|field| !field.is_optional) {
        return;
    }
    let given = its.fields.iter().filter(|field| !field.is_optional);
    let given: Vec<_> = given.map(|field| format!("{} {}", member(field), name(field))).collect();
    let all: Vec<_> = its
        .fields
        .iter()
        .map(|field| if field.is_optional { "null".to_owned() } else { name(field) })
        .collect();
    let _ = writeln!(out, "        /** With what is required. */");
    let _ = writeln!(out, "        public {}({}) {{", its.name, given.join(", "));
    let _ = writeln!(out, "            this({});\n        }}\n", all.join(", "));
}

fn with(its: &Record, option: &Field, out: &mut String) {
    let all: Vec<_> = its.fields.iter().map(name).collect();
    let own = name(option);
    let _ = writeln!(out, "        /** The same with this. */");
    let _ =
        writeln!(out, "        public {} with{}({} {own}) {{", its.name, camel(&option.name), member(option));
    let _ = writeln!(out, "            return new {}({});\n        }}\n", its.name, all.join(", "));
}

fn member(field: &Field) -> String {
    shown(&field.is, field.is_optional)
}

fn shown(its: &Type, is_object: bool) -> String {
    match its {
        Type::Integer => if is_object { "Long" } else { "long" }.to_owned(),
        Type::Boolean => if is_object { "Boolean" } else { "boolean" }.to_owned(),
        Type::Text | Type::Words(_) => "String".to_owned(),
        Type::List(inner) => format!("List<{}>", shown(inner, true)),
        Type::Record(name) => name.clone(),
        Type::Subject => "Map<String, String>".to_owned(),
        Type::Open => "Map<String, Object>".to_owned(),
        Type::Scalar | Type::Any => "Object".to_owned(),
    }
}

fn route(command: &Command, out: &mut String) {
    let query = command.quoted_query();
    let _ = writeln!(out, "        @Override\n        public Route route() {{");
    let _ = writeln!(
        out,
        "            return new Route(\"{}\", \"{}\", \"{}\", List.of({}), \"{}\", {}, {});\n        }}\n",
        command.spec.name,
        command.method,
        command.path,
        query.join(", "),
        command.on(),
        command.takes_id(),
        command.remembers_refusals(),
    );
    let _ = writeln!(out, "        @Override\n        public Class<{0}> result() {{", command.result.name);
    let _ = writeln!(out, "            return {}.class;\n        }}", command.result.name);
}

fn codes(model: &Model, out: &mut String) {
    out.push_str("\n    /** Whether a code is an answer of the rules (a refusal), or an error. */\n");
    out.push_str("    static final Map<String, Boolean> IS_REFUSAL = Map.ofEntries(\n");
    let rows: Vec<_> =
        model.words().map(|(word, is)| format!("        Map.entry(\"{word}\", {is})")).collect();
    let _ = writeln!(out, "{});", rows.join(",\n"));
    out.push_str("\n    /** The type of each code's facts. */\n");
    out.push_str("    static final Map<String, Class<? extends Record>> FACTS = Map.ofEntries(\n");
    let row = |code: &super::model::CodeRow| {
        format!("        Map.entry(\"{}\", {}.class)", code.word, code.facts.name)
    };
    let rows: Vec<_> = model.codes.iter().map(row).collect();
    let _ = writeln!(out, "{});", rows.join(",\n"));
}

fn commands(group: &str, model: &Model, out: &mut String) {
    let class = format!("{}Commands", camel(group));
    let _ = writeln!(
        out,
        "\n    /** The {} commands. */\n    public static final class {class} {{",
        group.to_ascii_uppercase()
    );
    let _ = writeln!(out, "        private final Scarce scarce;\n\n        {class}(Scarce scarce) {{");
    out.push_str("            this.scarce = scarce;\n        }\n");
    for command in model.commands.iter().filter(|command| command.group == group) {
        let is_word = matches!(command.verb.as_str(), "return" | "void");
        let verb = format!("{}{}", command.verb, if is_word { "_" } else { "" });
        let (arguments, result) = (&command.arguments.name, &command.result.name);
        for (parameter, given) in [("", ""), (", CallOptions options", ", options")] {
            out.push('\n');
            doc(command.spec.summary, "        ", out);
            let _ =
                writeln!(out, "        public Outcome<{result}> {verb}({arguments} arguments{parameter}) {{");
            let _ = writeln!(out, "            return scarce.send(arguments{given});\n        }}");
        }
    }
    out.push_str("    }\n");
}
