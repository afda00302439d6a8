//! A server's process: started with its own log, waited for, paused, stopped and killed, together with all
//! its descendants.

mod family;
mod guard;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::{LaunchError, Program, has_come};
use guard::Guard;

/// How much of a log an error shows when a server does not start.
const OUTPUT_BYTES_MAX: usize = 2_000;

/// A process that runs or has run; killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    program: Program,
    child: Child,
    log: PathBuf,
    /// Where its output begins in the log; earlier text is from previous processes.
    log_start: usize,
    guard: Guard,
    /// It has ended, and its id may belong to another process by now.
    is_over: bool,
}

/// What happens if its owner ends without stopping it.
#[derive(Clone, Debug)]
pub(crate) struct AtOwnersEnd {
    /// The signal to send.
    pub(crate) signal: Signal,
    /// The folders to remove.
    pub(crate) folders: Vec<PathBuf>,
}

impl Process {
    /// Starts it; its output is appended to `log`.
    pub(crate) fn spawn(
        program: Program,
        command: &mut Command,
        log: &Path,
        at_owners_end: &AtOwnersEnd,
    ) -> Result<Self, LaunchError> {
        let file = File::options().create(true).append(true).open(log)?;
        let log_start = usize::try_from(file.metadata()?.len()).unwrap_or_default();
        // In English whatever the locale, because the output is parsed.
        command.stdin(Stdio::null()).env("LC_ALL", "C");
        command.stdout(file.try_clone()?).stderr(file);
        let mut child = command.spawn().map_err(|source| program.not_started(command, source))?;
        let guard = Guard::over(child.id(), at_owners_end).inspect_err(|_| {
            // Without a guard it would outlive its owner.
            let _ = child.kill().and_then(|()| child.wait());
        })?;
        Ok(Self { program, child, log: log.to_owned(), log_start, guard, is_over: false })
    }

    /// Its process id.
    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Keeps its folders, even if the owner ends without stopping it.
    pub(crate) fn keep_folders(&mut self, signal: Signal) {
        if self.has_ended() {
            return;
        }
        match Guard::over(self.child.id(), &AtOwnersEnd { signal, folders: Vec::new() }) {
            Ok(guard) => self.guard = guard,
            // Better no guard than one that removes them.
            Err(_) => self.guard.dismiss(),
        }
    }

    /// Waits until it is ready; `is_ready` receives its output so far.
    pub(crate) fn wait_ready(&mut self, mut is_ready: impl FnMut(&str) -> bool) -> Result<(), LaunchError> {
        let mut has_ended = false;
        let is_late = !has_come(|| {
            has_ended = self.has_ended();
            has_ended || is_ready(&self.printed())
        });
        match (has_ended, is_late) {
            (true, _) => Err(LaunchError::Ended { program: self.program.name, output: self.output() }),
            (_, true) => Err(self.silent("answer")),
            _ => Ok(()),
        }
    }

    /// Kills it and all its descendants, like a crash, and waits until they are gone.
    pub(crate) fn kill(&mut self) -> Result<(), LaunchError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        let descendants = family::stopped(pid);
        for descendant in &descendants {
            // It may have ended before it was stopped.
            let _ = kill_process(*descendant, Signal::KILL);
        }
        self.child.kill()?;
        self.child.wait()?;
        self.is_over = true;
        self.guard.dismiss();
        match has_come(|| descendants.iter().all(|pid| family::is_gone(*pid))) {
            true => Ok(()),
            false => Err(self.silent("end with all that it started")),
        }
    }

    /// Asks it to end, and waits until it has.
    #[cfg(any(feature = "kafka", feature = "sql"))]
    pub(crate) fn stop(&mut self, signal: Signal) -> Result<(), LaunchError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        send(pid, signal)?;
        self.resume()?;
        if has_come(|| self.has_ended()) { Ok(()) } else { Err(self.silent("end")) }
    }

    /// Pauses it and all its descendants, which looks to clients like a machine without a network.
    pub(crate) fn pause(&self) -> Result<(), LaunchError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        family::stopped(pid);
        Ok(())
    }

    /// Resumes them.
    pub(crate) fn resume(&self) -> Result<(), LaunchError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        for descendant in family::descendants(pid) {
            let _ = kill_process(descendant, Signal::CONT);
        }
        send(pid, Signal::CONT)
    }

    fn pid(&self) -> Option<Pid> {
        (!self.is_over).then(|| Pid::from_child(&self.child))
    }

    fn has_ended(&mut self) -> bool {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            self.is_over = true;
            self.guard.dismiss();
        }
        self.is_over
    }

    /// Its output.
    pub(crate) fn printed(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(text.get(self.log_start..).unwrap_or_default()).into_owned()
    }

    /// The end of its output.
    fn output(&self) -> String {
        end_of(self.printed())
    }

    fn silent(&self, what: &'static str) -> LaunchError {
        LaunchError::Silent { program: self.program.name, what, output: self.output() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.kill();
    }
}

fn send(pid: Pid, signal: Signal) -> Result<(), LaunchError> {
    kill_process(pid, signal).map_err(|error| LaunchError::System(error.into()))
}

/// Runs a program to completion and returns its stdout.
#[cfg(any(feature = "kafka", feature = "sql"))]
pub(crate) fn finish(program: Program, command: &mut Command) -> Result<String, LaunchError> {
    let run = command.stdin(Stdio::null()).env("LC_ALL", "C").output();
    let run = run.map_err(|source| program.not_started(command, source))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if run.status.success() {
        return Ok(text(&run.stdout));
    }
    let output = end_of(text(&[run.stdout, run.stderr].concat()));
    Err(LaunchError::Refused { program: program.name, output })
}

/// The end of a text, starting at a character boundary.
fn end_of(text: String) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
    if from == 0 { text } else { text[from..].to_owned() }
}
