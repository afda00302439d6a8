//! What messages of a copy have in them.

use scarce_outflow::CopiedMessage;

use super::gaps::Gap;
use crate::report::{CheckKind, EventPlace, Finding};

/// An event that is not in the copy, with its message where that is known.
pub(super) fn missing(partition: u32, gap: Gap, sequence: u64, message: Option<&CopiedMessage>) -> Finding {
    let value = message.and_then(|message| shown(&message.value));
    Finding {
        check: CheckKind::Topic,
        partition: Some(partition),
        resource: message.and_then(|message| message.subject.clone()),
        field: format!("event before offset {}", gap.offset),
        expected: value.or_else(|| Some(format!("event {sequence}"))),
        found: None,
        first_event: Some(EventPlace { partition, sequence, event: None }),
    }
}

/// A part of a message that differs, with both values.
type Difference = (String, (Option<String>, Option<String>));

/// What of a message is not as it must be, with both values. Further headers do not count.
pub(super) fn differences(expected: &CopiedMessage, found: &CopiedMessage) -> Vec<Difference> {
    let mut all = Vec::new();
    for (name, its, theirs) in [("value", &expected.value, &found.value), ("key", &expected.key, &found.key)]
    {
        if its != theirs {
            all.push((name.to_owned(), (shown(its), shown(theirs))));
        }
    }
    for (name, value) in &expected.headers {
        let same_name = || found.headers.iter().filter(|(its, _)| its == name);
        if same_name().count() != 1 || same_name().any(|(_, its)| its != value) {
            let values = same_name().map(|(_, its)| its.as_str()).collect::<Vec<_>>().join(", ");
            let theirs = same_name().next().map(|_| values);
            all.push((format!("header {name}"), (Some(value.clone()), theirs)));
        }
    }
    all
}

/// A value as text.
pub(super) fn shown(value: &Option<Vec<u8>>) -> Option<String> {
    value.as_ref().map(|value| String::from_utf8_lossy(value).into_owned())
}

/// About how much memory a message takes.
pub(super) fn bytes(message: &CopiedMessage) -> usize {
    let of = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, Vec::len);
    let headers: usize = message.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
    of(&message.key) + of(&message.value) + headers + 200
}
