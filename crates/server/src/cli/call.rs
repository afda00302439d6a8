//! `scarce call`: one command, one answer.

use std::io::Write;
use std::path::Path;

use redis::Value;

use super::args::{Call, Target};
use super::{Ended, Exit, Failed};
use crate::client::{Client, Reply};
use crate::settings::read_secret;

impl Target {
    pub(super) fn connect(&self) -> Result<Client, Failed> {
        let password = self.password_file.as_deref().map(read_password).transpose()?;
        Ok(Client::connect(&self.resp, password.as_deref())?)
    }
}

/// The password in a file, without the line's end.
pub(super) fn read_password(path: &Path) -> Result<String, Failed> {
    read_secret(path).map_err(|text| Failed::text(Exit::Usage, text))
}

pub(super) fn run(options: &Call) -> Ended {
    let value = options.target.connect()?.call(&options.words)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", json(&value))?;
    } else {
        print(&mut out, &value, "")?;
    }
    Ok(match Reply::of(value) {
        Reply::Applied(_) => Exit::Done,
        Reply::Refused(code, _) => {
            writeln!(std::io::stderr(), "refused; 'scarce explain {code}' says more")?;
            Exit::Refused
        }
        Reply::Error(_) => Exit::Failed,
    })
}

fn print(out: &mut impl Write, value: &Value, indent: &str) -> std::io::Result<()> {
    match value {
        Value::Array(values) if values.is_empty() => writeln!(out, "(empty)"),
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                let lead = if at == 0 { String::new() } else { indent.to_owned() };
                let number = format!("{}) ", at + 1);
                write!(out, "{lead}{number}")?;
                print(out, value, &format!("{indent}{}", " ".repeat(number.len())))?;
            }
            Ok(())
        }
        Value::ServerError(error) => {
            writeln!(out, "(error) {} {}", error.code(), error.details().unwrap_or_default())
        }
        Value::Int(value) => writeln!(out, "(integer) {value}"),
        Value::Nil => writeln!(out, "(nil)"),
        other => writeln!(out, "{}", crate::client::text(other).unwrap_or_else(|| format!("{other:?}"))),
    }
}

/// An answer as JSON; errors as an object.
pub(super) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Nil => serde_json::Value::Null,
        Value::Int(value) => (*value).into(),
        Value::Array(values) => values.iter().map(json).collect(),
        Value::ServerError(error) => {
            serde_json::json!({ "error": error.code(), "message": error.details().unwrap_or_default() })
        }
        other => crate::client::text(other).unwrap_or_else(|| format!("{other:?}")).into(),
    }
}
