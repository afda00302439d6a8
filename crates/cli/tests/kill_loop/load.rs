//! The load: a mix of all five resources, each operation under its own id.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use redis::Value;
use scarce_client::Client;

/// Routes everything to one partition.
pub const TAG: &str = "{kill}";

/// The number of accounts among which money moves.
pub const ACCOUNTS: u64 = 20;

/// How many requests are sent before their answers are read.
const PIPELINE: usize = 16;

/// An operation that was sent.
#[derive(Clone, Debug)]
pub struct Asked {
    pub id: String,
    pub words: Vec<String>,
}

/// An operation with its first answer.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub words: Vec<String>,
    pub answer: Value,
}

/// A simple mixing function: equal seeds give equal loads.
pub fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Creates the resources.
pub fn prepare(client: &mut Client) {
    let mut lines = vec![
        format!("STOCK.CREATE {TAG}stock 1000000 PEROWNER 500"),
        format!("PACKET.CREATE {TAG}packets EUR PLAN 1000000 5000 DOUBLE_MEAN"),
        format!(
            "COUPON.CREATE {TAG}coupon LIMIT total 100000 PER - WINDOW none LIMIT each 50 PER user WINDOW day"
        ),
        format!("MARKET.CREATE {TAG}market"),
    ];
    for account in 0..ACCOUNTS {
        lines.push(format!("ACCOUNT.OPEN {TAG}a{account} EUR"));
        lines.push(format!("ACCOUNT.CREDIT {TAG}a{account} 1000"));
    }
    for line in lines {
        let answer = client.call(&line.split(' ').collect::<Vec<_>>()).expect("an answer");
        assert!(matches!(&answer, Value::Array(values) if values[0] == Value::Int(1)), "{line}: {answer:?}");
    }
}

/// The operations of one worker in one round.
pub struct Script {
    seed: u64,
    prefix: String,
    asked: u64,
}

impl Script {
    pub fn new(seed: u64, round: u64, worker: u64) -> Self {
        Self {
            seed: mix(seed ^ (round << 20) ^ (worker << 50)),
            prefix: format!("{seed}-{round}-{worker}"),
            asked: 0,
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.seed = mix(self.seed);
        self.seed % below
    }

    fn next(&mut self) -> Asked {
        self.asked += 1;
        let id = format!("{}-{}", self.prefix, self.asked);
        let line = self.line(&id);
        let words = line.split(' ').map(str::to_owned).chain(["ID".to_owned(), id.clone()]).collect();
        Asked { id, words }
    }

    fn line(&mut self, id: &str) -> String {
        let (from, to, amount) = (self.draw(ACCOUNTS), self.draw(ACCOUNTS), 1 + self.draw(300));
        let user = self.draw(400);
        match self.draw(12) {
            0 => format!("ACCOUNT.CREDIT {TAG}a{from} {amount}"),
            1 => format!("ACCOUNT.DEBIT {TAG}a{from} {amount}"),
            2..=4 => format!("ACCOUNT.TRANSFER {TAG}a{from} {TAG}a{to} {amount}"),
            5 => format!("ACCOUNT.HOLD {TAG}a{from} {id} {amount} TTL 200"),
            6 => format!("STOCK.TAKE {TAG}stock {} u{user}", 1 + amount % 3),
            7 => format!("STOCK.RESERVE {TAG}stock {id} 2 u{user} 150"),
            8 => format!("PACKET.CLAIM {TAG}packets u{user}"),
            9 => format!("COUPON.CLAIM {TAG}coupon USER u{user}"),
            10 => format!("ORDER.PLACE {TAG}market {id} u{user} BUY LIMIT {} {amount}", 90 + amount % 20),
            _ => format!("ORDER.PLACE {TAG}market {id} u{user} SELL LIMIT {} {amount}", 90 + amount % 20),
        }
    }
}

/// A connection that sends requests until the end was announced and the connection is gone.
pub struct Worker {
    client: Client,
    script: Script,
    answers: Arc<AtomicUsize>,
}

impl Worker {
    pub fn new(client: Client, script: Script, answers: Arc<AtomicUsize>) -> Self {
        Self { client, script, answers }
    }

    pub fn run(mut self, is_over: &AtomicBool) -> (BTreeMap<String, Acknowledged>, Vec<Asked>) {
        let mut acknowledged = BTreeMap::new();
        while !is_over.load(Ordering::Relaxed) {
            let asked: Vec<Asked> = (0..PIPELINE).map(|_| self.script.next()).collect();
            let words: Vec<&[String]> = asked.iter().map(|asked| asked.words.as_slice()).collect();
            match self.client.pipeline(&words) {
                Ok(answers) => {
                    self.answers.fetch_add(answers.len(), Ordering::Relaxed);
                    for (asked, answer) in asked.into_iter().zip(answers) {
                        assert!(!matches!(answer, Value::ServerError(_)), "{:?}: {answer:?}", asked.words);
                        acknowledged.insert(asked.id, Acknowledged { words: asked.words, answer });
                    }
                }
                Err(_) => return (acknowledged, asked),
            }
        }
        (acknowledged, Vec::new())
    }
}
