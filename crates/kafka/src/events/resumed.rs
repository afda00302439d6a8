//! The message that tells readers of the topic that the log does not go on from the message before: events of another
//! history are in front of it, or the log begins later.

use rdkafka::message::{Header, OwnedHeaders};
use scarce_api::message::schemas::RESUMED_TYPE;
use scarce_core::event::Position;
use serde_json::json;

use crate::cloud_event::{Attributes, header};

/// Where the topic goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resumed {
    partition: u32,
    /// The messages behind this one follow this position.
    after: Position,
    /// The last position before it, which the log does not have; `None` where the topic has no event.
    left: Option<Position>,
}

impl Resumed {
    /// What readers are to be told before a batch that follows `after`, where the topic ends with `last`.
    pub(super) fn between(partition: u32, last: Option<Position>, after: Position) -> Option<Self> {
        let goes_on = match last {
            None => after.sequence == 0,
            Some(last) => {
                let is_one_history = after.epoch == 0 || last.epoch <= after.epoch;
                last.sequence < after.sequence || (last.sequence == after.sequence && is_one_history)
            }
        };
        (!goes_on).then_some(Self { partition, after, left: last })
    }

    pub(super) fn key(self) -> String {
        self.partition.to_string()
    }

    pub(super) fn value(self) -> Vec<u8> {
        let place = |position: Position| json!({ "epoch": position.epoch, "sequence": position.sequence });
        let value = json!({
            "partition": self.partition,
            "after": place(self.after),
            "left": self.left.map(place),
        });
        value.to_string().into_bytes()
    }

    /// It has no sequence, so that it is not taken for an event.
    pub(super) fn headers(self, source: &str) -> OwnedHeaders {
        let (partition, after) = (self.partition, self.after);
        let left =
            self.left.map_or_else(|| "none".to_owned(), |left| format!("{}-{}", left.epoch, left.sequence));
        let id = format!("{partition}-{}-{}-resumed-{left}", after.epoch, after.sequence);
        let attributes = Attributes { id: &id, source, kind: RESUMED_TYPE, time: None, subject: None };
        let partition = partition.to_string();
        attributes.headers(1).insert(Header { key: header::PARTITION, value: Some(partition.as_str()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_break_is_told_of() {
        let at = |epoch, sequence| Position { epoch, sequence };
        let is_told = |last, after| Resumed::between(0, last, after).is_some();
        assert!(!is_told(None, at(0, 0)), "the beginning");
        assert!(is_told(None, at(0, 7)), "the log begins later");
        assert!(!is_told(Some(at(3, 7)), at(3, 7)));
        assert!(!is_told(Some(at(3, 7)), at(0, 7)), "an epoch of 0 is not compared");
        assert!(is_told(Some(at(3, 9)), at(3, 7)), "two events are lost");
        assert!(is_told(Some(at(4, 7)), at(3, 7)), "an event of another history");
    }
}
