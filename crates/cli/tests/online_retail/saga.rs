//! A day whose customers and items are on all partitions: what is one batch under a common tag becomes a hold
//! and reservations, ended by capture and confirm, or by void and release if one of them is refused.

use std::collections::BTreeMap;
use std::path::Path;

use redis::Value;
use scarce_client::{Client, Reply};

use super::reckoning::{Day, Fate};

/// The deadline of holds and reservations.
const TTL_MS: &str = "60000";

/// The day, executed step by step.
pub struct Sagas<'a> {
    client: &'a mut Client,
    /// The result of each invoice.
    fates: Vec<(String, Fate)>,
    /// Commands that were applied, and their answers.
    done: Vec<(Vec<String>, Value)>,
}

/// A step, and the commands that complete or undo it.
struct Step {
    begin: Vec<String>,
    finish: Vec<String>,
    undo: Vec<String>,
}

impl<'a> Sagas<'a> {
    /// Executes the example's operations without their tag.
    pub fn play(client: &'a mut Client, operations: &Path) -> Self {
        let mut sagas = Self { client, fates: Vec::new(), done: Vec::new() };
        for line in std::fs::read_to_string(operations).unwrap().replace("{shop}:", "").lines() {
            let operation: serde_json::Value = serde_json::from_str(line).unwrap();
            let id = operation["id"].as_str().unwrap();
            match operation["atomic"].as_array() {
                Some(lines) => sagas.invoice(id, &lines.iter().map(words).collect::<Vec<_>>()),
                None => {
                    let answer = sagas.send(&[with_id(words(&operation["command"]), id)]).remove(0);
                    assert!(matches!(answer, Reply::Applied(_)), "{line}: {answer:?}");
                }
            }
        }
        sagas
    }

    /// Reserves money and units, and takes them only if all could be reserved.
    fn invoice(&mut self, id: &str, lines: &[Vec<String>]) {
        let steps: Vec<Step> = lines.iter().enumerate().map(|(at, line)| Step::of(id, at, line)).collect();
        let begun = self.send(&steps.iter().map(|step| step.begin.clone()).collect::<Vec<_>>());
        let refused = begun.iter().zip(0..).find_map(|(answer, at)| match answer {
            Reply::Refused(code, _) => Some(Fate::Refused(at, word(code))),
            _ => None,
        });
        let ends: Vec<Vec<String>> = steps
            .into_iter()
            .zip(&begun)
            .filter(|(_, answer)| matches!(answer, Reply::Applied(_)))
            .map(|(step, _)| if refused.is_none() { step.finish } else { step.undo })
            .collect();
        let ended = self.send(&ends);
        assert!(ended.iter().all(|answer| matches!(answer, Reply::Applied(_))), "{id}: {ended:?}");
        self.fates.push((id.to_owned(), refused.unwrap_or(Fate::Applied)));
    }

    fn send(&mut self, commands: &[Vec<String>]) -> Vec<Reply> {
        let answers = self.client.pipeline(commands).unwrap();
        let replies: Vec<Reply> = answers.iter().cloned().map(Reply::of).collect();
        for ((command, answer), reply) in commands.iter().zip(answers).zip(&replies) {
            if matches!(reply, Reply::Applied(_)) {
                self.done.push((command.clone(), answer));
            }
        }
        replies
    }

    /// Every invoice had the calculated result; each refused one was refused by the expected line.
    pub fn compare(&self, day: &Day) {
        assert_eq!(self.fates, day.fates);
    }

    /// Repeats every applied command under its id: the answers are the same, and nothing changes.
    pub fn ask_again(&mut self) {
        for some in self.done.chunks(1_000) {
            let commands: Vec<Vec<String>> = some.iter().map(|(command, _)| command.clone()).collect();
            let answers = self.client.pipeline(&commands).unwrap();
            let told: BTreeMap<&Vec<String>, &Value> = commands.iter().zip(&answers).collect();
            assert!(some.iter().all(|(command, answer)| told[command] == answer));
        }
    }
}

impl Step {
    /// The step for a line of a batch.
    fn of(invoice: &str, at: usize, line: &[String]) -> Self {
        let part = format!("{invoice}-{at}");
        let named = |verb: &str, command: &[&str]| {
            with_id(command.iter().map(|word| (*word).to_owned()).collect(), &format!("{part}/{verb}"))
        };
        match line.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["ACCOUNT.DEBIT", account, pence] => Self {
                begin: named("hold", &["ACCOUNT.HOLD", account, &part, pence, "TTL", TTL_MS]),
                finish: named("capture", &["ACCOUNT.CAPTURE", account, &part]),
                undo: named("void", &["ACCOUNT.VOID", account, &part]),
            },
            ["STOCK.TAKE", sku, quantity, owner] => Self {
                begin: named("reserve", &["STOCK.RESERVE", sku, &part, quantity, owner, TTL_MS]),
                finish: named("confirm", &["STOCK.CONFIRM", sku, &part]),
                undo: named("release", &["STOCK.RELEASE", sku, &part]),
            },
            other => panic!("an invoice pays and takes, and does not {other:?}"),
        }
    }
}

fn words(command: &serde_json::Value) -> Vec<String> {
    command.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn with_id(mut command: Vec<String>, id: &str) -> Vec<String> {
    command.extend(["ID".to_owned(), id.to_owned()]);
    command
}

/// The codes with which an invoice may be refused.
fn word(code: &str) -> &'static str {
    let known = ["INSUFFICIENT_FUNDS", "INSUFFICIENT_STOCK", "SOLD_OUT"];
    known.into_iter().find(|known| *known == code).unwrap_or_else(|| panic!("refused with {code}"))
}
