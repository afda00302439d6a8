//! `scarce explain`: what a code means, whether to try again, what to do.

use std::io::Write;

use scarce_core::command::COMMANDS;
use scarce_core::outcome::Code;

use super::args::Explain;
use super::{Ended, Exit, Failed};

pub(super) fn run(options: &Explain) -> Ended {
    let mut out = std::io::stdout().lock();
    match &options.code {
        None if options.json => {
            writeln!(out, "{}", serde_json::Value::from_iter(Code::ALL.iter().map(|code| json(*code))))?;
        }
        None => list(&mut out)?,
        Some(word) => {
            let code = Code::from_word(word).ok_or_else(|| unknown(word))?;
            if options.json { writeln!(out, "{}", json(code))? } else { show(&mut out, code)? }
        }
    }
    Ok(Exit::Done)
}

fn list(out: &mut impl Write) -> std::io::Result<()> {
    Code::ALL.iter().try_for_each(|code| writeln!(out, "{:<24}{}", code.word(), code.cause()))
}

pub(super) fn show(out: &mut impl Write, code: Code) -> std::io::Result<()> {
    writeln!(out, "{} (number {}, HTTP {})", code.word(), code.number(), code.http_status())?;
    writeln!(out, "  what happened   {}", code.cause())?;
    writeln!(out, "  what to do      {}", code.advice())?;
    let retry =
        if code.is_retryable() { "yes, the same command may succeed later" } else { "no, not as it is" };
    writeln!(out, "  try again?      {retry}")?;
    if !code.facts().is_empty() {
        writeln!(out, "  facts           {}", code.facts().join(", "))?;
    }
    let commands = commands_of(code);
    if !commands.is_empty() {
        writeln!(out, "  answered by     {}", commands.join(", "))?;
    }
    Ok(())
}

fn commands_of(code: Code) -> Vec<&'static str> {
    COMMANDS.iter().filter(|spec| spec.refusals.contains(&code)).map(|spec| spec.name).collect()
}

fn json(code: Code) -> serde_json::Value {
    serde_json::json!({
        "code": code.word(),
        "number": code.number(),
        "http_status": code.http_status(),
        "retryable": code.is_retryable(),
        "cause": code.cause(),
        "advice": code.advice(),
        "facts": code.facts(),
        "commands": commands_of(code),
    })
}

fn unknown(word: &str) -> Failed {
    let near =
        Code::ALL.iter().map(|code| code.word()).filter(|known| shares_word(known, word)).collect::<Vec<_>>();
    let hint = if near.is_empty() {
        "'scarce explain' lists all".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    Failed::text(Exit::Usage, format!("there is no code '{word}'; {hint}"))
}

fn shares_word(known: &str, asked: &str) -> bool {
    let asked = asked.to_ascii_uppercase();
    asked.split('_').any(|part| part.len() > 3 && known.contains(part))
}
