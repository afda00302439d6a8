//! Limits of open files, memory and processors.

use std::path::Path;

use indicatif::HumanBytes;
use rustix::process::{Resource, getrlimit};
use serde_json::json;

use super::finding::Finding;
use scarce_server::serve::descriptors;
use scarce_server::settings::Settings;

pub(super) fn examine(settings: &Settings) -> Vec<Finding> {
    let cgroup = Cgroup::of_process();
    vec![
        open_files(settings, getrlimit(Resource::Nofile).maximum),
        memory(settings, &cgroup),
        processors(settings, &cgroup),
    ]
}

/// The server raises the soft limit to the hard limit itself, so the hard limit counts.
fn open_files(settings: &Settings, hard: Option<u64>) -> Finding {
    let (connections, own) = (descriptors::connections_wanted(settings), descriptors::needed(settings));
    let wanted = connections + own;
    let served = descriptors::connections_max(settings, hard);
    let limit = hard.map_or_else(|| "no limit".to_owned(), |hard| format!("{hard} at most"));
    Finding::ok("open files", format!("{limit}: {served} connections"))
        .warn_if(
            hard.is_some_and(|hard| hard < wanted),
            format!(
                "all ports can serve {connections} connections; with {own} files of the server they need {wanted}: \
                 ulimit -Hn, or LimitNOFILE={wanted} in the systemd unit"
            ),
        )
        .with(json!({ "hard": hard, "wanted": wanted, "own": own, "connections_max": served }))
}

/// The memory of one remembered operation id: a record of 64 bytes, and its slot in the index.
const OPERATION_BYTES: u64 = 80;

fn memory(settings: &Settings, cgroup: &Cgroup) -> Finding {
    const NAME: &str = "memory";
    let machine = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let (total, available) = (meminfo(&machine, "MemTotal:"), meminfo(&machine, "MemAvailable:"));
    let Some(limit) = [total, cgroup.memory_max].into_iter().flatten().min() else {
        return Finding::ok(NAME, "not known: /proc/meminfo cannot be read");
    };
    let kind = if cgroup.memory_max == Some(limit) { "the control group's limit" } else { "in the machine" };
    let free = available.map(|bytes| format!(", {} of the machine's available", HumanBytes(bytes)));
    let ids = u64::from(settings.operations_max) * u64::from(settings.partitions) * OPERATION_BYTES;
    let text = format!("{} {kind}{}", HumanBytes(limit), free.unwrap_or_default());
    Finding::ok(NAME, text)
        .warn_if(
            ids > limit / 2,
            format!(
                "the ids remembered come to {} when their number is reached, beside the state itself: \
                 lower --operations-max, or give it more memory",
                HumanBytes(ids)
            ),
        )
        .with(json!({
            "limit_bytes": limit,
            "machine_bytes": total,
            "available_bytes": available,
            "cgroup_bytes": cgroup.memory_max,
            "operation_ids_bytes": ids,
        }))
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn processors(settings: &Settings, cgroup: &Cgroup) -> Finding {
    const NAME: &str = "processors";
    let Ok(count) = std::thread::available_parallelism() else {
        return Finding::ok(NAME, "not known");
    };
    let quota = cgroup.cpu_percent.map(|percent| format!(", the control group allows {percent} % of one"));
    let text = format!("{count}{}; {} partitions", quota.unwrap_or_default(), settings.partitions);
    let allowed = cgroup.cpu_percent.map_or(count.get() as u64, |percent| (percent / 100).max(1));
    let figures = json!({ "processors": count.get(), "cgroup_percent": cgroup.cpu_percent });
    Finding::ok(NAME, text)
        .warn_if(
            u64::from(settings.partitions) > allowed,
            "each partition's owner wants a processor: more partitions than processors wait for each other",
        )
        .with(figures)
}

/// The limits of a control group; `None` if there is no limit or it is unreadable.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cgroup {
    memory_max: Option<u64>,
    /// In hundredths of a processor.
    cpu_percent: Option<u64>,
}

/// No machine has this much; version 1 writes such a number if there is no limit.
const UNLIMITED_BYTES: u64 = 1 << 60;

impl Cgroup {
    fn of_process() -> Self {
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
    use scarce_server::settings::{Sources, load};

    use super::super::finding::Status;
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
    fn few_files_are_warned_of() {
        let settings = load(&Sources::default()).expect("the defaults").settings;
        let open_files = |hard| open_files(&settings, hard).status;
        assert_eq!(open_files(Some(1_024)), Status::Warn);
        assert_eq!(open_files(Some(10_100)), Status::Warn, "HTTP has connections too");
        assert_eq!(open_files(Some(1 << 20)), Status::Ok);
        assert_eq!(open_files(None), Status::Ok);
    }

    #[test]
    fn lines_of_meminfo_are_in_bytes() {
        assert_eq!(meminfo("MemTotal:       2048 kB\nMemFree: 1 kB\n", "MemTotal:"), Some(2 << 20));
        assert_eq!(meminfo("", "MemTotal:"), None);
    }
}
