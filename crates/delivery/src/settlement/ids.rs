//! The operation ids of settlements.

/// The namespace of credits. No port takes commands in it, so no caller can use an id of a settlement.
const NAMESPACE: &str = "settlement";

/// How the id of a settlement is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdScheme {
    /// As earlier releases made it: in the namespace of callers, and the same for two packets if a campaign's name
    /// has a colon.
    Earlier,
    /// In a namespace of its own, and another for each packet.
    Current,
}

impl IdScheme {
    /// The number in the table; rows of earlier releases have none.
    pub(crate) const CURRENT: i64 = 2;

    /// The scheme of a row.
    pub(super) fn of(number: Option<i64>) -> Self {
        if number == Some(Self::CURRENT) { Self::Current } else { Self::Earlier }
    }

    /// The namespace of the ids in the engine.
    pub(super) fn namespace(self) -> &'static str {
        match self {
            Self::Earlier => "",
            Self::Current => NAMESPACE,
        }
    }

    /// The id of a packet's settlement: `settle:{campaign}:{packet}`. If that id was refused for good, and the packet
    /// is retried, the round is appended. Where the campaign's name has a colon, its length stands before it, so that
    /// it is clear where it ends.
    pub(super) fn operation_id(self, campaign: &str, packet: u64, round: u64) -> String {
        match (self, round) {
            (Self::Current, round) if campaign.contains(':') => {
                format!("settle:{}:{campaign}:{packet}:{}", campaign.len(), round.max(1))
            }
            (_, 0 | 1) => format!("settle:{campaign}:{packet}"),
            (_, round) => format!("settle:{campaign}:{packet}:{round}"),
        }
    }
}

/// The campaign and the packet that an operation id settles, if it is one of a settlement.
pub(super) fn packet_of(namespace: &str, id: &str) -> Option<(String, u64)> {
    let rest = id.strip_prefix("settle:").filter(|_| namespace == NAMESPACE)?;
    let of_name = |campaign: &str, rest: &str| {
        let packet = rest.split(':').next()?.parse().ok()?;
        let is_it = |round| IdScheme::Current.operation_id(campaign, packet, round) == id;
        let round = rest.split_once(':').map_or(Some(1), |(_, round)| round.parse().ok())?;
        is_it(round).then(|| (campaign.to_owned(), packet))
    };
    let (first, second) = rest.split_once(':')?;
    let long = || {
        let length = first.parse::<usize>().ok()?;
        let (campaign, rest) = second.split_at_checked(length)?;
        of_name(campaign, rest.strip_prefix(':')?)
    };
    of_name(first, second).or_else(long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_core::types::{ID_BYTES_MAX, INTEGER_MAX, OperationId};
    use std::collections::BTreeMap;

    #[test]
    fn the_longest_operation_id_is_one() {
        for campaign in ["c".repeat(ID_BYTES_MAX), ":".repeat(ID_BYTES_MAX)] {
            let id = IdScheme::Current.operation_id(&campaign, INTEGER_MAX, INTEGER_MAX);
            assert!(OperationId::parse(id.as_bytes(), "id").is_ok(), "{id}");
        }
        for scheme in [IdScheme::Earlier, IdScheme::Current] {
            assert_eq!(scheme.operation_id("spring", 7, 1), "settle:spring:7");
            assert_eq!(scheme.operation_id("spring", 7, 2), "settle:spring:7:2");
        }
    }

    #[test]
    fn no_two_packets_have_the_same_id() {
        let campaigns =
            ["a", "1", "a:1", "a:1:2", "1:a", "3:a:1", ":", "1:", ":1", "3", "settle:a", "a:1:1", "5:a:1:2"];
        let mut seen = BTreeMap::new();
        for campaign in campaigns {
            for (packet, round) in (1..=12).flat_map(|packet| (1..=12).map(move |round| (packet, round))) {
                let id = IdScheme::Current.operation_id(campaign, packet, round);
                let before = seen.insert(id.clone(), (campaign, packet, round));
                assert_eq!(before, None, "{id}");
                assert_eq!(packet_of(NAMESPACE, &id), Some((campaign.to_owned(), packet)), "{id}");
                assert_eq!(packet_of("", &id), None);
            }
        }
    }
}
