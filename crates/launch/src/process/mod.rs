//! A server's process: started with a log of its own, waited for, paused, stopped and killed, with all
//! that it has started itself.

mod family;
mod guard;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::{LaunchError, Program, has_come};
use guard::Guard;

/// How much of a log is told when a server does not start.
const OUTPUT_BYTES_MAX: usize = 2_000;

/// One that runs, or has run; killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    program: Program,
    child: Child,
    log: PathBuf,
    /// Where in the log it begins; what stands before is of earlier ones.
    log_start: usize,
    guard: Guard,
    /// Its number may be somebody else's by now.
    is_over: bool,
}

/// What becomes of it when its owner ends without a word.
#[derive(Clone, Debug)]
pub(crate) struct AtOwnersEnd {
    /// What it is sent.
    pub(crate) signal: Signal,
    /// What is removed then.
    pub(crate) folders: Vec<PathBuf>,
}

impl Process {
    /// Starts it; what it prints is appended to `log`.
    pub(crate) fn spawn(
        program: Program,
        command: &mut Command,
        log: &Path,
        at_owners_end: &AtOwnersEnd,
    ) -> Result<Self, LaunchError> {
        let file = File::options().create(true).append(true).open(log)?;
        let log_start = usize::try_from(file.metadata()?.len()).unwrap_or_default();
        // In English, whatever the machine speaks: what they say is read.
        command.stdin(Stdio::null()).env("LC_ALL", "C");
        command.stdout(file.try_clone()?).stderr(file);
        let mut child = command.spawn().map_err(|source| program.not_started(command, source))?;
        let guard = Guard::over(child.id(), at_owners_end).inspect_err(|_| {
            // Without one it would outlive its owner.
            let _ = child.kill().and_then(|()| child.wait());
        })?;
        Ok(Self { program, child, log: log.to_owned(), log_start, guard, is_over: false })
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Leaves its folders where they are, also when the owner ends without a word.
    pub(crate) fn keep_folders(&mut self, signal: Signal) {
        if self.has_ended() {
            return;
        }
        match Guard::over(self.child.id(), &AtOwnersEnd { signal, folders: Vec::new() }) {
            Ok(guard) => self.guard = guard,
            // Better none than one that removes them.
            Err(_) => self.guard.dismiss(),
        }
    }

    /// Waits until it is ready; `is_ready` is given what it has printed so far.
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

    /// Ends it as a crash would, with all that it has started, and waits until they are gone.
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

    /// Lets it and all that it has started stand still, as a machine without a network would seem to.
    pub(crate) fn pause(&self) -> Result<(), LaunchError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        family::stopped(pid);
        Ok(())
    }

    /// Lets them go on.
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

    /// What it has printed.
    pub(crate) fn printed(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(text.get(self.log_start..).unwrap_or_default()).into_owned()
    }

    /// The end of what it has printed.
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

/// Runs a program to its end, and gives what it printed on stdout.
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

/// The last of a text, from the beginning of a character.
fn end_of(text: String) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
    if from == 0 { text } else { text[from..].to_owned() }
}
