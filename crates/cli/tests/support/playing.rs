//! Starts the server as a scenario of the conformance tables requires.

use std::path::Path;

use scarce_sim::conformance::Setup;

use super::Server;

/// A server with the scenario's settings and a manual clock.
pub fn start(data: &Path, setup: &Setup, more: &[&str]) -> Server {
    let settings = &setup.settings;
    let sets = [
        ("window_ms", settings.window_ms.to_string()),
        ("window_ms_min", settings.window_ms_min.to_string()),
        ("operations_max", settings.operations_max.to_string()),
        ("retention_ms", settings.retention_ms.to_string()),
        ("receipt_retention_ms", settings.receipt_retention_ms.to_string()),
        ("step_max", settings.step_max.to_string()),
        ("packets_per_step_max", settings.packets_per_step_max.to_string()),
        ("due_per_command_max", settings.due_per_command_max.to_string()),
        ("receipts_per_audit_max", settings.receipts_per_audit_max.to_string()),
        ("ulid_times", settings.ulid_times.to_string()),
    ];
    let sets: Vec<String> = sets.iter().map(|(name, value)| format!("--set={name}={value}")).collect();
    let partitions = setup.partitions.to_string();
    let mut options = vec!["--manual-clock", "--segment-mib", "1", "--partitions", &partitions];
    options.extend(sets.iter().map(String::as_str));
    options.extend(more);
    Server::start(data, &options)
}
