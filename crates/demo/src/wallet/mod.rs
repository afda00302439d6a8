//! `scarce demo wallet`: transfers, and holds that are captured, voided or forgotten, many of them on the
//! same few accounts; a server that is killed in the middle; and every cent accounted for.

mod audit;
mod ledger;
mod payers;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redis::Value;

use self::audit::{Evidence, Shown, ShownAccount};
use self::ledger::Ledger;
use self::payers::{ASSETS, PATIENT_TTL_MS, PURSE, Payers, SHOPS, asset, name, overdraft};
use super::ask::words;
use super::chart;
use super::crowd::Crowd as _;
use super::log::Log;
use super::progress::Gauge;
use super::promises::{Told, invented};
use super::proof::{cents, grouped};
use super::record::{Known, Record};
use super::server::Server;
use super::stage::{Act, Cue, Stage, apply_all, figure, named};
use crate::args::{Wallet, WalletPlant};
use crate::failure::{DemoError, Verdict};
use scarce_client::{Client, integer, text};

pub(super) fn run(options: &Wallet) -> Result<Verdict, DemoError> {
    let mut stage = open(options)?;
    let window = stage.window(options.operations);
    stage.rush(&Act { arrivals: 0..options.operations, window, cues: vec![Cue::Kill] })?;
    let mut log = wait_for_deadlines(&mut stage)?;
    let mut shown = shown(&mut stage.server.connect()?, options.accounts)?;
    let digests = stage.restart()?;
    if let Some(plant) = options.plant {
        falsify(plant, &mut log, &mut stage.record(), &mut shown, &stage.crowd);
        stage.say_falsified();
    }
    stage.settle(&log);
    let ledger = Ledger::of(&log)?;
    let mut proof = stage.proof("wallet", &log);
    Evidence { told: Told { record: &stage.record(), log: &log, digests }, ledger: &ledger, shown }
        .judge(&mut proof);
    proof.tell("accounts", options.accounts);
    proof.tell("operations", options.operations);
    let pictures = pictures(&stage, &ledger);
    stage.conclude(
        proof,
        options.plant,
        &pictures,
        &[
            "scarce demo wallet --plant extra-cent    a lie that is found",
            "scarce explain RESOLVED_ABSENT           what it means",
        ],
    )
}

/// Starts the server, and opens and funds the accounts.
fn open(options: &Wallet) -> Result<Stage<Payers>, DemoError> {
    let &Wallet { accounts, operations, ttl_ms, .. } = options;
    let crowd = Payers { seed: options.stage.seed, accounts, operations, ttl_ms };
    let gauge = Gauge { name: "wallet", total: operations, unit: "begun", position: 0, page: "accounts" };
    let stage = Stage::open(&options.stage, Server::new(&options.stage)?, crowd, gauge)?;
    let mut client = stage.server.connect()?;
    let open = |account| {
        let (name, overdraft) = (name(account), overdraft(account).to_string());
        let open = words(&["ACCOUNT.OPEN", &name, asset(account), "OVERDRAFT", &overdraft]);
        [open, words(&["ACCOUNT.CREDIT", &name, &PURSE.to_string()])]
    };
    apply_all(&mut client, &(0..accounts).flat_map(open).collect::<Vec<_>>())?;
    stage.progress.say(
        "opened",
        &format!(
            "{} accounts in EUR and USD with {} each; {SHOPS} of them are shops",
            grouped(accounts),
            cents(PURSE)
        ),
    );
    Ok(stage)
}

/// Waits until no hold with a deadline is open, and returns the log.
fn wait_for_deadlines(stage: &mut Stage<Payers>) -> Result<Log, DemoError> {
    let (mut log, mut seen, mut open) = (Log::marked(stage.mark), 0, BTreeSet::new());
    // The command that ends a hold may be lost in a failover; then its deadline ends it.
    let limit = Duration::from_millis(stage.crowd.ttl_ms + PATIENT_TTL_MS) + Duration::from_secs(10);
    let waited =
        stage.wait_for("holds are still open long after their deadline", limit, |client, progress| {
            log.read_on(client)?;
            for event in &log.events[seen..] {
                let hold = (event.text("account"), event.text("hold"));
                match event.name.as_str() {
                    "hold.placed" if event.number("deadline").is_some() => drop(open.insert(hold)),
                    "hold.captured" if event.number("open") == Some(1) => {}
                    "hold.captured" | "hold.voided" | "hold.expired" => drop(open.remove(&hold)),
                    _ => {}
                }
            }
            seen = log.events.len();
            let count = open.len() as u64;
            progress.show(|| (u64::MAX, format!("waiting for the deadlines of {count} forgotten holds")));
            Ok(count)
        })?;
    let waited = waited.as_millis();
    stage.progress.say("deadlines", &format!("the last forgotten hold has expired after {waited} ms"));
    Ok(log)
}

/// The number of holds to request at a time; no account has more here.
const HOLDS_MAX: &str = "1000";

fn shown(client: &mut Client, accounts: u64) -> Result<Shown, DemoError> {
    let get = |account| vec!["ACCOUNT.GET".to_owned(), name(account)];
    let list = |account| ["ACCOUNT.HOLDS", &name(account), "COUNT", HOLDS_MAX].map(str::to_owned).to_vec();
    let gotten = apply_all(client, &(0..accounts).map(get).collect::<Vec<_>>())?;
    let listed = apply_all(client, &(0..accounts).map(list).collect::<Vec<_>>())?;
    let number = |fields: &[Value], name| named(fields, name).and_then(integer).unwrap_or(0);
    let account = |(account, (fields, holds)): (u64, (&Vec<Value>, &Vec<Value>))| {
        let asset = named(fields, "asset").and_then(text).unwrap_or_default();
        let (balance, held) = (number(fields, "balance"), number(fields, "held"));
        let listed = holds.iter().map(open_amount).sum();
        (name(account), ShownAccount { asset, balance, held, listed })
    };
    let accounts = (0..).zip(gotten.iter().zip(&listed)).map(account).collect();
    let mut world = BTreeMap::new();
    for asset in ASSETS {
        world.insert(asset.to_owned(), figure(client, &["ACCOUNT.WORLD", asset, "ON", &name(0)], "balance")?);
    }
    Ok(Shown { accounts, world })
}

/// The amount of a hold in a list, if it is open.
fn open_amount(hold: &Value) -> i64 {
    match hold {
        Value::Array(fields) => match fields.as_slice() {
            [_, amount, status, _] if text(status).as_deref() == Some("open") => integer(amount).unwrap_or(0),
            _ => 0,
        },
        _ => 0,
    }
}

/// Tampers with the evidence, never with the verdict.
fn falsify(
    plant: WalletPlant,
    log: &mut Log,
    record: &mut Record<Payers>,
    shown: &mut Shown,
    crowd: &Payers,
) {
    match plant {
        WalletPlant::LostTransfer => {
            let mut ask = crowd.arrive(0);
            ask.id = "move/lost".to_owned();
            record.known.insert(ask.id.clone(), Known::acknowledged(ask, invented(&[1, 1])));
        }
        WalletPlant::DoubleTransfer => log.plant_copy("account.transferred", |_| {}),
        WalletPlant::ExtraCent => {
            if let Some(account) = shown.accounts.values_mut().next() {
                account.balance += 1;
            }
        }
        WalletPlant::StuckHold => {
            if let Some(account) = shown.accounts.values_mut().next() {
                account.held += 1;
            }
        }
    }
}

/// The width of the longest bar.
const BAR: u64 = 30;

/// The shops, and how holds ended.
fn pictures(stage: &Stage<Payers>, ledger: &Ledger) -> Vec<String> {
    let mut lines = vec!["the hot accounts, by movements".to_owned()];
    let shops: Vec<_> = (0..SHOPS).filter_map(|shop| ledger.accounts.get_key_value(&name(shop))).collect();
    let top = shops.iter().map(|(_, shop)| shop.movements).max().unwrap_or(0);
    lines.extend(shops.iter().map(|(name, shop)| {
        let bar = chart::bar(shop.movements, top, BAR);
        let balance = format!("{} {}", shop.asset, cents(shop.balance.unsigned_abs()));
        format!("{name:<15} ┤{bar} {}, {balance}", grouped(shop.movements))
    }));
    lines.push(String::new());
    lines.push("how holds ended".to_owned());
    let holds = ledger.holds;
    let ends = [
        ("captured", holds.captured),
        ("voided", holds.voided),
        ("expired", holds.expired),
        ("open", ledger.open_holds()),
    ];
    lines.extend(ends.map(|(end, count)| {
        format!("{end:<15} ┤{} {}", chart::bar(count, holds.placed, BAR), grouped(count))
    }));
    lines.push(String::new());
    lines.push(stage.pulse());
    lines.push(format!("✖ {}", stage.crash_mark()));
    lines.push(format!("refused: {}", stage.record().refusals_text()));
    lines
}
