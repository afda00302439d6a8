//! `scarce consumers rebase`: sets a consumer that holds events of another history onto the log that is there.

use std::io::Write;

use clap::Args;
use scarce_client::{Client, Extent, Info, Reply};
use scarce_core::event::Position;
use scarce_delivery::{Delivery, DeliveryOptions, Rebased, Route, SettlementState};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_server::pipeline::SQL;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::held::{self, Divergence, Store};
use super::{COLUMNS, ask};
use crate::args::Target;
use crate::call::json as answer_json;
use crate::config::{load, sql_url};
use crate::files::print_rows;
use crate::setting_flags::SqlFlags;
use crate::{Ended, Exit, Failed};

/// How much earlier than the last confirmation a credit may have been lost, by the clocks of two machines.
const CLOCKS_MARGIN_MS: u64 = 60_000;

/// `scarce consumers rebase`.
#[derive(Debug, Args)]
pub struct Rebase {
    #[command(flatten)]
    /// The database of the projection and of deliveries.
    pub database: SqlFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// The consumer's name, as the list shows it.
    pub name: String,
    /// Do it. Without this, what the consumer holds of the other history is only listed.
    #[arg(long)]
    pub yes: bool,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Rebase) -> Ended {
    let name = options.name.as_str();
    let diverged = divergences(&ask(&options.target, &["CONSUMER", "LIST"])?, name);
    if diverged.is_empty() {
        let text = format!(
            "the consumer '{name}' holds nothing of another history; 'scarce consumers list' names all consumers"
        );
        return Err(Failed::text(Exit::Failed, text));
    }
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let runtime = Runtime::new()?;
    let store = runtime.block_on(open(options, &server))?;
    let rows = runtime.block_on(held::rows(&store, name, &diverged))?;
    print_rows(&rows, &held::COLUMNS, options.json)?;
    if !options.yes {
        return Err(Failed::text(Exit::Usage, advice(&store, name)));
    }
    if let Store::Projection(projection) = &store {
        check_rebuild(&mut client, &server, projection, &diverged, &runtime)?;
    }
    if let (Store::Delivery(delivery), "settlement") = (&store, name) {
        let lost = lost_settlements(&mut client, delivery, &diverged, &runtime)?;
        let removed = runtime.block_on(delivery.forget_settlements(&lost))?;
        writeln!(std::io::stderr(), "{removed} settlements removed whose claims and credits are both lost")?;
    }
    let done = runtime.block_on(rebase_store(&store, name, &diverged))?;
    if done != Rebased::default() {
        let Rebased { removed, dead, reopened } = done;
        let text =
            format!("{removed} rows removed, {dead} made dead letters, {reopened} settled again by their id");
        writeln!(std::io::stderr(), "{text}")?;
    }
    ask(&options.target, &["CONSUMER", "REBASE", name])?;
    for its in &diverged {
        let Divergence { partition, confirmed, held, .. } = its;
        writeln!(std::io::stderr(), "partition {partition}: left {held}, goes on behind {confirmed}")?;
    }
    Ok(Exit::Done)
}

fn divergences(answer: &redis::Value, name: &str) -> Vec<Divergence> {
    let place = |name: &str| COLUMNS.iter().position(|its| *its == name).unwrap_or_default();
    let read = |row: &Value| {
        let number = |name| row.get(place(name))?.as_u64();
        let (epoch, sequence) = row.get(place("diverged"))?.as_str()?.split_once('.')?;
        Some(Divergence {
            partition: u32::try_from(number("partition")?).ok()?,
            confirmed: Position { epoch: number("epoch")?, sequence: number("sequence")? },
            confirmed_at_ms: number("confirmed_at_ms")?,
            held: Position { epoch: epoch.parse().ok()?, sequence: sequence.parse().ok()? },
        })
    };
    let answer = answer_json(answer);
    let rows = answer.as_array().into_iter().flatten();
    rows.filter(|row| row.get(0).and_then(Value::as_str) == Some(name)).filter_map(read).collect()
}

async fn open(options: &Rebase, server: &Info) -> Result<Store, Failed> {
    let url = || sql_url(&load(&options.database.0)?.settings);
    let id = &server.deployment_id;
    Ok(match options.name.as_str() {
        SQL => Store::Projection(Projection::open(&url()?, id, ProjectionOptions::default()).await?),
        "webhooks" | "settlement" => {
            Store::Delivery(Delivery::open(&url()?, id, DeliveryOptions::default()).await?)
        }
        _ => Store::Elsewhere,
    })
}

/// What `--yes` will do.
fn advice(store: &Store, name: &str) -> String {
    let what = match (store, name) {
        (Store::Projection(_), _) => {
            "the tables are emptied, and the server writes its whole log into them again"
        }
        (Store::Delivery(_), "webhooks") => {
            "what was not sent of these is not sent any more, and deliveries go on with the log that is there"
        }
        (Store::Delivery(_), _) => {
            "claims that were never tried are dropped, those that may have been paid become dead letters, and credits \
             that the engine may have lost are settled again under their operation ids"
        }
        (Store::Elsewhere, _) => {
            "the consumer goes on behind the last position that the engine knows as confirmed; what it has sent stays \
             where it is, in an epoch that the log does not have"
        }
    };
    format!("nothing was changed. With --yes, {what}")
}

/// Checks that tables which hold another history can be written anew.
fn check_rebuild(
    client: &mut Client,
    server: &Info,
    projection: &Projection,
    diverged: &[Divergence],
    runtime: &Runtime,
) -> Result<(), Failed> {
    if !needs_rebuild(client, projection, diverged, runtime)? {
        return Ok(());
    }
    let Some((partition, Extent { first, .. })) = server.partitions.iter().find(|(_, its)| its.first > 1)
    else {
        return Ok(runtime.block_on(projection.rebuild())?);
    };
    let text = format!(
        "the log of partition {partition} begins at sequence {first}, so the tables cannot be written anew from it. \
         Restore a backup of the database from before the histories parted, and say this again: its events are then \
         those of the log"
    );
    Err(Failed::text(Exit::Refused, text))
}

/// Whether the tables hold events that the log does not have. A restored backup may hold none.
fn needs_rebuild(
    client: &mut Client,
    projection: &Projection,
    diverged: &[Divergence],
    runtime: &Runtime,
) -> Result<bool, Failed> {
    let positions = runtime.block_on(projection.positions())?;
    for its in &positions {
        if diverged.iter().all(|diverged| diverged.partition != its.partition) {
            continue;
        }
        let words =
            [u64::from(its.partition), its.position.epoch, its.position.sequence].map(|it| it.to_string());
        let answer = client.call(&["EVENTS", &words[0], &words[1], &words[2], "COUNT", "1"])?;
        if matches!(Reply::of(answer), Reply::Error(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The settlements of lost claims whose credits are lost for certain: their accounts do not exist in this log.
fn lost_settlements(
    client: &mut Client,
    delivery: &Delivery,
    diverged: &[Divergence],
    runtime: &Runtime,
) -> Result<Vec<i64>, Failed> {
    let mut lost = Vec::new();
    for its in diverged {
        let all = runtime.block_on(delivery.settlements_after(its.partition, its.confirmed.sequence))?;
        for settlement in all.iter().filter(|its| its.state == SettlementState::Settled) {
            let (Some(Route::Engine), Some(account)) = (settlement.route, &settlement.account) else {
                continue;
            };
            let reply = Reply::of(client.call(&["ACCOUNT.GET", account])?);
            if matches!(reply, Reply::Refused(code, _) if code == "ACCOUNT_NOT_FOUND") {
                lost.push(settlement.id);
            }
        }
    }
    Ok(lost)
}

/// Sets the consumer's own store onto the log.
async fn rebase_store(store: &Store, name: &str, diverged: &[Divergence]) -> Result<Rebased, Failed> {
    let Store::Delivery(delivery) = store else { return Ok(Rebased::default()) };
    let places: Vec<(u32, Position)> = diverged.iter().map(|its| (its.partition, its.confirmed)).collect();
    if name == "settlement" {
        let since = diverged.iter().map(|its| its.confirmed_at_ms).min().unwrap_or(0);
        return Ok(delivery.rebase_settlement(&places, since.saturating_sub(CLOCKS_MARGIN_MS)).await?);
    }
    let mut done = Rebased::default();
    for (partition, to) in places {
        done.removed += delivery.rebase_webhooks(partition, to).await?.removed;
    }
    Ok(done)
}
