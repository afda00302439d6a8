//! What has no counterpart.

use super::Matcher;
use crate::items::Item;
use crate::keys;
use crate::map::Kind;
use crate::report::{Finding, Matter};

impl Matcher<'_> {
    /// Says what is the matter with what nothing was found for.
    pub(super) fn note_rest(&mut self) {
        for at in self.statement.items.open().collect::<Vec<_>>() {
            let its = self.statement.items.get(at);
            let is_doubled = self.twins.has(&its) || self.names_again(at, &its);
            if self.map.kind == Kind::Count && its.amount == 0 && !is_doubled {
                // Nothing is there, and Scarce knows no such item.
                continue;
            }
            let matter = if is_doubled { Matter::Doubled } else { Matter::MissingHere };
            let (finding, is_carried) = (self.finding(matter, &its, true), its.since.is_some());
            self.note_again(finding, is_carried);
        }
        for at in self.here.open().collect::<Vec<_>>() {
            let its = self.here.get(at);
            let Some(matter) = self.matter_here(&its) else { continue };
            let (finding, is_carried) = (self.finding(matter, &its, false), its.since.is_some());
            self.note_again(finding, is_carried);
        }
    }

    /// Notes what is open; what was there once more before still is.
    fn note_again(&mut self, finding: Finding, is_carried: bool) {
        let was_doubled = is_carried && self.doubled_before.contains(&keys::of_id(&finding.id));
        let matter = if was_doubled { Matter::Doubled } else { finding.matter };
        self.note(Finding { matter, ..finding }, is_carried);
    }

    /// What is the matter with a movement; nothing, if the file is not about its day.
    fn matter_here(&self, its: &Item<'_>) -> Option<Matter> {
        if self.map.kind == Kind::Count {
            // What is not there was not counted.
            return (its.amount != 0).then_some(Matter::MissingThere);
        }
        let through = self.statement.through;
        if its.since.is_none() && (its.day > through || its.day < self.since_ever) {
            return None;
        }
        if self.twins.has(its) {
            return Some(Matter::Doubled);
        }
        let is_late = its.day > through.plus(-self.map.tolerance_days());
        Some(if is_late { Matter::InTransit } else { Matter::MissingThere })
    }

    /// Whether a line with the same operation was matched, or what it names.
    fn names_again(&self, at: usize, its: &Item<'_>) -> bool {
        if self.map.kind == Kind::Statement {
            return self.named_again.contains(&at);
        }
        let items = &self.statement.items;
        let mut same = self.by_operation.all_with_text(keys::of_id(its.operation));
        same.any(|at| !items.is_open(at) && items.get(at).operation == its.operation)
    }
}
