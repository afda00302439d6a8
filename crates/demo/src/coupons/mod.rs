//! `scarce demo coupons`: four limits on one coupon, a crowd that tries to exceed each of them, a server that
//! is killed in the evening, and midnight in the middle of the rush.

mod audit;
mod ledger;
mod shoppers;

use redis::Value;

use self::audit::{Evidence, Shown};
use self::ledger::Ledger;
use self::shoppers::{
    COUPON, EVENING, Errand, Limit, MIDNIGHT, OFFSET_MINUTES, Shoppers, device_name, limits, user_name,
};
use super::ask::{Ask, CallerAnswer};
use super::chart;
use super::log::Log;
use super::progress::Gauge;
use super::promises::{Told, invented};
use super::proof::grouped;
use super::record::{Known, Record};
use super::server::Server;
use super::stage::{Act, Cue, Stage, apply, figure};
use crate::args::{CouponPlant, Coupons};
use crate::failure::{DemoError, Verdict};
use scarce_client::Client;

/// The default number of coupons for every two users.
const PER_TWO_USERS: u64 = 5;

pub(super) fn run(options: &Coupons) -> Result<Verdict, DemoError> {
    let mut stage = open(options)?;
    let Shoppers { coupons, count, .. } = stage.crowd;
    let midnight = Cue::Clock(MIDNIGHT, "00:00:00.000, a new day");
    let window = stage.window(coupons);
    let tries = stage.crowd.tries();
    stage.rush(&Act { arrivals: 0..tries / 2, window, cues: vec![Cue::Kill, midnight] })?;
    // Only now: on a busy machine the second day's tries could otherwise all be over before the clock is set.
    stage.rush(&Act { arrivals: tries / 2..tries, window, cues: Vec::new() })?;
    let mut log = Log::read(&mut stage.server.connect()?, stage.mark)?;
    let shown = shown(&mut stage.server.connect()?, count)?;
    let digests = stage.restart()?;
    if let Some(plant) = options.plant {
        falsify(plant, &mut log, &mut stage.record());
        stage.say_falsified();
    }
    stage.settle(&log);
    let ledger = Ledger::of(&log, coupons)?;
    let mut proof = stage.proof("coupons", &log);
    let crowd = stage.crowd;
    Evidence { crowd, told: Told { record: &stage.record(), log: &log, digests }, ledger: &ledger, shown }
        .judge(&mut proof);
    proof.tell("users", count);
    proof.tell("coupons", coupons);
    let pictures = pictures(&stage, &ledger);
    stage.conclude(
        proof,
        options.plant,
        &pictures,
        &[
            "scarce demo coupons --plant over-limit    a lie that is found",
            "scarce explain LIMIT_REACHED              what it means",
        ],
    )
}

/// Starts the server in the last millisecond of a day, and creates the coupon.
fn open(options: &Coupons) -> Result<Stage<Shoppers>, DemoError> {
    let users = options.users;
    let coupons = options.coupons.unwrap_or(users * PER_TWO_USERS / 2);
    let crowd = Shoppers { seed: options.stage.seed, count: users, coupons };
    let gauge = Gauge {
        name: "coupons",
        total: coupons,
        unit: "left",
        position: coupons,
        page: "coupons/singles-day",
    };
    let server = Server::new(&options.stage)?.with_clock(EVENING);
    let stage = Stage::open(&options.stage, server, crowd, gauge)?;
    let words = |limit: &Limit| {
        let window = if limit.is_daily { format!("day OFFSET {OFFSET_MINUTES}") } else { "none".to_owned() };
        let (name, per, max) = (limit.name, limit.per.unwrap_or("-"), limit.max);
        format!("LIMIT {name} {max} PER {per} WINDOW {window}")
    };
    let limits = limits(coupons).map(|limit| words(&limit)).join(" ");
    let create = format!("COUPON.CREATE {COUPON} {limits}");
    apply(&mut stage.server.connect()?, &create.split(' ').collect::<Vec<_>>())?;
    let (coupons, users) = (grouped(coupons), grouped(users));
    let text = format!("{coupons} for {users} users: 3 each, 2 a day; 3 a day for two on a device");
    stage.progress.say("coupons", &text);
    Ok(stage)
}

fn shown(client: &mut Client, users: u64) -> Result<Shown, DemoError> {
    let claimed = figure(client, &["COUPON.GET", COUPON], "claimed")?.unsigned_abs();
    let check = |user| {
        let (user, device) = (user_name(user), device_name(user));
        ["COUPON.CHECK", COUPON, "USER", &user, "device", &device].map(str::to_owned)
    };
    let mut checks = Vec::new();
    for some in (0..users).map(check).collect::<Vec<_>>().chunks(1_000) {
        checks.extend(client.pipeline::<String, _>(some)?.into_iter().map(CallerAnswer::of));
    }
    Ok(Shown { claimed, checks })
}

/// Tampers with the evidence, never with the verdict.
fn falsify(plant: CouponPlant, log: &mut Log, record: &mut Record<Shoppers>) {
    match plant {
        CouponPlant::LostClaim => {
            let ask = Ask::new("claim/lost".to_owned(), Errand::Claim { user: 0 });
            record.known.insert(ask.id.clone(), Known::acknowledged(ask, invented(&[i64::MAX])));
        }
        // As if someone had exceeded the daily limit by two claims.
        CouponPlant::OverLimit => {
            for serial in [i64::MAX - 1, i64::MAX] {
                log.plant_copy("coupon.claimed", |claim| claim.set("serial", Value::Int(serial)));
            }
        }
        CouponPlant::DoubleRedemption => log.plant_copy("coupon.redeemed", |_| {}),
        CouponPlant::WrongDay => {
            let tomorrow = Value::Int(ledger::day_of(MIDNIGHT).cast_signed());
            let windows = vec![Value::Int(0), Value::Int(0), tomorrow.clone(), tomorrow];
            if let Some(first) = log.named_mut("coupon.claimed").next() {
                first.set("windows", Value::Array(windows));
            }
        }
    }
}

/// The width of the longest bar.
const BAR: u64 = 40;

/// What was left, from the log, and which limits refused claims.
fn pictures(stage: &Stage<Shoppers>, ledger: &Ledger) -> Vec<String> {
    let mark = stage.crash_mark();
    let marks: Vec<_> = [(ledger.killed_at, mark.as_str()), (ledger.midnight_at, "midnight")]
        .into_iter()
        .filter_map(|(at, mark)| Some((at?, mark)))
        .collect();
    let mut lines =
        vec![format!("coupons left, over {} events of the log", grouped(ledger.levels.len() as u64))];
    lines.extend(chart::draw(&ledger.levels, stage.crowd.coupons, &marks));
    lines.push(String::new());
    lines.push("tries that a limit stopped".to_owned());
    let record = stage.record();
    let stopped = |name| record.tally.stopped.get(name).copied().unwrap_or(0);
    let limits = limits(stage.crowd.coupons);
    let top = limits.iter().map(|limit| stopped(limit.name)).max().unwrap_or(0);
    lines.extend(limits.iter().map(|limit| {
        let count = stopped(limit.name);
        format!("{:<7} ┤{} {}", limit.name, chart::bar(count, top, BAR), grouped(count))
    }));
    lines.push(String::new());
    lines.push(format!("refused: {}", record.refusals_text()));
    drop(record);
    lines.push(stage.pulse());
    lines
}
