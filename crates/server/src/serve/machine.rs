//! What the machine has, and how much of it the process may take.

use std::path::Path;

/// The machine's memory, and how much of it the process may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What is in the machine, in bytes.
    pub total: Option<u64>,
    /// What of it nobody needs at the moment.
    pub available: Option<u64>,
}

impl Memory {
    /// Asks the system.
    #[must_use]
    pub fn of_machine() -> Self {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self { total: meminfo(&text, "MemTotal:"), available: meminfo(&text, "MemAvailable:") }
    }
}

/// How much memory the process can have at most: what is in the machine, or what its control group allows.
#[must_use]
pub fn memory_max() -> Option<u64> {
    [Memory::of_machine().total, Cgroup::of_process().memory_max].into_iter().flatten().min()
}

/// Tells the kernel to give this process memory in small pages only. A huge page is cleared as a whole when it is first
/// touched, and the thread that touches it waits: for milliseconds where a virtual machine has to get it from its host.
/// Where the kernel knows nothing of huge pages, there is nothing to do.
pub fn refuse_huge_pages() {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "the kernel was not told to do without huge pages");
    }
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The limits of a control group; `None` if there is no limit or it is unreadable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// In bytes.
    pub memory_max: Option<u64>,
    /// In hundredths of a processor.
    pub cpu_percent: Option<u64>,
}

/// No machine has this much; version 1 writes such a number if there is no limit.
const UNLIMITED_BYTES: u64 = 1 << 60;

impl Cgroup {
    /// Those of the group of this process, and of the groups that it is in.
    #[must_use]
    pub fn of_process() -> Self {
        let list = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        Self::read(&list, Path::new("/sys/fs/cgroup"), &read)
    }

    /// Reads `/proc/self/cgroup`, whose lines are `number:controllers:path`; version 2 lists no controllers
    /// there. Limits of parent groups apply too.
    fn read(list: &str, root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut found = Self::default();
        for line in list.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let base = if controllers.is_empty() { root.to_owned() } else { root.join(controllers) };
            let is = |name: &str| controllers.split(',').any(|controller| controller == name);
            for group in Path::new(path.trim_start_matches('/')).ancestors() {
                let text = |name: &str| read(&base.join(group).join(name));
                if controllers.is_empty() {
                    found.limit_memory(text("memory.max"));
                    found.limit_cpu(text("cpu.max").as_deref().and_then(|text| text.trim().split_once(' ')));
                } else if is("memory") {
                    found.limit_memory(text("memory.limit_in_bytes"));
                } else if is("cpu") {
                    let (quota, period) = (text("cpu.cfs_quota_us"), text("cpu.cfs_period_us"));
                    found.limit_cpu(quota.as_deref().map(str::trim).zip(period.as_deref().map(str::trim)));
                }
            }
        }
        found
    }

    fn limit_memory(&mut self, text: Option<String>) {
        let bytes =
            text.and_then(|text| text.trim().parse::<u64>().ok()).filter(|bytes| *bytes < UNLIMITED_BYTES);
        self.memory_max = [self.memory_max, bytes].into_iter().flatten().min();
    }

    /// Quota and period, if there is a quota: `max` and `-1` mean none.
    fn limit_cpu(&mut self, pair: Option<(&str, &str)>) {
        let percent = pair.and_then(|(quota, period)| {
            let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
            quota.checked_mul(100)?.checked_div(period)
        });
        self.cpu_percent = [self.cpu_percent, percent].into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cgroup(list: &str, files: &[(&str, &str)]) -> Cgroup {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new("/cg").join(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        Cgroup::read(list, Path::new("/cg"), &read)
    }

    #[test]
    fn the_narrowest_group_counts_in_both_versions() {
        let second = cgroup(
            "0::/pod/box\n",
            &[
                ("pod/memory.max", "1000\n"),
                ("pod/box/memory.max", "max\n"),
                ("pod/box/cpu.max", "150000 100000\n"),
            ],
        );
        assert_eq!(second, Cgroup { memory_max: Some(1_000), cpu_percent: Some(150) });
        let first = cgroup(
            "4:memory:/box\n2:cpu,cpuacct:/\n",
            &[
                ("memory/box/memory.limit_in_bytes", "5000\n"),
                ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ],
        );
        assert_eq!(first, Cgroup { memory_max: Some(5_000), cpu_percent: None });
    }

    #[test]
    fn lines_of_meminfo_are_in_bytes() {
        assert_eq!(meminfo("MemTotal:       2048 kB\nMemFree: 1 kB\n", "MemTotal:"), Some(2 << 20));
        assert_eq!(meminfo("", "MemTotal:"), None);
    }
}
