//! Claims that had left memory where the log begins: the state knows what they come to, and the table who was paid.

use std::collections::BTreeMap;

use scarce_delivery::SettlementState;

use super::{Campaign, Settlements};
use crate::findings::Findings;
use crate::report::{CheckKind, Finding};

/// How many campaigns a note names.
const NAMED_MAX: usize = 5;

impl Settlements {
    /// Compares what has left with what is settled, or is going to be. Where the table was filled from the beginning of the log on,
    /// it must have all of it; otherwise claims of before may have been paid in another way, and that is told.
    pub(super) fn compare_left(&self, campaigns: &BTreeMap<String, Campaign>, findings: &mut Findings) {
        if !self.has_table {
            return;
        }
        let mut unknown = Vec::new();
        for (name, campaign) in campaigns {
            let (amount, settled) = (campaign.left.amount, campaign.settled_of_left());
            if settled >= amount {
                continue;
            }
            let of_table = campaign.partition.and_then(|partition| self.noted.get(&partition));
            if of_table.is_some_and(|(first, _)| *first <= 1) {
                findings.add(campaign.unsettled(name, settled));
            } else {
                unknown.push(format!(
                    "'{name}' up to packet {}: {settled} of {amount}",
                    campaign.left.through_packet
                ));
            }
        }
        if !unknown.is_empty() {
            let named = unknown[..unknown.len().min(NAMED_MAX)].join(", ");
            findings.skip(format!(
                "claims of {} campaigns have left memory, and the table does not have all of them settled ({named}): find them in \
                 the history, and credit those that were not paid in another way",
                unknown.len()
            ));
        }
    }
}

impl Campaign {
    /// What the claims that have left come to by the table, without those that will not be settled by themselves.
    fn settled_of_left(&self) -> u64 {
        let rows = self.packets.range(..=self.left.through_packet).filter_map(|(_, packet)| packet.noted);
        let settled = rows.filter(|noted| !noted.is_lost && noted.state != SettlementState::Dead);
        settled.map(|noted| noted.amount).fold(0, u64::saturating_add)
    }

    fn unsettled(&self, name: &str, settled: u64) -> Finding {
        Finding {
            check: CheckKind::Settlement,
            partition: self.partition,
            resource: Some(name.to_owned()),
            field: format!("settled of packets 1 to {}, which have left memory", self.left.through_packet),
            expected: Some(self.left.amount.to_string()),
            found: Some(settled.to_string()),
            first_event: None,
        }
    }
}
