//! The audit log of a server: where it is, and how much of it is kept.

use std::time::Duration;

use scarce_audit::{AuditLog, Bounds, Folder};
use scarce_gateway::steady_ms;
use scarce_settings::ServerSettings;

const DAY: Duration = Duration::from_hours(24);

/// The folder of the audit log with these settings.
#[must_use]
pub fn folder(settings: &ServerSettings) -> Folder {
    Folder::new(settings.data.join("audit"))
}

/// How much of it is kept.
fn bounds(settings: &ServerSettings) -> Bounds {
    let days = u32::try_from(settings.audit_retention_days).unwrap_or(u32::MAX);
    Bounds { bytes_max: settings.audit_max_mib << 20, retention: DAY.saturating_mul(days) }
}

/// Starts to record, if that is set. Nothing is written before there is something to record.
pub(super) fn start(settings: &ServerSettings) -> std::io::Result<AuditLog> {
    if !settings.audit {
        return Ok(AuditLog::default());
    }
    AuditLog::start(folder(settings), bounds(settings), steady_ms)
}
