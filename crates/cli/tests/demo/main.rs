//! The demonstrations as users run them, but smaller: each proof holds, and each can fail.

mod coupons;
mod exchange;
mod flash_sale;
mod red_packets;
mod redis;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod tour;
mod wallet;

use std::process::{Command, Output};

use serde_json::Value;

/// A small demonstration.
struct Demo {
    arguments: &'static [&'static str],
}

impl Demo {
    fn run(&self, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_scarce"))
            .arg("demo")
            .args(self.arguments)
            .args(more)
            .output()
            .expect("the demonstration ran")
    }

    /// Runs it and parses the proof, which must hold.
    fn holds(&self) -> Proof {
        self.holds_with(&[])
    }

    /// The same with additional options.
    fn holds_with(&self, more: &[&str]) -> Proof {
        let proof = self.prove(&[&["--json", "--seed", "3"], more].concat(), 0);
        assert_eq!(proof.0["holds"], true);
        // The kill must have hit: commands were in flight, and callers were answered before and after it.
        assert!(proof.figure("in flight at the kill", "commands") > 0, "{proof:?}");
        assert!(proof.figure("acknowledged is durable", "acknowledged_before_kill") > 0, "{proof:?}");
        assert!(proof.figure("acknowledged is durable", "acknowledged_after_kill") > 0, "{proof:?}");
        // What is compared in the end is not nothing.
        let checks = proof.value("reconciled", "checks").as_array().expect("checks").clone();
        for name in ["log", "engine", "invariants"] {
            let check = checks.iter().find(|check| check["check"] == name).expect("the check");
            assert!(check["compared"].as_u64().is_some_and(|count| count > 0), "{name}: {proof:?}");
        }
        assert!(proof.0["facts"]["recovery_ms"].as_f64().is_some_and(|took| took > 0.0), "{proof:?}");
        proof
    }

    /// Falsifies the evidence; at least these promises must be found broken.
    fn breaks(&self, lie: &str, promises: &[&str]) {
        self.breaks_with(&[], lie, promises);
    }

    /// The same with additional options.
    fn breaks_with(&self, more: &[&str], lie: &str, promises: &[&str]) {
        let proof = self.prove(&[&["--json", "--plant", lie], more].concat(), 5);
        let broken = proof.broken();
        assert!(promises.iter().all(|promise| broken.contains(promise)), "{lie}: {proof:?}");
    }

    fn prove(&self, more: &[&str], exit: i32) -> Proof {
        let output = self.run(more);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let proof =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        assert_eq!(output.status.code(), Some(exit), "{proof:#}");
        Proof(proof)
    }

    /// Runs it with output for people: the table, without colors because there is no terminal.
    fn shows(&self, texts: &[&str]) {
        let output = self.run(&[]);
        let table = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{table}");
        assert!(texts.iter().all(|text| table.contains(text)), "{table}");
        assert!(!table.contains('\u{1b}'), "no colors without a terminal: {table}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("kill -9"));
    }
}

/// The output of `--json`.
#[derive(Debug)]
struct Proof(Value);

impl Proof {
    fn lines(&self) -> &[Value] {
        self.0["proof"].as_array().expect("lines")
    }

    fn broken(&self) -> Vec<&str> {
        self.lines()
            .iter()
            .filter(|line| line["ok"] == false)
            .filter_map(|line| line["name"].as_str())
            .collect()
    }

    fn value(&self, line: &str, name: &str) -> &Value {
        let found = self.lines().iter().find(|found| found["name"] == line).expect("the line");
        &found["figures"][name]
    }

    /// The notes next to the promises.
    fn notes(&self) -> Vec<&str> {
        let notes = self.0["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
        notes.iter().filter_map(|note| note["name"].as_str()).collect()
    }

    fn figure(&self, line: &str, name: &str) -> u64 {
        self.value(line, name).as_u64().expect("a number")
    }
}
