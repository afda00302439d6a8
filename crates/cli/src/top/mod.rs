//! `scarce top`: watches a server's counters from `INFO`.

mod activity;
mod sample;
mod screen;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use serde_json::json;

use self::activity::Activity;
use self::sample::{Row, Sample};
use super::args::Target;
use super::{Ended, Exit, Failed, stop_on_signals};
use scarce_client::{Client, text};

/// `scarce top`.
#[derive(Debug, Args)]
pub struct Top {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// How often to look, as 1s or 500ms.
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = interval)]
    pub interval: Duration,
    /// Look twice, an interval apart, print what there is and end.
    #[arg(long)]
    pub once: bool,
    /// Print JSON, an object for each look.
    #[arg(long)]
    pub json: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1_000),
    };
    let milliseconds = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match milliseconds {
        Some(milliseconds @ 10..=3_600_000) => Ok(Duration::from_millis(milliseconds)),
        _ => Err("must be from 10ms to 3600s, as 1s or 500ms".to_owned()),
    }
}

pub(super) fn run(options: &Top) -> Ended {
    let mut client = options.target.connect()?;
    let first = look(&mut client)?;
    if first.value("partitions").is_none() {
        let text =
            "this key may not operate the server, so it sees no counters; use one with the scope 'operate'";
        return Err(Failed::text(Exit::Refused, text));
    }
    let stop = stop_on_signals()?;
    if options.once || options.json || !io::stdout().is_terminal() {
        print(options, client, first, &stop)
    } else {
        watch(options, client, first, &stop)
    }
}

fn look(client: &mut Client) -> Result<Sample, Failed> {
    let value = client.call(&["INFO", "default", "latencyhistograms"])?;
    match text(&value) {
        Some(info) => Ok(Sample::read(&info, Instant::now())),
        None => Err(Failed::text(Exit::Failed, format!("INFO was answered {}", super::call::json(&value)))),
    }
}

/// Prints one sample after another.
fn print(options: &Top, mut client: Client, mut before: Sample, stop: &Arc<AtomicBool>) -> Ended {
    loop {
        let next = before.taken_at + options.interval;
        while let Some(left) = next.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stop.load(Ordering::Relaxed) {
                return Ok(Exit::Done);
            }
            std::thread::park_timeout(left.min(Duration::from_millis(100)));
        }
        let sample = look(&mut client)?;
        let (rows, activity) = (sample.rows(Some(&before)), Activity::between(&before, &sample));
        let mut out = io::stdout().lock();
        if options.json {
            writeln!(out, "{}", to_json(&sample, &rows, &activity))?;
        } else {
            for line in screen::lines(&options.target.resp, &sample, &rows, Some(&activity)) {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
        out.flush()?;
        if options.once {
            return Ok(Exit::Done);
        }
        before = sample;
    }
}

fn to_json(sample: &Sample, rows: &[Row], activity: &Activity) -> serde_json::Value {
    let figures: Vec<_> = rows
        .iter()
        .map(|row| json!({"section": row.section, "name": row.name, "value": row.value, "per_second": row.per_second}))
        .collect();
    json!({ "texts": sample.texts, "figures": figures, "activity": activity.to_json() })
}

/// The terminal while it is in use; restored however this ends.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    fn show(lines: &[String]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for (line, at) in lines.iter().zip(0..) {
            queue!(out, MoveTo(0, at), Print(line), Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to restore.
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// The action of a key.
enum Wish {
    Leave,
    Move(isize),
    Nothing,
}

/// Watches until a key or a signal ends it; waits for a server that goes away.
fn watch(options: &Top, client: Client, first: Sample, stop: &Arc<AtomicBool>) -> Ended {
    let _screen = Screen::enter()?;
    let mut client = Some(client);
    let mut lines = screen::lines(&options.target.resp, &first, &first.rows(None), None);
    let mut before = first;
    let (mut from, mut next) = (0_usize, before.taken_at + options.interval);
    while !stop.load(Ordering::Relaxed) {
        let (width, height) = terminal::size()?;
        let room = usize::from(height).saturating_sub(1);
        from = from.min(lines.len().saturating_sub(room));
        let mut shown = screen::cut(&lines, from, usize::from(width), room);
        shown.push("q leaves, arrows scroll".chars().take(usize::from(width)).collect());
        Screen::show(&shown)?;
        match wish(next.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)))? {
            Wish::Leave => break,
            Wish::Move(by) => from = from.saturating_add_signed(by),
            Wish::Nothing => {}
        }
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + options.interval;
        match again(options, &mut client) {
            Ok(sample) => {
                let (rows, activity) = (sample.rows(Some(&before)), Activity::between(&before, &sample));
                lines = screen::lines(&options.target.resp, &sample, &rows, Some(&activity));
                before = sample;
            }
            Err(failed) => {
                client = None;
                let problem = failed.message.lines().next().unwrap_or_default().to_owned();
                lines.truncate(1);
                lines.push(format!("{problem} Trying again."));
            }
        }
    }
    Ok(Exit::Done)
}

fn again(options: &Top, client: &mut Option<Client>) -> Result<Sample, Failed> {
    let client = match client {
        Some(client) => client,
        None => client.insert(options.target.connect()?),
    };
    look(client)
}

fn wish(wait: Duration) -> io::Result<Wish> {
    if !event::poll(wait)? {
        return Ok(Wish::Nothing);
    }
    let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event::read()? else { return Ok(Wish::Nothing) };
    Ok(match code {
        _ if kind == KeyEventKind::Release => Wish::Nothing,
        KeyCode::Char('q') | KeyCode::Esc => Wish::Leave,
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Wish::Leave,
        KeyCode::Up => Wish::Move(-1),
        KeyCode::Down => Wish::Move(1),
        KeyCode::PageUp => Wish::Move(-10),
        KeyCode::PageDown => Wish::Move(10),
        _ => Wish::Nothing,
    })
}
