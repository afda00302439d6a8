//! `scarce reconcile file`: a bank's statement or a stock count against what Scarce has booked.

mod here;
mod show;
mod state;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use scarce_books::{Again, BookError, Comparing, Day, Kind, Map, Matcher, Reading, State, Statement};

use crate::setting_flags::SettingFlags;
use crate::{Ended, Exit, Failed};

/// `scarce reconcile file`.
#[derive(Debug, Args)]
pub struct BookFile {
    /// The file: a statement as CSV, camt.053 or MT940, or a stock count as CSV; '-' is standard input.
    pub file: PathBuf,
    /// What its columns mean, and what it is compared with.
    #[arg(long, value_name = "FILE")]
    pub map: PathBuf,
    /// Where that is which stays open from one file to the next.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Make the state, which must not be there yet.
    #[arg(long, requires = "state")]
    pub new_state: bool,
    /// Take back the result of the last file: this one is a correction of it.
    #[arg(long, requires = "state", conflicts_with = "further")]
    pub replace: bool,
    /// This file has more lines of the days that the last one was about.
    #[arg(long, requires = "state")]
    pub further: bool,
    /// Leave the state as it is.
    #[arg(long, requires = "state")]
    pub dry_run: bool,
    /// Close what is open under an id, with the reason: 'there:0f3a…=a fee of the bank'. It does not come back.
    #[arg(long, requires = "state", value_name = "ID=REASON")]
    pub close: Vec<String>,
    /// The first day that the file is about; without it, that of its first line.
    #[arg(long, value_name = "DATE")]
    pub from: Option<Day>,
    /// The last day that it is about.
    #[arg(long, value_name = "DATE")]
    pub to: Option<Day>,
    /// When the stock was counted, in UTC: '2026-11-30T18:00:00Z'; without it, now.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to"])]
    pub at: Option<String>,
    /// How many lines and movements of each kind are listed; all are counted.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: u16,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report as a page, too.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    /// Settings as `scarce serve` takes them: which data, which ports, which database.
    pub settings: SettingFlags,
}

pub(super) fn run(options: &BookFile) -> Ended {
    let map = std::fs::read_to_string(&options.map).map_err(|error| unread(&options.map, &error))?;
    let map = Map::read(&map)?;
    let today = Day::of_ms(Timestamp::now().as_millisecond(), map.offset_ms()?);
    let at_ms = moment(options, &map)?;
    let state = state::load(options, &map, today)?;
    let statement = read(options, &map, today, at_ms)?;
    let file = options.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let again = match (options.replace, options.further) {
        (true, _) => Again::Correction,
        (_, true) => Again::Further,
        _ => Again::Same,
    };
    let comparing = Comparing { file: file.clone(), limit: options.limit.into(), again };
    let (state, held) = state.unzip();
    let mut matcher = Matcher::new(&map, statement, state.unwrap_or_else(|| State::new(&map)), comparing)?;
    let source = here::feed(options, &map, at_ms, &mut matcher)?;
    let (report, after) = matcher.finish();
    if let Some(page) = &options.html {
        std::fs::write(page, show::page(&report, &file)).map_err(|error| {
            Failed::text(Exit::Usage, format!("cannot write to {}: {error}", page.display()))
        })?;
    }
    // Last: who could not read the report has the state as it was.
    let kept = state::kept(options, held.as_ref(), after.as_ref(), report.bad_count);
    show::show(options, &report, &source, &kept.said)?;
    kept.save()?;
    Ok(if report.differences() == 0 { Exit::Done } else { Exit::Broken })
}

/// When stock was counted; only for a count.
fn moment(options: &BookFile, map: &Map) -> Result<i64, Failed> {
    match &options.at {
        Some(_) if map.kind != Kind::Count => Err(Failed::text(
            Exit::Usage,
            "--at is for a stock count; of which days a statement is, say --from and --to",
        )),
        Some(text) => {
            let unix_ms = crate::history::unix_ms(text)?;
            unix_ms.parse().map_err(|_| Failed::text(Exit::Usage, format!("'{text}' is not a time")))
        }
        None => Ok(Timestamp::now().as_millisecond()),
    }
}

fn read(options: &BookFile, map: &Map, today: Day, at_ms: i64) -> Result<Statement, Failed> {
    let (mut from, mut through) = (options.from, options.to);
    if map.kind == Kind::Count {
        let counted_on = Some(Day::of_ms(at_ms, map.offset_ms()?));
        (from, through) = (counted_on, counted_on);
    }
    let reading = Reading { today, limit: options.limit.into(), from, through };
    let (input, bar) = open(&options.file)?;
    let statement = Statement::read(input, map, reading);
    bar.finish_and_clear();
    statement.map_err(|error| {
        let Failed { exit, message } = Failed::from(error);
        Failed::text(exit, format!("{}: {message}", options.file.display()))
    })
}

/// The file, and a bar over its bytes.
fn open(path: &Path) -> Result<(Box<dyn Read>, ProgressBar), Failed> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin()), ProgressBar::hidden()));
    }
    let file = File::open(path).map_err(|error| unread(path, &error))?;
    let bar = ProgressBar::new(file.metadata().map_err(|error| unread(path, &error))?.len());
    if let Ok(style) = ProgressStyle::with_template("reading the file {bar:40} {bytes}/{total_bytes}") {
        bar.set_style(style);
    }
    Ok((Box::new(bar.wrap_read(file)), bar))
}

fn unread(path: &Path, error: &std::io::Error) -> Failed {
    Failed::text(Exit::Usage, format!("cannot read {}: {error}", path.display()))
}

impl From<BookError> for Failed {
    fn from(error: BookError) -> Self {
        let exit = if matches!(error, BookError::Read(_)) { Exit::Failed } else { Exit::Usage };
        let Self { exit, message } = Self::new(exit, &error);
        // Texts of the file are in it, which a terminal might obey.
        let is_shown = |its: &char| !its.is_control() || *its == '\n';
        Self { exit, message: message.chars().map(|its| if is_shown(&its) { its } else { '?' }).collect() }
    }
}
