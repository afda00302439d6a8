//! An example of a custom consumer: loyalty points for purchases.
//!
//! `cargo run -p scarce-outflow --example loyalty_points`
//!
//! Each sold unit earns its buyer ten points. A partition's points are in a file together with the log
//! position up to which they were counted, so that each sale counts once, whenever a crash happens. At first
//! the folder does not exist, which the consumer reports as trouble; it gets the same batch again until it
//! can store it. Then it is stopped, restarted, and continues where it was.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::event::{Event, Position, StockEvent};
use scarce_engine::consumers::ConsumerName;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{self as embedded, EmbeddedSettings, SilentPort};
use scarce_outflow::{Batch, Consumer, Outflow, Plan, Start, State, Trouble, run};
use scarce_sim::conformance::request;
use tokio::runtime::Handle;

/// The points for one unit.
const POINTS_PER_UNIT: u64 = 10;

/// What is sold; the items are in different partitions.
const ITEMS: [&str; 4] = ["tea", "cup", "pot", "jar"];

/// The timeout of every wait here.
const PATIENCE: Duration = Duration::from_secs(30);

/// The points of one partition's buyers, up to a position in its log.
#[derive(Default)]
struct Points {
    position: Position,
    of_owners: BTreeMap<String, u64>,
}

impl Points {
    /// Reads the file; the default if there is no file yet.
    fn read(path: &Path) -> std::io::Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let unreadable = || std::io::Error::other("it holds no points");
        let number = |text: &str| text.parse::<u64>().map_err(|_| unreadable());
        let mut lines = text.lines().map(|line| line.split_once(' ').ok_or_else(unreadable));
        let (epoch, sequence) = lines.next().ok_or_else(unreadable)??;
        let position = Position { epoch: number(epoch)?, sequence: number(sequence)? };
        let mut points = Self { position, ..Self::default() };
        for line in lines {
            let (owner, its) = line?;
            points.of_owners.insert(owner.to_owned(), number(its)?);
        }
        Ok(points)
    }

    /// Replaces the file atomically, so that points and position always match.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = format!("{} {}\n", self.position.epoch, self.position.sequence);
        for (owner, points) in &self.of_owners {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{owner} {points}");
        }
        let new = path.with_extension("new");
        std::fs::write(&new, text)?;
        std::fs::File::open(&new)?.sync_all()?;
        std::fs::rename(&new, path)
    }

    /// Counts a batch, skipping events that were counted before.
    fn count(&mut self, batch: &Batch) {
        let counted = self.position.sequence;
        for (_, _, event) in batch.events().filter(|(sequence, ..)| *sequence > counted) {
            let (owner, quantity) = match event {
                Event::Stock(StockEvent::StockTaken(sale)) => (&sale.owner, sale.quantity),
                Event::Stock(StockEvent::ReservationConfirmed(sale)) => (&sale.owner, sale.quantity),
                _ => continue,
            };
            *self.of_owners.entry(owner.as_str().to_owned()).or_default() += quantity * POINTS_PER_UNIT;
        }
        self.position = batch.end();
    }
}

/// Counts the points of one partition.
struct LoyaltyPoints {
    path: PathBuf,
}

impl Consumer for LoyaltyPoints {
    /// The file has our position. Without it we would return `None`, and the engine's confirmed position
    /// would count: then some events could come twice.
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        let points = Points::read(&self.path).map_err(|error| self.trouble(&error))?;
        Ok(Some(points.position))
    }

    /// `Ok` means that the batch is stored safely, and that the engine may drop it. After an error the same
    /// events come again, with growing delays.
    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let mut points = Points::read(&self.path).map_err(|error| self.trouble(&error))?;
        points.count(batch);
        points.write(&self.path).map_err(|error| self.trouble(&error))
    }
}

impl LoyaltyPoints {
    fn trouble(&self, error: &std::io::Error) -> Trouble {
        Trouble::new(format!("{}: {error}; make that folder, and let us write there", self.path.display()))
    }
}

fn file(folder: &Path, partition: u32) -> PathBuf {
    folder.join(format!("points-{partition}.txt"))
}

/// Starts one consumer for each partition, under a name that is the same in every process.
fn start(engine: &Arc<dyn Engine>, folder: &Path) -> Result<Outflow, Box<dyn Error>> {
    let plan = Plan {
        name: ConsumerName::parse("loyalty_points")?,
        holder: format!("process-{}", std::process::id()),
        start: Start::Beginning,
        batch_bytes_max: 64 << 10,
    };
    let make = |partition| LoyaltyPoints { path: file(folder, partition) };
    Ok(run(&Handle::current(), engine.clone(), &plan, make))
}

/// Sends a command to its partition, and waits for the answer.
fn send(engine: &dyn Engine, line: &str) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = line.split(' ').collect();
    let made = request::single(&words, engine.secret()).map_err(|invalid| invalid.to_string())?;
    let request::Request::Write(envelope) = made else {
        return Err(format!("{line} changes nothing").into());
    };
    let partition = partition_of(envelope.commands(), engine.partitions());
    let partition = partition.map_err(|outcome| outcome.to_string())?;
    for answer in engine.call(partition, vec![Request::Write(envelope)]) {
        let outcome = answer?.outcome;
        if !outcome.is_applied() {
            return Err(format!("{line}: {outcome}").into());
        }
    }
    Ok(())
}

fn sell(engine: &dyn Engine, rounds: u64) -> Result<(), Box<dyn Error>> {
    for _ in 0..rounds {
        for item in ITEMS {
            send(engine, &format!("STOCK.TAKE {item} 1 alice"))?;
            send(engine, &format!("STOCK.TAKE {item} 2 bob"))?;
        }
    }
    Ok(())
}

/// Waits until a condition holds.
async fn wait_until(what: &str, is_so: impl Fn() -> bool) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("{what} within {PATIENCE:?}").into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Whether every partition's consumer has reached the end of its log.
fn is_through(engine: &dyn Engine, outflow: &Outflow) -> bool {
    let is_through =
        |partition, sequence| engine.durable_through(partition).is_ok_and(|through| through == sequence);
    outflow.statuses().iter().all(|status| is_through(status.partition, status.position().sequence))
}

/// The points of all files.
fn total(folder: &Path, partitions: u32) -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let mut all = BTreeMap::new();
    for partition in 0..partitions {
        for (owner, points) in Points::read(&file(folder, partition))?.of_owners {
            *all.entry(owner).or_default() += points;
        }
    }
    Ok(all)
}

async fn show(engine: &Arc<dyn Engine>, folder: &Path) -> Result<(), Box<dyn Error>> {
    for item in ITEMS {
        send(&**engine, &format!("STOCK.CREATE {item} 1000"))?;
    }
    let outflow = start(engine, folder)?;
    sell(&**engine, 5)?;
    let is_troubled = || outflow.statuses().iter().any(|its| matches!(its.state(), State::Troubled { .. }));
    wait_until("nobody was in trouble", is_troubled).await?;
    for status in outflow.statuses() {
        println!("partition {}: {:?}", status.partition, status.state());
    }
    std::fs::create_dir(folder)?;
    wait_until("not all was counted", || is_through(&**engine, &outflow)).await?;
    outflow.stop().await;
    println!("after five rounds: {:?}", total(folder, engine.partitions())?);
    sell(&**engine, 5)?;
    let outflow = start(engine, folder)?;
    wait_until("not all was counted", || is_through(&**engine, &outflow)).await?;
    outflow.stop().await;
    let points = total(folder, engine.partitions())?;
    println!("after ten rounds: {points:?}");
    let wanted = BTreeMap::from([("alice".to_owned(), 400), ("bob".to_owned(), 800)]);
    if points == wanted { Ok(()) } else { Err(format!("it should have been {wanted:?}").into()) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let settings = EmbeddedSettings { partitions: 3, ..EmbeddedSettings::default() };
    let recovered = embedded::open(&folder.path().join("engine"), &settings, &mut |_| {})?;
    let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default())))?;
    let engine: Arc<dyn Engine> = engine;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let shown = runtime.block_on(show(&engine, &folder.path().join("points")));
    running.shut_down()?;
    shown
}
