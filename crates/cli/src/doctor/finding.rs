//! Findings, their severity, and what to do about them.

use serde_json::{Value, json};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// The server runs, but not as well as it could.
    Warn,
    /// The server does not run, or does not keep its promises.
    Fail,
}

/// The result of one check.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// What was checked.
    pub(super) name: &'static str,
    /// The severity.
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// What to do, if anything.
    pub(super) advice: Option<String>,
    /// The numbers behind it.
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

    /// The server does not run, or does not keep its promises.
    pub(super) fn fail(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Fail, ..Self::warn(name, found, advice) }
    }

    /// Turns it into a warning under a condition.
    pub(super) fn warn_if(self, is_so: bool, advice: impl Into<String>) -> Self {
        if is_so { Self { status: Status::Warn, advice: Some(advice.into()), ..self } } else { self }
    }

    /// Adds the numbers behind it.
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
