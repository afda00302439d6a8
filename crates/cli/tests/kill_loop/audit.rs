//! What must hold after every kill.

use std::collections::BTreeMap;

use redis::Value;
use scarce_client::{Client, integer, text};

use super::load::{ACCOUNTS, Acknowledged, TAG, mix};

/// How many acknowledged operations to repeat after each kill.
const ASKED_AGAIN: u64 = 300;

/// How many events to read at a time.
const EVENTS_PER_PAGE: &str = "10000";

/// Whether `OPERATION.GET` found the operation.
pub fn is_found(answer: &Value) -> bool {
    !matches!(answer, Value::Array(values) if values.first() == Some(&Value::Int(0)))
}

/// Whether the outcome is remembered under its id: refusals of stock, packets and coupons are not.
fn is_remembered(operation: &Acknowledged) -> bool {
    let applied = matches!(&operation.answer, Value::Array(values) if values[0] == Value::Int(1));
    applied || operation.words[0].starts_with("ACCOUNT.") || operation.words[0].starts_with("ORDER.")
}

/// A duplicate of an acknowledged operation must get the original answer.
pub fn check_answers(client: &mut Client, acknowledged: &BTreeMap<String, Acknowledged>, seed: u64) {
    let known: Vec<_> = acknowledged.iter().filter(|(_, operation)| is_remembered(operation)).collect();
    let mut draw = seed;
    for _ in 0..ASKED_AGAIN.min(known.len() as u64) {
        draw = mix(draw);
        let at = usize::try_from(draw % known.len() as u64).expect("an index");
        let (id, operation) = known[at];
        let again = client.call(&operation.words).expect("an answer");
        assert_eq!(again, operation.answer, "the answer to {id} changed");
    }
}

/// The digest of the only partition, after every deadline has passed and nothing changes by itself any more.
pub fn settled_digest(client: &mut Client) -> String {
    loop {
        let stock = client.call(&["STOCK.GET".to_owned(), format!("{TAG}stock")]).expect("an answer");
        let held: i64 = (0..ACCOUNTS).map(|account| field(&account_of(client, account), "held")).sum();
        if field(&stock, "reserved") == 0 && held == 0 {
            return digest(client);
        }
    }
}

fn account_of(client: &mut Client, account: u64) -> Value {
    client.call(&["ACCOUNT.GET".to_owned(), format!("{TAG}a{account}")]).expect("an answer")
}

fn digest(client: &mut Client) -> String {
    match client.call(&["DIGEST"]).expect("an answer") {
        Value::Array(rows) => match &rows[0] {
            Value::Array(row) => text(&row[2]).expect("a digest"),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Reads the log and counts the effects of each operation.
#[derive(Default)]
pub struct Auditor {
    sequence: i64,
    /// The sequences of each operation's events.
    sequences: BTreeMap<String, Vec<i64>>,
}

impl Auditor {
    /// Continues reading where the last call ended.
    pub fn read_log(&mut self, client: &mut Client) {
        loop {
            let after = self.sequence.to_string();
            let page = client.call(&["EVENTS", "0", "0", &after, "COUNT", EVENTS_PER_PAGE]).expect("events");
            let Value::Array(events) = page else { panic!("{page:?}") };
            if events.is_empty() {
                return;
            }
            for event in events {
                self.note(&event);
            }
        }
    }

    fn note(&mut self, event: &Value) {
        let Value::Array(fields) = event else { panic!("{event:?}") };
        let sequence = integer(&fields[2]).expect("a sequence");
        assert_eq!(sequence, self.sequence + 1, "the log has a gap");
        self.sequence = sequence;
        if let Some(operation) = text(&fields[4]) {
            self.sequences.entry(operation).or_default().push(sequence);
        }
    }

    /// Every acknowledged change is in the log, and every operation's events are contiguous: it was applied
    /// once.
    pub fn check_log(&self, acknowledged: &BTreeMap<String, Acknowledged>) {
        for (id, operation) in acknowledged.iter().filter(|(_, operation)| is_remembered(operation)) {
            assert!(
                self.sequences.contains_key(id),
                "{id} was answered {:?} and is not in the log",
                operation.answer
            );
        }
        for (id, sequences) in &self.sequences {
            let together = sequences.windows(2).all(|pair| pair[1] == pair[0] + 1);
            assert!(together, "{id} was applied twice: {sequences:?}");
        }
    }
}

/// An integer field of a map.
fn field(answer: &Value, name: &str) -> i64 {
    let Value::Array(pairs) = answer else { panic!("{answer:?}") };
    let at = pairs.iter().position(|key| text(key).as_deref() == Some(name)).expect("the field");
    integer(&pairs[at + 1]).expect("an integer")
}

/// Money sums to zero, and units to the initial quantity.
pub fn check_conservation(client: &mut Client) {
    let world = client.call(&["ACCOUNT.WORLD", "EUR", "ON", TAG]).expect("an answer");
    let mut sum = field(&world, "balance");
    for account in 0..ACCOUNTS {
        let account =
            client.call(&["ACCOUNT.GET".to_owned(), format!("{TAG}a{account}")]).expect("an answer");
        assert!(field(&account, "available") >= 0 && field(&account, "held") >= 0, "{account:?}");
        sum += field(&account, "balance");
    }
    assert_eq!(sum, 0, "money was made or lost");
    let stock = client.call(&["STOCK.GET".to_owned(), format!("{TAG}stock")]).expect("an answer");
    let [total, available, reserved, sold] =
        ["total", "available", "reserved", "sold"].map(|name| field(&stock, name));
    assert_eq!((total, available + reserved + sold), (1_000_000, 1_000_000), "{stock:?}");
    let packets = client.call(&["PACKET.GET".to_owned(), format!("{TAG}packets")]).expect("an answer");
    assert_eq!(field(&packets, "total"), 1_000_000);
}
