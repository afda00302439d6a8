//! Callers that send until they are answered, each command again under its own id, and what they were told.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scarce_core::outcome::{Durability, Receipt};
use scarce_engine::{Engine, Failure, Request};
use scarce_engine_redis::RedisEngine;
use scarce_sim::conformance::request;

/// How long a command may go without an answer.
const PATIENCE: Duration = Duration::from_secs(180);

/// A line as a request to an engine; reads are not told apart by callers.
pub fn read(engine: &RedisEngine, line: &str) -> Request {
    let words: Vec<&str> = line.split(' ').collect();
    match request::single(&words, engine.secret()).expect("a command") {
        request::Request::Read(command) => Request::Read(String::new(), command),
        request::Request::Write(envelope) => Request::Write(envelope),
    }
}

/// Asks a partition once.
pub fn ask(engine: &RedisEngine, partition: u32, line: &str) -> Result<Receipt, Failure> {
    engine.call(partition, vec![read(engine, line)]).remove(0)
}

/// The outcome as text.
pub fn told(engine: &RedisEngine, partition: u32, line: &str) -> Result<String, Failure> {
    ask(engine, partition, line).map(|receipt| receipt.outcome.to_string())
}

/// Asks until there is an answer.
pub fn insist(engine: &RedisEngine, partition: u32, line: &str) -> Receipt {
    let begun = Instant::now();
    loop {
        match ask(engine, partition, line) {
            Ok(receipt) => return receipt,
            Err(failure) => {
                assert!(begun.elapsed() < PATIENCE, "{line}: {failure}");
                std::thread::park_timeout(Duration::from_millis(20));
            }
        }
    }
}

/// What callers were told while something happened.
#[derive(Debug, Default)]
pub struct Told {
    pub applied: AtomicU64,
    pub replayed: AtomicU64,
    pub failures: AtomicU64,
    pub unknown: AtomicU64,
    pub durable: AtomicU64,
}

impl Told {
    /// Sends one command until it is answered.
    fn send(&self, engine: &RedisEngine, partition: u32, line: &str) {
        let begun = Instant::now();
        loop {
            match ask(engine, partition, line) {
                Ok(receipt) => {
                    assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
                    self.applied.fetch_add(1, Ordering::Relaxed);
                    self.replayed.fetch_add(u64::from(receipt.replayed), Ordering::Relaxed);
                    let is_durable = receipt.durability != Durability::Memory;
                    self.durable.fetch_add(u64::from(is_durable), Ordering::Relaxed);
                    return;
                }
                Err(failure) => {
                    self.failures.fetch_add(1, Ordering::Relaxed);
                    let is_unknown = matches!(failure, Failure::Unknown { .. });
                    self.unknown.fetch_add(u64::from(is_unknown), Ordering::Relaxed);
                    assert!(begun.elapsed() < PATIENCE, "{line}: {failure}");
                    std::thread::park_timeout(Duration::from_millis(20));
                }
            }
        }
    }

    /// Lets `callers` credit the account `hot` of a partition by 1 again and again, while something is done.
    pub fn during<T>(
        engine: &RedisEngine,
        partition: u32,
        callers: usize,
        act: impl FnOnce() -> T,
    ) -> (Self, T) {
        let (told, stop) = (Self::default(), AtomicBool::new(false));
        let done = std::thread::scope(|scope| {
            for caller in 0..callers {
                let (told, stop) = (&told, &stop);
                scope.spawn(move || {
                    for at in 0_u64.. {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let line = format!("ACCOUNT.CREDIT hot 1 ID {caller}-{at}");
                        told.send(engine, partition, &line);
                    }
                });
            }
            let done = act();
            stop.store(true, Ordering::Relaxed);
            done
        });
        (told, done)
    }

    /// How many were applied.
    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::Relaxed)
    }
}
