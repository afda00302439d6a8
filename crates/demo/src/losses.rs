//! What a failover may lose if answers do not wait for replicas: the end of the log, and the consequences.
//! These losses are reported separately from the promises; anything else that is missing breaks a promise.

use std::collections::BTreeSet;

use serde_json::json;

use super::ask::Deed;
use super::crowd::Crowd;
use super::log::Log;
use super::proof::{Proof, grouped};
use super::record::{Known, Record};

/// The maximum number of ids in the text.
const TOLD: usize = 5;

/// The maximum number of ids in JSON.
const LISTED: usize = 20;

/// What was acknowledged and lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Acknowledged operations that are missing from the log before the kill, in the order of
    /// acknowledgement.
    pub(super) operations: Vec<String>,
    /// How many of them were retried and applied again.
    anew: u64,
    /// Ids that later got a different answer, because the first answer was lost, or because two callers had
    /// been told the same serial.
    otherwise: BTreeSet<String>,
}

impl<C: Crowd> Record<C> {
    /// Removes losses from the record: such an id counts with its later answer, if any. Only the end of the
    /// log can be lost: nothing that was acknowledged before something was sent that is still there.
    pub(super) fn settle(&mut self, log: &Log) -> Losses {
        let was_logged = |id: &str| log.operations.get(id) == Some(&true);
        let kept = self.known.iter().filter(|(id, _)| was_logged(id));
        let last_kept = kept.map(|(_, known)| known.sent_at).max().unwrap_or(0);
        let mut lost: Vec<(u64, String)> = Vec::new();
        let mut losses = Losses::default();
        for (id, known) in &mut self.known {
            if known.life != 1 || known.told_at <= last_kept || was_logged(id) {
                continue;
            }
            if is_acknowledged(known) {
                lost.push((known.told_at, id.clone()));
                losses.anew += u64::from(log.operations.contains_key(id));
            } else if self.changed.contains_key(id) {
                losses.otherwise.insert(id.clone());
            } else {
                continue;
            }
            known.binding = known.later.take();
            known.life = 2;
            if self.changed.remove(id).is_some() {
                losses.otherwise.insert(id.clone());
            }
        }
        lost.sort_unstable();
        losses.operations = lost.into_iter().map(|(_, id)| id).collect();
        if !losses.operations.is_empty() {
            let is_shared = |code: &Option<String>| code.as_deref() == Some("ID_REUSED");
            let shared = self.changed.extract_if(.., |_, code| is_shared(code));
            losses.otherwise.extend(shared.map(|(id, _)| id));
        }
        losses
    }
}

/// Whether its caller was told that it took effect, so that the log must contain it.
fn is_acknowledged<D: Deed>(known: &Known<D>) -> bool {
    known.applied().is_some_and(|answer| known.ask.deed.is_logged(answer))
}

impl Losses {
    /// Whether an operation was lost.
    pub(super) fn has(&self, id: &str) -> bool {
        self.operations.iter().any(|lost| lost == id)
    }

    /// Reports what is lost and its consequences; the answers had waited only for `level`.
    pub(super) fn tell(&self, proof: &mut Proof, level: &str, log: &Log) {
        let Self { operations, anew, otherwise } = self;
        let promise = format!("durability {level} promises nothing across a failover");
        let count = operations.len() as u64;
        let text = match count {
            0 => format!("{promise}: nothing is gone this time"),
            1 => format!("{promise}: 1 acknowledged operation is gone: {}", listed(operations.iter())),
            _ => format!(
                "{promise}: {} acknowledged operations are gone: {}",
                grouped(count),
                listed(operations.iter())
            ),
        };
        let first: Vec<&String> = operations.iter().take(LISTED).collect();
        let from = log.events.iter().find(|event| event.is_after_kill);
        let figures = json!({
            "lost": count, "operations": first, "epoch": from.map(|event| event.epoch), "from_sequence": log.first_after_kill(),
        });
        proof.note("lost in the failover", text, figures);
        if count > 0 || !otherwise.is_empty() {
            let others =
                if otherwise.is_empty() { String::new() } else { format!(": {}", listed(otherwise.iter())) };
            let text = format!(
                "{} of them were asked again and done anew; {} ids were answered otherwise than before{others}",
                grouped(*anew),
                grouped(otherwise.len() as u64)
            );
            let first: Vec<&String> = otherwise.iter().take(LISTED).collect();
            let figures =
                json!({ "done_anew": anew, "answered_otherwise": otherwise.len(), "operations": first });
            proof.note("what follows from it", text, figures);
        }
    }
}

/// The first few ids.
fn listed<'a>(ids: impl ExactSizeIterator<Item = &'a String>) -> String {
    let more = if ids.len() > TOLD { ", …" } else { "" };
    ids.take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ") + more
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::super::ask::{Ask, CallerAnswer, Request};
    use super::super::record::Noted;
    use super::*;

    #[derive(Clone)]
    struct Take;

    impl Deed for Take {
        fn request(&self, id: &str) -> Request {
            Request::one(id, &["STOCK.TAKE", "s", "1", "o"])
        }
    }

    struct Nobody;

    impl Crowd for Nobody {
        type Deed = Take;
        type Tally = ();

        fn arrive(&self, number: u64) -> Ask<Take> {
            Ask::new(format!("take-{number}"), Take)
        }

        fn follow_ups(&self, _: &Ask<Take>, _: &CallerAnswer, _: Noted) -> Vec<Ask<Take>> {
            Vec::new()
        }

        fn count(&self, _: &mut (), _: &Ask<Take>, _: &CallerAnswer, _: Noted) {}

        fn is_due(&self, _: usize, _: &Record<Self>) -> bool {
            false
        }

        fn picture(&self, _: &Record<Self>) -> (u64, String) {
            (0, String::new())
        }

        fn so_far(&self, _: &Record<Self>) -> String {
            String::new()
        }
    }

    fn serial(number: i64) -> CallerAnswer {
        CallerAnswer::Applied(vec![Value::Int(number)])
    }

    /// Takes one after the other in the first life.
    fn taken(count: u64) -> Record<Nobody> {
        let mut record = Record::default();
        for (number, told) in (0..count).zip(1..) {
            let ask = Nobody.arrive(number);
            record.note_sent(&ask);
            record.note_answer(&Nobody, &ask, false, &serial(told), 1);
        }
        record
    }

    fn log(before: &[&str], after: &[&str]) -> Log {
        let entry = |is_before| move |id: &&str| ((*id).to_owned(), is_before);
        let operations = before.iter().map(entry(true)).chain(after.iter().map(entry(false))).collect();
        let mut log = Log::marked(None);
        log.operations = operations;
        log
    }

    #[test]
    fn the_end_of_the_log_may_be_gone_and_is_known_by_what_came_later() {
        let mut record = taken(4);
        let ask = Nobody.arrive(3).again();
        record.note_sent(&ask);
        record.note_answer(&Nobody, &ask, true, &serial(3), 2);
        let losses = record.settle(&log(&["take-0", "take-1"], &["take-3"]));
        assert_eq!(losses.operations, ["take-2", "take-3"]);
        assert_eq!((losses.anew, losses.otherwise.len()), (1, 1));
        assert!(record.changed.is_empty());
        assert_eq!(record.known["take-2"].applied(), None);
        assert_eq!(record.known["take-3"].applied(), Some(&serial(3)));
    }

    #[test]
    fn a_hole_is_no_lost_end() {
        let mut record = taken(3);
        let losses = record.settle(&log(&["take-0", "take-2"], &[]));
        assert_eq!(losses, Losses::default());
        assert!(record.known["take-1"].applied().is_some(), "it is judged as missing");
    }
}
