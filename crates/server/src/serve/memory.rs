//! The memory budget of a server whose engine keeps state in this process.

use std::sync::Arc;

use scarce_engine_embedded::{MemoryBudget, MemoryMeter};

use super::machine;
use crate::settings::ServerSettings;

/// The budget that the settings give; `None` if it is off, or the machine does not tell how much memory it has.
#[must_use]
pub fn budget_bytes(settings: &ServerSettings) -> Option<u64> {
    settings.memory_max.bytes_of(machine::memory_max())
}

pub(super) fn budget(settings: &ServerSettings) -> Option<MemoryBudget> {
    let max_bytes = budget_bytes(settings)?;
    tracing::info!(max_bytes, "the memory budget is set");
    Some(MemoryBudget { max_bytes, meter: Arc::new(OfProcess) })
}

/// Measures this process: what the kernel would have to kill it for. Pages of files are not counted, because the kernel can
/// drop them at any time; what the allocator keeps for reuse is.
#[derive(Debug)]
struct OfProcess;

impl MemoryMeter for OfProcess {
    fn used_bytes(&self) -> Option<u64> {
        used(&std::fs::read_to_string("/proc/self/status").ok()?)
    }
}

/// Own pages, in memory and swapped out, in bytes.
fn used(status: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let own = kib("RssAnon:")?;
    Some((own + kib("RssShmem:").unwrap_or(0) + kib("VmSwap:").unwrap_or(0)) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_pages_count_and_pages_of_files_do_not() {
        let status =
            "VmRSS:\t 9000 kB\nRssAnon:\t 5000 kB\nRssFile:\t 3990 kB\nRssShmem:\t 10 kB\nVmSwap:\t 90 kB\n";
        assert_eq!(used(status), Some(5_100 << 10));
        assert_eq!(used("VmRSS: 9000 kB\n"), None);
    }

    #[test]
    fn what_is_allocated_and_used_is_measured() {
        let before = OfProcess.used_bytes().expect("a figure");
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        let during = OfProcess.used_bytes().expect("a figure");
        // Other tests beside this one allocate and free.
        assert!(during > before + (32 << 20), "{before} and {during}");
        drop(taken);
    }
}
