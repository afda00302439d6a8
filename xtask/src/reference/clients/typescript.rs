//! `clients/typescript/src/generated`.

use std::fmt::Write;

use super::model::{Command, Field, Model, Record, Type};
use super::{HEAD, wrapped};

/// Where the files are.
pub const FOLDER: &str = "clients/typescript/src/generated";

/// Their names and texts.
pub fn files(model: &Model) -> [(&'static str, String); 3] {
    let begun = || format!("// {HEAD}\n\n");
    let mut its_types = begun();
    let _ = writeln!(its_types, "/** The version of Scarce that these types are of. */");
    let _ = writeln!(its_types, "export const VERSION = \"{}\";\n", model.version);
    model.records().for_each(|record| interface(record, &mut its_types));
    let mut its_codes = begun();
    let facts = model.codes.iter().map(|code| &code.facts).filter(|facts| !facts.fields.is_empty());
    import(facts, &mut its_codes);
    codes(model, &mut its_codes);
    let mut its_commands = begun();
    its_commands.push_str("import type { CallOptions, Outcome, Route } from \"../outcome.js\";\n");
    import(
        model.commands.iter().flat_map(|command| [&command.arguments, &command.result]),
        &mut its_commands,
    );
    commands(model, &mut its_commands);
    routes(model, &mut its_commands);
    its_commands.push_str(SEND);
    model.groups().iter().for_each(|group| class(group, model, &mut its_commands));
    [("types.ts", its_types), ("codes.ts", its_codes), ("commands.ts", its_commands)]
        .map(|(name, text)| (name, text.trim_end().to_owned() + "\n"))
}

/// Imports records.
fn import<'a>(records: impl Iterator<Item = &'a Record>, out: &mut String) {
    let names: Vec<_> = records.map(|record| record.name.as_str()).collect();
    let lines = wrapped(&format!("{},", names.join(", ")), 110);
    let _ = writeln!(out, "import type {{\n  {}\n}} from \"./types.js\";\n", lines.join("\n  "));
}

/// How a group of commands sends one of them.
const SEND: &str = "\
/** Sends a command. */
export interface Send {
  <N extends CommandName>(name: N, args: Commands[N][\"arguments\"], options?: CallOptions): Promise<Outcome<N>>;
}

";

fn doc(text: &str, indent: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    match wrapped(text, 104).as_slice() {
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(out, "{indent}/**");
            lines.iter().for_each(|line| {
                let _ = writeln!(out, "{indent} * {line}");
            });
            let _ = writeln!(out, "{indent} */");
        }
    }
}

fn interface(record: &Record, out: &mut String) {
    doc(&record.meaning, "", out);
    let _ = writeln!(out, "export interface {} {{", record.name);
    for field in &record.fields {
        doc(&field.meaning, "  ", out);
        let _ = writeln!(out, "  {};", member(field, record.is_request));
    }
    out.push_str("}\n\n");
}

fn member(field: &Field, is_request: bool) -> String {
    let Field { name, is, is_optional, .. } = field;
    let shown = shown(is);
    match (is_optional, is_request) {
        (false, _) => format!("{name}: {shown}"),
        (true, true) => format!("{name}?: {shown} | null | undefined"),
        (true, false) => format!("{name}: {shown} | null"),
    }
}

fn shown(its: &Type) -> String {
    match its {
        Type::Integer => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Scalar => "number | string".to_owned(),
        Type::Words(words) => union(words.iter().map(String::as_str)),
        Type::List(inner) => format!("ReadonlyArray<{}>", shown(inner)),
        Type::Record(name) => name.clone(),
        Type::Subject => "{ user: string; [dimension: string]: string }".to_owned(),
        Type::Any => "unknown".to_owned(),
        Type::Open => "Record<string, unknown>".to_owned(),
    }
}

fn union<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.map(|word| format!("\"{word}\"")).collect();
    if words.is_empty() { "never".to_owned() } else { words.join(" | ") }
}

fn commands(model: &Model, out: &mut String) {
    out.push_str("/** What each command takes and answers, and why it may be refused, in the order of the checks. */\n");
    out.push_str("export interface Commands {\n");
    for Command { spec, name, .. } in &model.commands {
        let refusals = union(spec.refusals.iter().map(|code| code.word()));
        let _ = writeln!(out, "  \"{}\": {{", spec.name);
        let _ = writeln!(out, "    arguments: {name}Arguments;\n    result: {name}Result;");
        let _ = writeln!(out, "    refusals: {refusals};\n  }};");
    }
    out.push_str("}\n\n/** The name of a command. */\nexport type CommandName = keyof Commands;\n\n");
    let lines =
        model.commands.iter().filter(|command| command.joins_batches()).map(|command| command.spec.name);
    let _ = writeln!(
        out,
        "/** The commands that can be lines of a batch. */\nexport type BatchCommand = {};\n",
        union(lines)
    );
    let writes = model.commands.iter().filter(|command| command.takes_id()).map(|command| command.spec.name);
    let _ = writeln!(
        out,
        "/** The commands that change something under an id, so that they can be lines of an atomic batch. */"
    );
    let _ = writeln!(out, "export type WriteCommand = {};\n", union(writes));
}

fn codes(model: &Model, out: &mut String) {
    out.push_str("/** The facts of each code. */\nexport interface Facts {\n");
    for code in &model.codes {
        doc(code.meaning, "  ", out);
        let facts = if code.facts.fields.is_empty() { "Record<string, never>" } else { &code.facts.name };
        let _ = writeln!(out, "  {}: {facts};", code.word);
    }
    out.push_str("}\n\n/** An outcome code. */\nexport type Code = keyof Facts;\n\n");
    out.push_str("/** Whether a code is an answer of the rules (a refusal), or an error. */\n");
    out.push_str("export const IS_REFUSAL: ReadonlyMap<string, boolean> = new Map([\n");
    for (word, is_refusal) in model.words() {
        let _ = writeln!(out, "  [\"{word}\", {is_refusal}],");
    }
    out.push_str("]);\n\n");
}

fn routes(model: &Model, out: &mut String) {
    out.push_str(
        "/** How each command is sent. */\nexport const ROUTES: { readonly [N in CommandName]: Route } = {\n",
    );
    for command in &model.commands {
        let query = command.quoted_query();
        let _ = writeln!(
            out,
            "  \"{}\": {{ method: \"{}\", path: \"{}\", query: [{}], on: \"{}\", takesId: {}, remembersRefusals: {} }},",
            command.spec.name,
            command.method,
            command.path,
            query.join(", "),
            command.on(),
            command.takes_id(),
            command.remembers_refusals(),
        );
    }
    out.push_str("};\n\n");
}

fn class(group: &str, model: &Model, out: &mut String) {
    let name = super::model::camel(group);
    let _ =
        writeln!(out, "/** The {} commands. */\nexport class {name}Commands {{", group.to_ascii_uppercase());
    out.push_str("  readonly #send: Send;\n\n  constructor(send: Send) {\n    this.#send = send;\n  }\n");
    for command in model.commands.iter().filter(|command| command.group == group) {
        let Command { spec, name, verb, arguments, .. } = command;
        let is_bare = arguments.fields.iter().all(|field| field.is_optional);
        out.push('\n');
        doc(spec.summary, "  ", out);
        let _ = writeln!(
            out,
            "  {verb}(args: {name}Arguments{}, options?: CallOptions): Promise<Outcome<\"{}\">> {{",
            if is_bare { " = {}" } else { "" },
            spec.name
        );
        let _ = writeln!(out, "    return this.#send(\"{}\", args, options);\n  }}", spec.name);
    }
    out.push_str("}\n\n");
}
