//! What was found, how it is judged, and what to do about it.

use serde_json::{Value, json};

/// How a finding is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// The server runs, but not as well as it could.
    Warn,
    /// The server does not run, or does not keep its word.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) name: &'static str,
    /// How it is judged.
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// What to do, where something is to be done.
    pub(super) advice: Option<String>,
    /// The figures behind it.
    figures: Value,
}

impl Finding {
    /// All is well.
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), advice: None, figures: Value::Null }
    }

    /// The server runs, but not as well as it could.
    pub(super) fn warn(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Warn, advice: Some(advice.into()), ..Self::ok(name, found) }
    }

    /// The server does not run, or does not keep its word.
    pub(super) fn fail(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Fail, ..Self::warn(name, found, advice) }
    }

    /// The same as a warning, if something is so.
    pub(super) fn warn_if(self, is_so: bool, advice: impl Into<String>) -> Self {
        if is_so { Self { status: Status::Warn, advice: Some(advice.into()), ..self } } else { self }
    }

    /// The same with the figures behind it.
    pub(super) fn with(self, figures: Value) -> Self {
        Self { figures, ..self }
    }

    pub(super) fn json(&self) -> Value {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        json!({
            "check": self.name,
            "status": status,
            "found": self.found,
            "advice": self.advice,
            "figures": self.figures,
        })
    }
}
