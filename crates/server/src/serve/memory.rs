//! The memory budget of a server whose engine keeps state in this process.

use std::sync::Arc;

use scarce_core::state::StateSettings;
use scarce_engine_embedded::{MemoryBudget, MemoryMeter};
use scarce_settings::{EngineChoice, ServerSettings};

use super::machine;

/// The budget that the settings give; `None` if it is off, or the machine does not tell how much memory it has.
#[must_use]
pub fn budget_bytes(settings: &ServerSettings) -> Option<u64> {
    settings.memory_max.bytes_of(machine::memory_max())
}

/// The memory of one remembered operation id, with its share of the index and what the allocator rounds up to. A debit's is
/// 40 to 42 bytes among millions; answers of larger numbers take up to ten more.
pub const OPERATION_BYTES: u64 = 48;

/// The part of the budget that operation ids may fill where the settings do not say how many there may be.
const OPERATIONS_PART: u64 = 6;

/// How many operation ids each partition remembers at most. Ids that fill their own room make new ones wait for minutes at
/// most; if they filled the budget, nothing new would be taken for a day.
#[must_use]
pub fn operations_max(settings: &ServerSettings) -> usize {
    let usual = StateSettings::default().operations_max;
    if let Some(max) = settings.operations_max {
        return usize::try_from(max).unwrap_or(usize::MAX);
    }
    let budget = match settings.engine {
        EngineChoice::Embedded => budget_bytes(settings),
        EngineChoice::Redis => None,
    };
    let Some(budget) = budget else { return usual };
    let fitting = budget / OPERATIONS_PART / OPERATION_BYTES / u64::from(settings.partitions.max(1));
    usize::try_from(fitting).unwrap_or(usual).min(usual)
}

pub(super) fn budget(settings: &ServerSettings) -> Option<MemoryBudget> {
    let max_bytes = budget_bytes(settings)?;
    let (operations_max, partitions) = (operations_max(settings), settings.partitions);
    tracing::info!(
        max_bytes,
        operations_max,
        partitions,
        "the memory budget is set, and how many operation ids each partition remembers"
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
    fn operation_ids_fit_into_the_budget_unless_their_number_is_set() {
        let mut settings = load(&Sources::default()).expect("the defaults").settings;
        let mut max = |memory_max, partitions, operations_max| {
            (settings.memory_max, settings.partitions) = (memory_max, partitions);
            settings.operations_max = operations_max;
            super::operations_max(&settings)
        };
        let small = MemoryMax::Bytes(1 << 30);
        assert_eq!(max(small, 1, None), 3_728_270);
        assert_eq!(max(small, 4, None), 932_067);
        assert_eq!(max(MemoryMax::Bytes(16 << 30), 1, None), 16_000_000);
        assert_eq!(max(MemoryMax::Unlimited, 1, None), 16_000_000);
        assert_eq!(max(small, 1, Some(20_000_000)), 20_000_000);
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
