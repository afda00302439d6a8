//! A process's descendants, as `/proc` shows them.

use rustix::process::{Pid, Signal, kill_process};

use crate::has_come;

/// Stops a process and returns all its descendants, stopped too: they start no more processes, and their ids
/// are not reused while their parents cannot reap them.
pub(super) fn stopped(pid: Pid) -> Vec<Pid> {
    // It fails only if the process has just ended.
    let _ = kill_process(pid, Signal::STOP);
    // A signal arrives a little later, and the process may start another until then.
    has_come(|| matches!(state(pid), None | Some('T' | 't' | 'Z' | 'X')));
    let children = children(pid);
    children.into_iter().flat_map(|child| std::iter::once(child).chain(stopped(child))).collect()
}

/// All its descendants.
pub(super) fn descendants(pid: Pid) -> Vec<Pid> {
    children(pid).into_iter().flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// Whether it has ended; zombies stay listed until they are reaped.
pub(super) fn is_gone(pid: Pid) -> bool {
    matches!(state(pid), None | Some('Z' | 'X'))
}

fn children(pid: Pid) -> Vec<Pid> {
    // Each thread has its own list of children.
    let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let lists = threads.into_iter().flatten().flatten().map(|thread| thread.path().join("children"));
    let texts = lists.filter_map(|list| std::fs::read_to_string(list).ok());
    let numbers = texts.flat_map(|text| text.split_whitespace().map(str::parse).collect::<Vec<_>>());
    numbers.filter_map(|number| Pid::from_raw(number.ok()?)).collect()
}

/// The letter of its state; `None` if there is no such process.
fn state(pid: Pid) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name precedes it in parentheses, and may contain parentheses itself.
    text.rsplit_once(") ")?.1.chars().next()
}
