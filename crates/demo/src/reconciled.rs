//! The comparison at the end of a demonstration: log, engine and tables, by `scarce reconcile`.

use std::time::Duration;

use serde_json::{Value, json};

use super::failure::DemoError;
use super::proof::{Proof, grouped};
use super::server::Server;

/// The checks that every demonstration must have made; the others depend on what it runs with.
const CHECKS: [&str; 3] = ["log", "engine", "invariants"];

/// The checks where there is a database.
const CHECKS_OF_TABLES: [&str; 5] = ["log", "engine", "invariants", "tables", "sums"];

/// What the comparison came to.
pub(super) struct Reconciled {
    report: Value,
    /// The checks that must have been made.
    expected: &'static [&'static str],
}

impl Reconciled {
    /// Compares everything of a running server; also returns how long that took.
    ///
    /// # Errors
    /// When nothing could be compared.
    pub(super) fn by(server: &Server) -> Result<(Self, Duration), DemoError> {
        let expected: &[&str] = if server.has_tables() { &CHECKS_OF_TABLES } else { &CHECKS };
        let (report, took) = server.reconcile()?;
        Ok((Self { report, expected }, took))
    }

    /// Judges that everything was compared, and that nothing differs.
    pub(super) fn judge(&self, proof: &mut Proof) {
        let Self { report, expected } = self;
        let differences = report["differences"].as_u64();
        let checks = report["checks"].as_array().map_or(&[][..], Vec::as_slice);
        let is_equal =
            |name: &&str| checks.iter().any(|check| check["check"] == **name && check["state"] == "equal");
        let lacking: Vec<&str> = expected.iter().filter(|name| !is_equal(name)).copied().collect();
        let is_kept = differences == Some(0) && lacking.is_empty();
        let mut text = format!("{}; {}", differences_text(differences), compared(checks));
        if !is_kept {
            text.push_str(&first_of(report, &lacking));
        }
        let figures = json!({ "differences": differences, "checks": checks, "findings": report["findings"] });
        proof.judge("reconciled", is_kept, text, figures);
    }
}

fn differences_text(differences: Option<u64>) -> String {
    match differences {
        Some(0) => "no difference".to_owned(),
        Some(1) => "1 difference".to_owned(),
        Some(count) => format!("{} differences", grouped(count)),
        None => "no answer".to_owned(),
    }
}

/// How much each check compared.
fn compared(checks: &[Value]) -> String {
    let of = |check: &Value| {
        let count = check["compared"].as_u64().filter(|count| *count > 0)?;
        let unit = match check["check"].as_str()? {
            "log" => "events of the log",
            "engine" => "resources of the engine",
            "invariants" => "resources by their invariants",
            "tables" => "rows of the tables",
            "settlement" => "claims",
            _ => return None,
        };
        Some(format!("{} {unit}", grouped(count)))
    };
    checks.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// The first finding in words, or the checks that were not made.
fn first_of(report: &Value, lacking: &[&str]) -> String {
    let Some(first) = report["findings"].get(0) else {
        return format!("; not shown to be equal: {}", lacking.join(", "));
    };
    let word = |value: &Value| value.as_str().unwrap_or("(none)").to_owned();
    let place = &first["first_event"]["sequence"];
    let since = place.as_u64().map(|sequence| format!(", since event {sequence}")).unwrap_or_default();
    format!(
        "; the first in '{}': {} of {} is {}, and should be {}{since}",
        word(&first["check"]),
        word(&first["field"]),
        word(&first["resource"]),
        word(&first["found"]),
        word(&first["expected"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(report: Value, expected: &'static [&'static str]) -> bool {
        let mut proof = Proof::new("test");
        Reconciled { report, expected }.judge(&mut proof);
        proof.holds()
    }

    #[test]
    fn it_holds_only_where_all_that_is_expected_was_compared_and_nothing_differs() {
        let check = |name: &str, state: &str| json!({ "check": name, "state": state, "compared": 3 });
        let equal = [check("log", "equal"), check("engine", "equal"), check("invariants", "equal")];
        let report = json!({ "differences": 0, "checks": equal, "findings": [] });
        assert!(judged(report.clone(), &CHECKS));
        assert!(!judged(report, &CHECKS_OF_TABLES));
        let skipped = [check("log", "equal"), check("engine", "skipped"), check("invariants", "equal")];
        assert!(!judged(json!({ "differences": 0, "checks": skipped, "findings": [] }), &CHECKS));
        let finding = json!({ "check": "engine", "field": "account.balance", "resource": "u1" });
        assert!(!judged(json!({ "differences": 1, "checks": equal, "findings": [finding] }), &CHECKS));
        assert!(!judged(json!({ "error": "?" }), &CHECKS));
    }
}
