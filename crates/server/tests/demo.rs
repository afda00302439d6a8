//! `scarce demo flash-sale` as anybody runs it, in small: the proof holds, and it can fail.

use std::process::{Command, Output};

fn flash_sale(more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scarce"))
        .args(["demo", "flash-sale", "--units", "120", "--buyers", "1500", "--ttl-ms", "300"])
        .args(more)
        .output()
        .expect("the demonstration ran")
}

fn proof(output: &Output) -> serde_json::Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

fn broken(proof: &serde_json::Value) -> Vec<&str> {
    let lines = proof["proof"].as_array().expect("lines");
    lines.iter().filter(|line| line["ok"] == false).filter_map(|line| line["name"].as_str()).collect()
}

fn figure(proof: &serde_json::Value, line: &str, name: &str) -> u64 {
    let lines = proof["proof"].as_array().expect("lines");
    let found = lines.iter().find(|found| found["name"] == line).expect("the line");
    found["figures"][name].as_u64().expect("a number")
}

#[test]
fn a_sale_that_is_killed_in_its_middle_keeps_every_promise() {
    let output = flash_sale(&["--json", "--seed", "3"]);
    let proof = proof(&output);
    assert_eq!(output.status.code(), Some(0), "{proof:#}");
    assert_eq!(proof["holds"], true);
    assert_eq!(figure(&proof, "never oversold", "sold"), 120);
    // The kill must have hit: commands were on the way, and buyers were answered before and after it.
    assert!(figure(&proof, "in flight at the kill", "commands") > 0, "{proof:#}");
    assert!(figure(&proof, "acknowledged is durable", "acknowledged_before_kill") > 0, "{proof:#}");
    assert!(figure(&proof, "acknowledged is durable", "acknowledged_after_kill") > 0, "{proof:#}");
    assert!(proof["facts"]["recovery_ms"].as_f64().is_some_and(|took| took > 0.0), "{proof:#}");
}

#[test]
fn the_table_is_for_people() {
    let output = flash_sale(&[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("ok      never oversold"), "{text}");
    assert!(text.contains("all 10 promises were kept"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colors without a terminal: {text}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("kill -9"));
}

#[test]
fn a_lost_sale_breaks_the_proof() {
    let output = flash_sale(&["--json", "--plant", "lost-sale"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(broken(&proof(&output)).contains(&"acknowledged is durable"));
}

#[test]
fn a_sale_made_twice_breaks_the_proof() {
    let output = flash_sale(&["--json", "--plant", "double-sale"]);
    assert_eq!(output.status.code(), Some(5));
    let proof = proof(&output);
    assert!(broken(&proof).contains(&"never oversold"));
    assert!(broken(&proof).contains(&"one id, one effect"));
}
