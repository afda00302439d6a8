//! A machine that takes a flow.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::outcome::{Receipt, Value};
use scarce_core::state::StateSettings;

use super::flow::Step;

/// How many commands are read before they are run: few enough that they are still in a cache.
const CHUNK: usize = 4_096;
/// How many commands come in a millisecond.
const PER_MILLISECOND: u64 = 2_000;
/// The most levels that a query gives.
const LEVELS_MAX: u64 = 10_000;

/// A machine with open markets.
pub struct Player {
    machine: Machine,
    log: Vec<u8>,
    commands: u64,
    markets: u64,
    with_ids: bool,
}

/// What became of a flow.
pub struct Played {
    /// How many commands were measured.
    pub commands: u64,
    /// How long they took.
    pub time: Duration,
    /// The book at the end: a line for each level.
    pub book: String,
}

impl Player {
    /// A machine without markets.
    pub fn new(with_ids: bool) -> Self {
        let machine = Machine::new(StateSettings::default(), 0);
        Self { machine, log: Vec::new(), commands: 0, markets: 0, with_ids }
    }

    /// Opens the markets up to a number.
    fn open(&mut self, market: u64) -> Result<(), String> {
        while self.markets <= market {
            let envelope = envelope(&format!("MARKET.CREATE m{}", self.markets))?;
            self.submit(&envelope);
            self.markets += 1;
        }
        Ok(())
    }

    /// Runs one command, and gives its receipt.
    pub fn take(&mut self, step: &Step) -> Result<Receipt, String> {
        self.open(step.market)?;
        let envelope = envelope(&step.words())?;
        self.submit(&envelope).ok_or_else(|| "an operation that is known".to_owned())
    }

    fn submit(&mut self, envelope: &Envelope) -> Option<Receipt> {
        self.commands += 1;
        // A batch's buffer is used again.
        if self.log.len() > 1 << 16 {
            self.log.clear();
        }
        let clock = 1_000_000 + self.commands / PER_MILLISECOND;
        match self.machine.submit(envelope, clock, &mut self.log) {
            MachineAnswer::Receipt(receipt) => Some(receipt),
            MachineAnswer::Replay(_) => None,
        }
    }

    /// Runs commands that were read; what they are answered is looked at in no other way.
    #[inline(never)]
    fn submit_all(&mut self, envelopes: &[Envelope]) -> usize {
        envelopes.iter().filter(|envelope| self.submit(envelope).is_some()).count()
    }

    fn lines(&mut self, lines: &[String]) -> Result<Duration, String> {
        let mut envelopes = Vec::with_capacity(lines.len());
        for (line, number) in lines.iter().zip(self.commands..) {
            let step = Step::read(line).ok_or_else(|| format!("'{line}' is no line of a flow"))?;
            self.open(step.market)?;
            let words =
                if self.with_ids { format!("{} ID op-{number:012}", step.words()) } else { step.words() };
            envelopes.push(envelope(&words)?);
        }
        let start = Instant::now();
        let answered = self.submit_all(&envelopes);
        let time = start.elapsed();
        if answered == envelopes.len() { Ok(time) } else { Err("an operation was known".to_owned()) }
    }

    /// The levels of all books, bids and then asks, best first: market, side, price, quantity, orders.
    fn book(&self) -> Result<String, Box<dyn Error>> {
        let mut book = String::new();
        for market in 0..self.markets {
            let query = command(&format!("MARKET.DEPTH m{market} LEVELS {LEVELS_MAX}"))?.0;
            let MachineAnswer::Receipt(receipt) = self.machine.query("", &query, 0) else {
                return Err("a depth is no replay".into());
            };
            for (side, levels) in ["B", "S"].into_iter().zip(&receipt.outcome.facts) {
                let Value::List(levels) = levels else { return Err("a depth is a list".into()) };
                for level in levels {
                    let level = level.to_string();
                    writeln!(book, "{market} {side} {}", level.trim_matches(['[', ']']))?;
                }
            }
        }
        Ok(book)
    }
}

fn command(line: &str) -> Result<(Command, scarce_core::command::Common), String> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = table::find(words[0]).ok_or_else(|| format!("'{line}' is no command"))?;
    Command::parse(spec, &words[1..]).map_err(|invalid| format!("'{line}': {invalid:?}"))
}

fn envelope(line: &str) -> Result<Envelope, String> {
    let (command, common) = command(line)?;
    Envelope::new("", common, Body::Single(command), &[0; 32])
        .map_err(|invalid| format!("'{line}': {invalid:?}"))
}

/// Plays a file.
pub fn file(path: &Path, with_ids: bool) -> Result<Played, Box<dyn Error>> {
    let mut lines = BufReader::new(File::open(path)?).lines();
    let first = lines.next().ok_or("an empty file")??;
    let fills: usize = first.rsplit(' ').next().unwrap_or_default().parse()?;
    let mut player = Player::new(with_ids);
    let filling: Vec<String> = lines.by_ref().take(fills).collect::<Result<_, _>>()?;
    player.lines(&filling)?;
    let (mut time, mut commands) = (Duration::ZERO, 0);
    loop {
        let chunk: Vec<String> = lines.by_ref().take(CHUNK).collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            break;
        }
        time += player.lines(&chunk)?;
        commands += chunk.len() as u64;
    }
    Ok(Played { commands, time, book: player.book()? })
}
