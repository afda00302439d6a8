//! `scarce call`: one command, one answer.

use std::io::Write;
use std::path::Path;

use redis::Value;
use scarce_client::{Client, ClientTls};
use scarce_settings::{Password, ServerSettings, read_secret};

use super::args::{Call, Target};
use super::explain::language_of_environment;
use super::paint::{Paint, Tone};
use super::{Ended, Exit, Failed, show};

impl Target {
    pub(super) fn connect(&self) -> Result<Client, Failed> {
        let password = self.password_file.as_deref().map(read_password).transpose()?;
        Ok(Client::connect_over(&self.resp, password.as_deref(), self.tls()?.as_ref())?)
    }

    fn tls(&self) -> Result<Option<ClientTls>, Failed> {
        let authorities = self.tls_ca.as_deref().filter(|path| !path.as_os_str().is_empty());
        let authorities = authorities.map(read_file).transpose()?;
        let certificate = match (&self.tls_client_cert, &self.tls_client_key) {
            (Some(certificate), Some(key)) => Some((read_file(certificate)?, read_file(key)?)),
            _ => None,
        };
        let is_asked = self.tls || authorities.is_some() || certificate.is_some();
        Ok(is_asked.then_some(ClientTls { authorities, certificate, is_unverified: false }))
    }
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, Failed> {
    let failed = |error| Failed::text(Exit::Usage, format!("cannot read {}: {error}", path.display()));
    std::fs::read(path).map_err(failed)
}

/// Connects to the server of these settings on this machine.
pub(super) fn connect_to(settings: &ServerSettings) -> Result<Client, Failed> {
    let password = settings.password.as_ref().map(Password::reveal);
    Ok(Client::connect_over(&settings.resp.to_string(), password, tls_of(settings)?.as_ref())?)
}

/// TLS as the settings of a server have it, which lists no certificate for callers: its own is shown to it.
fn tls_of(settings: &ServerSettings) -> Result<Option<ClientTls>, Failed> {
    let Some((certificate, key)) = settings.tls_cert.as_ref().zip(settings.tls_key.as_ref()) else {
        return Ok(None);
    };
    let shown =
        settings.tls_client_ca.as_ref().map(|_| Ok::<_, Failed>((read_file(certificate)?, read_file(key)?)));
    // Its certificate does not name the address of this machine by which it is reached.
    let is_unverified = settings.resp.ip().is_loopback();
    Ok(Some(ClientTls { certificate: shown.transpose()?, is_unverified, ..ClientTls::default() }))
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
