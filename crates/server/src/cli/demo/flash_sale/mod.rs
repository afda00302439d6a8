//! `scarce demo flash-sale`: more buyers than units, repeated and doubled commands, buyers who vanish,
//! a server that is killed in the middle, and a proof of what came of it.

mod audit;
mod buyers;
mod log;
mod record;
mod rush;
mod stage;

use std::io::Write;

use self::audit::Evidence;
use self::buyers::{BANK, Deed, SHOP, SKU};
use self::log::{Log, Units};
use self::record::{Answer, Known, Record};
use self::stage::{Stage, apply, figure};
use super::chart;
use super::proof::{Proof, grouped};
use crate::cli::args::{FlashSale, SalePlant};
use crate::cli::{Ended, Exit, Failed};
use crate::client::{Client, integer, text};

pub(super) fn run(options: &FlashSale) -> Ended {
    let mut stage = Stage::open(options)?;
    stage.rush()?;
    stage.wait_for_deadlines()?;
    stage.stragglers()?;
    let mut log = Log::read(&mut stage.server.connect()?, options.per_owner)?;
    let proof = prove(&mut stage, &mut log)?;
    stage.progress.end();
    if !options.stage.json {
        draw(&stage, &log)?;
    }
    let exit = proof.print(options.stage.json)?;
    farewell(&stage, options.stage.keep);
    Ok(exit)
}

/// Reads what the server shows, restarts it cleanly, and judges.
fn prove(stage: &mut Stage<'_>, log: &mut Log) -> Result<Proof, Failed> {
    let mut client = stage.server.connect()?;
    let money = [stage.money(), balance(&mut client, BANK)?, balance(&mut client, SHOP)?];
    let shown = units(&mut client)?;
    let receipts = count_receipts(&mut client)?;
    let before = digest(&mut client)?;
    drop(client);
    stage.server.stop()?;
    let (_, restart) = stage.server.start()?;
    let after = digest(&mut stage.server.connect()?)?;
    stage.server.stop()?;
    let took = restart.as_millis();
    stage.progress.say(&format!("restart      stopped cleanly and ready again after {took} ms"));
    let options = stage.options;
    if let Some(plant) = options.plant {
        falsify(plant, log, &mut stage.record());
        stage.progress.say("falsified    the evidence was tampered with, as asked: the proof must fail");
    }
    let mut proof = Proof::new("flash-sale");
    let record = stage.record();
    Evidence {
        record: &record,
        log,
        shown,
        receipts,
        money,
        units: options.units,
        per_owner: options.per_owner,
        digests: [before, after],
    }
    .judge(&mut proof);
    proof.tell("seed", options.stage.seed);
    proof.tell("buyers", options.buyers);
    proof.tell("seconds", stage.seconds());
    proof.tell("recovery_ms", stage.recovery.map(|took| took.as_secs_f64() * 1e3));
    proof.tell("refusals", serde_json::json!(record.refusals));
    proof.tell("planted", options.plant.map(|plant| format!("{plant:?}")));
    Ok(proof)
}

/// Tampers with the evidence, never with the judgement.
fn falsify(plant: SalePlant, log: &mut Log, record: &mut Record) {
    match plant {
        SalePlant::LostSale => {
            // As if a sale had been acknowledged and then lost in the crash.
            let ask = buyers::Crowd { seed: 0, count: 1, per_owner: 1, ttl_ms: 1 }.buyer(0).opening();
            let ask = buyers::Ask { id: "take-lost".to_owned(), deed: Deed::Take, quantity: 1, ..ask };
            let binding = Some(Answer::Applied(vec![1, 0]));
            record.known.insert(ask.id.clone(), Known { ask, binding, life: 1, answers: 1 });
        }
        SalePlant::DoubleSale => {
            // As if an operation had been carried out twice.
            if let Some(sale) = log.sales.first().cloned() {
                let effect = log.effects.get(&sale.id).and_then(|effects| effects.first()).cloned();
                log.effects.entry(sale.id.clone()).or_default().extend(effect);
                log.sales.push(sale);
            }
        }
    }
}

fn units(client: &mut Client) -> Result<Units, Failed> {
    let mut shown = |name| figure(client, &["STOCK.GET", SKU], name);
    Ok(Units {
        total: shown("total")?,
        available: shown("available")?,
        reserved: shown("reserved")?,
        sold: shown("sold")?,
    })
}

fn balance(client: &mut Client, account: &str) -> Result<u64, Failed> {
    figure(client, &["ACCOUNT.GET", account], "balance")
}

/// Has the server recount its receipts; none when they do not agree with its counters.
fn count_receipts(client: &mut Client) -> Result<Option<u64>, Failed> {
    loop {
        match crate::client::Reply::of(client.call(&["STOCK.AUDIT", SKU])?) {
            crate::client::Reply::Applied(values) => match values.as_slice() {
                [state, counted, _] if text(state).as_deref() == Some("CONSISTENT") => {
                    return Ok(integer(counted).map(i64::unsigned_abs));
                }
                _ => {}
            },
            crate::client::Reply::Refused(..) => return Ok(None),
            crate::client::Reply::Error(text) => {
                return Err(Failed::text(Exit::Failed, format!("STOCK.AUDIT was answered: {text}")));
            }
        }
    }
}

fn digest(client: &mut Client) -> Result<String, Failed> {
    let rows = apply(client, &["DIGEST"])?;
    let digests: Vec<String> = rows
        .iter()
        .filter_map(|row| match row {
            redis::Value::Array(fields) => fields.last().and_then(text),
            _ => None,
        })
        .collect();
    Ok(digests.join(" "))
}

/// The burn-down, from the log.
fn draw(stage: &Stage<'_>, log: &Log) -> Result<(), Failed> {
    let mut out = std::io::stdout().lock();
    let took = stage.recovery.map_or(0, |took| took.as_millis());
    let mark = format!("kill -9, back after {took} ms");
    writeln!(out, "\nunits left, over {} changes of it in the log", grouped(log.levels.len() as u64))?;
    for line in chart::draw(&log.levels, stage.options.units, log.killed_at, &mark) {
        writeln!(out, "{line}")?;
    }
    let record = stage.record();
    let refusals: Vec<String> =
        record.refusals.iter().map(|(code, count)| format!("{code} {}", grouped(*count))).collect();
    writeln!(
        out,
        "\n{} answers; refused: {}\n{} units came back from buyers who vanished\n",
        grouped(record.answers),
        refusals.join(", "),
        grouped(log.expired)
    )?;
    Ok(())
}

/// Says how long it took and what to try next.
fn farewell(stage: &Stage<'_>, is_kept: bool) {
    let seconds = stage.seconds();
    stage.progress.say(&format!("done in {seconds:.1} s"));
    if is_kept {
        stage.progress.say(&format!("the data is kept in {}", stage.server.data().display()));
    }
    stage.progress.say("next: 'scarce serve', then 'redis-cli -p 7379 STOCK.CREATE sneaker 100' and 'STOCK.TAKE sneaker 1 you'");
}
