//! Limits of open files, memory and processors.

use indicatif::HumanBytes;
use rustix::process::{Resource, getrlimit};
use scarce_core::state::StateSettings;
use scarce_server::serve::descriptors;
use scarce_server::serve::machine::{Cgroup, Memory};
use scarce_server::serve::memory::{OPERATION_BYTES, operations_in_memory_max, operations_max};
use scarce_settings::ServerSettings;
use serde_json::json;

use super::finding::Finding;

pub(super) fn examine(settings: &ServerSettings) -> Vec<Finding> {
    let cgroup = Cgroup::of_process();
    vec![
        open_files(settings, getrlimit(Resource::Nofile).maximum),
        memory(settings, &cgroup),
        operation_ids(settings),
        processors(settings, &cgroup),
    ]
}

/// The server raises the soft limit to the hard limit itself, so the hard limit counts.
fn open_files(settings: &ServerSettings, hard: Option<u64>) -> Finding {
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

fn memory(settings: &ServerSettings, cgroup: &Cgroup) -> Finding {
    const NAME: &str = "memory";
    let Memory { total, available } = Memory::of_machine();
    let Some(limit) = [total, cgroup.memory_max].into_iter().flatten().min() else {
        return Finding::ok(NAME, "not known: /proc/meminfo cannot be read");
    };
    let kind = if cgroup.memory_max == Some(limit) { "the control group's limit" } else { "in the machine" };
    let free = available.map(|bytes| format!(", {} of the machine's available", HumanBytes(bytes)));
    let budget = settings.memory_max.bytes_of(Some(limit));
    let text = format!("{} {kind}{}; {}", HumanBytes(limit), free.unwrap_or_default(), budget_text(budget));
    let ids = operations_in_memory_max(settings) as u64 * u64::from(settings.partitions) * OPERATION_BYTES;
    Finding::ok(NAME, text)
        .warn_if(
            ids > budget.unwrap_or(limit) / 3,
            format!(
                "the ids in memory come to {} when their number is reached, beside the state itself and what a snapshot \
                 takes: lower --operations-in-memory-max, or give it more memory",
                HumanBytes(ids)
            ),
        )
        .warn_if(
            budget.is_none_or(|budget| budget > limit),
            "nothing keeps the process from growing until the kernel ends it: set --memory-max below that",
        )
        .with(json!({
            "limit_bytes": limit,
            "machine_bytes": total,
            "available_bytes": available,
            "cgroup_bytes": cgroup.memory_max,
            "budget_bytes": budget,
            "operation_ids_bytes": ids,
        }))
}

fn budget_text(budget: Option<u64>) -> String {
    match budget {
        Some(bytes) => format!("the server may take {}", HumanBytes(bytes)),
        None => "the server may take all (--memory-max is off)".to_owned(),
    }
}

/// How many new ids a partition takes in the long run, which a short benchmark does not show.
fn operation_ids(settings: &ServerSettings) -> Finding {
    let usual = StateSettings::default();
    let remembered = operations_max(settings);
    let state = StateSettings { operations_max: remembered, ..usual };
    let (per_second, (rate, span)) = (state.new_ids_per_second_max(), state.new_ids_rate());
    let found = format!(
        "each partition remembers {remembered}, and takes {rate} new ones {span} without end, more in bursts"
    );
    Finding::ok("operation ids", found)
        .with(json!({ "operations_max": remembered, "new_per_second_max": per_second }))
}

fn processors(settings: &ServerSettings, cgroup: &Cgroup) -> Finding {
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

#[cfg(test)]
mod tests {
    use scarce_settings::{Sources, load};

    use super::super::finding::Status;
    use super::*;

    #[test]
    fn few_files_are_warned_of() {
        let settings = load(&Sources::default()).expect("the defaults").settings;
        let open_files = |hard| open_files(&settings, hard).status;
        assert_eq!(open_files(Some(1_024)), Status::Warn);
        assert_eq!(open_files(Some(10_100)), Status::Warn, "HTTP has connections too");
        assert_eq!(open_files(Some(1 << 20)), Status::Ok);
        assert_eq!(open_files(None), Status::Ok);
    }
}
