//! `scarce call`: one command, one answer.

use std::io::Write;
use std::path::Path;

use redis::Value;
use scarce_client::Client;
use scarce_settings::read_secret;

use super::args::{Call, Target};
use super::explain::language_of_environment;
use super::paint::{Paint, Tone};
use super::{Ended, Exit, Failed, show};

impl Target {
    pub(super) fn connect(&self) -> Result<Client, Failed> {
        let password = self.password_file.as_deref().map(read_password).transpose()?;
        Ok(Client::connect(&self.resp, password.as_deref())?)
    }
}

/// Reads the password in a file, without the trailing newline.
pub(super) fn read_password(path: &Path) -> Result<String, Failed> {
    read_secret(path, "password").map_err(|text| Failed::text(Exit::Usage, text))
}

pub(super) fn run(options: &Call) -> Ended {
    let value = options.target.connect()?.call(&options.words)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", json(&value))?;
    } else {
        let paint = Paint::for_stream(&std::io::stdout());
        out.write_all(show::answer(&options.words, &value, paint).as_bytes())?;
    }
    if let Some(advice) = show::advice(&value, language_of_environment()) {
        let paint = Paint::for_stream(&std::io::stderr());
        writeln!(std::io::stderr(), "{}", paint.paint(Tone::Aside, format!("→ {advice}")))?;
    }
    Ok(show::exit_of(&value))
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
        other => scarce_client::text(other).unwrap_or_else(|| format!("{other:?}")).into(),
    }
}
