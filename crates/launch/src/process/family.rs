//! What a process has started, as `/proc` shows it.

use rustix::process::{Pid, Signal, kill_process};

use crate::has_come;

/// Stops a process and gives all that it has started, stopped too: there will be no more of them, and
/// their numbers stay theirs while it cannot bury them.
pub(super) fn stopped(pid: Pid) -> Vec<Pid> {
    // It fails only when it has just ended.
    let _ = kill_process(pid, Signal::STOP);
    // A signal arrives a little later, and something may be started until then.
    has_come(|| matches!(state(pid), None | Some('T' | 't' | 'Z' | 'X')));
    let children = children(pid);
    children.into_iter().flat_map(|child| std::iter::once(child).chain(stopped(child))).collect()
}

/// All that it has started, and they in turn.
pub(super) fn descendants(pid: Pid) -> Vec<Pid> {
    children(pid).into_iter().flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// Whether it has ended; where nobody buries the dead, they stay listed.
pub(super) fn is_gone(pid: Pid) -> bool {
    matches!(state(pid), None | Some('Z' | 'X'))
}

fn children(pid: Pid) -> Vec<Pid> {
    // Each thread has the list of those that it started.
    let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let lists = threads.into_iter().flatten().flatten().map(|thread| thread.path().join("children"));
    let texts = lists.filter_map(|list| std::fs::read_to_string(list).ok());
    let numbers = texts.flat_map(|text| text.split_whitespace().map(str::parse).collect::<Vec<_>>());
    numbers.filter_map(|number| Pid::from_raw(number.ok()?)).collect()
}

/// The letter for what it does; none when there is no such process.
fn state(pid: Pid) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // Its name comes before, in parentheses, and may have any in it.
    text.rsplit_once(") ")?.1.chars().next()
}
