//! A caller that never gives up: it resends unanswered commands under the same id.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redis::Value;
use scarce_client::Client;

/// The number of accounts and of items.
pub const ACCOUNTS: u64 = 12;

/// How many commands to send at once.
const BATCH: usize = 50;

/// Pseudorandom numbers, the same for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

/// The caller's counts while it runs.
#[derive(Debug, Default)]
pub struct Told {
    pub answered: AtomicU64,
    is_over: AtomicBool,
}

/// The answer to each id as text: applied, or the code of its refusal.
pub type Acknowledged = BTreeMap<String, String>;

/// The caller.
pub struct Load {
    told: Arc<Told>,
    thread: JoinHandle<Acknowledged>,
}

impl Load {
    pub fn start(address: &str, seed: u64) -> Self {
        let (told, address) = (Arc::<Told>::default(), address.to_owned());
        let own = told.clone();
        let thread = std::thread::spawn(move || call(&address, seed, &own));
        Self { told, thread }
    }

    pub fn told(&self) -> &Told {
        &self.told
    }

    /// Stops the caller and returns the answers.
    pub fn finish(self) -> Acknowledged {
        self.told.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the caller ends")
    }
}

fn call(address: &str, seed: u64, told: &Told) -> Acknowledged {
    let (mut dice, mut acknowledged) = (Dice::new(seed + 1), Acknowledged::new());
    let mut client = None;
    send(address, &mut client, &opening(), &mut acknowledged);
    let mut number = 0;
    while !told.is_over.load(Ordering::Relaxed) {
        let lines: Vec<(String, String)> = (0..BATCH)
            .map(|_| {
                number += 1;
                (format!("op-{number}"), line(&mut dice))
            })
            .collect();
        send(address, &mut client, &lines, &mut acknowledged);
        told.answered.fetch_add(BATCH as u64, Ordering::Relaxed);
    }
    acknowledged
}

fn opening() -> Vec<(String, String)> {
    let of = |number: u64| {
        [
            (format!("open-{number}"), format!("ACCOUNT.OPEN account-{number} EUR")),
            (format!("credit-{number}"), format!("ACCOUNT.CREDIT account-{number} 100000")),
            (format!("create-{number}"), format!("STOCK.CREATE sku-{number} 1000000")),
        ]
    };
    (0..ACCOUNTS).flat_map(of).collect()
}

fn line(dice: &mut Dice) -> String {
    let (account, amount) = (dice.below(ACCOUNTS), dice.below(500) + 1);
    match dice.below(5) {
        0 => format!("ACCOUNT.CREDIT account-{account} {amount}"),
        // Some are refused, and the refusals are remembered too.
        1 => format!("ACCOUNT.DEBIT account-{account} {}", amount * 40),
        2 => format!("ACCOUNT.DEBIT account-{account} {amount}"),
        3 => format!("STOCK.TAKE sku-{account} {} user-{amount}", dice.below(3) + 1),
        _ => format!("ACCOUNT.TRANSFER account-{account} account-{account} {amount}"),
    }
}

/// Resends lines until each has a final answer.
fn send(
    address: &str,
    client: &mut Option<Client>,
    lines: &[(String, String)],
    acknowledged: &mut Acknowledged,
) {
    let begun = Instant::now();
    let mut open: Vec<&(String, String)> = lines.iter().collect();
    while !open.is_empty() {
        assert!(begun.elapsed() < crate::support::PATIENCE, "{} commands have no answer", open.len());
        let commands: Vec<Vec<&str>> =
            open.iter().map(|(id, line)| line.split(' ').chain(["ID", id.as_str()]).collect()).collect();
        let connected = client.take().or_else(|| Client::connect(address, None).ok());
        let answers = connected.map(|mut its| {
            let answers = its.pipeline(&commands);
            (its, answers)
        });
        let Some((its, Ok(answers))) = answers else {
            // The server is being restarted.
            std::thread::park_timeout(Duration::from_millis(20));
            continue;
        };
        *client = Some(its);
        let told: Vec<Option<String>> = answers.iter().map(outcome).collect();
        for ((id, _), outcome) in open.iter().zip(&told) {
            if let Some(outcome) = outcome {
                acknowledged.insert(id.clone(), outcome.clone());
            }
        }
        open = open.into_iter().zip(told).filter(|(_, told)| told.is_none()).map(|(its, _)| its).collect();
    }
}

/// The outcome in an answer; `None` for an error, after which the caller retries.
fn outcome(answer: &Value) -> Option<String> {
    let Value::Array(values) = answer else { return None };
    match values.as_slice() {
        [Value::Int(1), ..] => Some("APPLIED".to_owned()),
        [Value::Int(0), Value::BulkString(code), ..] => Some(String::from_utf8_lossy(code).into_owned()),
        _ => None,
    }
}
