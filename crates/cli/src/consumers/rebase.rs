//! `scarce consumers rebase`: sets a consumer that holds events of another history, or misses events that the log no
//! longer has, onto the log that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use clap::Args;
use scarce_client::{Client, Info, Reply};
use scarce_core::event::Position;
use scarce_delivery::Rebased;
use scarce_projection::Projection;
use scarce_server::pipeline::{MIRROR, SQL};
use serde_json::Value;
use tokio::runtime::Runtime;
#[cfg(feature = "kafka")]
use {
    crate::config::load,
    scarce_client::Extent,
    scarce_delivery::Stretch,
    scarce_kafka::KafkaSettings,
    scarce_kafka::events::{HeldStretch, held_after},
    scarce_server::pipeline::KAFKA,
    scarce_server::pipeline::kafka::settings_of_clients,
};

use super::held::{self, Divergence, Gap, Store};
use super::{COLUMNS, ask, gaps, shared};
use crate::args::Target;
use crate::call::json as answer_json;
use crate::files::print_rows;
use crate::setting_flags::StoreFlags;
use crate::{Ended, Exit, Failed, sinks};

/// How much earlier than the last confirmation a credit may have been lost, by the clocks of two machines.
const CLOCKS_MARGIN_MS: u64 = 600_000;

/// `scarce consumers rebase`.
#[derive(Debug, Args)]
pub struct Rebase {
    #[command(flatten)]
    /// The database of the projection and of deliveries, and where Kafka and the mirror are.
    pub stores: StoreFlags,
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
    let listed = ask(&options.target, &["CONSUMER", "LIST"])?;
    let mut diverged = divergences(&listed, name);
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let runtime = Runtime::new()?;
    if diverged.is_empty() && !KEEP_THEIR_PLACE.contains(&name) {
        return Err(nothing_to_do(name));
    }
    let store = runtime.block_on(open(options, &server))?;
    for its in &mut diverged {
        share(&mut client, &server, &store, its, (name, &runtime))?;
    }
    let gaps = runtime.block_on(gaps::find(&store, name, &server, &diverged))?;
    let confirmed = confirmed_positions(&listed, name);
    let lost = runtime.block_on(gaps::lost(&store, name, &confirmed, &diverged))?;
    if diverged.is_empty() && gaps.is_empty() && lost.is_empty() {
        return Err(nothing_to_do(name));
    }
    let mut rows = runtime.block_on(held::rows(&store, name, &diverged))?;
    rows.extend(held::gap_rows(&gaps));
    rows.extend(held::gap_rows(&lost));
    let (unclear, gaps) = if name == "settlement" {
        without_history(&mut client, &confirmed, gaps)?
    } else {
        (Vec::new(), gaps)
    };
    print_rows(&rows, &held::COLUMNS, options.json)?;
    if !options.yes {
        let mut advice = advice(&store, name, !gaps.is_empty() || !lost.is_empty());
        let is_unknown = diverged.iter().any(|its| its.confirmed == Position::default())
            || !unclear.is_empty()
            || !lost.is_empty();
        if name == "settlement" && is_unknown {
            advice += BEGINS_ANYWHERE;
        }
        return Err(Failed::text(Exit::Usage, advice));
    }
    leave(&store, (&mut client, &server), (&diverged, &gaps), &runtime)?;
    let done = runtime.block_on(rebase_store(&store, name, &diverged, &unclear))?;
    tell(&done)?;
    runtime.block_on(gaps::close(&store, name, &gaps))?;
    runtime.block_on(gaps::begin_anew(&store, &lost))?;
    // Also where only the consumer's own store was behind: the server tries again at once.
    ask(&options.target, &["CONSUMER", "REBASE", name])?;
    for its in &diverged {
        let Divergence { partition, confirmed, held, .. } = its;
        writeln!(std::io::stderr(), "partition {partition}: left {held}, goes on behind {confirmed}")?;
    }
    for Gap { partition, held, .. } in &unclear {
        let text = format!("partition {partition}: left {held}, goes on with the claims that the engine has");
        writeln!(std::io::stderr(), "{text}")?;
    }
    if name == "settlement" && !(unclear.is_empty() && gaps.is_empty() && lost.is_empty()) {
        writeln!(std::io::stderr(), "{LEFT_MEMORY}")?;
    }
    Ok(Exit::Done)
}

/// Makes tables and mirrors begin anew where they cannot go on with what they have.
fn leave(
    store: &Store,
    (client, server): (&mut Client, &Info),
    (diverged, gaps): (&[Divergence], &[Gap]),
    runtime: &Runtime,
) -> Result<(), Failed> {
    match store {
        Store::Projection(projection) => {
            let lost = without_log(client, projection, diverged, runtime)?;
            let behind = gaps.iter().map(|gap| gap.partition);
            start_over(projection, server, lost.into_iter().chain(behind), runtime)
        }
        Store::Mirror(mirror) => {
            diverged.iter().try_for_each(|its| Ok(runtime.block_on(mirror.begin_anew(its.partition))?))
        }
        _ => Ok(()),
    }
}

/// What settlement cannot take from the engine.
const LEFT_MEMORY: &str = "claims that have left the engine's memory are not among these; 'scarce reconcile' names the campaigns of \
                           those that are not settled";

/// What to know where the log that is there never knew the consumer.
const BEGINS_ANYWHERE: &str = ". What the tables share with the log is not known, so all claims that the engine has are \
                               settled: if you paid some of them in another way before settlement was enabled, forget the \
                               consumer instead, and it begins with claims from then on";

/// Consumers that keep their position with what they made of the log, in a database.
const KEEP_THEIR_PLACE: [&str; 3] = [SQL, "webhooks", "settlement"];

/// Says what became of rows.
fn tell(done: &Rebased) -> Result<(), Failed> {
    if *done == Rebased::default() {
        return Ok(());
    }
    let Rebased { removed, awaited, dead, reopened } = done;
    let mut text = format!("{removed} rows removed, {reopened} settled again under their ids");
    if *awaited > 0 {
        text += &format!(
            ", {awaited} wait until the log has their claim ('scarce settlements list --lost' lists those of which it has none)"
        );
    }
    if *dead > 0 {
        text += &format!(
            ", {dead} made dead letters ('scarce settlements list --state dead' says what to decide)"
        );
    }
    writeln!(std::io::stderr(), "{text}")?;
    Ok(())
}

fn nothing_to_do(name: &str) -> Failed {
    let text = format!(
        "the consumer '{name}' holds nothing of another history, and misses nothing; 'scarce consumers list' names \
         all consumers"
    );
    Failed::text(Exit::Failed, text)
}

/// Tells the gaps of which it is not certain that the rows before them are of this log from the others.
fn without_history(
    client: &mut Client,
    confirmed: &BTreeMap<u32, Position>,
    gaps: Vec<Gap>,
) -> Result<(Vec<Gap>, Vec<Gap>), Failed> {
    let (mut unclear, mut mere) = (Vec::new(), Vec::new());
    for gap in gaps {
        let is_ours = shared::is_ours(client, confirmed.get(&gap.partition).copied(), &gap)?;
        if is_ours { mere.push(gap) } else { unclear.push(gap) }
    }
    Ok((unclear, mere))
}

fn divergences(answer: &redis::Value, name: &str) -> Vec<Divergence> {
    let read = |row: &Value| {
        let (epoch, sequence) = row.get(column("diverged"))?.as_str()?.split_once('.')?;
        let (partition, confirmed) = confirmed_position(row)?;
        Some(Divergence {
            partition,
            confirmed,
            confirmed_at_ms: row.get(column("confirmed_at_ms"))?.as_u64()?,
            held: Position { epoch: epoch.parse().ok()?, sequence: sequence.parse().ok()? },
        })
    };
    rows_of(answer, name).iter().filter_map(read).collect()
}

/// What the engine knows of a consumer as confirmed, by partition.
fn confirmed_positions(answer: &redis::Value, name: &str) -> BTreeMap<u32, Position> {
    rows_of(answer, name).iter().filter_map(confirmed_position).collect()
}

fn confirmed_position(row: &Value) -> Option<(u32, Position)> {
    let number = |name| row.get(column(name))?.as_u64();
    let confirmed = Position { epoch: number("epoch")?, sequence: number("sequence")? };
    Some((u32::try_from(number("partition")?).ok()?, confirmed))
}

/// The rows of a consumer in the answer to `CONSUMER LIST`.
fn rows_of(answer: &redis::Value, name: &str) -> Vec<Value> {
    let Value::Array(mut rows) = answer_json(answer) else { return Vec::new() };
    rows.retain(|row| row.get(0).and_then(Value::as_str) == Some(name));
    rows
}

fn column(name: &str) -> usize {
    COLUMNS.iter().position(|its| *its == name).unwrap_or_default()
}

async fn open(options: &Rebase, server: &Info) -> Result<Store, Failed> {
    let flags = &options.stores.0;
    Ok(match options.name.as_str() {
        SQL => Store::Projection(sinks::projection(flags, server).await?),
        MIRROR => Store::Mirror(crate::mirror::open(flags, server)?),
        "webhooks" | "settlement" => Store::Delivery(sinks::delivery(flags, server).await?),
        #[cfg(feature = "kafka")]
        KAFKA => match settings_of_clients(&load(flags)?.settings) {
            Some(mut settings) => {
                settings.source = format!("/scarce/{}", server.deployment_id);
                Store::Kafka(Box::new(settings))
            }
            None => Store::Elsewhere,
        },
        _ => Store::Elsewhere,
    })
}

/// What `--yes` will do.
fn advice(store: &Store, name: &str, misses: bool) -> String {
    let what = match (store, name) {
        (Store::Projection(_), _) => {
            "the tables of these partitions are emptied, and the server writes its log into them again. Where the log \
             no longer has its beginning, they begin with opening balances, and older history is lost; to keep it, \
             restore a newer backup of the database instead, or one from before the histories parted"
        }
        (Store::Delivery(_), "webhooks") if misses => {
            "deliveries go on with the oldest event that the log has; those between are not sent"
        }
        (Store::Delivery(_), "webhooks") => {
            "what was not sent of these is not sent any more, and deliveries go on with the log that is there"
        }
        (Store::Delivery(_), _) if misses => {
            "the claims of all packets that the engine has are compared with the settlements, and missing ones are \
             added: one that may have been paid before is looked up first, or becomes a dead letter"
        }
        (Store::Delivery(_), _) => {
            "claims that were never tried are dropped, and credits that the engine may have lost are settled again under \
             their operation ids, which pays only what is missing. Those of claims that the log does not have wait for \
             these; what the engine cannot tell becomes a dead letter"
        }
        #[cfg(feature = "kafka")]
        (Store::Kafka(_), _) => {
            "the consumer goes on behind the last event that topic and log both have, and readers of the topic are told that \
             the events listed here are no longer true"
        }
        (Store::Mirror(_), _) => {
            "the server compares every row of these partitions with its state, and writes what differs into the mirror"
        }
        (Store::Elsewhere, _) => {
            "the consumer goes on behind the last position that the engine knows as confirmed, or behind a later one that \
             both have, if it is a topic of Kafka (--kafka lists its events); what it has sent stays where it is, in an epoch \
             that the log does not have"
        }
    };
    format!("nothing was changed. With --yes, {what}")
}

/// Empties the tables of partitions, so that the server writes them anew.
fn start_over(
    projection: &Projection,
    server: &Info,
    partitions: impl Iterator<Item = u32>,
    runtime: &Runtime,
) -> Result<(), Failed> {
    let partitions: BTreeSet<u32> = partitions.collect();
    if partitions.is_empty() {
        return Ok(());
    }
    for partition in &partitions {
        let first = server.partitions.get(partition).map_or(1, |its| its.first);
        if first > 1 {
            let text = format!(
                "partition {partition}: the log begins at sequence {first}, so the tables begin with opening balances"
            );
            writeln!(std::io::stderr(), "{text}")?;
        }
    }
    let partitions: Vec<u32> = partitions.into_iter().collect();
    Ok(runtime.block_on(projection.empty(&partitions))?)
}

/// The diverged partitions of which the tables hold events that the log does not have. A restored backup may hold none.
fn without_log(
    client: &mut Client,
    projection: &Projection,
    diverged: &[Divergence],
    runtime: &Runtime,
) -> Result<Vec<u32>, Failed> {
    let mut partitions = Vec::new();
    for its in &runtime.block_on(projection.positions())? {
        if diverged.iter().all(|diverged| diverged.partition != its.partition) {
            continue;
        }
        let words =
            [u64::from(its.partition), its.position.epoch, its.position.sequence].map(|it| it.to_string());
        let answer = client.call(&["EVENTS", &words[0], &words[1], &words[2], "COUNT", "1"])?;
        if matches!(Reply::of(answer), Reply::Error(_)) {
            partitions.push(its.partition);
        }
    }
    Ok(partitions)
}

/// Finds what a consumer of deliveries shares with the log, by the epochs that its rows are of. Where that is not known, the
/// oldest event of the log may be of the time after the histories parted, so settlement begins with the state, which has
/// all claims.
fn share(
    client: &mut Client,
    server: &Info,
    store: &Store,
    its: &mut Divergence,
    (name, runtime): (&str, &Runtime),
) -> Result<(), Failed> {
    let Some(extent) = server.partitions.get(&its.partition) else { return Ok(()) };
    #[cfg(feature = "kafka")]
    if let Store::Kafka(settings) = store {
        return share_topic(client, extent, settings, its);
    }
    let Store::Delivery(delivery) = store else { return Ok(()) };
    let stretches = runtime.block_on(delivery.stretches(name, its.partition))?;
    let shared = shared::find(client, extent, its, &stretches)?;
    if name == "settlement" || shared != Position::default() {
        its.confirmed = shared;
    }
    // A server with another database may have confirmed something since.
    if let Some(at_ms) = shared::time_of(client, its.partition, its.confirmed)? {
        its.confirmed_at_ms = its.confirmed_at_ms.min(at_ms);
    }
    Ok(())
}

/// Finds what a partition of the topic shares with the log, as the server does when it goes on.
#[cfg(feature = "kafka")]
fn share_topic(
    client: &mut Client,
    extent: &Extent,
    settings: &KafkaSettings,
    its: &mut Divergence,
) -> Result<(), Failed> {
    let held = held_after(settings, its.partition, its.confirmed.sequence).map_err(held::no_topic)?;
    let stretch = |HeldStretch { epoch, first, last }| Stretch { epoch, first, last };
    let stretches: Vec<Stretch> = held.into_iter().map(stretch).collect();
    let shared = shared::find(client, extent, its, &stretches)?;
    if shared.sequence > its.confirmed.sequence {
        its.confirmed = shared;
    }
    Ok(())
}

/// Sets the consumer's own store onto the log.
async fn rebase_store(
    store: &Store,
    name: &str,
    diverged: &[Divergence],
    unclear: &[Gap],
) -> Result<Rebased, Failed> {
    let Store::Delivery(delivery) = store else { return Ok(Rebased::default()) };
    // Where the log only has a gap, no history was lost, and nothing that was paid is in doubt.
    if diverged.is_empty() && unclear.is_empty() {
        return Ok(Rebased::default());
    }
    let mut places: Vec<(u32, Position)> =
        diverged.iter().map(|its| (its.partition, its.confirmed)).collect();
    places.extend(unclear.iter().map(|gap| (gap.partition, Position::default())));
    if name == "settlement" {
        let known =
            if unclear.is_empty() { diverged.iter().map(|its| its.confirmed_at_ms).min() } else { None };
        let since = known.unwrap_or(0);
        return Ok(delivery.rebase_settlement(&places, since.saturating_sub(CLOCKS_MARGIN_MS)).await?);
    }
    let mut done = Rebased::default();
    for (partition, to) in places {
        done.removed += delivery.rebase_webhooks(partition, to).await?.removed;
    }
    Ok(done)
}
