//! `scarce demo flash-sale`: more buyers than units, repeated and duplicate commands, buyers who vanish, a
//! server that is killed in the middle, and a proof of the results.

mod audit;
mod buyers;
mod ledger;

use std::time::Duration;

use self::audit::Evidence;
use self::buyers::{ASSET, BANK, Buyers, PATIENT_TTL_MS, PRICE, SHOP, SKU};
use self::ledger::{Ledger, Units};
use super::chart;
use super::crowd::Crowd as _;
use super::log::Log;
use super::progress::Gauge;
use super::promises::{Told, invented};
use super::proof::grouped;
use super::record::{Known, Record};
use super::server::Server;
use super::stage::{Act, Cue, Stage, apply, figure};
use crate::args::{FlashSale, SalePlant};
use crate::failure::{DemoError, Verdict};
use scarce_client::{Client, Reply, integer, text};

pub(super) fn run(options: &FlashSale) -> Result<Verdict, DemoError> {
    let mut stage = open(options)?;
    let (early, window) = (stage.crowd.early(), stage.window(options.units));
    stage.rush(&Act { arrivals: 0..early, window, cues: vec![Cue::Kill] })?;
    wait_for_deadlines(&mut stage)?;
    stage.rush(&Act { arrivals: early..options.buyers, window, cues: Vec::new() })?;
    let mut log = Log::read(&mut stage.server.connect()?, stage.mark)?;
    let shown = Shown::ask(&mut stage.server.connect()?)?;
    let digests = stage.restart()?;
    if let Some(plant) = options.plant {
        falsify(plant, &mut log, &mut stage.record(), &stage.crowd);
        stage.say_falsified();
    }
    stage.settle(&log);
    let ledger = Ledger::of(&log, options.per_owner)?;
    let mut proof = stage.proof("flash-sale", &log);
    Evidence {
        crowd: stage.crowd,
        told: Told { record: &stage.record(), log: &log, digests },
        ledger: &ledger,
        shown: shown.units,
        receipts: shown.receipts,
        money: [money(options), shown.bank, shown.shop],
    }
    .judge(&mut proof);
    proof.tell("buyers", options.buyers);
    let pictures = pictures(&stage, &ledger);
    stage.conclude(
        proof,
        options.plant,
        &pictures,
        &[
            "scarce demo flash-sale --plant lost-sale    a lie that is found",
            "scarce explain SOLD_OUT                     what it means",
            "scarce serve, then: redis-cli -p 7379 STOCK.CREATE sneaker 100",
        ],
    )
}

/// The total money: enough to pay for every unit.
fn money(options: &FlashSale) -> u64 {
    PRICE * options.units
}

/// Starts the server and puts the item on sale.
fn open(options: &FlashSale) -> Result<Stage<Buyers>, DemoError> {
    let &FlashSale { units, buyers, per_owner, ttl_ms, .. } = options;
    let crowd = Buyers { seed: options.stage.seed, count: buyers, units, per_owner, ttl_ms };
    let gauge = Gauge { name: "stock", total: units, unit: "left", position: units, page: "stock/sneaker" };
    let stage = Stage::open(&options.stage, Server::new(&options.stage)?, crowd, gauge)?;
    let mut client = stage.server.connect()?;
    let (limit, money) = (per_owner.to_string(), money(options).to_string());
    apply(&mut client, &["STOCK.CREATE", SKU, &units.to_string(), "PEROWNER", &limit])?;
    apply(&mut client, &["ACCOUNT.OPEN", BANK, ASSET])?;
    apply(&mut client, &["ACCOUNT.OPEN", SHOP, ASSET])?;
    apply(&mut client, &["ACCOUNT.CREDIT", BANK, &money])?;
    let (units, buyers) = (grouped(units), grouped(buyers));
    stage.progress.say(
        "on sale",
        &format!("{units} units of '{SKU}' for {buyers} buyers, at most {limit} each, through RESP and HTTP"),
    );
    Ok(stage)
}

/// Waits until the units of vanished buyers are on sale again.
fn wait_for_deadlines(stage: &mut Stage<Buyers>) -> Result<(), DemoError> {
    let limit = Duration::from_millis(PATIENT_TTL_MS + stage.crowd.ttl_ms) + Duration::from_secs(10);
    let mut available = 0;
    let what = "units are still reserved long after their deadline";
    let waited = stage.wait_for(what, limit, |client, progress| {
        let units = units(client)?;
        available = units.available.unsigned_abs();
        progress
            .show(|| (available, format!("waiting for the deadlines of {} reserved units", units.reserved)));
        Ok(units.reserved.unsigned_abs())
    })?;
    let waited = waited.as_millis();
    let text = format!("nothing is reserved any more after {waited} ms; {available} units are left");
    stage.progress.say("deadlines", &text);
    Ok(())
}

/// What the server shows at the end.
struct Shown {
    units: Units,
    /// The number of units in its receipts; `None` if they disagree with its counters.
    receipts: Option<u64>,
    bank: u64,
    shop: u64,
}

impl Shown {
    fn ask(client: &mut Client) -> Result<Self, DemoError> {
        let mut balance = |account| figure(client, &["ACCOUNT.GET", account], "balance");
        let (bank, shop) = (balance(BANK)?.unsigned_abs(), balance(SHOP)?.unsigned_abs());
        Ok(Self { units: units(client)?, receipts: count_receipts(client)?, bank, shop })
    }
}

fn units(client: &mut Client) -> Result<Units, DemoError> {
    let mut shown = |name| figure(client, &["STOCK.GET", SKU], name);
    Ok(Units {
        total: shown("total")?,
        available: shown("available")?,
        reserved: shown("reserved")?,
        sold: shown("sold")?,
    })
}

/// Makes the server recount its receipts; `None` if they disagree with its counters.
fn count_receipts(client: &mut Client) -> Result<Option<u64>, DemoError> {
    loop {
        match Reply::of(client.call(&["STOCK.AUDIT", SKU])?) {
            Reply::Applied(values) => match values.as_slice() {
                [state, counted, _] if text(state).as_deref() == Some("CONSISTENT") => {
                    return Ok(integer(counted).map(i64::unsigned_abs));
                }
                _ => {}
            },
            Reply::Refused(..) => return Ok(None),
            Reply::Error(text) => {
                return Err(DemoError::failed(format!("STOCK.AUDIT was answered: {text}")));
            }
        }
    }
}

/// Tampers with the evidence, never with the verdict.
fn falsify(plant: SalePlant, log: &mut Log, record: &mut Record<Buyers>, crowd: &Buyers) {
    match plant {
        SalePlant::LostSale => {
            // As if a sale had been acknowledged and then lost in the crash.
            let mut ask = crowd.arrive(crowd.early());
            ask.id = "take-lost".to_owned();
            record.known.insert(ask.id.clone(), Known::acknowledged(ask, invented(&[1, 0])));
        }
        // As if an operation had been applied twice.
        SalePlant::DoubleSale => log.plant_copy("stock.taken", |_| {}),
    }
}

/// The burn-down chart, from the log.
fn pictures(stage: &Stage<Buyers>, ledger: &Ledger) -> Vec<String> {
    let mark = stage.crash_mark();
    let marks: Vec<_> = ledger.killed_at.map(|at| (at, mark.as_str())).into_iter().collect();
    let mut lines =
        vec![format!("units left, over {} changes of it in the log", grouped(ledger.levels.len() as u64))];
    lines.extend(chart::draw(&ledger.levels, stage.crowd.units, &marks));
    lines.push(String::new());
    lines.push(stage.pulse());
    lines.push(format!("refused: {}", stage.record().refusals_text()));
    lines.push(format!("{} units came back from buyers who vanished", grouped(ledger.expired)));
    lines
}
