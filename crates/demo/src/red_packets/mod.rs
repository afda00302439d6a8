//! `scarce demo red-packets`: ten guests for every packet, many of whom ask twice; a server that is killed in
//! the middle; a cut that anyone can recompute; and payments that happen once.

mod audit;
mod bank;
mod guests;
mod ledger;

use redis::Value;
use scarce_core::command::shapes::Method;
use scarce_core::packets::cut::Plan;

use self::audit::{Evidence, Payer, Shown};
use self::bank::Bank;
use self::guests::{ASSET, CAMPAIGN, Guests, POT, Wish, name};
use self::ledger::{Claim, Ledger};
use super::ask::{Ask, words};
use super::chart;
use super::log::Log;
use super::progress::Gauge;
use super::promises::{Told, invented};
use super::proof::{cents, grouped};
use super::record::{Known, Record};
use super::server::Server;
use super::stage::{Act, Cue, Stage, apply, apply_all, figure, named};
use crate::args::{CutMethod, PacketPlant, RedPackets};
use crate::failure::{DemoError, Verdict};
use scarce_client::{Client, integer, text};

pub(super) fn run(options: &RedPackets) -> Result<Verdict, DemoError> {
    let alters_statement = options.plant == Some(PacketPlant::AlteredStatement);
    if alters_statement && options.sql.is_none() {
        return Err(DemoError::usage("--plant altered-statement needs --sql: there are no statements"));
    }
    let server = Server::new(&options.stage)?;
    let bank = options.sql.as_ref().map(|url| Bank::new(url, &server));
    let server = server.with_arguments(bank.as_ref().map(Bank::arguments).unwrap_or_default());
    let (mut stage, commitment) = open(options, server)?;
    let window = stage.window(options.packets);
    let guests = options.users;
    stage.rush(&Act { arrivals: 0..guests, window, cues: vec![Cue::Kill] })?;
    let again = if bank.is_some() {
        "every guest asks again"
    } else {
        "every guest asks again, and every packet is paid again"
    };
    stage.progress.say("once more", again);
    stage.rush(&Act { arrivals: guests..2 * guests, window, cues: Vec::new() })?;
    let settled = bank.as_ref().map(|bank| bank.wait(&mut stage.server.connect()?)).transpose()?;
    let mut shown = shown(&mut stage.server.connect()?, commitment, guests)?;
    let mut log = Log::read(&mut stage.server.connect()?, stage.mark)?;
    let digests = stage.restart()?;
    if let Some(plant) = options.plant {
        falsify(plant, &mut log, &mut stage.record(), &mut shown);
        stage.say_falsified();
    }
    stage.settle(&log);
    let ledger = Ledger::of(&log)?;
    let plan = plan(options);
    let mut proof = stage.proof("red-packets", &log);
    let balances = shown.balances.clone();
    Evidence {
        told: Told { record: &stage.record(), log: &log, digests },
        ledger: &ledger,
        losses: &stage.losses,
        plan,
        payer: if bank.is_some() { Payer::Server } else { Payer::Host },
        shown,
    }
    .judge(&mut proof);
    if let (Some(bank), Some(counts)) = (&bank, &settled) {
        let mut statements = bank.statements(&balances)?;
        if alters_statement {
            statements.falsify();
        }
        statements.judge(&mut proof, counts, ledger.claims.len() as u64, &balances);
    }
    proof.tell("users", options.users);
    proof.tell("method", method(options.method).word());
    let pictures = pictures(&stage, &ledger);
    let again = format!("scarce packets plan {} --seed {}", plan_words(options), ledger.seed);
    stage.conclude(
        proof,
        options.plant,
        &pictures,
        &[
            "scarce demo red-packets --plant swapped-seed    a lie that is found",
            "scarce explain ALREADY_CLAIMED                  what it means",
            "the same cut again, by this seed and nothing else:",
            &again,
        ],
    )
}

fn method(method: CutMethod) -> Method {
    match method {
        CutMethod::Even => Method::Even,
        CutMethod::DoubleMean => Method::DoubleMean,
        CutMethod::LineCut => Method::LineCut,
    }
}

/// The plan as arguments for 'scarce packets'.
fn plan_words(options: &RedPackets) -> String {
    format!("{} {} --method {}", options.total, options.packets, method(options.method).word())
}

fn plan(options: &RedPackets) -> Plan {
    Plan { total: options.total, count: options.packets, method: method(options.method), min: 1, max: None }
}

/// Starts the server, opens an account for every guest, funds the pot and creates the campaign. Returns the
/// commitment, which is public before the first claim.
fn open(options: &RedPackets, server: Server) -> Result<(Stage<Guests>, String), DemoError> {
    let &RedPackets { users, packets, total, .. } = options;
    let pays = options.sql.is_none();
    let crowd = Guests { seed: options.stage.seed, count: users, packets, pays };
    let gauge =
        Gauge { name: "packets", total: packets, unit: "left", position: packets, page: "packets/new-year" };
    let stage = Stage::open(&options.stage, server, crowd, gauge)?;
    let mut client = stage.server.connect()?;
    let open_guest = |guest| words(&["ACCOUNT.OPEN", &name(guest), ASSET]);
    apply_all(&mut client, &(0..users).map(open_guest).collect::<Vec<_>>())?;
    apply(&mut client, &["ACCOUNT.OPEN", POT, ASSET])?;
    let (sum, count) = (total.to_string(), packets.to_string());
    apply(&mut client, &["ACCOUNT.CREDIT", POT, &sum])?;
    let method = method(options.method).word();
    let create = ["PACKET.CREATE", CAMPAIGN, ASSET, "PLAN", &sum, &count, method, "ID", "create/new-year"];
    let created = apply(&mut client, &create)?;
    let commitment = created.get(2).and_then(text).unwrap_or_default();
    let (users, packets, sum) = (grouped(users), grouped(packets), cents(total));
    stage
        .progress
        .say("campaign", &format!("{packets} packets of {sum} in all, cut by {method}, for {users} guests"));
    stage.progress.say("committed to", &commitment);
    Ok((stage, commitment))
}

/// Closes the campaign, which reveals its seed, and queries every balance.
fn shown(client: &mut Client, commitment: String, guests: u64) -> Result<Shown, DemoError> {
    let closed = apply(client, &["PACKET.CLOSE", CAMPAIGN, "ID", "close/new-year"])?;
    let figures: Vec<u64> = closed.iter().filter_map(integer).map(i64::unsigned_abs).collect();
    let (&[claimed, left_count, left_amount], Some(seed)) =
        (figures.as_slice(), closed.last().and_then(text))
    else {
        return Err(DemoError::failed(format!("PACKET.CLOSE was answered {closed:?}")));
    };
    let get = |guest| vec!["ACCOUNT.GET".to_owned(), name(guest)];
    let accounts = apply_all(client, &(0..guests).map(get).collect::<Vec<_>>())?;
    let balance = |account: &Vec<Value>| {
        let balance = named(account, "balance").and_then(integer)?.unsigned_abs();
        Some((named(account, "account").and_then(text)?, balance)).filter(|_| balance > 0)
    };
    let balances = accounts.iter().filter_map(balance).collect();
    let pot = figure(client, &["ACCOUNT.GET", POT], "balance")?.unsigned_abs();
    Ok(Shown { commitment, claimed, left_count, left_amount, seed, pot, balances })
}

/// Tampers with the evidence, never with the verdict.
fn falsify(plant: PacketPlant, log: &mut Log, record: &mut Record<Guests>, shown: &mut Shown) {
    match plant {
        PacketPlant::LostClaim => {
            let ask = Ask::new("claim/lost".to_owned(), Wish::Claim { guest: 0 });
            record.known.insert(ask.id.clone(), Known::acknowledged(ask, invented(&[1, 1])));
        }
        PacketPlant::SecondPacket => {
            let mut claims = log.named_mut("packets.claimed");
            if let (Some(first), Some(second)) = (claims.next(), claims.next()) {
                second.set("user", Value::BulkString(first.text("user").into_bytes()));
            }
        }
        PacketPlant::SwappedSeed => {
            // As if the host had searched for a more convenient seed.
            shown.seed = "5eed".repeat(16);
            let seed = Value::BulkString(shown.seed.clone().into_bytes());
            log.named_mut("packets.closed").for_each(|closed| closed.set("seed", seed.clone()));
        }
        PacketPlant::DoublePayment => log.plant_copy("account.transferred", |_| {}),
        // The bank's evidence is falsified where it is read.
        PacketPlant::AlteredStatement => {}
    }
}

/// The number of rows of the histogram.
const ROWS: u64 = 10;

/// The width of its longest bar.
const BAR: u64 = 40;

/// A histogram of the amounts.
fn pictures(stage: &Stage<Guests>, ledger: &Ledger) -> Vec<String> {
    let amounts: Vec<u64> = ledger.claims.iter().map(|claim| claim.amount).collect();
    let least = amounts.iter().copied().min().unwrap_or(0);
    let most = amounts.iter().copied().max().unwrap_or(0);
    let step = (most - least + 1).div_ceil(ROWS).max(1);
    let count = |row: u64| amounts.iter().filter(|amount| (**amount - least) / step == row).count() as u64;
    let counts: Vec<u64> = (0..(most - least) / step + 1).map(count).collect();
    let top = counts.iter().copied().max().unwrap_or(0);
    let mut lines = vec!["packets by what was in them".to_owned()];
    lines.extend((0..).zip(&counts).map(|(row, count)| {
        let from = least + row * step;
        let to = (from + step - 1).min(most);
        format!("{:>8} – {:>8} ┤{} {count}", cents(from), cents(to), chart::bar(*count, top, BAR))
    }));
    lines.push(String::new());
    let best = ledger.claims.iter().max_by_key(|claim| claim.amount);
    lines.extend(best.map(|best| {
        let Claim { user, packet, amount } = best;
        format!("the luckiest is {user}, with packet {packet} of {}", cents(*amount))
    }));
    let before = ledger.claims_before_kill as u64;
    let after = amounts.len() as u64 - before;
    let (before, after, mark) = (grouped(before), grouped(after), stage.crash_mark());
    lines.push(format!("{before} packets ✖ {mark} ✔ {after} packets"));
    lines.push(stage.pulse());
    lines.push(format!("refused: {}", stage.record().refusals_text()));
    lines
}
