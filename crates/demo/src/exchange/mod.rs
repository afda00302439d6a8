//! `scarce demo exchange`: three order books under a flow of orders, cancellations and changes; a server that
//! is killed in the middle; and every trade repeated by a simple order book.

mod audit;
mod book;
mod depth;
mod ledger;
mod replay;
mod traders;

use redis::Value;

use self::audit::{Evidence, Shown, ShownOrder};
use self::book::Level;
use self::depth::Chart;
use self::ledger::Ledger;
use self::replay::Replay;
use self::traders::{MARKETS, Traders, forbids_self_trade};
use super::ask::CallerAnswer;
use super::chart;
use super::crowd::Crowd as _;
use super::log::Log;
use super::progress::Gauge;
use super::promises::Told;
use super::proof::{grouped, is_colored};
use super::record::{Known, Record};
use super::server::Server;
use super::stage::{Act, Cue, Stage, apply, apply_all, named};
use crate::args::{Exchange, ExchangePlant};
use crate::failure::{DemoError, Verdict};
use scarce_client::{Client, integer, text};

pub(super) fn run(options: &Exchange) -> Result<Verdict, DemoError> {
    let mut stage = open(options)?;
    let window = stage.window(options.commands);
    stage.rush(&Act { arrivals: 0..options.commands, window, cues: vec![Cue::Kill] })?;
    let mut log = Log::read(&mut stage.server.connect()?, stage.mark)?;
    let shown = shown(&mut stage.server.connect()?, &Ledger::of(&log)?)?;
    let digests = stage.restart()?;
    if let Some(plant) = options.plant {
        falsify(plant, &mut log, &mut stage.record(), &stage.crowd);
        stage.say_falsified();
    }
    stage.settle(&log);
    let (ledger, replay) = (Ledger::of(&log)?, Replay::of(&log)?);
    let mut proof = stage.proof("exchange", &log);
    let record = stage.record();
    Evidence {
        told: Told { record: &record, log: &log, digests },
        ledger: &ledger,
        replay: &replay,
        shown: &shown,
    }
    .judge(&mut proof);
    drop(record);
    proof.tell("commands", options.commands);
    proof.tell("owners", options.owners);
    let pictures = pictures(&stage, &ledger, &shown);
    stage.conclude(
        proof,
        options.plant,
        &pictures,
        &[
            "scarce demo exchange --plant queue-jump    a lie that is found",
            "scarce explain WOULD_TAKE                  what it means",
        ],
    )
}

/// Starts the server and opens the markets.
fn open(options: &Exchange) -> Result<Stage<Traders>, DemoError> {
    let &Exchange { commands, owners, .. } = options;
    let crowd = Traders { seed: options.stage.seed, commands, owners };
    let gauge =
        Gauge { name: "orders", total: commands, unit: "answered", position: 0, page: "markets/BTC-EUR" };
    let stage = Stage::open(&options.stage, Server::new(&options.stage)?, crowd, gauge)?;
    let mut client = stage.server.connect()?;
    for market in MARKETS {
        apply(&mut client, &["MARKET.CREATE", market.name, "TICK", &market.tick.to_string()])?;
    }
    let (commands, markets) = (grouped(commands), MARKETS.map(|market| market.name).join(", "));
    stage.progress.say("markets", &format!("{markets}; {owners} owners, {commands} commands"));
    Ok(stage)
}

/// The number of levels of each side to request: more than exist.
const LEVELS: &str = "10000";

/// Queries every order in the log, and the books.
fn shown(client: &mut Client, ledger: &Ledger) -> Result<Shown, DemoError> {
    let mut shown = Shown::default();
    let get =
        |(market, order): &(String, String)| vec!["ORDER.GET".to_owned(), market.clone(), order.clone()];
    let answers = apply_all(client, &ledger.orders.keys().map(get).collect::<Vec<_>>())?;
    for (name, fields) in ledger.orders.keys().zip(&answers) {
        let number = |field| named(fields, field).and_then(integer).unwrap_or(-1);
        let is_buy = named(fields, "side").and_then(text).as_deref() == Some("BUY");
        let order = ShownOrder { is_buy, filled: number("filled"), remaining: number("remaining") };
        shown.orders.insert(name.clone(), order);
    }
    for market in MARKETS {
        let sides = apply(client, &["MARKET.DEPTH", market.name, "LEVELS", LEVELS])?;
        let side = |at: usize| sides.get(at).map(levels).unwrap_or_default();
        shown.depths.insert(market.name.to_owned(), [side(0), side(1)]);
    }
    Ok(shown)
}

fn levels(side: &Value) -> Vec<Level> {
    let level = |row: &Value| {
        let Value::Array(parts) = row else { return None };
        let number = |at: usize| integer(parts.get(at)?).map(i64::unsigned_abs);
        Some((number(0)?, number(1)?, number(2)?))
    };
    match side {
        Value::Array(rows) => rows.iter().filter_map(level).collect(),
        _ => Vec::new(),
    }
}

/// Tampers with the evidence, never with the verdict.
fn falsify(plant: ExchangePlant, log: &mut Log, record: &mut Record<Traders>, crowd: &Traders) {
    match plant {
        ExchangePlant::LostFill => {
            // As if a fill had been acknowledged and then lost in the crash.
            let fill = [Value::Int(1), Value::SimpleString("o-lost".to_owned())];
            let fill = Value::Array(fill.into_iter().chain([1, 1, 0].map(Value::Int)).collect());
            let told = vec![Value::SimpleString("filled".to_owned()), Value::Int(1), Value::Int(0)];
            let answer = CallerAnswer::Applied([told, vec![Value::Array(vec![fill])]].concat());
            // The first trader has nothing to cancel yet, and places an order.
            let mut ask = crowd.arrive(0);
            ask.id = "c-lost".to_owned();
            record.known.insert(ask.id.clone(), Known::acknowledged(ask, answer));
        }
        ExchangePlant::QueueJump => {
            let is_sweep = |pair: &[super::log::Event]| pair.iter().all(|event| event.name == "order.traded");
            if let Some(at) = log.events.windows(2).position(is_sweep) {
                log.events.swap(at, at + 1);
            }
        }
        ExchangePlant::SelfTrade => {
            let mut trades = log.named_mut("order.traded");
            if let Some(trade) = trades.find(|trade| forbids_self_trade(&trade.text("taker_owner"))) {
                let owner = trade.text("taker_owner");
                trade.set("maker_owner", Value::SimpleString(owner));
            }
        }
        ExchangePlant::UnevenTrade => {
            if let Some(trade) = log.named_mut("order.traded").next() {
                let quantity = trade.signed("quantity").unwrap_or(0);
                trade.set("quantity", Value::Int(quantity + 1));
            }
        }
    }
}

/// The number of columns of a price chart.
const COURSE: usize = 48;

/// The books and the price charts.
fn pictures(stage: &Stage<Traders>, ledger: &Ledger, shown: &Shown) -> Vec<String> {
    let charts: Vec<Chart<'_>> = MARKETS
        .iter()
        .filter_map(|market| {
            let depth = shown.depths.get(market.name)?;
            Some(Chart { market: market.name, tick: market.tick, depth })
        })
        .collect();
    let mut lines = depth::draw(&charts, is_colored());
    lines.push(String::new());
    lines.extend(MARKETS.iter().filter_map(|market| {
        let (prices, before_kill) = ledger.prices.get(market.name)?;
        let (least, most) = (*prices.iter().min()?, *prices.iter().max()?);
        let above: Vec<u64> = prices.iter().map(|price| price - least).collect();
        let course = chart::course(&above, most - least, COURSE, Some(*before_kill));
        let (least, most) = (grouped(least), grouped(most));
        Some(format!("{:<8} {least:>9} {course} {most}", market.name))
    }));
    lines.push(format!("{:>18} ✖ {}", "", stage.crash_mark()));
    lines.push(String::new());
    lines.push(stage.pulse());
    lines.push(format!("refused: {}", stage.record().refusals_text()));
    lines
}
