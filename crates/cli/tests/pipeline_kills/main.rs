//! Kills the server, its database and its broker repeatedly under load, and checks that each event is in SQL
//! exactly once and in the topic in order, and that the lag disappears by itself.
//!
//! `SCARCE_KILLS` sets how often each part is killed (4 by default), `SCARCE_SEED` the order.

#![allow(clippy::print_stdout, reason = "what repeats a run belongs to its output")]

#[path = "../support/database.rs"]
mod database;
mod load;
#[path = "../support/mod.rs"]
mod support;
mod tables;
mod topic;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use database::Database;
use load::{Load, Told};
use scarce_client::{Client, integer};
use scarce_launch::{Kafka, KafkaOptions};
use support::{PATIENCE, Server, wait_until};

/// The number of commands answered between two kills.
const COMMANDS_BETWEEN: u64 = 1_500;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Waits until that many more commands were answered.
fn let_pass(told: &Told, commands: u64) {
    let before = told.answered.load(Ordering::Relaxed);
    wait_until("more commands are answered", || told.answered.load(Ordering::Relaxed) >= before + commands);
}

/// What to kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Server,
    Database,
    Broker,
}

struct Stage {
    folder: tempfile::TempDir,
    address: String,
    options: Vec<String>,
    server: Server,
    database: Database,
    kafka: Kafka,
}

impl Stage {
    fn open(database: Database) -> Self {
        let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
        let folder = tempfile::tempdir().expect("a folder");
        let options = [
            ("--partitions", "2"),
            ("--snapshot-mib", "1"),
            ("--sql", database.url()),
            ("--kafka", &kafka.brokers()),
            ("--kafka-create-topics", ""),
        ];
        let options: Vec<String> = options
            .iter()
            .flat_map(|(flag, value)| [*flag, *value])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let server = Server::start(folder.path(), &options.iter().map(String::as_str).collect::<Vec<_>>());
        Self { address: server.address.clone(), folder, options, server, database, kafka }
    }

    fn start_server(&mut self) {
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        self.server = Server::start_at(self.folder.path(), &self.address, &options);
    }

    /// Kills one part, waits for further commands if they are possible without it, and restarts it.
    fn kill(&mut self, victim: Victim, told: &Told) {
        match victim {
            Victim::Server => {
                self.server.kill();
                self.start_server();
            }
            Victim::Database => {
                self.database.kill();
                let_pass(told, COMMANDS_BETWEEN);
                self.database.start_again();
            }
            Victim::Broker => {
                self.kafka.kill().expect("the broker is killed");
                let_pass(told, COMMANDS_BETWEEN);
                self.kafka.start_again().expect("the broker starts again");
            }
        }
    }

    /// Waits until no consumer lags; otherwise reports their problems.
    fn wait_until_drained(&self) {
        let begun = Instant::now();
        while !self.has_drained() {
            let told = || self.server.http().get("/v1/consumers").text();
            assert!(begun.elapsed() < PATIENCE, "what waits does not get less: {}", told());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Whether no consumer lags.
    fn has_drained(&self) -> bool {
        let Ok(mut client) = Client::connect(&self.address, None) else { return false };
        let Ok(redis::Value::Array(rows)) = client.call(&["CONSUMER", "LIST"]) else { return false };
        let lag = |row: &redis::Value| match row {
            redis::Value::Array(fields) => fields.get(5).and_then(integer),
            _ => None,
        };
        // Both consumers of both partitions.
        rows.len() == 4 && rows.iter().all(|row| lag(row) == Some(0))
    }
}

/// Every part `kills` times, in random order.
fn victims(database_too: bool, kills: u64, dice: &mut load::Dice) -> Vec<Victim> {
    let parts = [Victim::Server, Victim::Broker, Victim::Database];
    let parts = parts.into_iter().filter(|part| database_too || *part != Victim::Database);
    let mut victims: Vec<Victim> = parts.flat_map(|part| (0..kills).map(move |_| part)).collect();
    for last in (1..victims.len()).rev() {
        let other = dice.below(last as u64 + 1);
        victims.swap(last, usize::try_from(other).expect("a place"));
    }
    victims
}

/// Kills every part that often, in an order determined by a seed.
fn play(database: Database) {
    let (kills, seed) = (setting("SCARCE_KILLS", 4), setting("SCARCE_SEED", 1));
    println!("SCARCE_KILLS={kills} SCARCE_SEED={seed} repeats this run");
    let mut dice = load::Dice::new(seed);
    let victims = victims(database.can_be_killed(), kills, &mut dice);
    let mut stage = Stage::open(database);
    let load = Load::start(&stage.address, seed);
    for victim in victims {
        let_pass(load.told(), dice.below(COMMANDS_BETWEEN) + 1);
        stage.kill(victim, load.told());
    }
    let acknowledged = load.finish();
    stage.wait_until_drained();
    let mut client = stage.server.connect();
    tables::compare(&stage.database, &mut client, &acknowledged);
    topic::check(&stage.kafka.brokers(), &mut client);
    stage.server.stop();
}

#[test]
fn postgres_and_kafka_miss_nothing_whatever_is_killed() {
    play(Database::postgres());
}

#[test]
fn mariadb_and_kafka_miss_nothing_whatever_is_killed() {
    play(Database::mariadb());
}

#[test]
fn sqlite_and_kafka_miss_nothing_whatever_is_killed() {
    play(Database::sqlite());
}
