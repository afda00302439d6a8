//! Flows are made beside a machine that takes them: what comes next depends on the book.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use scarce_core::outcome::{Outcome, Receipt, Value};

use super::equities::Equities;
use super::flow::{NewOrder, Step, Tif, What};
use super::maker::{Maker, Odds};
use super::play::Player;

/// Makes one command after another.
pub trait Source {
    /// How many commands fill the book.
    fn fills(&self) -> usize;

    /// The next command.
    fn next(&mut self) -> Step;

    /// What became of it.
    fn note(&mut self, step: &Step, result: &Result<Done, ()>);
}

/// A trade with an order that rested.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// The order's number.
    pub maker: u64,
    /// The price.
    pub price: u64,
    /// The quantity.
    pub quantity: u64,
    /// What is left of it.
    pub left: u64,
}

/// A command that was applied.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// The quantity that rests now; of a cancelled order, what was left.
    pub remaining: u64,
    /// Whether the order is still open.
    pub is_open: bool,
    /// Its trades.
    pub fills: Vec<Fill>,
}

/// Writes a flow.
pub fn write(profile: &str, commands: usize, seed: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut source: Box<dyn Source> = match profile {
        "P1" => Box::new(Maker::new(seed, Odds::plain())),
        "P2" => Box::new(Equities::new(seed)),
        "P3" => Box::new(Maker::new(seed, Odds::rough())),
        _ => return Err(format!("there is no flow '{profile}'").into()),
    };
    let mut out = BufWriter::new(File::create(path)?);
    let mut player = Player::new(false);
    let fills = source.fills();
    writeln!(out, "# {profile} seed {seed} filled by {fills}")?;
    for _ in 0..fills + commands {
        let step = source.next();
        let result = done(&step, &player.take(&step)?)?;
        writeln!(out, "{}", with_cost(step, result.as_ref().ok()))?;
        source.note(&step, &result);
    }
    out.flush()?;
    Ok(())
}

/// What a fill-or-kill order pays is known once it was filled.
fn with_cost(step: Step, done: Option<&Done>) -> Step {
    match step.what {
        What::Place(place) if matches!(place.tif, Tif::Whole { .. }) => {
            let fills = done.map_or(&[][..], |done| &done.fills);
            let cost = fills.iter().map(|fill| fill.price * fill.quantity).sum();
            Step { what: What::Place(NewOrder { tif: Tif::Whole { cost }, ..place }), ..step }
        }
        _ => step,
    }
}

fn done(step: &Step, receipt: &Receipt) -> Result<Result<Done, ()>, Box<dyn Error>> {
    let Outcome { facts, .. } = &receipt.outcome;
    if !receipt.outcome.is_applied() {
        return Ok(Err(()));
    }
    let is_open = |status: &Value| matches!(status.to_string().as_str(), "open" | "partially_filled");
    Ok(Ok(match step.what {
        What::Cancel { .. } => Done { remaining: number(facts.first())?, ..Done::default() },
        What::Reduce { .. } => {
            Done { is_open: is_open(&facts[0]), remaining: number(facts.get(1))?, fills: Vec::new() }
        }
        What::Place(_) | What::Move { .. } => {
            Done { is_open: is_open(&facts[0]), remaining: number(facts.get(2))?, fills: fills(&facts[3])? }
        }
    }))
}

fn number(value: Option<&Value>) -> Result<u64, Box<dyn Error>> {
    match value {
        Some(Value::Integer(number)) => Ok(u64::try_from(*number)?),
        Some(Value::Text(text)) => Ok(text.parse()?),
        _ => Err("an answer without a number".into()),
    }
}

fn fills(list: &Value) -> Result<Vec<Fill>, Box<dyn Error>> {
    let Value::List(fills) = list else { return Err("fills are a list".into()) };
    let fill = |fill: &Value| {
        let Value::List(values) = fill else { return Err("a fill is a list".into()) };
        let (maker, price) = (number(values.get(1))?, number(values.get(2))?);
        Ok(Fill { maker, price, quantity: number(values.get(3))?, left: number(values.get(4))? })
    };
    fills.iter().map(fill).collect()
}
