//! Kernel settings with a noticeable effect.

use serde_json::json;

use super::finding::Finding;

pub(super) fn examine() -> Vec<Finding> {
    let read = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    [
        read("/proc/sys/vm/overcommit_memory").map(|text| overcommit(&text)),
        read("/sys/kernel/mm/transparent_hugepage/enabled").map(|text| huge_pages(&text)),
        read("/proc/sys/net/core/somaxconn").map(|text| backlog(&text)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn overcommit(mode: &str) -> Finding {
    let found = format!("vm.overcommit_memory = {mode}");
    Finding::ok("memory overcommit", found)
        .warn_if(
            mode == "2",
            "tables that grow may be refused memory although some is free: sysctl vm.overcommit_memory=0",
        )
        .with(json!({ "overcommit_memory": mode }))
}

fn huge_pages(text: &str) -> Finding {
    let chosen =
        text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word);
    // It tells the kernel to give it none, because the thread that touches one first waits until it is cleared.
    Finding::ok(
        "huge pages",
        format!("transparent huge pages: {chosen}; the embedded engine does without them"),
    )
    .with(json!({ "transparent_hugepage": chosen }))
}

/// How many connections may wait to be accepted before the system rejects more.
const BACKLOG_MIN: u64 = 1_024;

fn backlog(text: &str) -> Finding {
    let length = text.parse::<u64>().unwrap_or(0);
    Finding::ok("listen backlog", format!("net.core.somaxconn = {text}"))
        .warn_if(
            length < BACKLOG_MIN,
            format!(
                "a crowd that connects at once is turned away: sysctl net.core.somaxconn={}",
                4 * BACKLOG_MIN
            ),
        )
        .with(json!({ "somaxconn": length }))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Status;
    use super::*;

    #[test]
    fn what_hurts_is_warned_of() {
        let judged = [overcommit("2"), backlog("128")];
        assert!(judged.iter().all(|finding| finding.status == Status::Warn && finding.advice.is_some()));
        let judged =
            [overcommit("0"), overcommit("1"), huge_pages("[always] madvise never"), backlog("4096")];
        assert!(judged.iter().all(|finding| finding.status == Status::Ok));
    }
}
