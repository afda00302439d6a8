//! How fast claimed packets are settled, and reported by webhooks: prints, for each database, how many
//! packets per second are written down from the log, how many are credited in an embedded engine, and how
//! many are sent to a receiver in this process that accepts everything.
//!
//! `cargo run --release -p scarce-delivery --example delivery_rate -- [sqlite|postgres|mariadb|URL …]` with
//! `SCARCE_PACKETS` for how many packets, `SCARCE_USERS` for how many accounts they go to.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response};
use hyper_util::rt::TokioIo;
use scarce_delivery::{Counts, Delivery, DeliveryError, DeliveryOptions, SettlementOptions, Workers};
use scarce_engine::consumers::ConsumerName;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{self as embedded, EmbeddedSettings, SilentPort};
use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use scarce_outflow::{Outflow, Plan, Start, run};
use scarce_sim::conformance::request;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

/// How many packets a campaign has: the most that one is created with at once.
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

/// Claims all packets, those of each campaign by different users.
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

/// The stage that rows must have reached.
#[derive(Clone, Copy)]
enum Stage {
    WrittenDown,
    Done,
}

/// Waits until this many rows have reached a stage.
async fn wait_for<F>(counts: &impl Fn() -> F, wanted: u64, stage: Stage) -> Result<(), Box<dyn Error>>
where
    F: Future<Output = Result<Counts, DeliveryError>>,
{
    loop {
        let counts = counts().await?;
        let reached = match stage {
            Stage::WrittenDown => counts.pending + counts.done,
            Stage::Done => counts.done,
        };
        if counts.dead > 0 {
            return Err("there are dead letters".into());
        }
        if reached >= wanted {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Answers every request with 204, on a free port; returns the address.
async fn receive() -> Result<String, Box<dyn Error>> {
    async fn answer(request: HttpRequest<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
        // An unreadable request was broken off by the client, which sends it again.
        let _ = request.into_body().collect().await;
        let mut response = Response::new(Empty::new());
        *response.status_mut() = hyper::StatusCode::NO_CONTENT;
        Ok(response)
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer));
            tokio::spawn(connection);
        }
    });
    Ok(format!("http://{address}/"))
}

fn plan(name: &str) -> Result<Plan, Box<dyn Error>> {
    Ok(Plan {
        name: ConsumerName::parse(name)?,
        holder: "rate".to_owned(),
        start: Start::Beginning,
        batch_bytes_max: 256 << 10,
    })
}

#[allow(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(packets: u64, begun: Instant) -> f64 {
    packets as f64 / begun.elapsed().as_secs_f64()
}

/// How many per second are written down, and done.
async fn pace<F>(
    packets: u64,
    counts: impl Fn() -> F,
    write_down: impl FnOnce() -> Outflow,
    work: impl FnOnce() -> Workers,
) -> Result<[f64; 2], Box<dyn Error>>
where
    F: Future<Output = Result<Counts, DeliveryError>>,
{
    let begun = Instant::now();
    let flow = write_down();
    wait_for(&counts, packets, Stage::WrittenDown).await?;
    let written_down = rate(packets, begun);
    let begun = Instant::now();
    let workers = work();
    wait_for(&counts, packets, Stage::Done).await?;
    let done = rate(packets, begun);
    workers.stop().await;
    flow.stop().await;
    Ok([written_down, done])
}

async fn measure(url: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let packets = number("SCARCE_PACKETS", 100_000);
    let users = number("SCARCE_USERS", 20_000);
    let folder = tempfile::tempdir()?;
    let settings = EmbeddedSettings { partitions: PARTITIONS, ..EmbeddedSettings::default() };
    let recovered = embedded::open(folder.path(), &settings, &mut |_| {})?;
    let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default())))?;
    let engine: Arc<dyn Engine> = engine;
    let delivery = Delivery::open(url, engine.deployment_id(), DeliveryOptions::default()).await?;
    delivery.add_endpoint(&receive().await?, &["packets.claimed"], None).await?;
    claim_all(&*engine, packets, users)?;
    let (runtime, settlement, webhooks) = (Handle::current(), plan("settlement")?, plan("webhooks")?);
    let [written_down, settled] = pace(
        packets,
        || delivery.settlement_counts(),
        || run(&runtime, engine.clone(), &settlement, |partition| delivery.settlement_consumer(partition)),
        || delivery.run_settlement(&runtime, engine.clone(), SettlementOptions::default()),
    )
    .await?;
    println!(
        "{name}: {packets} packets to {users} accounts: written down {written_down:.0}/s, settled {settled:.0}/s"
    );
    let [written_down, sent] = pace(
        packets,
        || delivery.delivery_counts(),
        || run(&runtime, engine.clone(), &webhooks, |partition| delivery.webhooks_consumer(partition)),
        || delivery.run_webhooks(&runtime, engine.clone()),
    )
    .await?;
    println!("{name}: {packets} webhooks: written down {written_down:.0}/s, sent {sent:.0}/s");
    running.shut_down()?;
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
