//! `scarce repl`: an interactive session with a server.

mod editor;
mod grammar;
mod local;
mod outlook;
mod session;
mod words;

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use redis::Value;

use super::args::Target;
use super::call::json;
use super::explain::language_of_environment;
use super::paint::{Paint, Tone};
use super::{Ended, Exit, Failed, show};
use editor::{Entered, Reader};
use local::Local;
use session::{Session, Told};

/// `scarce repl`.
#[derive(Debug, Args)]
pub struct Repl {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Run this command and end; may be given several times. All are run; the exit code is that of the worst.
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// Print answers as JSON, one per line.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Repl) -> Ended {
    let mut shell = Shell::new(options);
    if !options.commands.is_empty() {
        return shell.run_all(options.commands.iter().map(|command| Ok(command.clone())));
    }
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return shell.converse();
    }
    shell.run_all(std::io::stdin().lock().lines())
}

/// The output and the connection.
struct Shell {
    session: Session,
    json: bool,
    paint: Paint,
    error_paint: Paint,
}

impl Shell {
    fn new(options: &Repl) -> Self {
        Self {
            session: Session::new(options.target.clone()),
            json: options.json,
            paint: Paint::for_stream(&std::io::stdout()),
            error_paint: Paint::for_stream(&std::io::stderr()),
        }
    }

    /// Runs commands that do not come from a terminal; a quote may span lines.
    fn run_all(&mut self, lines: impl Iterator<Item = std::io::Result<String>>) -> Ended {
        let (mut worst, mut open) = (Exit::Done, String::new());
        for line in lines {
            open.push_str(&line?);
            let Ok(commands) = words::commands(&open) else {
                open.push('\n');
                continue;
            };
            open.clear();
            for command in commands {
                match self.run(&command)? {
                    None => return Ok(worst),
                    Some(exit) => worst = worse(worst, exit),
                }
                if worst == Exit::Unreachable {
                    return Ok(worst);
                }
            }
        }
        if open.is_empty() {
            return Ok(worst);
        }
        Err(Failed::text(Exit::Usage, "a quote is not closed at the end of what was read"))
    }

    /// A session at a terminal, where a refusal is not a failure.
    fn converse(&mut self) -> Ended {
        let mut reader = Reader::open(self.paint)?;
        self.greet()?;
        loop {
            let text = match reader.read(&self.prompt())? {
                Entered::End => return Ok(Exit::Done),
                Entered::Nothing => continue,
                Entered::Text(text) => text,
            };
            for command in words::commands(&text).unwrap_or_default() {
                if self.run(&command)?.is_none() {
                    return Ok(Exit::Done);
                }
            }
        }
    }

    fn greet(&mut self) -> std::io::Result<()> {
        if let Err(failed) = self.session.connect() {
            self.complain(&failed.message)?;
        }
        self.note("Tab completes, 'help' lists the commands, Ctrl-D ends")
    }

    fn prompt(&self) -> String {
        let address = self.session.address();
        match (self.session.is_connected(), self.session.queued()) {
            (false, _) => format!("{address} (not connected)> "),
            (true, None) => format!("{address}> "),
            (true, Some(count)) => format!("{address} (batch of {count})> "),
        }
    }

    /// Runs a command; `None` when the session ends.
    fn run(&mut self, command: &[String]) -> Result<Option<Exit>, Failed> {
        match local::run(command, self.paint) {
            Some(Local::End) => return Ok(None),
            Some(Local::Shown(text)) => {
                print(&text)?;
                return Ok(Some(Exit::Done));
            }
            Some(Local::Wrong(text)) => {
                self.complain(&text)?;
                return Ok(Some(Exit::Usage));
            }
            None => {}
        }
        let paint = self.error_paint;
        let mut on_lost = |error: &scarce_client::ClientError| {
            // If stderr is gone, there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "{}", paint.paint(Tone::Bad, error));
        };
        let told = self.session.run(command, &mut on_lost);
        self.tell(command, told).map(Some)
    }

    fn tell(&self, command: &[String], told: Told) -> Ended {
        match told {
            Told::Unreachable(failed) => {
                self.complain(&failed.message)?;
                Ok(failed.exit)
            }
            Told::Unknown(text) => {
                self.complain(&text)?;
                Ok(Exit::Failed)
            }
            Told::Answer(value) => {
                let shown = if self.json { None } else { Some(show::answer(command, &value, self.paint)) };
                print(&shown.unwrap_or_else(|| format!("{}\n", json(&value))))?;
                self.advise(command, &value)?;
                Ok(show::exit_of(&value))
            }
            Told::Batch(lines, values) => {
                let shown = if self.json { None } else { Some(show::batch(&lines, &values, self.paint)) };
                print(&shown.unwrap_or_else(|| {
                    format!("{}\n", serde_json::Value::from_iter(values.iter().map(json)))
                }))?;
                // Of a batch's refusals, only the one that caused the others is worth explaining.
                let cause = values.iter().find(|value| show::is_cause(value));
                cause.map_or(Ok(()), |value| self.advise(command, value))?;
                Ok(values.iter().map(show::exit_of).fold(Exit::Done, worse))
            }
        }
    }

    fn advise(&self, command: &[String], value: &Value) -> std::io::Result<()> {
        if let Some(advice) = show::advice(value, language_of_environment()) {
            self.note(&format!("→ {advice}"))?;
        }
        let name = command.first().map_or("", String::as_str);
        match (value, local::unknown(name)) {
            (Value::ServerError(_), Some(near)) => self.note(&format!("→ {near}")),
            _ => Ok(()),
        }
    }

    fn note(&self, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stderr(), "{}", self.error_paint.paint(Tone::Aside, text))
    }

    fn complain(&self, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stderr(), "{}", self.error_paint.paint(Tone::Bad, text))
    }
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn worse(first: Exit, second: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Done => 0,
        Exit::Refused => 1,
        Exit::Usage => 2,
        Exit::Failed => 3,
        Exit::Broken => 4,
        Exit::Unreachable => 5,
    };
    if rank(second) > rank(first) { second } else { first }
}
