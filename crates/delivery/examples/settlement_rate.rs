//! How fast claimed packets are settled: prints, for each database, how many packets per second are written down from
//! the log, and how many are credited in an embedded engine.
//!
//! `cargo run --release -p scarce-delivery --example settlement_rate -- [sqlite|postgres|mariadb|URL …]` with
//! `SCARCE_PACKETS` for how many packets, `SCARCE_USERS` for how many accounts they go to.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_delivery::{Delivery, Options, SettlementOptions};
use scarce_engine::consumers::ConsumerName;
use scarce_engine::embedded::{self, SilentPort};
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Request};
use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use scarce_outflow::{Plan, Start, run};
use scarce_sim::conformance::request;
use tokio::runtime::Handle;

/// How many packets a campaign has: as many as one is created with at once.
const CAMPAIGN_PACKETS: u64 = 20_000;

/// How many claims are sent at a time.
const CLAIMS_AT_ONCE: usize = 1_000;

/// How many partitions the engine has.
const PARTITIONS: u32 = 4;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn send(engine: &dyn Engine, lines: &[String]) -> Result<(), Box<dyn Error>> {
    let mut requests = Vec::new();
    let mut partition = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let made = request::single(&words, engine.secret()).map_err(|invalid| invalid.to_string())?;
        if let request::Request::Write(envelope) = made {
            partition =
                partition_of(envelope.commands(), engine.partitions()).map_err(|its| its.to_string())?;
            requests.push(Request::Write(envelope));
        }
    }
    for answer in engine.call(partition, requests) {
        let outcome = answer?.outcome;
        if !outcome.is_applied() {
            return Err(format!("{}: {outcome}", lines[0]).into());
        }
    }
    Ok(())
}

/// Has all packets claimed, each campaign's by different users.
fn claim_all(engine: &dyn Engine, packets: u64, users: u64) -> Result<(), Box<dyn Error>> {
    for campaign in 0..packets.div_ceil(CAMPAIGN_PACKETS) {
        let count = CAMPAIGN_PACKETS.min(packets - campaign * CAMPAIGN_PACKETS);
        send(engine, &[format!("PACKET.CREATE c{campaign} EUR PLAN {} {count} DOUBLE_MEAN", count * 100)])?;
        let claims: Vec<String> = (0..count)
            .map(|claim| {
                format!("PACKET.CLAIM c{campaign} u{}", (campaign * CAMPAIGN_PACKETS + claim) % users)
            })
            .collect();
        for claims in claims.chunks(CLAIMS_AT_ONCE) {
            send(engine, claims)?;
        }
    }
    Ok(())
}

/// Waits until so many packets are written down, or settled.
async fn wait_for(delivery: &Delivery, packets: u64, settled: bool) -> Result<(), Box<dyn Error>> {
    loop {
        let counts = delivery.settlement_counts().await?;
        let reached = if settled { counts.done } else { counts.pending + counts.done };
        if counts.dead > 0 {
            return Err("there are dead letters".into());
        }
        if reached >= packets {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn measure(url: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let packets = number("SCARCE_PACKETS", 100_000);
    let users = number("SCARCE_USERS", 20_000);
    let folder = tempfile::tempdir()?;
    let settings = embedded::Settings { partitions: PARTITIONS, ..embedded::Settings::default() };
    let recovered = embedded::open(folder.path(), &settings, &mut |_| {})?;
    let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default())))?;
    let engine: Arc<dyn Engine> = engine;
    claim_all(&*engine, packets, users)?;
    let delivery = Delivery::open(url, engine.deployment_id(), Options::default()).await?;
    let plan = Plan {
        name: ConsumerName::parse("settlement")?,
        holder: "rate".to_owned(),
        start: Start::Beginning,
        batch_bytes_max: 256 << 10,
    };
    let begun = Instant::now();
    let flow =
        run(&Handle::current(), engine.clone(), &plan, |partition| delivery.settlement_consumer(partition));
    wait_for(&delivery, packets, false).await?;
    let written = begun.elapsed();
    flow.stop().await;
    let begun = Instant::now();
    let workers = delivery.run_settlement(&Handle::current(), engine.clone(), SettlementOptions::default());
    wait_for(&delivery, packets, true).await?;
    let settled = begun.elapsed();
    workers.stop().await;
    running.shut_down()?;
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = |time: Duration| packets as f64 / time.as_secs_f64();
    println!(
        "{name}: {packets} packets to {users} accounts: written down {:.0}/s, settled {:.0}/s",
        rate(written),
        rate(settled)
    );
    Ok(())
}

async fn measure_named(name: &str) -> Result<(), Box<dyn Error>> {
    match name {
        "sqlite" => {
            let folder = tempfile::tempdir()?;
            measure(&format!("sqlite://{}", folder.path().join("delivery.db").display()), name).await
        }
        "postgres" => {
            let server = Postgres::start(&PostgresOptions::new())?;
            measure(&server.create_database("rate")?, name).await
        }
        "mariadb" => {
            let server = MariaDb::start(&MariaDbOptions::new())?;
            measure(&server.create_database("rate")?, name).await
        }
        url => measure(url, "the database").await,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ["sqlite", "postgres", "mariadb"].map(str::to_owned).to_vec();
    }
    names.iter().try_for_each(|name| runtime.block_on(measure_named(name)))
}
