//! The memory budget of a server whose engine keeps state in this process.

use std::sync::Arc;

use scarce_core::state::StateSettings;
use scarce_engine_embedded::{MemoryBudget, MemoryMeter, OPERATIONS_IN_MEMORY};
use scarce_settings::ServerSettings;

use super::machine;

/// The budget that the settings give; `None` if it is off, or the machine does not tell how much memory it has.
#[must_use]
pub fn budget_bytes(settings: &ServerSettings) -> Option<u64> {
    settings.memory_max.bytes_of(machine::memory_max())
}

/// The memory of one remembered operation id, with its share of the index and what the allocator rounds up to. A debit's is
/// 40 to 42 bytes among millions; answers of larger numbers take up to ten more.
pub const OPERATION_BYTES: u64 = 48;

/// The part of the budget that operation ids in memory may fill where the settings do not say how many there may be.
const OPERATIONS_PART: u64 = 6;

/// How many operation ids each partition remembers at most.
#[must_use]
pub fn operations_max(settings: &ServerSettings) -> usize {
    let usual = StateSettings::default().operations_max;
    settings.operations_max.map_or(usual, |max| usize::try_from(max).unwrap_or(usize::MAX))
}

/// How many of them each partition of the embedded engine keeps in memory.
#[must_use]
pub fn operations_in_memory_max(settings: &ServerSettings) -> usize {
    if let Some(max) = settings.operations_in_memory_max {
        return usize::try_from(max).unwrap_or(usize::MAX);
    }
    let Some(budget) = budget_bytes(settings) else { return OPERATIONS_IN_MEMORY };
    let fitting = budget / OPERATIONS_PART / OPERATION_BYTES / u64::from(settings.partitions.max(1));
    usize::try_from(fitting).unwrap_or(OPERATIONS_IN_MEMORY).min(OPERATIONS_IN_MEMORY)
}

pub(super) fn budget(settings: &ServerSettings) -> Option<MemoryBudget> {
    let max_bytes = budget_bytes(settings)?;
    let (operations_max, partitions) = (operations_max(settings), settings.partitions);
    let operations_in_memory_max = operations_in_memory_max(settings);
    tracing::info!(
        max_bytes,
        operations_max,
        operations_in_memory_max,
        partitions,
        "the memory budget is set, and how many operation ids each partition remembers, and keeps in memory"
    );
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
    use scarce_settings::{MemoryMax, Sources, load};

    #[test]
    fn own_pages_count_and_pages_of_files_do_not() {
        let status =
            "VmRSS:\t 9000 kB\nRssAnon:\t 5000 kB\nRssFile:\t 3990 kB\nRssShmem:\t 10 kB\nVmSwap:\t 90 kB\n";
        assert_eq!(used(status), Some(5_100 << 10));
        assert_eq!(used("VmRSS: 9000 kB\n"), None);
    }

    #[test]
    fn operation_ids_in_memory_fit_into_the_budget_unless_their_number_is_set() {
        let mut settings = load(&Sources::default()).expect("the defaults").settings;
        let mut max = |memory_max, partitions, in_memory| {
            (settings.memory_max, settings.partitions) = (memory_max, partitions);
            settings.operations_in_memory_max = in_memory;
            (operations_in_memory_max(&settings), operations_max(&settings))
        };
        let small = MemoryMax::Bytes(1 << 30);
        assert_eq!(max(small, 1, None), (3_728_270, 16_000_000));
        assert_eq!(max(small, 4, None).0, 932_067);
        assert_eq!(max(MemoryMax::Bytes(16 << 30), 1, None).0, 4_000_000);
        assert_eq!(max(MemoryMax::Unlimited, 1, None).0, 4_000_000);
        assert_eq!(max(small, 1, Some(0)).0, 0);
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
